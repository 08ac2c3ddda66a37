//! Where images and clips are saved, and how.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sluice_engine::output::{Codec, Encoding, NamedOutput, Output, StillFormat};

/// Where images and clips are saved, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputSettings {
    /// The folder; the folder `Sluice` in the user's pictures folder if absent.
    pub folder: Option<PathBuf>,
    /// The format of images.
    pub format: StillFormat,
    /// The quality of images in lossy formats, 1…100.
    pub quality: u8,
    /// The codec of clips.
    pub codec: Codec,
    /// The template of their names.
    pub names: String,
}

impl OutputSettings {
    /// Date, number and seed.
    pub const USUAL_NAMES: &str = "{name}";

    /// Where and how a job saves into a folder.
    pub fn destination(&self, folder: PathBuf) -> Output {
        if self.format == StillFormat::Png && self.names.trim() == Self::USUAL_NAMES {
            return Output::Folder(folder);
        }
        Output::Named(NamedOutput { folder, format: self.format, names: self.names.clone() })
    }

    /// The extension of what is generated with so many frames.
    pub fn extension(&self, frames: u32) -> &'static str {
        if frames == 1 { self.format.extension() } else { self.codec.extension() }
    }
}

impl Default for OutputSettings {
    fn default() -> Self {
        Self {
            folder: None,
            format: StillFormat::Png,
            quality: Encoding::USUAL_QUALITY,
            codec: Codec::default(),
            names: Self::USUAL_NAMES.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::settings::Settings;

    #[test]
    fn what_is_chosen_is_kept_and_earlier_versions_chose_less() {
        let output = OutputSettings {
            format: StillFormat::WebP,
            quality: 70,
            codec: Codec::ProRes,
            ..OutputSettings::default()
        };
        let settings = Settings { output: output.clone(), ..Settings::default() };
        assert_eq!(Settings::from_json(&settings.to_json()).output, output);
        let earlier = Settings::from_json(r#"{"output": {"format": "jpeg", "names": "{seed}"}}"#).output;
        assert_eq!((earlier.format, earlier.quality, earlier.codec), (StillFormat::Jpeg, 95, Codec::H264));
        assert_eq!(earlier.names, "{seed}");
    }

    #[test]
    fn files_have_the_extension_of_their_format_or_codec() {
        let mut output = OutputSettings { format: StillFormat::Jpeg, ..OutputSettings::default() };
        assert_eq!([1, 17].map(|frames| output.extension(frames)), ["jpg", "mp4"]);
        output.codec = Codec::ProRes;
        assert_eq!(output.extension(17), "mov");
    }
}
