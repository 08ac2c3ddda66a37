//! The input image of a run, its mask, and a dropped image that may become one.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::ColorImage;
use sluice_engine::{
    checkpoint::MapKind,
    output::Media,
    request::{ControlNet, MapOf, Preprocessor, Request, SourceImage},
    session::Picture,
};

use super::{Pixels, color_image, mask::MaskPainting};
use crate::window::image_settings::ImageSettings;

/// The state of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileState {
    /// Being read.
    Reading,
    /// Its pixels.
    Read(Arc<ColorImage>),
    /// Unreadable, with the reason.
    Unreadable(String),
}

/// What is to be read.
#[derive(Debug, Clone, PartialEq)]
pub enum Wanted {
    /// A file.
    File(PathBuf),
    /// The map of a ControlNet for images of this width and height.
    Map(Box<ControlNet>, [u32; 2]),
}

/// The name of a ControlNet's map among the files, if it is not the image itself. No file has such a name.
pub fn map_name(net: &ControlNet, [width, height]: [u32; 2]) -> Option<PathBuf> {
    let ControlNet { image, preprocessor, fit, .. } = net;
    let name = || format!("{}\0{} {} {width} {height}", image.display(), preprocessor.name(), fit.name());
    match preprocessor {
        _ if image.as_os_str().is_empty() => None,
        Preprocessor::None | Preprocessor::Inpaint => None,
        _ => Some(preprocessor.estimated().map_or_else(|| name().into(), |kind| estimated_name(kind, image))),
    }
}

/// The name among the files of the map that a network makes of a whole image.
fn estimated_name(kind: MapKind, image: &Path) -> PathBuf {
    format!("{}\0{}", image.display(), kind.id()).into()
}

/// The pixels of the input image and of its mask.
#[derive(Debug, Default)]
pub struct InputFiles {
    files: Vec<(PathBuf, FileState)>,
    /// Lengths of clips in seconds.
    lengths: Vec<(PathBuf, f64)>,
}

impl InputFiles {
    /// The state of a file.
    pub fn get(&self, path: &Path) -> Option<&FileState> {
        self.files.iter().find(|(known, _)| known == path).map(|(_, state)| state)
    }

    /// The pixels of a file, once they are loaded.
    pub fn pixels(&self, path: &Path) -> Option<&Arc<ColorImage>> {
        match self.get(path) {
            Some(FileState::Read(image)) => Some(image),
            _ => None,
        }
    }

    /// The length of a clip in seconds, once it is known.
    pub fn seconds(&self, path: &Path) -> Option<f64> {
        self.lengths.iter().find(|(known, _)| known == path).map(|(_, seconds)| *seconds)
    }

    /// A file to load now; forgets files that are no longer used.
    pub fn wanted(&mut self, request: &Request) -> Option<Wanted> {
        let source = request.source.as_ref();
        let mask = source.and_then(|source| source.mask.as_ref()).map(|mask| &mask.path);
        let named = source.map(|source| &source.path).into_iter().chain(mask);
        let clip = request.clip.as_ref().map(|clip| &clip.path);
        let keyframes = request.keyframes.iter().map(|keyframe| &keyframe.path);
        let control = request.control.iter().flat_map(|control| control.video.iter().chain(&control.mask));
        let named = named.chain(&request.last_image).chain(&request.references).chain(clip);
        let steering = request.control_nets.iter().map(|net| &net.image);
        let steering = steering.filter(|image| !image.as_os_str().is_empty());
        let size = [request.width, request.height];
        let maps: Vec<(PathBuf, &ControlNet)> =
            request.control_nets.iter().filter_map(|net| Some((map_name(net, size)?, net))).collect();
        let prompting = request.image_prompts.iter().flat_map(|prompt| &prompt.images);
        let named = named.chain(keyframes).chain(control).chain(steering).chain(prompting);
        let named = named.chain(maps.iter().map(|(name, _)| name));
        let named: Vec<&PathBuf> = named.collect();
        self.files.retain(|(path, _)| named.contains(&path));
        self.lengths.retain(|(path, _)| named.contains(&path));
        // The engine makes the maps of networks, when it is asked to.
        let is_estimated = |path: &PathBuf| {
            maps.iter().any(|(name, net)| name == path && net.preprocessor.estimated().is_some())
        };
        let is_missing = |path: &&PathBuf| self.get(path).is_none() && !is_estimated(path);
        let missing = named.into_iter().find(is_missing)?.clone();
        self.files.push((missing.clone(), FileState::Reading));
        let map = maps.into_iter().find(|(name, _)| *name == missing);
        Some(match map {
            Some((_, net)) => Wanted::Map(Box::new(net.clone()), size),
            None => Wanted::File(missing),
        })
    }

    /// Stores the map of an image, which the engine has made.
    pub fn take_map(&mut self, wanted: &MapOf, maps: &[Picture]) {
        let made = maps.first().and_then(|map| match &map.media {
            Media::Image(map) => color_image(map),
            Media::Clip(_) => None,
        });
        if let Some(map) = made {
            let name = estimated_name(wanted.kind, &wanted.image);
            self.files.retain(|(known, _)| *known != name);
            self.files.push((name, FileState::Read(Arc::new(map))));
        }
    }

    /// Stores the result of reading a file. Of a clip, this is its first frame, and `seconds` its length.
    pub fn take(&mut self, path: &Path, read: Result<ColorImage, String>, seconds: Option<f64>) {
        self.lengths.extend(seconds.map(|seconds| (path.to_owned(), seconds)));
        if let Some((_, state)) = self.files.iter_mut().find(|(known, _)| known == path) {
            *state = match read {
                Ok(image) => FileState::Read(Arc::new(image)),
                Err(message) => FileState::Unreadable(message),
            };
        }
    }
}

/// An image with generation settings that was dropped on the window. It may be meant as the input image, or
/// for its settings.
#[derive(Debug)]
pub struct Dropped {
    /// Its file.
    pub path: PathBuf,
    /// Its pixels.
    pub pixels: Pixels,
    /// The settings that generated it.
    pub settings: Box<ImageSettings>,
}

/// A mask that was painted and applied.
#[derive(Debug)]
pub struct Applied {
    /// What was painted.
    pub mask: MaskPainting,
    /// Its file, once it is saved.
    pub path: Option<PathBuf>,
}

impl Applied {
    /// Whether it is the mask of an input image, or becomes it.
    fn is_of(&self, source: &SourceImage) -> bool {
        let path = source.mask.as_ref().map(|mask| &mask.path);
        source.path == self.mask.image && (self.path.is_none() || self.path.as_ref() == path)
    }
}

/// State of the input image that is not part of the request.
#[derive(Debug, Default)]
pub struct InputImage {
    /// Pixels of the image and its mask.
    pub files: InputFiles,
    /// The first reference image, if it was just added: once it is read, the next image gets its size.
    pub gives_size: Option<PathBuf>,
    /// A mask that is being painted.
    pub painting: Option<MaskPainting>,
    /// The mask that was applied, while it is shown.
    pub applied: Option<Applied>,
    /// The input image for which a mask is painted as soon as it is read.
    pub paints: Option<PathBuf>,
    /// An image that was dropped on the window.
    pub dropped: Option<Dropped>,
}

impl InputImage {
    /// Starts painting a mask for the input image, initialized from its current mask.
    pub fn paint_mask(&mut self, source: &SourceImage) {
        let Some(image) = self.files.pixels(&source.path) else { return };
        let before = source.mask.as_ref().and_then(|mask| self.files.pixels(&mask.path));
        let before = before.map(|mask| &**mask);
        self.painting = Some(MaskPainting::new(source.path.clone(), image.size, before));
    }

    /// The same as soon as the image is read. A mask that is being painted for it stays.
    pub fn paint_mask_soon(&mut self, source: &SourceImage) {
        let paints = |painting: &Option<MaskPainting>| {
            painting.as_ref().is_some_and(|painting| painting.image == source.path)
        };
        if !paints(&self.painting) {
            self.paint_mask(source);
        }
        self.paints = (!paints(&self.painting)).then(|| source.path.clone());
    }

    /// Ends painting if the image is no longer the input image.
    pub fn end_painting_of_another(&mut self, source: Option<&SourceImage>) {
        let path = source.map(|source| &source.path);
        self.painting.take_if(|painting| Some(&painting.image) != path);
    }

    /// Whether the mask that was applied is still that of the input image.
    pub fn has_applied(&self, source: Option<&SourceImage>) -> bool {
        self.applied.as_ref().zip(source).is_some_and(|(applied, source)| applied.is_of(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::state::Draft;

    #[test]
    fn files_are_read_once_and_forgotten_with_the_settings() {
        let (mut files, mut draft) = (InputFiles::default(), Draft::default());
        let wanted = |files: &mut InputFiles, draft: &Draft| match files.wanted(&draft.request) {
            Some(Wanted::File(path)) => Some(path),
            Some(Wanted::Map(..)) => panic!("there is no ControlNet"),
            None => None,
        };
        assert_eq!(wanted(&mut files, &draft), None);
        draft.use_input_image("fox.png".into());
        draft.use_mask("mask.png".into());
        assert_eq!(wanted(&mut files, &draft), Some("fox.png".into()));
        assert_eq!(wanted(&mut files, &draft), Some("mask.png".into()));
        assert_eq!(wanted(&mut files, &draft), None);
        files.take(Path::new("fox.png"), Ok(ColorImage::filled([2, 1], egui::Color32::RED)), None);
        files.take(Path::new("mask.png"), Err("gone".to_owned()), None);
        assert!(files.pixels(Path::new("fox.png")).is_some_and(|image| image.size == [2, 1]));
        assert!(files.pixels(Path::new("mask.png")).is_none());
        draft.use_input_image("dog.png".into());
        assert!(draft.request.source.as_ref().is_some_and(|source| source.mask.is_none()));
        assert_eq!(wanted(&mut files, &draft), Some("dog.png".into()));
        assert!(files.pixels(Path::new("fox.png")).is_none());
    }
}
