//! What a person does in the place of models.

use std::path::PathBuf;

use sluice_engine::request::ModelSource;

use super::GetAction;
use crate::window::{state::EntryId, widgets::TagChange};

/// What a person does in the place.
#[derive(Debug, Clone, PartialEq)]
pub enum LibraryAction {
    /// Open or close it.
    Show(bool),
    /// Search the folders again.
    Search,
    /// Open a model, or add a LoRA.
    Open(EntryId),
    /// Search a folder no longer.
    RemoveFolder(PathBuf),
    /// Give or take a star.
    Favourite(EntryId, bool),
    /// Change a note.
    Note(EntryId, String),
    /// Add or remove a tag.
    Tag(EntryId, TagChange),
    /// Keep the current settings for the opened model.
    KeepDefaults,
    /// Forget the kept settings of a model.
    ResetDefaults(ModelSource),
    /// Add words to the end of the prompt.
    AddToPrompt(String),
    /// Ask which model gets an image as its preview.
    AskPreview(PathBuf),
    /// Make an image the preview of a model.
    UsePreview {
        /// The image, or the clip whose first frame is used.
        image: PathBuf,
        /// The model.
        model: PathBuf,
        /// Whether a preview that is there may be replaced.
        replaces: bool,
    },
    /// Something in the place for downloads.
    Get(GetAction),
}
