//! Where images are written.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Date, Media, OutputError, Settings,
    png_file::{folder_of, temporary_file, write_new_png, write_png},
};

/// Where images are written.
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
    /// Creates the folder and tries to write to it, so that a long run does not end with an image that cannot be saved.
    pub fn prepare(&self) -> Result<(), OutputError> {
        let folder = match self {
            Self::File(path) => {
                if path.is_dir() {
                    return Err(OutputError::IsFolder { path: path.clone() });
                }
                if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
                    return Err(OutputError::Extension { path: path.clone() });
                }
                folder_of(path)
            }
            Self::Folder(folder) => folder,
        };
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

    /// The path for image `index` of a batch. In a folder it is the next free name.
    pub fn path_for(&self, index: u32, seed: u64, date: Date) -> PathBuf {
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
                folder.join(format!("{date}-{:04}-{seed}.png", highest_number(folder, date) + 1))
            }
        }
    }

    /// Writes image `index` of a batch and returns its path. If that fails, the image goes to [`fallback_folder`] and the
    /// error is [`OutputError::KeptElsewhere`].
    pub fn save(
        &self,
        index: u32,
        media: &Media,
        settings: &Settings,
        date: Date,
    ) -> Result<PathBuf, OutputError> {
        self.write(index, media, settings, date).map_err(|cause| {
            let fallback = Self::Folder(fallback_folder());
            let kept = fallback.prepare().and_then(|()| fallback.write(index, media, settings, date));
            match kept {
                Ok(path) => OutputError::KeptElsewhere { path, cause: Box::new(cause) },
                Err(error) => {
                    tracing::warn!(%error, "the image could not be saved elsewhere either");
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
        date: Date,
    ) -> Result<PathBuf, OutputError> {
        let mut attempts = 0;
        loop {
            let path = self.path_for(index, settings.seed, date);
            attempts += 1;
            let result = match self {
                Self::File(_) => write_png(&path, media, settings),
                Self::Folder(_) => write_new_png(&path, media, settings),
            };
            match result {
                Err(OutputError::Exists { .. }) if attempts < ATTEMPTS => {}
                result => return result.map(|()| path),
            }
        }
    }
}

/// The folder for images that could not be written where they should.
pub fn fallback_folder() -> PathBuf {
    env::temp_dir().join("sluice-pictures")
}

/// The highest number of an image of this day in the folder. A folder that cannot be read has none; the write that
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
