//! Clips that are folders of images, one for each frame.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{ClipError, MOST_FRAMES};
use crate::{
    output::Image,
    request::SourceClip,
    source::{fitted, is_image_name, read},
};

/// The images of a folder, sorted by name.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, ClipError> {
    let failed = |cause| ClipError::Read { path: folder.to_owned(), cause };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if is_image_name(&path) {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Err(ClipError::NoFrames { path: folder.to_owned() });
    }
    files.sort();
    Ok(files)
}

/// Reads the frames of a range.
pub(super) fn read_frames(wanted: &SourceClip, (width, height): (u32, u32)) -> Result<Vec<Image>, ClipError> {
    let path = &wanted.path;
    let files = files(path)?;
    let range = wanted.range.of(files.len() as u32);
    if range.is_empty() {
        let (frames, start) = (files.len() as u32, wanted.range.start);
        return Err(ClipError::BeyondEnd { path: path.clone(), frames, start });
    }
    if range.len() > MOST_FRAMES as usize {
        return Err(ClipError::TooLong { path: path.clone(), frames: range.len() as u32 });
    }
    let frame = |file: &PathBuf| {
        let damaged = |error: crate::source::SourceError| ClipError::Damaged {
            path: path.clone(),
            detail: error.to_string(),
        };
        Ok(fitted(&read(file).map_err(damaged)?, wanted.fit, width, height))
    };
    files[range.start as usize..range.end as usize].iter().map(frame).collect()
}
