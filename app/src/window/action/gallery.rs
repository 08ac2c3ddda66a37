//! What a person does in the gallery.

use std::path::PathBuf;

use crate::window::collection::{Change, CollectionStep, Export, How, Query};

/// One step in the gallery.
#[derive(Debug, Clone, PartialEq)]
pub enum GalleryAction {
    /// Open or close it.
    Open(bool),
    /// Close the dialog, or the gallery.
    Escape,
    /// Search for something else.
    Search(Query),
    /// Select an item by its place.
    Pick(usize, How),
    /// Select the item that is some places away.
    Move(isize, How),
    /// Select all that is shown.
    SelectAll,
    /// Select nothing.
    SelectNothing,
    /// Change the marks of what is selected.
    Mark(Change),
    /// Change the mark of a file.
    MarkOne(PathBuf, Change),
    /// Add files to a collection.
    Collect(Vec<PathBuf>, String),
    /// Change the list of collections.
    Gather(CollectionStep),
    /// Move what is selected to the trash.
    Trash,
    /// Move a file to the trash.
    TrashOne(PathBuf),
    /// Take back what was moved to the trash, or a collection that was deleted.
    TakeBack,
    /// Show a file in the viewer.
    Show(PathBuf),
    /// Compare the two that are selected in the viewer.
    Compare,
    /// Use the settings of a file.
    UseSettings(PathBuf),
    /// Generate others with the settings of a file: with new seeds, or with noise near its own.
    Vary(PathBuf, Option<f32>),
    /// Use an image as the input image, and paint a mask over it.
    Inpaint(PathBuf),
    /// Use a file as the input image or the input clip.
    UseAsInput(PathBuf),
    /// Copy the prompt of a file.
    CopyPrompt(PathBuf),
    /// Copy the pixels of an image.
    CopyImage(PathBuf),
    /// Ask where a copy of an image is saved.
    SaveAs(PathBuf),
    /// Copy the files that are selected.
    CopyFiles,
    /// Ask how to export what is selected.
    AskExport,
    /// Close that question.
    CloseExport,
    /// Export it.
    Export(Box<Export>),
    /// No longer show it.
    RemoveFolder(PathBuf),
    /// List the folders again.
    Rescan,
    /// Dismiss what is said.
    DismissNotice,
    /// What is said leaves by itself.
    LetNoticeGo,
}
