//! Which kind of file a path asks for.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::OutputError;

/// The video codec of clips in MP4, MOV, MKV and WebM files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Codec {
    /// H.264, which plays everywhere. The only one that needs no ffmpeg.
    #[default]
    H264,
    /// H.265 by x265: smaller files, for recent players.
    H265,
    /// Apple ProRes 422 HQ: large files for editing.
    ProRes,
    /// AV1 by SVT-AV1: the smallest files, for recent players.
    Av1,
}

impl Codec {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::H264, Self::H265, Self::ProRes, Self::Av1];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::H264 => "h264",
            Self::H265 => "h265",
            Self::ProRes => "prores",
            Self::Av1 => "av1",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::H264 => "H.264",
            Self::H265 => "H.265",
            Self::ProRes => "ProRes",
            Self::Av1 => "AV1",
        }
    }

    /// The usual extension of its files.
    pub fn extension(self) -> &'static str {
        self.extensions()[0]
    }

    /// The extensions of its files, the usual one first.
    pub(super) fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::H264 => &["mp4", "m4v"],
            Self::H265 => &["mp4", "mov", "mkv"],
            Self::ProRes => &["mov", "mkv"],
            Self::Av1 => &["mp4", "webm", "mkv"],
        }
    }
}

/// How images and clips are encoded, in the formats where that is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encoding {
    /// The codec of clips.
    pub codec: Codec,
    /// The quality of JPEG and WebP images, 1…100.
    pub quality: u8,
}

impl Encoding {
    /// The quality of images, unless another one is chosen.
    pub const USUAL_QUALITY: u8 = 95;
}

impl Default for Encoding {
    fn default() -> Self {
        Codec::default().into()
    }
}

impl From<Codec> for Encoding {
    fn from(codec: Codec) -> Self {
        Self { codec, quality: Self::USUAL_QUALITY }
    }
}

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A PNG, animated for a clip.
    Png,
    /// A JPEG.
    Jpeg,
    /// MP4 with H.264.
    Mp4,
    /// A file that ffmpeg writes.
    Ffmpeg(Codec),
    /// A WebP, animated for a clip.
    WebP,
    /// An animated GIF.
    Gif,
    /// A folder with a PNG for each frame.
    Frames,
}

impl Format {
    /// What a path asks for: for an image, or for a clip with a codec.
    pub fn of(path: &Path, is_clip: bool, codec: Codec) -> Result<Self, OutputError> {
        let own = || path.to_owned();
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase);
        if !is_clip {
            return match extension.as_deref() {
                _ if path.is_dir() => Err(OutputError::IsFolder { path: own() }),
                Some("png") => Ok(Self::Png),
                Some("jpg" | "jpeg") => Ok(Self::Jpeg),
                Some("webp") => Ok(Self::WebP),
                _ => Err(OutputError::Extension { path: own() }),
            };
        }
        if names_a_folder(path) {
            return Ok(Self::Frames);
        }
        match extension.as_deref() {
            Some(extension) if codec.extensions().contains(&extension) => {
                Ok(if codec == Codec::H264 { Self::Mp4 } else { Self::Ffmpeg(codec) })
            }
            Some("png") => Ok(Self::Png),
            Some("webp") => Ok(Self::WebP),
            Some("gif") => Ok(Self::Gif),
            _ => Err(OutputError::ClipExtension { path: own(), codec }),
        }
    }
}

/// Whether a clip with this path is a folder of frames.
fn names_a_folder(path: &Path) -> bool {
    let ends_with_separator =
        path.as_os_str().as_encoded_bytes().last().is_some_and(|&byte| std::path::is_separator(byte.into()));
    ends_with_separator || path.extension().is_none() || path.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        for (path, codec, expected) in [
            ("a.mp4", Codec::H264, Format::Mp4),
            ("a.M4V", Codec::H264, Format::Mp4),
            ("a.webp", Codec::H264, Format::WebP),
            ("a.gif", Codec::H264, Format::Gif),
            ("a.png", Codec::H264, Format::Png),
            ("frames/", Codec::H264, Format::Frames),
            ("frames.v2/", Codec::H264, Format::Frames),
            ("frames", Codec::H264, Format::Frames),
            ("a.mov", Codec::ProRes, Format::Ffmpeg(Codec::ProRes)),
            ("a.mp4", Codec::Av1, Format::Ffmpeg(Codec::Av1)),
        ] {
            assert_eq!(Format::of(Path::new(path), true, codec).unwrap(), expected, "{path}");
        }
        for (path, codec) in [("a.avi", Codec::H264), ("a.mov", Codec::H264), ("a.mp4", Codec::ProRes)] {
            let error = Format::of(Path::new(path), true, codec).unwrap_err();
            assert!(matches!(error, OutputError::ClipExtension { .. }), "{path}: {error}");
        }
        assert!(matches!(
            Format::of(Path::new("a.mp4"), false, Codec::H264),
            Err(OutputError::Extension { .. })
        ));
    }
}
