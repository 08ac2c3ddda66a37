//! The maps that ControlNets follow.

use candle_core::{Device, Result as TensorResult, Tensor};

use super::{
    LoadedSource, SourceError,
    canny::canny,
    fitted,
    lines::{blurred, lineart, scribble},
    read, resized,
};
use crate::{
    output::Image,
    request::{ControlNet, Preprocessor, SourceImage},
};

/// How far `blur` blurs, in pixels.
const BLUR: f32 = 9.0;
/// The side of the squares of pixels of which `tile` keeps one value.
const DETAIL: u32 = 4;
/// The side of the squares of one colour that `color` makes.
const SQUARE: u32 = 64;

/// The image of a ControlNet, fitted to this width and height.
///
/// # Errors
/// When it cannot be read.
pub fn control_image(net: &ControlNet, [width, height]: [u32; 2]) -> Result<Image, SourceError> {
    Ok(fitted(&read(&net.image)?, net.fit, width, height))
}

/// The map of a ControlNet, fitted to this width and height; `None` if a network makes it, or if it is made of the input
/// image.
///
/// # Errors
/// When the image cannot be read.
pub fn control_map(net: &ControlNet, size: [u32; 2]) -> Result<Option<Image>, SourceError> {
    if net.preprocessor.takes_input() || net.preprocessor.estimated().is_some() {
        return Ok(None);
    }
    Ok(Some(mapped(control_image(net, size)?, net.preprocessor)))
}

/// The map that a preprocessor makes of an image; the image itself if a network makes its map, or if it is made of the input
/// image.
pub fn mapped(image: Image, preprocessor: Preprocessor) -> Image {
    let size = [image.width, image.height];
    match preprocessor {
        Preprocessor::Canny => canny(&image),
        Preprocessor::Lineart => lineart(&image),
        Preprocessor::Scribble => scribble(&image),
        Preprocessor::Invert => changed(image, |[red, green, blue]| [255 - red, 255 - green, 255 - blue]),
        Preprocessor::Gray => changed(image, |pixel| [luma(pixel); 3]),
        Preprocessor::Blur => blurred(&image, BLUR),
        Preprocessor::Tile => {
            let small = size.map(|side| side.div_ceil(DETAIL));
            resized(resized(image, small), size)
        }
        Preprocessor::Color => squares(&resized(image, size.map(|side| side.div_ceil(SQUARE))), size),
        Preprocessor::None
        | Preprocessor::Inpaint
        | Preprocessor::Depth
        | Preprocessor::Pose
        | Preprocessor::Segments
        | Preprocessor::SoftEdge => image,
    }
}

/// The input image of a request without its masked part, which is black, and which pixels are missing, in this width and
/// height; `None` if it has no masked part.
///
/// # Errors
/// When a file cannot be read.
pub fn masked_input(
    wanted: &SourceImage,
    [width, height]: [u32; 2],
) -> Result<Option<(Image, Vec<bool>)>, SourceError> {
    let source = LoadedSource::open(wanted, (width, height), [height as usize, width as usize])?;
    let LoadedSource { mut picture, mask: Some((mask, _)), .. } = source else { return Ok(None) };
    let missing = mask.open().to_vec();
    for (pixel, missing) in picture.pixels.as_chunks_mut::<3>().0.iter_mut().zip(&missing) {
        if *missing {
            *pixel = [0; 3];
        }
    }
    Ok(Some((picture, missing)))
}

fn changed(mut image: Image, change: impl Fn([u8; 3]) -> [u8; 3]) -> Image {
    for pixel in image.pixels.as_chunks_mut::<3>().0 {
        *pixel = change(*pixel);
    }
    image
}

/// The lightness of a pixel, rounded as Pillow does.
fn luma([red, green, blue]: [u8; 3]) -> u8 {
    ((u32::from(red) * 19_595 + u32::from(green) * 38_470 + u32::from(blue) * 7_471 + 0x8000) >> 16) as u8
}

/// Each pixel as a square, to this width and height.
fn squares(small: &Image, [width, height]: [u32; 2]) -> Image {
    let pixels = small.pixels.as_chunks::<3>().0;
    let at = |row: u32, column: u32| {
        let (row, column) = (row * small.height / height, column * small.width / width);
        pixels[(row * small.width + column) as usize]
    };
    let all = (0..height).flat_map(|row| (0..width).flat_map(move |column| at(row, column)));
    Image::opaque(width, height, all.collect())
}

/// A map as a ControlNet reads it, `[1, 3, height, width]` in 0…1.
///
/// # Errors
/// When there is no memory for it.
pub fn control_tensor(map: &Image) -> TensorResult<Tensor> {
    let pixels = map.pixels.as_chunks::<3>().0;
    let mut values = Vec::with_capacity(3 * pixels.len());
    for colour in 0..3 {
        values.extend(pixels.iter().map(|pixel| f32::from(pixel[colour]) / 255.0));
    }
    Tensor::from_vec(values, (1, 3, map.height as usize, map.width as usize), &Device::Cpu)
}

/// The same with −1 in all colours where pixels are missing, as ControlNets for inpainting read it.
///
/// # Errors
/// When there is no memory for it.
pub fn control_tensor_without(map: &Image, missing: &[bool]) -> TensorResult<Tensor> {
    let whole = control_tensor(map)?;
    let place = Tensor::from_vec(
        missing.iter().map(|missing| u8::from(*missing)).collect(),
        (1, 1, map.height as usize, map.width as usize),
        &Device::Cpu,
    )?;
    place.broadcast_as(whole.shape())?.where_cond(&whole.ones_like()?.neg()?, &whole)
}

/// The lightness of a map, `[1, 1, height, width]` in 0…1.
///
/// # Errors
/// When there is no memory for it.
pub fn gray_tensor(map: &Image) -> TensorResult<Tensor> {
    let values = map.pixels.as_chunks::<3>().0.iter().map(|pixel| f32::from(luma(*pixel)) / 255.0).collect();
    Tensor::from_vec(values, (1, 1, map.height as usize, map.width as usize), &Device::Cpu)
}

/// What of the latents of a map is given, `[1, 1, height, width]`: 0 where pixels are missing. The first pixel of each latent
/// decides, as in diffusers.
///
/// # Errors
/// When there is no memory for it.
pub fn given_latents(
    missing: &[bool],
    [width, height]: [u32; 2],
    latents: [usize; 2],
) -> TensorResult<Tensor> {
    let [rows, columns] = latents;
    let at = |place: usize| {
        let (row, column) = (place / columns, place % columns);
        missing[row * height as usize / rows * width as usize + column * width as usize / columns]
    };
    let values = (0..rows * columns).map(|place| if at(place) { 0.0_f32 } else { 1.0 }).collect();
    Tensor::from_vec(values, (1, 1, rows, columns), &Device::Cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_become_squares_and_lightness_is_pillows() {
        let small = Image::opaque(2, 1, vec![10, 20, 30, 200, 100, 0]);
        let made = squares(&small, [5, 2]);
        assert_eq!(made.pixels[..9], [10, 20, 30, 10, 20, 30, 10, 20, 30]);
        assert_eq!(made.pixels[9..15], [200, 100, 0, 200, 100, 0]);
        assert_eq!([luma([10, 20, 30]), luma([200, 100, 0]), luma([7; 3])], [18, 118, 7]);
    }

    #[test]
    fn missing_pixels_are_minus_one_and_of_latents_the_first_pixel_decides() {
        let map = Image::opaque(2, 1, vec![51, 0, 255, 0, 0, 0]);
        let values: Vec<f32> =
            control_tensor_without(&map, &[false, true]).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        assert_eq!(values, [0.2, -1.0, 0.0, -1.0, 1.0, -1.0]);
        let missing = [true, false, false, true, false, true, false, false];
        let given = given_latents(&missing, [4, 2], [1, 2]).unwrap();
        assert_eq!(given.flatten_all().unwrap().to_vec1::<f32>().unwrap(), [0.0, 1.0]);
    }
}
