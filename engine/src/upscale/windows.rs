//! Attention within windows of an image, which may be shifted (Liu et al. 2021, arXiv:2103.14030).

use std::ops::Range;

use crate::nn::{Result, Tensor, attention_with_pair_bias};

/// Added to the score of two places that are only neighbours because a shift goes around the edge of the image.
const APART: f32 = -100.0;

/// The number of a place that is not in the image, whose values are zeros.
const OUTSIDE: u32 = u32::MAX;

/// How an image is cut into windows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows {
    /// Rows and columns of a window.
    pub sides: [usize; 2],
    /// Rows and columns by which they are shifted.
    pub shift: [usize; 2],
    /// Height and width are filled up with zeros to multiples of this.
    pub fills: usize,
    /// The first head that attends within them, and how many do.
    pub heads: [usize; 2],
    /// How many heads there are.
    pub of: usize,
}

impl Windows {
    /// The numbers of the places of an image of a height and width that some windows of a strip have, window by window.
    fn taken(&self, [height, width]: [usize; 2], strip: usize, windows: Range<usize>) -> Vec<u32> {
        let Self { sides: [rows, columns], shift, .. } = *self;
        let [high, wide] = self.filled([height, width]);
        let mut places = Vec::with_capacity(windows.len() * rows * columns);
        for window in windows {
            for row in strip * rows..(strip + 1) * rows {
                let row = around(row + shift[0], high);
                let columns = window * columns..(window + 1) * columns;
                places.extend(columns.map(|column| {
                    let column = around(column + shift[1], wide);
                    if row < height && column < width { (row * width + column) as u32 } else { OUTSIDE }
                }));
            }
        }
        places
    }

    /// For each place of an image of a height and width, its number among the places of all windows.
    fn put_back(&self, [height, width]: [usize; 2]) -> Vec<u32> {
        let Self { sides: [rows, columns], shift, .. } = *self;
        let [high, wide] = self.filled([height, width]);
        let of_column = |column: usize| {
            let column = around(column + wide - shift[1], wide);
            column / columns * rows * columns + column % columns
        };
        let of_columns: Vec<usize> = (0..width).map(of_column).collect();
        let mut places = Vec::with_capacity(height * width);
        for row in 0..height {
            let row = around(row + high - shift[0], high);
            let of_row = row / rows * rows * wide + row % rows * columns;
            places.extend(of_columns.iter().map(|of_column| (of_row + of_column) as u32));
        }
        places
    }

    /// A height and width that windows fill.
    fn filled(&self, size: [usize; 2]) -> [usize; 2] {
        size.map(|side| side.next_multiple_of(self.fills))
    }
}

/// A place beyond a length, which goes on from its beginning.
fn around(place: usize, length: usize) -> usize {
    if place < length { place } else { place - length }
}

/// Attention of some heads within windows: `qkv` `[1, height, width, 3 · channels]` has queries, keys and values beside each
/// other. `bias` `[heads, places, places]` is added to the scores.
pub(super) fn attended(windows: &Windows, qkv: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let (_, height, width, triple) = qkv.dims4()?;
    let (size, channels) = ([height, width], triple / 3 / windows.of * windows.heads[1]);
    let places = qkv.reshape((height * width, triple))?;
    let parts = seen(windows, size, &places, bias)?;
    let made = Tensor::cat(&parts, 0)?;
    drop(parts);
    let made = made.reshape((made.elem_count() / channels, channels))?;
    let made = made.index_select_by(height * width, || windows.put_back(size))?;
    made.reshape((1, height, width, channels))
}

/// What the windows of each strip have seen, `[windows, places, heads, values]`.
fn seen(windows: &Windows, size: [usize; 2], qkv: &Tensor, bias: &Tensor) -> Result<Vec<Tensor>> {
    let Windows { sides: [rows, columns], shift, heads: [first_head, heads], of, .. } = *windows;
    let [high, wide] = windows.filled(size);
    let (places, head, across) = (rows * columns, qkv.dim(1)? / 3 / of, wide / columns);
    let mut made = Vec::new();
    for strip in 0..high / rows {
        let is_last = strip + 1 == high / rows;
        // The last column of windows may have places from both edges of the image.
        for (first, count) in [(0, across - 1), (across - 1, 1)] {
            if count == 0 {
                continue;
            }
            let meets = [is_last && shift[0] > 0, first + count == across && shift[1] > 0];
            let bias = match apart([rows, columns], shift, meets) {
                Some(apart) => {
                    let apart = Tensor::from_vec(apart, (1, places, places), &bias.device())?;
                    bias.broadcast_add(&apart.to_dtype(bias.dtype())?)?
                }
                None => bias.clone(),
            };
            let order = || windows.taken(size, strip, first..first + count);
            let taken = qkv.index_select_by(count * places, order)?;
            let taken = taken.reshape((count, places, 3 * of, head))?;
            let part = |number: usize| taken.narrow(2, number * of + first_head, heads);
            made.push(attention_with_pair_bias(&part(0)?, &part(1)?, &part(2)?, &bias)?);
        }
    }
    Ok(made)
}

/// What is added to the scores of pairs of places in a window in which rows, or columns, from both edges of the image meet.
fn apart([rows, columns]: [usize; 2], shift: [usize; 2], meets: [bool; 2]) -> Option<Vec<f32>> {
    if meets == [false; 2] {
        return None;
    }
    let side = |place: usize, length: usize, shift: usize, meets: bool| meets && place >= length - shift;
    let of_place = |place: usize| {
        let (row, column) = (place / columns, place % columns);
        [side(row, rows, shift[0], meets[0]), side(column, columns, shift[1], meets[1])]
    };
    let places = rows * columns;
    let pairs = (0..places).flat_map(|one| (0..places).map(move |other| (one, other)));
    Some(pairs.map(|(one, other)| if of_place(one) == of_place(other) { 0.0 } else { APART }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_a_shift_has_brought_together_do_not_see_each_other() {
        let scores = apart([2, 2], [1, 1], [true, false]).unwrap();
        assert_eq!(scores[..4], [0.0, 0.0, APART, APART]);
        let scores = apart([2, 2], [1, 1], [true, true]).unwrap();
        assert_eq!(scores[..4], [0.0, APART, APART, APART]);
        assert_eq!(apart([2, 2], [0, 0], [false, false]), None);
    }

    #[test]
    fn windows_have_each_place_of_the_image_once() {
        let windows = |shift| Windows { sides: [2, 4], shift, fills: 4, heads: [0, 1], of: 2 };
        let size = [3, 6];
        for shift in [[0, 0], [1, 2]] {
            let windows = windows(shift);
            let all: Vec<u32> = (0..2).flat_map(|strip| windows.taken(size, strip, 0..2)).collect();
            let back = windows.put_back(size).into_iter().map(|place| all[place as usize]);
            assert_eq!(back.collect::<Vec<_>>(), (0..18).collect::<Vec<u32>>());
            assert_eq!(all.iter().filter(|place| **place == OUTSIDE).count(), 32 - 18);
        }
        let shifted = windows([1, 2]);
        assert_eq!(shifted.taken(size, 0, 0..1), [8, 9, 10, 11, 14, 15, 16, 17]);
        assert_eq!(shifted.taken(size, 0, 1..2), [OUTSIDE, OUTSIDE, 6, 7, OUTSIDE, OUTSIDE, 12, 13]);
        assert_eq!(windows([0, 0]).taken(size, 1, 0..1)[..5], [12, 13, 14, 15, OUTSIDE]);
    }
}
