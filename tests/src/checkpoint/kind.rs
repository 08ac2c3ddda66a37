//! The files and prefixes of components under their original names.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;

use super::{Layout, save};
use crate::original_names::{self, Tensors, prefixed};

/// Anima's conditioner is in the file of its transformer.
pub(super) fn with_conditioner(mut components: BTreeMap<String, Tensors>) -> BTreeMap<String, Tensors> {
    let of = |folder: &str, path: &String| path.starts_with(&format!("{folder}/"));
    let conditioner = components.keys().find(|path| of("text_conditioner", path)).cloned();
    if let Some(conditioner) = conditioner.and_then(|path| components.remove(&path))
        && let Some((_, transformer)) = components.iter_mut().find(|(path, _)| of("transformer", path))
    {
        transformer.append(&mut prefixed("llm_adapter.", conditioner));
    }
    components
}

/// The names of a model's files depend on its other files.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    has_unet: bool,
    has_first_encoder: bool,
    has_two_encoders: bool,
    /// The text encoder has the names of FLUX.2 dev's, but is read whole.
    has_ministral: bool,
}

impl Kind {
    pub(super) fn of(components: &BTreeMap<String, Tensors>) -> Self {
        let has = |folder: &str| components.keys().any(|path| path.starts_with(folder));
        Self {
            has_unet: has("unet/"),
            has_first_encoder: has("text_encoder/"),
            has_two_encoders: has("text_encoder_2/"),
            has_ministral: components
                .values()
                .any(|tensors| tensors.contains_key("layers.0.adaLN_sa_ln.weight")),
        }
    }

    /// The file of a component in the split layout, its prefix in a single file, and its tensors under their
    /// original names.
    pub(super) fn original(
        self,
        path: &str,
        tensors: Tensors,
    ) -> Result<(&'static str, &'static str, Tensors)> {
        const DENOISER: &str = "model.diffusion_model.";
        let has = |name: &str| tensors.contains_key(name);
        Ok(match path.split('/').next() {
            Some("unet") => ("diffusion_models/tiny_unet", DENOISER, original_names::unet(&tensors)),
            Some("transformer") if has("patch_embed.proj.weight") => {
                ("diffusion_models/tiny_anima", "net.", original_names::cosmos(&tensors))
            }
            Some("transformer") if has("txt_in.text_norm.weight") => {
                ("diffusion_models/tiny_qwen_image_2.1", DENOISER, original_names::qwen_image_21(&tensors)?)
            }
            Some("transformer") if has("caption_projection.0.linear.weight") => {
                ("diffusion_models/tiny_hidream", DENOISER, tensors)
            }
            Some("text_encoder_4") => {
                ("text_encoders/llama_3.1_8b_instruct", "text_encoders.llama.transformer.", tensors)
            }
            Some("text_encoder") if has("model.visual.merger.linear_fc2.weight") => {
                ("text_encoders/qwen3vl_8b", "text_encoders.qwen3vl_8b.transformer.", tensors)
            }
            Some("transformer") if has("text_fusion.projector.weight") => {
                ("diffusion_models/tiny_krea2", DENOISER, original_names::krea2(&tensors)?)
            }
            Some("text_encoder") if has("language_model.layers.0.self_attn.q_norm.weight") => {
                let tensors = prefixed("model.", tensors);
                ("text_encoders/qwen3vl_4b", "text_encoders.qwen3vl_4b.transformer.", tensors)
            }
            Some("transformer") if has("distilled_guidance_layer.in_proj.weight") => {
                ("diffusion_models/tiny_chroma", DENOISER, original_names::chroma(&tensors)?)
            }
            Some("transformer") if has("time_embed.timestep_embedder.linear_1.weight") => {
                ("diffusion_models/tiny_longcat", DENOISER, original_names::longcat(&tensors)?)
            }
            Some("transformer") if has("single_transformer_blocks.0.proj_mlp.weight") => {
                ("diffusion_models/tiny_flux", DENOISER, original_names::flux(&tensors)?)
            }
            Some("transformer") if has("pos_embed.pos_embed") => {
                ("diffusion_models/tiny_sd3", DENOISER, original_names::sd3(&tensors)?)
            }
            Some("transformer") if has("condition_embedder.time_proj.weight") => {
                ("diffusion_models/tiny_wan", DENOISER, original_names::wan(&tensors))
            }
            Some("transformer") if has("time_embed.linear.weight") => {
                ("diffusion_models/tiny_ltx", DENOISER, original_names::ltx(&tensors))
            }
            Some("vae") if has("decoder.conv_in.conv.weight") => {
                ("vae/tiny_ltx", "vae.", original_names::ltx_autoencoder(&tensors))
            }
            Some("text_encoder") if has("shared.weight") => {
                ("text_encoders/umt5_xxl", "text_encoders.umt5xxl.transformer.", tensors)
            }
            Some("vae") if has("decoder.norm_out.gamma") && tensors["decoder.conv_in.weight"].rank() == 4 => {
                ("vae/qwen_image_2.1_vae", "vae.", original_names::flat_autoencoder(&tensors)?)
            }
            Some("vae") if has("decoder.norm_out.gamma") => {
                ("vae/wan_2.1_vae", "vae.", original_names::causal_autoencoder(&tensors))
            }
            Some("transformer") if has("txt_norm.weight") => {
                ("diffusion_models/tiny_qwen_image", DENOISER, tensors)
            }
            Some("transformer") if has("txt_norm.0.weight") => {
                ("diffusion_models/lens_tiny", DENOISER, tensors)
            }
            Some("text_encoder") if has("model.layers.0.self_attn.sinks") => {
                ("text_encoders/gpt_oss_20b", "text_encoders.gpt_oss_20b.transformer.", tensors)
            }
            Some("text_encoder") if has("model.layers.0.self_attn.q_norm.weight") => {
                ("text_encoders/tiny_qwen3", "text_encoders.qwen3_4b.transformer.", tensors)
            }
            Some("text_encoder") if self.has_ministral => {
                let tensors = original_names::ministral(tensors);
                ("text_encoders/ministral_3_3b", "text_encoders.ministral3_3b.transformer.", tensors)
            }
            Some("text_encoder") if has("language_model.model.norm.weight") => {
                let tensors = original_names::mistral(tensors);
                ("text_encoders/tiny_mistral3", "text_encoders.mistral3_24b.transformer.", tensors)
            }
            Some("text_encoder") if has("lm_head.weight") => {
                ("text_encoders/qwen_2.5_vl_7b", "text_encoders.qwen25_7b.transformer.", tensors)
            }
            Some("transformer") if has("layers.0.adaLN_sa_ln.weight") => {
                ("diffusion_models/tiny_ernie_image", DENOISER, tensors)
            }
            Some("transformer") if has("double_stream_modulation_img.linear.weight") => {
                ("diffusion_models/tiny_flux2", DENOISER, original_names::flux2(&tensors)?)
            }
            Some("vae") if has("bn.running_mean") => {
                ("vae/flux2-vae", "vae.", original_names::flux2_autoencoder(&tensors)?)
            }
            Some("transformer") => {
                ("diffusion_models/tiny_z_image", DENOISER, original_names::z_image(&tensors)?)
            }
            // Stable Diffusion XL's second encoder is published this way.
            Some("text_encoder_2") if self.has_unet => {
                let tensors = original_names::open_clip(&tensors)?;
                let prefix = match self.has_first_encoder {
                    true => "conditioner.embedders.1.model.",
                    false => "conditioner.embedders.0.model.",
                };
                ("text_encoders/clip_g", prefix, tensors)
            }
            Some("text_encoder") if self.has_unet && self.has_two_encoders => {
                ("text_encoders/clip_l", "conditioner.embedders.0.transformer.", tensors)
            }
            Some("text_encoder") if self.has_unet => {
                ("text_encoders/clip_l", "cond_stage_model.transformer.", tensors)
            }
            Some("text_encoder") if has("text_model.final_layer_norm.weight") => {
                ("text_encoders/clip_l", "text_encoders.clip_l.transformer.", tensors)
            }
            Some(_) if has("text_model.final_layer_norm.weight") => {
                ("text_encoders/clip_g", "text_encoders.clip_g.transformer.", tensors)
            }
            Some("text_encoder") => {
                let tensors = prefixed("model.", tensors);
                ("text_encoders/tiny_qwen3", "text_encoders.qwen3_4b.transformer.", tensors)
            }
            Some("text_encoder_2" | "text_encoder_3") => {
                ("text_encoders/t5xxl", "text_encoders.t5xxl.transformer.", tensors)
            }
            Some("vae") if self.has_unet => {
                ("vae/ae", "first_stage_model.", original_names::autoencoder(&tensors)?)
            }
            Some("vae") => ("vae/ae", "vae.", original_names::autoencoder(&tensors)?),
            _ => anyhow::bail!("{path} has no place among split files"),
        })
    }

    pub(super) fn save_split(
        self,
        path: &str,
        tensors: Tensors,
        layout: Layout,
        folder: &Path,
    ) -> Result<()> {
        let (file, prefix, tensors) = self.original(path, tensors)?;
        let is_denoiser = path.starts_with("transformer/") || path.starts_with("unet/");
        let is_prefixed = layout == Layout::SplitPrefixed && is_denoiser;
        let tensors = if is_prefixed { prefixed(prefix, tensors) } else { tensors };
        save(&tensors, &folder.join(format!("{file}.safetensors")))
    }
}
