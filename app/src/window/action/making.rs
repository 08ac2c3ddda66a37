//! Several jobs at once: grids, variations and folders of input images.

use std::path::PathBuf;

use sluice_engine::{request::grid::Grid, session::JobId};

use crate::window::state::RecentId;

/// What starts several jobs, or ends them.
#[derive(Debug, Clone, PartialEq)]
pub enum Making {
    /// Show or hide the dialog for grids.
    AskGrid(bool),
    /// Queue a job for each cell of a grid.
    Grid(Box<Grid>),
    /// Cancel all jobs of the group that this one belongs to.
    CancelGroup(JobId),
    /// Queue variations of an image: with new seeds, or with noise near its own.
    Vary(RecentId, Option<f32>),
    /// Queue a depth map of this image, to see what a ControlNet will.
    DepthMap(PathBuf),
    /// Queue a job for each image of a folder.
    Folder(PathBuf, InputUse),
}

/// What each image of a folder is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputUse {
    /// The input image, or the start image of a clip.
    Source,
    /// The first reference image.
    Reference,
}
