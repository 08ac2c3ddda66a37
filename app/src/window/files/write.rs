//! Writes masks, frames, parts of clips, and copies of images.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use egui::ColorImage;
use sluice_engine::{
    output::{
        Clip, Codec, Image, Media, Settings, StillFormat, export_image, read_settings, write_media, write_png,
    },
    request::Request,
    session::Failure,
};

use super::Well;
use crate::{
    language::tr,
    window::{
        collection::write_copy,
        state::{color_image, file_name},
    },
};

/// A kind of file for clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipFormat {
    /// A video that plays everywhere.
    Mp4,
    /// An animated image for web pages.
    WebP,
    /// An animated image for everything old.
    Gif,
    /// A folder with a PNG file for each frame.
    Frames,
}

impl ClipFormat {
    /// All of them, with the usual one first.
    pub const ALL: [Self; 4] = [Self::Mp4, Self::WebP, Self::Gif, Self::Frames];

    /// Its name in menus.
    pub fn title(self) -> String {
        match self {
            Self::Mp4 => tr!("files-format-mp4"),
            Self::WebP => tr!("files-format-webp"),
            Self::Gif => tr!("files-format-gif"),
            Self::Frames => tr!("files-format-frames"),
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Mp4 => ".mp4",
            Self::WebP => ".webp",
            Self::Gif => ".gif",
            // Without a separator at the end, a dot in the name would begin an extension.
            Self::Frames => "/",
        }
    }
}

/// A part of a clip for a new file.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// The clip.
    pub clip: Arc<Clip>,
    /// The first and the last frame.
    pub range: (u32, u32),
    /// The kind of file.
    pub format: ClipFormat,
    /// The folder.
    pub folder: PathBuf,
    /// Name of the clip, without extension.
    pub name: String,
    /// The file of the whole clip, for its settings.
    pub original: Option<PathBuf>,
    /// The request that generated it.
    pub request: Option<Request>,
}

/// A frame of a clip for a new file.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedFrame {
    /// The clip.
    pub clip: Arc<Clip>,
    /// The frame, from 0.
    pub frame: u32,
    /// The folder.
    pub folder: PathBuf,
    /// Name of the clip, without extension.
    pub name: String,
    /// The file of the clip, for its settings.
    pub original: Option<PathBuf>,
    /// The request that generated it.
    pub request: Option<Request>,
    /// The well that it is used in.
    pub well: Option<Well>,
}

/// A copy of an image under a name that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedImage {
    /// The file of the image, if it was saved.
    pub original: Option<PathBuf>,
    /// Its pixels, if it was not.
    pub pixels: Option<Arc<ColorImage>>,
    /// The request that generated it.
    pub request: Option<Request>,
    /// The chosen name. A file that is there is replaced.
    pub path: PathBuf,
    /// The quality of lossy formats, 1…100.
    pub quality: u8,
}

/// The format of an image by the extension of its name, if that names one.
fn format_of(path: &Path) -> Option<StillFormat> {
    let extension = path.extension()?.to_str()?.to_lowercase();
    match extension.as_str() {
        "jpeg" => Some(StillFormat::Jpeg),
        known => StillFormat::ALL.into_iter().find(|format| format.extension() == known),
    }
}

/// The name under which an image is saved: the chosen one, which names a format, or else the same as a PNG.
pub fn named_image(chosen: &Path) -> (PathBuf, StillFormat) {
    match format_of(chosen) {
        Some(format) => (chosen.to_owned(), format),
        None => {
            let format = StillFormat::default();
            let name = format!("{}.{}", file_name(chosen), format.extension());
            (chosen.with_file_name(name), format)
        }
    }
}

/// Writes a copy of an image with its settings. Returns its file.
pub(super) fn save_image(saved: &SavedImage) -> Result<PathBuf, Failure> {
    let (path, format) = named_image(&saved.path);
    let is_chosen = path == saved.path;
    if !path.exists() {
        write_image(saved, &path, format)?;
        return Ok(path);
    }
    let failed = |error: io::Error| Failure {
        message: format!("{}: {error}", path.display()),
        advice: Some(tr!("gallery-export-advice")),
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    if !is_chosen {
        // Nobody was asked whether this one may be replaced.
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let free = free_name(folder, &name, &format!(".{}", format.extension()));
        write_image(saved, &free, format)?;
        return Ok(free);
    }
    // The file that is there stays until the new one is whole.
    let beside = tempfile::tempdir_in(folder).map_err(failed)?;
    let whole = beside.path().join(file_name(&path));
    write_image(saved, &whole, format)?;
    fs::rename(&whole, &path).map_err(failed)?;
    Ok(path)
}

/// Writes it into a file that is not there yet.
fn write_image(saved: &SavedImage, path: &Path, format: StillFormat) -> Result<(), Failure> {
    if let Some(original) = &saved.original {
        return write_copy(original, path, format, saved.quality, true);
    }
    let image = saved.pixels.as_deref().map_or_else(|| Image::opaque(0, 0, Vec::new()), opaque);
    let settings = saved.request.as_ref().map(|request| settings_of(None, Some(request)));
    export_image(path, &image, format, saved.quality, settings.as_ref()).map_err(|error| Failure {
        message: error.to_string(),
        advice: error.advice().map(str::to_owned).or_else(|| Some(tr!("gallery-export-advice"))),
    })
}

/// An image as it is drawn, without its transparency.
fn opaque(image: &ColorImage) -> Image {
    let [width, height] = image.size.map(|side| side as u32);
    let pixels = image.pixels.iter().flat_map(|pixel| {
        let [red, green, blue, _] = pixel.to_srgba_unmultiplied();
        [red, green, blue]
    });
    Image::opaque(width, height, pixels.collect())
}

/// Writes a part of a clip under a new name, with the settings of the clip.
pub(super) fn export_clip(export: &Export) -> Result<PathBuf, Failure> {
    let Export { clip, range: (first, last), format, folder, name, original, request } = export;
    let advice = || Some(tr!("files-not-saved-advice"));
    fs::create_dir_all(folder)
        .map_err(|error| Failure { message: format!("{}: {error}", folder.display()), advice: advice() })?;
    let part = clip.frames.get(*first as usize..=*last as usize).unwrap_or_default();
    let seconds = |frame: u32| f64::from(frame) / f64::from(clip.rate);
    let sound = clip.sound.as_ref().and_then(|sound| sound.part(seconds(*first)..seconds(last + 1)));
    let media = Media::Clip(Clip { frames: part.to_vec(), rate: clip.rate, sound });
    let settings = settings_of(original.as_deref(), request.as_ref());
    let path = free_name(folder, &format!("{name} {}-{}", first + 1, last + 1), format.extension());
    write_media(&path, &media, &settings, Codec::H264).map_err(|error| Failure {
        message: error.to_string(),
        advice: error.advice().map(str::to_owned).or_else(advice),
    })?;
    Ok(path)
}

/// The settings of a clip: those in its file, or those of the request that generated it.
fn settings_of(original: Option<&Path>, request: Option<&Request>) -> Settings {
    if let Some(restored) = original.and_then(|path| read_settings(path).ok()) {
        return restored.settings;
    }
    let request = request.cloned().unwrap_or_default();
    let model = request.model.resolve().map(|path| file_name(&path)).unwrap_or_default();
    Settings::new(&request, &model, "", 0)
}

/// Saves a mask under a new name.
pub(super) fn save_mask(folder: &Path, name: &str, mask: &Image) -> io::Result<PathBuf> {
    save(folder, &format!("{name} mask"), mask)
}

/// Saves an image from the clipboard under a new name, without its transparency. Returns what was saved too.
pub(super) fn save_pasted(folder: &Path, pasted: &ColorImage) -> io::Result<(PathBuf, ColorImage)> {
    let image = opaque(pasted);
    let pixels = color_image(&image).ok_or_else(|| io::Error::other("the image is not complete"))?;
    Ok((save(folder, "pasted", &image)?, pixels))
}

/// Saves a frame under a new name, with the settings of its clip. Returns its pixels too.
pub(super) fn save_frame(saved: &SavedFrame) -> io::Result<(PathBuf, ColorImage)> {
    let SavedFrame { clip, frame, folder, name, original, request, .. } = saved;
    let image = clip.frames.get(*frame as usize).ok_or_else(|| io::Error::other("the clip is shorter"))?;
    let pixels = color_image(image).ok_or_else(|| io::Error::other("the frame is not complete"))?;
    fs::create_dir_all(folder)?;
    let path = free_name(folder, &format!("{name} frame {}", frame + 1), ".png");
    let settings = settings_of(original.as_deref(), request.as_ref());
    write_png(&path, &Media::Image(image.clone()), &settings).map_err(io::Error::other)?;
    Ok((path, pixels))
}

fn save(folder: &Path, name: &str, image: &Image) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = free_name(folder, name, ".png");
    image::save_buffer(&path, &image.pixels, image.width, image.height, image::ColorType::Rgb8)
        .map_err(io::Error::other)?;
    Ok(path)
}

/// A path that does not exist yet.
fn free_name(folder: &Path, name: &str, extension: &str) -> PathBuf {
    let named = |number: u32| match number {
        1 => folder.join(format!("{name}{extension}")),
        _ => folder.join(format!("{name} {number}{extension}")),
    };
    (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1))
}

#[cfg(test)]
mod tests {
    use egui::Color32;
    use sluice_engine::source;

    use super::*;

    fn saved(original: Option<PathBuf>, path: PathBuf) -> SavedImage {
        let pixels = original.is_none().then(|| Arc::new(ColorImage::filled([8, 4], Color32::RED)));
        let request = Some(Request { seed: 9, ..Request::default() });
        SavedImage { original, pixels, request, path, quality: 90 }
    }

    #[test]
    fn the_name_says_the_format_of_a_copy_which_has_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("boat.png");
        let request = Request { seed: 7, ..Request::default() };
        let image = Image::opaque(40, 24, (0..40 * 24 * 3).map(|n| n as u8).collect());
        write_png(&original, &Media::Image(image), &Settings::new(&request, "Starter", "", 0)).unwrap();
        for (name, wanted) in
            [("a.png", "a.png"), ("a.JPEG", "a.JPEG"), ("a.webp", "a.webp"), ("v2.1", "v2.1.png")]
        {
            let chosen = saved(Some(original.clone()), folder.path().join(name));
            let path = save_image(&chosen).unwrap();
            assert_eq!(path, folder.path().join(wanted));
            let read = source::read(&path).unwrap();
            assert_eq!((read.width, read.height), (40, 24), "{name}");
            assert_eq!(read_settings(&path).unwrap().settings.seed, 7, "{name}");
        }
        assert_eq!(fs::read(folder.path().join("a.JPEG")).unwrap()[..2], [0xff, 0xd8]);
        let again = saved(Some(original), folder.path().join("v2.1"));
        assert_eq!(
            save_image(&again).unwrap(),
            folder.path().join("v2.1 2.png"),
            "nothing is replaced unasked"
        );
    }

    #[test]
    fn an_image_without_a_file_replaces_the_one_that_was_chosen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("boat.png");
        fs::write(&path, "something else").unwrap();
        assert_eq!(save_image(&saved(None, path.clone())).unwrap(), path);
        let read = source::read(&path).unwrap();
        assert_eq!((read.width, read.height, read.pixels[0]), (8, 4, 255));
        assert_eq!(read_settings(&path).unwrap().settings.seed, 9);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let gone = saved(Some(folder.path().join("gone.png")), path.clone());
        assert!(save_image(&gone).is_err());
        assert!(source::read(&path).is_ok(), "it stays as it was");
    }

    #[test]
    fn a_range_becomes_a_folder_although_the_name_has_a_dot() {
        let folder = tempfile::tempdir().unwrap();
        let frame = |shade: u8| Image::opaque(4, 2, vec![shade; 24]);
        let export = Export {
            clip: Arc::new(Clip::silent((0..5).map(frame).collect(), 8.0)),
            range: (1, 3),
            format: ClipFormat::Frames,
            folder: folder.path().to_owned(),
            name: "wan-2.1 boat".to_owned(),
            original: None,
            request: None,
        };
        let path = export_clip(&export).unwrap();
        assert_eq!(path, folder.path().join("wan-2.1 boat 2-4"));
        assert_eq!(fs::read_dir(&path).unwrap().count(), 3);
        assert_eq!(export_clip(&export).unwrap(), folder.path().join("wan-2.1 boat 2-4 2"));
    }
}
