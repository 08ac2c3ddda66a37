//! How an image is shown to a detector, and where in the image is what it finds: scaled to fit a square, and in the middle of
//! gray up to the next multiple of what its layers halve, as ultralytics does.

use super::Found;

/// The longer side of what the network sees, in pixels.
const SIDE: u32 = 640;
/// What the sides are multiples of.
const STEP: u32 = 32;
/// The gray beside the image, as a byte.
const GRAY: u8 = 114;

/// An image of a size, as a detector sees it. Sizes are height and width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    size: [u32; 2],
    /// The size of the image in what the network sees.
    pub inner: [u32; 2],
    /// Pixels of gray above it and to its left.
    before: [u32; 2],
    /// The size of what the network sees.
    pub whole: [usize; 2],
}

impl View {
    /// Of an image of a height and width.
    pub fn of(size: [u32; 2]) -> Self {
        let longest = size[0].max(size[1]).max(1);
        let scaled = |side: u32| {
            let scaled = (f64::from(side) * f64::from(SIDE) / f64::from(longest)).round_ties_even() as u32;
            scaled.clamp(1, SIDE)
        };
        let inner = size.map(scaled);
        let whole = inner.map(|side| side.next_multiple_of(STEP));
        // Of an odd number of pixels one more is after the image.
        let before = [0, 1].map(|axis| (whole[axis] - inner[axis]) / 2);
        Self { size, inner, before, whole: whole.map(|side| side as usize) }
    }

    /// What the network sees, `[3, height, width]` in 0…1, of the pixels of the scaled image.
    pub fn values(&self, pixels: &[u8]) -> Vec<f32> {
        let [height, width] = self.whole;
        let mut values = vec![f32::from(GRAY) / 255.0; 3 * height * width];
        let [top, left] = self.before.map(|side| side as usize);
        for (row, line) in pixels.chunks_exact(3 * self.inner[1] as usize).enumerate() {
            for (column, pixel) in line.as_chunks::<3>().0.iter().enumerate() {
                for (channel, value) in pixel.iter().enumerate() {
                    values[(channel * height + top + row) * width + left + column] =
                        f32::from(*value) / 255.0;
                }
            }
        }
        values
    }

    /// Pixels of what the network sees for each of the image, along its height and its width.
    fn scales(&self) -> [f32; 2] {
        [0, 1].map(|axis| self.inner[axis] as f32 / self.size[axis].max(1) as f32)
    }

    /// The box of what was found in pixels of the image: left, top, right and bottom, of which the latter are outside; `None`
    /// if it is beside the image.
    pub fn area(&self, found: &Found) -> Option<[u32; 4]> {
        let [down, across] = self.scales();
        let at = |place: f32, axis: usize, scale: f32| {
            let own = (place - self.before[axis] as f32) / scale;
            own.round().clamp(0.0, self.size[axis] as f32) as u32
        };
        let [left, top, right, bottom] = found.area;
        let area = [at(left, 1, across), at(top, 0, down), at(right, 1, across), at(bottom, 0, down)];
        (area[0] < area[2] && area[1] < area[3]).then_some(area)
    }

    /// The column and the row in the image of a column and a row in what the network sees. They may be beside it.
    pub fn place(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        let [down, across] = self.scales();
        [(x - self.before[1] as f32) / across, (y - self.before[0] as f32) / down]
    }

    /// For each pixel of the image, row by row, whether it is part of what was found: of its shape, or else of its box.
    pub fn mask(&self, found: &Found) -> Vec<bool> {
        let [height, width] = self.size.map(|side| side as usize);
        let mut mask = vec![false; height * width];
        let Some(area) = self.area(found) else { return mask };
        let [left, top, right, bottom] = area.map(|side| side as usize);
        let [down, across] = self.scales();
        let seen =
            |pixel: usize, axis: usize, scale: f32| (pixel as f32 + 0.5) * scale + self.before[axis] as f32;
        for row in top..bottom {
            for column in left..right {
                mask[row * width + column] = found
                    .shape
                    .as_ref()
                    .is_none_or(|shape| shape.at(seen(column, 1, across), seen(row, 0, down)) > 0.0);
            }
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(area: [f32; 4]) -> Found {
        Found { area, confidence: 0.9, class: 0, shape: None, joints: Vec::new() }
    }

    /// The numbers are those of ultralytics' `LetterBox((640, 640), auto=True)`.
    #[test]
    fn images_are_shown_as_ultralytics_shows_them() {
        for (size, inner, before, whole) in [
            ([480, 640], [480, 640], [0, 0], [480, 640]),
            ([1024, 1024], [640, 640], [0, 0], [640, 640]),
            ([720, 1280], [360, 640], [12, 0], [384, 640]),
            ([1216, 832], [640, 438], [0, 5], [640, 448]),
            ([100, 333], [192, 640], [0, 0], [192, 640]),
            ([128, 128], [640, 640], [0, 0], [640, 640]),
        ] {
            let view = View::of(size);
            assert_eq!((view.inner, view.before, view.whole), (inner, before, whole), "{size:?}");
        }
    }

    #[test]
    fn what_is_found_is_at_its_place_in_the_image() {
        let view = View::of([720, 1280]);
        assert_eq!(view.area(&found([10.0, 22.0, 50.0, 62.0])), Some([20, 20, 100, 100]));
        assert_eq!(view.place([10.0, 22.0]), [20.0, 20.0]);
        assert_eq!(view.area(&found([-9.0, 0.0, 700.0, 400.0])), Some([0, 0, 1280, 720]));
        assert_eq!(view.area(&found([1.0, 0.0, 9.0, 11.0])), None, "in the gray above");
        let mask = view.mask(&found([10.0, 22.0, 50.0, 62.0]));
        assert_eq!(mask.iter().filter(|is_in| **is_in).count(), 80 * 80);
        assert!(mask[20 * 1280 + 20] && !mask[20 * 1280 + 100] && !mask[19 * 1280 + 20]);
    }

    #[test]
    fn the_image_is_in_the_middle_of_gray() {
        let view = View { size: [1, 2], inner: [1, 2], before: [1, 0], whole: [3, 2] };
        let values = view.values(&[255, 0, 51, 0, 255, 0]);
        let gray = 114.0 / 255.0;
        assert_eq!(values[..6], [gray, gray, 1.0, 0.0, gray, gray]);
        assert_eq!(values[14..16], [0.2, 0.0]);
    }
}
