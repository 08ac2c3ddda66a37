//! What a run says about itself while it goes on.

use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::Role,
    memory::{Placement, Stage, Tier},
};

/// One observation. All times are microseconds since the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TelemetryEvent {
    /// A run begins, or goes on under another plan.
    Plan(PlanMark),
    /// A stage begins.
    StageStarted {
        /// When.
        at: u64,
        /// Which.
        #[serde(flatten)]
        stage: Stage,
    },
    /// A stage is done.
    StageFinished {
        /// When.
        at: u64,
        /// Which.
        #[serde(flatten)]
        stage: Stage,
    },
    /// A denoising step is done.
    Step(StepRecord),
    /// A block was used.
    Block(BlockRecord),
    /// What memory holds at a moment.
    Memory(MemorySample),
    /// Something the person should know: a step down after an out-of-memory error, blocks that changed places.
    Note {
        /// When.
        at: u64,
        /// In words.
        text: String,
    },
}

/// The frame that a run is drawn in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanMark {
    /// When.
    pub at: u64,
    /// What the device is called.
    pub device: String,
    /// Bytes that the device has.
    pub device_total: u64,
    /// Bytes of the device that the run may take.
    pub device_budget: u64,
    /// The stages of the run, in their order.
    pub stages: Vec<StageMark>,
    /// What the stages use of the model, in their order: a part that two stages use is here twice.
    pub components: Vec<ComponentMark>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageMark {
    /// Which.
    #[serde(flatten)]
    pub stage: Stage,
    /// Bytes on the device that it was predicted to take at its peak.
    pub predicted: u64,
}

/// The blocks of one part in one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentMark {
    /// The part's name.
    pub part: String,
    /// What it does.
    pub role: Role,
    /// The stage it is used in.
    #[serde(flatten)]
    pub stage: Stage,
    /// In the order in which they run.
    pub blocks: Vec<BlockMark>,
}

/// One block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockMark {
    /// Its name.
    pub name: String,
    /// Bytes of its weights.
    pub bytes: u64,
    /// How they come.
    pub placement: Placement,
}

/// One use of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRecord {
    /// When the forward pass asked for its weights.
    pub at: u64,
    /// Number of the component in [`PlanMark::components`].
    pub component: u8,
    /// Number of the block in its component.
    pub block: u16,
    /// Which walk through the component this was, from 0.
    pub walk: u32,
    /// How long the forward pass waited for the weights.
    pub wait: u64,
    /// How long they took to come; 0 if they were there.
    pub load: u64,
    /// How long the forward pass computed.
    pub compute: u64,
    /// How long it took to let them go.
    pub evict: u64,
    /// Bytes that were moved for it.
    pub bytes: u64,
    /// Where they came from: `Device` if they were there.
    pub tier: Tier,
    /// The slot they were in, if they passed through one.
    pub slot: Option<u8>,
}

/// One denoising step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// When it ended.
    pub at: u64,
    /// Its number, from 1.
    pub step: u32,
    /// How many there are.
    pub steps: u32,
    /// How long it took.
    pub took: u64,
    /// How long blocks waited for weights.
    pub wait: u64,
    /// Bytes moved to the device.
    pub bytes: u64,
    /// Predictions that were not made because an earlier one took their place.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reused: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// What memory holds at a moment, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySample {
    /// When.
    pub at: u64,
    /// Weights on the device, slots included.
    pub weights: u64,
    /// Activations on the device.
    pub activations: u64,
    /// What other programs hold on the device.
    pub others: u64,
    /// Copies of weights in the host's memory, and buffers that they are read through.
    pub host: u64,
    /// Those of `host` that are pinned for a card.
    pub pinned: u64,
    /// All memory of this process.
    pub process: u64,
}
