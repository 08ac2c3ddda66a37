//! A plan: where every block is when, and what that will take. Data, not behaviour.

use serde::{Deserialize, Serialize};

use super::{Footprint, Keep, OffloadMode, Residence, Stage, StageKind};
use crate::{checkpoint::Role, units};

/// Where weights are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// In the checkpoint's files.
    Disk,
    /// In the host's memory; pinned where a card reads it.
    Host,
    /// Where they are computed with.
    Device,
}

/// How a block's weights come to its forward pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// They stay on the device during the stage.
    Resident,
    /// They pass through a slot, on their way while an earlier block computes.
    Streamed,
    /// Each tensor is brought up when it is read and goes afterwards, for each guidance branch anew.
    Leaves,
    /// The same, once for all guidance branches: they compute with a tensor in turn while it is there, so the
    /// activations of all of them are in memory.
    SharedLeaves,
}

impl Placement {
    /// Whether the block comes tensor by tensor.
    pub fn is_by_tensor(self) -> bool {
        matches!(self, Self::Leaves | Self::SharedLeaves)
    }
}

/// One block under a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockPlan {
    /// How it comes.
    pub placement: Placement,
    /// Where it is while it is not on the device: `Host` or `Disk`.
    pub home: Tier,
}

/// One part under a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPlan {
    /// What it is called.
    pub name: String,
    /// What it does.
    pub role: Role,
    /// How it is placed as a whole.
    pub residence: Residence,
    /// What stays of it for the next run.
    #[serde(default)]
    pub keep: Keep,
}

/// The use of one part in a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsePlan {
    /// Number of the part in [`Plan::parts`].
    pub part: usize,
    /// One for each of its blocks, in their order.
    pub blocks: Vec<BlockPlan>,
    /// Slots that its streamed blocks pass through; 0 if none is streamed, at least 1 otherwise.
    pub slots: u32,
    /// Bytes of each slot: for each dtype, those of the streamed block that has the most of it.
    pub slot_bytes: u64,
    /// Which of the workload's ways of doing its work.
    pub way: usize,
    /// Side of the tiles in latents; whole if absent.
    pub tile: Option<u32>,
}

impl UsePlan {
    /// Whether blocks of it are streamed.
    pub fn passes_through(&self) -> bool {
        self.slots > 0 || self.blocks.iter().any(|block| block.placement.is_by_tensor())
    }
}

/// What bounds a stage's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The device computes all the time.
    Compute,
    /// The device waits for the link.
    Link,
    /// The device waits for the disk.
    Disk,
}

/// What a stage will take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StagePlan {
    /// Which.
    #[serde(flatten)]
    pub stage: Stage,
    /// The parts that it uses, in the order of the workload.
    pub uses: Vec<UsePlan>,
    /// Bytes of weights on the device at its peak: its own and those that stay from other stages, slots included.
    pub weights: u64,
    /// Those of `weights` that other parts keep beside, because everything is to be kept.
    #[serde(default)]
    pub kept: u64,
    /// Bytes of activations at its peak.
    pub activations: u64,
    /// Bytes in the host's memory: copies of weights and buffers that they are read through.
    pub host: u64,
    /// Bytes over the link in a run.
    pub link_bytes: u64,
    /// Bytes read from disk in a run, in case nothing is in memory yet.
    pub disk_bytes: u64,
    /// Seconds of a run, loading included, nothing being in memory yet.
    pub seconds: f64,
    /// What bounds the time.
    pub bound: Bound,
}

impl StagePlan {
    /// Its use of a part.
    pub fn use_of(&self, part: usize) -> Option<&UsePlan> {
        self.uses.iter().find(|part_use| part_use.part == part)
    }

    /// Bytes on the device at its peak.
    pub fn device(&self) -> u64 {
        self.weights + self.activations
    }

    /// Bytes of the device that the stage itself needs at its peak.
    pub fn needed(&self) -> u64 {
        self.device() - self.kept
    }
}

/// Where every block is when, and what that will take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The preset that it follows.
    pub mode: OffloadMode,
    /// Bytes of the device it was made for.
    pub device_budget: u64,
    /// Bytes of the host it was made for.
    pub host_budget: u64,
    /// One for each part of the footprint, in its order.
    pub parts: Vec<PartPlan>,
    /// One for each stage of the workload, in its order.
    pub stages: Vec<StagePlan>,
    /// Seconds of a denoising step after the first.
    pub seconds_per_step: f64,
    /// Seconds of a run, nothing being in memory yet.
    pub seconds: f64,
}

impl Plan {
    /// The most bytes on the device at any moment.
    pub fn peak_device(&self) -> u64 {
        self.stages.iter().map(StagePlan::device).max().unwrap_or(0)
    }

    /// The most bytes in the host's memory at any moment.
    pub fn peak_host(&self) -> u64 {
        self.stages.iter().map(|stage| stage.host).max().unwrap_or(0)
    }

    /// The first stage of a kind.
    pub fn first_of(&self, kind: StageKind) -> Option<&StagePlan> {
        self.stages.iter().find(|plan| plan.stage.kind == kind)
    }

    /// The first part of a denoising stage that is streamed.
    pub fn streamed(&self) -> Option<(&StagePlan, &UsePlan)> {
        let denoising = self.stages.iter().filter(|stage| stage.stage.kind == StageKind::Denoise);
        let mut used = denoising.flat_map(|stage| stage.uses.iter().map(move |part_use| (stage, part_use)));
        used.find(|(_, part_use)| part_use.passes_through())
    }

    /// Whether a part stays on the device beside others because everything of it is to be kept.
    pub fn keeps_beside(&self, part: &PartPlan) -> bool {
        part.keep == Keep::All && self.mode != OffloadMode::Aggressive
    }

    /// The same plan with the weights that parts keep beside others between runs.
    pub(super) fn keeping(mut self, footprint: &Footprint) -> Self {
        let stays: Vec<bool> = self.parts.iter().map(|part| self.keeps_beside(part)).collect();
        let resident = |part_use: &UsePlan| -> u64 {
            let blocks = footprint.parts[part_use.part].blocks.iter().zip(&part_use.blocks);
            let stays = blocks.filter(|(_, plan)| plan.placement == Placement::Resident);
            stays.map(|(block, _)| block.bytes).sum()
        };
        let mut here = vec![0; self.parts.len()];
        // A second run begins with what the first has kept.
        for _ in 0..2 {
            for stage in &mut self.stages {
                let mut room = self.device_budget.saturating_sub(stage.needed());
                let mut kept = 0;
                for (part, bytes) in here.iter_mut().enumerate() {
                    if stage.uses.iter().any(|part_use| part_use.part == part) {
                        continue;
                    }
                    if *bytes <= room {
                        room -= *bytes;
                        kept += *bytes;
                    } else {
                        *bytes = 0;
                    }
                }
                stage.weights = stage.weights - stage.kept + kept.max(stage.kept);
                stage.kept = kept.max(stage.kept);
                let used = stage.uses.iter().filter(|part_use| stays[part_use.part]);
                let used = used.filter(|own| self.parts[own.part].residence != Residence::Resident);
                used.for_each(|part_use| here[part_use.part] = resident(part_use));
            }
        }
        self
    }

    /// The uses of parts in all stages, in their order.
    pub fn uses(&self) -> impl Iterator<Item = &UsePlan> {
        self.stages.iter().flat_map(|stage| &stage.uses)
    }

    /// The number of a part's use in a stage among [all uses](Self::uses).
    pub fn use_number(&self, stage: usize, part: usize) -> Option<usize> {
        let before = self.stages.iter().take(stage).map(|stage| stage.uses.len()).sum::<usize>();
        let own = self.stages.get(stage)?.uses.iter().position(|part_use| part_use.part == part)?;
        Some(before + own)
    }

    /// The first use of a part in this stage or a later one; where there is none, the last before it.
    pub fn use_from(&self, stage: usize, part: usize) -> Option<&UsePlan> {
        let (before, after) = self.stages.split_at(stage.min(self.stages.len()));
        after.iter().chain(before.iter().rev()).find_map(|stage| stage.use_of(part))
    }

    /// The residence of the part that is used.
    pub fn residence(&self, part_use: &UsePlan) -> Residence {
        self.parts[part_use.part].residence
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum PlanError {
    /// Even the smallest placement that the preferences allow takes more than there is.
    #[error(
        "{what} needs {} of memory on the {device} in the {stage} stage, but only {} is allowed",
        units::memory_needed(*.needed), units::memory(*.budget)
    )]
    Device {
        /// The mode or placement in words.
        what: String,
        /// What the device is called.
        device: String,
        /// The stage in words.
        stage: String,
        /// Bytes.
        needed: u64,
        /// Bytes.
        budget: u64,
    },
    /// The host's memory cannot hold even the buffers that blocks pass through.
    #[error(
        "loading the weights needs {} of RAM, but only {} is allowed",
        units::memory_needed(*.needed), units::memory(*.budget)
    )]
    Host {
        /// Bytes.
        needed: u64,
        /// Bytes.
        budget: u64,
    },
}
