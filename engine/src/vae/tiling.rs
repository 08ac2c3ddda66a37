//! Decoding and encoding in overlapping tiles.

use super::Area;
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
        mut decode: impl FnMut(&Tensor) -> std::result::Result<Tensor, E>,
    ) -> std::result::Result<Tensor, E> {
        self.in_tiles(sides(latents)?, [1, scale], |area| decode(&area.of(latents)?))
    }

    /// Encodes tile by tile, like [`decode`](Self::decode); blends the latents.
    pub fn encode<E: From<nn::Error>>(
        self,
        pictures: &Tensor,
        scale: usize,
        mut encode: impl FnMut(&Tensor) -> std::result::Result<Tensor, E>,
    ) -> std::result::Result<Tensor, E> {
        self.encode_areas(sides(pictures)?, scale, |area| encode(&area.of(pictures)?))
    }

    /// The same for pixels of a height and width, of which `encode` gets only the area.
    pub fn encode_areas<E: From<nn::Error>>(
        self,
        pixels: [usize; 2],
        scale: usize,
        encode: impl FnMut(Area) -> std::result::Result<Tensor, E>,
    ) -> std::result::Result<Tensor, E> {
        self.in_tiles(pixels, [scale, 1], encode)
    }

    /// Runs `work` for each tile of an input of a height and width. `from` and `to` are the values per latent, in each
    /// direction, of its input and output.
    fn in_tiles<E: From<nn::Error>>(
        self,
        [height, width]: [usize; 2],
        [from, to]: [usize; 2],
        mut work: impl FnMut(Area) -> std::result::Result<Tensor, E>,
    ) -> std::result::Result<Tensor, E> {
        let (tile, step) = (self.tile * from, self.step() * from);
        if height <= tile && width <= tile {
            return work(Area { top: 0, left: 0, height, width });
        }
        let (blend, limit) = (self.overlap * to, self.step() * to);
        let mut rows: Vec<Tensor> = Vec::new();
        let mut above: Vec<Tensor> = Vec::new();
        for top in (0..height).step_by(step) {
            let mut row: Vec<Tensor> = Vec::new();
            let mut kept: Vec<Tensor> = Vec::new();
            for left in (0..width).step_by(step) {
                let (height, width) = (tile.min(height - top), tile.min(width - left));
                let mut tile = work(Area { top, left, height, width })?;
                let (rows_at, columns_at) = (tile.rank() - 2, tile.rank() - 1);
                if let Some(above) = above.get(row.len()) {
                    tile = fade(above, &tile, rows_at, blend)?;
                }
                if let Some(before) = row.last() {
                    tile = fade(before, &tile, columns_at, blend)?;
                }
                kept.push(start_of(&tile, limit)?);
                row.push(tile);
            }
            rows.push(Tensor::cat(&kept, nn::D::Minus1)?);
            above = row;
        }
        Ok(Tensor::cat(&rows, nn::D::Minus2)?)
    }
}

/// Height and width: the last dimensions.
fn sides(x: &Tensor) -> Result<[usize; 2]> {
    Ok([x.dim(nn::D::Minus2)?, x.dim(nn::D::Minus1)?])
}

/// The upper left part of `x`, at most `limit` by `limit`.
fn start_of(x: &Tensor, limit: usize) -> Result<Tensor> {
    let [height, width] = sides(x)?.map(|side| side.min(limit));
    Area { top: 0, left: 0, height, width }.of(x)
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
