//! A mask painted over the input image.

use std::{cmp::Ordering, path::PathBuf, sync::Arc};

use egui::{Color32, ColorImage, Pos2, Rect, pos2};
use sluice_engine::{
    output::Image,
    request::{MaskOf, MaskPoint},
};

use crate::masks::Distances;

/// An edit of a mask.
#[derive(Debug, Clone, PartialEq)]
pub enum MaskEdit {
    /// Paints or erases along a line between two points, in pixels of the image.
    Stroke {
        /// Where the line starts.
        from: Pos2,
        /// Where it ends.
        to: Pos2,
        /// The brush's diameter, in pixels of the image.
        brush: f32,
        /// Whether it erases.
        erases: bool,
        /// Whether the pointer was just pressed.
        begins: bool,
    },
    /// Fills or erases what is inside of an outline.
    Area {
        /// Its corners, in pixels of the image.
        outline: Vec<Pos2>,
        /// Whether it erases.
        erases: bool,
    },
    /// Shows a segmenter a point of an object, or one beside it.
    Point {
        /// Column and row of the pixel.
        place: [u32; 2],
        /// Whether it is of the object.
        inside: bool,
        /// Whether the object is taken out of the mask.
        erases: bool,
    },
    /// Shows it a box around another object.
    Box {
        /// Left, top, right and bottom.
        corners: [u32; 4],
        /// Whether the object is taken out of the mask.
        erases: bool,
    },
    /// What is shown next is another object.
    NextObject,
    /// Moves the mask's edge outwards by some pixels.
    Grow(usize),
    /// Moves it inwards.
    Shrink(usize),
    /// Takes back the last edit.
    Undo,
    /// Makes the edit again that was taken back last.
    Redo,
    /// Inverts the mask.
    Invert,
    /// Clears the mask.
    Clear,
}

impl MaskEdit {
    /// Whether it shows an object to a segmenter.
    pub fn is_of_object(&self) -> bool {
        matches!(self, Self::Point { .. } | Self::Box { .. })
    }
}

/// An object that is shown to a segmenter.
#[derive(Debug, Clone, PartialEq)]
struct Object {
    points: Vec<MaskPoint>,
    area: Option<[u32; 4]>,
    /// Whether it is taken out of the mask.
    erases: bool,
    /// The mask without it.
    base: Arc<[bool]>,
    /// Whether its mask was made.
    is_made: bool,
    /// Whether that marks nothing.
    is_missing: bool,
}

/// An edge that is being moved step by step. Each step moves the edge of the mask before the first one: steps from one mask to
/// the next would lose the shape of a circle.
#[derive(Debug, Clone, PartialEq)]
struct Edge {
    base: Arc<[bool]>,
    /// Pixels outwards in all.
    by: i32,
    /// How far each pixel is from what was masked and from what was not, once it is known.
    outside: Option<Distances>,
    inside: Option<Distances>,
}

/// What is painted.
#[derive(Debug, Clone, PartialEq)]
struct Painted {
    /// Whether each pixel is inpainted, row by row.
    masked: Vec<bool>,
    /// The object that is shown to a segmenter.
    object: Option<Object>,
    /// How far its edge was moved, if nothing was painted since.
    edge: Option<Edge>,
}

/// A mask being painted.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskPainting {
    /// The image's file.
    pub image: PathBuf,
    size: [usize; 2],
    now: Painted,
    /// Rises with every edit.
    version: u64,
    /// What it was before each edit, the latest last.
    before: Vec<Painted>,
    /// What it was before each edit was taken back, the latest last.
    after: Vec<Painted>,
}

/// Edits of a mask that can be taken back.
const EDITS: usize = 32;

/// The color over what is masked.
const MASK: Color32 = Color32::from_rgba_unmultiplied_const(255, 0, 110, 128);
/// The color along its edge.
const MASK_EDGE: Color32 = Color32::from_rgba_unmultiplied_const(255, 255, 255, 220);
/// How many lines along the edge would fill the longest side.
const LINES: usize = 512;

impl MaskPainting {
    /// A mask for an image of this size: the white area of `before` if it has that size, otherwise empty.
    pub fn new(image: PathBuf, size: [usize; 2], before: Option<&ColorImage>) -> Self {
        let masked = match before {
            Some(mask) if mask.size == size => mask.pixels.iter().map(|pixel| pixel.g() >= 128).collect(),
            _ => vec![false; size[0] * size[1]],
        };
        let now = Painted { masked, object: None, edge: None };
        Self { image, size, now, version: 0, before: Vec::new(), after: Vec::new() }
    }

    /// Width and height of the image.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Whether nothing is masked.
    pub fn is_empty(&self) -> bool {
        !self.now.masked.contains(&true)
    }

    /// White where the image is inpainted, black elsewhere.
    pub fn to_image(&self) -> Image {
        let pixels = self.now.masked.iter().flat_map(|&masked| [if masked { 255 } else { 0 }; 3]).collect();
        Image::opaque(self.size[0] as u32, self.size[1] as u32, pixels)
    }

    /// Whether an edit can be taken back.
    pub fn can_undo(&self) -> bool {
        !self.before.is_empty()
    }

    /// Whether one that was taken back can be made again.
    pub fn can_redo(&self) -> bool {
        !self.after.is_empty()
    }

    /// Applies an edit.
    pub fn edit(&mut self, edit: MaskEdit) {
        let shows_nothing =
            self.now.object.is_none() && matches!(&edit, MaskEdit::Point { inside: false, .. });
        if shows_nothing {
            return;
        }
        let goes_on = matches!(&edit, MaskEdit::Stroke { begins: false, .. } | MaskEdit::NextObject);
        if !goes_on && !matches!(edit, MaskEdit::Undo | MaskEdit::Redo) {
            self.before.push(self.now.clone());
            if self.before.len() > EDITS {
                self.before.remove(0);
            }
            self.after.clear();
        }
        let mut edge = None;
        match edit {
            MaskEdit::Undo => {
                if let Some(before) = self.before.pop() {
                    self.after.push(std::mem::replace(&mut self.now, before));
                }
                self.version += 1;
                return;
            }
            MaskEdit::Redo => {
                if let Some(after) = self.after.pop() {
                    self.before.push(std::mem::replace(&mut self.now, after));
                }
                self.version += 1;
                return;
            }
            MaskEdit::Point { place: [x, y], inside, erases } => {
                let Painted { masked, object, .. } = &mut self.now;
                let object = object.get_or_insert_with(|| Object::new(masked, erases));
                object.points.push(MaskPoint { x, y, inside });
                object.is_made = false;
                return;
            }
            MaskEdit::Box { corners, erases } => {
                let object = Object::new(&self.now.masked, erases);
                self.now.object = Some(Object { area: Some(corners), ..object });
                return;
            }
            MaskEdit::NextObject => edge = self.now.edge.take(),
            MaskEdit::Stroke { from, to, brush, erases, .. } => self.stroke(from, to, brush, !erases),
            MaskEdit::Area { outline, erases } => self.fill(&outline, !erases),
            MaskEdit::Grow(pixels) => edge = Some(self.moved_edge(pixels as i32)),
            MaskEdit::Shrink(pixels) => edge = Some(self.moved_edge(-(pixels as i32))),
            MaskEdit::Invert => self.now.masked.iter_mut().for_each(|masked| *masked = !*masked),
            MaskEdit::Clear => self.now.masked.fill(false),
        }
        // What is painted now is not of the object.
        (self.now.object, self.now.edge) = (None, edge);
        self.version += 1;
    }

    /// Moves the edge outwards by some more pixels.
    fn moved_edge(&mut self, pixels: i32) -> Edge {
        let Painted { masked, edge, .. } = &mut self.now;
        let mut edge = edge.take().unwrap_or_else(|| Edge::of(masked));
        edge.by += pixels;
        *masked = edge.moved(self.size);
        edge
    }

    /// The points and the box that show the current object.
    pub fn shown(&self) -> (&[MaskPoint], Option<[u32; 4]>) {
        self.now.object.as_ref().map_or((&[], None), |object| (object.points.as_slice(), object.area))
    }

    /// Whether an object is being shown.
    pub fn shows_object(&self) -> bool {
        self.now.object.is_some()
    }

    /// Whether nothing was found where the current object was shown.
    pub fn found_nothing(&self) -> bool {
        self.now.object.as_ref().is_some_and(|object| object.is_made && object.is_missing)
    }

    /// What the engine has to make a mask of, if it has not yet.
    pub fn unmade(&self) -> Option<MaskOf> {
        let object = self.now.object.as_ref().filter(|object| !object.is_made)?;
        Some(MaskOf { image: self.image.clone(), points: object.points.clone(), area: object.area })
    }

    /// Puts the mask of an object in, unless something else is shown by now.
    pub fn take(&mut self, of: &MaskOf, mask: &Image) {
        let is_of_this = self.unmade().as_ref() == Some(of);
        let fits = [mask.width as usize, mask.height as usize] == self.size;
        let Painted { masked, object, edge } = &mut self.now;
        let Some(object) = object.as_mut().filter(|_| is_of_this && fits) else { return };
        let own: Vec<bool> = mask.pixels.as_chunks::<3>().0.iter().map(|pixel| pixel[1] >= 128).collect();
        (object.is_made, object.is_missing) = (true, !own.contains(&true));
        let all = object.base.iter().zip(own);
        *masked = all.map(|(base, own)| if own { !object.erases } else { *base }).collect();
        *edge = None;
        self.version += 1;
    }

    fn stroke(&mut self, from: Pos2, to: Pos2, brush: f32, masked: bool) {
        let [width, height] = self.size;
        let reach = (brush / 2.0).max(0.5);
        let bounds = Rect::from_two_pos(from, to).expand(reach);
        let clamp = |value: f32, most: usize| (value.max(0.0) as usize).min(most);
        let (left, right) = (clamp(bounds.left().floor(), width), clamp(bounds.right().ceil(), width));
        let (top, bottom) = (clamp(bounds.top().floor(), height), clamp(bounds.bottom().ceil(), height));
        let along = to - from;
        for row in top..bottom {
            for column in left..right {
                let place = pos2(column as f32 + 0.5, row as f32 + 0.5);
                let part = (place - from).dot(along) / along.length_sq().max(f32::EPSILON);
                let nearest = from + along * part.clamp(0.0, 1.0);
                if (place - nearest).length() <= reach {
                    self.now.masked[row * width + column] = masked;
                }
            }
        }
    }

    /// Sets the pixels whose centres are inside of an outline. Where it crosses itself, every other part is inside.
    fn fill(&mut self, outline: &[Pos2], masked: bool) {
        let [width, height] = self.size;
        let sides = || outline.iter().zip(outline.iter().cycle().skip(1));
        for row in 0..height {
            let middle = row as f32 + 0.5;
            let crossed = sides().filter(|(from, to)| (from.y <= middle) != (to.y <= middle));
            let place =
                |(from, to): (&Pos2, &Pos2)| from.x + (middle - from.y) / (to.y - from.y) * (to.x - from.x);
            let mut places: Vec<f32> = crossed.map(place).collect();
            places.sort_by(f32::total_cmp);
            for pair in places.as_chunks::<2>().0 {
                let [left, right] = pair.map(|place| ((place - 0.5).ceil().max(0.0) as usize).min(width));
                self.now.masked[row * width..][left..right.max(left)].fill(masked);
            }
        }
    }

    /// The same without what could be taken back.
    pub fn settled(self) -> Self {
        Self { before: Vec::new(), after: Vec::new(), ..self }
    }

    /// The number of the last edit.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The overlay for the image: a color that few images have, with a line along its edge for those that have it.
    pub fn overlay(&self) -> ColorImage {
        let ([width, height], masked) = (self.size, &self.now.masked);
        let line = width.max(height).div_ceil(LINES);
        let is_edge = |row: usize, column: usize| {
            let is_masked = |row: usize, column: usize| masked[row * width + column];
            !(is_masked(row.saturating_sub(line), column)
                && is_masked((row + line).min(height - 1), column)
                && is_masked(row, column.saturating_sub(line))
                && is_masked(row, (column + line).min(width - 1)))
        };
        let color = |(place, &is_masked): (usize, &bool)| match is_masked {
            false => Color32::TRANSPARENT,
            true if is_edge(place / width, place % width) => MASK_EDGE,
            true => MASK,
        };
        ColorImage::new(self.size, masked.iter().enumerate().map(color).collect())
    }
}

impl Object {
    fn new(mask: &[bool], erases: bool) -> Self {
        Self { points: Vec::new(), area: None, erases, base: mask.into(), is_made: false, is_missing: false }
    }
}

impl Edge {
    fn of(mask: &[bool]) -> Self {
        Self { base: mask.into(), by: 0, outside: None, inside: None }
    }

    /// What is masked with the edge where it is now, in an image of this size.
    fn moved(&mut self, size: [usize; 2]) -> Vec<bool> {
        let (base, reach) = (&self.base, self.by.unsigned_abs());
        match self.by.cmp(&0) {
            Ordering::Equal => base.to_vec(),
            Ordering::Greater => {
                let distances = self.outside.get_or_insert_with(|| Distances::of(base, size, true));
                distances.within(reach).collect()
            }
            Ordering::Less => {
                let distances = self.inside.get_or_insert_with(|| Distances::of(base, size, false));
                distances.within(reach).map(|near| !near).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(painting: &MaskPainting) -> Vec<String> {
        let row = |row: &[bool]| row.iter().map(|&masked| if masked { '#' } else { '.' }).collect();
        painting.now.masked.chunks(painting.size[0]).map(row).collect()
    }

    fn stroke(from: Pos2, to: Pos2, erases: bool) -> MaskEdit {
        MaskEdit::Stroke { from, to, brush: 2.0, erases, begins: true }
    }

    #[test]
    fn a_stroke_is_as_wide_as_the_brush_and_can_be_erased() {
        let mut painting = MaskPainting::new("fox.png".into(), [8, 5], None);
        assert!(painting.is_empty());
        painting.edit(stroke(pos2(2.0, 2.0), pos2(6.0, 2.0), false));
        assert_eq!(rows(&painting), ["........", ".######.", ".######.", "........", "........"]);
        painting.edit(stroke(pos2(-40.0, 1.5), pos2(40.0, 1.5), true));
        assert_eq!(rows(&painting)[1..3], ["........", "........"]);
        painting.edit(MaskEdit::Invert);
        assert!(painting.now.masked.iter().all(|&masked| masked));
        painting.edit(MaskEdit::Clear);
        assert!(painting.is_empty() && painting.version() == 4);
    }

    #[test]
    fn what_is_inside_of_an_outline_is_filled_or_erased() {
        let mut painting = MaskPainting::new("fox.png".into(), [8, 5], None);
        let corners = |left: f32, top: f32, right: f32, bottom: f32| {
            vec![pos2(left, top), pos2(right, top), pos2(right, bottom), pos2(left, bottom)]
        };
        painting.edit(MaskEdit::Area { outline: corners(-3.0, 1.0, 6.0, 4.0), erases: false });
        assert_eq!(rows(&painting), ["........", "######..", "######..", "######..", "........"]);
        painting.edit(MaskEdit::Area { outline: corners(4.0, 9.0, 1.0, 2.0), erases: true });
        assert_eq!(rows(&painting), ["........", "######..", "#...##..", "#...##..", "........"]);
        painting.edit(MaskEdit::Clear);
        let triangle = vec![pos2(0.0, 0.0), pos2(8.0, 0.0), pos2(0.0, 4.0)];
        painting.edit(MaskEdit::Area { outline: triangle, erases: false });
        assert_eq!(rows(&painting), ["#######.", "#####...", "###.....", "#.......", "........"]);
        painting.edit(MaskEdit::Area { outline: vec![pos2(1.0, 1.0)], erases: false });
        painting.edit(MaskEdit::Undo);
        painting.edit(MaskEdit::Undo);
        assert!(painting.is_empty());
    }

    #[test]
    fn an_edge_moves_by_a_circle_and_back() {
        let mut painting = MaskPainting::new("fox.png".into(), [7, 5], None);
        painting.edit(stroke(pos2(3.5, 2.5), pos2(3.5, 2.5), false));
        painting.edit(MaskEdit::Clear);
        painting.now.masked[2 * 7 + 3] = true;
        painting.edit(MaskEdit::Grow(2));
        assert_eq!(rows(&painting), ["...#...", "..###..", ".#####.", "..###..", "...#..."]);
        painting.edit(MaskEdit::Shrink(1));
        assert_eq!(rows(&painting), [".......", "...#...", "..###..", "...#...", "......."]);
        painting.edit(MaskEdit::Grow(99));
        assert!(painting.now.masked.iter().all(|&masked| masked));
        painting.edit(MaskEdit::Shrink(9));
        assert!(painting.now.masked.iter().all(|&masked| masked), "there is nothing outside to come in");
    }

    #[test]
    fn an_edge_that_is_moved_again_and_again_stays_round() {
        let dot = || {
            let mut painting = MaskPainting::new("fox.png".into(), [31, 31], None);
            painting.edit(stroke(pos2(15.5, 15.5), pos2(15.5, 15.5), false));
            painting
        };
        let (mut once, mut steps) = (dot(), dot());
        once.edit(MaskEdit::Grow(10));
        (0..12).for_each(|_| steps.edit(MaskEdit::Grow(1)));
        (0..2).for_each(|_| steps.edit(MaskEdit::Shrink(1)));
        assert_eq!(rows(&steps), rows(&once));
        steps.edit(MaskEdit::Undo);
        once.edit(MaskEdit::Grow(1));
        assert_eq!(rows(&steps), rows(&once), "one step less inwards");

        let clear = stroke(pos2(-40.0, 15.5), pos2(70.0, 15.5), true);
        steps.edit(clear);
        let painted = steps.now.masked.clone();
        steps.edit(MaskEdit::Grow(1));
        steps.edit(MaskEdit::Shrink(1));
        assert_eq!(steps.now.masked, painted, "it moves the edge of what was painted since");
    }

    #[test]
    fn what_was_taken_back_is_made_again_until_something_else_is_painted() {
        let mut painting = MaskPainting::new("fox.png".into(), [8, 5], None);
        painting.edit(stroke(pos2(2.0, 2.0), pos2(6.0, 2.0), false));
        let stroked = rows(&painting);
        painting.edit(MaskEdit::Invert);
        let inverted = rows(&painting);
        (0..2).for_each(|_| painting.edit(MaskEdit::Undo));
        assert!(painting.is_empty() && !painting.can_undo() && painting.can_redo());
        painting.edit(MaskEdit::Redo);
        assert_eq!(rows(&painting), stroked);
        painting.edit(MaskEdit::Redo);
        assert_eq!(rows(&painting), inverted);
        assert!(!painting.can_redo());
        painting.edit(MaskEdit::Undo);
        painting.edit(MaskEdit::Clear);
        assert!(!painting.can_redo() && painting.can_undo());
        painting.edit(MaskEdit::Redo);
        assert!(painting.is_empty());
    }

    #[test]
    fn the_overlay_has_a_line_along_its_edge_but_not_along_that_of_the_image() {
        let mut painting = MaskPainting::new("fox.png".into(), [4, 3], None);
        painting.edit(MaskEdit::Area {
            outline: vec![pos2(0.0, 0.0), pos2(3.0, 0.0), pos2(3.0, 3.0), pos2(0.0, 3.0)],
            erases: false,
        });
        assert_eq!(rows(&painting), ["###."; 3]);
        let overlay = painting.overlay();
        for row in overlay.pixels.chunks(4) {
            assert_eq!(row, [MASK, MASK, MASK_EDGE, Color32::TRANSPARENT]);
        }
    }

    #[test]
    fn an_earlier_mask_of_the_same_size_is_gone_on_with() {
        let mut before = ColorImage::filled([3, 1], Color32::BLACK);
        before.pixels[1] = Color32::WHITE;
        let painting = MaskPainting::new("fox.png".into(), [3, 1], Some(&before));
        assert_eq!(rows(&painting), [".#."]);
        assert_eq!(painting.to_image().pixels, [0, 0, 0, 255, 255, 255, 0, 0, 0]);
        assert!(MaskPainting::new("fox.png".into(), [4, 1], Some(&before)).is_empty());
    }
}
