"""The transformer, and a forward pass for training that is quicker than diffusers'.

`build_transformer` makes diffusers' WanTransformer3DModel. `Denoiser` runs its own weights. The pipeline
fills captions up to 512 tokens with zeros and attends to them; here all those zeros are one token that
counts as often as it stands there. `python denoiser.py` shows that both give the same.
"""
import math

import torch
from diffusers import WanTransformer3DModel
from torch import nn
from torch.nn import functional

from autoencoder import CHANNELS

HEADS = 4
HEAD = 64
LAYERS = 6
# The blocks after which training reads off where a token is.
LAYERS_TO_PLACE = 3
FEED_FORWARD = 768
TEXT_WIDTH = 128
TEXT_LENGTH = 512


def build_transformer():
    """The transformer with fresh weights."""
    transformer = WanTransformer3DModel(
        patch_size=(1, 2, 2), num_attention_heads=HEADS, attention_head_dim=HEAD, in_channels=CHANNELS,
        out_channels=CHANNELS, text_dim=TEXT_WIDTH, freq_dim=256, ffn_dim=FEED_FORWARD, num_layers=LAYERS,
        cross_attn_norm=True, qk_norm="rms_norm_across_heads", rope_max_seq_len=1024,
    )
    for name, parameter in transformer.named_parameters():
        start(name, parameter)
    return transformer


@torch.no_grad()
def start(name, parameter):
    """First values: the time changes nothing, gates are partly open, the output is zero."""
    if "scale_shift_table" in name:
        nn.init.zeros_(parameter)
        if parameter.shape[1] == 6:
            parameter[:, 2] = parameter[:, 5] = 0.35
    elif "time_proj" in name or "proj_out" in name or name.endswith("bias"):
        nn.init.zeros_(parameter)
    elif "time_embedder" in name:
        nn.init.normal_(parameter, std=0.04)
    elif "norm" not in name:
        spread = 0.7 / math.sqrt(parameter[0].numel())
        nn.init.normal_(parameter, std=0.35 * spread if "attn2.to_out" in name else spread)


def scaled_norm(x, scale, shift):
    """Layer normalisation with a scale and a shift for each clip."""
    y = functional.layer_norm(x.float(), x.shape[-1:], eps=1e-6)
    return torch.addcmul(shift, y, 1 + scale).to(torch.bfloat16 if torch.is_autocast_enabled(x.device.type) else x.dtype)


def root_norm(x, weight):
    """RMS normalisation across all heads."""
    y = x.float()
    return (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) * weight).to(x.dtype)


def turned(x, weight, cos, sin):
    """RMS normalisation, then rotary positions: (batch, tokens, width) to (batch, heads, tokens, head)."""
    y = x.float()
    y = (y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6) * weight).unflatten(-1, (HEADS, HEAD // 2, 2))
    first, second = y.unbind(-1)
    y = torch.stack((first * cos - second * sin, first * sin + second * cos), -1)
    return y.flatten(-2).to(x.dtype).transpose(1, 2)


def split(x):
    """(batch, tokens, width) to (batch, heads, tokens, head)."""
    return x.unflatten(-1, (HEADS, HEAD)).transpose(1, 2)


def joined(x):
    """The reverse of `split`."""
    return x.transpose(1, 2).flatten(2)


def run_block(block, x, text, bias, parts, cos, sin):
    """One block of the transformer; `parts` are the six modulations (batch, 1, width).

    Also how little the tokens read the words: minus the logarithm of the share of attention that is not the padding's.
    """
    shift, scale, gate, later_shift, later_scale, later_gate = parts
    attn = block.attn1
    y = scaled_norm(x, scale, shift)
    weight = torch.cat((attn.to_q.weight, attn.to_k.weight, attn.to_v.weight))
    q, k, v = functional.linear(y, weight, torch.cat((attn.to_q.bias, attn.to_k.bias, attn.to_v.bias))).chunk(3, -1)
    q, k = turned(q, attn.norm_q.weight, cos, sin), turned(k, attn.norm_k.weight, cos, sin)
    x = x + attn.to_out[0](joined(functional.scaled_dot_product_attention(q, k, split(v)))) * gate
    attn = block.attn2
    y = functional.layer_norm(x.float(), x.shape[-1:], block.norm2.weight, block.norm2.bias, 1e-6).to(y.dtype)
    q = split(root_norm(attn.to_q(y), attn.norm_q.weight))
    k = split(root_norm(attn.to_k(text), attn.norm_k.weight))
    shares = (q @ k.transpose(-1, -2) * HEAD**-0.5 + bias).float().softmax(-1)
    unread = -(1.0001 - shares[..., -1]).log().mean()
    x = x + attn.to_out[0](joined(shares.to(q.dtype) @ split(attn.to_v(text))))
    y = scaled_norm(x, later_scale, later_shift)
    y = functional.gelu(block.ffn.net[0].proj(y), approximate="tanh")
    return x + block.ffn.net[2](y) * later_gate, unread


class Denoiser(nn.Module):
    """The transformer on batches of clips with captions of any length below the pipeline's.

    `placing` is for training alone: it reads off from the tokens where they are and which way the caption says that things
    move. Nothing tells a token of this architecture where in the image it is, because attention only knows distances, and
    some words among 512 tokens of text get a few hundredths of the attention. Without losses that ask for the place, the way
    and attention to words, left and right stay unlearnt.
    """

    def __init__(self, transformer):
        super().__init__()
        self.transformer, self.tables, self.run = transformer, {}, run_block
        self.placing, self.placed, self.unread = nn.Linear(HEADS * HEAD, 5), None, None

    def use_compiler(self):
        """Compiles the block."""
        self.run = torch.compile(run_block, dynamic=False)

    def positions(self, latents):
        """Cosines and sines for every token."""
        key = (tuple(latents.shape[2:]), latents.device)
        if key not in self.tables:
            cos, sin = self.transformer.rope(latents)
            self.tables[key] = [part[0, :, :, ::2].float()[None].clone().to(latents.device) for part in (cos, sin)]
        return self.tables[key]

    def misplaced(self, latents, ways):
        """How wrong the last pass read off places in time, down and across, and the ways down and across (batch, 2).

        The squared error of each; 1 for places that are not known at all.
        """
        sizes = latents.shape[2], latents.shape[3] // 2, latents.shape[4] // 2
        axes = [(torch.arange(size, device=latents.device) + 0.5) / size - 0.5 for size in sizes]
        places = torch.stack(torch.meshgrid(*axes, indexing="ij"), -1).flatten(0, 2)
        wrong_places = 12 * (self.placed[..., :3] - places).square().mean((0, 1))
        return torch.cat((wrong_places, (self.placed[..., 3:] - ways[:, None]).square().mean((0, 1))))

    def forward(self, latents, sigma, text, mask):
        """The velocity for noisy latents (batch, channels, frames, height, width)."""
        model = self.transformer
        batch, channels, frames, height, width = latents.shape
        embed = model.condition_embedder
        time = embed.time_embedder(embed.timesteps_proj(1000 * sigma)).float()
        parts = embed.time_proj(functional.silu(time)).float().unflatten(1, (6, -1))
        lengths = mask.sum(1, keepdim=True)
        zero = text.new_zeros(batch, 1, text.shape[-1])
        words = embed.text_embedder(torch.cat((text * mask[..., None], zero), 1))
        bias = torch.zeros(mask.shape, device=text.device).masked_fill(mask == 0, -1e4)
        bias = torch.cat((bias, (TEXT_LENGTH - lengths).float().log()), 1)[:, None, None].to(words.dtype)
        patches = latents.unflatten(-1, (-1, 2)).unflatten(3, (-1, 2)).permute(0, 2, 3, 5, 1, 4, 6).flatten(4).flatten(1, 3)
        x = functional.linear(patches, model.patch_embedding.weight.flatten(1), model.patch_embedding.bias)
        cos, sin = self.positions(latents)
        self.unread = 0.0
        for number, block in enumerate(model.blocks):
            modulation = (block.scale_shift_table + parts).split(1, 1)
            x, unread = self.run(block, x, words, bias, modulation, cos, sin)
            self.unread = self.unread + unread / LAYERS
            if number + 1 == LAYERS_TO_PLACE:
                self.placed = self.placing(functional.layer_norm(x.float(), x.shape[-1:])).float()
        shift, scale = (model.scale_shift_table + time[:, None]).split(1, 1)
        y = model.proj_out(scaled_norm(x, scale, shift)).float()
        y = y.view(batch, frames, height // 2, width // 2, 2, 2, channels)
        return y.permute(0, 6, 1, 2, 4, 3, 5).reshape(latents.shape)


@torch.no_grad()
def check():
    """Compares `Denoiser` with diffusers on random weights."""
    torch.manual_seed(0)
    transformer = build_transformer().eval()
    for parameter in transformer.parameters():
        parameter.add_(0.03 * torch.randn_like(parameter))
    latents, sigma = torch.randn(2, CHANNELS, 3, 8, 12), torch.tensor([0.2, 0.7])
    text, lengths = torch.randn(2, 40, TEXT_WIDTH), torch.tensor([7, 31])
    mask = (torch.arange(40)[None] < lengths[:, None]).long()
    full = torch.zeros(2, TEXT_LENGTH, TEXT_WIDTH)
    full[:, :40] = text * mask[..., None]
    wanted = transformer(latents, 1000 * sigma, full).sample
    made = Denoiser(transformer)(latents, sigma, text, mask)
    print("transformer:", wanted.std().item(), (made - wanted).abs().max().item())
    print(f"{sum(p.numel() for p in transformer.parameters()) / 1e6:.2f} M parameters")


if __name__ == "__main__":
    check()
