//! Runs under a plan, from request to images.

mod active_plan;
mod adapted;
mod chat;
mod dump;
mod error;
mod estimate;
mod footprint;
mod image_work;
mod journal;
mod loaded;
mod preview;
mod processor;
mod reading;
mod resolve;
mod run;
mod speed;
mod summary;
mod target;
mod tiny;

pub use active_plan::ActivePlan;
pub use adapted::{adapt_model, spelled_out};
pub use error::PipelineError;
pub use estimate::workload;
pub use footprint::{dtype_of, footprint, run_identity};
pub use journal::Journal;
pub use loaded::LoadedModel;
pub use processor::{Expected, expect_measurement};
pub use reading::{Reading, Readings, readings};
pub use resolve::{Resolved, resolve};
pub use run::{Observer, Rendered, RunOptions};
pub use speed::{TRANSFER, copy, multiply, transfer};
pub use summary::{BlockSummary, ComponentSummary, Defaults, ModelSummary, summarise};
pub use target::{Pace, Target, ready};

pub use crate::memory::{Stage, StageKind};
