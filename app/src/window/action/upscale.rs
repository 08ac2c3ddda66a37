//! What a person does to enlarge images and clips, to put frames between those of clips, or to inpaint details again.

use std::path::PathBuf;

use crate::window::state::{FileChange, InterpolateChoice, UpscaleChoice};

/// A step in the question.
#[derive(Debug, Clone, PartialEq)]
pub enum UpscaleStep {
    /// Ask how to enlarge files.
    Ask(Vec<PathBuf>),
    /// Ask how to put frames between those of clips.
    AskInterpolate(Vec<PathBuf>),
    /// Ask how to inpaint the details of images again.
    AskDetail(Vec<PathBuf>),
    /// Ask how to change the files of a folder in this way.
    AskFolder(FileChange, PathBuf),
    /// Change files again that are done, or leave them out.
    Again(bool),
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
