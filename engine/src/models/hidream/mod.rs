//! HiDream-I1 (Cai et al. 2025, arXiv:2505.22705): a transformer of double and single blocks whose feed-forwards are mixtures of
//! experts. Each block also reads the states of one layer of Llama 3.
//!
//! The pooled outputs of two CLIPs modulate its blocks, T5 gives the other tokens of the text. Its autoencoder is that of FLUX.1.

mod config;
mod transformer;

use super::{
    AdapterMark, Family, Model, ModelDefaults, Opened, TextPart,
    family::{autoencoder_part, clip_parts, part, t5_part},
    flux::LATENT_SCALING,
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName},
    request::{ComputeDtype, Sampler},
    sampling::{FlowShift, LastLevel, Training},
    text::{Clip, ClipEncoder, ClipUse, Llama3, T5Encoder},
    vae::{Autoencoder, AutoencoderKl},
};
pub use config::HiDreamConfig;
pub use transformer::HiDreamTransformer;

/// Prompts are truncated and padded to this many tokens.
const LONGEST_PROMPT: usize = 128;
/// diffusers' class for the distilled models, and the authors'.
const DISTILLED_SCHEDULERS: [&str; 2] = ["FlowMatchLCMScheduler", "FlashFlowMatchEulerDiscreteScheduler"];
/// diffusers' class that does not round timesteps down.
const EULER_SCHEDULER: &str = "FlowMatchEulerDiscreteScheduler";
/// Shift of Dev; that of the others is smaller.
const DEV_SHIFT: f64 = 6.0;
const SHIFT: f64 = 3.0;

/// The family.
pub struct HiDream;

/// A published model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Full,
    /// Distilled.
    Dev,
    /// Distilled to fewer steps.
    Fast,
}

impl Family for HiDream {
    fn id(&self) -> &'static str {
        "hidream"
    }

    fn name(&self) -> &'static str {
        "HiDream-I1"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("HiDream-I1", AdapterMark::Name("double_stream_blocks")),
            ("HiDream-I1", AdapterMark::Name("single_stream_blocks")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[("double_stream_blocks.0.block.ff_i.shared_experts.w3.weight", "hidream")]
    }

    fn tiny_decoders(&self) -> &'static [&'static str] {
        &["taef1"]
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let expected = "no HiDream-I1 transformer was found";
        let denoiser = part(checkpoint, Role::Denoiser, expected, is_transformer)?;
        let config = denoiser.config(HiDreamConfig::from_shapes)?;
        config.check(denoiser)?;
        let [of_t5, of_llama] = config.caption_channels;
        let expected = format!("no Llama 3 text encoder of width {of_llama} was found");
        let llama = part(checkpoint, Role::TextEncoder, &expected, |part| {
            Llama3::width_of(&part.tensors) == Some(of_llama)
        })?;
        let config = config.reading(Llama3::layers_of(llama)?, denoiser)?;
        let component = Component::bind(
            Role::Denoiser,
            "HiDream-I1 transformer",
            &config.blueprint(),
            &denoiser.tensors,
            |name| StoredName::whole(name),
            &denoiser.path,
        )?;
        // CLIPs with more places than usual were published for it.
        let places = |part: &Part| usize::MAX - Clip::places(&part.tensors).unwrap_or_default();
        let clips = clip_parts(checkpoint, config.text_emb_dim, places)?;
        let mut text = Vec::new();
        for (part, tokenizer) in clips.into_iter().zip(["tokenizer", "tokenizer_2"]) {
            // Without a projection, as in some files of ComfyUI, it changes nothing.
            let is_projected = Clip::projection(&part.tensors).is_some();
            let usage = ClipUse { is_projected, longest: Some(LONGEST_PROMPT), ..ClipUse::SUMMARY };
            text.push(TextPart::new(ClipEncoder::open(checkpoint, part, tokenizer, usage)?));
        }
        let t5 = t5_part(checkpoint, of_t5)?;
        let (t5, weights) = T5Encoder::open(checkpoint, t5, "tokenizer_3", LONGEST_PROMPT)?;
        text.push(TextPart::new((t5.hiding_padding(), weights)));
        let layers = config.layers_read();
        text.push(TextPart::new(Llama3::open(checkpoint, llama, "tokenizer_4", &layers, LONGEST_PROMPT)?));

        let vae = autoencoder_part(checkpoint, config.in_channels)?;
        let autoencoder = AutoencoderKl::open(vae, LATENT_SCALING)?;
        let class = checkpoint.scheduler.as_ref().and_then(|config| config.get("_class_name")?.as_str());
        let version = Version::of(checkpoint, class, denoiser);
        let is_full = version == Version::Full;
        // diffusers' UniPC rounds timesteps down; its other schedulers do not.
        let has_whole_times = is_full && class != Some(EULER_SCHEDULER);
        let last = if has_whole_times { LastLevel::BeforeLowest } else { LastLevel::Lowest };
        let shift = FlowShift { last, ..FlowShift::fixed(version.shift()) };
        let transformer = HiDreamTransformer::new(config, autoencoder.0.scale(), has_whole_times);
        let opened = Opened {
            text,
            denoiser: (Box::new(transformer), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, shift)?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps: match version {
                    Version::Full => 50,
                    Version::Dev => 28,
                    Version::Fast => 16,
                },
                guidance: if is_full { 5.0 } else { 0.0 },
                on_cards: ComputeDtype::Bf16,
                sampler: match (is_full, has_whole_times) {
                    (true, true) => Sampler::UniPc,
                    (true, false) => Sampler::Euler,
                    (false, _) => Sampler::Lcm,
                },
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&HiDream, checkpoint, opened))
    }
}

impl Version {
    /// As the scheduler of a folder says, or else the name of the file.
    fn of(checkpoint: &Checkpoint, scheduler: Option<&str>, denoiser: &Part) -> Self {
        if let Some(class) = scheduler {
            let shift = checkpoint.scheduler.as_ref().and_then(|config| config.get("shift")?.as_f64());
            return match shift {
                _ if !DISTILLED_SCHEDULERS.contains(&class) => Self::Full,
                Some(shift) if shift < DEV_SHIFT => Self::Fast,
                _ => Self::Dev,
            };
        }
        let name = denoiser.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        match name {
            name if name.contains("fast") => Self::Fast,
            name if name.contains("dev") => Self::Dev,
            _ => Self::Full,
        }
    }

    fn shift(self) -> f64 {
        if self == Self::Dev { DEV_SHIFT } else { SHIFT }
    }
}

/// Only this transformer projects captions for each of its blocks.
fn is_transformer(part: &Part) -> bool {
    let names = ["caption_projection.0.linear.weight", "double_stream_blocks.0.block.ff_i.gate.weight"];
    names.iter().all(|name| part.tensors.contains_key(*name))
}
