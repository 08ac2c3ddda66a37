//! How models take reference images.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Valid values of [`Request::reference_side`](super::Request::reference_side).
pub const REFERENCE_SIDES: RangeInclusive<u32> = 64..=4096;
/// Sides of references are multiples of this where a person chooses their size for a model with preferred ones.
const CHOSEN_MULTIPLE: u32 = 16;

/// How a model takes reference images.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct References {
    /// The most of them.
    pub most: usize,
    /// Whether the model is made to change images, so that an input image is a reference unless something else is
    /// said about it.
    pub edits: bool,
    /// Their sizes.
    pub sizes: ReferenceSizes,
}

/// The size to which a reference image is scaled, and in which its changed version is generated unless another size is
/// chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReferenceSizes {
    /// It is scaled into the size of the clip.
    Canvas,
    /// Of these widths and heights, that with the nearest aspect ratio.
    Preferred(Vec<[u32; 2]>),
    /// The aspect ratio of the image, with about the pixels of a square.
    Area {
        /// Pixels of a side of the square.
        side: u32,
        /// Both sides are multiples of this.
        multiple: u32,
        /// Whether they are rounded up, not to the nearest.
        up: bool,
    },
    /// The square that an image encoder reads, whatever the size of the result: the autoencoder does not read it.
    Seen,
    /// Its own size, scaled down to at most the pixels of a square, and cropped in the middle.
    Own {
        /// Pixels of a side of the square.
        side: u32,
        /// Both sides are cropped to multiples of this.
        multiple: u32,
    },
}

impl References {
    /// How a model takes references through a [Redux](super::Redux) model.
    pub fn through_redux() -> Self {
        Self { most: super::Redux::MOST, edits: false, sizes: ReferenceSizes::Seen }
    }

    /// Width and height in which an image of these is read; `None` if that is the size of the result. `side` is
    /// [`Request::reference_side`](super::Request::reference_side).
    pub fn size(&self, own: [u32; 2], side: Option<u32>) -> Option<[u32; 2]> {
        let ratio = f64::from(own[0].max(1)) / f64::from(own[1].max(1));
        match (&self.sizes, side) {
            (ReferenceSizes::Canvas | ReferenceSizes::Seen, _) => None,
            (ReferenceSizes::Preferred(sizes), None) => {
                let off = |[width, height]: &[u32; 2]| (ratio - f64::from(*width) / f64::from(*height)).abs();
                sizes
                    .iter()
                    .min_by(|one, other| off(one).total_cmp(&off(other)).then(one.cmp(other)))
                    .copied()
            }
            (ReferenceSizes::Preferred(_), Some(side)) => Some(of_area(side, ratio, CHOSEN_MULTIPLE)),
            (ReferenceSizes::Area { side, multiple, up }, chosen) => {
                let of_area = if *up { of_area_up } else { of_area };
                Some(of_area(chosen.unwrap_or(*side), ratio, *multiple))
            }
            (ReferenceSizes::Own { multiple, .. }, _) => {
                self.cropped_from(own, side).map(|whole| whole.map(|length| length / multiple * multiple))
            }
        }
    }
}

impl References {
    /// Width and height to which an image of these is scaled before its middle is cropped; `None` if it is only scaled.
    /// `side` is [`Request::reference_side`](super::Request::reference_side).
    pub fn cropped_from(&self, own: [u32; 2], side: Option<u32>) -> Option<[u32; 2]> {
        let ReferenceSizes::Own { side: most, multiple } = self.sizes else { return None };
        let (most, pixels) = (f64::from(side.unwrap_or(most)).powi(2), own.map(f64::from));
        let area = pixels[0] * pixels[1];
        let factor = if area > most { (most / area).sqrt() } else { 1.0 };
        Some(pixels.map(|length| ((length * factor) as u32).max(multiple)))
    }
}

/// Width and height with this ratio and about the pixels of a square, as in diffusers.
pub fn of_area(side: u32, ratio: f64, multiple: u32) -> [u32; 2] {
    rounded_area(side, ratio, multiple, f64::round_ties_even)
}

/// The same, rounded up, as LongCat-Image-Edit's pipeline does.
fn of_area_up(side: u32, ratio: f64, multiple: u32) -> [u32; 2] {
    rounded_area(side, ratio, multiple, f64::ceil)
}

fn rounded_area(side: u32, ratio: f64, multiple: u32, round: fn(f64) -> f64) -> [u32; 2] {
    let width = (f64::from(side) * f64::from(side) * ratio).sqrt();
    let rounded = |length: f64| (round(length / f64::from(multiple)) as u32).max(1) * multiple;
    [rounded(width), rounded(width / ratio)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_scaled_as_in_diffusers() {
        let sizes = ReferenceSizes::Area { side: 1024, multiple: 32, up: false };
        let area = References { most: 3, edits: true, sizes };
        for (own, expected) in [
            ([1024, 1024], [1024, 1024]),
            ([1920, 1080], [1376, 768]),
            ([600, 900], [832, 1248]),
            ([9000, 10], [30720, 32]),
        ] {
            assert_eq!(area.size(own, None), Some(expected), "{own:?}");
        }
        assert_eq!(area.size([1920, 1080], Some(512)), Some([672, 384]));
        let sizes = ReferenceSizes::Area { side: 1024, multiple: 16, up: true };
        let up = References { sizes, ..area.clone() };
        for (own, expected) in [([7, 7], [1024, 1024]), ([400, 300], [1184, 896]), ([1, 4], [512, 2048])] {
            assert_eq!(up.size(own, None), Some(expected), "{own:?}");
        }
        let sizes = ReferenceSizes::Preferred(vec![[832, 1248], [1024, 1024], [1248, 832]]);
        let preferred = References { sizes, ..area };
        for (own, expected) in [([50, 51], [1024, 1024]), ([300, 200], [1248, 832]), ([10, 99], [832, 1248])]
        {
            assert_eq!(preferred.size(own, None), Some(expected), "{own:?}");
        }
        assert_eq!(preferred.size([64, 64], Some(64)), Some([64, 64]));
        let own = References { sizes: ReferenceSizes::Own { side: 1024, multiple: 16 }, ..preferred };
        for (image, whole, cropped) in [
            ([640, 479], [640, 479], [640, 464]),
            ([1920, 1080], [1365, 768], [1360, 768]),
            ([9000, 10], [9000, 16], [8992, 16]),
        ] {
            assert_eq!(own.cropped_from(image, None), Some(whole), "{image:?}");
            assert_eq!(own.size(image, None), Some(cropped), "{image:?}");
        }
    }
}
