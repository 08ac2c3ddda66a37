//! What a person does to enlarge images and clips.

use std::path::PathBuf;

use crate::window::state::UpscaleChoice;

/// A step in the question.
#[derive(Debug, Clone, PartialEq)]
pub enum UpscaleStep {
    /// Ask how to enlarge files.
    Ask(Vec<PathBuf>),
    /// Choose another upscaler or scale.
    Choose(UpscaleChoice),
    /// Enlarge them.
    Start,
    /// Do not.
    Close,
}
