"""Single functions, autoencoders and transformers on their own."""

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
import torch.nn.functional as F

import hash_weights


def tensor(name, *shape):
    """Hash noise as a torch tensor."""
    return torch.from_numpy(hash_weights.noise(name, shape))


def rotated(x, cos, sin, halves):
    """Rotary embedding of `x` [batch, tokens, heads, width], over halves or over neighbouring pairs."""
    cos, sin = cos[None, :, None], sin[None, :, None]
    if halves:
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


def attended(q, k, v, causal):
    """Attention over tensors [batch, tokens, heads, width], key heads shared by neighbouring query heads."""
    q, k, v = (part.transpose(1, 2) for part in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True).transpose(1, 2)


def functions():
    """Inputs and outputs of the functions that models are made of; sizes that no vector width divides."""
    tensors = {}

    def keep(name, out, **inputs):
        """Adds one example."""
        tensors[f"{name}.out"] = out.contiguous()
        tensors.update({f"{name}.{key}": value for key, value in inputs.items()})

    x, weight, bias = tensor("norm.x", 2, 5, 37), tensor("norm.weight", 37), tensor("norm.bias", 37)
    small = x * 3e-3
    keep("rms_norm", F.rms_norm(x, (37,), weight, 1e-5), x=x, weight=weight)
    keep("rms_norm_small", F.rms_norm(small, (37,), weight, 1e-5), x=small, weight=weight)
    keep("layer_norm", F.layer_norm(x, (37,), weight, bias, 1e-6), x=x, weight=weight, bias=bias)
    keep("layer_norm_bare", F.layer_norm(small, (37,), None, None, 1e-6), x=small)

    x, weight, bias = tensor("group.x", 2, 12, 5, 7), tensor("group.weight", 12), tensor("group.bias", 12)
    keep("group_norm", F.group_norm(x, 4, weight, bias, 1e-6), x=x, weight=weight, bias=bias)
    x = x * 1e-3
    keep("group_norm_small", F.group_norm(x, 4, weight, bias, 1e-6), x=x, weight=weight, bias=bias)
    keep("group_norm_silu", F.silu(F.group_norm(x, 4, weight, bias, 1e-6)), x=x, weight=weight, bias=bias)

    x, weight, bias = tensor("linear.x", 3, 11, 29), tensor("linear.weight", 19, 29), tensor("linear.bias", 19)
    keep("linear", F.linear(x, weight, bias), x=x, weight=weight, bias=bias)
    gate, up = tensor("gate", 3, 53) * 4, tensor("up", 3, 53)
    keep("silu_mul", F.silu(gate) * up, gate=gate, up=up)

    for name, shape, stride, padding in [
        ("conv_3x3", (13, 5, 3, 3), 1, 1),
        ("conv_stride", (13, 5, 3, 3), 2, 0),
        ("conv_halve", (13, 5, 3, 3), 2, 1),
        ("conv_1x1", (13, 5, 1, 1), 1, 0),
    ]:
        x, weight, bias = tensor("conv.x", 2, 5, 9, 6), tensor(f"{name}.weight", *shape), tensor("conv.bias", 13)
        keep(name, F.conv2d(x, weight, bias, stride, padding), x=x, weight=weight, bias=bias)
    x, weight = tensor("conv.x", 2, 5, 9, 6), tensor("downsample.weight", 13, 5, 3, 3)
    keep("downsample", F.conv2d(F.pad(x, (0, 1, 0, 1)), weight, stride=2), x=x, weight=weight)
    x = tensor("upsample.x", 2, 3, 3, 5)
    keep("upsample", F.interpolate(x, scale_factor=2.0, mode="nearest"), x=x)

    x, angles = tensor("rope.x", 2, 7, 3, 20), tensor("rope.angles", 7, 10) * 9
    for name, halves in (("rope_half", True), ("rope_interleaved", False)):
        keep(name, rotated(x, angles.cos(), angles.sin(), halves), x=x, angles=angles)

    q, k, v = tensor("q", 2, 9, 6, 20), tensor("k", 2, 9, 2, 20), tensor("v", 2, 9, 2, 20)
    keep("attention_causal", attended(q, k, v, True), q=q, k=k, v=v)
    q, k, v = tensor("q", 1, 35, 3, 24) * 3, tensor("k", 1, 67, 3, 24), tensor("v", 1, 67, 3, 24)
    keep("attention", attended(q, k, v, False), q=q, k=k, v=v)
    return tensors


def autoencoder(vae):
    """Encoder, decoder and tiled decoder of an autoencoder on hash noise."""
    channels, factor = vae.config.latent_channels, 2 ** (len(vae.config.block_out_channels) - 1)
    image = tensor("autoencoder.image", 1, 3, 4 * factor, 5 * factor).clamp(-1, 1)
    parameters = vae.encode(image).latent_dist
    latents = tensor("autoencoder.latents", 2, channels, 3, 5)
    # Of tiles of 12 a quarter is not a third. The smallest tile is 2 by 5: were it one latent, its norms would be those of
    # one value, and processors would not agree about it.
    wide = tensor("autoencoder.wide", 1, channels, 11, 14)
    result = {
        "encode.in": image,
        "encode.mean": parameters.mean,
        "encode.logvar": parameters.logvar,
        "decode.in": latents,
        "decode.out": vae.decode(latents).sample,
        "tiled.in": wide,
    }
    vae.enable_tiling()
    vae.tile_latent_min_size, vae.tile_sample_min_size = 12, 12 * factor
    result["tiled.out"] = vae.decode(wide).sample
    vae.disable_tiling()
    return result


def causal_autoencoder(vae):
    """Encoder, decoder and tiled decoder of an autoencoder of clips on hash noise; a clip and an image."""
    channels, scale, times = vae.config.z_dim, vae.config.scale_factor_spatial, vae.config.scale_factor_temporal
    # Pixels in patches are blended in patches there.
    rows, frames, is_tiled = (1, 3, False) if vae.config.patch_size else (2, 5, True)
    # diffusers encodes four frames at a time and drops what is left.
    length = (frames - 2) * times // 4 * 4
    clip = tensor("autoencoder.clip", 1, 3, 1 + length, rows * scale, 2 * scale).clamp(-1, 1)
    latents, wide = tensor("autoencoder.frames", 1, channels, frames, rows, 2), tensor("autoencoder.wide", 1, channels, 2, 4, 5)
    parameters, first = vae.encode(clip).latent_dist, vae.encode(clip[:, :, :1]).latent_dist
    result = {
        "encode.in": clip,
        "encode.mean": parameters.mean,
        "encode.logvar": parameters.logvar,
        "encode_image.mean": first.mean[:, :, 0],
        "decode.in": latents,
        "decode.out": vae.decode(latents).sample,
        "decode_image.out": vae.decode(latents[:, :, :1]).sample[:, :, 0],
    }
    if not is_tiled:
        return result
    result["tiled.in"] = wide
    vae.enable_tiling(3 * scale, 3 * scale, 2 * scale, 2 * scale)
    result["tiled.out"] = vae.decode(wide).sample
    return result


def clip_autoencoder(vae):
    """Encoder and decoder of LTX-Video's autoencoder on hash noise; a clip and an image."""
    channels, scale, times = vae.config.latent_channels, vae.spatial_compression_ratio, vae.temporal_compression_ratio
    clip = tensor("autoencoder.clip", 1, 3, 1 + times, scale, scale).clamp(-1, 1)
    latents = tensor("autoencoder.frames", 1, channels, 2, 1, 1)
    time = torch.zeros(1) if vae.config.timestep_conditioning else None
    parameters, first = vae.encode(clip).latent_dist, vae.encode(clip[:, :, :1]).latent_dist

    def decode(latents):
        """Noise that the decoder adds comes from torch's own generator."""
        torch.manual_seed(0)
        return vae.decode(latents, time).sample

    return {
        "encode.in": clip,
        "encode.mean": parameters.mean,
        "encode.logvar": parameters.logvar,
        "encode_image.mean": first.mean[:, :, 0],
        "decode.in": latents,
        "decode.out": decode(latents)[:, :, ::2],
        "decode_image.out": decode(latents[:, :, :1])[:, :, 0],
    }


def tiled_clip_autoencoder(vae):
    """The same in tiles of two by two latents, to be compared at some places. Inputs are not kept: they are hash noise."""
    channels, scale, times = vae.config.latent_channels, vae.spatial_compression_ratio, vae.temporal_compression_ratio
    clip = tensor("autoencoder.long_clip", 1, 3, 1 + 3 * times, 3 * scale, 2 * scale).clamp(-1, 1)
    latents = tensor("autoencoder.long", 1, channels, 5, 3, 2)
    time = torch.zeros(1) if vae.config.timestep_conditioning else None
    vae.decoder.register_forward_pre_hook(lambda *_: torch.manual_seed(0) and None)
    vae.enable_tiling(2 * scale, 2 * scale, 2 * times, scale, scale, times)
    # diffusers drops the last frame of each tile but the first, which moves it by one frame. Here the first frame goes, as in
    # its encoder.
    tiles = [vae.tiled_decode(latents[:, :, start : start + 3], time).sample for start in range(5)]
    tiles = [tile[:, :, 1:] if start else tile for start, tile in enumerate(tiles)]
    for before, tile in zip(tiles, tiles[1:]):
        vae.blend_t(before, tile, times)
    decoded = torch.cat([tile[:, :, : times + (start == 0)] for start, tile in enumerate(tiles)], dim=2)
    return {
        "long.mean": vae.encoder(clip)[:, :channels],
        "long_tiled.mean": vae.tiled_encode(clip)[:, :channels],
        "tiled.out": decoded[:, :, ::3, ::7, ::5],
    }


def qwen_image(transformer, prompts):
    """Qwen-Image's transformer on hash noise: images with one and with two in a batch, at one noise level each, after two
    prompts."""
    pipeline, config = diffusers.QwenImagePipeline, transformer.config
    channels, width = config.in_channels // 4, config.joint_attention_dim
    result = {}
    for name, batch, height, columns, lengths, sigma in [
        ("wide", 1, 6, 10, (7, 4), 0.9),
        ("tall", 2, 8, 4, (5, 11), 0.3),
    ]:
        latents = tensor(f"transformer.{name}.latents", batch, channels, height, columns)
        sigmas = torch.full((batch,), sigma)
        result.update({f"{name}.latents": latents, f"{name}.sigma": sigmas[:1]})
        for branch, tokens in enumerate(lengths):
            prompt = tensor(f"transformer.{name}.prompt.{branch}", tokens, width) * prompts
            out = transformer(
                hidden_states=pipeline._pack_latents(latents, batch, channels, height, columns),
                encoder_hidden_states=prompt.expand(batch, tokens, width),
                timestep=sigmas * 1000 / 1000,
                img_shapes=[[(1, height // 2, columns // 2)]] * batch,
            ).sample
            out = pipeline._unpack_latents(out, height * 8, columns * 8, 8).squeeze(2)
            result.update({f"{name}.prompt.{branch}": prompt, f"{name}.out.{branch}": out})
    return result


# Class -> function that calls it.
TRANSFORMERS = {"QwenImageTransformer2DModel": qwen_image}
