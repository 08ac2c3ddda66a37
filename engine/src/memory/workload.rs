//! What a request asks of a model: the second input of the calculator.

use serde::{Deserialize, Serialize};

use super::AttentionBytes;

/// What is done in a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// Prompts to embeddings.
    #[serde(rename = "encode")]
    EncodePrompt,
    /// Images to latents.
    EncodeImage,
    /// Noise to latents, step by step.
    Denoise,
    /// Latents to images.
    Decode,
    /// Images to larger ones.
    Upscale,
    /// Frames to those between them.
    Interpolate,
    /// Images to maps for ControlNets.
    Preprocess,
    /// Images to boxes around what is in them.
    Detect,
    /// A prompt to a better one.
    Write,
}

impl StageKind {
    /// What a stage of this kind is called unless the request has another name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::EncodePrompt => "Encode",
            Self::EncodeImage => "Encode image",
            Self::Denoise => "Denoise",
            Self::Decode => "Decode",
            Self::Upscale => "Upscale",
            Self::Interpolate => "Interpolate",
            Self::Preprocess => "Make maps",
            Self::Detect => "Detect",
            Self::Write => "Write",
        }
    }
}

/// A stage of a run, as it is reported.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stage {
    /// Its place in the list of stages, from 0.
    #[serde(default)]
    pub number: usize,
    /// What is done in it.
    #[serde(rename = "stage")]
    pub kind: StageKind,
    /// Its name in the window.
    #[serde(default)]
    pub name: String,
}

impl Stage {
    /// A stage with the usual name.
    pub fn new(number: usize, kind: StageKind) -> Self {
        Self { number, kind, name: kind.name().to_owned() }
    }
}

/// The operations and activations of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Images of the batch.
    pub images: u32,
    /// Denoising steps of all stages together.
    pub steps: u32,
    /// In the order in which they run.
    pub stages: Vec<StageWork>,
    /// What the largest attention takes.
    #[serde(default)]
    pub attention: AttentionBytes,
}

/// One stage: the parts that it uses, one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StageWork {
    /// What is done.
    pub kind: StageKind,
    /// Its name in the window.
    pub name: String,
    /// In the order in which they are used. A part may be used in other stages, too.
    pub uses: Vec<PartUse>,
}

/// What a part has to do in a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartUse {
    /// Number of the part in the footprint.
    pub part: usize,
    /// How it can be done: one way, except for autoencoders and upscalers, which have one for each size of tiles, the largest first, and
    /// for denoisers of long clips, whose windows go through each block together or through all blocks one after the
    /// other. Never empty.
    pub ways: Vec<Work>,
}

/// One way of doing a part's work in a stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Side of the tiles in latents, or in pixels of an enlarged image; whole if absent.
    pub tile: Option<u32>,
    /// Bytes of activations that are there during the whole stage, whichever block runs.
    pub carried: u64,
    /// One for each block of the part, in its order.
    pub blocks: Vec<BlockWork>,
}

/// What one block has to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BlockWork {
    /// How often the block is leased in the stage; 0 if the stage has no use for it. One call serves all guidance
    /// branches and all images of the batch.
    pub passes: u32,
    /// Floating-point operations of one pass.
    pub operations: f64,
    /// The most bytes of activations while it runs, beyond those that are carried.
    pub activations: u64,
    /// How often each of its tensors is read in one pass if the guidance branches run one after the other.
    pub reads: u32,
    /// The same if the guidance branches go through its tensors together; `None` if there is only one.
    #[serde(default)]
    pub shared: Option<SharedWork>,
}

/// What differs if all guidance branches go through the tensors of a block together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SharedWork {
    /// The most bytes of activations while the block runs, beyond those that are carried.
    pub activations: u64,
    /// How often each of its tensors is read in one pass.
    pub reads: u32,
}

impl BlockWork {
    /// That of a block that a run has no use for.
    pub const UNUSED: Self = Self { passes: 0, operations: 0.0, activations: 0, reads: 0, shared: None };

    /// Adds further passes: operations become the mean of all, activations the most.
    pub fn join(&mut self, other: &Self) {
        let all = self.passes + other.passes;
        if all > 0 {
            let of = |work: &Self| work.operations * f64::from(work.passes);
            self.operations = (of(self) + of(other)) / f64::from(all);
        }
        self.passes = all;
        self.activations = self.activations.max(other.activations);
        self.reads = self.reads.max(other.reads);
        self.shared = match (self.shared, other.shared) {
            (Some(one), Some(other)) => Some(SharedWork {
                activations: one.activations.max(other.activations),
                reads: one.reads.max(other.reads),
            }),
            (one, other) => one.or(other),
        };
    }

    /// The same with other bytes of activations.
    pub fn with_activations(mut self, change: impl Fn(u64) -> u64) -> Self {
        self.activations = change(self.activations);
        if let Some(shared) = &mut self.shared {
            shared.activations = change(shared.activations);
        }
        self
    }
}

impl Workload {
    /// The same work with activations `factor` times as large.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.uses_mut().for_each(|part| part.scale(factor));
        self
    }

    /// The same work with the operations of `other`, the same work computed by something else.
    pub fn with_operations_of(mut self, other: &Self) -> Self {
        for (part, other) in self.uses_mut().zip(other.uses()) {
            for (way, other) in part.ways.iter_mut().zip(&other.ways) {
                for (block, other) in way.blocks.iter_mut().zip(&other.blocks) {
                    block.operations = other.operations;
                }
            }
        }
        self
    }

    /// The uses of parts in all stages, in their order.
    pub fn uses(&self) -> impl Iterator<Item = &PartUse> {
        self.stages.iter().flat_map(|stage| &stage.uses)
    }

    /// The same, to be changed.
    pub fn uses_mut(&mut self) -> impl Iterator<Item = &mut PartUse> {
        self.stages.iter_mut().flat_map(|stage| &mut stage.uses)
    }

    /// The stages of a kind, in their order.
    pub fn stages_of(&self, kind: StageKind) -> impl Iterator<Item = &StageWork> {
        self.stages.iter().filter(move |stage| stage.kind == kind)
    }
}

impl StageWork {
    /// A stage with the usual name.
    pub fn new(kind: StageKind, uses: Vec<PartUse>) -> Self {
        Self { kind, name: kind.name().to_owned(), uses }
    }
}

impl PartUse {
    /// Makes activations `factor` times as large.
    pub fn scale(&mut self, factor: f64) {
        let scaled = |bytes: u64| (bytes as f64 * factor).ceil() as u64;
        for way in &mut self.ways {
            way.carried = scaled(way.carried);
            way.blocks.iter_mut().for_each(|block| *block = block.with_activations(scaled));
        }
    }
}

impl Work {
    /// The most bytes of activations at any moment.
    pub fn peak_activations(&self) -> u64 {
        let used = self.blocks.iter().filter(|block| block.passes > 0);
        self.carried + used.map(|block| block.activations).max().unwrap_or(0)
    }
}
