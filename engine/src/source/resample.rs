//! Lanczos and bicubic resampling, bit-identical to Pillow, which diffusers uses to resize images.

use crate::output::Image;

/// Bytes per pixel.
const CHANNELS: usize = 3;
/// Fractional bits of Pillow's weights.
const PRECISION: u32 = 32 - 8 - 2;

/// A kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    Lanczos,
    Bicubic,
}

impl Kernel {
    /// Its radius, in pixels of the smaller image.
    fn reach(self) -> f64 {
        match self {
            Self::Lanczos => 3.0,
            Self::Bicubic => 2.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        match self {
            Self::Lanczos => lanczos(x),
            Self::Bicubic => bicubic(x),
        }
    }
}

/// The first source pixel of an output pixel, and the weights of the source pixels from there on.
struct Taps {
    first: usize,
    weights: Vec<i64>,
}

/// A resized side of an image, of which a part is needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    /// Pixels of the whole side.
    pub whole: u32,
    /// The first pixel that is needed.
    pub first: u32,
    /// The number of pixels that are needed.
    pub length: u32,
}

/// A part of the resized `picture`. Rows and columns are resampled one after the other and rounded to bytes each time,
/// in the same order as in Pillow 13, which does first what leaves less to do.
pub(super) fn resize(picture: &Image, width: Side, height: Side, kernel: Kernel) -> Image {
    let saved = |from: u32, side: Side| i64::from(from) - i64::from(side.whole);
    let (columns, rows) = (saved(picture.width, width), saved(picture.height, height));
    if rows > 0 && rows > 2 * columns {
        let turned = along_rows(&transposed(picture), height, kernel);
        return along_rows(&transposed(&turned), width, kernel);
    }
    let across = along_rows(picture, width, kernel);
    transposed(&along_rows(&transposed(&across), height, kernel))
}

fn along_rows(picture: &Image, side: Side, kernel: Kernel) -> Image {
    let taps = taps(picture.width as usize, side, kernel);
    let mut pixels = Vec::with_capacity(side.length as usize * picture.height as usize * CHANNELS);
    for row in picture.pixels.chunks_exact(picture.width as usize * CHANNELS) {
        for Taps { first, weights } in &taps {
            let part = &row[first * CHANNELS..(first + weights.len()) * CHANNELS];
            for channel in 0..CHANNELS {
                let values = part.iter().skip(channel).step_by(CHANNELS);
                let sum: i64 = values.zip(weights).map(|(value, weight)| i64::from(*value) * weight).sum();
                pixels.push(((sum + (1 << (PRECISION - 1))) >> PRECISION).clamp(0, 255) as u8);
            }
        }
    }
    Image::opaque(side.length, picture.height, pixels)
}

fn transposed(picture: &Image) -> Image {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let mut pixels = Vec::with_capacity(picture.pixels.len());
    for column in 0..width {
        for row in 0..height {
            let at = (row * width + column) * CHANNELS;
            pixels.extend_from_slice(&picture.pixels[at..at + CHANNELS]);
        }
    }
    Image::opaque(picture.height, picture.width, pixels)
}

fn taps(from: usize, side: Side, kernel: Kernel) -> Vec<Taps> {
    let scale = from as f64 / f64::from(side.whole);
    let stretch = scale.max(1.0);
    let reach = kernel.reach() * stretch;
    let place = |place: u32| {
        if from == side.whole as usize {
            return Taps { first: place as usize, weights: vec![1 << PRECISION] };
        }
        let centre = (f64::from(place) + 0.5) * scale;
        let first = (centre - reach + 0.5).max(0.0) as usize;
        let end = ((centre + reach + 0.5) as usize).min(from);
        let weight = |pixel: usize| kernel.weight((pixel as f64 - centre + 0.5) / stretch);
        let weights: Vec<f64> = (first..end).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let fixed = |weight: f64| {
            let weight = weight / sum * f64::from(1_u32 << PRECISION);
            (weight + 0.5_f64.copysign(weight)) as i64
        };
        Taps { first, weights: weights.into_iter().map(fixed).collect() }
    };
    (side.first..side.first + side.length).map(place).collect()
}

fn lanczos(x: f64) -> f64 {
    let sinc =
        |x: f64| if x == 0.0 { 1.0 } else { (x * std::f64::consts::PI).sin() / (x * std::f64::consts::PI) };
    let reach = Kernel::Lanczos.reach();
    if x.abs() < reach { sinc(x) * sinc(x / reach) } else { 0.0 }
}

/// Keys' kernel with a slope of −0.5.
fn bicubic(x: f64) -> f64 {
    const SLOPE: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((SLOPE + 2.0) * x - (SLOPE + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * SLOPE
    } else {
        0.0
    }
}
