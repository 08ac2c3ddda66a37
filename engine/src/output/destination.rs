//! Where images and clips are written.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Codec, Date, Media, OutputError, Settings, clip_file, ffmpeg,
    file::{Existing, folder_of, temporary_file},
    format::Format,
    sequence,
};

/// Where images and clips are written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// This file; further images of a batch get `-2`, `-3`, … before the extension. Existing files are replaced.
    File(PathBuf),
    /// A new file in this folder, named by date, number and seed. The folder is created if it is missing.
    Folder(PathBuf),
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
            Self::Folder(folder) => folder,
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

    /// The path for image or clip `index` of a batch. In a folder it is the next free name with this extension.
    pub(super) fn path_for(&self, index: u32, seed: u64, date: Date, extension: &str) -> PathBuf {
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
                folder.join(format!("{date}-{:04}-{seed}.{extension}", highest_number(folder, date) + 1))
            }
        }
    }

    /// Writes image or clip `index` of a batch and returns its path. Clips use the codec. If that fails, it goes to
    /// [`fallback_folder`] as PNG or MP4, and the error is [`OutputError::KeptElsewhere`].
    pub fn save(
        &self,
        index: u32,
        media: &Media,
        settings: &Settings,
        codec: Codec,
        date: Date,
    ) -> Result<PathBuf, OutputError> {
        self.write(index, media, settings, codec, date).map_err(|cause| {
            let fallback = Self::Folder(fallback_folder());
            let kept = fallback
                .prepare(media.is_clip(), Codec::H264)
                .and_then(|()| fallback.write(index, media, settings, Codec::H264, date));
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
        codec: Codec,
        date: Date,
    ) -> Result<PathBuf, OutputError> {
        let extension = match media {
            Media::Image(_) => "png",
            Media::Clip(_) => codec.extensions()[0],
        };
        let existing = match self {
            Self::File(_) => Existing::Replace,
            Self::Folder(_) => Existing::Keep,
        };
        let mut attempts = 0;
        loop {
            let path = self.path_for(index, settings.seed, date, extension);
            attempts += 1;
            match clip_file::write(&path, media, settings, codec, existing) {
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
