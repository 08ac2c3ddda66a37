"""The transformer and the text encoder, and a batched forward pass for training.

`build_transformer` and `build_text_encoder` make the very modules of diffusers and transformers.
`Denoiser` runs the transformer's own weights on batches of one size without the bookkeeping for lists of
pictures; `check` shows that it gives what diffusers gives.
"""
import math

import torch
from diffusers import ZImageTransformer2DModel
from torch import nn
from torch.nn import functional
from transformers import Qwen3Config, Qwen3Model

DIM = 160
HEADS = 5
LAYERS = 4
AXES = (8, 12, 12)
TEXT_WIDTH = 128
CAPTION = 32


def build_transformer(channels):
    """The transformer with fresh weights."""
    transformer = ZImageTransformer2DModel(
        all_patch_size=(2,), all_f_patch_size=(1,), in_channels=channels, dim=DIM, n_layers=LAYERS,
        n_refiner_layers=1, n_heads=HEADS, n_kv_heads=HEADS, norm_eps=1e-5, qk_norm=True,
        cap_feat_dim=TEXT_WIDTH, rope_theta=256.0, t_scale=1000.0, axes_dims=list(AXES),
        axes_lens=[1024, 256, 256],
    )
    for name, parameter in transformer.named_parameters():
        start_transformer(name, parameter)
    for block in transformer.context_refiner:
        for norm in (block.attention_norm2, block.ffn_norm2):
            nn.init.constant_(norm.weight, 0.5)
    return transformer


@torch.no_grad()
def start_transformer(name, parameter):
    """First values: modulations change nothing, gates are partly open, the output is zero."""
    if "pad_token" in name:
        nn.init.normal_(parameter, std=0.02)
    elif parameter.ndim == 2:
        if "adaLN" in name or "all_final_layer" in name:
            nn.init.zeros_(parameter)
        elif "t_embedder" in name:
            nn.init.normal_(parameter, std=0.02)
        else:
            nn.init.normal_(parameter, std=0.7 / math.sqrt(parameter.shape[1]))
    elif name.endswith("bias"):
        nn.init.zeros_(parameter)
        if "adaLN_modulation" in name and "final" not in name:
            quarter = len(parameter) // 4
            parameter[quarter:2 * quarter] = 0.35
            parameter[3 * quarter:] = 0.35


def build_text_encoder(tokens):
    """The text encoder with fresh weights. The pipeline takes the output of the last layer but one."""
    encoder = Qwen3Model(Qwen3Config(
        vocab_size=(tokens + 7) // 8 * 8, hidden_size=TEXT_WIDTH, intermediate_size=2 * TEXT_WIDTH,
        num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4, head_dim=32,
        max_position_embeddings=2048, rms_norm_eps=1e-6, tie_word_embeddings=True, rope_theta=1e6,
    ))
    for name, parameter in encoder.named_parameters():
        if "embed" in name:
            nn.init.normal_(parameter, std=0.5)
        elif parameter.ndim == 2:
            nn.init.normal_(parameter, std=0.7 / math.sqrt(parameter.shape[1]))
    return encoder


class Normalise(torch.autograd.Function):
    """x divided by its root mean square; written out because that is quicker to train than rms_norm."""

    @staticmethod
    def forward(context, x, eps):
        mean = torch.linalg.vector_norm(x, dim=-1, keepdim=True).square() / x.shape[-1]
        inverse = torch.rsqrt(mean + eps)
        y = x * inverse
        context.save_for_backward(y, inverse)
        return y

    @staticmethod
    def backward(context, gradient):
        y, inverse = context.saved_tensors
        along = (gradient * y).mean(-1, keepdim=True)
        return torch.addcmul(gradient, y, along, value=-1).mul_(inverse), None


def rms(x, weight, eps=1e-5):
    """RMS normalisation. The weight may differ from picture to picture."""
    if x.is_cuda or torch.compiler.is_compiling():
        y = x.float()
        y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + eps)
    else:
        y = Normalise.apply(x, eps)
    return y if weight is None else y * weight


def text_features(encoder, ids):
    """What the pipeline takes from the text encoder, for padded token numbers (batch, length)."""
    x = encoder.embed_tokens(ids)
    positions = torch.arange(ids.shape[1], device=ids.device)[None]
    cos, sin = (part[:, None] for part in encoder.rotary_emb(x, positions))
    for layer in encoder.layers[:-1]:
        x = x + text_attention(layer.self_attn, rms(x, layer.input_layernorm.weight, 1e-6), cos, sin)
        x = x + layer.mlp(rms(x, layer.post_attention_layernorm.weight, 1e-6))
    return x


def text_attention(attention, x, cos, sin):
    """Causal attention of the text encoder."""
    batch, length, _ = x.shape

    def heads(linear, norm=None):
        """Projection, split into heads."""
        y = linear(x).view(batch, length, -1, attention.head_dim)
        return (rms(y, norm.weight, 1e-6) if norm is not None else y).transpose(1, 2)

    def turned(y):
        """Rotary position embedding."""
        first, second = y.chunk(2, -1)
        return y * cos + torch.cat((-second, first), -1) * sin

    query, key = turned(heads(attention.q_proj, attention.q_norm)), turned(heads(attention.k_proj, attention.k_norm))
    y = functional.scaled_dot_product_attention(query, key, heads(attention.v_proj), is_causal=True)
    return attention.o_proj(y.transpose(1, 2).reshape(batch, length, -1))


def rotate(x, turns):
    """Rotary position embedding over pairs of neighbours; `turns` are cosines and sines."""
    cos, sin = turns
    first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((first * cos - second * sin, first * sin + second * cos), -1).flatten(-2)


class Denoiser(nn.Module):
    """The transformer on batches: latents as patches (batch, grid * grid, 4 * channels), captions of one length."""

    def __init__(self, transformer, grid=8):
        super().__init__()
        self.transformer, self.grid, self.tables = transformer, grid, {}

    def use_compiler(self):
        """Compiles the block."""
        self.block = torch.compile(self.block, dynamic=False)

    def positions(self, length, device):
        """Rotary tables for the picture, the caption, and both, for captions of `length`."""
        if length not in self.tables:
            caption = [(number + 1, 0, 0) for number in range(length)]
            picture = [(length + 1, row, column) for row in range(self.grid) for column in range(self.grid)]
            embed = self.transformer.rope_embedder
            turns = [embed(torch.tensor(ids))[:, None] for ids in (picture, caption, picture + caption)]
            self.tables[length] = [(turn.real.contiguous().to(device), turn.imag.contiguous().to(device)) for turn in turns]
        return self.tables[length]

    def block(self, block, x, table, time=None):
        """One block of the transformer. Scales and gates go into the weights of the norms beside them."""
        weights = [n.weight for n in (block.attention_norm1, block.attention_norm2, block.ffn_norm1, block.ffn_norm2)]
        if time is not None:
            scale1, gate1, scale2, gate2 = block.adaLN_modulation(time).float().unsqueeze(1).chunk(4, -1)
            factors = (1 + scale1, gate1.tanh(), 1 + scale2, gate2.tanh())
            weights = [weight * factor for weight, factor in zip(weights, factors)]
        x = x + rms(self.attention(block.attention, rms(x, weights[0]), table), weights[1])
        return x + rms(block.feed_forward(rms(x, weights[2])), weights[3])

    def attention(self, attention, x, table):
        """Attention over all tokens."""
        batch, length, _ = x.shape
        query, key, value = (
            linear(x).view(batch, length, attention.heads, -1) for linear in (attention.to_q, attention.to_k, attention.to_v)
        )
        query = rotate(rms(query, attention.norm_q.weight), table).transpose(1, 2)
        key = rotate(rms(key, attention.norm_k.weight), table).transpose(1, 2)
        y = functional.scaled_dot_product_attention(query, key, value.transpose(1, 2))
        return attention.to_out[0](y.transpose(1, 2).reshape(batch, length, -1))

    def time(self, time):
        """Embedding of the time, 0 for noise and 1 for a picture."""
        embedder = self.transformer.t_embedder
        frequencies = embedder.timestep_embedding(time * self.transformer.t_scale, embedder.frequency_embedding_size)
        return embedder.mlp(frequencies)

    def forward(self, patches, time, text, mask):
        """The velocity for noisy patches; `mask` is true for the real tokens of `text`."""
        model = self.transformer
        picture_table, caption_table, both_table = self.positions(text.shape[1], text.device)
        time = self.time(time)
        x = model.all_x_embedder["2-1"](patches)
        for block in model.noise_refiner:
            x = self.block(block, x, picture_table, time)
        norm, linear = model.cap_embedder
        caption = torch.where(mask[..., None], linear(rms(text, norm.weight)), model.cap_pad_token)
        for block in model.context_refiner:
            caption = self.block(block, caption, caption_table)
        count = x.shape[1]
        x = torch.cat((x, caption), 1)
        for block in model.layers:
            x = self.block(block, x, both_table, time)
        final = model.all_final_layer["2-1"]
        x = functional.layer_norm(x[:, :count], x.shape[-1:], eps=1e-6)
        return final.linear(x * (1 + final.adaLN_modulation(time).float()).unsqueeze(1))


def to_patches(latents):
    """(batch, channels, height, width) as patches of 2x2 in the transformer's order."""
    batch, channels, height, width = latents.shape
    patches = latents.view(batch, channels, height // 2, 2, width // 2, 2).permute(0, 2, 4, 3, 5, 1)
    return patches.reshape(batch, height * width // 4, 4 * channels)


@torch.no_grad()
def check():
    """Compares `Denoiser` and `text_features` with diffusers and transformers on random weights."""
    torch.manual_seed(0)
    transformer, encoder = build_transformer(4).eval(), build_text_encoder(100).eval()
    for parameter in (*transformer.parameters(), *encoder.parameters()):
        parameter.add_(0.02 * torch.randn_like(parameter))
    ids, lengths = torch.randint(0, 100, (2, CAPTION)), (20, 27)
    mask = torch.arange(CAPTION)[None] < torch.tensor(lengths)[:, None]
    text = text_features(encoder, ids)
    wanted = encoder(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states[-2]
    print("text encoder:", (text - wanted)[mask].abs().max().item())
    latents, time = torch.randn(2, 4, 16, 16), torch.tensor([0.2, 0.7])
    captions = [text[number, :length] for number, length in enumerate(lengths)]
    wanted = transformer(list(latents.unsqueeze(2)), time, captions, return_dict=False)[0]
    wanted = to_patches(torch.stack(wanted).squeeze(2))
    print("transformer:", wanted.std().item(), (Denoiser(transformer)(to_patches(latents), time, text, mask) - wanted).abs().max().item())


if __name__ == "__main__":
    check()
