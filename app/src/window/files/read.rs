//! Reads images and clips.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::ColorImage;
use image::{
    AnimationDecoder as _, DynamicImage, Frames, ImageError, ImageFormat, ImageReader,
    codecs::{gif::GifDecoder, png::PngDecoder, webp::WebPDecoder},
};
use sluice_engine::{
    output::{Clip, Image},
    request::{ControlNet, FrameRange, SourceClip},
    session::Failure,
    source::{self, ClipError, ClipInfo, control_map, read_clip, read_sound},
};

use super::{
    FileEvent,
    extensions::{CLIP_EXTENSIONS, SAVED_EXTENSIONS, has_extension},
};
use crate::language::tr;
use crate::window::{
    collection::EXPORTED,
    image_settings::{ImageSettings, read_image_settings},
    state::{ClipLength, Pixels, Recents, color_image, is_clip, thumbnail},
};

/// The most subfolders of a folder whose newest images are listed: those that were changed last.
const SUBFOLDERS: usize = 8;
/// Subfolders of what images are made of, and of copies.
const WITHOUT_RESULTS: [&str; 3] = ["frames", "masks", EXPORTED];
/// The first file of a clip that is kept as images.
const FIRST_FRAME: &str = "frame-00001.png";
/// How deep they are below the folder of the results.
const DEPTH: usize = 2;

/// The newest images and clips of a folder and of its subfolders, newest first. A missing folder has none.
pub(super) fn newest_images(folder: &Path) -> Vec<PathBuf> {
    let mut images = Vec::new();
    list_images(folder, DEPTH, SUBFOLDERS, &mut images);
    newest(folder, images)
}

/// All images and clips of a folder and of its subfolders.
pub(super) fn all_images(folder: &Path) -> Vec<PathBuf> {
    let mut images = Vec::new();
    list_images(folder, DEPTH, usize::MAX, &mut images);
    images
}

/// The newest of the images in a folder and of those in its subfolders, newest first.
pub(super) fn newest(folder: &Path, images: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut images = newest_first(images);
    // Subfolders may have any number that were not generated.
    let (mut own, mut others) = (0, 0);
    images.retain(|path| {
        let count = if path.parent() == Some(folder) { &mut own } else { &mut others };
        *count += 1;
        *count <= Recents::LIMIT
    });
    images
}

/// Files or folders in the order of their last changes, without those that are gone.
fn newest_first(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let changed = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).ok();
    let mut all: Vec<_> = paths.into_iter().filter_map(|path| Some((changed(&path)?, path))).collect();
    all.sort_by(|a, b| b.cmp(a));
    all.into_iter().map(|(_, path)| path).collect()
}

fn list_images(folder: &Path, depth: usize, subfolders: usize, images: &mut Vec<PathBuf>) {
    // The frames of one clip.
    if depth < DEPTH && folder.join(FIRST_FRAME).exists() {
        return;
    }
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) => {
            tracing::debug!(folder = %folder.display(), %error, "no images yet");
            return;
        }
    };
    let mut folders = Vec::new();
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        // A link may lead anywhere, and back.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let has_results = !name.starts_with('.') && !WITHOUT_RESULTS.contains(&&*name);
        match is_folder {
            true if depth > 0 && has_results => folders.push(path),
            false if has_extension(&path, &SAVED_EXTENSIONS) => images.push(path),
            _ => {}
        }
    }
    for folder in newest_first(folders).iter().take(subfolders) {
        list_images(folder, depth - 1, subfolders, images);
    }
}

/// The settings in a file, if it contains any.
pub(super) fn settings_inside(path: &Path) -> Option<Box<ImageSettings>> {
    match read_image_settings(path) {
        Ok(settings) => Some(Box::new(settings)),
        Err(failure) => {
            tracing::debug!(path = %path.display(), failure.message, "no settings inside");
            None
        }
    }
}

/// The settings that generated a file, if it contains them.
pub(super) fn generated_by(path: &Path) -> Option<Box<ImageSettings>> {
    settings_inside(path).filter(|settings| settings.is_generated())
}

/// The prompt and the negative prompt in each of these images that has settings.
pub(super) fn prompts_inside(paths: Vec<PathBuf>) -> Vec<(PathBuf, [String; 2])> {
    let prompts = |path: PathBuf| {
        let request = generated_by(&path)?.request;
        Some((path, [request.prompt, request.negative_prompt]))
    };
    paths.into_iter().filter_map(prompts).collect()
}

/// An image as the engine reads it.
pub(super) fn read_input(path: &Path) -> Result<ColorImage, Failure> {
    let read = source::read(path)
        .map_err(|error| Failure { message: error.to_string(), advice: Some(error.advice().to_owned()) })?;
    let size = [read.width as usize, read.height as usize];
    Ok(ColorImage::from_rgb(size, &read.pixels))
}

/// The pixels of an input image, or of the first frame of an input clip and its length in seconds.
pub(super) fn read_input_file(path: &Path) -> (Result<ColorImage, Failure>, Option<f64>) {
    if !has_extension(path, &CLIP_EXTENSIONS) {
        return (read_input(path), None);
    }
    let first = video(path, Some(1)).and_then(|clip| match clip.frames.as_slice() {
        [first, ..] => Ok(ColorImage::from_rgb([first.width as usize, first.height as usize], &first.pixels)),
        [] => Err(failure(path, &ImageError::IoError(std::io::ErrorKind::UnexpectedEof.into()))),
    });
    let seconds = video_info(path).map(|info| info.seconds);
    (first, seconds.ok())
}

/// The map of a ControlNet for images of this width and height; `None` if a network makes it.
pub(super) fn read_map(net: &ControlNet, size: [u32; 2]) -> Option<Result<ColorImage, Failure>> {
    let map = control_map(net, size)
        .map_err(|error| Failure { message: error.to_string(), advice: Some(error.advice().to_owned()) });
    let image = |map: Image| ColorImage::from_rgb([map.width as usize, map.height as usize], &map.pixels);
    map.transpose().map(|map| Ok(image(map?)))
}

/// The pixels of an image or, if it is a video or an animation, of a clip.
pub(super) fn read_pixels(path: &Path) -> Result<Pixels, Failure> {
    if has_extension(path, &CLIP_EXTENSIONS) {
        return video(path, None).map(|clip| Pixels::Clip(Arc::new(clip)));
    }
    decode(path).map_err(|error| failure(path, &error))
}

/// The thumbnail of an image, or of the first frame of a clip. The length of a clip, if its header has it.
pub(super) fn read_thumbnail(path: &Path) -> Result<(ColorImage, Option<ClipLength>), Failure> {
    let (first, length) = read_first(path)?;
    Ok((thumbnail(&first), length))
}

/// An image, or the first frame of a clip. The length of a clip, if its header has it.
pub fn read_first(path: &Path) -> Result<(ColorImage, Option<ClipLength>), Failure> {
    if is_video(path) {
        let ClipInfo { frames, rate, .. } = video_info(path)?;
        let clip = video(path, Some(1))?;
        let first = clip.frames.first().and_then(color_image).unwrap_or_default();
        return Ok((first, Some(ClipLength { frames, rate: rate as f32 })));
    }
    let first = open(path).and_then(ImageReader::decode).map_err(|error| failure(path, &error))?;
    Ok((still(first), None))
}

/// The length of a clip by its settings, where its header does not have it.
pub(super) fn length_of(settings: Option<&ImageSettings>) -> Option<ClipLength> {
    settings.map(|settings| &settings.request).filter(|request| request.frames > 1).map(ClipLength::of)
}

/// Whether a file is a video by its name.
pub fn is_video(path: &Path) -> bool {
    has_extension(path, &CLIP_EXTENSIONS)
}

/// Width and height of an image, from its header.
pub fn still_size(path: &Path) -> Result<[u32; 2], String> {
    let size = open(path).and_then(ImageReader::into_dimensions).map_err(|error| error.to_string())?;
    Ok(size.into())
}

/// Whether an image has several frames, from its header. GIF files are taken for animations.
pub fn is_moving(path: &Path) -> bool {
    let Ok(reader) = open(path) else { return false };
    match reader.format() {
        Some(ImageFormat::Png) => {
            PngDecoder::new(reader.into_inner()).and_then(|decoder| decoder.is_apng()).unwrap_or(false)
        }
        Some(ImageFormat::WebP) => {
            WebPDecoder::new(reader.into_inner()).is_ok_and(|decoder| decoder.has_animation())
        }
        format => format == Some(ImageFormat::Gif),
    }
}

/// Whether an image moves.
pub(super) fn is_animation(path: &Path) -> bool {
    matches!(decode(path), Ok(Pixels::Clip(_)))
}

/// A clip is good for its settings or as the input clip.
pub(super) fn dropped_clip(path: PathBuf) -> FileEvent {
    match read_pixels(&path) {
        Ok(pixels) => FileEvent::Dropped { settings: generated_by(&path), path, pixels },
        Err(failure) => FileEvent::Failed { title: tr!("app-clip-unusable"), failure },
    }
}

/// The first frames of a video, or all of them.
fn video(path: &Path, end: Option<u32>) -> Result<Clip, Failure> {
    let ClipInfo { width, height, rate, seconds, .. } = video_info(path)?;
    let range = FrameRange { start: 0, end };
    let wanted = SourceClip { path: path.to_owned(), range, ..SourceClip::default() };
    let frames = read_clip(&wanted, None, (width, height)).map_err(|error| explained(&error))?;
    let whole = end.is_none().then_some(0.0..seconds);
    let sound = whole.map_or(Ok(None), |whole| read_sound(path, whole)).unwrap_or_else(|error| {
        tracing::warn!(path = %path.display(), %error, "the clip has no sound");
        None
    });
    let clip = Clip { frames, rate: rate as f32, sound };
    match is_clip(&clip) {
        true => Ok(clip),
        false => Err(Failure {
            message: tr!("files-no-frames", path = path.display()),
            advice: Some(tr!("files-no-frames-advice")),
        }),
    }
}

fn video_info(path: &Path) -> Result<ClipInfo, Failure> {
    let info = ClipInfo::open(path).map_err(|error| explained(&error))?;
    info.ok_or_else(|| Failure {
        message: tr!("files-no-mp4", path = path.display()),
        advice: Some(tr!("files-no-mp4-advice")),
    })
}

fn explained(error: &ClipError) -> Failure {
    Failure { message: error.to_string(), advice: Some(error.advice().to_owned()) }
}

fn failure(path: &Path, error: &ImageError) -> Failure {
    Failure {
        message: tr!("files-unreadable", path = path.display(), error = error.to_string()),
        advice: Some(tr!("files-unreadable-advice")),
    }
}

fn open(path: &Path) -> Result<ImageReader<BufReader<File>>, ImageError> {
    Ok(ImageReader::open(path)?.with_guessed_format()?)
}

fn decode(path: &Path) -> Result<Pixels, ImageError> {
    let reader = open(path)?;
    let frames = match reader.format() {
        Some(ImageFormat::Png) => {
            let decoder = PngDecoder::new(reader.into_inner())?;
            if decoder.is_apng()? { Some(decoder.apng()?.into_frames()) } else { None }
        }
        Some(ImageFormat::WebP) => {
            let decoder = WebPDecoder::new(reader.into_inner())?;
            decoder.has_animation().then(|| decoder.into_frames())
        }
        Some(ImageFormat::Gif) => Some(GifDecoder::new(reader.into_inner())?.into_frames()),
        _ => None,
    };
    if let Some(clip) = frames.map(animation).transpose()?
        && is_clip(&clip)
        && clip.frames.len() > 1
    {
        return Ok(Pixels::Clip(Arc::new(clip)));
    }
    Ok(Pixels::Image(Arc::new(still(open(path)?.decode()?))))
}

/// The frames of an animation at their mean rate.
fn animation(frames: Frames<'_>) -> Result<Clip, ImageError> {
    let mut clip = Clip::silent(Vec::new(), 0.0);
    let mut seconds = 0.0;
    for frame in frames {
        let frame = frame?;
        let (milliseconds, divisor) = frame.delay().numer_denom_ms();
        seconds += f64::from(milliseconds.max(1)) / f64::from(divisor.max(1)) / 1000.0;
        let pixels = DynamicImage::from(frame.into_buffer()).into_rgb8();
        let (width, height) = pixels.dimensions();
        clip.frames.push(Image::opaque(width, height, pixels.into_raw()));
    }
    clip.rate = (clip.frames.len() as f64 / seconds) as f32;
    Ok(clip)
}

fn still(image: DynamicImage) -> ColorImage {
    let image = image.into_rgb8();
    ColorImage::from_rgb([image.width() as usize, image.height() as usize], image.as_raw())
}
