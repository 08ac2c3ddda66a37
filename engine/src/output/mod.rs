//! Pictures and where they go: PNG files with the settings that made them inside.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// 8-bit RGB pixels, row by row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `3 · width · height` bytes.
    pub pixels: Vec<u8>,
}

/// Where pictures are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// This file; further pictures of a batch get `-2`, `-3`, … before the extension.
    File(PathBuf),
    /// A new file in this folder, named by date, number and seed. The folder is made when it is missing.
    Folder(PathBuf),
}
