//! Tools around the engine, not needed to run it.
//!
//! [`convert`] stores weights in another format. [`Likeness`] writes checkpoints with the shapes of published
//! models and random weights, to measure speed and memory without downloads. [`ceilings`] measures the peak
//! performance of a device, and [`kernel_trials`] runs the CUDA kernels one by one.

mod ceilings;
mod convert;
#[cfg(feature = "cuda")]
mod graphs;
mod kernels;
mod likeness;
mod random;

pub use ceilings::{Ceilings, ceilings};
pub use convert::{Conversion, ConvertTo, Share, convert};
pub use kernels::{Trial, kernel_trials, trials};
pub use likeness::{Likeness, LikenessError};
pub use random::{RandomDtype, RandomTensor, random_file_bytes, write_random};
