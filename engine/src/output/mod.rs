//! Images and clips as PNG files that contain the settings they were generated with.

mod a1111;
mod chunks;
mod date;
mod destination;
mod error;
mod media;
mod png_file;
mod settings;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use date::Date;
pub use destination::{Output, fallback_folder};
pub use error::OutputError;
pub use media::{Clip, Media};
pub use png_file::{read_settings, write_png};
pub use settings::{Origin, RestoredSettings, SETTINGS_VERSION, Settings};

/// 8-bit RGB pixels, row by row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `3 · width · height` bytes.
    #[serde(with = "serde_bytes")]
    pub pixels: Vec<u8>,
}
