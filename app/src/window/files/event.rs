//! What the file worker answers.

use std::{collections::HashSet, path::PathBuf};

use egui::ColorImage;
use sluice_engine::{request::Style, session::Failure, text::StyleError};

use super::{Dialog, Entry};
use crate::{
    presets::NamedPreset,
    tags::Tag,
    window::{
        action::FolderFound,
        image_settings::ImageSettings,
        state::{ClipLength, DeletedPreset, FileChange, Makers, Measured, NamedGroup, Pixels},
    },
};

/// A result of the worker.
#[derive(Debug)]
pub enum FileEvent {
    /// An image of the folder.
    Found {
        /// Its file.
        path: PathBuf,
        /// A thumbnail.
        thumbnail: ColorImage,
        /// The length of a clip.
        length: Option<ClipLength>,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
    },
    /// Another program has put an image or a clip into the folder or one in it.
    Added {
        /// Its file.
        path: PathBuf,
        /// A thumbnail.
        thumbnail: ColorImage,
        /// The length of a clip.
        length: Option<ClipLength>,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
    },
    /// What is in the folder of results and those in it.
    FolderListed {
        /// The folder.
        folder: PathBuf,
        /// Its images and clips, without those that are not whole.
        files: HashSet<PathBuf>,
        /// Whether all were whole.
        are_whole: bool,
    },
    /// The pixels of an image or a clip.
    Pixels {
        /// Its file.
        path: PathBuf,
        /// The pixels.
        pixels: Pixels,
    },
    /// An image was composed of others.
    Composed {
        /// Its file.
        path: PathBuf,
        /// A thumbnail.
        thumbnail: ColorImage,
        /// The length of a clip.
        length: Option<ClipLength>,
        /// Its generation settings.
        settings: Option<Box<ImageSettings>>,
    },
    /// The models of which an image may become the preview, each with whether it has one that would be replaced.
    Previewed(PathBuf, Vec<(PathBuf, bool)>),
    /// A model has got a preview.
    PreviewSaved {
        /// The model.
        model: PathBuf,
        /// The file.
        path: PathBuf,
    },
    /// The groups of previous sessions.
    Groups(Vec<NamedGroup>),
    /// All presets.
    Presets(Vec<NamedPreset>),
    /// A preset was deleted.
    PresetDeleted(Box<DeletedPreset>),
    /// The styles that were found, and why files could not be read.
    Styles {
        /// By name.
        styles: Vec<Style>,
        /// Those that were saved in the window.
        own: Vec<Style>,
        /// What could not be read.
        errors: Vec<StyleError>,
    },
    /// The tags with which prompts are completed.
    Tags(Vec<Tag>),
    /// The input images of a folder.
    Inputs(Box<FolderFound>),
    /// An image for the clipboard.
    ImageRead(ColorImage),
    /// Files are on the clipboard.
    FilesCopied(Vec<PathBuf>),
    /// A part of a clip, or a copy of an image, was written.
    Exported(PathBuf),
    /// A frame of a clip was saved.
    FrameSaved {
        /// Its file.
        path: PathBuf,
        /// Its pixels.
        image: ColorImage,
    },
    /// An image or a clip was dropped.
    Dropped {
        /// Its file.
        path: PathBuf,
        /// Its pixels.
        pixels: Pixels,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
    },
    /// An input image, its mask, or the first frame of an input clip.
    Input {
        /// Its file.
        path: PathBuf,
        /// Its pixels, or why there are none.
        read: Result<ColorImage, Failure>,
        /// The length of a clip, if its header has it.
        seconds: Option<f64>,
    },
    /// A listed image can no longer be read.
    Gone {
        /// Its file.
        path: PathBuf,
        /// The reason.
        failure: Failure,
        /// Whether the file is there, so that it is damaged.
        is_there: bool,
    },
    /// Listed files are gone, or back.
    Looked {
        /// Those that are gone.
        gone: Vec<PathBuf>,
        /// Those that are back.
        back: Vec<PathBuf>,
    },
    /// A task failed.
    Failed {
        /// Short title.
        title: String,
        /// What happened and what to do.
        failure: Failure,
    },
    /// A mask that was painted could not be saved.
    MaskNotSaved(Failure),
    /// What the headers of images and clips say that are to be enlarged, or why they cannot be.
    Measured(Vec<Measured>),
    /// The files of a folder that can be changed in this way, or why it cannot be used.
    ChangedListed(FileChange, PathBuf, Result<Vec<PathBuf>, Failure>),
    /// Which of the results that begin with this one are there.
    ResultsFound(PathBuf, Makers),
    /// The settings in an image or a clip that was just made of another one.
    Settings(PathBuf, Box<ImageSettings>),
    /// The prompt and the negative prompt in each of these images that has settings.
    Prompts(Vec<(PathBuf, [String; 2])>),
    /// Where the texts about images go.
    TextsNamed {
        /// The images that were asked about.
        images: Vec<PathBuf>,
        /// Those without a text, with the files of their texts.
        texts: Vec<(PathBuf, PathBuf)>,
        /// How many have a text.
        done: usize,
    },
    /// The adapters next to a model.
    Adapters(Vec<PathBuf>),
    /// A report of a problem.
    Report(String),
    /// An image or a clip of the gallery, to be shown in the viewer.
    Recalled {
        /// Its file.
        path: PathBuf,
        /// A thumbnail.
        thumbnail: ColorImage,
        /// The length of a clip.
        length: Option<ClipLength>,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
        /// Whether it is compared with the one that is shown.
        is_compared: bool,
    },
    /// A file or folder was dropped, or saved for a place that has such a dialog.
    Chosen(Dialog, PathBuf),
    /// A file or folder was chosen in a dialog.
    Answered(Dialog, PathBuf),
    /// What was typed as a folder in the window's own dialog is a file.
    IsFile(Dialog, PathBuf),
    /// A dialog was closed.
    DialogClosed,
    /// The system has no dialog.
    NoDialog {
        /// What was asked for.
        dialog: Dialog,
        /// The folder in which it would have started, or the file to save.
        start: Option<PathBuf>,
    },
    /// A folder for the window's own dialog.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is in it, or why that is not known.
        entries: Result<Vec<Entry>, String>,
    },
}
