//! Reference images that are read beside the prompt.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::RequestError;

/// A Redux model, through which FLUX.1 reads the references of a request beside the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Redux {
    /// Its file or folder.
    pub path: PathBuf,
    /// How strongly each reference counts, in their order; 1 for those without a strength.
    #[serde(default)]
    pub strengths: Vec<f32>,
}

impl Redux {
    /// The most references that are read beside a prompt.
    pub const MOST: usize = 8;
    /// Valid strengths.
    pub const STRENGTHS: std::ops::RangeInclusive<f32> = 0.0..=4.0;

    /// The Redux model at a path, with the usual strengths.
    pub fn new(path: PathBuf) -> Self {
        Self { path, strengths: Vec::new() }
    }

    /// How strongly the reference with this index counts.
    pub fn strength(&self, index: usize) -> f32 {
        self.strengths.get(index).copied().unwrap_or(1.0)
    }

    /// How strongly the reference with this index counts, to be changed.
    pub fn strength_mut(&mut self, index: usize) -> &mut f32 {
        if self.strengths.len() <= index {
            self.strengths.resize(index + 1, 1.0);
        }
        &mut self.strengths[index]
    }

    pub(super) fn validate(&self, references: usize) -> Result<(), RequestError> {
        if references == 0 {
            return Err(RequestError::ReduxAlone);
        }
        if self.strengths.len() > references {
            let given = self.strengths.len();
            return Err(RequestError::ReduxStrengths { given, references });
        }
        match self.strengths.iter().find(|strength| !Self::STRENGTHS.contains(strength)) {
            Some(strength) => Err(RequestError::ReduxStrength(*strength)),
            None => Ok(()),
        }
    }
}
