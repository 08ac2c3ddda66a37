//! Images and clips as files that contain the settings they were generated with: PNG, JPEG, MP4, WebP, GIF and folders of
//! PNG.

mod a1111;
mod chunks;
mod clip_file;
mod control_text;
mod date;
mod destination;
mod detailer_text;
mod elsewhere;
mod error;
mod exif;
pub(crate) mod ffmpeg;
mod file;
mod format;
mod gif_file;
mod h264;
mod hires_text;
mod jpeg;
mod made_of;
mod media;
pub(crate) mod mp4;
mod names;
mod png_file;
mod read;
mod sequence;
mod settings;
mod sheet;
pub(crate) mod sound;
mod stealth;
mod still;
#[cfg(test)]
mod tests;
mod unencodable;
mod webp;

use serde::{Deserialize, Serialize};

pub use clip_file::{write_media, write_plain};
pub use date::Date;
pub use destination::{NamedOutput, Output, fallback_folder};
pub use error::OutputError;
pub use format::{Codec, Encoding};
pub(crate) use h264::Sps;
pub use made_of::{InputFile, InputMark};
pub use media::{Clip, Media};
pub use names::{NAME_FIELDS, NameError, NameFacts, file_name_of};
pub use png_file::write_png;
pub use read::read_settings;
pub use settings::{Enlargement, Interpolated, Origin, RestoredSettings, SETTINGS_VERSION, Settings};
pub use sheet::{Drawn, FontFile, Sheet};
pub use sound::{Packet, Sound, SoundCodec, Timing};
pub use still::{StillFormat, export_image};

/// 8-bit RGB pixels, row by row, and their opacity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Pixels per row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `3 · width · height` bytes.
    #[serde(with = "serde_bytes")]
    pub pixels: Vec<u8>,
    /// The opacity of each pixel, `width · height` bytes; empty if all are opaque. Only enlarging an image keeps it.
    #[serde(default, with = "serde_bytes", skip_serializing_if = "Vec::is_empty")]
    pub opacity: Vec<u8>,
}

impl Image {
    /// An image without transparency.
    pub fn opaque(width: u32, height: u32, pixels: Vec<u8>) -> Self {
        Self { width, height, pixels, opacity: Vec::new() }
    }
}
