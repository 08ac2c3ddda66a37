//! Memory settings: modes, wishes and overrides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attention, PartChoice, PartFootprint, part_choice};
use crate::{checkpoint::Role, precision::Storage};

/// A preset over the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OffloadMode {
    /// Everything stays on the device.
    None,
    /// The text encoder goes to the host's memory after the prompt is encoded; the rest stays.
    CondOnly,
    /// Text encoder and denoiser are on the device only while they are used; the autoencoder stays.
    CondDiffusion,
    /// Only the component in use is on the device.
    Aggressive,
    /// Blocks come and go; as many stay as fit.
    LayerStreaming,
    /// The cheapest placement that fits.
    #[default]
    Auto,
}

/// How one component is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Residence {
    /// On the device from its first use on, through all stages and jobs.
    Resident,
    /// On the device during its stage, in the host's memory otherwise.
    Staged,
    /// Some blocks stay on the device during its stage, the others pass through.
    Streamed,
    /// Not loaded until it is needed, straight from disk, and gone afterwards; it passes through block by block.
    OnDemand,
}

/// Which blocks of a component stay on the device where not all of them do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Residents {
    /// Those with which a step takes the least time.
    #[default]
    Best,
    /// The first ones, as in other programs: to compare with.
    First,
}

/// What matters most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// The highest precision that fits.
    Quality,
    /// The least time.
    Speed,
    /// The least memory on the device, or a few percent more where that is faster.
    Memory,
    /// The lightest technique that leaves a fifth of the device's memory free.
    #[default]
    Balanced,
}

/// What stays in memory for the next job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Nothing.
    None,
    /// What the plan keeps anyway.
    #[default]
    Auto,
    /// Everything that was read, as far as the budgets allow.
    All,
}

/// How activations are estimated before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimate {
    /// From the shapes.
    #[default]
    Formula,
    /// By running one block and one tile at the real shape and reading the peak back.
    Dryrun,
}

/// Which device computes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceChoice {
    /// The machine's first NVIDIA card where the engine is made for cards, and the processor otherwise.
    #[default]
    Auto,
    /// The processor, also where there is a card.
    Processor,
    /// One of several NVIDIA GPUs, by its number in the order of `nvidia-smi` and
    /// [`HardwareSample::gpus`](crate::hardware::HardwareSample::gpus).
    Gpu(u32),
    /// A simulated card, by its identifier such as `rtx-3060`: its memory and its link are enforced, its speed is
    /// that of the processor.
    Simulated(String),
}

/// All memory settings of the user. They belong to the machine and are never restored from an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryPreferences {
    /// Preset.
    pub mode: OffloadMode,
    /// What `auto` aims at.
    pub wish: Wish,
    /// Overrides the mode for the text encoders.
    pub text_encoder: Option<Residence>,
    /// Overrides the mode for the denoiser.
    pub denoiser: Option<Residence>,
    /// Overrides the mode for the autoencoder.
    pub autoencoder: Option<Residence>,
    /// What was chosen for single parts, which comes before the choices for all of a kind. The key is one of the
    /// [names](part_choice::answers_to) of a part; parts that a model does not have are ignored.
    pub parts: BTreeMap<String, PartChoice>,
    /// What the denoiser's matrices are held as. Unlike the other settings, it changes the image.
    pub denoiser_precision: Storage,
    /// What those of the text encoders are held as. It also changes the image.
    pub text_precision: Storage,
    /// Whether the automatic mode may hold matrices in 8 bits where that helps. Like a chosen storage, it may change the
    /// image.
    pub may_use_8_bit: bool,
    /// Which blocks stay where not all of them do.
    pub residents: Residents,
    /// Blocks that are on their way while another one computes; the planner's choice if absent.
    pub prefetch: Option<u32>,
    /// Bytes of VRAM that stay free for the desktop and other programs.
    pub min_free_vram: u64,
    /// The most bytes of VRAM to take.
    pub vram_budget: Option<u64>,
    /// The most bytes of RAM to take for weights.
    pub ram_budget: Option<u64>,
    /// Side of the decoder's tiles in latents, and of an upscaler's and a frame interpolator's in units of eight pixels; the planner's choice if absent.
    pub tile: Option<u32>,
    /// Which device.
    pub device: DeviceChoice,
    /// What stays for the next job.
    pub keep: Keep,
    /// How activations are estimated.
    pub estimate: Estimate,
    /// How a GPU computes attention. Like a chosen storage, it changes the last digits of the image.
    pub attention: Attention,
}

/// VRAM that is left to the desktop unless said otherwise.
pub const DEFAULT_MIN_FREE_VRAM: u64 = 512 << 20;

impl Default for MemoryPreferences {
    fn default() -> Self {
        Self {
            mode: OffloadMode::default(),
            wish: Wish::default(),
            text_encoder: None,
            denoiser: None,
            autoencoder: None,
            parts: BTreeMap::new(),
            denoiser_precision: Storage::default(),
            text_precision: Storage::default(),
            may_use_8_bit: false,
            residents: Residents::default(),
            prefetch: None,
            min_free_vram: DEFAULT_MIN_FREE_VRAM,
            vram_budget: None,
            ram_budget: None,
            tile: None,
            device: DeviceChoice::default(),
            keep: Keep::default(),
            estimate: Estimate::default(),
            attention: Attention::default(),
        }
    }
}

impl MemoryPreferences {
    /// What a component's matrices are held as. Autoencoders and upscalers are small, and errors in them are seen at
    /// once: they stay as they are stored.
    pub fn precision(&self, role: Role) -> Storage {
        match role {
            Role::TextEncoder => self.text_precision,
            Role::Denoiser => self.denoiser_precision,
            Role::Autoencoder
            | Role::Upscaler
            | Role::Interpolator
            | Role::Preprocessor
            | Role::Segmenter
            | Role::Detector
            | Role::LanguageModel => Storage::Stored,
        }
    }

    /// What the matrices of denoiser and text encoders are held as.
    pub fn precisions(&self) -> [Storage; 2] {
        [self.denoiser_precision, self.text_precision]
    }

    /// The same with denoiser and text encoders held alike.
    pub fn with_precision(&self, storage: Storage) -> Self {
        Self { denoiser_precision: storage, text_precision: storage, ..self.clone() }
    }

    /// How a part is to be placed whatever the mode, if that was chosen.
    pub fn residence(&self, part: &PartFootprint) -> Option<Residence> {
        let of_kind = match part.role {
            Role::TextEncoder => self.text_encoder,
            Role::Denoiser => self.denoiser,
            Role::Autoencoder => self.autoencoder,
            Role::Upscaler
            | Role::Interpolator
            | Role::Preprocessor
            | Role::Segmenter
            | Role::Detector
            | Role::LanguageModel => None,
        };
        part_choice::of(&self.parts, part, |choice| choice.residence).or(of_kind)
    }

    /// What stays of a part for the next job.
    pub fn keep(&self, part: &PartFootprint) -> Keep {
        part_choice::of(&self.parts, part, |choice| choice.keep).unwrap_or(self.keep)
    }
}

impl OffloadMode {
    /// What people choose it by.
    pub fn title(self) -> &'static str {
        match self {
            Self::Auto => "Automatic",
            Self::None => "Everything on GPU",
            Self::CondOnly => "Offload text encoder",
            Self::CondDiffusion => "Only the autoencoder",
            Self::Aggressive => "Only what is in use",
            Self::LayerStreaming => "Layer streaming",
        }
    }
}

macro_rules! named {
    ($type:ty, $what:literal, [$($variant:ident = $name:literal),+ $(,)?]) => {
        impl $type {
            #[doc = concat!("All ", $what, ", in the order in which they are offered.")]
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name on the command line and in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }
    };
}

named!(
    OffloadMode,
    "modes",
    [
        Auto = "auto",
        None = "none",
        CondOnly = "cond_only",
        CondDiffusion = "cond_diffusion",
        Aggressive = "aggressive",
        LayerStreaming = "layer_streaming",
    ]
);
named!(
    Residence,
    "placements",
    [Resident = "resident", Staged = "staged", Streamed = "streamed", OnDemand = "on-demand",]
);
named!(Residents, "choices", [Best = "best", First = "first"]);
named!(Wish, "wishes", [Balanced = "balanced", Quality = "quality", Speed = "speed", Memory = "memory"]);
named!(Keep, "policies", [Auto = "auto", None = "none", All = "all"]);
named!(Estimate, "estimators", [Formula = "formula", Dryrun = "dryrun"]);
