//! Wuerstchen (Pernias et al. 2023, arXiv:2306.00637), version 2: a prior makes small latents of a prompt, a decoder reads
//! them and makes the latents of an image. Each has a text encoder of its own.

mod decoder;
mod prior;

use std::sync::Arc;

pub use self::{decoder::DecoderConfig, prior::PriorConfig};
use self::{decoder::WuerstchenDecoder, prior::WuerstchenPrior};
use super::{
    Denoising, Family, Model, ModelDefaults, Opened, Task, TextPart,
    cascade::{Sides, in_two_stages},
    family::part,
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part, Role},
    request::{ComputeDtype, Request, Sampler},
    sampling::Training,
    text::{Clip, ClipEncoder, ClipUse},
    vae::{Autoencoder, PaellaVq},
};

/// The family.
pub struct Wuerstchen;

/// What the names of the prior's folders start with where those of both networks are in one folder.
const OF_PRIOR: &str = "prior_";

impl Family for Wuerstchen {
    fn id(&self) -> &'static str {
        "wuerstchen"
    }

    fn name(&self) -> &'static str {
        "Wuerstchen"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(|part| is_prior(part) || is_decoder(part))
    }

    /// The decoder takes a fifth of the steps, as in the published settings of 60 and 12.
    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        in_two_stages(model, request, 5)
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let prior = part(checkpoint, Role::Denoiser, "no prior of Wuerstchen was found", is_prior)?;
        let decoder = part(checkpoint, Role::Denoiser, "no decoder of Wuerstchen was found", is_decoder)?;
        let (of_prior, of_decoder) = (prior::open(prior)?, decoder::open(decoder)?);
        let text = [(prior, of_prior.0.c_cond), (decoder, of_decoder.0.clip_embd)]
            .map(|(network, width)| text_encoder(checkpoint, network, width));
        let [of_prior_text, of_decoder_text] = text;
        let channels = of_decoder.0.c_out;
        let expected = format!("no autoencoder of Wuerstchen with {channels} channels was found");
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
            multiple: of_decoder.0.latent_multiple(),
        };
        let spread = [setting("latent_mean", 42.0), setting("latent_std", 1.0)];
        let training = Training::Cosine(cosine);
        let opened = Opened {
            text: vec![TextPart::new(of_prior_text?), TextPart::new(of_decoder_text?)],
            denoiser: (Box::new(WuerstchenPrior::new(of_prior.0, cosine, sides)), of_prior.1),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: training.clone(),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps: 60,
                guidance: 4.0,
                on_cards: ComputeDtype::Bf16,
                sampler: Sampler::EulerAncestral,
                ..ModelDefaults::default()
            },
        };
        let second = WuerstchenDecoder::new(of_decoder.0, cosine, sides, spread);
        let second = Denoising { denoiser: Arc::new(second), reads: vec![1], training };
        let model = Model::new(&Wuerstchen, checkpoint, opened).conditioned_by(&[0]);
        Ok(model.with_second_denoiser(second, of_decoder.1))
    }
}

/// The text encoder of this width for a network: if there are several, that in the network's folder, with the network's
/// prefix.
fn text_encoder(
    checkpoint: &Checkpoint,
    network: &Part,
    width: usize,
) -> Result<(ClipEncoder, crate::checkpoint::Component), CheckpointError> {
    let starts =
        |part: &Part| part.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(OF_PRIOR));
    let is_near =
        |part: &Part| (part.path.parent() == network.path.parent(), starts(part) == starts(network));
    let found = checkpoint
        .candidates(Role::TextEncoder)
        .filter(|part| Clip::width(&part.tensors) == Some(width))
        .max_by_key(|part| is_near(part));
    let Some(found) = found else {
        let expected = format!("no CLIP text encoder of width {width} was found");
        return Err(checkpoint.missing(Role::TextEncoder, &expected));
    };
    let name = if starts(found) { "prior_tokenizer" } else { "tokenizer" };
    ClipEncoder::open(checkpoint, found, name, ClipUse::WUERSTCHEN)
}

fn has(part: &Part, names: &[&str]) -> bool {
    names.iter().all(|name| part.tensors.contains_key(*name))
}

fn is_prior(part: &Part) -> bool {
    has(part, &["cond_mapper.0.weight", "projection.weight", "blocks.0.depthwise.weight"])
}

fn is_decoder(part: &Part) -> bool {
    has(part, &["clip_mapper.weight", "embedding.1.weight", "clf.1.weight"])
        && part.tensors.keys().any(|name| name.starts_with("effnet_mappers."))
}
