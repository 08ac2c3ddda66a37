"""The autoencoder, and a forward pass over whole clips for training.

`build_autoencoder` makes diffusers' AutoencoderKLWan. `encode` and `decode` run its own weights on all
frames at once instead of frame by frame with caches; `python autoencoder.py` shows that both agree.
Inside, tensors are (batch, frames, height, width, channels).
"""
import torch
from diffusers import AutoencoderKLWan
from torch import nn
from torch.nn import functional

CHANNELS = 16
BASE = 16
MULTIPLIERS = (1, 2, 4, 4)


def build_autoencoder():
    """The autoencoder with fresh weights: it begins as an autoencoder of single images."""
    vae = AutoencoderKLWan(
        base_dim=BASE, z_dim=CHANNELS, dim_mult=list(MULTIPLIERS), num_res_blocks=1,
        latents_mean=[0.0] * CHANNELS, latents_std=[1.0] * CHANNELS,
    )
    with torch.no_grad():
        for module in vae.modules():
            if isinstance(module, nn.Conv3d) and module.kernel_size == (3, 3, 3):
                module.weight[:, :, :2] = 0
                module.weight[:, :, 2] *= 3**0.5
            if isinstance(module, nn.Conv3d) and module.kernel_size == (3, 1, 1):
                module.weight *= 0.5
                module.weight[:, :, 2, 0, 0] += torch.eye(module.in_channels).repeat(module.out_channels // module.in_channels, 1)
                module.bias.zero_()
        for module, spread in ((vae.quant_conv, -5.0), (vae.post_quant_conv, 0.0)):
            module.weight.copy_(torch.eye(module.in_channels)[:, :, None, None, None])
            module.bias.zero_()
            module.bias[CHANNELS:] = spread
    return vae


def norm_silu_plain(x, gamma):
    """RMS normalisation over channels, then SiLU; x is (positions, channels)."""
    y = x.float()
    scale = y.shape[-1] ** 0.5 / torch.linalg.vector_norm(y, dim=-1, keepdim=True).clamp_min(1e-12)
    return functional.silu(y * scale * gamma).to(x.dtype)


compiled = {}


def use_compiler():
    """Compiles the normalisation, which takes much of the time otherwise: once for each width and kind of view."""
    torch._dynamo.config.recompile_limit = 64
    compiled["norm_silu"] = torch.compile(norm_silu_plain)


def norm_silu(norm, x):
    """RMS normalisation and SiLU of a clip."""
    flat = x.flatten(0, -2)
    if "norm_silu" in compiled:
        torch._dynamo.maybe_mark_dynamic(flat, 0)
        return compiled["norm_silu"](flat, norm.gamma.view(-1)).view(x.shape)
    return norm_silu_plain(flat, norm.gamma.view(-1)).view(x.shape)


def images(x):
    """Frames as a batch of images (batch * frames, channels, height, width), without a copy."""
    return x.flatten(0, 1).permute(0, 3, 1, 2)


def clips(y, like):
    """The reverse of `images`."""
    return y.permute(0, 2, 3, 1).unflatten(0, like.shape[:2])


def causal(conv, x):
    """A causal convolution of 3x3x3 over all frames.

    On the CPU the frames that it sees at a time are stacked as channels: oneDNN's bf16 convolution over three
    dimensions is slow for few channels, and for some shapes its gradient is not a number.
    """
    weight = conv.weight
    if x.shape[1] == 1:
        return clips(functional.conv2d(images(x), weight[:, :, 2], conv.bias, padding=1), x)
    if x.device.type == "cpu":
        before = functional.pad(x, (0, 0, 0, 0, 0, 0, 2, 0))
        stacked = torch.cat((before[:, :-2], before[:, 1:-1], x), -1)
        flat = weight.transpose(1, 2).flatten(1, 2)
        return clips(functional.conv2d(images(stacked), flat, conv.bias, padding=1), x)
    padded = functional.pad(x.permute(0, 4, 1, 2, 3), (0, 0, 0, 0, 2, 0))
    return functional.conv3d(padded, weight, conv.bias, padding=(0, 1, 1)).permute(0, 2, 3, 4, 1)


def residual(block, x):
    """One residual block."""
    y = causal(block.conv1, norm_silu(block.norm1, x))
    y = causal(block.conv2, norm_silu(block.norm2, y))
    shortcut = block.conv_shortcut
    if isinstance(shortcut, nn.Conv3d):
        x = functional.linear(x, shortcut.weight.flatten(1), shortcut.bias)
    return x + y


def attend(block, x):
    """Attention within each frame."""
    batch, frames, height, width, channels = x.shape
    y = x.reshape(batch * frames, height * width, channels)
    y = functional.normalize(y.float(), dim=-1).to(x.dtype) * channels**0.5 * block.norm.gamma.view(-1)
    q, k, v = functional.linear(y, block.to_qkv.weight.flatten(1), block.to_qkv.bias).chunk(3, -1)
    y = functional.scaled_dot_product_attention(q[:, None], k[:, None], v[:, None])[:, 0]
    return x + functional.linear(y, block.proj.weight.flatten(1), block.proj.bias).view(x.shape)


def middle(block, x):
    """The middle block."""
    return residual(block.resnets[1], attend(block.attentions[0], residual(block.resnets[0], x)))


def over_time(conv, frames):
    """A convolution of 3x1x1 as one matrix, over lists of the frames it sees at a time."""
    return functional.linear(torch.cat(frames, -1), conv.weight[..., 0, 0].transpose(1, 2).flatten(1), conv.bias)


def halve(block, x):
    """Halves the size, and the frames after the first one if the block does that."""
    conv = block.resample[1]
    y = functional.conv2d(functional.pad(images(x), (0, 1, 0, 1)), conv.weight, conv.bias, stride=2)
    y = clips(y, x)
    if block.mode == "downsample3d" and y.shape[1] > 1:
        later = over_time(block.time_conv, (y[:, :-2:2], y[:, 1:-1:2], y[:, 2::2]))
        y = torch.cat((y[:, :1], later), 1)
    return y


def double(block, x):
    """Doubles the size, and the frames after the first one if the block does that."""
    if block.mode == "upsample3d" and x.shape[1] > 1:
        later = functional.pad(x[:, 1:], (0, 0, 0, 0, 0, 0, 2, 0))
        later = over_time(block.time_conv, (later[:, :-2], later[:, 1:-1], later[:, 2:]))
        later = torch.stack(later.chunk(2, -1), 2).flatten(1, 2)
        x = torch.cat((x[:, :1], later), 1)
    conv = block.resample[1]
    big = functional.interpolate(images(x), scale_factor=2, mode="nearest")
    return clips(functional.conv2d(big, conv.weight, conv.bias, padding=1), x)


def encode(vae, x):
    """Mean and log variance of the latents of clips with values from -1 to 1; the frames are 4n + 1."""
    encoder = vae.encoder
    x = causal(encoder.conv_in, x)
    for block in encoder.down_blocks:
        x = halve(block, x) if hasattr(block, "resample") else residual(block, x)
    x = middle(encoder.mid_block, x)
    x = causal(encoder.conv_out, norm_silu(encoder.norm_out, x))
    x = functional.linear(x, vae.quant_conv.weight.flatten(1), vae.quant_conv.bias)
    return x.float().chunk(2, -1)


def decode(vae, z):
    """The clips of latents, not clamped."""
    decoder = vae.decoder
    x = functional.linear(z, vae.post_quant_conv.weight.flatten(1), vae.post_quant_conv.bias)
    x = middle(decoder.mid_block, causal(decoder.conv_in, x))
    for block in decoder.up_blocks:
        for resnet in block.resnets:
            x = residual(resnet, x)
        if block.upsamplers is not None:
            x = double(block.upsamplers[0], x)
    return causal(decoder.conv_out, norm_silu(decoder.norm_out, x)).float()


@torch.no_grad()
def check():
    """Compares `encode` and `decode` with diffusers on random weights."""
    torch.manual_seed(0)
    vae = build_autoencoder().eval()
    for parameter in vae.parameters():
        parameter.add_(0.05 * torch.randn_like(parameter))
    x = torch.rand(2, 13, 32, 48, 3) * 2 - 1
    wanted = vae.encode(x.permute(0, 4, 1, 2, 3)).latent_dist
    mean, variance = encode(vae, x)
    print("mean:", wanted.mean.std().item(), (mean.permute(0, 4, 1, 2, 3) - wanted.mean).abs().max().item())
    print("log variance:", (variance.permute(0, 4, 1, 2, 3) - wanted.logvar).abs().max().item())
    wanted = vae.decode(mean.permute(0, 4, 1, 2, 3)).sample
    made = decode(vae, mean).clamp(-1, 1).permute(0, 4, 1, 2, 3)
    print("frames:", wanted.std().item(), (made - wanted).abs().max().item())
    print(f"{sum(p.numel() for p in vae.parameters()) / 1e6:.2f} M parameters")


if __name__ == "__main__":
    check()
