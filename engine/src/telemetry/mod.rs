//! Telemetry of a run: blocks, steps, stages and memory.
//!
//! The threads of a run report to a [`Recorder`]. A [`Sampler`] samples memory fifty times per second, drains
//! the recorder, and passes everything on to files ([`TelemetryFiles`]) and a callback.

mod error;
mod event;
mod jsonl;
mod peaks;
mod recorder;
mod sampler;
mod sink;
mod trace;

pub use error::TelemetryError;
pub use event::{
    BlockMark, BlockRecord, ComponentMark, MemorySample, PlanMark, StageMark, StepRecord, TelemetryEvent,
};
pub use jsonl::{Header, HeaderKind, JsonlWriter, Telemetry, VERSION, read_jsonl};
pub use peaks::MemoryPeaks;
pub use recorder::{BlockTimes, Recorder};
pub use sampler::{PERIOD, Sampler, TelemetrySummary};
pub use sink::{Sink, TelemetryFiles};
pub use trace::TraceWriter;

#[cfg(test)]
mod samples;
