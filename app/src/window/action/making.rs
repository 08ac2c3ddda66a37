//! Several jobs at once: grids, variations and folders of input images.

use std::path::PathBuf;

use sluice_engine::{checkpoint::MapKind, request::grid::Grid, session::JobId};

use crate::{input_folder::InputFolder, window::state::RecentId};

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
    /// Queue this kind of map of this image, to see what a ControlNet will.
    Map(MapKind, PathBuf),
    /// Queue a job for each image of a folder.
    Folder(PathBuf, InputUse),
    /// Queue a job for each of these.
    Inputs(Box<FolderInputs>),
}

/// Input images of a folder, and what they become.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderInputs {
    /// The folder.
    pub folder: PathBuf,
    /// The folder of the results.
    pub results: PathBuf,
    /// What each image is used as.
    pub used_as: InputUse,
    /// The denoising strength that was chosen, where there is one.
    pub strength: Option<f64>,
    /// The images.
    pub found: InputFolder,
}

/// The images of a folder, of which some may be used.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderFound {
    /// The folder.
    pub folder: PathBuf,
    /// What each image is used as.
    pub used_as: InputUse,
    /// The folder of the results.
    pub results: PathBuf,
    /// Another one, which is not there yet.
    pub again: PathBuf,
    /// The images of the folder itself.
    pub own: InputFolder,
    /// Those of its subfolders, too.
    pub all: InputFolder,
}

/// What each image of a folder is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputUse {
    /// The input image, or the start image of a clip.
    Source,
    /// The first reference image.
    Reference,
}
