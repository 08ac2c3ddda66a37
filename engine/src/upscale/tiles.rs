//! Enlarging in tiles.
//!
//! A tile is enlarged with some pixels around it, which are left out of the result. Where these reach as far as the
//! network sees, the result is that of the whole image. Networks that see further get [`SEEN`] pixels, and neighbouring
//! tiles fade into each other.

/// The most pixels around a tile, if they make the result that of the whole image.
const MOST: usize = 48;
/// Pixels around a tile of networks that see further.
const SEEN: usize = 32;
/// Those of them in which neighbouring tiles fade into each other.
const FADE: usize = 8;

/// How an image is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiles {
    /// The side of a tile, without what is around it; the whole image if absent.
    side: Option<usize>,
    /// Pixels around a tile.
    around: usize,
    /// Pixels that a tile has beyond its border on each side, in which it fades.
    fade: usize,
    /// What height and width must be multiples of.
    multiple: usize,
}

/// Pixels from a first to a last one.
type Range = std::ops::Range<usize>;

/// One tile, in pixels of the image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    /// The rows and columns that the network is given. The last ones may be behind the end of the image.
    pub seen: [Range; 2],
    /// The rows and columns whose result is kept.
    pub kept: [Range; 2],
    /// How many of the first rows and columns fade in.
    pub fade: [usize; 2],
}

impl Tiles {
    /// Sides of tiles that a plan may choose, from large to small.
    pub const SIDES: [usize; 8] = [1024, 768, 512, 384, 256, 128, 64, 32];

    /// Tiles of this side for a network that sees so far and takes multiples of so many pixels.
    pub fn new(side: Option<usize>, reach: usize, multiple: usize) -> Self {
        // Even, so that convolutions that work on pairs of pixels pair the same ones in every tile.
        let aligned = |length: usize| length.next_multiple_of(2 * multiple);
        let (around, fade) = if reach <= MOST { (aligned(reach), 0) } else { (aligned(SEEN), FADE) };
        Self { side: side.map(|side| aligned(side.max(2 * FADE))), around, fade, multiple }
    }

    /// Whether the result is that of the whole image.
    pub fn are_exact(&self) -> bool {
        self.side.is_none() || self.fade == 0
    }

    /// Whether an image of a height and width takes more than one tile.
    pub fn cut(&self, [height, width]: [usize; 2]) -> bool {
        self.side.is_some_and(|side| side < height.max(width))
    }

    /// The tiles of an image of a height and width, row by row.
    pub fn of(&self, [height, width]: [usize; 2]) -> Vec<Tile> {
        let (rows, columns) = (self.along(height), self.along(width));
        let pair = |row: &(Range, Range, usize), column: &(Range, Range, usize)| Tile {
            seen: [row.0.clone(), column.0.clone()],
            kept: [row.1.clone(), column.1.clone()],
            fade: [row.2, column.2],
        };
        rows.iter().flat_map(|row| columns.iter().map(move |column| pair(row, column))).collect()
    }

    /// What is seen and kept of each tile along a side, and how much of it fades in.
    fn along(&self, length: usize) -> Vec<(Range, Range, usize)> {
        let whole = length.next_multiple_of(self.multiple);
        let side = self.side.filter(|side| *side < length).unwrap_or(whole);
        let tile = |start: usize| {
            let end = (start + side).min(length);
            let seen = start.saturating_sub(self.around)..(end + self.around).min(whole);
            let seen = seen.start..seen.end.next_multiple_of(self.multiple);
            let last = if end < length { end + self.fade } else { end };
            let kept = start.saturating_sub(self.fade)..last.min(length);
            let fade = if start > 0 { 2 * self.fade } else { 0 };
            (seen, kept.clone(), fade.min(kept.len()))
        };
        (0..length).step_by(side).map(tile).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_image_is_one_tile_unless_it_is_cut() {
        for side in [None, Some(64)] {
            let tiles = Tiles::new(side, 18, 1);
            let whole = Tile { seen: [0..48, 0..64], kept: [0..48, 0..64], fade: [0, 0] };
            assert_eq!(tiles.of([48, 64]), [whole]);
            assert!(!tiles.cut([48, 64]) && tiles.are_exact());
        }
        let odd = Tiles::new(None, 18, 4).of([1, 5]);
        assert_eq!(odd, [Tile { seen: [0..4, 0..8], kept: [0..1, 0..5], fade: [0, 0] }]);
    }

    proptest! {
        #[test]
        fn every_pixel_is_kept_and_seen_from_far_enough(
            height in 1_usize..300, width in 1_usize..300, side in 1_usize..100, reach in 1_usize..100,
            multiple in prop::sample::select(vec![1_usize, 2, 4]),
        ) {
            let tiles = Tiles::new(Some(side), reach, multiple);
            let mut kept = vec![false; height * width];
            for tile in tiles.of([height, width]) {
                for (axis, length) in [height, width].into_iter().enumerate() {
                    let (seen, own) = (&tile.seen[axis], &tile.kept[axis]);
                    prop_assert!(seen.start % (2 * multiple) == 0 && seen.len() % multiple == 0);
                    prop_assert!(seen.start <= own.start && own.end <= seen.end);
                    let far = if tiles.are_exact() { reach } else { SEEN - FADE };
                    prop_assert!(seen.start == 0 || own.start - seen.start >= far);
                    prop_assert!(seen.end >= length || seen.end - own.end >= far);
                }
                let [rows, columns] = &tile.kept;
                for row in rows.clone() {
                    for column in columns.clone() {
                        // What fades in has been there before.
                        let fades = row - rows.start < tile.fade[0] || column - columns.start < tile.fade[1];
                        prop_assert!(kept[row * width + column] == fades);
                        kept[row * width + column] = true;
                    }
                }
            }
            prop_assert!(kept.iter().all(|kept| *kept));
        }
    }
}
