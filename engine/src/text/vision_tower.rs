//! Vision towers of language models: what they have in common.

use std::fmt;

use candle_core::{Device as Place, Result as TensorResult, Tensor as Values};

use crate::{
    nn::{Device, Result, Rope, Tensor},
    residency::{Blocks, RunError},
};

/// Channels of an image.
pub(super) const CHANNELS: usize = 3;
/// Base of the rotary frequencies.
const THETA: f32 = 10_000.0;

/// Converts images to tokens of a language model. The weights come from a store.
pub trait VisionTower: fmt::Debug + Send + Sync {
    /// The sizes in which it reads an image of this width and height, which the autoencoder reads in the size `encoded`.
    fn size(&self, own: [u32; 2], encoded: [u32; 2]) -> SeenSize;

    /// How it reads an image in patches.
    fn patches(&self) -> VisionPatches;

    /// The mean and the deviation of each channel of an image, which are taken out of its values in 0…1.
    fn spread(&self) -> [[f32; CHANNELS]; 2];

    /// The tokens `[rows, columns, width]` of images with these numbers of rows and columns, from their
    /// [patches](VisionPatches::read), which are freed when they are embedded. Every block is leased once for all. Towers
    /// for [several layers](super::Seen::images) of a model have the values for each side by side.
    ///
    /// # Errors
    /// When the walk stops early.
    fn encode(
        &self,
        blocks: Blocks<'_>,
        patches: Tensor,
        grids: &[[usize; 2]],
    ) -> std::result::Result<Vec<Tensor>, RunError>;
}

/// The sizes in which a vision tower reads an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenSize {
    /// Width and height to which it is scaled before that, if it is.
    pub before: Option<[u32; 2]>,
    /// Width and height to which it is scaled first.
    pub scaled: [u32; 2],
    /// Width and height to which the result is scaled: whole tokens.
    pub read: [u32; 2],
    /// Rows and columns of tokens.
    pub grid: [usize; 2],
}

/// How a vision tower reads images: in square patches, of which some neighbours become a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisionPatches {
    /// Pixels along each side of a patch.
    pub side: usize,
    /// Frames of a patch; an image is repeated.
    pub frames: usize,
    /// Patches along each side of a token.
    pub merge: usize,
    /// Tokens along each side of a window, in towers that attend within windows.
    pub window: usize,
}

/// The order in which the patches of an image go through a tower, window by window, and the tokens of a window row by
/// row.
pub(super) struct Order {
    /// Row and column of each patch.
    pub places: Vec<[usize; 2]>,
    /// Patches of each window.
    pub windows: Vec<usize>,
    /// For each token of the image, row by row, its place in this order.
    pub tokens: Vec<usize>,
}

impl VisionPatches {
    /// Pixels along each side of a token.
    pub fn token(self) -> usize {
        self.side * self.merge
    }

    /// Values of a patch.
    pub fn values(self) -> usize {
        CHANNELS * self.frames * self.side.pow(2)
    }

    /// Patches of an image with this many rows and columns of tokens.
    pub fn of(self, grid: [usize; 2]) -> usize {
        grid[0] * grid[1] * self.merge.pow(2)
    }

    /// The patches `[1, patches, values]` of images `[1, 3, height, width]`, image after image in the tower's order.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn read(self, images: &[Values]) -> TensorResult<Values> {
        let (side, token) = (self.side, self.token());
        let mut values = Vec::new();
        for image in images {
            let (_, _, height, width) = image.dims4()?;
            let planes = image.to_dtype(candle_core::DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
            for [row, column] in self.order([height / token, width / token]).places {
                for plane in planes.chunks(height * width) {
                    for _ in 0..self.frames {
                        for line in row * side..(row + 1) * side {
                            let start = line * width + column * side;
                            values.extend_from_slice(&plane[start..start + side]);
                        }
                    }
                }
            }
        }
        let count = values.len() / self.values();
        Values::from_vec(values, (1, count, self.values()), &Place::Cpu)
    }

    pub(super) fn order(self, [rows, columns]: [usize; 2]) -> Order {
        let (window, merge) = (self.window, self.merge);
        let mut order = Order { places: Vec::new(), windows: Vec::new(), tokens: vec![0; rows * columns] };
        let mut number = 0;
        for top in (0..rows).step_by(window) {
            for left in (0..columns).step_by(window) {
                let before = order.places.len();
                for row in top..top.saturating_add(window).min(rows) {
                    for column in left..left.saturating_add(window).min(columns) {
                        order.tokens[row * columns + column] = number;
                        number += 1;
                        let inside = (0..merge * merge).map(|patch| [patch / merge, patch % merge]);
                        order.places.extend(inside.map(|[y, x]| [row * merge + y, column * merge + x]));
                    }
                }
                order.windows.push(order.places.len() - before);
            }
        }
        order
    }
}

/// Rotary embeddings of patches at these rows and columns: half of a head of this width is rotated by the row, the other by
/// the column.
pub(super) fn rope(places: &[[usize; 2]], head: usize, device: &Device) -> Result<Rope> {
    let half = head / 2;
    let frequency = |pair: usize| 1.0 / THETA.powf((2 * pair) as f32 / half as f32);
    let of = |place: usize| (0..half / 2).map(move |pair| place as f32 * frequency(pair));
    let angles: Vec<f32> = places.iter().flat_map(|&[row, column]| of(row).chain(of(column))).collect();
    Rope::from_angles(&angles, places.len(), half, device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_go_through_the_tower_window_by_window() {
        let order = VisionPatches { side: 14, frames: 2, merge: 2, window: 4 }.order([5, 6]);
        assert_eq!(order.windows, [64, 32, 16, 8]);
        assert_eq!(order.places[..6], [[0, 0], [0, 1], [1, 0], [1, 1], [0, 2], [0, 3]]);
        assert_eq!(order.tokens[..7], [0, 1, 2, 3, 16, 17, 4]);
        assert_eq!(order.tokens[29], 29);
    }
}
