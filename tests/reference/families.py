"""One function a family: a tiny pipeline made of the real diffusers classes.

A family is called with the options of a checkpoint in `cases.py` and returns a `Tiny`. To add one, write its
function, register it with `@family` and give it cases.
"""

from dataclasses import dataclass
from typing import Callable

import quiet  # noqa: F401  (has to come first)

import diffusers
import transformers

import cascade
import clip_tokenizer
import gpt_oss_tokenizer
import lens as lens_reference
import llama_tokenizer
import modular
import mistral_tokenizer
import qwen3_processor
import qwen_tokenizer
import t5_tokenizer
import wuerstchen as two_stages

FAMILIES = {}


@dataclass
class Tiny:
    """A tiny pipeline and what saving it and calling it takes."""

    pipeline: diffusers.DiffusionPipeline
    tokenizers: dict[str, Callable[[str], None]]  # component -> function that writes its folder
    latents: Callable[..., tuple]  # (batch, height, width[, frames]) -> shape of the first noise


def family(function):
    """Registers a family under the name of its function."""
    FAMILIES[function.__name__] = function
    return function


def autoencoder_kl(
    latent_channels, scaling, shift=None, channels=(32, 32, 64, 64), quant_convolutions=False, layers=2
):
    """The autoencoder of Stable Diffusion and FLUX.1; its widths are multiples of 32."""
    levels = len(channels)
    return diffusers.AutoencoderKL(
        in_channels=3, out_channels=3, latent_channels=latent_channels, block_out_channels=tuple(channels),
        layers_per_block=layers, norm_num_groups=32, sample_size=256, scaling_factor=scaling,
        shift_factor=shift, down_block_types=("DownEncoderBlock2D",) * levels,
        up_block_types=("UpDecoderBlock2D",) * levels, use_quant_conv=quant_convolutions,
        use_post_quant_conv=quant_convolutions,
    )  # fmt: skip


def qwen3(tokenizer, width=64, blocks=3, heads=4, kv_heads=2, head_width=16, eps=1e-6, theta=1e6):
    """A Qwen3 language model without its output head."""
    config = transformers.Qwen3Config(
        vocab_size=padded(tokenizer), hidden_size=width, intermediate_size=width * 2,
        num_hidden_layers=blocks, num_attention_heads=heads, num_key_value_heads=kv_heads,
        head_dim=head_width, max_position_embeddings=2048, rms_norm_eps=eps, tie_word_embeddings=True,
        rope_theta=theta,
    )  # fmt: skip
    return transformers.Qwen3Model(config)


def qwen3_with_head(tokenizer, tied=True, **options):
    """The same with its output head, as text encoders are published that share it with the embeddings or not."""
    config = qwen3(tokenizer, **options).config
    config.tie_word_embeddings = tied
    return transformers.Qwen3ForCausalLM(config)


def padded(tokenizer):
    """The number of embeddings for a tokenizer: as in published models, some more than it has tokens."""
    return (len(tokenizer) + 7) // 8 * 8


def clip(
    tokenizer, width=64, blocks=2, heads=1, eps=1e-5, activation="quick_gelu", end=2, projected=False, projection=None,
    places=77,
):  # fmt: skip
    """A CLIP text encoder, perhaps with the projection of its pooled output. Published configurations have an `end` of
    2, whatever the tokenizer's is."""
    config = transformers.CLIPTextConfig(
        vocab_size=len(tokenizer), hidden_size=width, intermediate_size=width * 4, num_hidden_layers=blocks,
        num_attention_heads=heads, max_position_embeddings=places, hidden_act=activation,
        projection_dim=projection or width, layer_norm_eps=eps, bos_token_id=0, eos_token_id=len(tokenizer) - 1 if end is None else end, pad_token_id=1,
    )  # fmt: skip
    return (transformers.CLIPTextModelWithProjection if projected else transformers.CLIPTextModel)(config)


def t5(tokenizer, width=64, blocks=2, heads=4, head_width=16, inner=128, eps=1e-6, buckets=32, distance=128):
    """A T5 encoder of version 1.1."""
    config = transformers.T5Config(
        vocab_size=padded(tokenizer), d_model=width, d_kv=head_width, d_ff=inner, num_layers=blocks, num_heads=heads,
        feed_forward_proj="gated-gelu", relative_attention_num_buckets=buckets,
        relative_attention_max_distance=distance, layer_norm_epsilon=eps, tie_word_embeddings=False,
    )  # fmt: skip
    return transformers.T5EncoderModel(config)


def umt5(tokenizer, width=64, blocks=2, heads=4, head_width=16, inner=128, eps=1e-6, buckets=32, distance=128):
    """A UMT5 encoder: every block has its own position bias."""
    config = transformers.UMT5Config(
        vocab_size=padded(tokenizer), d_model=width, d_kv=head_width, d_ff=inner, num_layers=blocks, num_heads=heads,
        feed_forward_proj="gated-gelu", relative_attention_num_buckets=buckets,
        relative_attention_max_distance=distance, layer_norm_epsilon=eps, tie_word_embeddings=False,
    )  # fmt: skip
    return transformers.UMT5EncoderModel(config)


def clip_vision(width=24, blocks=3, heads=2, side=28, patch=14, eps=1e-5):
    """CLIP's image encoder, and what prepares pictures for it."""
    config = transformers.CLIPVisionConfig(
        hidden_size=width, intermediate_size=40, num_hidden_layers=blocks, num_attention_heads=heads, image_size=side,
        patch_size=patch, hidden_act="gelu", layer_norm_eps=eps, projection_dim=16,
    )  # fmt: skip
    processor = transformers.CLIPImageProcessor(size={"shortest_edge": side}, crop_size={"height": side, "width": side})
    return transformers.CLIPVisionModel(config), processor


def autoencoder_wan(**options):
    """Wan's causal autoencoder of clips."""
    usual = dict(base_dim=8, z_dim=16, dim_mult=[1, 2, 4, 4], num_res_blocks=2, temperal_downsample=[False, True, True])
    return diffusers.AutoencoderKLWan(**{**usual, **options})


@family
def flux(guidance=True, edits=False, fills=False, transformer=None, text=None, text_2=None, vae=None, scheduler=None):
    """FLUX.1: CLIP and T5, a transformer of double and single blocks; dev is told the guidance, schnell is not. Kontext
    `edits` pictures, Fill `fills` in a part of them."""
    (tokenizer, save_tokenizer), (tokenizer_2, save_tokenizer_2) = clip_tokenizer.make(), t5_tokenizer.make()
    text_encoder, text_encoder_2 = clip(tokenizer, **(text or {})), t5(tokenizer_2, **(text_2 or {}))
    options = dict(
        patch_size=1, in_channels=64, num_layers=2, num_single_layers=2, attention_head_dim=32,
        num_attention_heads=2, joint_attention_dim=text_encoder_2.config.d_model, guidance_embeds=guidance,
        pooled_projection_dim=text_encoder.config.hidden_size, axes_dims_rope=(4, 14, 14),
    )  # fmt: skip
    dynamic = dict(
        shift=3.0, use_dynamic_shifting=True, base_shift=0.5, max_shift=1.15, base_image_seq_len=256,
        max_image_seq_len=4096,
    )  # fmt: skip
    scheduler = scheduler or (dynamic if guidance else {"shift": 1.0})
    kind = diffusers.FluxFillPipeline if fills else diffusers.FluxKontextPipeline if edits else diffusers.FluxPipeline
    pipeline = kind(
        transformer=diffusers.FluxTransformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder_kl(**{"latent_channels": 16, "scaling": 0.3611, "shift": 0.1159, **(vae or {})}),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**scheduler),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        text_encoder_2=text_encoder_2,
        tokenizer_2=tokenizer_2,
    )
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer, "tokenizer_2": save_tokenizer_2},
        latents=lambda batch, height, width: (batch, 16, height // 8, width // 8),
    )


@family
def redux(encoder=None, width=64):
    """Redux for FLUX.1: SigLIP, and two layers that make tokens of its states. `pictures.redux` gives its pipeline what prepares
    pictures, and the text encoders."""
    usual = dict(
        hidden_size=144, intermediate_size=96, num_hidden_layers=2, num_attention_heads=2, image_size=28, patch_size=14,
        layer_norm_eps=1e-6,
    )  # fmt: skip
    config = transformers.SiglipVisionConfig(**{**usual, **(encoder or {})})
    pipeline = diffusers.FluxPriorReduxPipeline(
        image_encoder=transformers.SiglipVisionModel(config),
        feature_extractor=None,
        image_embedder=diffusers.pipelines.flux.modeling_flux.ReduxImageEncoder(config.hidden_size, width),
    )
    return Tiny(pipeline, tokenizers={}, latents=None)


def unet(**options):
    """A small UNet. Published configurations call the number of heads `attention_head_dim`."""
    usual = dict(sample_size=8, in_channels=4, out_channels=4, layers_per_block=2)
    return diffusers.UNet2DConditionModel(**{**usual, **options})


def discrete(kind, **options):
    """A scheduler with the noise levels of Stable Diffusion."""
    usual = dict(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", steps_offset=1)
    return getattr(diffusers, kind)(**{**usual, **options})


def down_and_up(*attends):
    """The types of levels with and without attention, and the same on the way up."""
    names = [("CrossAttn" if attends_here else "") for attends_here in attends]
    return {
        "down_block_types": tuple(f"{name}DownBlock2D" for name in names),
        "up_block_types": tuple(f"{name}UpBlock2D" for name in reversed(names)),
    }


@family
def stable_diffusion(denoiser=None, text=None, vae=None, scheduler=None):
    """Stable Diffusion 1 and 2: CLIP and a UNet."""
    tokenizer, save_tokenizer = clip_tokenizer.make()
    text_encoder = clip(tokenizer, **(text or {}))
    options = dict(
        block_out_channels=(32, 64, 64, 96), attention_head_dim=8,
        cross_attention_dim=text_encoder.config.hidden_size, **down_and_up(True, True, True, False),
    )  # fmt: skip
    usual = {"kind": "EulerDiscreteScheduler", "timestep_spacing": "leading"}
    pipeline = diffusers.StableDiffusionPipeline(
        unet=unet(**{**options, **(denoiser or {})}),
        vae=autoencoder_kl(
            **{"latent_channels": 4, "scaling": 0.18215, "quant_convolutions": True, **(vae or {})}
        ),
        scheduler=discrete(**(scheduler or usual)),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, 4, height // 8, width // 8),
    )


@family
def sdxl(zeros=True, refines=False, denoiser=None, text=None, text_2=None, vae=None, scheduler=None):
    """Stable Diffusion XL: two CLIPs and a UNet that is told the size of the picture. The refiner has the second CLIP
    alone, and is told how beautiful the picture is to be."""
    (tokenizer, save_tokenizer), (tokenizer_2, save_tokenizer_2) = clip_tokenizer.make(), clip_tokenizer.make("!")
    text_encoder = clip(tokenizer, **{"blocks": 3, **(text or {})})
    second = {"projected": True, "width": 128, "blocks": 3, "heads": 2, "activation": "gelu"}
    text_encoder_2 = clip(tokenizer_2, **{**second, **(text_2 or {})})
    encoders = (text_encoder_2,) if refines else (text_encoder, text_encoder_2)
    options = dict(
        block_out_channels=(32, 64, 128), attention_head_dim=(1, 1, 2), transformer_layers_per_block=(1, 2, 4),
        cross_attention_dim=sum(encoder.config.hidden_size for encoder in encoders), use_linear_projection=True,
        addition_embed_type="text_time", addition_time_embed_dim=256, **down_and_up(False, True, True),
    )  # fmt: skip
    options.update(denoiser or {})
    pooled, sizes = text_encoder_2.config.projection_dim, (6 - refines) * options["addition_time_embed_dim"]
    usual = {"kind": "EulerDiscreteScheduler", "timestep_spacing": "leading"}
    kind = diffusers.StableDiffusionXLImg2ImgPipeline if refines else diffusers.StableDiffusionXLPipeline
    pipeline = kind(
        unet=unet(projection_class_embeddings_input_dim=pooled + sizes, **options),
        vae=autoencoder_kl(
            **{"latent_channels": 4, "scaling": 0.13025, "quant_convolutions": True, **(vae or {})}
        ),
        scheduler=discrete(**(scheduler or usual)),
        text_encoder=None if refines else text_encoder,
        tokenizer=None if refines else tokenizer,
        text_encoder_2=text_encoder_2,
        tokenizer_2=tokenizer_2,
        force_zeros_for_empty_prompt=zeros,
        add_watermarker=False,
        **({"requires_aesthetics_score": True} if refines else {}),
    )
    first = {} if refines else {"tokenizer": save_tokenizer}
    return Tiny(
        pipeline,
        tokenizers={**first, "tokenizer_2": save_tokenizer_2},
        latents=lambda batch, height, width: (batch, 4, height // 8, width // 8),
    )


@family
def stable_cascade(prior=None, decoder=None, text=None, vqgan=None, scheduler=None):
    """Stable Cascade: CLIP, a prior and a decoder of ConvNeXt blocks, and the autoencoder of Paella. A latent of the prior
    is as many pixels that small images have few."""
    tokenizer, save_tokenizer = clip_tokenizer.make()
    usual = {"projected": True, "width": 64, "activation": "gelu", "end": None}
    text_encoder = clip(tokenizer, **{**usual, **(text or {})})
    pooled, hidden = text_encoder.config.projection_dim, text_encoder.config.hidden_size
    whole = ("SDCascadeResBlock", "SDCascadeTimestepBlock", "SDCascadeAttnBlock")
    of_prior = dict(
        in_channels=6, out_channels=6, timestep_ratio_embedding_dim=16, conditioning_dim=32, block_out_channels=(32, 48),
        num_attention_heads=(2, 3), down_num_layers_per_block=(1, 2), up_num_layers_per_block=(2, 1),
        block_types_per_layer=(whole, whole), clip_text_in_channels=hidden, clip_text_pooled_in_channels=pooled,
        clip_image_in_channels=24, switch_level=(False,),
    )  # fmt: skip
    of_prior.update(prior or {})
    of_decoder = dict(
        in_channels=4, out_channels=4, timestep_ratio_embedding_dim=16, patch_size=2, conditioning_dim=24,
        block_out_channels=(16, 32), num_attention_heads=(0, 2), down_num_layers_per_block=(1, 2),
        up_num_layers_per_block=(2, 1), down_blocks_repeat_mappers=(1, 1), up_blocks_repeat_mappers=(3, 2),
        block_types_per_layer=(whole[:2], whole), clip_text_pooled_in_channels=pooled,
        effnet_in_channels=of_prior["out_channels"], pixel_mapper_in_channels=3, timestep_conditioning_type=("sca",),
    )  # fmt: skip
    of_decoder.update(decoder or {})
    # What networks that have learned nothing leave of the first level's noise is a hundred times as large as latents.
    of_vqgan = dict(bottleneck_blocks=2, embed_dim=16, num_vq_embeddings=2, scale_factor=0.003)
    settings = {"resolution_multiple": 10.67, "latent_dim_scale": 2.67}
    pipeline = cascade.StableCascadeDecoderPipeline(
        settings,
        prior=diffusers.StableCascadeUNet(**of_prior),
        decoder=diffusers.StableCascadeUNet(**of_decoder),
        vqgan=cascade.PaellaVQModel(**{**of_vqgan, **(vqgan or {})}),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        scheduler=diffusers.DDPMWuerstchenScheduler(**(scheduler or {})),
    )
    sides = lambda side: -int(-side // settings["resolution_multiple"])
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, of_prior["in_channels"], sides(height), sides(width)),
    )


@family
def wuerstchen(prior=None, decoder=None, text=None, prior_text=None, vqgan=None, scheduler=None, settings=None):
    """Wuerstchen: a prior and a decoder of ConvNeXt blocks, each with a CLIP of its own, and the autoencoder of Paella."""
    (tokenizer, save_tokenizer), (prior_tokenizer, save_prior_tokenizer) = clip_tokenizer.make(), clip_tokenizer.make()
    usual = {"width": 48, "activation": "gelu", "end": None}
    text_encoder = clip(tokenizer, **{**usual, **(text or {})})
    prior_text_encoder = clip(prior_tokenizer, **{**usual, "width": 64, **(prior_text or {})})
    of_prior = dict(c_in=6, c=32, c_cond=prior_text_encoder.config.hidden_size, c_r=16, depth=2, nhead=2)
    of_prior.update(prior or {})
    of_decoder = dict(
        c_r=16, c_cond=24, c_hidden=[16, 32], nhead=[-1, 2], blocks=[1, 2], level_config=["CT", "CTA"],
        inject_effnet=[False, True], effnet_embd=of_prior["c_in"], clip_embd=text_encoder.config.hidden_size,
    )  # fmt: skip
    of_decoder.update(decoder or {})
    of_vqgan = dict(bottleneck_blocks=2, embed_dim=16, num_vq_embeddings=2, scale_factor=0.003)
    own = {"resolution_multiple": 10.67, "latent_dim_scale": 2.67, "latent_mean": 42.0, "latent_std": 1.0, **(settings or {})}
    schedulers = [diffusers.DDPMWuerstchenScheduler(**(scheduler or {})) for _ in range(2)]
    pipeline = two_stages.WuerstchenCombinedPipeline(
        own,
        tokenizer=tokenizer,
        text_encoder=text_encoder,
        decoder=cascade.WuerstchenDiffNeXt(**of_decoder),
        scheduler=schedulers[0],
        vqgan=cascade.PaellaVQModel(**{**of_vqgan, **(vqgan or {})}),
        prior_tokenizer=prior_tokenizer,
        prior_text_encoder=prior_text_encoder,
        prior_prior=cascade.WuerstchenPrior(**of_prior),
        prior_scheduler=schedulers[1],
    )
    sides = lambda side: -int(-side // own["resolution_multiple"])
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer, "prior_tokenizer": save_prior_tokenizer},
        latents=lambda batch, height, width: (batch, of_prior["c_in"], sides(height), sides(width)),
    )


@family
def sd3(large_text=True, transformer=None, text=None, text_2=None, text_3=None, vae=None, scheduler=None):
    """Stable Diffusion 3: two CLIPs and perhaps T5, a transformer of two streams of tokens."""
    (tokenizer, save_tokenizer), (tokenizer_2, save_tokenizer_2) = clip_tokenizer.make(), clip_tokenizer.make("!")
    tokenizer_3, save_tokenizer_3 = t5_tokenizer.make()
    text_encoder = clip(tokenizer, **{"projected": True, **(text or {})})
    text_encoder_2 = clip(tokenizer_2, **{"projected": True, "width": 96, "blocks": 3, **(text_2 or {})})
    text_encoder_3 = t5(tokenizer_3, **{"width": 160, **(text_3 or {})})
    encoders = (text_encoder, text_encoder_2)
    options = dict(
        sample_size=8, patch_size=2, in_channels=16, num_layers=3, attention_head_dim=32, num_attention_heads=2,
        joint_attention_dim=text_encoder_3.config.d_model, pos_embed_max_size=32, qk_norm="rms_norm",
        pooled_projection_dim=sum(encoder.config.projection_dim for encoder in encoders),
    )  # fmt: skip
    options.update(transformer or {})
    options["caption_projection_dim"] = options["num_attention_heads"] * options["attention_head_dim"]
    pipeline = diffusers.StableDiffusion3Pipeline(
        transformer=diffusers.SD3Transformer2DModel(**options),
        vae=autoencoder_kl(**{"latent_channels": 16, "scaling": 1.5305, "shift": 0.0609, **(vae or {})}),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**(scheduler or {"shift": 3.0})),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        text_encoder_2=text_encoder_2,
        tokenizer_2=tokenizer_2,
        text_encoder_3=text_encoder_3 if large_text else None,
        tokenizer_3=tokenizer_3 if large_text else None,
    )
    tokenizers = {"tokenizer": save_tokenizer, "tokenizer_2": save_tokenizer_2}
    if large_text:
        tokenizers["tokenizer_3"] = save_tokenizer_3
    return Tiny(
        pipeline, tokenizers, latents=lambda batch, height, width: (batch, 16, height // 8, width // 8)
    )


def llama(tokenizer, width=48, blocks=4, heads=2, kv_heads=1, head_width=128, eps=1e-5, theta=5e5, stretch=None):
    """A Llama 3 model with its output head, whose rotary embedding is stretched as `stretch` says. Its heads are as wide as
    published, because the tensors do not show that."""
    usual = dict(factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192)
    config = transformers.LlamaConfig(
        vocab_size=padded(tokenizer), hidden_size=width, intermediate_size=width * 2, num_hidden_layers=blocks,
        num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_width, max_position_embeddings=131072,
        rms_norm_eps=eps, tie_word_embeddings=False, rope_parameters={"rope_type": "llama3", "rope_theta": theta, **usual, **(stretch or {})},
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


@family
def hidream(
    transformer=None, text=None, text_2=None, text_3=None, text_4=None, vae=None, kind="UniPCMultistepScheduler",
    scheduler=None,
):  # fmt: skip
    """HiDream-I1: pooled outputs of two CLIPs, T5, states of the layers of Llama 3, a transformer of double and single blocks
    with experts, FLUX.1's autoencoder. Dev and Fast have a scheduler for distilled models. Its heads are as wide as published."""
    (tokenizer, save_tokenizer), (tokenizer_2, save_tokenizer_2) = clip_tokenizer.make(), clip_tokenizer.make("!")
    (tokenizer_3, save_tokenizer_3), (tokenizer_4, save_tokenizer_4) = t5_tokenizer.make(), llama_tokenizer.make()
    text_encoder = clip(tokenizer, **{"projected": True, "places": 248, **(text or {})})
    second = {"projected": True, "places": 218, "width": 128, "blocks": 3, "heads": 2}
    text_encoder_2 = clip(tokenizer_2, **{**second, **(text_2 or {})})
    text_encoder_3, text_encoder_4 = t5(tokenizer_3, **(text_3 or {})), llama(tokenizer_4, **(text_4 or {}))
    pooled = text_encoder.config.projection_dim + text_encoder_2.config.projection_dim
    options = dict(
        patch_size=2, in_channels=16, out_channels=16, num_layers=2, num_single_layers=3, attention_head_dim=128,
        num_attention_heads=1, caption_channels=[text_encoder_3.config.d_model, text_encoder_4.config.hidden_size],
        text_emb_dim=pooled, num_routed_experts=4, num_activated_experts=2, axes_dims_rope=(64, 32, 32),
        max_resolution=(6, 6), llama_layers=[0, 1, 2, 3, 3],
    )  # fmt: skip
    flow = dict(prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0)
    usual = flow if kind == "UniPCMultistepScheduler" else {"shift": 3.0}
    pipeline = diffusers.HiDreamImagePipeline(
        transformer=diffusers.HiDreamImageTransformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder_kl(**{"latent_channels": 16, "scaling": 0.3611, "shift": 0.1159, **(vae or {})}),
        scheduler=getattr(diffusers, kind)(**{**usual, **(scheduler or {})}),
        text_encoder=text_encoder, tokenizer=tokenizer, text_encoder_2=text_encoder_2, tokenizer_2=tokenizer_2,
        text_encoder_3=text_encoder_3, tokenizer_3=tokenizer_3, text_encoder_4=text_encoder_4, tokenizer_4=tokenizer_4,
    )  # fmt: skip
    saves = (save_tokenizer, save_tokenizer_2, save_tokenizer_3, save_tokenizer_4)
    return Tiny(
        pipeline,
        tokenizers=dict(zip(("tokenizer", "tokenizer_2", "tokenizer_3", "tokenizer_4"), saves)),
        latents=lambda batch, height, width: (batch, 16, height // 8, width // 8),
    )


@family
def z_image(transformer=None, text=None, vae=None, scheduler=None):
    """Z-Image: a Qwen3 text encoder, a transformer of one stream of tokens, FLUX.1's autoencoder."""
    tokenizer, save_tokenizer = qwen_tokenizer.make()
    text_encoder = qwen3(tokenizer, **(text or {}))
    options = dict(
        all_patch_size=(2,), all_f_patch_size=(1,), in_channels=16, dim=128, n_layers=2, n_refiner_layers=2,
        n_heads=2, n_kv_heads=2, norm_eps=1e-5, qk_norm=True, cap_feat_dim=text_encoder.config.hidden_size,
        rope_theta=256.0, t_scale=1000.0, axes_dims=[16, 24, 24], axes_lens=[512, 64, 64],
    )  # fmt: skip
    pipeline = diffusers.ZImagePipeline(
        transformer=diffusers.ZImageTransformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder_kl(**{"latent_channels": 16, "scaling": 0.3611, "shift": 0.1159, **(vae or {})}),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**(scheduler or {"shift": 3.0})),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
    )
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, 16, height // 8, width // 8),
    )


def qwen25_vl(tokenizer, width=256, blocks=2, heads=2, kv_heads=1, eps=1e-6, theta=1e6, vision=None):
    """A Qwen2.5-VL model with a small vision tower, which reads no pictures unless it is told its shape. Its heads are as
    wide as published, because the tensors do not show that."""
    ids = tokenizer.get_vocab()
    half = width // heads // 2
    text = dict(
        vocab_size=padded(tokenizer), hidden_size=width, intermediate_size=width * 2, num_hidden_layers=blocks,
        num_attention_heads=heads, num_key_value_heads=kv_heads, max_position_embeddings=2048, rms_norm_eps=eps,
        rope_theta=theta, bos_token_id=ids["<|endoftext|>"], eos_token_id=ids["<|im_end|>"],
        rope_scaling={"mrope_section": [half // 4, half // 2 - half // 8, half - half // 4 - half // 2 + half // 8], "type": "default"},
    )  # fmt: skip
    usual = dict(
        depth=1, hidden_size=16, intermediate_size=24, num_heads=2, out_hidden_size=width, fullatt_block_indexes=[0],
        window_size=112,
    )  # fmt: skip
    seen = {} if vision is None else {
        "image_token_id": ids["<|image_pad|>"], "video_token_id": ids["<|video_pad|>"],
        "vision_start_token_id": ids["<|vision_start|>"], "vision_end_token_id": ids["<|vision_end|>"],
    }  # fmt: skip
    vision = {**usual, **(vision or {})}
    config = transformers.Qwen2_5_VLConfig(text_config=text, vision_config=vision, tie_word_embeddings=False, **seen)
    return transformers.Qwen2_5_VLForConditionalGeneration(config)


@family
def qwen_image(edits=None, transformer=None, text=None, vae=None, scheduler=None):
    """Qwen-Image: the language model of Qwen2.5-VL, a transformer of two streams, Wan's autoencoder on one frame. Those that
    edit have a pipeline with `edits` in its name. What prepares pictures for the vision tower needs packages that do
    not matter here; `pictures.Processor` does the same."""
    tokenizer, save_tokenizer = qwen_tokenizer.make()
    text_encoder = qwen25_vl(tokenizer, **(text or {}))
    options = dict(
        patch_size=2, in_channels=64, out_channels=16, num_layers=2, attention_head_dim=32, num_attention_heads=2,
        joint_attention_dim=text_encoder.config.text_config.hidden_size, axes_dims_rope=(4, 14, 14),
    )  # fmt: skip
    usual = dict(base_dim=8, z_dim=16, dim_mult=[1, 2, 4, 4], num_res_blocks=2, temperal_downsample=[False, True, True])
    flow = dict(
        use_dynamic_shifting=True, base_shift=0.5, max_shift=0.9, base_image_seq_len=256, max_image_seq_len=8192,
        shift=1.0, shift_terminal=0.02, time_shift_type="exponential",
    )  # fmt: skip
    autoencoder = diffusers.AutoencoderKLQwenImage(**{**usual, **(vae or {})})
    kind = getattr(diffusers, f"QwenImage{edits or ''}Pipeline")
    pipeline = kind(
        **({"processor": None} if edits else {}),
        transformer=diffusers.QwenImageTransformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**{**flow, **(scheduler or {})}),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
    )
    channels, scale = autoencoder.config.z_dim, 2 ** len(autoencoder.config.temperal_downsample)
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, channels, height // scale, width // scale),
    )


@family
def longcat(edits=False, transformer=None, text=None, vae=None, scheduler=None):
    """LongCat-Image: Qwen2.5-VL, which reads quotations letter by letter, FLUX.1's blocks without a pooled prompt, and its
    autoencoder. What prepares pictures is as in Qwen-Image."""
    tokenizer, save_tokenizer = qwen_tokenizer.make()
    text_encoder = qwen25_vl(tokenizer, **{"width": 128, "heads": 1, **(text or {})})
    width = text_encoder.config.text_config.hidden_size
    options = dict(
        patch_size=1, in_channels=64, num_layers=2, num_single_layers=2, attention_head_dim=32, num_attention_heads=2,
        joint_attention_dim=width, pooled_projection_dim=width, axes_dims_rope=(4, 14, 14),
    )  # fmt: skip
    dynamic = dict(
        shift=3.0, use_dynamic_shifting=True, base_shift=0.5, max_shift=1.15, base_image_seq_len=256,
        max_image_seq_len=4096,
    )  # fmt: skip
    pipeline = (diffusers.LongCatImageEditPipeline if edits else diffusers.LongCatImagePipeline)(
        transformer=diffusers.LongCatImageTransformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder_kl(**{"latent_channels": 16, "scaling": 0.3611, "shift": 0.1159, **(vae or {})}),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**{**dynamic, **(scheduler or {})}),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        text_processor=None,
    )
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, 16, height // 8, width // 8),
    )


@family
def chroma(transformer=None, text=None, vae=None, scheduler=None):
    """Chroma: T5, and FLUX.1's blocks, which one small network modulates."""
    tokenizer, save_tokenizer = t5_tokenizer.make()
    text_encoder = t5(tokenizer, **(text or {}))
    options = dict(
        patch_size=1, in_channels=64, num_layers=2, num_single_layers=2, attention_head_dim=32, num_attention_heads=2,
        joint_attention_dim=text_encoder.config.d_model, axes_dims_rope=(4, 14, 14), approximator_num_channels=64,
        approximator_hidden_dim=80, approximator_layers=3,
    )  # fmt: skip
    dynamic = dict(use_dynamic_shifting=True, base_shift=0.5, max_shift=1.15, base_image_seq_len=256, max_image_seq_len=4096)
    pipeline = diffusers.ChromaPipeline(
        transformer=diffusers.ChromaTransformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder_kl(**{"latent_channels": 16, "scaling": 0.3611, "shift": 0.1159, **(vae or {})}),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**(scheduler or dynamic)),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
    )
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, 16, height // 8, width // 8),
    )


def mistral(tokenizer, with_head=True, width=64, blocks=4, heads=2, kv_heads=1, head_width=128, eps=1e-5, theta=1e9, yarn=None):
    """A Mistral Small 3 model with a small vision tower, which reads no pictures. With `yarn`, rotations are those for longer
    texts, as in Ministral 3."""
    rope = {"rope_theta": theta, "rope_type": "yarn", **yarn} if yarn else {"rope_theta": theta, "rope_type": "default"}
    text = dict(
        model_type="mistral", vocab_size=padded(tokenizer), hidden_size=width, intermediate_size=width * 2,
        num_hidden_layers=blocks, num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_width,
        max_position_embeddings=2048, rms_norm_eps=eps, sliding_window=None,
        rope_parameters=rope,
    )  # fmt: skip
    vision = dict(
        model_type="pixtral", hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24,
        patch_size=4, image_size=16,
    )  # fmt: skip
    config = transformers.Mistral3Config(text_config=text, vision_config=vision, image_token_index=10)
    return (transformers.Mistral3ForConditionalGeneration if with_head else transformers.Mistral3Model)(config)


@family
def flux2(distilled=True, dev=False, transformer=None, text=None, vae=None, scheduler=None):
    """FLUX.2: states of three layers of Qwen3 or, for dev, of Mistral, a transformer of double and single blocks that
    share their modulation, an autoencoder whose latents are patches that a batch norm scales."""
    tokenizer, save_tokenizer = (mistral_tokenizer if dev else qwen_tokenizer).make()
    if dev:
        text_encoder = mistral(tokenizer, **(text or {}))
        text_width = text_encoder.config.text_config.hidden_size
    else:
        text_encoder = qwen3_with_head(tokenizer, **{"blocks": 4, **(text or {})})
        text_width = text_encoder.config.hidden_size
    usual = dict(latent_channels=32, block_out_channels=(32, 32, 64, 64), layers_per_block=1, norm_num_groups=32)
    autoencoder = diffusers.AutoencoderKLFlux2(**{**usual, **(vae or {})})
    channels = 4 * autoencoder.config.latent_channels
    options = dict(
        in_channels=channels, num_layers=2, num_single_layers=2, attention_head_dim=32, num_attention_heads=2,
        joint_attention_dim=3 * text_width, axes_dims_rope=(8, 8, 8, 8), guidance_embeds=dev,
    )  # fmt: skip
    flow = dict(
        shift=3.0, use_dynamic_shifting=True, base_shift=0.5, max_shift=1.15, base_image_seq_len=256,
        max_image_seq_len=4096,
    )  # fmt: skip
    own = {} if dev else {"is_distilled": distilled}
    pipeline = (diffusers.Flux2Pipeline if dev else diffusers.Flux2KleinPipeline)(
        transformer=diffusers.Flux2Transformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**{**flow, **(scheduler or {})}),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        **own,
    )
    scale = 2 ** len(autoencoder.config.block_out_channels)
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, channels, height // scale, width // scale),
    )


@family
def flux2_dev(text=None):
    """FLUX.2 dev: guidance is an input of the transformer, and Mistral reads the prompts."""
    return flux2(dev=True, text=text)


@family
def ernie_image(transformer=None, text=None, vae=None, scheduler=None):
    """ERNIE-Image: Ministral 3, a transformer of one stream, FLUX.2's autoencoder. The model that rewrites prompts is left
    out."""
    tokenizer, save_tokenizer = mistral_tokenizer.make(begins=True)
    published = {
        "beta_fast": 32.0, "beta_slow": 1.0, "factor": 16.0, "mscale": 1.0, "mscale_all_dim": 1.0,
        "original_max_position_embeddings": 16384,
    }  # fmt: skip
    text_encoder = mistral(tokenizer, **{"with_head": False, "blocks": 3, "theta": 1e6, "yarn": published, **(text or {})})
    usual = dict(latent_channels=32, block_out_channels=(32, 32, 64, 64), layers_per_block=1, norm_num_groups=32)
    autoencoder = diffusers.AutoencoderKLFlux2(**{**usual, **(vae or {})})
    channels = 4 * autoencoder.config.latent_channels
    options = dict(
        hidden_size=128, num_attention_heads=2, num_layers=2, ffn_hidden_size=96, in_channels=channels, out_channels=channels,
        text_in_dim=text_encoder.config.text_config.hidden_size, rope_axes_dim=(16, 24, 24),
    )  # fmt: skip
    pipeline = diffusers.ErnieImagePipeline(
        transformer=diffusers.ErnieImageTransformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**(scheduler or {"shift": 4.0})),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
    )
    scale = 2 ** len(autoencoder.config.block_out_channels)
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, channels, height // scale, width // scale),
    )


def gpt_oss(tokenizer, width=32, inner=32, blocks=4, heads=4, kv_heads=2, head_width=16, experts=6, chosen=4, window=128, eps=1e-5, yarn=None):
    """A GPT-OSS model: a mixture of experts with attention sinks, of which every other layer sees a window of tokens."""
    published = {"factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "original_max_position_embeddings": 4096, "truncate": False, "rope_theta": 150000.0}
    config = transformers.GptOssConfig(
        vocab_size=padded(tokenizer), hidden_size=width, intermediate_size=inner, num_hidden_layers=blocks,
        num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_width, num_local_experts=experts,
        num_experts_per_tok=chosen, sliding_window=window, rms_norm_eps=eps, max_position_embeddings=4096,
        rope_parameters={"rope_type": "yarn", **published, **(yarn or {})}, attn_implementation="eager",
    )  # fmt: skip
    return transformers.GptOssForCausalLM(config)


@family
def lens(transformer=None, text=None, vae=None, scheduler=None):
    """Lens: states of several layers of GPT-OSS, a transformer of two streams, FLUX.2's autoencoder. `lens.py` has what is not in
    diffusers."""
    tokenizer, save_tokenizer = gpt_oss_tokenizer.make()
    text_encoder = gpt_oss(tokenizer, **(text or {}))
    usual = dict(latent_channels=32, block_out_channels=(32, 32, 64, 64), layers_per_block=1, norm_num_groups=32)
    autoencoder = diffusers.AutoencoderKLFlux2(**{**usual, **(vae or {})})
    channels = autoencoder.config.latent_channels
    options = dict(
        in_channels=4 * channels, out_channels=channels, num_layers=2, attention_head_dim=32, num_attention_heads=3, inner_dim=96,
        enc_hidden_dim=text_encoder.config.hidden_size, axes_dims_rope=(4, 14, 14), selected_layer_index=(0, 1, 2, 3),
    )  # fmt: skip
    flow = dict(
        shift=3.0, use_dynamic_shifting=True, base_shift=0.5, max_shift=1.15, base_image_seq_len=256,
        max_image_seq_len=4096,
    )  # fmt: skip
    pipeline = lens_reference.LensPipeline(
        transformer=lens_reference.LensTransformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**{**flow, **(scheduler or {})}),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
    )
    scale = 2 ** len(autoencoder.config.block_out_channels)
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, 4 * channels, height // scale, width // scale),
    )

def qwen3_vl(tokenizer, width=32, blocks=9, heads=2, kv_heads=1, head_width=16, eps=1e-6, theta=5e6):
    """A Qwen3-VL model with a small vision tower, which reads no pictures."""
    half = head_width // 2
    text = dict(
        vocab_size=padded(tokenizer), hidden_size=width, intermediate_size=width * 2, num_hidden_layers=blocks,
        num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_width, max_position_embeddings=2048,
        rms_norm_eps=eps, tie_word_embeddings=True,
        rope_parameters={"rope_theta": theta, "rope_type": "default", "mrope_section": [half - 2 * (half // 3), half // 3, half // 3]},
    )  # fmt: skip
    vision = dict(
        depth=1, hidden_size=16, intermediate_size=24, num_heads=2, out_hidden_size=width, num_position_embeddings=4,
        deepstack_visual_indexes=[0], patch_size=4,
    )  # fmt: skip
    return transformers.Qwen3VLModel(transformers.Qwen3VLConfig(text_config=text, vision_config=vision))


def qwen3_vl_seeing(tokenizer, width=32, blocks=3, heads=2, kv_heads=1, head_width=16, eps=1e-6, theta=5e6, sections=(4, 2, 2), vision=None):
    """A Qwen3-VL model with a vision tower. The defaults of its tower are as the tensors of published ones show."""
    ids = tokenizer.get_vocab()
    text = dict(
        vocab_size=padded(tokenizer), hidden_size=width, intermediate_size=width * 2, num_hidden_layers=blocks,
        num_attention_heads=heads, num_key_value_heads=kv_heads, head_dim=head_width, max_position_embeddings=2048,
        rms_norm_eps=eps,
        rope_parameters={"rope_theta": theta, "rope_type": "default", "mrope_section": list(sections), "mrope_interleaved": True},
    )  # fmt: skip
    usual = dict(
        depth=6, hidden_size=64, intermediate_size=48, num_heads=16, out_hidden_size=width, num_position_embeddings=16,
        deepstack_visual_indexes=[5], patch_size=16,
    )  # fmt: skip
    config = transformers.Qwen3VLConfig(
        text_config=text, vision_config={**usual, **(vision or {})}, tie_word_embeddings=False,
        image_token_id=ids["<|image_pad|>"], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
    )  # fmt: skip
    return transformers.Qwen3VLForConditionalGeneration(config)


@family
def qwen_image_21(transformer=None, text=None, vae=None, scheduler=None):
    """Qwen-Image 2.1: Qwen3-VL, a transformer of one causal stream, an autoencoder with an opacity. Its tokenizer is that of
    Krea 2."""
    tokenizer, _ = qwen_tokenizer.make()
    text_encoder = qwen3_vl_seeing(tokenizer, **(text or {}))
    options = dict(
        in_channels=64, out_channels=64, num_layers=2, attention_head_dim=32, num_attention_heads=2,
        context_in_dim=text_encoder.config.text_config.hidden_size, axes_dims_rope=(4, 14, 14),
    )  # fmt: skip
    usual = dict(base_dim=4, decoder_base_dim=6, num_res_blocks=2)
    flow = dict(
        use_dynamic_shifting=True, base_shift=0.5, max_shift=0.9, base_image_seq_len=256, max_image_seq_len=8192,
        shift=1.0, shift_terminal=0.02, time_shift_type="exponential",
    )  # fmt: skip
    autoencoder = diffusers.AutoencoderKLQwenImage21(**{**usual, **(vae or {})})
    pipeline = diffusers.QwenImage21Pipeline(
        transformer=diffusers.QwenImage21Transformer2DModel(**{**options, **(transformer or {})}),
        vae=autoencoder,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**{**flow, **(scheduler or {})}),
        text_encoder=text_encoder,
        processor=qwen3_processor.Processor(tokenizer),
    )
    channels = autoencoder.config.z_dim
    return Tiny(
        pipeline,
        tokenizers={},
        latents=lambda batch, height, width: (batch, channels, height // 16, width // 16),
    )


@family
def krea2(layers=(2, 5, 8), distilled=False, transformer=None, text=None, vae=None, scheduler=None):
    """Krea 2: states of several layers of Qwen3-VL, a transformer of one stream, Qwen-Image's autoencoder."""
    tokenizer, save_tokenizer = qwen_tokenizer.make()
    text_encoder = qwen3_vl(tokenizer, **(text or {}))
    options = dict(
        in_channels=64, num_layers=2, attention_head_dim=32, num_attention_heads=2, num_key_value_heads=1,
        intermediate_size=96, timestep_embed_dim=32, text_hidden_dim=text_encoder.config.text_config.hidden_size,
        num_text_layers=len(layers), text_num_attention_heads=2, text_num_key_value_heads=1, text_intermediate_size=48,
        num_layerwise_text_blocks=1, num_refiner_text_blocks=2, axes_dims_rope=(8, 12, 12),
    )  # fmt: skip
    usual = dict(base_dim=8, z_dim=16, dim_mult=[1, 2, 4, 4], num_res_blocks=2, temperal_downsample=[False, True, True])
    flow = dict(use_dynamic_shifting=True, base_shift=0.5, max_shift=1.15, base_image_seq_len=256, max_image_seq_len=6400)
    pipeline = diffusers.Krea2Pipeline(
        transformer=diffusers.Krea2Transformer2DModel(**{**options, **(transformer or {})}),
        vae=diffusers.AutoencoderKLQwenImage(**{**usual, **(vae or {})}),
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**{**flow, **(scheduler or {})}),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        text_encoder_select_layers=layers,
        is_distilled=distilled,
    )
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer},
        latents=lambda batch, height, width: (batch, 16, height // 8, width // 8),
    )


@family
def anima(transformer=None, conditioner=None, text=None, vae=None, scheduler=None):
    """Anima: Qwen3, a conditioner that reads its states at the tokens of T5, the transformer of Cosmos Predict 2 and
    Qwen-Image's autoencoder."""
    tokenizer, save_tokenizer = qwen_tokenizer.make()
    t5_tokens, save_t5_tokenizer = t5_tokenizer.make()
    text_encoder = qwen3(tokenizer, **(text or {}))
    read = dict(
        source_dim=text_encoder.config.hidden_size, target_dim=48, model_dim=48, num_layers=2, num_attention_heads=3,
        target_vocab_size=padded(t5_tokens), min_sequence_length=40,
    )  # fmt: skip
    text_conditioner = diffusers.AnimaTextConditioner(**{**read, **(conditioner or {})})
    options = dict(
        in_channels=16, out_channels=16, num_attention_heads=2, attention_head_dim=32, num_layers=2, mlp_ratio=4.0,
        text_embed_dim=text_conditioner.config.target_dim, adaln_lora_dim=16, max_size=(128, 240, 240),
        patch_size=(1, 2, 2), rope_scale=(1.0, 4.0, 4.0), concat_padding_mask=True, extra_pos_embed_type=None,
    )  # fmt: skip
    usual = dict(base_dim=8, z_dim=16, dim_mult=[1, 2, 4, 4], num_res_blocks=2, temperal_downsample=[False, True, True])
    autoencoder = diffusers.AutoencoderKLQwenImage(**{**usual, **(vae or {})})
    pipeline = modular.AnimaPipeline(
        text_encoder=text_encoder,
        tokenizer=tokenizer,
        t5_tokenizer=t5_tokens,
        text_conditioner=text_conditioner,
        transformer=diffusers.CosmosTransformer3DModel(**{**options, **(transformer or {})}),
        vae=autoencoder,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**(scheduler or {"shift": 3.0})),
    )
    return Tiny(
        pipeline,
        tokenizers={"tokenizer": save_tokenizer, "t5_tokenizer": save_t5_tokenizer},
        latents=lambda batch, height, width: (batch, 16, height // 8, width // 8),
    )


@family
def wan(
    transformer=None, text=None, vae=None, scheduler=None, kind="UniPCMultistepScheduler", boundary=None, expand=False,
    images=0, vision=None, control=None,
):  # fmt: skip
    """Wan 2.1: UMT5, a transformer of one sequence of patches that attends to the prompt, a causal autoencoder. Wan 2.2 has
    a second transformer below the `boundary`, or `expand`s its timesteps to one for each patch. Models of clips from
    `images` read a mask and an encoded clip, and those with `vision` attend to the images. `control` are the blocks that
    those of a second stream add to, which read a controlling clip."""
    tokenizer, save_tokenizer = t5_tokenizer.make()
    text_encoder, vae = umt5(tokenizer, **(text or {})), autoencoder_wan(**(vae or {}))
    options = dict(
        patch_size=(1, 2, 2), num_attention_heads=2, attention_head_dim=128, in_channels=vae.config.z_dim,
        out_channels=vae.config.z_dim, text_dim=text_encoder.config.d_model, freq_dim=256, ffn_dim=96, num_layers=2,
    )  # fmt: skip
    flow = dict(prediction_type="flow_prediction", use_flow_sigmas=True, flow_shift=3.0)
    usual = flow if kind == "UniPCMultistepScheduler" else {"shift": 3.0}
    options.update(transformer or {})
    more = {}
    if images:
        options["in_channels"] = 2 * vae.config.z_dim + 4
        encoder, processor = clip_vision(**vision) if vision is not None else (None, None)
        more = {"image_encoder": encoder, "image_processor": processor}
    network, kind_of_pipeline = diffusers.WanTransformer3DModel, diffusers.WanImageToVideoPipeline if images else diffusers.WanPipeline
    if control:
        network, kind_of_pipeline = diffusers.WanVACETransformer3DModel, diffusers.WanVACEPipeline
        mask = vae.config.scale_factor_spatial**2
        options.update(vace_layers=control, vace_in_channels=2 * vae.config.z_dim + mask)
    else:
        more["expand_timesteps"] = expand
    pipeline = kind_of_pipeline(
        **more,
        transformer=network(**options),
        transformer_2=network(**options) if boundary else None,
        boundary_ratio=boundary,
        vae=vae,
        scheduler=getattr(diffusers, kind)(**{**usual, **(scheduler or {})}),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
    )
    times, scale = vae.config.scale_factor_temporal, vae.config.scale_factor_spatial

    def latents(batch, height, width, frames=1):
        """Images have no axis for frames."""
        clip = [(frames - 1) // times + 1] if frames > 1 else []
        return (batch, vae.config.z_dim, *clip, height // scale, width // scale)

    return Tiny(pipeline, tokenizers={"tokenizer": save_tokenizer}, latents=latents)


def autoencoder_ltx(**options):
    """LTX-Video's autoencoder of clips; its decoder sees later frames."""
    usual = dict(
        latent_channels=16, block_out_channels=(8, 12, 16, 16), layers_per_block=(1, 1, 1, 1, 1),
        decoder_block_out_channels=(8, 12, 16, 16), decoder_layers_per_block=(1, 1, 1, 1, 1),
    )  # fmt: skip
    return diffusers.AutoencoderKLLTXVideo(**{**usual, **options})


@family
def ltx(is_conditioned=False, transformer=None, text=None, vae=None, scheduler=None):
    """LTX-Video: T5, a transformer whose tokens are latents, an autoencoder that makes 32 by 32 by 8 values one latent. From
    0.9.7 on it is conditioned on frames, by a pipeline of its own."""
    tokenizer, save_tokenizer = t5_tokenizer.make()
    text_encoder, vae = t5(tokenizer, **(text or {})), autoencoder_ltx(**(vae or {}))
    channels = vae.config.latent_channels
    options = dict(
        in_channels=channels, out_channels=channels, num_attention_heads=2, attention_head_dim=32, num_layers=2,
        cross_attention_dim=64, caption_channels=text_encoder.config.d_model,
    )  # fmt: skip
    usual = dict(
        use_dynamic_shifting=True, base_shift=0.95, max_shift=2.05, base_image_seq_len=1024, max_image_seq_len=4096,
        shift_terminal=0.1,
    )  # fmt: skip
    usual = {"use_dynamic_shifting": False} if is_conditioned else usual
    pipeline = (diffusers.LTXConditionPipeline if is_conditioned else diffusers.LTXPipeline)(
        transformer=diffusers.LTXVideoTransformer3DModel(**{**options, **(transformer or {})}),
        vae=vae,
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(**{**usual, **(scheduler or {})}),
        text_encoder=text_encoder,
        tokenizer=tokenizer,
    )
    times, scale = vae.temporal_compression_ratio, vae.spatial_compression_ratio

    def latents(batch, height, width, frames=1):
        """Images have no axis for frames."""
        clip = [(frames - 1) // times + 1] if frames > 1 else []
        return (batch, channels, *clip, height // scale, width // scale)

    return Tiny(pipeline, tokenizers={"tokenizer": save_tokenizer}, latents=latents)
