//! What a run says about itself while it goes on: blocks, steps, stages and memory.
//!
//! The threads of a run report to a [`Recorder`]. A [`Sampler`] reads memory fifty times a second, empties the
//! recorder, and hands everything on: to files ([`TelemetryFiles`]) and to a callback. [`History`] is what a
//! window keeps of it, bounded however long the run is.

mod error;
mod event;
mod history;
mod jsonl;
mod recorder;
mod sampler;
mod sink;
mod trace;

pub use error::TelemetryError;
pub use event::{BlockMark, BlockRecord, ComponentMark, MemorySample, PlanMark, StepRecord, TelemetryEvent};
pub use history::{
    BlockHistory, BlockState, History, MemoryPeaks, MemoryPoint, Note, StageBand, Totals, block_states,
};
pub use jsonl::{Header, HeaderKind, JsonlWriter, Telemetry, VERSION, read_jsonl};
pub use recorder::{BlockTimes, Recorder};
pub use sampler::{PERIOD, Sampler, TelemetrySummary};
pub use sink::{Sink, TelemetryFiles};
pub use trace::TraceWriter;

#[cfg(test)]
mod samples;
