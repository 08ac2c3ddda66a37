//! LTX-Video (HaCohen et al. 2024, arXiv:2501.00103): a diffusion transformer for clips whose latents are 32×32×8 times
//! smaller than the clip.
//!
//! Every latent is a token. All tokens attend to each other and to the prompt, and know their place in seconds and
//! pixels.

mod config;
mod transformer;
mod version;

use super::{
    AdapterMark, Family, Model, ModelDefaults, Opened, TextPart,
    family::{part, t5_part},
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role},
    request::{ComputeDtype, Sampler},
    sampling::Training,
    text::T5Encoder,
    vae::{Autoencoder, LtxAutoencoder},
};
pub use config::LtxConfig;
use config::original_name;
pub use transformer::LtxTransformer;
use version::{Notes, Version};

/// The family.
pub struct Ltx;

impl Family for Ltx {
    fn id(&self) -> &'static str {
        "ltx"
    }

    fn name(&self) -> &'static str {
        "LTX-Video"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[("LTX-Video", AdapterMark::Name("caption_projection"))]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("adaln_single.emb.timestep_embedder.linear_1.weight", "ltxv")]
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let denoiser =
            part(checkpoint, Role::Denoiser, "no LTX-Video transformer was found", is_transformer)?;
        let notes = Notes::of(denoiser)?;
        let config = notes.completed(denoiser.config(LtxConfig::from_shapes)?);
        config.check(denoiser)?;
        let component = Component::bind(
            Role::Denoiser,
            "LTX-Video transformer",
            &config.blueprint(),
            &denoiser.tensors,
            original_name,
            &denoiser.path,
        )?;
        let text = t5_part(checkpoint, config.caption_channels)?;
        let channels = config.out_channels;
        let expected = format!("no autoencoder of LTX-Video with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            LtxAutoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = LtxAutoencoder::open(vae)?;
        let version = Version::of(checkpoint, denoiser, &notes, autoencoder.0.is_from_095());
        let transformer = LtxTransformer {
            config,
            scale: autoencoder.0.scale(),
            frames: autoencoder.0.frames_per_latent(),
            is_conditioned: version.is_conditioned,
        };
        let text = T5Encoder::open(checkpoint, text, "tokenizer", version.prompt_tokens())?;
        let encoder = match version.is_conditioned {
            true => text.0.without_padding(),
            false => text.0.dropping_padding(),
        };
        let opened = Opened {
            text: vec![TextPart::new((encoder, text.1))],
            denoiser: (Box::new(transformer), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, version.shift())?),
            defaults: ModelDefaults {
                width: 704,
                height: 512,
                range: ModelDefaults::WIDE_RANGE,
                steps: version.steps(),
                guidance: version.guidance(),
                on_cards: ComputeDtype::Bf16,
                frames: 121,
                frame_rate: 25.0,
                sampler: Sampler::Euler,
            },
        };
        Ok(Model::new(&Ltx, checkpoint, opened))
    }
}

/// Only LTX-Video's blocks are modulated by a table and normalize queries across heads.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        "transformer_blocks.0.scale_shift_table",
        "transformer_blocks.0.attn1.norm_q.weight",
        "caption_projection.linear_1.weight",
    ]) || has([
        "transformer_blocks.0.scale_shift_table",
        "transformer_blocks.0.attn1.q_norm.weight",
        "patchify_proj.weight",
    ])
}
