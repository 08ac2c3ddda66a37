//! Clips decoded piece by piece: in tiles, and in groups of frames.
//!
//! A tile is decoded from the first frame to the last before the next one begins, because the autoencoder keeps what
//! it has seen of it. So the blended borders of all frames are kept until the neighbouring tiles have come.

use std::collections::HashMap;

use super::Tiling;
use crate::{
    nn::{Result, Tensor},
    residency::RunError,
};

/// Receives the pieces of a clip as they are finished.
pub type Show<'a> = &'a mut dyn FnMut(Piece) -> std::result::Result<(), RunError>;

/// Some frames of a tile.
#[derive(Debug, Clone)]
pub struct Piece {
    /// The tile.
    pub place: Place,
    /// The number of its first frame in the clip.
    pub first: usize,
    /// Its frames `[1, 3, height, width]`. Values beyond −1…1 are limited after blending.
    pub frames: Vec<Tensor>,
}

/// A tile of latents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its number from above.
    pub row: usize,
    /// Its number from the left.
    pub column: usize,
    /// Its first row of latents.
    pub top: usize,
    /// Its first column of latents.
    pub left: usize,
    /// Rows of latents.
    pub height: usize,
    /// Columns of latents.
    pub width: usize,
    /// Whether there is a tile below it.
    pub has_below: bool,
    /// Whether there is a tile to the right of it.
    pub has_right: bool,
}

impl Place {
    /// The tile of latents whose last dimensions are height and width.
    pub fn of(&self, latents: &Tensor) -> Result<Tensor> {
        let rank = latents.rank();
        let rows = latents.narrow(rank - 2, self.top, self.height)?;
        rows.narrow(rank - 1, self.left, self.width)?.contiguous()
    }
}

impl Tiling {
    /// The tiles of latents of a height and width, row by row; without a tiling, one tile.
    pub fn places(tiling: Option<Self>, [height, width]: [usize; 2]) -> Vec<Place> {
        let whole = Self { tile: height.max(width), overlap: 0 };
        let tiling = tiling.filter(|tiling| height.max(width) > tiling.tile).unwrap_or(whole);
        let starts = |length: usize| (0..length).step_by(tiling.step()).collect::<Vec<_>>();
        let (tops, lefts) = (starts(height), starts(width));
        let place = |row: usize, column: usize| Place {
            row,
            column,
            top: tops[row],
            left: lefts[column],
            height: tiling.tile.min(height - tops[row]),
            width: tiling.tile.min(width - lefts[column]),
            has_below: row + 1 < tops.len(),
            has_right: column + 1 < lefts.len(),
        };
        (0..tops.len())
            .flat_map(|row| (0..lefts.len()).map(move |column| (row, column)))
            .map(|(row, column)| place(row, column))
            .collect()
    }
}

/// Values of an image, channel by channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// The values.
    pub values: Vec<f32>,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Values {
    /// The part of it that begins at a row and a column and reaches to the ends.
    fn from(&self, top: usize, left: usize) -> Self {
        let rows = self.values.chunks(self.width).enumerate();
        let kept = rows.filter(|(row, _)| row % self.height >= top);
        let values = kept.flat_map(|(_, row)| &row[left..]).copied().collect();
        Self { values, height: self.height - top, width: self.width - left }
    }
}

/// Blends the borders of neighbouring tiles, as [`Tiling::decode`] does.
#[derive(Debug)]
pub struct Seams {
    /// Pixels in which tiles overlap.
    blend: usize,
    /// Pixels from one tile to the next.
    step: usize,
    /// The lower ends of the tiles above, by column and frame.
    above: HashMap<(usize, usize), Values>,
    /// The right ends of the tile to the left, by frame.
    left: HashMap<usize, Values>,
}

impl Seams {
    /// For tiles of an autoencoder with this many pixels per latent.
    pub fn new(tiling: Option<Tiling>, scale: usize) -> Self {
        let (blend, step) = tiling.map_or((0, 0), |tiling| (tiling.overlap * scale, tiling.step() * scale));
        Self { blend, step, above: HashMap::new(), left: HashMap::new() }
    }

    /// Blends a frame of a tile into its neighbours above and to the left. Returns how many of its rows and columns
    /// belong to the image; the next tiles cover the others.
    pub fn blend(&mut self, place: &Place, frame: usize, tile: &mut Values) -> [usize; 2] {
        if place.row > 0
            && let Some(above) = self.above.remove(&(place.column, frame))
        {
            fade_rows(&above, tile, self.blend);
        }
        if place.column > 0
            && let Some(left) = self.left.remove(&frame)
        {
            fade_columns(&left, tile, self.blend);
        }
        if place.has_below {
            let end = tile.from(tile.height.saturating_sub(self.blend), 0);
            self.above.insert((place.column, frame), end);
        }
        if place.has_right {
            self.left.insert(frame, tile.from(0, tile.width.saturating_sub(self.blend)));
        }
        if place.has_below || place.has_right || place.row > 0 || place.column > 0 {
            [tile.height.min(self.step), tile.width.min(self.step)]
        } else {
            [tile.height, tile.width]
        }
    }
}

/// The shares of the tile before and of the tile itself at a place of an overlap.
fn shares(index: usize, extent: usize) -> [f32; 2] {
    [(1.0 - index as f64 / extent as f64) as f32, index as f32 / extent as f32]
}

fn fade_rows(above: &Values, tile: &mut Values, blend: usize) {
    let (height, width) = (tile.height, tile.width);
    let extent = blend.min(above.height).min(height);
    for (channel, plane) in tile.values.chunks_mut(height * width).enumerate() {
        for (row, values) in plane.chunks_mut(width).take(extent).enumerate() {
            let [falling, rising] = shares(row, extent);
            let start = (channel * above.height + above.height - extent + row) * above.width;
            for (value, before) in values.iter_mut().zip(&above.values[start..][..above.width]) {
                *value = before * falling + *value * rising;
            }
        }
    }
}

fn fade_columns(left: &Values, tile: &mut Values, blend: usize) {
    let extent = blend.min(left.width).min(tile.width);
    let rows = tile.values.chunks_mut(tile.width).zip(left.values.chunks(left.width));
    for (values, before) in rows {
        for (column, (value, before)) in values.iter_mut().zip(&before[left.width - extent..]).enumerate() {
            let [falling, rising] = shares(column, extent);
            *value = before * falling + *value * rising;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Device, Error, upsample_nearest_2x};

    /// A decoder whose pixels depend on the tile, so that borders show.
    fn decode(tile: &Tensor) -> Result<Tensor> {
        let (_, _, height, width) = tile.dims4()?;
        upsample_nearest_2x(&(tile * (height as f64 + 0.1 * width as f64))?)
    }

    #[test]
    fn pieces_are_blended_as_whole_images_are() {
        for ([height, width], tiling) in [
            ([11, 14], Some(Tiling::with_tile(6))),
            ([11, 5], Some(Tiling::with_tile(6))),
            ([5, 13], Some(Tiling { tile: 4, overlap: 2 })),
            ([4, 4], Some(Tiling::with_tile(6))),
            ([7, 9], None),
        ] {
            let values = (0..2 * height * width).map(|value| (value as f32 * 0.37).sin()).collect();
            let latents = Tensor::from_vec(values, (1, 2, height, width), &Device::processor()).unwrap();
            let want = match tiling {
                Some(tiling) => tiling.decode::<Error>(&latents, 2, decode).unwrap(),
                None => decode(&latents).unwrap(),
            };
            let mut seams = Seams::new(tiling, 2);
            let mut canvas = vec![f32::NAN; 2 * 4 * height * width];
            for place in Tiling::places(tiling, [height, width]) {
                let tile = decode(&place.of(&latents).unwrap()).unwrap().into_computed().unwrap();
                let values = tile.flatten_all().unwrap().to_vec1().unwrap();
                let mut tile = Values { values, height: 2 * place.height, width: 2 * place.width };
                let [rows, columns] = seams.blend(&place, 3, &mut tile);
                for (line, values) in tile.values.chunks(tile.width).enumerate() {
                    let (channel, row) = (line / tile.height, line % tile.height);
                    let start = (channel * 2 * height + 2 * place.top + row) * 2 * width + 2 * place.left;
                    if row < rows {
                        canvas[start..start + columns].copy_from_slice(&values[..columns]);
                    }
                }
            }
            let want: Vec<f32> = want.into_computed().unwrap().flatten_all().unwrap().to_vec1().unwrap();
            assert_eq!(canvas, want, "{height} {width} {tiling:?}");
        }
    }
}
