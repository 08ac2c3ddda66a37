//! Tools around the engine that no run needs.
//!
//! [`convert`] stores weights in another format. [`Likeness`] writes checkpoints of published shapes with random
//! weights, to measure speed and memory without downloads. [`ceilings`] measures what a device can do at most, and
//! [`kernel_trials`] runs the kernels for NVIDIA cards one by one.

mod ceilings;
mod convert;
mod kernels;
mod likeness;
mod random;

pub use ceilings::{Ceilings, ceilings};
pub use convert::{Conversion, ConvertTo, Share, convert};
pub use kernels::{Trial, kernel_trials, trials};
pub use likeness::{Likeness, LikenessError};
pub use random::{RandomDtype, RandomTensor, random_file_bytes, write_random};
