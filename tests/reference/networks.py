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


def clip(architecture, width, layers, heads, activation, projection):
    """A CLIP text encoder, with the projection of its pooled output where a model uses that."""
    config = dict(
        hidden_size=width, intermediate_size=4 * width, num_hidden_layers=layers, num_attention_heads=heads,
        projection_dim=width, hidden_act=activation, max_position_embeddings=77,
    )  # fmt: skip
    kind = transformers.CLIPTextModelWithProjection if projection else transformers.CLIPTextModel
    return text_encoder(
        architecture, lambda: kind(transformers.CLIPTextConfig(**config)), tokens=(32, 48, 64, 77),
        unfold=("text_model", "encoder", "text_model.encoder"),
        apart={"(text_model.)?embeddings": "embeddings", "(text_model.)?final_layer_norm|text_projection": "head"},
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


def qwen3_4b():
    """Qwen3-4B without its output head."""
    config = transformers.Qwen3Config(
        vocab_size=151936, hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32,
        num_key_value_heads=8, head_dim=128, tie_word_embeddings=True, use_cache=False,
    )  # fmt: skip
    return text_encoder(
        "Qwen3-4B", lambda: transformers.Qwen3Model(config), arguments=NO_MASK, apart={"embed_tokens": "embeddings"}
    )


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


def flux(guidance):
    """FLUX.1."""
    return denoiser(
        "FLUX.1 transformer",
        lambda: diffusers.FluxTransformer2DModel(guidance_embeds=guidance),
        lambda a, b, t: {
            "hidden_states": new(1, a * b, 64), "encoder_hidden_states": new(1, t, 4096),
            "pooled_projections": new(1, 768), "timestep": new(1), "guidance": new(1) if guidance else None,
            "img_ids": new(a * b, 3), "txt_ids": new(t, 3),
        },
        apart=MODULATED, once=MODULATED_ONCE,
    )  # fmt: skip


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


def z_image():
    """Z-Image Turbo. The caption is refined once."""
    return denoiser(
        "Z-Image transformer",
        lambda: diffusers.ZImageTransformer2DModel(),
        lambda a, b, t: {"x": [new(16, 1, 2 * a, 2 * b)], "t": new(1), "cap_feats": [new(t, 2560)]},
        apart={
            "cap_embedder": "caption embedder", r"all_x_embedder\.2-1|t_embedder": "embedders",
            r"all_final_layer\.2-1": "all_final_layer.2-1",
        },
        homes={"cap_pad_token": "cap_embedder", "x_pad_token": "t_embedder"},
        once=("caption embedder", r"context_refiner\.\d+"),
    )  # fmt: skip


def sd3(layers, heads, side, dual=(), norm="rms_norm"):
    """Stable Diffusion 3 and 3.5. The table of places is looked up in."""
    return denoiser(
        "Stable Diffusion 3 transformer",
        lambda: diffusers.SD3Transformer2DModel(
            num_layers=layers, num_attention_heads=heads, attention_head_dim=64, joint_attention_dim=4096,
            caption_projection_dim=64 * heads, pooled_projection_dim=2048, pos_embed_max_size=side,
            qk_norm=norm, dual_attention_layers=dual,
        ),
        lambda a, b, t: {
            "hidden_states": new(1, 16, 2 * a, 2 * b), "encoder_hidden_states": new(1, t, 4096),
            "pooled_projections": new(1, 2048), "timestep": new(1),
        },
        apart={**MODULATED, r"pos_embed\.pos_embed": "places"}, once=MODULATED_ONCE,
    )  # fmt: skip


# In a UNet, what depends on prompt and timestep alone: the projections of both in every block.
PROJECTED = {
    r"time_embedding|add_embedding|.*\.time_emb_proj": "conditioning",
    r"(.*transformer_blocks\.\d+)\.attn2\.to_[kv]": r"\1.prompt",
    r"(.*attentions\.\d+)\.(norm|proj_in)": r"\1.transformer_blocks.0",
}
PROJECTED_ONCE = ("conditioning", r".*\.prompt")


def unet(architecture, width, added=None, **config):
    """A UNet of Stable Diffusion; a token is a latent."""
    return denoiser(
        architecture,
        lambda: diffusers.UNet2DConditionModel(cross_attention_dim=width, **config),
        lambda a, b, t: {
            "sample": new(1, 4, a, b), "timestep": new(1), "encoder_hidden_states": new(1, t, width),
            "added_cond_kwargs": added,
        },
        sides=(64, 96, 128), texts=(77, 154, 231), apart=PROJECTED, once=PROJECTED_ONCE,
        unfold=(r"(down|up)_blocks\.\d+", "mid_block", r".*attentions\.\d+"),
    )  # fmt: skip


def sdxl():
    """The UNet of Stable Diffusion XL."""
    return unet(
        "Stable Diffusion XL UNet", 2048, added={"text_embeds": new(1, 1280), "time_ids": new(1, 6)},
        sample_size=128, block_out_channels=(320, 640, 1280),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=(5, 10, 20), transformer_layers_per_block=(1, 2, 10), use_linear_projection=True,
        addition_embed_type="text_time", addition_time_embed_dim=256, projection_class_embeddings_input_dim=2816,
    )  # fmt: skip


def wan(heads, inner, layers, channels):
    """Wan 2.2. The prompt is embedded once."""
    return denoiser(
        "Wan 2.2 transformer",
        lambda: diffusers.WanTransformer3DModel(
            num_attention_heads=heads, ffn_dim=inner, num_layers=layers, in_channels=channels, out_channels=channels
        ),
        lambda a, b, t: {
            "hidden_states": new(1, channels, 2, 2 * a, b), "timestep": new(1),
            "encoder_hidden_states": new(1, t, 4096),
        },
        apart={r"condition_embedder\.text_embedder": "prompt embedder"},
        once=("prompt embedder",),
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


def autoencoder_kl(channels, quant):
    """The autoencoder of Stable Diffusion and FLUX.1."""
    config = dict(
        down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(128, 256, 512, 512), layers_per_block=2, latent_channels=channels,
        use_quant_conv=quant, use_post_quant_conv=quant,
    )  # fmt: skip
    return picture_autoencoder("AutoencoderKL", lambda: diffusers.AutoencoderKL(**config), channels)


def wan_22_vae():
    """The autoencoder of Wan 2.2 5B."""
    config = dict(
        base_dim=160, decoder_base_dim=256, z_dim=48, is_residual=True, in_channels=12, out_channels=12,
        patch_size=2, scale_factor_spatial=16, latents_mean=[0.0] * 48, latents_std=[1.0] * 48,
    )  # fmt: skip
    return video_autoencoder("Wan 2.2 autoencoder", lambda: diffusers.AutoencoderKLWan(**config), 48)


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
    "clip-l": clip("CLIP-L", 768, 12, 12, "quick_gelu", projection=False),
    "clip-l-projected": clip("CLIP-L", 768, 12, 12, "quick_gelu", projection=True),
    "clip-h": clip("CLIP-H", 1024, 23, 16, "gelu", projection=False),
    "clip-g": clip("CLIP-bigG", 1280, 32, 20, "gelu", projection=True),
    "t5-xxl": t5("T5-XXL encoder", transformers.T5EncoderModel, transformers.T5Config, 32128),
    "umt5-xxl": t5("umT5-XXL encoder", transformers.UMT5EncoderModel, transformers.UMT5Config, 256384),
    "qwen3-4b": qwen3_4b(),
    "qwen2.5-vl-7b": qwen25_vl_7b(),
    "flux-dev": flux(guidance=True),
    "flux-schnell": flux(guidance=False),
    "z-image": z_image(),
    "qwen-image": qwen_image(),
    "sd3-medium": sd3(24, 24, 192, norm=None),
    "sd3.5-large": sd3(38, 38, 192),
    "sd3.5-medium": sd3(24, 24, 384, dual=tuple(range(13))),
    "sdxl": sdxl(),
    "sd2.1": unet(
        "Stable Diffusion 2.1 UNet", 1024, sample_size=96, attention_head_dim=(5, 10, 20, 20),
        use_linear_projection=True,
    ),
    "sd1.5": unet("Stable Diffusion 1.5 UNet", 768, sample_size=64),
    "wan-2.2-5b": wan(heads=24, inner=14336, layers=30, channels=48),
    "wan-2.2-14b": wan(heads=40, inner=13824, layers=40, channels=16),
    "ltx-2b": ltx(layers=28, head_width=64),
    "ltx-13b": ltx(layers=48, head_width=128),
    "kl-4": autoencoder_kl(4, quant=True),
    "kl-16": autoencoder_kl(16, quant=False),
    "qwen-image-vae": picture_autoencoder(
        "Qwen-Image autoencoder", lambda: diffusers.AutoencoderKLQwenImage(), 16, frame=(1,)
    ),
    "wan-2.1-vae": video_autoencoder("Wan 2.1 autoencoder", lambda: diffusers.AutoencoderKLWan(), 16),
    "wan-2.2-vae": wan_22_vae(),
    "ltx-vae": video_autoencoder("LTX-Video autoencoder", lambda: diffusers.AutoencoderKLLTXVideo(), 128),
    "ltx-0.9.7-vae": ltx_097_vae(),
}
