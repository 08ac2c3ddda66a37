//! Edits of masks that the window and the command line share.

use std::{cmp::Ordering, sync::Arc};

/// How a mask is changed before it is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaskEdits {
    /// What is masked and what is not are swapped, before the edge moves.
    pub inverts: bool,
    /// Pixels by which the edge of what is masked moves outwards; inwards if negative.
    pub grow: i32,
}

impl MaskEdits {
    /// Whether they change nothing.
    pub fn are_none(self) -> bool {
        self == Self::default()
    }

    /// What is masked after them: whether each pixel is, row by row, in an image of this width and height.
    pub fn applied_to(self, mut masked: Vec<bool>, size: [usize; 2]) -> Vec<bool> {
        if self.inverts {
            masked.iter_mut().for_each(|masked| *masked = !*masked);
        }
        let reach = self.grow.unsigned_abs();
        match self.grow.cmp(&0) {
            Ordering::Equal => masked,
            Ordering::Greater => Distances::of(&masked, size, true).within(reach).collect(),
            // What shrinks is what the rest grows into.
            Ordering::Less => Distances::of(&masked, size, false).within(reach).map(|near| !near).collect(),
        }
    }
}

/// For each pixel of a mask, how far the nearest pixel of one kind is: the square of the distance between their centres.
///
/// It is exact, and takes two passes: P. Felzenszwalb and D. Huttenlocher, *Distance Transforms of Sampled Functions*, 2012, in
/// whole numbers as A. Meijster et al., *A General Algorithm for Computing Distance Transforms in Linear Time*, 2000.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distances(Arc<[u32]>);

/// There is no such pixel.
const NOWHERE: u32 = u32::MAX;

impl Distances {
    /// Those to pixels that are masked, or to those that are not.
    pub fn of(mask: &[bool], [width, height]: [usize; 2], masked: bool) -> Self {
        let mut squares = vec![NOWHERE; mask.len()];
        if width == 0 {
            return Self(squares.into());
        }
        // First the distance within each column, from above and from below.
        let mut near = vec![NOWHERE; width];
        let mut pass = |row: usize| {
            let at = row * width..(row + 1) * width;
            for ((is_masked, distance), near) in mask[at.clone()].iter().zip(&mut squares[at]).zip(&mut near)
            {
                *near = if *is_masked == masked { 0 } else { near.saturating_add(1) };
                *distance = (*distance).min(*near);
            }
        };
        (0..height).for_each(&mut pass);
        // What is still counted from above is too far by now, and changes nothing.
        (0..height).rev().for_each(&mut pass);
        let mut columns = vec![NOWHERE; width];
        let mut nearest = Vec::with_capacity(width);
        for row in squares.chunks_mut(width) {
            columns.copy_from_slice(row);
            of_row(&columns, &mut nearest, row);
        }
        Self(squares.into())
    }

    /// Whether each pixel is within some pixels of one of that kind.
    pub fn within(&self, reach: u32) -> impl Iterator<Item = bool> + '_ {
        let most = u64::from(reach).pow(2);
        self.0.iter().map(move |&square| square != NOWHERE && u64::from(square) <= most)
    }
}

/// The squares of the distances in a row, of which the distances within each column are known. `nearest` is room for the columns
/// whose pixels are the nearest ones, each with the first place in the row of which it is.
fn of_row(columns: &[u32], nearest: &mut Vec<(usize, usize)>, row: &mut [u32]) {
    let square = |place: usize, column: usize| {
        (place.abs_diff(column) as u64).pow(2) + u64::from(columns[column]).pow(2)
    };
    nearest.clear();
    for column in (0..columns.len()).filter(|column| columns[*column] != NOWHERE) {
        while nearest.pop_if(|(before, from)| square(*from, *before) > square(*from, column)).is_some() {}
        let from = nearest.last().map_or(0, |(before, _)| {
            // From here on this one is nearer; up to here the one before is at least as near, so nothing falls below zero.
            let ahead = square(0, column) - square(0, *before);
            ahead as usize / (2 * (column - before)) + 1
        });
        if from < row.len() {
            nearest.push((column, from));
        }
    }
    let ends = nearest.iter().skip(1).map(|(_, from)| *from).chain([row.len()]);
    for ((column, from), end) in nearest.iter().zip(ends) {
        for (value, place) in row[*from..end].iter_mut().zip(*from..) {
            *value = square(place, *column).min(u64::from(NOWHERE - 1)) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_is_inverted_before_its_edge_moves() {
        let edited = |inverts, grow| {
            let masked = "..#....".chars().map(|pixel| pixel == '#').collect();
            let masked = MaskEdits { inverts, grow }.applied_to(masked, [7, 1]);
            masked.into_iter().map(|masked| if masked { '#' } else { '.' }).collect::<String>()
        };
        assert_eq!(edited(false, 0), "..#....");
        assert_eq!(edited(false, 2), "#####..");
        assert_eq!(edited(false, -1), ".......");
        assert_eq!(edited(true, 0), "##.####");
        assert_eq!(edited(true, -1), "#...###");
        assert_eq!(edited(true, 1), "#######");
        assert!(MaskEdits::default().are_none() && !MaskEdits { inverts: true, grow: 0 }.are_none());
    }

    /// Whether each pixel has one of a kind within some pixels, found by looking at all.
    fn looked_at(mask: &[bool], [width, height]: [usize; 2], masked: bool, reach: usize) -> Vec<bool> {
        let all = move || (0..height).flat_map(move |row| (0..width).map(move |column| (row, column)));
        let is_near = |(row, column): (usize, usize)| {
            all().any(|(other_row, other)| {
                let square = row.abs_diff(other_row).pow(2) + column.abs_diff(other).pow(2);
                mask[other_row * width + other] == masked && square <= reach * reach
            })
        };
        all().map(is_near).collect()
    }

    #[test]
    fn distances_are_exact() {
        let mut random = 1_u32;
        for size in [[1, 1], [1, 13], [13, 1], [7, 5], [5, 7], [24, 17]] {
            for rarity in [1, 2, 5, 40, 4000] {
                let mask: Vec<bool> = (0..size[0] * size[1])
                    .map(|_| {
                        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        (random >> 8).is_multiple_of(rarity)
                    })
                    .collect();
                for masked in [true, false] {
                    let distances = Distances::of(&mask, size, masked);
                    for reach in [0, 1, 2, 3, 5, 8, 13, 40] {
                        let found: Vec<bool> = distances.within(reach).collect();
                        let expected = looked_at(&mask, size, masked, reach as usize);
                        assert_eq!(found, expected, "{size:?}, one of {rarity}, {masked}, {reach}");
                    }
                }
            }
        }
        assert_eq!(Distances::of(&[], [0, 3], true).within(9).count(), 0);
    }
}
