//! What a person does in the window's own file dialog.

use std::path::PathBuf;

/// A step in the dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Browse {
    /// List a folder.
    Enter(PathBuf),
    /// Choose a file or folder.
    Choose(PathBuf),
    /// Choose nothing.
    Close,
}
