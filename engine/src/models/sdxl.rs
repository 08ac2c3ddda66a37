//! Stable Diffusion XL (Podell et al. 2023, arXiv:2307.01952): a UNet that reads the hidden states of two
//! CLIPs and is conditioned on the image size. The refiner reads only those of the second CLIP.

use super::{
    AdapterMark, Denoise, Family, Model, ModelDefaults, ModelPart, Network, Opened, Start, Steps, Task,
    TextPart, around,
    family::{autoencoder_part, part},
    scheduler,
    stages::usual,
    unet::{self, Addition, Unet, UnetConfig},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part, Role},
    memory::StageKind,
    request::{ComputeDtype, Request},
    sampling::{AlignedSteps, PredictionType, Training},
    text::{Clip, ClipEncoder, ClipUse},
    vae::{Autoencoder, AutoencoderKl, LatentScaling},
};

/// The family.
pub struct Sdxl;

/// How many numbers the network is conditioned on: sizes in the base; sizes and a score in the refiner.
const SIZES: [usize; 2] = [6, 5];

/// Name of the refiner's denoiser.
const REFINER: &str = "refiner";
const REFINER_TEXT_ENCODER: &str = "refiner_text_encoder";
/// Name of the refiner's stage.
const REFINE: &str = "Refine";
/// Number of timesteps that base and refiner were trained on.
const TIMESTEPS: f64 = 1000.0;

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

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taesdxl"]
    }

    fn takes_refiner(&self) -> bool {
        true
    }

    /// The refiner reads its own text encoder, and the base's autoencoder decodes.
    fn refined(&self, model: &Model, refiner: &Model) -> Result<Model, String> {
        let is_refiner = refiner.family.id() == self.id() && refiner.text_encoders().count() == 1;
        if !is_refiner {
            return Err(format!("it is not a refiner for {}", self.name()));
        }
        let name = |part: &ModelPart| match part.network {
            Network::TextEncoder(_) => Some(REFINER_TEXT_ENCODER),
            Network::Denoiser(_) => Some(REFINER),
            Network::ImageEncoder(_)
            | Network::VisionTower(_)
            | Network::ImagePrompter(_)
            | Network::Autoencoder(_)
            | Network::Upscaler(_)
            | Network::Interpolator(_)
            | Network::MapEstimator(_)
            | Network::Segmenter(_)
            | Network::Detector(_)
            | Network::Writer(_) => None,
        };
        Ok(model.joined(refiner, name))
    }

    /// Base and refiner sample separately, as in diffusers: the base takes the timesteps down to the switch.
    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        let denoisers: Vec<_> = model.denoisers().collect();
        let (Some(refiner), [base, second]) = (&request.refiner, &denoisers[..]) else {
            return usual(model, request);
        };
        let switch = (TIMESTEPS - refiner.switch * TIMESTEPS).round_ties_even() as f32;
        let halves = [
            (base, StageKind::Denoise.name(), switch..f32::INFINITY),
            (second, REFINE, f32::NEG_INFINITY..switch),
        ];
        let mut denoises: Vec<Denoise> = Vec::new();
        for (denoiser, name, timesteps) in halves {
            let all = Steps::new(&denoiser.network, request);
            let Some(steps) = all.within(&denoiser.network, request, timesteps) else { continue };
            let first = denoises.last().map_or(0, |before| before.steps.count());
            let start = if denoises.is_empty() { Start::Noise } else { Start::Latents };
            let steps = Steps { first, ..steps };
            let (denoiser, canvas) = (denoiser.clone(), request.canvas());
            denoises.push(Denoise { denoiser, name, canvas, start, steps, sees: None });
        }
        around(model, request, denoises)
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
        let zeros = zeros_for_none(checkpoint, text.len() == 2);
        let unet = Unet::new(config, training.clone(), scale, zeros);
        let opened = Opened {
            text,
            denoiser: (Box::new(unet), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Discrete(training),
            defaults: ModelDefaults {
                width: side,
                height: side,
                range: ModelDefaults::NARROW_RANGE,
                steps: 30,
                guidance: 5.0,
                on_cards: ComputeDtype::F16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Sdxl, checkpoint, opened))
    }
}

fn is_own(part: &Part) -> bool {
    unet::is_unet(&part.tensors) && unet::has_addition(&part.tensors)
}

/// The text encoders: the one whose projected pooled output the network reads and, before it, the one that
/// supplies the remaining width of the prompt embeddings, if there is one.
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

/// Whether a missing negative prompt is encoded as zeros: by `model_index.json`, otherwise as in the
/// published models, where the base does so and the refiner does not.
fn zeros_for_none(checkpoint: &Checkpoint, is_base: bool) -> bool {
    let Some(index) = &checkpoint.index else { return is_base };
    index.get("force_zeros_for_empty_prompt").and_then(serde_json::Value::as_bool).unwrap_or(true)
}
