//! The mask of an inpainting request.

use candle_core::{Device, Result, Tensor};

use super::cutout::Region;
use crate::output::Image;

/// Pixels with at least this lightness are inpainted.
const LIGHT: u32 = 128;
/// Costs of a straight and a diagonal step between pixels, in thirds of a pixel; sums are within 8% of the
/// distance.
const STRAIGHT: u32 = 3;
const ASLANT: u32 = 4;

/// A value for each pixel of the generated image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mask {
    width: usize,
    /// Whether each pixel is inpainted, row by row.
    open: Vec<bool>,
}

impl Mask {
    /// The white area of `picture`.
    pub fn of(picture: &Image) -> Self {
        let pixels = picture.pixels.as_chunks::<3>().0.iter();
        Self { width: picture.width as usize, open: pixels.map(|pixel| lightness(*pixel) >= LIGHT).collect() }
    }

    /// Of these pixels of an image of a width, row by row.
    pub fn new(width: u32, open: Vec<bool>) -> Self {
        Self { width: width as usize, open }
    }

    /// Grown by this many pixels on each side.
    pub fn grown(&self, by: usize) -> Self {
        let width = self.width.max(1);
        let height = self.open.len() / width;
        let mut across = vec![false; self.open.len()];
        for (row, grown) in self.open.chunks_exact(width).zip(across.chunks_exact_mut(width)) {
            for (column, _) in row.iter().enumerate().filter(|(_, open)| **open) {
                grown[column.saturating_sub(by)..(column + by + 1).min(width)].fill(true);
            }
        }
        let mut open = vec![false; self.open.len()];
        for row in 0..height {
            let near = row.saturating_sub(by)..(row + by + 1).min(height);
            for near in near {
                let from = &across[near * width..][..width];
                open[row * width..][..width].iter_mut().zip(from).for_each(|(open, near)| *open |= near);
            }
        }
        Self { width: self.width, open }
    }

    /// White where it is inpainted, and black elsewhere.
    pub fn image(&self) -> Image {
        let [width, height] = self.size();
        let shades = self.open.iter().flat_map(|&open| [if open { u8::MAX } else { 0 }; 3]);
        Image::opaque(width, height, shades.collect())
    }

    /// Whether each pixel is inpainted, row by row.
    pub fn open(&self) -> &[bool] {
        &self.open
    }

    /// Width and height.
    pub fn size(&self) -> [u32; 2] {
        [self.width as u32, (self.open.len() / self.width.max(1)) as u32]
    }

    /// Whether each pixel of a row is inpainted.
    pub fn row(&self, row: u32) -> &[bool] {
        &self.open[row as usize * self.width..][..self.width]
    }

    /// The mask of a part of the image.
    pub fn part(&self, region: Region) -> Self {
        let columns = region.left as usize..region.right as usize;
        let open = (region.top..region.bottom).flat_map(|row| &self.row(row)[columns.clone()]);
        Self { width: columns.len(), open: open.copied().collect() }
    }

    /// Puts the pixels of `new` into the masked area of `old`, where they fade in over `blur` pixels.
    pub fn mix(&self, old: &mut Image, new: &Image, blur: u32) {
        let pixels = old.pixels.as_chunks_mut::<3>().0.iter_mut().zip(new.pixels.as_chunks::<3>().0);
        for ((old, new), share) in pixels.zip(self.shares(blur)) {
            for (old, new) in old.iter_mut().zip(new) {
                let mixed = f32::from(*new) * share + f32::from(*old) * (1.0 - share);
                *old = mixed.round_ties_even() as u8;
            }
        }
    }

    /// Whether each latent of `height` by `width` is inpainted: its first pixel decides, as in diffusers.
    pub fn of_latents(&self, [height, width]: [usize; 2]) -> Vec<bool> {
        let rows = self.open.len() / self.width.max(1);
        let pixel =
            |row: usize, column: usize| row * rows / height * self.width + column * self.width / width;
        (0..height * width).map(|place| self.open[pixel(place / width, place % width)]).collect()
    }

    /// The share of the inpainted image in each pixel: 0 outside the mask, rising to 1 over `blur` pixels inside.
    pub fn shares(&self, blur: u32) -> Vec<f32> {
        let most = (blur + 1) * STRAIGHT;
        let height = self.open.len() / self.width.max(1);
        let mut depth: Vec<u32> = self.open.iter().map(|&open| if open { most } else { 0 }).collect();
        let place = |row: usize, column: usize| row * self.width + column;
        for row in 0..height {
            for column in 0..self.width {
                let above = row.checked_sub(1);
                let left = column.checked_sub(1);
                let right = Some(column + 1).filter(|&column| column < self.width);
                let near = [(Some(row), left), (above, left), (above, Some(column)), (above, right)];
                shorten(&mut depth, place(row, column), near, column, place);
            }
        }
        for row in (0..height).rev() {
            for column in (0..self.width).rev() {
                let below = Some(row + 1).filter(|&row| row < height);
                let left = column.checked_sub(1);
                let right = Some(column + 1).filter(|&column| column < self.width);
                let near = [(Some(row), right), (below, right), (below, Some(column)), (below, left)];
                shorten(&mut depth, place(row, column), near, column, place);
            }
        }
        depth.into_iter().map(|depth| depth as f32 / most as f32).collect()
    }
}

/// Lowers the distance at a pixel by the distances of its neighbors.
fn shorten(
    depth: &mut [u32],
    here: usize,
    near: [(Option<usize>, Option<usize>); 4],
    column: usize,
    place: impl Fn(usize, usize) -> usize,
) {
    let width = place(1, 0);
    for (row, other) in near {
        let (Some(row), Some(other)) = (row, other) else { continue };
        let aslant = row != here / width && other != column;
        let by = depth[place(row, other)] + if aslant { ASLANT } else { STRAIGHT };
        depth[here] = depth[here].min(by);
    }
}

/// The lightness of a pixel, as in Pillow.
fn lightness([red, green, blue]: [u8; 3]) -> u32 {
    (u32::from(red) * 19_595 + u32::from(green) * 38_470 + u32::from(blue) * 7_471 + 0x8000) >> 16
}

/// 1 for true, 0 for false, `[1, 1, height, width]`.
pub(super) fn tensor(values: &[bool], [height, width]: [usize; 2]) -> Result<Tensor> {
    let values: Vec<f32> = values.iter().map(|&open| f32::from(u8::from(open))).collect();
    Tensor::from_vec(values, (1, 1, height, width), &Device::Cpu)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(rows: [&str; 4]) -> Mask {
        let open = rows.iter().flat_map(|row| row.chars()).map(|pixel| pixel == '#').collect();
        Mask { width: rows[0].len(), open }
    }

    #[test]
    fn what_is_new_fades_in_within_the_mask_alone() {
        let mask = mask(["......", ".#####", ".#####", ".#####"]);
        let shares = mask.shares(2);
        for (share, open) in shares.iter().zip(&mask.open) {
            assert_eq!(*share > 0.0, *open);
        }
        // The edge of the image is not an edge of the mask.
        let row: Vec<f32> = shares[18..].iter().map(|share| (share * 9.0).round()).collect();
        assert_eq!(row, [0.0, 3.0, 6.0, 9.0, 9.0, 9.0]);
        assert!(
            mask.shares(0).iter().zip(&mask.open).all(|(share, open)| *share == f32::from(u8::from(*open)))
        );
    }

    #[test]
    fn masks_grow_on_each_side_and_not_beyond_the_image() {
        let small = mask(["......", "......", "..#...", ".....#"]);
        let grown = mask(["......", ".###..", ".#####", ".#####"]);
        assert_eq!(small.grown(1), grown);
        assert_eq!(small.grown(0), small);
        assert!(small.grown(9).open.iter().all(|open| *open));
        assert_eq!(Mask::of(&grown.image()), grown);
    }

    #[test]
    fn a_latent_follows_its_first_pixel() {
        let mask = mask(["#..#", ".##.", "..#.", "####"]);
        assert_eq!(mask.of_latents([2, 2]), [true, false, false, true]);
        assert_eq!(mask.of_latents([4, 4]), mask.open);
    }

    #[test]
    fn light_pixels_are_drawn_anew() {
        let image = Image::opaque(4, 1, vec![127, 127, 127, 128, 128, 128, 0, 255, 0, 255, 0, 0]);
        assert_eq!(Mask::of(&image).open(), [false, true, true, false]);
    }
}
