//! What the file worker is asked for.

use std::{collections::HashSet, path::PathBuf, sync::Arc};

use egui::ColorImage;
use sluice_engine::{
    output::Image,
    request::{ControlNet, ModelSource, Style},
};

use super::{Dialog, Export, SavedFrame, SavedImage};
use crate::{
    presets::Preset,
    window::{
        action::InputUse,
        report::Report,
        settings::StartupSettings,
        state::{DeletedPreset, FileChange, GroupChange, ResultOf},
    },
};

/// A task for the worker.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Lists the newest images of a folder.
    Scan(PathBuf),
    /// Reads an image's pixels.
    Show(PathBuf),
    /// Looks which of the listed files are gone, and which of those that were gone are back.
    LookFor {
        /// The listed files.
        listed: Vec<PathBuf>,
        /// Those that were gone.
        gone: Vec<PathBuf>,
    },
    /// Looks for what other programs put into a folder and those in it.
    LookForNew {
        /// The folder.
        folder: PathBuf,
        /// The files that were there, and those that are listed, or were; `None` if only what is there is to be known.
        known: Option<HashSet<PathBuf>>,
    },
    /// Reads what the list of images shows of a file. Says whether it is compared with another one.
    Recall(PathBuf, bool),
    /// Determines the type of a dropped file: a model, an adapter or an image.
    Take(PathBuf),
    /// Lists the adapters next to a model.
    ListAdapters(ModelSource),
    /// Reads the input image or its mask.
    Input(PathBuf),
    /// Makes the map of a ControlNet for images of this width and height.
    Map(Box<ControlNet>, [u32; 2]),
    /// Writes a painted mask into a folder.
    SaveMask {
        /// The folder.
        folder: PathBuf,
        /// File name of its image, without extension.
        name: String,
        /// White where the image is inpainted.
        mask: Image,
    },
    /// Writes an image from the clipboard into a folder, as a PNG file, and takes it as a dropped one.
    SavePasted {
        /// The folder.
        folder: PathBuf,
        /// The image.
        image: Arc<ColorImage>,
    },
    /// Writes a frame of a clip into a folder, as a PNG file.
    SaveFrame(Box<SavedFrame>),
    /// Writes a part of a clip into a new file.
    Export(Box<Export>),
    /// Writes a copy of an image under a name that was chosen.
    SaveImage(Box<SavedImage>),
    /// Composes the images of a group that has ended, and writes down in a folder what the next start has to know.
    Group(Option<PathBuf>, GroupChange),
    /// Reads the groups of previous sessions in a folder.
    Groups(PathBuf),
    /// Lists the input images of a folder, and what they become in another one.
    ListInputs {
        /// The input images.
        folder: PathBuf,
        /// The results.
        results: PathBuf,
        /// The extension of their files.
        extension: &'static str,
        /// What each is used as.
        used_as: InputUse,
    },
    /// Finds the models of which an image may become the preview.
    ListPreviewed {
        /// The image.
        image: PathBuf,
        /// The opened model.
        opened: ModelSource,
    },
    /// Makes an image the preview of a model.
    SavePreview {
        /// The image, or the clip whose first frame is used.
        image: PathBuf,
        /// The model.
        model: PathBuf,
        /// Whether a preview that is there may be replaced.
        replaces: bool,
    },
    /// Reads the headers of images and clips that are to be enlarged.
    Measure(Vec<PathBuf>),
    /// Lists the files of a folder that can be changed in this way.
    ListChanged(FileChange, PathBuf),
    /// Finds out which results of a change are there already.
    FindResults(FileChange, Vec<ResultOf>),
    /// Reads the prompts in images.
    ReadPrompts(Vec<PathBuf>),
    /// Reads the settings in an image or a clip that was just made of another one.
    ReadSettings(PathBuf),
    /// Finds out where the texts about images go, each beside its image.
    NameTexts(Vec<PathBuf>),
    /// Writes a text about an image into a new file.
    SaveText(PathBuf, String),
    /// Changes the presets in a folder, and reads them.
    Presets(PathBuf, PresetTask),
    /// Changes the styles that were saved in a folder.
    ChangeStyles(PathBuf, StyleTask),
    /// Reads the styles of files and folders, and those above a model.
    Styles {
        /// The model.
        model: ModelSource,
        /// The folder with those that were saved.
        own: Option<PathBuf>,
        /// Files and folders.
        chosen: Vec<PathBuf>,
    },
    /// Reads the tags of the files in a folder, and of other files.
    Tags(Option<PathBuf>, Vec<PathBuf>),
    /// Reads an image for the clipboard.
    CopyImage(PathBuf),
    /// Copies files to the clipboard.
    CopyFiles(Vec<PathBuf>),
    /// Lists a folder for the window's own dialog.
    List(PathBuf, Dialog),
    /// Opens a folder in the system's file manager.
    Open(PathBuf),
    /// Completes a report of a problem.
    Report(Box<Report>),
    /// Saves the settings that are needed before the window opens.
    SaveStartupSettings(PathBuf, StartupSettings),
}

/// What is done with saved styles.
#[derive(Debug, Clone, PartialEq)]
pub enum StyleTask {
    /// One is saved.
    Save(Style),
    /// That of this name gets another one.
    Rename(String, String),
    /// That of this name is deleted.
    Delete(String),
}

/// What is done with the presets in a folder before they are read.
#[derive(Debug, Clone, PartialEq)]
pub enum PresetTask {
    /// Nothing.
    List,
    /// One is kept.
    Save(String, Box<Preset>),
    /// One gets another name.
    Rename(String, String),
    /// One is deleted.
    Delete(String),
    /// One that was deleted is put back.
    PutBack(Box<DeletedPreset>),
}

/// A place for an input image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Well {
    /// The input image, or the start image of a clip.
    First,
    /// The end image of a clip.
    Last,
}
