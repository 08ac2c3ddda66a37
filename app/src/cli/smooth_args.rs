//! Options of frame interpolation after a clip is generated.

use std::path::PathBuf;

use sluice_engine::request::{Interpolation, Smooth};

/// Frames between those of the clip that is generated.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SmoothArgs {
    /// Make a clip's motion smoother: so many times as many frames in the same time, such as 2 or 4. Frames and frame rate are
    /// those before that.
    #[arg(long, value_name = "FACTOR", requires = "interpolator")]
    interpolate: Option<u32>,
    /// What makes the frames between: a .safetensors file of RIFE 4, such as rife_v4.26.safetensors.
    #[arg(long, value_name = "FILE", requires = "interpolate")]
    interpolator: Option<PathBuf>,
    /// Make frames across cuts from one scene to another, too. Otherwise the last frame before a cut is repeated.
    #[arg(long, requires = "interpolate")]
    across_cuts: bool,
}

impl SmoothArgs {
    /// What is asked for, if anything is.
    pub fn smooth(&self) -> Option<Smooth> {
        let how = Interpolation { factor: self.interpolate?, across_cuts: self.across_cuts };
        Some(Smooth { model: self.interpolator.clone()?, how })
    }
}
