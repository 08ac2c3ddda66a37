//! Maps of images and clips, and what they are called.

use std::path::{Path, PathBuf};

use sluice_engine::{
    output::{Clip, Media},
    request::{MapOf, ModelSource, Preprocessor, Request},
    source::{GivenMedia, SourceError, mapped, read},
};

/// What makes a map of any image.
pub const MAKERS: [Preprocessor; 12] = [
    Preprocessor::Canny,
    Preprocessor::Lineart,
    Preprocessor::Scribble,
    Preprocessor::Invert,
    Preprocessor::Gray,
    Preprocessor::Blur,
    Preprocessor::Tile,
    Preprocessor::Color,
    Preprocessor::Depth,
    Preprocessor::Pose,
    Preprocessor::Segments,
    Preprocessor::SoftEdge,
];

/// The request for the maps of a file, and what the file's header says. It asks for nothing where no network is needed.
///
/// # Errors
/// When it cannot be read, or is neither an image nor a clip.
pub fn request_of(
    path: &Path,
    preprocessor: Preprocessor,
    model: Option<PathBuf>,
) -> Result<(Request, GivenMedia), SourceError> {
    let given = GivenMedia::open(path)?;
    let model = model.map_or(ModelSource::Starter, ModelSource::Path);
    let map_of = preprocessor.estimated().map(|kind| MapOf { kind, image: path.to_owned() });
    Ok((given.sized(&Request { model, map_of, ..Request::default() }), given))
}

/// Why there are no maps. [`MapError::advice`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// Nobody waits for them any more.
    #[error("the maps were cancelled")]
    Cancelled,
    /// The image or the clip cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl MapError {
    /// What the person can do about it.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Cancelled => None,
            Self::Source(error) => Some(error.advice()),
        }
    }
}

/// The map of an image, or a clip of those of its frames with its sound, for a preprocessor without a network. Whether it
/// `is_cancelled` is asked before each map; decoding the file is not cancelled.
///
/// # Errors
/// When the file is damaged, or needs ffmpeg and that is not there, or when it is cancelled.
pub fn maps_of(
    path: &Path,
    given: &GivenMedia,
    preprocessor: Preprocessor,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Media, MapError> {
    let map = |image| match is_cancelled() {
        true => Err(MapError::Cancelled),
        false => Ok(mapped(image, preprocessor)),
    };
    if given.clip.is_none() {
        return Ok(Media::Image(map(read(path)?)?));
    }
    let frames = given.read(path)?.into_iter().map(map).collect::<Result<_, MapError>>()?;
    let (_, rate) = given.frames();
    Ok(Media::Clip(Clip { frames, rate, sound: given.sound(path)? }))
}

/// The name of a result: `photo-depth.png` of `photo.jpg`.
pub fn name_of_result(input: &Path, preprocessor: Preprocessor, extension: &str) -> String {
    let stem = input.file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}-{}.{extension}", preprocessor.name())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use sluice_engine::source::ClipInfo;

    use super::*;

    #[test]
    fn every_preprocessor_of_clips_makes_maps() {
        let all: Vec<_> = Preprocessor::of_clips().filter(|own| *own != Preprocessor::None).collect();
        assert_eq!(all, MAKERS);
        assert_eq!(name_of_result(Path::new("in/my.walk.mov"), MAKERS[0], "mp4"), "my.walk-canny.mp4");
    }

    #[test]
    fn maps_of_a_clip_are_cancelled_between_two_frames() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..4 {
            image::RgbImage::new(4, 2).save(folder.path().join(format!("{number}.png"))).unwrap();
        }
        let info = ClipInfo {
            width: 4,
            height: 2,
            frames: 4,
            seconds: 0.5,
            rate: 8.0,
            has_sound: false,
            needs_ffmpeg: false,
        };
        let given = GivenMedia { size: [4, 2], clip: Some(info) };
        let asked = Cell::new(0);
        let maps_before = |cancelled: usize| {
            let is_cancelled = || asked.replace(asked.get() + 1) == cancelled;
            maps_of(folder.path(), &given, Preprocessor::Invert, &is_cancelled)
        };
        assert_eq!(maps_before(usize::MAX).unwrap().frames().len(), 4);
        asked.set(0);
        assert!(matches!(maps_before(2), Err(MapError::Cancelled)));
        assert_eq!(asked.get(), 3, "no further map is made");
    }
}
