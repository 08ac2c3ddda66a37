//! Stable Cascade (Pernias et al. 2023, arXiv:2306.00637): a prior makes small latents of a prompt, a decoder reads them and
//! makes the latents of an image.

mod config;
mod unet;

use self::unet::{CascadeUnet, Sides};
pub use self::{config::CascadeConfig, unet::original_name};
use super::{
    Denoise, Denoising, Family, Model, ModelDefaults, Opened, Start, Steps, Task, TextPart, around,
    family::part, scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part, Role},
    request::{ComputeDtype, Request, Sampler},
    sampling::Training,
    text::{Clip, ClipEncoder, ClipUse},
    vae::{Autoencoder, PaellaVq},
};

/// The family.
pub struct StableCascade;

/// Names of the stages.
const STAGES: [&str; 2] = ["Prior", "Decoder"];

impl Family for StableCascade {
    fn id(&self) -> &'static str {
        "stable_cascade"
    }

    fn name(&self) -> &'static str {
        "Stable Cascade"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(|part| is_prior(part) || is_decoder(part))
    }

    /// The decoder starts from its own noise, sees the prior's result, and takes half as many steps, as in the published
    /// settings of 20 and 10.
    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        let mut denoises: Vec<Denoise> = Vec::new();
        for (denoiser, name) in model.denoisers().zip(STAGES) {
            let before = denoises.last().map_or(0, |before| before.steps.count());
            let steps = if denoises.is_empty() { request.steps } else { request.steps.div_ceil(2) };
            let steps = Steps::new(&denoiser.network, &Request { steps, ..request.clone() });
            let sees = (!denoises.is_empty()).then(|| {
                let tasks = around(model, request, denoises.clone());
                tasks.iter().position(|task| task.denoise().is_some())
            });
            let steps = Steps { first: before, ..steps };
            denoises.push(Denoise { denoiser, name, start: Start::Noise, steps, sees: sees.flatten() });
        }
        around(model, request, denoises)
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let prior =
            part(checkpoint, Role::Denoiser, "no prior of Stable Cascade (stage C) was found", is_prior)?;
        let decoder =
            part(checkpoint, Role::Denoiser, "no decoder of Stable Cascade (stage B) was found", is_decoder)?;
        let (prior, of_prior) = unet::open(prior, "Stable Cascade prior")?;
        let (decoder, of_decoder) = unet::open(decoder, "Stable Cascade decoder")?;
        let expected = format!(
            "no CLIP text encoder with a projection to {} values was found",
            prior.clip_text_pooled_in_channels
        );
        let clip = part(checkpoint, Role::TextEncoder, &expected, |part| {
            Clip::projection(&part.tensors) == Some(prior.clip_text_pooled_in_channels)
        })?;
        let channels = decoder.out_channels;
        let expected =
            format!("no autoencoder of Stable Cascade (stage A) with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            PaellaVq::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = PaellaVq::open(vae)?;
        let cosine = scheduler::cosine(checkpoint)?;
        let setting = |name: &str, usual: f64| {
            let own = checkpoint.index.as_ref().and_then(|index| index.get(name)?.as_f64());
            own.filter(|own| own.is_finite() && *own > 0.0).unwrap_or(usual)
        };
        let sides = Sides {
            prior: setting("resolution_multiple", 42.67),
            decoder: setting("latent_dim_scale", 10.67),
            scale: autoencoder.0.scale(),
            multiple: decoder.latent_multiple(),
        };
        let training = Training::Cosine(cosine);
        let opened = Opened {
            text: vec![TextPart::new(ClipEncoder::open(checkpoint, clip, "tokenizer", ClipUse::CASCADE)?)],
            denoiser: (Box::new(CascadeUnet::new(prior, cosine, sides)), of_prior),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: training.clone(),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps: 20,
                guidance: 4.0,
                on_cards: ComputeDtype::Bf16,
                sampler: Sampler::EulerAncestral,
                ..ModelDefaults::default()
            },
        };
        let second = CascadeUnet::new(decoder, cosine, sides);
        let second = Denoising { denoiser: std::sync::Arc::new(second), reads: vec![0], training };
        Ok(Model::new(&StableCascade, checkpoint, opened).with_second_denoiser(second, of_decoder))
    }
}

fn has(part: &Part, names: &[&str]) -> bool {
    names.iter().all(|name| part.tensors.contains_key(*name))
}

/// The prior reads hidden states, pooled output and images.
fn is_prior(part: &Part) -> bool {
    has(part, &["clip_txt_mapper.weight", "clip_img_mapper.weight", "embedding.1.weight"])
}

/// The decoder reads the prior's latents.
fn is_decoder(part: &Part) -> bool {
    let pooled = ["clip_txt_pooled_mapper.weight", "clip_mapper.weight"];
    has(part, &["effnet_mapper.0.weight", "embedding.1.weight"])
        && pooled.iter().any(|name| has(part, &[name]))
}
