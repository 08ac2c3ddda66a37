//! The calculator and the planner: pure functions over data, no I/O.
//!
//! [`plan`] decides from a [`Footprint`] (what the model is), a [`Workload`] (what the request asks), a
//! [`Machine`] (what may be taken) and [`MemoryPreferences`] (what the person wants) where every block is when.
//! Every offload mode is a preset over the same plan.

mod block_cost;
mod candidate;
mod card_machine;
mod correction;
mod flow;
mod footprint;
mod forecast;
mod lower_precision;
mod machine;
mod outcome;
mod pareto;
mod part;
mod part_choice;
mod plan;
mod planner;
mod preferences;
mod presets;
mod published_blocks;
mod refit;
mod search;
mod sentence;
mod simulate;
mod step_down;
mod strategies;
mod workload;

#[cfg(test)]
mod tests;

pub use crate::nn::{Attention, AttentionBytes};
pub use block_cost::{BlockCost, SharedCost, block_costs};
pub use candidate::{Candidate, HostRoom, Technique};
pub use card_machine::{CARD_BLOCK_LATENCY, CONTEXT_BYTES, USUAL_DISK, machine_of, unified_machine};
pub use correction::{Correction, correct, own_speeds};
pub use footprint::{BlockFootprint, BytesByDtype, Footprint, Held, PartFootprint, part_names};
pub use forecast::{Accuracy, Alternative, ErrorSpread, Forecast, Quality};
pub use lower_precision::with_allowed_precision;
pub use machine::{Link, Machine};
pub use outcome::{Outcome, PartSpeed, RunIdentity, RunShape, StagePeak};
pub use part_choice::{PartChoice, answers_to, short_name};
pub use plan::{BlockPlan, Bound, PartPlan, Placement, Plan, PlanError, StagePlan, Tier, UsePlan};
pub use planner::{least_device_budget, plan};
pub use preferences::{
    DEFAULT_MIN_FREE_VRAM, DeviceChoice, Estimate, Keep, MemoryPreferences, OffloadMode, Residence,
    Residents, Wish,
};
pub use presets::{CardPreset, PresetModel, card_presets};
pub use published_blocks::PublishedBlocks;
pub use refit::{Measured, leading_prefix, place, refit};
pub use sentence::{remedy, sentence};
pub use simulate::{BlockUse, Simulation, simulate, trace};
pub use step_down::step_down;
pub use strategies::{alternatives, forecast};
pub use workload::{BlockWork, PartUse, SharedWork, Stage, StageKind, StageWork, Work, Workload};
