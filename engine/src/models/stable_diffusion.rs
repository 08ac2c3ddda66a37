//! Stable Diffusion 1 and 2 (Rombach et al. 2022, arXiv:2112.10752): a UNet that reads the hidden states of
//! one CLIP.

use super::{
    AdapterMark, Family, Model, ModelDefaults, Opened, TextPart,
    family::{autoencoder_part, clip_part, part},
    scheduler,
    unet::{self, Unet, UnetConfig},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part, Role, Values},
    request::ComputeDtype,
    sampling::{PredictionType, Training},
    text::{Clip, ClipEncoder, ClipUse},
    vae::{Autoencoder, AutoencoderKl, LatentScaling},
};

/// The family.
pub struct StableDiffusion;

/// Width of the prompt embeddings in Stable Diffusion 2.
const WIDTH_2: usize = 1024;
/// Layers of Stable Diffusion 2's text encoder as trained. The UNet reads the hidden states before the last
/// layer.
const LAYERS_2: usize = 24;

/// How latents are scaled in Stable Diffusion 1 and 2.
pub const LATENT_SCALING: LatentScaling = LatentScaling { factor: 0.182_15, shift: None };

impl Family for StableDiffusion {
    fn id(&self) -> &'static str {
        "stable_diffusion"
    }

    fn name(&self) -> &'static str {
        "Stable Diffusion 1 and 2"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_own)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Stable Diffusion 1.5", AdapterMark::PromptWidth(768)),
            ("Stable Diffusion 2", AdapterMark::PromptWidth(WIDTH_2)),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("input_blocks.0.0.weight", "sd1")]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taesd"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no Stable Diffusion UNet was found", is_own)?;
        let (config, component) = unet::open(denoiser, "Stable Diffusion UNet")?;
        let clip = clip_part(checkpoint, config.cross_attention_dim)?;
        let vae = autoencoder_part(checkpoint, config.out_channels)?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;
        // Reads weights, which a folder that has a scheduler does not need.
        let by_weights = || match checkpoint.scheduler {
            Some(_) => Ok(PredictionType::Epsilon),
            None => prediction(denoiser, &config),
        };
        let otherwise = unet::trained(denoiser, by_weights)?;
        let training = scheduler::discrete(checkpoint, otherwise)?;
        let scale = autoencoder.0.scale();
        let wide =
            training.prediction() == PredictionType::VPrediction && config.cross_attention_dim == WIDTH_2;
        let side = config.sample_size.map_or(if wide { 768 } else { 512 }, |side| (side * scale) as u32);
        let unet = Unet::new(config, training.clone(), scale, false);
        let opened = Opened {
            text: vec![TextPart::new(ClipEncoder::open(checkpoint, clip, "tokenizer", usage(clip))?)],
            denoiser: (Box::new(unet), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Discrete(training),
            defaults: ModelDefaults {
                width: side,
                height: side,
                range: ModelDefaults::NARROW_RANGE,
                steps: 30,
                guidance: 7.5,
                on_cards: ComputeDtype::F16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&StableDiffusion, checkpoint, opened))
    }
}

fn is_own(part: &Part) -> bool {
    unet::is_unet(&part.tensors) && !unet::has_addition(&part.tensors)
}

/// Uses the last hidden states, or those before them if the encoder of Stable Diffusion 2 has all its layers.
/// diffusers' folders omit the last layer.
fn usage(clip: &Part) -> ClipUse {
    let is_whole = clip.config.is_none() && Clip::layers_of_open_clip(&clip.tensors, LAYERS_2);
    ClipUse { skip: usize::from(is_whole), ..ClipUse::LAST }
}

/// The prediction type of a network without a configuration. The shapes of the two kinds of Stable Diffusion
/// 2 are the same. As in ComfyUI, networks trained to predict v have a higher variance in a bias of the last
/// transformer block. Networks for inpainting or depth predict noise, as does Stable Diffusion 1.
fn prediction(denoiser: &Part, config: &UnetConfig) -> Result<PredictionType, CheckpointError> {
    const V_DEVIATION: f64 = 0.09;
    let names = [
        "output_blocks.11.1.transformer_blocks.0.norm1.bias",
        "up_blocks.3.attentions.2.transformer_blocks.0.norm1.bias",
    ];
    let bias = names.iter().find_map(|name| denoiser.tensors.get(*name));
    let (Some(bias), WIDTH_2) = (bias, config.cross_attention_dim) else {
        return Ok(PredictionType::Epsilon);
    };
    if config.in_channels != config.out_channels {
        return Ok(PredictionType::Epsilon);
    }
    let mut values = vec![0.0_f32; bias.elements() as usize];
    bias.read_into(Values::F32(&mut values))?;
    let count = values.len().max(1) as f64;
    let mean = values.iter().copied().map(f64::from).sum::<f64>() / count;
    let square = values.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum::<f64>() / count;
    Ok(if square.sqrt() > V_DEVIATION { PredictionType::VPrediction } else { PredictionType::Epsilon })
}
