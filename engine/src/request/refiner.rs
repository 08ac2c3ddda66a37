//! A second model that takes over the last steps.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::RequestError;

/// A refiner: a second model that takes over the last steps, such as that of Stable Diffusion XL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refiner {
    /// Its file or folder.
    pub path: PathBuf,
    /// Where it takes over, as a fraction of the noise schedule: with 0.8 it does the last fifth.
    pub switch: f64,
}

impl Refiner {
    /// The usual [`switch`](Self::switch).
    pub const SWITCH: f64 = 0.8;

    /// The refiner at a path, with the usual switch.
    pub fn new(path: PathBuf) -> Self {
        Self { path, switch: Self::SWITCH }
    }

    pub(super) fn validate(&self) -> Result<(), RequestError> {
        if self.switch > 0.0 && self.switch < 1.0 {
            Ok(())
        } else {
            Err(RequestError::RefinerSwitch(self.switch))
        }
    }
}
