//! Input images, masks and clips: reading their files, fitting them to the requested size, pasting unmasked pixels back.

mod canny;
mod clip;
mod control_map;
mod cutout;
mod cuts;
mod error;
mod extensions;
mod given;
mod given_media;
mod lines;
mod mask;
mod outpaint;
mod region;
mod resample;

use std::{io, path::Path};

use candle_core::{Device, Result as TensorResult, Tensor};
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, metadata::Orientation};

use crate::{
    output::Image,
    request::{Fit, SourceImage},
    units::without_numbers,
};
use cutout::Cutout;
use mask::Mask;
use resample::{Kernel, Side};

pub use clip::{ClipError, ClipInfo, MOST_FRAMES, count_frames, read_clip, read_sound};
pub use control_map::{
    control_image, control_map, control_tensor, control_tensor_without, given_latents, gray_tensor, mapped,
    masked_input,
};
pub use cuts::is_cut;
pub use error::SourceError;
pub use extensions::{CLIP_EXTENSIONS, IMAGE_EXTENSIONS, has_extension, is_clip_name, is_image_name};
pub(crate) use given::middle_square;
pub use given::{FrameMask, GivenClip, Pixels, normalized};
pub use given_media::GivenMedia;
pub use region::region_shares;

/// The input image of a request and its mask, in the requested size.
#[derive(Debug, Clone)]
pub struct LoadedSource {
    picture: Image,
    mask: Option<(Mask, Vec<bool>)>,
    /// Height and width in latents.
    latents: [usize; 2],
    /// Mask blur in pixels; absent if nothing is pasted back.
    blur: Option<u32>,
    /// The whole input image, if only a part of it is inpainted.
    cutout: Option<Cutout>,
}

impl LoadedSource {
    /// Reads the files of `wanted` for an image of this `size` (width and height) with latents of this height and width.
    pub fn open(
        wanted: &SourceImage,
        (width, height): (u32, u32),
        latents: [usize; 2],
    ) -> Result<Self, SourceError> {
        let mut picture = read(&wanted.path)?;
        let own = wanted.mask.as_ref().map(|mask| read(&mask.path)).transpose()?;
        let (added, mut feather) = (&wanted.outpaint, 0);
        let shape = if added.is_empty() {
            own
        } else {
            let shape = outpaint::mask([picture.width, picture.height], own.as_ref(), added);
            picture = outpaint::extended(&picture, added);
            feather = (u64::from(added.feather) * u64::from(width) / u64::from(picture.width)) as u32;
            Some(shape)
        };
        Self::prepared(wanted, picture, shape, feather, ((width, height), latents))
    }

    /// A part of an image that is inpainted alone: the pixels of `shape`, row by row, grown by so many pixels. Sizes are those of
    /// [`open`](Self::open).
    ///
    /// # Errors
    /// When nothing would be inpainted.
    pub fn of_part(
        wanted: &SourceImage,
        picture: Image,
        (shape, grow): (Vec<bool>, u32),
        sizes: ((u32, u32), [usize; 2]),
    ) -> Result<Self, SourceError> {
        let shape = Mask::new(picture.width, shape).grown(grow as usize).image();
        Self::prepared(wanted, picture, Some(shape), 0, sizes)
    }

    fn prepared(
        wanted: &SourceImage,
        mut picture: Image,
        shape: Option<Image>,
        feather: u32,
        ((width, height), latents): ((u32, u32), [usize; 2]),
    ) -> Result<Self, SourceError> {
        let mut cutout = None;
        let only_masked = wanted.mask.as_ref().and_then(|mask| mask.only_masked);
        let mask = shape.map(|mut shape| {
            let mut fit = wanted.fit;
            if let Some(padding) = only_masked {
                shape = fitted(&shape, Fit::Stretch, picture.width, picture.height);
                let whole = picture.clone();
                let cut = Cutout::of(whole, &Mask::of(&shape), padding, [width, height]);
                let cut = cut.ok_or_else(|| nothing_masked(wanted, false))?;
                shape = cut.part_of(&shape);
                picture = cut.part();
                fit = Fit::Pad;
                cutout = Some(cut);
            }
            picture = fitted(&picture, fit, width, height);
            let pixels = Mask::of(&fitted(&shape, fit, width, height));
            let of_latents = pixels.of_latents(latents);
            if !of_latents.contains(&true) {
                return Err(nothing_masked(wanted, pixels.open().contains(&true)));
            }
            Ok((pixels, of_latents))
        });
        let pastes_back = wanted.mask.as_ref().is_none_or(|mask| mask.keeps_the_rest);
        let blur = wanted.mask.as_ref().map_or(0, |mask| mask.blur).max(feather);
        let blur = (mask.is_some() && pastes_back).then_some(blur);
        let mask = mask.transpose()?;
        let picture = fitted(&picture, wanted.fit, width, height);
        Ok(Self { picture, mask, latents, blur, cutout })
    }

    /// The image, `[1, 3, height, width]` in −1…1.
    pub fn picture(&self) -> TensorResult<Tensor> {
        self.tensor(|_| true)
    }

    /// The image with gray in the masked area, `[1, 3, height, width]` in −1…1.
    pub fn masked_picture(&self) -> TensorResult<Tensor> {
        self.tensor(|place| self.mask.as_ref().is_none_or(|(mask, _)| !mask.open()[place]))
    }

    /// The mask of latents, `[1, 1, height, width]`: 1 where they are inpainted, 0 where they stay.
    pub fn mask(&self) -> TensorResult<Option<Tensor>> {
        self.mask.as_ref().map(|(_, mask)| mask::tensor(mask, self.latents)).transpose()
    }

    /// The mask's pixels, by the latents that they belong to: `[1, pixels of a latent, height, width]`, row by row.
    pub fn mask_in_pixels(&self) -> TensorResult<Option<Tensor>> {
        let in_pixels = |(mask, _): &(Mask, Vec<bool>)| {
            let [height, width] = self.latents;
            let side = [self.picture.height as usize / height, self.picture.width as usize / width];
            let pixels = mask::tensor(mask.open(), [height * side[0], width * side[1]])?;
            let split = pixels.reshape((1, height, side[0], width, side[1]))?.permute((0, 2, 4, 1, 3))?;
            split.reshape((1, side[0] * side[1], height, width))
        };
        self.mask.as_ref().map(in_pixels).transpose()
    }

    /// Pastes the unmasked pixels back. If only the masked area was inpainted, the image gets the size of the input image.
    pub fn restore(&self, drawn: &mut Image) {
        if let Some(cutout) = &self.cutout {
            *drawn = cutout.with(drawn, self.blur);
            return;
        }
        let (Some((mask, _)), Some(blur)) = (&self.mask, self.blur) else { return };
        let new = std::mem::replace(drawn, self.picture.clone());
        mask.mix(drawn, &new, blur);
    }

    /// Puts what was drawn of a part into an image of the size of the whole one.
    pub fn put(&self, whole: &mut Image, drawn: &Image) {
        if let Some(cutout) = &self.cutout {
            cutout.put(whole, drawn, self.blur);
        }
    }

    fn tensor(&self, is_seen: impl Fn(usize) -> bool) -> TensorResult<Tensor> {
        tensor_of(&self.picture, is_seen)
    }
}

/// That nothing would be generated; `any` is whether there are white pixels.
fn nothing_masked(wanted: &SourceImage, any: bool) -> SourceError {
    match &wanted.mask {
        Some(mask) => SourceError::NothingMasked { path: mask.path.clone(), any },
        None => SourceError::NothingAdded { path: wanted.path.clone() },
    }
}

/// Width and height of an image, upright. Reads its header.
///
/// # Errors
/// When it cannot be read, or is not an image.
pub fn size_of(path: &Path) -> Result<[u32; 2], SourceError> {
    let (orientation, decoder) = decoder_of(path)?;
    let (width, height) = decoder.dimensions();
    let is_turned = matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    );
    Ok(if is_turned { [height, width] } else { [width, height] })
}

/// Reads an image and scales it to this width and height, whatever its aspect ratio.
pub(crate) fn scaled(path: &Path, [width, height]: [u32; 2]) -> Result<Image, SourceError> {
    Ok(fitted(&read(path)?, Fit::Stretch, width, height))
}

/// Reads an image, scales it to this width and height, and crops the middle.
pub(crate) fn cropped(path: &Path, whole: [u32; 2], middle: [u32; 2]) -> Result<Image, SourceError> {
    let side = |axis: usize| Side {
        whole: whole[axis],
        first: whole[axis].saturating_sub(middle[axis]) / 2,
        length: middle[axis],
    };
    Ok(resample::resize(&read(path)?, side(0), side(1), Kernel::Lanczos))
}

/// The same as [`scaled`], from one size to the next, and then scaled once more with a bicubic filter.
pub(crate) fn scaled_further(
    path: &Path,
    sizes: impl IntoIterator<Item = [u32; 2]>,
    [width, height]: [u32; 2],
) -> Result<Image, SourceError> {
    let mut image = read(path)?;
    for [width, height] in sizes {
        image = fitted(&image, Fit::Stretch, width, height);
    }
    let whole = |length| Side { whole: length, first: 0, length };
    Ok(resample::resize(&image, whole(width), whole(height), Kernel::Bicubic))
}

/// An image in another size, by Lanczos' filter; its opacity likewise, apart from the colours.
pub(crate) fn resized(image: Image, [width, height]: [u32; 2]) -> Image {
    if [image.width, image.height] == [width, height] {
        return image;
    }
    let opacity = resized_plane(&image.opacity, [image.width, image.height], [width, height]);
    Image { opacity, ..fitted(&image, Fit::Stretch, width, height) }
}

/// A value for each pixel in another size; nothing stays nothing.
pub(crate) fn resized_plane(values: &[u8], from: [u32; 2], [width, height]: [u32; 2]) -> Vec<u8> {
    if values.is_empty() || from == [width, height] {
        return values.to_vec();
    }
    let gray = values.iter().flat_map(|value| [*value; 3]).collect();
    let resized = fitted(&Image::opaque(from[0], from[1], gray), Fit::Stretch, width, height);
    resized.pixels.into_iter().step_by(3).collect()
}

/// An image, `[1, 3, height, width]` in −1…1, with gray where a place is not seen.
pub(crate) fn tensor_of(picture: &Image, is_seen: impl Fn(usize) -> bool) -> TensorResult<Tensor> {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let pixels = picture.pixels.as_chunks::<3>().0;
    let mut values = Vec::with_capacity(3 * pixels.len());
    for channel in 0..3 {
        let value = |pixel: &[u8; 3]| f32::from(pixel[channel]) / 255.0 * 2.0 - 1.0;
        let seen = |(place, pixel)| if is_seen(place) { value(pixel) } else { 0.0 };
        values.extend(pixels.iter().enumerate().map(seen));
    }
    Tensor::from_vec(values, (1, 3, height, width), &Device::Cpu)
}

/// Reads an image of any supported format, upright and without transparency.
pub fn read(path: &Path) -> Result<Image, SourceError> {
    let (orientation, decoder) = decoder_of(path)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| not_a_picture(path, &error))?;
    picture.apply_orientation(orientation);
    let picture = picture.into_rgb8();
    let (width, height) = picture.dimensions();
    if width == 0 || height == 0 {
        return Err(SourceError::NotAPicture { path: path.to_owned(), detail: "it is empty".to_owned() });
    }
    Ok(Image::opaque(width, height, picture.into_raw()))
}

/// What reads an image, and how it is to be turned.
fn decoder_of(path: &Path) -> Result<(Orientation, impl ImageDecoder), SourceError> {
    let unreadable = |cause| SourceError::Read { path: path.to_owned(), cause };
    let reader = ImageReader::open(path).and_then(ImageReader::with_guessed_format).map_err(unreadable)?;
    let mut decoder = reader.into_decoder().map_err(|error| not_a_picture(path, &error))?;
    let orientation = decoder.orientation().map_err(|error| not_a_picture(path, &error))?;
    Ok((orientation, decoder))
}

fn not_a_picture(path: &Path, error: &ImageError) -> SourceError {
    let is_clip = || matches!(ClipInfo::open(path), Ok(Some(_)));
    if is_clip_name(path) && is_clip() {
        return SourceError::ClipForImage { path: path.to_owned() };
    }
    tracing::debug!(path = %path.display(), %error, "an image cannot be read");
    let detail = match error {
        ImageError::Unsupported(_) => "its format is not known",
        ImageError::Limits(_) => "it is too large",
        ImageError::IoError(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            let detail = without_numbers(&error.to_string());
            return SourceError::NotAPicture { path: path.to_owned(), detail };
        }
        ImageError::IoError(_) => "it ends too early",
        ImageError::Decoding(_) | ImageError::Encoding(_) | ImageError::Parameter(_) => {
            "it is damaged, or a file of another kind"
        }
    };
    SourceError::NotAPicture { path: path.to_owned(), detail: detail.to_owned() }
}

/// An image in another size, fitted as in diffusers' resize modes.
fn fitted(picture: &Image, fit: Fit, width: u32, height: u32) -> Image {
    if (picture.width, picture.height) == (width, height) {
        return picture.clone();
    }
    let [own_width, own_height] = [picture.width, picture.height].map(u64::from);
    let (wide, high) = (u64::from(width), u64::from(height));
    let wider = own_width * high > wide * own_height;
    let scaled = |side: u64, to: u64, of: u64| (side * to / of).max(1) as u32;
    let (inner_width, inner_height) = match (fit, wider) {
        (Fit::Stretch, _) => (width, height),
        (Fit::Crop, true) | (Fit::Pad, false) => (scaled(own_width, high, own_height), height),
        (Fit::Crop, false) | (Fit::Pad, true) => (width, scaled(own_height, wide, own_width)),
    };
    let [across, down] = [(inner_width, width), (inner_height, height)].map(|(inner, outer)| Side {
        whole: inner,
        first: (inner / 2).saturating_sub(outer / 2),
        length: inner.min(outer),
    });
    let resized = resample::resize(picture, across, down, Kernel::Lanczos);
    if fit != Fit::Pad {
        return resized;
    }
    let inside = |place: u32, inner: u32, outer: u32| {
        let before = outer / 2 - inner / 2;
        place.saturating_sub(before).min(inner - 1) as usize
    };
    let mut pixels = Vec::with_capacity(width as usize * height as usize * 3);
    for row in 0..height {
        let row = inside(row, inner_height, height) * inner_width as usize;
        for column in 0..width {
            let at = 3 * (row + inside(column, inner_width, width));
            pixels.extend_from_slice(&resized.pixels[at..at + 3]);
        }
    }
    Image::opaque(width, height, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::SourceMask;

    fn rows(width: u32, height: u32) -> Image {
        let pixels =
            (0..height).flat_map(|row| (0..width).map(move |column| [row as u8 * 20, column as u8 * 10, 7]));
        Image::opaque(width, height, pixels.flatten().collect())
    }

    #[test]
    fn every_fit_gives_the_size_that_was_asked_for() {
        for (width, height) in [(8, 8), (16, 4), (4, 16), (1, 9), (7, 5)] {
            for fit in Fit::ALL {
                let fitted = fitted(&rows(width, height), fit, 8, 12);
                assert_eq!(
                    (fitted.width, fitted.height, fitted.pixels.len()),
                    (8, 12, 8 * 12 * 3),
                    "{fit:?}"
                );
            }
        }
    }

    #[test]
    fn padding_repeats_the_border_and_cropping_keeps_the_middle() {
        let wide = rows(8, 2);
        let padded = fitted(&wide, Fit::Pad, 8, 6);
        assert_eq!(padded.pixels[..24], wide.pixels[..24]);
        assert_eq!(padded.pixels[24..48], wide.pixels[..24]);
        assert_eq!(padded.pixels[5 * 24..], wide.pixels[24..]);
        let cropped = fitted(&wide, Fit::Crop, 2, 2);
        assert_eq!(cropped.pixels[..6], wide.pixels[9..15]);
    }

    #[test]
    fn what_may_not_change_is_put_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let save = |name: &str, image: &Image| {
            let path = folder.path().join(name);
            image::save_buffer(&path, &image.pixels, image.width, image.height, image::ColorType::Rgb8)
                .unwrap();
            path
        };
        let picture = rows(16, 8);
        let light: Vec<u8> =
            (0..16 * 8).flat_map(|place| [if place % 16 < 8 { 255 } else { 0 }; 3]).collect();
        let mask = save("mask.png", &Image { pixels: light, ..picture.clone() });
        let wanted = SourceImage {
            path: save("picture.png", &picture),
            mask: Some(SourceMask { path: mask, blur: 2, ..SourceMask::default() }),
            ..SourceImage::default()
        };
        let source = LoadedSource::open(&wanted, (16, 8), [1, 2]).unwrap();
        let mut drawn = Image { pixels: vec![200; picture.pixels.len()], ..picture.clone() };
        source.restore(&mut drawn);
        for (row, old) in drawn.pixels.chunks(48).zip(picture.pixels.chunks(48)) {
            assert_eq!(row[24..], old[24..]);
            assert_eq!(row[..18], [200; 18]);
            assert!(row[21..24].iter().zip(&old[21..24]).all(|(new, old)| new > old && *new < 200));
        }
        let seen = source.masked_picture().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        let whole = source.picture().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert!(
            seen.iter()
                .zip(&whole)
                .enumerate()
                .all(|(place, (seen, whole))| { *seen == if place % 16 < 8 { 0.0 } else { *whole } })
        );
    }

    #[test]
    fn files_that_are_no_pictures_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.png");
        let missing = read(&path).unwrap_err();
        assert!(matches!(missing, SourceError::Read { .. }) && missing.to_string().contains("notes.png"));
        assert!(!missing.to_string().contains("os error"), "{missing}");
        std::fs::write(&path, "no picture").unwrap();
        let wrong = read(&path).unwrap_err();
        let said = "is not an image that can be read: it is damaged, or a file of another kind";
        assert!(wrong.to_string().ends_with(said), "{wrong}");
        std::fs::write(&path, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
        assert!(matches!(read(&path).unwrap_err(), SourceError::NotAPicture { .. }));
    }
}
