//! What a person does to enlarge images and clips, to put frames between those of clips, or to inpaint details again.

use std::path::PathBuf;

use crate::window::state::{InterpolateChoice, UpscaleChoice};

/// A step in the question.
#[derive(Debug, Clone, PartialEq)]
pub enum UpscaleStep {
    /// Ask how to enlarge files.
    Ask(Vec<PathBuf>),
    /// Ask how to put frames between those of clips.
    AskInterpolate(Vec<PathBuf>),
    /// Ask how to inpaint the details of images again.
    AskDetail(Vec<PathBuf>),
    /// Choose another upscaler or scale.
    Choose(UpscaleChoice),
    /// Choose another network for frames, or other numbers of them.
    ChooseInterpolation(InterpolateChoice),
    /// Choose other detectors.
    ChooseDetectors(Vec<PathBuf>),
    /// Do it.
    Start,
    /// Do not.
    Close,
}
