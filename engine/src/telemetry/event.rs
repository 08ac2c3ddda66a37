//! The events that a run reports.

use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::Role,
    memory::{Placement, Stage, Tier},
};

/// One event. All times are in microseconds since the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TelemetryEvent {
    /// A run begins, or continues with another plan.
    Plan(PlanMark),
    /// A stage begins.
    StageStarted {
        /// When.
        at: u64,
        /// The stage.
        #[serde(flatten)]
        stage: Stage,
    },
    /// A stage is finished.
    StageFinished {
        /// When.
        at: u64,
        /// The stage.
        #[serde(flatten)]
        stage: Stage,
    },
    /// A denoising step is finished.
    Step(StepRecord),
    /// A block was used.
    Block(BlockRecord),
    /// The memory in use at one moment.
    Memory(MemorySample),
    /// A message for the user: a step down after an out-of-memory error, or blocks that changed places.
    Note {
        /// When.
        at: u64,
        /// The message.
        text: String,
    },
}

/// The plan of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanMark {
    /// When.
    pub at: u64,
    /// The device's name.
    pub device: String,
    /// Bytes of device memory.
    pub device_total: u64,
    /// Bytes of device memory that the run may use.
    pub device_budget: u64,
    /// The stages of the run, in order.
    pub stages: Vec<StageMark>,
    /// The parts of the model that each stage uses, in order; a part used by two stages is listed twice.
    pub components: Vec<ComponentMark>,
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageMark {
    /// The stage.
    #[serde(flatten)]
    pub stage: Stage,
    /// Predicted peak bytes on the device.
    pub predicted: u64,
}

/// The blocks of one part in one stage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentMark {
    /// The part's name.
    pub part: String,
    /// Its role.
    pub role: Role,
    /// The stage that uses it.
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
    /// Where its weights are and how they are loaded.
    pub placement: Placement,
}

/// One use of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRecord {
    /// When the forward pass requested its weights.
    pub at: u64,
    /// Index of the component in [`PlanMark::components`].
    pub component: u8,
    /// Index of the block in its component.
    pub block: u16,
    /// Index of the walk through the component, from 0.
    pub walk: u32,
    /// How long the forward pass waited for the weights.
    pub wait: u64,
    /// How long loading took; 0 if they were resident.
    pub load: u64,
    /// How long the forward pass took.
    pub compute: u64,
    /// How long freeing them took.
    pub evict: u64,
    /// Bytes moved for it.
    pub bytes: u64,
    /// Where the weights came from: `Device` if they were resident.
    pub tier: Tier,
    /// The slot, if it was streamed.
    pub slot: Option<u8>,
}

/// One denoising step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRecord {
    /// When it ended.
    pub at: u64,
    /// Its number, from 1.
    pub step: u32,
    /// Total number of steps.
    pub steps: u32,
    /// Its duration.
    pub took: u64,
    /// How long blocks waited for weights.
    pub wait: u64,
    /// Bytes moved to the device.
    pub bytes: u64,
    /// Predictions that the step cache reused.
    #[serde(default, skip_serializing_if = "is_none")]
    pub reused: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// The memory in use at one moment, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySample {
    /// When.
    pub at: u64,
    /// Weights on the device, including slots.
    pub weights: u64,
    /// Activations on the device.
    pub activations: u64,
    /// Device memory used by other programs.
    pub others: u64,
    /// Copies of weights in host memory, and staging buffers.
    pub host: u64,
    /// The part of `host` that is pinned.
    pub pinned: u64,
    /// Total memory of this process.
    pub process: u64,
}
