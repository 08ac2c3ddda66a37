//! Thumbnails, kept on the disk so that files are decoded once.

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use egui::ColorImage;
use image::{ExtendedColorType, ImageFormat, ImageReader, codecs::jpeg::JpegEncoder};

use super::{item::Stamp, marks::write_whole};
use crate::window::{files::read_first, state::shrink};

/// Longer side in pixels.
pub const PIXELS: usize = 256;
const QUALITY: u8 = 85;
/// Most files in the folder, of about 10 kB each.
const MOST: usize = 30_000;

/// The file of a thumbnail. Another version of the image has another one.
fn file_of(folder: &Path, path: &Path, stamp: Stamp) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    (path, stamp, PIXELS).hash(&mut hasher);
    folder.join(format!("{:016x}.jpg", hasher.finish()))
}

/// A thumbnail, from the folder or from the image itself.
pub(super) fn load(folder: Option<&Path>, path: &Path, stamp: Stamp) -> Result<ColorImage, String> {
    let file = folder.map(|folder| file_of(folder, path, stamp));
    if let Some(known) = file.as_deref().and_then(read) {
        return Ok(known);
    }
    let (image, _) = read_first(path).map_err(|failure| failure.message)?;
    let small = shrink(&image, PIXELS);
    if let Some(file) = file
        && let Err(error) = write(&file, &small)
    {
        tracing::warn!(%error, file = %file.display(), "a thumbnail is not kept");
    }
    Ok(small)
}

fn read(file: &Path) -> Option<ColorImage> {
    let bytes = fs::read(file).ok()?;
    let image =
        ImageReader::with_format(io::Cursor::new(bytes), ImageFormat::Jpeg).decode().ok()?.into_rgb8();
    Some(ColorImage::from_rgb([image.width() as usize, image.height() as usize], image.as_raw()))
}

fn write(file: &Path, image: &ColorImage) -> io::Result<()> {
    let rgb: Vec<u8> = image.pixels.iter().flat_map(|pixel| [pixel.r(), pixel.g(), pixel.b()]).collect();
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, QUALITY)
        .encode(&rgb, image.width() as u32, image.height() as u32, ExtendedColorType::Rgb8)
        .map_err(io::Error::other)?;
    write_whole(file, &bytes)
}

/// Deletes the oldest thumbnails if there are too many.
pub(super) fn tidy(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    if files.len() <= MOST {
        return;
    }
    files.sort();
    for (_, file) in &files[..files.len() - MOST * 9 / 10] {
        if let Err(error) = fs::remove_file(file) {
            tracing::warn!(%error, file = %file.display(), "an old thumbnail stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thumbnail_is_made_once_for_each_version_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, path) = (folder.path().join("kept"), folder.path().join("a.png"));
        image::save_buffer(&path, &[200; 600 * 300 * 3], 600, 300, ExtendedColorType::Rgb8).unwrap();
        let stamp = Stamp { modified: 1, bytes: 2 };
        let made = load(Some(&kept), &path, stamp).unwrap();
        assert_eq!(made.size, [256, 128]);
        fs::write(&path, b"broken").unwrap();
        assert_eq!(load(Some(&kept), &path, stamp).unwrap().size, [256, 128], "it comes from the disk");
        assert!(load(Some(&kept), &path, Stamp { modified: 9, bytes: 2 }).is_err());
        assert!(load(None, &path, stamp).is_err());
        for file in fs::read_dir(&kept).unwrap() {
            fs::write(file.unwrap().path(), b"damaged").unwrap();
        }
        assert!(load(Some(&kept), &path, stamp).is_err(), "a damaged thumbnail is made anew");
    }
}
