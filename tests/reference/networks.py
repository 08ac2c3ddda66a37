"""The networks of published models: their configurations, how they are cut into blocks, and how they are called."""

from dataclasses import dataclass, field
from typing import Callable

import quiet  # noqa: F401  (has to come first)

import diffusers
import torch
import transformers


@dataclass
class Network:
    """A component without weights. See `footprints.blocks_of` for `unfold`, `apart` and `homes`."""

    architecture: str
    make: Callable
    inputs: Callable  # sizes -> arguments of a forward pass
    sizes: list[dict]
    operations: tuple  # monomials of the operations
    values: tuple  # monomials of the values that are alive
    unfold: tuple = ()
    apart: dict = field(default_factory=dict)
    homes: dict = field(default_factory=dict)
    once: tuple = ()  # blocks that depend on prompt and timesteps alone and run once for a picture
    call: Callable = lambda network: network


def new(*shape, dtype=torch.float32):
    """A tensor without numbers."""
    return torch.empty(*shape, dtype=dtype, device="meta")


# Text encoders, over t tokens.


def text_encoder(architecture, make, tokens=(128, 192, 256, 384, 512), arguments=None, **options):
    """An encoder of token ids."""
    return Network(
        architecture, make, lambda t: {"input_ids": new(1, t, dtype=torch.long), **(arguments or {})},
        sizes=[{"t": t} for t in tokens], operations=("1", "t", "tt"), values=("t", "tt"), **options,
    )  # fmt: skip


def t5(architecture, kind, config, vocabulary):
    """The encoder of a T5 of the XXL size."""
    config = config(
        vocab_size=vocabulary, d_model=4096, d_kv=64, d_ff=10240, num_layers=24, num_heads=64,
        feed_forward_proj="gated-gelu",
    )  # fmt: skip
    return text_encoder(
        architecture, lambda: kind(config), unfold=("encoder",),
        apart={"shared|encoder.embed_tokens": "embeddings", "encoder.final_layer_norm": "head"},
    )  # fmt: skip


# Looking for padding in a mask needs numbers, of which there are none here.
NO_MASK = {"attention_mask": {"full_attention": None}}


def qwen25_vl_7b():
    """Qwen2.5-VL-7B without its output head. Pictures go through `visual`, prompts do not."""
    text = dict(
        vocab_size=152064, hidden_size=3584, intermediate_size=18944, num_hidden_layers=28, num_attention_heads=28,
        num_key_value_heads=4, use_cache=False,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]},
    )  # fmt: skip
    vision = dict(depth=32, hidden_size=1280, intermediate_size=3420, num_heads=16, out_hidden_size=3584)
    config = transformers.Qwen2_5_VLConfig(text_config=text, vision_config=vision)
    return text_encoder(
        "Qwen2.5-VL-7B", lambda: transformers.Qwen2_5_VLModel(config), unfold=("visual", "language_model"),
        apart={"language_model.embed_tokens": "embeddings", "language_model.norm": "head"},
        call=lambda network: network.language_model, arguments=NO_MASK,
    )  # fmt: skip


# Denoisers, over i image tokens and t text tokens.

# What depends on the timestep and the pooled prompt alone: a large part of the weights, and none of the work.
MODULATED = {
    "time_text_embed|context_embedder|txt_norm|txt_in": "conditioning",
    r"(.*transformer_blocks\.\d+)\.(norm1(_context)?\.linear|norm\.linear|img_mod|txt_mod)": r"\1.modulation",
}
MODULATED_ONCE = ("conditioning", r".*\.modulation")


def denoiser(architecture, make, inputs, sides=(48, 64, 96), texts=(64, 128, 256), **options):
    """A denoiser. `inputs` gets the sides of the latents in tokens and the number of text tokens."""
    sizes = [{"a": side, "b": sides[0], "t": text} for side in sides for text in texts]
    monomials = ("1", "i", "t", "ii", "it", "tt")
    return Network(architecture, make, inputs, sizes, monomials, ("1", "i", "t"), **options)


def qwen_image():
    """Qwen-Image."""
    return denoiser(
        "Qwen-Image transformer",
        lambda: diffusers.QwenImageTransformer2DModel(),
        lambda a, b, t: {
            "hidden_states": new(1, a * b, 64), "encoder_hidden_states": new(1, t, 3584),
            "encoder_hidden_states_mask": None, "timestep": new(1), "img_shapes": [(1, a, b)],
        },
        apart=MODULATED, once=MODULATED_ONCE,
    )  # fmt: skip


def ltx(layers, head_width):
    """LTX-Video. The prompt is embedded once."""
    return denoiser(
        "LTX-Video transformer",
        lambda: diffusers.LTXVideoTransformer3DModel(
            num_layers=layers, attention_head_dim=head_width, cross_attention_dim=32 * head_width
        ),
        lambda a, b, t: {
            "hidden_states": new(1, a * b, 128), "encoder_hidden_states": new(1, t, 4096), "timestep": new(1),
            "encoder_attention_mask": None, "num_frames": 1, "height": a, "width": b,
        },
        apart={"caption_projection": "prompt embedder"},
        once=("prompt embedder",),
    )  # fmt: skip


# Autoencoders, over p latents of a frame and f frames of latents. The decoder is run; the encoder has no use in a
# run that starts from noise.

SIDES = ((32, 32), (32, 48), (48, 48), (64, 64))


def picture_autoencoder(architecture, make, channels, frame=(), apart=None):
    """An autoencoder of single pictures; `frame` is the frames' dimension where the network has one."""
    return Network(
        architecture, make, lambda a, b, f: {"z": new(1, channels, *frame, a, b)},
        sizes=[{"a": a, "b": b, "f": 1} for a, b in SIDES], operations=("1", "p", "pp"), values=("1", "p"),
        unfold=("encoder", "decoder"), apart=apart or MIDDLE, call=lambda network: network.decode,
    )  # fmt: skip


def video_autoencoder(architecture, make, channels, timestep=False):
    """An autoencoder of videos."""
    return Network(
        architecture, make,
        lambda a, b, f: {"z": new(1, channels, f, a, b), **({"temb": new(1)} if timestep else {})},
        sizes=[{"a": a, "b": b, "f": f} for a, b in SIDES for f in (3, 5, 9)],
        operations=("1", "p", "pf", "pp", "ppf"), values=("1", "p", "pf"), unfold=("encoder", "decoder"),
        apart=MIDDLE, call=lambda network: network.decode,
    )  # fmt: skip


MIDDLE = {
    r"(encoder|decoder)\.mid_block": r"\1.mid_block", "quant_conv": "encoder.out", "post_quant_conv": "decoder.in",
}  # fmt: skip


def ltx_097_vae():
    """The autoencoder of LTX-Video 0.9.5 and later."""
    config = dict(
        block_out_channels=(128, 256, 512, 1024, 2048), down_block_types=("LTXVideo095DownBlock3D",) * 4,
        decoder_block_out_channels=(256, 512, 1024), layers_per_block=(4, 6, 6, 2, 2),
        decoder_layers_per_block=(5, 5, 5, 5), spatio_temporal_scaling=(True,) * 4,
        decoder_spatio_temporal_scaling=(True,) * 3, decoder_inject_noise=(False,) * 4,
        downsample_type=("spatial", "temporal", "spatiotemporal", "spatiotemporal"),
        upsample_residual=(True,) * 3, upsample_factor=(2,) * 3, timestep_conditioning=True,
    )  # fmt: skip
    name = "LTX-Video 0.9.7 autoencoder"
    return video_autoencoder(name, lambda: diffusers.AutoencoderKLLTXVideo(**config), 128, timestep=True)


NETWORKS = {
    "t5-xxl": t5("T5-XXL encoder", transformers.T5EncoderModel, transformers.T5Config, 32128),
    "qwen2.5-vl-7b": qwen25_vl_7b(),
    "qwen-image": qwen_image(),
    "ltx-2b": ltx(layers=28, head_width=64),
    "ltx-13b": ltx(layers=48, head_width=128),
    "qwen-image-vae": picture_autoencoder(
        "Qwen-Image autoencoder", lambda: diffusers.AutoencoderKLQwenImage(), 16, frame=(1,)
    ),
    "ltx-vae": video_autoencoder("LTX-Video autoencoder", lambda: diffusers.AutoencoderKLLTXVideo(), 128),
    "ltx-0.9.7-vae": ltx_097_vae(),
}
