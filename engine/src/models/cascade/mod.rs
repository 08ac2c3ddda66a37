//! Stable Cascade (Pernias et al. 2023, arXiv:2306.00637): a prior makes small latents of a prompt, a decoder reads them and
//! makes the latents of an image.

mod config;
pub mod layers;
mod unet;

use self::unet::CascadeUnet;
pub use self::{
    config::{CascadeConfig, Layer},
    unet::{Sides, original_name},
};
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

/// What the names of the authors' files have, prior and decoder.
const STAGE_FILES: [&str; 2] = ["stage_c", "stage_b"];

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
        in_two_stages(model, request, 2)
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let [prior, decoder] = both(checkpoint)?;
        let (prior, of_prior) = unet::open(&prior, "Stable Cascade prior")?;
        let (decoder, of_decoder) = unet::open(&decoder, "Stable Cascade decoder")?;
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

/// A prior, and a decoder that sees its result and takes one step for so many of the prior's.
pub fn in_two_stages(model: &Model, request: &Request, per_step: u32) -> Vec<Task> {
    let mut denoises: Vec<Denoise> = Vec::new();
    for (denoiser, name) in model.denoisers().zip(STAGES) {
        let before = denoises.last().map_or(0, |before| before.steps.count());
        let steps = if denoises.is_empty() { request.steps } else { request.steps.div_ceil(per_step) };
        let steps = Steps::new(&denoiser.network, &Request { steps, ..request.clone() });
        let sees = (!denoises.is_empty()).then(|| {
            let tasks = around(model, request, denoises.clone());
            tasks.iter().position(|task| task.denoise().is_some())
        });
        let steps = Steps { first: before, ..steps };
        let (start, canvas) = (Start::Noise, request.canvas());
        denoises.push(Denoise { denoiser, name, canvas, start, steps, sees: sees.flatten() });
    }
    around(model, request, denoises)
}

/// Prior and decoder: in folders together, or in two files of which the other is found by its name.
fn both(checkpoint: &Checkpoint) -> Result<[Part; 2], CheckpointError> {
    let found =
        [is_prior, is_decoder].map(|fits| checkpoint.candidates(Role::Denoiser).find(|part| fits(part)));
    let other = |own: &Part, [from, to]: [&str; 2]| -> Result<Option<Part>, CheckpointError> {
        let name = own.path.file_name().unwrap_or_default().to_string_lossy();
        let path = own.path.with_file_name(name.replacen(from, to, 1));
        match path != own.path && path.is_file() {
            true => {
                Ok(Checkpoint::of_file(&path)?.parts.into_iter().find(|part| part.role == Role::Denoiser))
            }
            false => Ok(None),
        }
    };
    let [prior, decoder] = match found {
        [Some(prior), Some(decoder)] => [Some(prior.clone()), Some(decoder.clone())],
        [Some(prior), None] => [Some(prior.clone()), other(prior, STAGE_FILES)?.filter(is_decoder)],
        [None, Some(decoder)] => {
            let [prior, own] = STAGE_FILES;
            [other(decoder, [own, prior])?.filter(is_prior), Some(decoder.clone())]
        }
        [None, None] => [None, None],
    };
    let missing = |expected: &str| checkpoint.missing(Role::Denoiser, expected);
    let prior = prior.ok_or_else(|| missing("no prior of Stable Cascade (stage C) was found"))?;
    let decoder = decoder.ok_or_else(|| missing("no decoder of Stable Cascade (stage B) was found"))?;
    Ok([prior, decoder])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::StoredName;

    #[test]
    fn names_become_the_authors_own() {
        for (ours, theirs, part) in [
            (
                "down_blocks.1.2.attention.to_k.weight",
                "down_blocks.1.2.attention.attn.in_proj_weight",
                Some(1),
            ),
            ("up_blocks.0.5.attention.to_v.bias", "up_blocks.0.5.attention.attn.in_proj_bias", Some(2)),
            ("up_blocks.0.5.attention.to_out.0.bias", "up_blocks.0.5.attention.attn.out_proj.bias", None),
            ("clip_txt_pooled_mapper.weight", "clip_mapper.weight", None),
            ("down_blocks.0.0.channelwise.2.gamma", "down_blocks.0.0.channelwise.2.gamma", None),
        ] {
            let expected = match part {
                Some(part) => StoredName::part(theirs, part..part + 1, 3),
                None => StoredName::whole(theirs),
            };
            assert_eq!(original_name(ours, true), expected, "{ours}");
        }
        let ours = "clip_txt_pooled_mapper.weight";
        assert_eq!(original_name(ours, false), StoredName::whole(ours));
    }
}
