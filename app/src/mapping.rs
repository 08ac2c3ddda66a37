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

/// The map of an image, or a clip of those of its frames with its sound, for a preprocessor without a network.
///
/// # Errors
/// When the file is damaged, or needs ffmpeg and that is not there.
pub fn maps_of(path: &Path, given: &GivenMedia, preprocessor: Preprocessor) -> Result<Media, SourceError> {
    let map = |image| mapped(image, preprocessor);
    if given.clip.is_none() {
        return Ok(Media::Image(map(read(path)?)));
    }
    let frames = given.read(path)?.into_iter().map(map).collect();
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
    use super::*;

    #[test]
    fn every_preprocessor_of_clips_makes_maps() {
        let all: Vec<_> = Preprocessor::of_clips().filter(|own| *own != Preprocessor::None).collect();
        assert_eq!(all, MAKERS);
        assert_eq!(name_of_result(Path::new("in/my.walk.mov"), MAKERS[0], "mp4"), "my.walk-canny.mp4");
    }
}
