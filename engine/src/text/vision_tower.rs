//! Vision towers of language models: what they have in common.

use std::fmt;

use candle_core::{DType, Device as Place, Result as TensorResult, Tensor as Values, WithDType};
use half::{bf16, f16};

use crate::{
    checkpoint::{BlockSpec, Part, StoredName, TensorTable},
    nn::{Device, Result, Rope, Tensor},
    residency::{Blocks, RunError, Weights},
};

/// Prefix of the names of Qwen's towers in files.
pub(super) const PREFIX: &str = "visual.";
/// Channels of an image.
pub(super) const CHANNELS: usize = 3;
/// Base of the rotary frequencies.
const THETA: f32 = 10_000.0;

/// Converts images to tokens of a language model. The weights come from a store.
pub trait VisionTower: fmt::Debug + Send + Sync {
    /// The sizes in which it reads an image of this width and height, which the autoencoder reads in the size `encoded`.
    fn size(&self, own: [u32; 2], encoded: [u32; 2]) -> SeenSize;

    /// The least pixels of an image that is read alone, as published.
    fn least_pixels(&self) -> u64 {
        0
    }

    /// The sizes in which it reads an image of this width and height alone, with at most so many pixels.
    fn size_within(&self, own: [u32; 2], most: u64) -> SeenSize {
        let side = self.patches().token();
        let read = in_tokens(own, side as u32, [self.least_pixels(), most]);
        let grid = [read[1] as usize / side, read[0] as usize / side];
        SeenSize { before: None, scaled: own, read, grid }
    }

    /// How it reads an image in patches.
    fn patches(&self) -> VisionPatches;

    /// The mean and the deviation of each channel of an image, which are taken out of its values in 0…1.
    fn spread(&self) -> [[f32; CHANNELS]; 2];

    /// Whether its tokens are read beside those of a prompt by the denoiser, and not among them by a language model.
    fn is_beside(&self) -> bool {
        false
    }

    /// The tokens `[rows, columns, width]` of images with these numbers of rows and columns, from their
    /// [patches](VisionPatches::read) in the dtype of the blocks, which are freed when they are embedded. Every block is
    /// leased once for all. Towers for [several layers](super::Seen::images) of a model have the values for each side by
    /// side.
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

    /// The patches `[1, patches, values]` of images in `dtype`, each its height, its width and its values `[3, height, width]`,
    /// image after image in the tower's order.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn read(self, images: &[([usize; 2], Vec<f32>)], dtype: DType) -> TensorResult<Values> {
        match dtype {
            DType::BF16 => self.read_as(images, bf16::from_f32),
            DType::F16 => self.read_as(images, f16::from_f32),
            _ => self.read_as(images, |value| value)?.to_dtype(dtype),
        }
    }

    fn read_as<T: WithDType>(
        self,
        images: &[([usize; 2], Vec<f32>)],
        convert: impl Fn(f32) -> T + Copy,
    ) -> TensorResult<Values> {
        let (side, token) = (self.side, self.token());
        let grids = images.iter().map(|([height, width], _)| [height / token, width / token]);
        let count: usize = grids.clone().map(|grid| self.of(grid)).sum();
        let mut values = Vec::with_capacity(count * self.values());
        for (([height, width], planes), grid) in images.iter().zip(grids) {
            for [row, column] in self.order(grid).places {
                for plane in planes.chunks(height * width) {
                    for _ in 0..self.frames {
                        for line in row * side..(row + 1) * side {
                            let start = line * width + column * side;
                            values.extend(plane[start..start + side].iter().copied().map(convert));
                        }
                    }
                }
            }
        }
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

/// The layer that embeds patches.
const PATCHES: &str = "patch_embed.proj";
/// In GGUF files the layer that embeds the second frame of patches is a tensor of its own.
const SECOND: &str = "patch_embed.proj.1";

/// Adds the layer that embeds patches to a block, as it is stored in these tensors, whose names begin with `prefix`.
pub(super) fn embedder(spec: BlockSpec, width: usize, patches: VisionPatches, is_split: bool) -> BlockSpec {
    let VisionPatches { side, frames, .. } = patches;
    if !is_split {
        return spec.tensor(format!("{PATCHES}.weight"), &[width, CHANNELS, frames, side, side]);
    }
    let of_frame = [width, CHANNELS, side, side];
    [PATCHES, SECOND].iter().fold(spec, |spec, name| spec.tensor(format!("{name}.weight"), &of_frame))
}

/// Whether the layer that embeds patches is two tensors.
pub(super) fn is_split(tensors: &TensorTable, prefix: &str) -> bool {
    tensors.contains_key(&format!("{prefix}{SECOND}.weight"))
}

/// Patches `[1, patches, values]` as states.
pub(super) fn embedded(w: &Weights, x: &Tensor, patches: VisionPatches) -> Result<Tensor> {
    if !w.has(&format!("{SECOND}.weight")) {
        return w.patches(PATCHES, x);
    }
    let (batch, count, _) = x.dims3()?;
    let pixels = patches.side.pow(2);
    let frames = x.reshape(&[batch, count, CHANNELS, patches.frames, pixels])?;
    let frame =
        |number: usize| frames.narrow(3, number, 1)?.contiguous()?.reshape((batch, count, CHANNELS * pixels));
    w.patches(PATCHES, &frame(0)?)? + w.patches(SECOND, &frame(1)?)?
}

/// The shape of the kernel of patches in tensors whose names begin with `prefix`: width, frames and side.
pub(super) fn kernel(tensors: &TensorTable, prefix: &str) -> Option<[usize; 3]> {
    match *tensors.get(&format!("{prefix}{PATCHES}.weight"))?.shape() {
        [width, _, frames, side, _] => Some([width, frames, side]),
        [width, _, side, _] if is_split(tensors, prefix) => Some([width, 2, side]),
        _ => None,
    }
}

/// Where a tensor of a tower is in a file: under its own name after the usual prefix, or else as `otherwise` says.
pub(super) fn whole_or(part: &Part, name: &str, otherwise: impl Fn(&str) -> StoredName) -> StoredName {
    let whole = format!("{PREFIX}{name}");
    if part.tensors.contains_key(&whole) { StoredName::whole(whole) } else { otherwise(name) }
}

/// The nearest width and height in whole tokens of this side, with pixels between the least and the most.
pub(super) fn in_tokens([width, height]: [u32; 2], side: u32, [least, most]: [u64; 2]) -> [u32; 2] {
    let side = f64::from(side);
    let nearest = |length: u32| (f64::from(length) / side).round_ties_even() * side;
    let (wide, high) = (nearest(width), nearest(height));
    let pixels = f64::from(width) * f64::from(height);
    let (least, most) = (least as f64, most as f64);
    let whole = |tokens: f64| tokens.max(1.0) as u32 * side as u32;
    if wide * high > most {
        let smaller = (pixels / most).sqrt();
        [width, height].map(|length| whole((f64::from(length) / smaller / side).floor()))
    } else if wide * high < least {
        let larger = (least / pixels.max(1.0)).sqrt();
        [width, height].map(|length| whole((f64::from(length) * larger / side).ceil()))
    } else {
        [wide as u32, high as u32]
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
