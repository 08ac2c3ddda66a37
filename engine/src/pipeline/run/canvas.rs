//! The image that tiles are put together to.

use crate::{output::Image, upscale::Tile};

/// Bytes per pixel.
const COLOURS: usize = 3;

/// An enlarged image, filled tile by tile.
#[derive(Debug)]
pub(super) struct Canvas {
    image: Image,
    factor: usize,
}

impl Canvas {
    /// The empty result for an image of a height and width that is enlarged by a factor.
    pub fn new([height, width]: [usize; 2], factor: usize) -> Self {
        let [width, height] = [width, height].map(|side| side * factor);
        let pixels = vec![0; COLOURS * width * height];
        Self { image: Image::opaque(width as u32, height as u32, pixels), factor }
    }

    /// Puts the result of a tile in place: f32 values of all it has seen, channel by channel, about in 0…1. Where the
    /// tile fades in, it is mixed with what is there. Returns whether all values are finite.
    pub fn place(&mut self, tile: &Tile, values: &[f32]) -> bool {
        let (factor, width) = (self.factor, self.image.width as usize);
        let own = [&tile.seen[0], &tile.seen[1]].map(|seen| seen.len() * factor);
        let plane = own[0] * own[1];
        let kept = |axis: usize| tile.kept[axis].start * factor..tile.kept[axis].end * factor;
        let first = [0, 1].map(|axis| (tile.kept[axis].start - tile.seen[axis].start) * factor);
        let fade = tile.fade.map(|pixels| pixels * factor);
        let (rows, columns) = (kept(0), kept(1));
        let mut is_finite = true;
        for (line, row) in rows.enumerate() {
            let down = share(line, fade[0]);
            let start = COLOURS * (row * width + columns.start);
            let pixels = &mut self.image.pixels[start..start + COLOURS * columns.len()];
            let at = (first[0] + line) * own[1] + first[1];
            for (channel, values) in values.chunks_exact(plane).enumerate() {
                let values = &values[at..at + columns.len()];
                let own = pixels.iter_mut().skip(channel).step_by(COLOURS).zip(values).enumerate();
                for (column, (pixel, value)) in own {
                    is_finite &= value.is_finite();
                    let share = down * share(column, fade[1]);
                    let value = value.clamp(0.0, 1.0) * 255.0;
                    let mixed =
                        if share < 1.0 { f32::from(*pixel) * (1.0 - share) + value * share } else { value };
                    *pixel = mixed.round_ties_even() as u8;
                }
            }
        }
        is_finite
    }

    /// The whole image.
    pub fn image(&self) -> &Image {
        &self.image
    }
}

/// The share that a pixel has of the tile that fades in over `extent` pixels.
fn share(place: usize, extent: usize) -> f32 {
    if place < extent { (place as f32 + 0.5) / extent as f32 } else { 1.0 }
}

/// The values in 0…1 of rows and columns of an image, channel by channel. Rows and columns behind the end mirror those
/// before it.
pub(super) fn values_of(image: &Image, tile: &Tile) -> Vec<f32> {
    let (width, height) = (image.width as usize, image.height as usize);
    let pixels = image.pixels.as_chunks::<COLOURS>().0;
    let [rows, columns] = &tile.seen;
    let mut values = Vec::with_capacity(COLOURS * rows.len() * columns.len());
    for channel in 0..COLOURS {
        for row in rows.clone() {
            let row = &pixels[mirrored(row, height) * width..][..width];
            let inside = columns.start.min(width)..columns.end.min(width);
            values.extend(row[inside].iter().map(|pixel| f32::from(pixel[channel]) / 255.0));
            let behind = columns.clone().skip_while(|column| *column < width);
            values.extend(behind.map(|column| f32::from(row[mirrored(column, width)][channel]) / 255.0));
        }
    }
    values
}

/// The place of a pixel that may be behind the end; the last pixel is not repeated, unless there is no other.
fn mirrored(place: usize, length: usize) -> usize {
    if place < length { place } else { (2 * (length - 1)).saturating_sub(place) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_behind_the_end_mirror_those_before() {
        let pixels = (0..18).collect();
        let image = Image::opaque(3, 2, pixels);
        let tile = Tile { seen: [0..4, 0..4], kept: [0..2, 0..3], fade: [0, 0] };
        let values = values_of(&image, &tile);
        let red: Vec<u8> = values[..16].iter().map(|value| (value * 255.0).round() as u8).collect();
        assert_eq!(red, [0, 3, 6, 3, 9, 12, 15, 12, 0, 3, 6, 3, 0, 3, 6, 3]);
        assert_eq!(mirrored(2, 1), 0);
    }

    #[test]
    fn tiles_fade_into_what_is_there() {
        let mut canvas = Canvas::new([1, 4], 1);
        let first = Tile { seen: [0..1, 0..4], kept: [0..1, 0..3], fade: [0, 0] };
        assert!(canvas.place(&first, &[1.0; 12]));
        let second = Tile { seen: [0..1, 0..4], kept: [0..1, 1..4], fade: [0, 2] };
        assert!(canvas.place(&second, &[0.0; 12]));
        let red: Vec<u8> = canvas.image.pixels.iter().step_by(3).copied().collect();
        assert_eq!(red, [255, 191, 64, 0]);
        assert!(!canvas.place(&second, &[f32::NAN; 12]));
    }
}
