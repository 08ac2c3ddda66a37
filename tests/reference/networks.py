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


MIDDLE = {
    r"(encoder|decoder)\.mid_block": r"\1.mid_block", "quant_conv": "encoder.out", "post_quant_conv": "decoder.in",
}  # fmt: skip


NETWORKS = {
    "qwen2.5-vl-7b": qwen25_vl_7b(),
    "qwen-image": qwen_image(),
    "qwen-image-vae": picture_autoencoder(
        "Qwen-Image autoencoder", lambda: diffusers.AutoencoderKLQwenImage(), 16, frame=(1,)
    ),
}
