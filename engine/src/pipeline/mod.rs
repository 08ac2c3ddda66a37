//! From request to picture: encode, denoise, decode.

mod dump;
mod error;
mod placement;
mod preview;
mod run;
mod summary;

pub use error::PipelineError;
pub use run::{LoadedModel, Observer, Rendered, RunOptions, Stage};
pub use summary::{BlockSummary, ComponentSummary, Defaults, ModelSummary, summarise};
