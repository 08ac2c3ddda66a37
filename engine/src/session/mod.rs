//! The engine as an actor: commands in, events out, one job at a time.
//!
//! Commands and events are serde types, so that the engine can run in a thread of the window's process or in
//! a separate process.

mod actor;
mod cancelled;
mod command;
mod elsewhere;
mod event;
mod fitting;
mod inference;
mod kept_list;
mod options;
mod outcomes;
mod planning;
mod precisions;
mod process;
mod protocol;
mod pulse;
mod read_ahead;
mod serve;
mod several;
mod sizes;
mod supervisor;
mod threads;
mod unfinished;

pub use crate::pipeline::ready;
pub use actor::{Session, model_summary};
pub use command::{Command, GroupPlace, Job, JobId, PlanQuery, PlanSubject, Reports, Unsent};
pub use event::{Event, Failure, LaneChange, Picture, Serving};
pub use options::SessionOptions;
pub use precisions::{PrecisionSummary, precisions};
pub use process::WorkerProgram;
pub use protocol::{FromWorker, Hello, LONGEST_HELLO, ToWorker};
pub use serve::{Own, ServeError, serve};
pub use several::Lane;

pub use crate::pipeline::{
    BlockSummary, ComponentSummary, Defaults, ModelSummary, Reading, Readings, Stage, StageKind,
};
pub use crate::text::Extent;
