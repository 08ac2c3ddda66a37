//! Wan 2.1 (Team Wan 2025, arXiv:2503.20314) and 2.2: diffusion transformers for clips.
//!
//! Patches of all latent frames are one sequence, which attends to itself and to the prompt. The noise level modulates
//! every block in the same way, up to a table of its own. Wan 2.2 14B has two transformers, one for high and one for low
//! noise.

mod config;
mod experts;
mod transformer;

use std::sync::Arc;

use super::{
    AdapterMark, Denoise, Denoising, Family, Model, ModelDefaults, Opened, Start, Steps, Task, TextPart,
    around,
    family::{part, t5_part, vision_part},
    scheduler,
    stages::usual,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role},
    request::{ComputeDtype, Request, Sampler},
    sampling::{FlowShift, LastLevel, Training},
    text::{ClipVision, T5Encoder},
    vae::{Autoencoder, WanAutoencoder},
};
pub use config::WanConfig;
use experts::Experts;
pub use transformer::WanTransformer;

/// Maximum number of tokens of a prompt.
const PROMPT_TOKENS: usize = 512;
/// Width from which on a model counts as large.
const LARGE: usize = 4096;
/// Channels of the latents of Wan 2.2 5B.
const WIDE_LATENTS: usize = 48;

/// The family.
pub struct Wan;

impl Family for Wan {
    fn id(&self) -> &'static str {
        "wan"
    }

    fn name(&self) -> &'static str {
        "Wan"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Wan", AdapterMark::Name("blocks_0_cross_attn")),
            ("Wan", AdapterMark::Name("blocks_0_self_attn")),
            ("Wan", AdapterMark::Name("blocks_0_ffn_")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("blocks.0.cross_attn.norm_q.weight", "wan")]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taew2_1", "taew2_2", "lighttaew2_1", "lighttaew2_2"]
    }

    /// Two transformers take turns at a noise level, in one sampling loop.
    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        let denoisers: Vec<_> = model.denoisers().collect();
        let [high, low] = &denoisers[..] else { return usual(model, request) };
        let Some(boundary) = high.network.denoiser.hands_over_below() else { return usual(model, request) };
        let halves = Steps::new(&high.network, request).handed_over(&high.network, boundary);
        let mut denoises: Vec<Denoise> = Vec::new();
        for ((denoiser, name), steps) in [(high, "High noise"), (low, "Low noise")].into_iter().zip(halves) {
            if steps.count() > 0 {
                let start = if denoises.is_empty() { Start::Noise } else { Start::SameWalk };
                let (denoiser, canvas) = (denoiser.clone(), request.canvas());
                denoises.push(Denoise { denoiser, name, canvas, start, steps, sees: None });
            }
        }
        around(model, request, denoises)
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let chosen = part(checkpoint, Role::Denoiser, "no Wan transformer was found", is_transformer)?;
        let Experts { first, second, boundary } = Experts::find(checkpoint, chosen)?;
        let (config, component) = bound(&first)?;
        let second = second.as_ref().map(bound).transpose()?;
        let text = t5_part(checkpoint, config.text_dim)?;
        let channels = config.out_channels;
        let vision = config.image_dim.map(|width| vision_part(checkpoint, width)).transpose()?;
        let expected = format!("no autoencoder of Wan with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            WanAutoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = WanAutoencoder::open(vae)?;
        let controlling = 2 * channels + autoencoder.0.scale().pow(2);
        if config.is_controlled() && config.vace_in_channels != controlling {
            let reason = format!("with this autoencoder it must be {controlling}");
            return first.refuse("vace_in_channels", config.vace_in_channels, &reason);
        }
        // diffusers' UniPC rounds timesteps down; its other schedulers do not.
        let scheduler = checkpoint.scheduler.as_ref().and_then(|config| config.get("_class_name")?.as_str());
        let is_euler = scheduler == Some("FlowMatchEulerDiscreteScheduler");
        let last = if is_euler { LastLevel::Lowest } else { LastLevel::BeforeLowest };
        // As in the authors' code.
        let starts_from_image = config.channels_beside() > 0;
        let shift = match (second.is_some(), config.dim() < LARGE && channels < WIDE_LATENTS) {
            _ if config.pos_embed_seq_len.is_some() => 16.0,
            (true, _) if starts_from_image => 5.0,
            (true, _) => 12.0,
            (false, true) => 3.0,
            (false, false) => 5.0,
        };
        let shift = scheduler::flow_shift(checkpoint, FlowShift { last, ..FlowShift::fixed(shift) })?;
        let training = Training::Flow(shift);
        // diffusers' index says so; other files do not.
        let own_times = checkpoint.index.as_ref().and_then(|index| index.get("expand_timesteps")?.as_bool());
        let has_own_times = own_times.unwrap_or(channels == WIDE_LATENTS);
        let transformer = |config: WanConfig, boundary: Option<f32>| WanTransformer {
            config,
            scale: autoencoder.0.scale(),
            frames: autoencoder.0.frames_per_latent(),
            has_whole_times: !is_euler,
            boundary,
            has_own_times,
        };
        let low = second.map(|(config, component)| (transformer(config, None), component));
        let is_wide = channels == WIDE_LATENTS;
        let defaults = ModelDefaults {
            width: if is_wide { 1280 } else { 832 },
            height: if is_wide { 704 } else { 480 },
            range: ModelDefaults::WIDE_RANGE,
            steps: if low.is_some() { 40 } else { 50 },
            guidance: match (low.is_some(), starts_from_image) {
                (true, true) => 3.5,
                (true, false) => 4.0,
                (false, _) => 5.0,
            },
            on_cards: ComputeDtype::Bf16,
            frames: if is_wide { 121 } else { 81 },
            frame_rate: if is_wide { 24.0 } else { 16.0 },
            sampler: if is_euler { Sampler::Euler } else { Sampler::UniPc },
        };
        let high = transformer(config, boundary.filter(|_| low.is_some()));
        let opened = Opened {
            text: vec![TextPart::new(T5Encoder::open(checkpoint, text, "tokenizer", PROMPT_TOKENS)?)],
            denoiser: (Box::new(high), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: training.clone(),
            defaults,
        };
        let mut model = Model::new(&Wan, checkpoint, opened);
        if let Some(vision) = vision {
            model = model.with_image_encoder(ClipVision::open(vision)?);
        }
        Ok(match low {
            Some((low, component)) => {
                let reads = model.denoisers().next().map_or_else(Vec::new, |high| high.network.reads.clone());
                let denoising = Denoising { denoiser: Arc::new(low), reads, training };
                model.with_second_denoiser(denoising, component)
            }
            None => model,
        })
    }
}

/// The configuration of a transformer, and the location of its weights.
fn bound(part: &Part) -> Result<(WanConfig, Component), CheckpointError> {
    let config = part.config(WanConfig::from_shapes)?;
    config.check(part)?;
    let component = Component::bind(
        Role::Denoiser,
        "Wan transformer",
        &config.blueprint(),
        &part.tensors,
        config::original_name,
        &part.path,
    )?;
    Ok((config, component))
}

/// Only Wan's blocks attend to the prompt and are modulated by a table.
fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| part.tensors.contains_key(*name));
    has([
        "condition_embedder.text_embedder.linear_1.weight",
        "blocks.0.attn2.to_q.weight",
        "blocks.0.scale_shift_table",
    ]) || has(["text_embedding.0.weight", "blocks.0.cross_attn.q.weight", "blocks.0.modulation"])
}
