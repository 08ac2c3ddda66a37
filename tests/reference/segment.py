"""Writes the fixtures of Segment Anything: what transformers' network, and the authors' TinyViT, make of noise.

Needs only torch, numpy, safetensors and transformers 5. The weights come from their authors' names. transformers has 1e-6 in
the norms of the mask decoder's transformer, where its authors have 1e-5 (PyTorch's default): here it gets that of the
authors.
"""

import argparse
import os

import numpy
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional
from transformers import SamConfig, SamMaskDecoderConfig, SamModel, SamPromptEncoderConfig, SamVisionConfig

import hash_weights

torch.set_num_threads(2)

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "segment")
SEED = "segment."
SIDE = 1024
# Points in pixels of what the network sees, whether each is in, and a box.
POINT = [[300.0, 200.0]]
POINTS, LABELS = [[300.0, 200.0], [700.0, 640.0]], [1, 0]
BOX = [100.0, 90.0, 800.0, 700.0]

# The widths, layers, heads and windows of the tiny TinyViT.
WIDTHS, DEPTHS, HEADS, WINDOWS = [8, 16, 24, 32], [1, 1, 2, 1], [1, 2, 3, 4], [7, 7, 14, 7]
OUTPUTS = 256


def authors_name(name):
    """The name that the authors have for a tensor of transformers' network."""
    for other, own in [
        ("shared_image_embedding.positional_embedding", "prompt_encoder.pe_layer.positional_encoding_gaussian_matrix"),
        ("prompt_encoder.shared_embedding.positional_embedding",
         "prompt_encoder.pe_layer.positional_encoding_gaussian_matrix"),
        ("vision_encoder.patch_embed.projection", "image_encoder.patch_embed.proj"),
        ("vision_encoder.neck.conv1", "image_encoder.neck.0"),
        ("vision_encoder.neck.layer_norm1", "image_encoder.neck.1"),
        ("vision_encoder.neck.conv2", "image_encoder.neck.2"),
        ("vision_encoder.neck.layer_norm2", "image_encoder.neck.3"),
        ("vision_encoder.layers", "image_encoder.blocks"),
        ("vision_encoder", "image_encoder"),
        ("prompt_encoder.point_embed.", "prompt_encoder.point_embeddings."),
        ("mask_embed.conv1", "mask_downscaling.0"),
        ("mask_embed.layer_norm1", "mask_downscaling.1"),
        ("mask_embed.conv2", "mask_downscaling.3"),
        ("mask_embed.layer_norm2", "mask_downscaling.4"),
        ("mask_embed.conv3", "mask_downscaling.6"),
        ("upscale_conv1", "output_upscaling.0"),
        ("upscale_layer_norm", "output_upscaling.1"),
        ("upscale_conv2", "output_upscaling.3"),
        ("layer_norm_final_attn", "norm_final_attn"),
        ("layer_norm", "norm"),
    ]:
        name = name.replace(other, own)
    if "hypernetworks" in name or "iou_prediction" in name:
        name = name.replace("layers.0", "layers.1").replace("proj_in", "layers.0").replace("proj_out", "layers.2")
    return name


def weights(names):
    """Tensors by their names in a network: each from the name that its authors have for it."""
    made = {}
    for name, (own, shape) in names.items():
        made[name] = torch.from_numpy(numpy.ascontiguousarray(hash_weights.weight(SEED + own, shape)))
    return made


def published():
    """transformers' network, with a tiny image encoder: one layer of windows, and one that sees all."""
    vision = SamVisionConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, mlp_dim=128, mlp_ratio=4.0, window_size=14,
        global_attn_indexes=[1], image_size=SIDE,
    )
    decoder = SamMaskDecoderConfig(layer_norm_eps=1e-5)
    config = SamConfig(
        vision_config=vision.to_dict(), prompt_encoder_config=SamPromptEncoderConfig().to_dict(),
        mask_decoder_config=decoder.to_dict(),
    )
    model = SamModel(config).eval()
    names = {name: (authors_name(name), tuple(value.shape)) for name, value in model.state_dict().items()}
    model.load_state_dict(weights(names))
    return model


class ConvNorm(nn.Sequential):
    """A convolution and a batch norm."""

    def __init__(self, inputs, outputs, side=1, stride=1, padding=0, groups=1):
        super().__init__()
        self.add_module("c", nn.Conv2d(inputs, outputs, side, stride, padding, groups=groups, bias=False))
        self.add_module("bn", nn.BatchNorm2d(outputs))


class MBConv(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = ConvNorm(width, 4 * width)
        self.conv2 = ConvNorm(4 * width, 4 * width, 3, 1, 1, 4 * width)
        self.conv3 = ConvNorm(4 * width, width)

    def forward(self, x):
        inner = functional.gelu(self.conv2(functional.gelu(self.conv1(x))))
        return functional.gelu(x + self.conv3(inner))


class Merging(nn.Module):
    def __init__(self, width, outputs, stride):
        super().__init__()
        self.conv1 = ConvNorm(width, outputs)
        self.conv2 = ConvNorm(outputs, outputs, 3, stride, 1, outputs)
        self.conv3 = ConvNorm(outputs, outputs)

    def forward(self, x):
        return self.conv3(functional.gelu(self.conv2(functional.gelu(self.conv1(x)))))


class Attention(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.heads, self.head = heads, width // heads
        self.norm = nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        places = [(row, column) for row in range(window) for column in range(window)]
        offsets, indices = {}, []
        for one in places:
            for other in places:
                offset = (abs(one[0] - other[0]), abs(one[1] - other[1]))
                indices.append(offsets.setdefault(offset, len(offsets)))
        self.attention_biases = nn.Parameter(torch.zeros(heads, len(offsets)))
        self.indices = torch.tensor(indices).view(len(places), len(places))

    def forward(self, x):
        count, tokens, _ = x.shape
        qkv = self.qkv(self.norm(x)).view(count, tokens, self.heads, 3 * self.head)
        q, k, v = (part.transpose(1, 2) for part in qkv.split(self.head, dim=3))
        scores = q @ k.transpose(-2, -1) * self.head**-0.5 + self.attention_biases[:, self.indices]
        return self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(count, tokens, -1))


class Mlp(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.fc2(functional.gelu(self.fc1(self.norm(x))))


class Layer(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.window = window
        self.attn, self.mlp = Attention(width, heads, window), Mlp(width)
        self.local_conv = ConvNorm(width, width, 3, 1, 1, width)

    def forward(self, x):
        count, width, side, _ = x.shape
        window = self.window
        tokens = x.permute(0, 2, 3, 1)
        more = -side % window
        padded = functional.pad(tokens, (0, 0, 0, more, 0, more))
        places = (side + more) // window
        cut = padded.view(count, places, window, places, window, width).transpose(2, 3)
        seen = self.attn(cut.reshape(-1, window * window, width))
        seen = seen.view(count, places, places, window, window, width).transpose(2, 3)
        seen = seen.reshape(count, side + more, side + more, width)[:, :side, :side]
        x = self.local_conv((tokens + seen).permute(0, 3, 1, 2).contiguous())
        tokens = x.permute(0, 2, 3, 1)
        return (tokens + self.mlp(tokens)).permute(0, 3, 1, 2)


class ChannelNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def forward(self, x):
        normed = functional.layer_norm(x.permute(0, 2, 3, 1), self.weight.shape, self.weight, self.bias, 1e-6)
        return normed.permute(0, 3, 1, 2)


class Stage(nn.Module):
    def __init__(self, blocks, downsample):
        super().__init__()
        self.blocks, self.downsample = nn.ModuleList(blocks), downsample

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x if self.downsample is None else self.downsample(x)


class TinyViT(nn.Module):
    """The image encoder of MobileSAM, as its authors have it."""

    def __init__(self):
        super().__init__()
        first, last = WIDTHS[0], WIDTHS[-1]
        self.patch_embed = nn.Module()
        self.patch_embed.seq = nn.Sequential(
            ConvNorm(3, first // 2, 3, 2, 1), nn.GELU(), ConvNorm(first // 2, first, 3, 2, 1)
        )
        stages = []
        for number, width in enumerate(WIDTHS):
            if number == 0:
                blocks = [MBConv(width) for _ in range(DEPTHS[0])]
            else:
                blocks = [Layer(width, HEADS[number], WINDOWS[number]) for _ in range(DEPTHS[number])]
            # In the published network the last merging keeps the grid.
            merging = Merging(width, WIDTHS[number + 1], 1 if number == 2 else 2) if number < 3 else None
            stages.append(Stage(blocks, merging))
        self.layers = nn.ModuleList(stages)
        self.neck = nn.Sequential(
            nn.Conv2d(last, OUTPUTS, 1, bias=False), ChannelNorm(OUTPUTS),
            nn.Conv2d(OUTPUTS, OUTPUTS, 3, padding=1, bias=False), ChannelNorm(OUTPUTS),
        )

    def forward(self, image):
        x = self.patch_embed.seq(image)
        for stage in self.layers:
            x = stage(x)
        return self.neck(x)


def mobile():
    """A tiny TinyViT."""
    network = TinyViT().eval()
    names = {}
    for name, value in network.state_dict().items():
        if not name.endswith("num_batches_tracked"):
            names[name] = (f"mobile.image_encoder.{name}", tuple(value.shape))
    network.load_state_dict(weights(names), strict=False)
    return network


def kept(embedding):
    """Some values of an image's embedding."""
    return embedding[0, ::16, ::8, ::8].contiguous()


def results():
    """What the networks make of noise."""
    image = torch.from_numpy(hash_weights.noise(f"{SEED}image", (1, 3, SIDE, SIDE)))
    model, found = published(), {}
    with torch.no_grad():
        embedding = model.get_image_embeddings(image)
        found["embedding"] = kept(embedding)
        for name, arguments, many in [
            ("point", {"input_points": torch.tensor([[POINT]]), "input_labels": torch.tensor([[[1]]])}, True),
            ("points", {"input_points": torch.tensor([[POINTS]]), "input_labels": torch.tensor([[LABELS]]),
                        "input_boxes": torch.tensor([[BOX]])}, False),
            ("box", {"input_boxes": torch.tensor([[BOX]])}, False),
        ]:
            out = model(image_embeddings=embedding, multimask_output=many, **arguments)
            found[f"{name}.masks"] = out.pred_masks[0, 0, :, ::16, ::16].contiguous()
            found[f"{name}.scores"] = out.iou_scores[0, 0].contiguous()
        found["mobile.embedding"] = kept(mobile()(image))
    return found


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=FIXTURES, help="where to write, if not to the fixtures")
    parser.add_argument("--tanh", action="store_true", help="only say what the tanh approximation of GELU changes")
    arguments = parser.parse_args()
    found = results()
    if arguments.tanh:
        exact = functional.gelu
        functional.gelu = lambda x: exact(x, approximate="tanh")
        nn.GELU.forward = lambda _, x: exact(x, approximate="tanh")
        for name, value in results().items():
            distance = (value - found[name]).abs().max() / found[name].abs().max()
            print(f"{name}: {float(distance):.1e}")
        return
    os.makedirs(arguments.out, exist_ok=True)
    for name, value in found.items():
        print(name, list(value.shape), float(value.abs().max()), float(value.std()))
    save_file(found, f"{arguments.out}/golden.safetensors")


if __name__ == "__main__":
    main()
