//! Edits of masks that the window and the command line share.

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
        // What shrinks is what the rest grows into.
        let shrinks = self.grow < 0;
        if self.inverts != shrinks {
            invert(&mut masked);
        }
        if self.grow != 0 {
            masked = grown(&masked, size, self.grow.unsigned_abs() as usize);
        }
        if shrinks {
            invert(&mut masked);
        }
        masked
    }
}

fn invert(masked: &mut [bool]) {
    masked.iter_mut().for_each(|masked| *masked = !*masked);
}

/// What is within some pixels of what is set.
pub fn grown(values: &[bool], [width, height]: [usize; 2], reach: usize) -> Vec<bool> {
    // For each pixel, how far the nearest one in its row is.
    let mut across = vec![usize::MAX; values.len()];
    for (row, distances) in values.chunks(width.max(1)).zip(across.chunks_mut(width.max(1))) {
        let mut from_left = usize::MAX;
        for (set, distance) in row.iter().zip(distances.iter_mut()) {
            from_left = if *set { 0 } else { from_left.saturating_add(1) };
            *distance = from_left;
        }
        let mut from_right = usize::MAX;
        for (set, distance) in row.iter().zip(distances.iter_mut()).rev() {
            from_right = if *set { 0 } else { from_right.saturating_add(1) };
            *distance = from_right.min(*distance);
        }
    }
    let mut grown = vec![false; values.len()];
    for row in 0..height {
        for near in row.saturating_sub(reach)..(row + reach + 1).min(height) {
            let wide = (reach * reach - row.abs_diff(near).pow(2)).isqrt();
            let distances = &across[near * width..][..width];
            for (grown, distance) in grown[row * width..][..width].iter_mut().zip(distances) {
                *grown |= *distance <= wide;
            }
        }
    }
    grown
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
}
