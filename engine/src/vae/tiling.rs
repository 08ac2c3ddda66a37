//! Decoding and encoding in overlapping tiles.

use crate::nn::{self, DType, Result, Tensor};

/// How an image is split into tiles, in latents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiling {
    /// Side of a tile.
    pub tile: usize,
    /// Overlap of neighbouring tiles, at most half of `tile`.
    pub overlap: usize,
}

impl Tiling {
    /// Tile sides that a plan may choose, in latents.
    pub const SIDES: [usize; 6] = [128, 96, 64, 48, 32, 16];

    /// Tiles of this side with an overlap of one quarter, as in diffusers.
    pub fn with_tile(tile: usize) -> Self {
        Self { tile, overlap: tile / 4 }
    }

    /// Latents from one tile to the next.
    pub fn step(self) -> usize {
        (self.tile - self.overlap).max(1)
    }

    /// Decodes tile by tile. `scale` is the number of pixels per latent. Where tiles overlap, the earlier
    /// tile is blended into the later one, first from above, then from the left.
    pub fn decode<E: From<nn::Error>>(
        self,
        latents: &Tensor,
        scale: usize,
        decode: impl FnMut(&Tensor) -> std::result::Result<Tensor, E>,
    ) -> std::result::Result<Tensor, E> {
        self.in_tiles(latents, [1, scale], decode)
    }

    /// Encodes tile by tile, like [`decode`](Self::decode); blends the latents.
    pub fn encode<E: From<nn::Error>>(
        self,
        pictures: &Tensor,
        scale: usize,
        encode: impl FnMut(&Tensor) -> std::result::Result<Tensor, E>,
    ) -> std::result::Result<Tensor, E> {
        self.in_tiles(pictures, [scale, 1], encode)
    }

    /// Runs `work` tile by tile. `from` and `to` are the values per latent, in each direction, of its input and
    /// output.
    fn in_tiles<E: From<nn::Error>>(
        self,
        x: &Tensor,
        [from, to]: [usize; 2],
        mut work: impl FnMut(&Tensor) -> std::result::Result<Tensor, E>,
    ) -> std::result::Result<Tensor, E> {
        let (rows_at, columns_at) = (x.rank() - 2, x.rank() - 1);
        let (height, width) = (x.dim(rows_at)?, x.dim(columns_at)?);
        let (tile, step) = (self.tile * from, self.step() * from);
        if height <= tile && width <= tile {
            return work(x);
        }
        let (blend, limit) = (self.overlap * to, self.step() * to);
        let mut rows: Vec<Tensor> = Vec::new();
        let mut above: Vec<Tensor> = Vec::new();
        for top in (0..height).step_by(step) {
            let mut row: Vec<Tensor> = Vec::new();
            let mut kept: Vec<Tensor> = Vec::new();
            for left in (0..width).step_by(step) {
                let mut tile = work(&crop(x, top, left, tile, tile)?)?;
                if let Some(above) = above.get(row.len()) {
                    tile = fade(above, &tile, rows_at, blend)?;
                }
                if let Some(before) = row.last() {
                    tile = fade(before, &tile, columns_at, blend)?;
                }
                kept.push(crop(&tile, 0, 0, limit, limit)?);
                row.push(tile);
            }
            rows.push(Tensor::cat(&kept, columns_at)?);
            above = row;
        }
        Ok(Tensor::cat(&rows, rows_at)?)
    }
}

/// The part of `x` starting at `(top, left)`, at most `height` by `width`.
fn crop(x: &Tensor, top: usize, left: usize, height: usize, width: usize) -> Result<Tensor> {
    let (rows_at, columns_at) = (x.rank() - 2, x.rank() - 1);
    let (rows, columns) = (x.dim(rows_at)?, x.dim(columns_at)?);
    let rows = x.narrow(rows_at, top, height.min(rows - top))?;
    rows.narrow(columns_at, left, width.min(columns - left))?.contiguous()
}

/// Blends the end of `before` along `dim` into the start of `after`.
fn fade(before: &Tensor, after: &Tensor, dim: usize, extent: usize) -> Result<Tensor> {
    let (length_before, length) = (before.dim(dim)?, after.dim(dim)?);
    let extent = extent.min(length_before).min(length);
    if extent == 0 {
        return Ok(after.clone());
    }
    let mut shape = vec![1; after.rank()];
    shape[dim] = extent;
    let rising: Vec<f32> = (0..extent).map(|index| index as f32 / extent as f32).collect();
    let falling: Vec<f32> = (0..extent).map(|index| (1.0 - index as f64 / extent as f64) as f32).collect();
    let weights = |values| Tensor::from_vec(values, shape.clone(), &after.device());
    let end = before.narrow(dim, length_before - extent, extent)?.to_dtype(DType::F32)?;
    let start = after.narrow(dim, 0, extent)?.to_dtype(DType::F32)?;
    let blended = (end.broadcast_mul(&weights(falling)?)? + start.broadcast_mul(&weights(rising)?)?)?;
    Tensor::cat(&[blended.to_dtype(after.dtype())?, after.narrow(dim, extent, length - extent)?], dim)
}
