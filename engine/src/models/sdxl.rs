//! Stable Diffusion XL (Podell et al. 2023, arXiv:2307.01952): a UNet that reads the hidden states of two CLIPs and is
//! told the size of the picture. The refiner reads those of the second one.

use super::{
    AdapterMark, Family, Model, ModelDefaults, Opened, TextPart,
    family::{autoencoder_part, part},
    scheduler,
    unet::{self, Addition, Unet, UnetConfig},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Layout, Part, Role, read_json},
    request::ComputeDtype,
    sampling::{AlignedSteps, PredictionType, Training},
    text::{Clip, ClipEncoder, ClipUse},
    vae::{Autoencoder, AutoencoderKl, LatentScaling},
};

/// The family.
pub struct Sdxl;

/// Sizes that the network is told, by their number: those of the picture, or in the refiner those and a score.
const SIZES: [usize; 2] = [6, 5];

/// How latents are scaled in Stable Diffusion XL.
pub const LATENT_SCALING: LatentScaling = LatentScaling { factor: 0.130_25, shift: None };

impl Family for Sdxl {
    fn id(&self) -> &'static str {
        "sdxl"
    }

    fn name(&self) -> &'static str {
        "Stable Diffusion XL"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_own)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Stable Diffusion XL", AdapterMark::Name("lora_te2_")),
            ("Stable Diffusion XL", AdapterMark::Name("input_blocks_4_1_transformer_blocks_1")),
            ("Stable Diffusion XL", AdapterMark::Name("add_embedding")),
            ("Stable Diffusion XL", AdapterMark::Name("down_blocks_2_attentions_1_transformer_blocks_9")),
            ("Stable Diffusion XL", AdapterMark::PromptWidth(2048)),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("label_emb.0.0.weight", "sdxl")]
    }

    fn tiny_decoder(&self) -> Option<&'static str> {
        Some("taesdxl")
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no Stable Diffusion XL UNet was found", is_own)?;
        unet::has_table(checkpoint, denoiser)?;
        let (config, component) = unet::open(denoiser, "Stable Diffusion XL UNet")?;
        let text = text(checkpoint, &config)?;
        let vae = autoencoder_part(checkpoint, config.out_channels)?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;
        let otherwise = unet::trained(denoiser, || Ok(PredictionType::Epsilon))?;
        let training =
            scheduler::discrete(checkpoint, otherwise.with_aligned(AlignedSteps::StableDiffusionXl))?;
        let scale = autoencoder.0.scale();
        let side = config.sample_size.map_or(1024, |side| (side * scale) as u32);
        let zeros = zeros_for_none(checkpoint, text.len() == 2)?;
        let unet = Unet::new(config, training.clone(), scale, zeros);
        let opened = Opened {
            text,
            denoiser: (Box::new(unet), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Discrete(training),
            defaults: ModelDefaults {
                width: side,
                height: side,
                steps: 30,
                guidance: 5.0,
                on_cards: ComputeDtype::F16,
            },
        };
        Ok(Model::new(&Sdxl, checkpoint, opened))
    }
}

fn is_own(part: &Part) -> bool {
    unet::is_unet(&part.tensors) && unet::has_addition(&part.tensors)
}

/// The text encoders: the one whose projected output the network is told, and before it, where the prompt's embeddings
/// are wider than that one's, the one that gives the rest.
fn text(checkpoint: &Checkpoint, config: &UnetConfig) -> Result<Vec<TextPart>, CheckpointError> {
    let Addition { time_dim, inputs } = config.addition.unwrap_or(Addition { time_dim: 0, inputs: 0 });
    let pooled = SIZES.map(|count| inputs.saturating_sub(count * time_dim));
    let expected = format!("no CLIP text encoder with a projection to {} values was found", pooled[0]);
    let fits = |part: &Part| {
        let width = Clip::width(&part.tensors).filter(|width| *width <= config.cross_attention_dim);
        width.is_some() && Clip::projection(&part.tensors).is_some_and(|width| pooled.contains(&width))
    };
    let second = part(checkpoint, Role::TextEncoder, &expected, fits)?;
    let rest = config.cross_attention_dim - Clip::width(&second.tensors).unwrap_or(0);
    let projected =
        TextPart::new(ClipEncoder::open(checkpoint, second, "tokenizer_2", ClipUse::PENULTIMATE)?);
    if rest == 0 {
        return Ok(vec![projected]);
    }
    let expected = format!("no other CLIP text encoder of width {rest} was found");
    let first = part(checkpoint, Role::TextEncoder, &expected, |part| {
        Clip::width(&part.tensors) == Some(rest) && !std::ptr::eq(part, second)
    })?;
    let usage = ClipUse { is_projected: false, ..ClipUse::PENULTIMATE };
    Ok(vec![TextPart::new(ClipEncoder::open(checkpoint, first, "tokenizer", usage)?), projected])
}

/// Whether nothing but zeros stands for a negative prompt that is not there: as `model_index.json` says, and otherwise
/// as in the published base model and not as in the refiner.
fn zeros_for_none(checkpoint: &Checkpoint, is_base: bool) -> Result<bool, CheckpointError> {
    if checkpoint.layout != Layout::Diffusers {
        return Ok(is_base);
    }
    let index: serde_json::Value = read_json(&checkpoint.root.join("model_index.json"))?;
    Ok(index.get("force_zeros_for_empty_prompt").and_then(serde_json::Value::as_bool).unwrap_or(true))
}
