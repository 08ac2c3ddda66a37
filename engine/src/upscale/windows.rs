//! Attention within windows of an image, which may be shifted (Liu et al. 2021, arXiv:2103.14030), or see what is around them
//! (Chen et al. 2023, arXiv:2205.04437).

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
    /// Rows, and columns, on each side of a window whose places are seen from within it, too. What is beyond the edges of the
    /// image is zeros. Windows that are shifted have none.
    pub around: usize,
}

impl Windows {
    /// The numbers of the places of an image of a height and width that are seen from some windows of a strip, window by window.
    fn taken(&self, [height, width]: [usize; 2], strip: usize, windows: Range<usize>) -> Vec<u32> {
        let Self { sides: [rows, columns], shift, around, .. } = *self;
        let [high, wide] = self.filled([height, width]);
        let place = |place: usize, shift: usize, length: usize| match around {
            0 => Some(wrapped(place + shift, length)),
            around => place.checked_sub(around),
        };
        let mut places = Vec::with_capacity(windows.len() * self.seen().iter().product::<usize>());
        for window in windows {
            for row in strip * rows..(strip + 1) * rows + 2 * around {
                let row = place(row, shift[0], high);
                let columns = window * columns..(window + 1) * columns + 2 * around;
                places.extend(columns.map(|column| match (row, place(column, shift[1], wide)) {
                    (Some(row), Some(column)) if row < height && column < width => {
                        (row * width + column) as u32
                    }
                    _ => OUTSIDE,
                }));
            }
        }
        places
    }

    /// Rows and columns that are seen from within a window.
    fn seen(&self) -> [usize; 2] {
        self.sides.map(|side| side + 2 * self.around)
    }

    /// For each place of an image of a height and width, its number among the places of all windows.
    fn put_back(&self, [height, width]: [usize; 2]) -> Vec<u32> {
        let Self { sides: [rows, columns], shift, .. } = *self;
        let [high, wide] = self.filled([height, width]);
        let of_column = |column: usize| {
            let column = wrapped(column + wide - shift[1], wide);
            column / columns * rows * columns + column % columns
        };
        let of_columns: Vec<usize> = (0..width).map(of_column).collect();
        let mut places = Vec::with_capacity(height * width);
        for row in 0..height {
            let row = wrapped(row + high - shift[0], high);
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
fn wrapped(place: usize, length: usize) -> usize {
    if place < length { place } else { place - length }
}

/// Attention of some heads within windows: `qkv` `[1, height, width, 3 · channels]` has queries, keys and values beside each
/// other. `bias` `[heads, places, seen places]` is added to the scores. The result is `[1, height, width, channels]` of these
/// heads.
pub(super) fn attended(windows: &Windows, qkv: Tensor, bias: &Tensor) -> Result<Tensor> {
    let (_, height, width, triple) = qkv.dims4()?;
    let (size, channels) = ([height, width], triple / 3 / windows.of * windows.heads[1]);
    let places = qkv.reshape((height * width, triple))?;
    drop(qkv);
    let parts = seen(windows, size, &places, bias)?;
    drop(places);
    let made = Tensor::cat(&parts, 0)?;
    drop(parts);
    let made = made.reshape((made.elem_count() / channels, channels))?;
    let made = made.index_select_by(height * width, || windows.put_back(size))?;
    made.reshape((1, height, width, channels))
}

/// What the windows of each strip have seen, `[windows, places, heads, values]`.
fn seen(windows: &Windows, size: [usize; 2], qkv: &Tensor, bias: &Tensor) -> Result<Vec<Tensor>> {
    let Windows { sides: [rows, columns], shift, heads: [first_head, heads], of, around, .. } = *windows;
    let [high, wide] = windows.filled(size);
    let [seen_rows, seen_columns] = windows.seen();
    let (places, seen_places) = (rows * columns, seen_rows * seen_columns);
    let (head, strips, across) = (qkv.dim(1)? / 3 / of, high / rows, wide / columns);
    // The last column of shifted windows has places from both edges of the image.
    let alike = if shift[1] > 0 { across - 1 } else { across };
    let at_edge = masked(bias, windows, [false, shift[1] > 0])?;
    let mut made = Vec::new();
    for strip in 0..strips {
        let meets_rows = strip + 1 == strips && shift[0] > 0;
        for (first, count, meets_columns) in [(0, alike, false), (alike, across - alike, true)] {
            if count == 0 {
                continue;
            }
            let bias = match (meets_rows, meets_columns) {
                (true, _) => masked(bias, windows, [true, meets_columns])?,
                (false, true) => at_edge.clone(),
                (false, false) => bias.clone(),
            };
            let order = || windows.taken(size, strip, first..first + count);
            let taken = qkv.index_select_by(count * seen_places, order)?;
            let parts = taken.reshape((count, seen_places, 3 * of, head))?;
            let part = |number: usize| parts.narrow(2, number * of + first_head, heads);
            let queries = if around == 0 {
                part(0)?
            } else {
                let inner = taken.reshape((count, seen_rows, seen_columns, 3 * of * head))?;
                let inner = inner.narrow(1, around, rows)?.narrow(2, around, columns)?;
                inner.narrow(3, first_head * head, heads * head)?.reshape((count, places, heads, head))?
            };
            made.push(attention_with_pair_bias(&queries, &part(1)?, &part(2)?, &bias)?);
        }
    }
    Ok(made)
}

/// A bias for windows in which rows, or columns, from both edges of the image meet.
fn masked(bias: &Tensor, windows: &Windows, meets: [bool; 2]) -> Result<Tensor> {
    if meets == [false; 2] {
        return Ok(bias.clone());
    }
    let Windows { sides: [rows, columns], shift, .. } = *windows;
    let places = rows * columns;
    let apart =
        Tensor::from_fn(|| apart([rows, columns], shift, meets), (1, places, places), &bias.device())?;
    bias.broadcast_add(&apart.to_dtype(bias.dtype())?)
}

/// What is added to the scores of pairs of places in a window in which rows, or columns, from both edges of the image meet.
fn apart([rows, columns]: [usize; 2], shift: [usize; 2], meets: [bool; 2]) -> Vec<f32> {
    let side = |place: usize, length: usize, shift: usize, meets: bool| meets && place >= length - shift;
    let of_place = |place: usize| {
        let (row, column) = (place / columns, place % columns);
        [side(row, rows, shift[0], meets[0]), side(column, columns, shift[1], meets[1])]
    };
    let sides: Vec<[bool; 2]> = (0..rows * columns).map(of_place).collect();
    let mut scores = Vec::with_capacity(sides.len() * sides.len());
    for one in &sides {
        scores.extend(sides.iter().map(|other| if one == other { 0.0 } else { APART }));
    }
    scores
}

/// The bias of pairs of places in a window, `[heads, places, places]`, of a `table` `[distances, heads]` of the biases of all
/// distances down and across.
pub(super) fn biases(table: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    of_pairs(table, [[rows, columns]; 2], |[row, column], [seen_row, seen_column]| {
        (row + rows - 1 - seen_row) * (2 * columns - 1) + column + columns - 1 - seen_column
    })
}

/// The same for pairs of a place in a square window and of one that is seen from it, up to `around` places beyond it:
/// `[heads, places, seen places]`.
pub(super) fn biases_around(table: &Tensor, side: usize, around: usize) -> Result<Tensor> {
    let seen = side + 2 * around;
    let lines = side + seen - 1;
    // Numbers below zero count from the end of the table.
    let distance = |seen_place: usize, place: usize| (seen_place + side + 1) as i64 - (place + seen) as i64;
    of_pairs(table, [[side; 2], [seen; 2]], |[row, column], [seen_row, seen_column]| {
        let number = distance(seen_row, row) * lines as i64 + distance(seen_column, column);
        number.rem_euclid((lines * lines) as i64) as usize
    })
}

fn of_pairs(
    table: &Tensor,
    [own, seen]: [[usize; 2]; 2],
    number: impl Fn([usize; 2], [usize; 2]) -> usize,
) -> Result<Tensor> {
    let places = |[rows, columns]: [usize; 2]| {
        (0..rows).flat_map(move |row| (0..columns).map(move |column| [row, column]))
    };
    let [count, seen_count] = [own, seen].map(|[rows, columns]| rows * columns);
    let numbers = || {
        let mut numbers = Vec::with_capacity(count * seen_count);
        for one in places(own) {
            numbers.extend(places(seen).map(|other| number(one, other) as u32));
        }
        numbers
    };
    let of_pairs = table.index_select_by(count * seen_count, numbers)?;
    of_pairs.reshape((count, seen_count, ()))?.permute([2, 0, 1])?.contiguous()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Device;

    #[test]
    fn places_that_a_shift_has_brought_together_do_not_see_each_other() {
        let scores = apart([2, 2], [1, 1], [true, false]);
        assert_eq!(scores[..4], [0.0, 0.0, APART, APART]);
        let scores = apart([2, 2], [1, 1], [true, true]);
        assert_eq!(scores[..4], [0.0, APART, APART, APART]);
    }

    #[test]
    fn windows_have_each_place_of_the_image_once() {
        let windows = |shift| Windows { sides: [2, 4], shift, fills: 4, heads: [0, 1], of: 2, around: 0 };
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

    #[test]
    fn windows_see_what_is_around_them_up_to_the_edges_of_the_image() {
        let windows = Windows { sides: [2, 2], shift: [0, 0], fills: 2, heads: [0, 1], of: 1, around: 1 };
        let seen = windows.taken([4, 4], 0, 1..2);
        assert_eq!(seen[..4], [OUTSIDE; 4]);
        assert_eq!(seen[4..], [1, 2, 3, OUTSIDE, 5, 6, 7, OUTSIDE, 9, 10, 11, OUTSIDE]);
    }

    #[test]
    fn biases_are_those_of_distances() {
        let table = |count: usize| {
            let values: Vec<f32> = (0..count).map(|value| value as f32).collect();
            Tensor::from_vec(values, (count, 1), &Device::processor()).unwrap()
        };
        let rows = |bias: Tensor| bias.into_computed().unwrap().squeeze(0).unwrap().to_vec2::<f32>().unwrap();
        let bias = rows(biases(&table(9), [2, 2]).unwrap());
        assert_eq!(bias[0], [4.0, 3.0, 1.0, 0.0]);
        assert_eq!(bias[3], [8.0, 7.0, 5.0, 4.0]);
        // A window of 1 place that sees 3 times 3 places, and lines of 3 distances: the number of the first is
        // -1 · 3 - 1, which counts from the end.
        let bias = rows(biases_around(&table(9), 1, 1).unwrap());
        assert_eq!(bias, [[5.0, 6.0, 7.0, 8.0, 0.0, 1.0, 2.0, 3.0, 4.0]]);
    }
}
