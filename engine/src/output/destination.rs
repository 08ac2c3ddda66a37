//! Where images and clips are written.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Codec, Date, Encoding, Media, OutputError, Settings, clip_file, ffmpeg,
    file::{Existing, folder_of, temporary_file},
    format::Format,
    names::{NameFacts, file_name_of},
    sequence,
    still::StillFormat,
};

/// Where images and clips are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// This file; further images of a batch get `-2`, `-3`, … before the extension. Existing files are replaced.
    File(PathBuf),
    /// A new file in this folder, named by date, number and seed. The folder is created if it is missing.
    Folder(PathBuf),
    /// A new file in a folder, of which format and name are chosen.
    Named(NamedOutput),
}

/// Where images and clips are written, and how their files are called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedOutput {
    /// The folder. It is created if it is missing.
    pub folder: PathBuf,
    /// The format of images.
    pub format: StillFormat,
    /// The template of names, with the fields of [`NAME_FIELDS`](super::NAME_FIELDS); `{name}` is the name by date, number
    /// and seed. What is no template counts as `{name}`.
    pub names: String,
}

/// Number of names to try when other programs take names in the same folder at the same time.
const ATTEMPTS: u32 = 100;

impl Output {
    /// Creates the folder and tries to write to it, so that a long run does not end with an image or a clip that cannot
    /// be saved. `codec` is that of clips.
    pub fn prepare(&self, is_clip: bool, codec: Codec) -> Result<(), OutputError> {
        let folder = match self {
            Self::File(path) => {
                if Format::of(path, is_clip, codec)? == Format::Frames {
                    sequence::check(path, Existing::Replace)?;
                }
                folder_of(path)
            }
            Self::Folder(folder) | Self::Named(NamedOutput { folder, .. }) => folder,
        };
        if is_clip && codec != Codec::H264 && ffmpeg::find().is_none() {
            return Err(OutputError::NoFfmpeg { codec });
        }
        if !folder.is_dir() {
            if folder.exists() {
                return Err(OutputError::NotAFolder { path: folder.to_owned() });
            }
            fs::create_dir_all(folder)
                .map_err(|cause| OutputError::CreateFolder { folder: folder.to_owned(), cause })?;
        }
        temporary_file(folder)
            .map_err(|cause| OutputError::NotWritable { folder: folder.to_owned(), cause })?;
        Ok(())
    }

    /// The path for image or clip `index` of a batch, in a folder the next free name, with this extension.
    pub(super) fn path_for(&self, index: u32, settings: &Settings, date: Date, extension: &str) -> PathBuf {
        match self {
            Self::File(path) if index == 0 => path.clone(),
            Self::File(path) => {
                let mut name = path.file_stem().unwrap_or_default().to_owned();
                name.push(format!("-{}", u64::from(index) + 1));
                if let Some(extension) = path.extension() {
                    name.push(".");
                    name.push(extension);
                }
                path.with_file_name(name)
            }
            Self::Folder(folder) => {
                folder.join(format!("{}.{extension}", usual_name(folder, settings, date)))
            }
            Self::Named(NamedOutput { folder, names, .. }) => {
                let usual = usual_name(folder, settings, date);
                let request = &settings.request;
                let facts = NameFacts {
                    name: &usual,
                    number: index as usize + 1,
                    count: request.batch as usize,
                    date: Some(date),
                    seed: Some(settings.seed),
                    model: &settings.model_name,
                    prompt: &request.prompt,
                    size: [request.width, request.height],
                };
                let name = file_name_of(names, &facts).unwrap_or(usual);
                free_path(folder, &name, extension)
            }
        }
    }

    /// Writes image or clip `index` of a batch, encoded this way, and returns its path. If that fails, it goes to
    /// [`fallback_folder`] as PNG or MP4, and the error is [`OutputError::KeptElsewhere`].
    pub fn save(
        &self,
        index: u32,
        media: &Media,
        settings: &Settings,
        encoding: impl Into<Encoding>,
        date: Date,
    ) -> Result<PathBuf, OutputError> {
        self.write(index, media, settings, encoding.into(), date).map_err(|cause| {
            let fallback = Self::Folder(fallback_folder());
            let kept = fallback
                .prepare(media.is_clip(), Codec::H264)
                .and_then(|()| fallback.write(index, media, settings, Codec::H264.into(), date));
            match kept {
                Ok(path) => OutputError::KeptElsewhere { path, cause: Box::new(cause) },
                Err(error) => {
                    tracing::warn!(%error, "it could not be saved elsewhere either");
                    cause
                }
            }
        })
    }

    fn write(
        &self,
        index: u32,
        media: &Media,
        settings: &Settings,
        encoding: Encoding,
        date: Date,
    ) -> Result<PathBuf, OutputError> {
        let extension = match media {
            Media::Image(_) => match self {
                Self::Named(NamedOutput { format, .. }) => format.extension(),
                Self::File(_) | Self::Folder(_) => StillFormat::Png.extension(),
            },
            Media::Clip(_) => encoding.codec.extension(),
        };
        let existing = match self {
            Self::File(_) => Existing::Replace,
            Self::Folder(_) | Self::Named(_) => Existing::Keep,
        };
        let mut attempts = 0;
        loop {
            let path = self.path_for(index, settings, date, extension);
            attempts += 1;
            match clip_file::write(&path, media, settings, encoding, existing) {
                Err(OutputError::Exists { .. }) if attempts < ATTEMPTS => {}
                result => return result.map(|()| path),
            }
        }
    }
}

/// The folder for images and clips that could not be written where they should.
pub fn fallback_folder() -> PathBuf {
    env::temp_dir().join("sluice-pictures")
}

/// The next name by date, number and seed.
fn usual_name(folder: &Path, settings: &Settings, date: Date) -> String {
    format!("{date}-{:04}-{}", highest_number(folder, date) + 1, settings.seed)
}

/// A path that is free, with a number after the name if it has to be.
fn free_path(folder: &Path, name: &str, extension: &str) -> PathBuf {
    let own = folder.join(format!("{name}.{extension}"));
    let numbered = || (2_u32..).map(|number| folder.join(format!("{name}-{number}.{extension}")));
    if own.exists() { numbered().find(|path| !path.exists()).unwrap_or(own) } else { own }
}

/// The highest number of an image or a clip of this day in the folder. A folder that cannot be read has none; the write that
/// follows reports why.
fn highest_number(folder: &Path, date: Date) -> u64 {
    let prefix = format!("{date}-");
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names
        .filter_map(|name| {
            let number = name.to_str()?.strip_prefix(&prefix)?.split(['-', '.']).next()?;
            number.parse().ok()
        })
        .max()
        .unwrap_or(0)
}
