//! What is kept under names: presets and styles.

use std::path::PathBuf;

use crate::window::settings::PromptKind;

/// A step with presets or styles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keeping {
    /// Read the presets again.
    List,
    /// Use the settings of a preset.
    Apply(String),
    /// Keep the settings under a name.
    Save {
        /// The name.
        name: String,
        /// Whether the model belongs to it.
        with_model: bool,
    },
    /// Give a preset another name.
    Rename(String, String),
    /// Save a preset again under another name.
    Duplicate(String),
    /// Delete a preset.
    Delete(String),
    /// Go back to the model's defaults.
    Reset,
    /// Keep words to put them into prompts of a kind.
    Snippet(PromptKind, String),
    /// Delete a snippet.
    DeleteSnippet(PromptKind, String),
    /// Read the styles again.
    ListStyles,
    /// Apply a style to the prompts, or no longer.
    ToggleStyle(String),
    /// Save the prompts as a style of this name.
    SaveStyle(String),
    /// Save a style again under another name, so that it can be changed.
    DuplicateStyle(String),
    /// Give a saved style another name.
    RenameStyle(String, String),
    /// Delete a saved style.
    DeleteStyle(String),
    /// No longer read styles from a file.
    ForgetStyles(PathBuf),
    /// No longer read tags from a file.
    ForgetTags(PathBuf),
}
