//! Pixels of images and clips, for display.

use std::sync::Arc;

use egui::{Color32, ColorImage};
use sluice_engine::{
    output::{Clip, Image},
    request::Request,
};

/// The pixels of an image or of a clip.
#[derive(Debug, Clone)]
pub enum Pixels {
    /// An image.
    Image(Arc<ColorImage>),
    /// At least one frame, all of one size, with as many bytes as that takes.
    Clip(Arc<Clip>),
}

/// The length of a clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClipLength {
    /// Number of frames.
    pub frames: u32,
    /// Frames per second.
    pub rate: f32,
}

impl ClipLength {
    /// The length of the clip that a request generates.
    pub fn of(request: &Request) -> Self {
        Self { frames: request.frames, rate: request.frame_rate }
    }

    /// How long it plays.
    pub fn seconds(self) -> f64 {
        f64::from(self.frames) / f64::from(self.rate)
    }
}

impl Pixels {
    /// Width and height.
    pub fn size(&self) -> [usize; 2] {
        match self {
            Self::Image(image) => image.size,
            Self::Clip(clip) => clip.frames.first().map_or([0; 2], size),
        }
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Image(image) => image.pixels.len() * size_of::<Color32>(),
            Self::Clip(clip) => clip.frames.iter().map(|frame| frame.pixels.len()).sum(),
        }
    }

    /// The length of a clip.
    pub fn length(&self) -> Option<ClipLength> {
        match self {
            Self::Image(_) => None,
            Self::Clip(clip) => Some(ClipLength { frames: clip.frames.len() as u32, rate: clip.rate }),
        }
    }

    /// A thumbnail; of a clip, the first frame's.
    pub fn thumbnail(&self) -> ColorImage {
        match self {
            Self::Image(image) => thumbnail(image),
            Self::Clip(clip) => clip
                .frames
                .first()
                .map_or_else(ColorImage::default, |frame| shrink_frame(frame, THUMBNAIL_PIXELS)),
        }
    }
}

fn size(image: &Image) -> [usize; 2] {
    [image.width as usize, image.height as usize]
}

fn is_whole(image: &Image) -> bool {
    let [width, height] = size(image);
    image.pixels.len() == 3 * width * height && !image.pixels.is_empty()
}

/// Whether a clip has frames, all of one size and with all their pixels, and a frame rate.
pub fn is_clip(clip: &Clip) -> bool {
    let Some(first) = clip.frames.first() else { return false };
    let is_alike = |frame: &Image| is_whole(frame) && size(frame) == size(first);
    clip.rate.is_finite() && clip.rate > 0.0 && clip.frames.iter().all(is_alike)
}

/// Converts an image for display, if the number of pixels matches its size.
pub fn color_image(image: &Image) -> Option<ColorImage> {
    is_whole(image).then(|| ColorImage::from_rgb(size(image), &image.pixels))
}

/// Writes an image over one of the same size.
pub fn fill_from(target: &mut ColorImage, image: &Image) {
    for (pixel, &[r, g, b]) in target.pixels.iter_mut().zip(image.pixels.as_chunks().0) {
        *pixel = Color32::from_rgb(r, g, b);
    }
}

/// Longer side of a thumbnail in pixels: twice its size on screen, for high-density screens.
pub const THUMBNAIL_PIXELS: usize = 160;
/// Samples per thumbnail pixel in each direction.
const TAPS: usize = 4;

/// A thumbnail.
pub fn thumbnail(image: &ColorImage) -> ColorImage {
    shrink(image, THUMBNAIL_PIXELS)
}

/// Shrinks an image to at most `longest` pixels on its longer side. The cost depends only on the size of the
/// result.
pub fn shrink(image: &ColorImage, longest: usize) -> ColorImage {
    if image.width().max(image.height()) <= longest {
        return image.clone();
    }
    sampled(image.size, longest, |place| {
        let color = image.pixels[place];
        [color.r(), color.g(), color.b()]
    })
}

/// The same for a frame with as many bytes as its size takes.
pub fn shrink_frame(frame: &Image, longest: usize) -> ColorImage {
    let size = size(frame);
    if size[0].max(size[1]) <= longest {
        return ColorImage::from_rgb(size, &frame.pixels);
    }
    let (pixels, _) = frame.pixels.as_chunks::<3>();
    sampled(size, longest, |place| pixels[place])
}

fn sampled([width, height]: [usize; 2], longest: usize, pixel: impl Fn(usize) -> [u8; 3]) -> ColorImage {
    let longer = width.max(height);
    let small = [width, height].map(|side| (side * longest / longer).max(1));
    let sample = |x: usize, y: usize| {
        let mut sums = [0_u32; 3];
        for tap in 0..TAPS * TAPS {
            let source_x = (x * TAPS + tap % TAPS) * width / (small[0] * TAPS);
            let source_y = (y * TAPS + tap / TAPS) * height / (small[1] * TAPS);
            for (sum, channel) in sums.iter_mut().zip(pixel(source_y * width + source_x)) {
                *sum += u32::from(channel);
            }
        }
        let [r, g, b] = sums.map(|sum| (sum / (TAPS * TAPS) as u32) as u8);
        Color32::from_rgb(r, g, b)
    };
    let places = (0..small[1]).flat_map(|y| (0..small[0]).map(move |x| (x, y)));
    ColorImage::new(small, places.map(|(x, y)| sample(x, y)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, bytes: usize) -> Image {
        Image::opaque(width, height, (0..bytes).map(|byte| byte as u8).collect())
    }

    #[test]
    fn a_thumbnail_is_small_and_keeps_the_aspect() {
        let small = thumbnail(&ColorImage::filled([1600, 800], Color32::from_rgb(10, 200, 30)));
        assert_eq!(small.size, [160, 80]);
        assert!(small.pixels.iter().all(|&pixel| pixel == Color32::from_rgb(10, 200, 30)));
        let tiny = ColorImage::filled([16, 16], Color32::from_gray(3));
        assert_eq!(thumbnail(&tiny).size, [16, 16]);
    }

    #[test]
    fn a_frame_is_converted_and_shrunk_like_an_image() {
        let frame = image(40, 24, 40 * 24 * 3);
        let whole = color_image(&frame).unwrap();
        let mut filled = ColorImage::filled([40, 24], Color32::RED);
        fill_from(&mut filled, &frame);
        assert_eq!(filled, whole);
        for longest in [40, 10] {
            assert_eq!(shrink_frame(&frame, longest), shrink(&whole, longest));
        }
    }

    #[test]
    fn an_image_with_missing_pixels_is_refused() {
        assert!(color_image(&image(2, 2, 11)).is_none());
        assert!(color_image(&image(0, 2, 0)).is_none());
        assert!(color_image(&image(2, 2, 12)).is_some());
    }

    #[test]
    fn a_clip_has_frames_of_one_size() {
        let frames = |frames: &[Image]| Clip::silent(frames.to_vec(), 8.0);
        let (small, large) = (image(2, 2, 12), image(4, 4, 48));
        assert!(is_clip(&frames(&[small.clone(), small.clone()])));
        assert!(!is_clip(&frames(&[])));
        assert!(!is_clip(&frames(&[small.clone(), large])));
        assert!(!is_clip(&frames(&[small.clone(), image(2, 2, 11)])));
        assert!(!is_clip(&Clip { rate: 0.0, ..frames(&[small]) }));
    }
}
