//! Lines of text on an image.

use ab_glyph::{Font as _, FontArc, FontRef, FontVec, PxScale, ScaleFont as _, point};
use image::RgbImage;

use crate::request::grid::GridLabels;

static INTER: &[u8] = include_bytes!("../../../../assets/fonts/Inter.ttf");
/// The height of a line, in heights of letters.
const LINE: f32 = 1.25;
const INK: u8 = 24;

/// A font in a file.
#[derive(Debug, Clone)]
pub struct FontFile {
    /// The contents of the file.
    pub bytes: Vec<u8>,
    /// The font in it, from 0, if there are several.
    pub face: u32,
}

/// The fonts of labels: the program's own, and others for characters that it lacks. Without any, labels stay empty.
pub(super) struct Fonts(Vec<FontArc>);

impl Fonts {
    /// Fonts for the characters of labels. `find` finds one for a character that the others lack.
    pub(super) fn new(labels: &GridLabels, find: impl Fn(char) -> Option<FontFile>) -> Self {
        let own = FontRef::try_from_slice(INTER);
        let own = own.inspect_err(|error| tracing::warn!(%error, "sheets have no labels in their own font"));
        let mut fonts = Self(own.ok().map(FontArc::new).into_iter().collect());
        let all = [&labels.columns, &labels.rows, &labels.tables];
        let mut letters: Vec<char> = all.into_iter().flatten().flat_map(|label| label.chars()).collect();
        letters.retain(|letter| !letter.is_whitespace());
        letters.sort_unstable();
        letters.dedup();
        for letter in letters {
            if !fonts.0.iter().any(|font| has(font, letter))
                && let Some(FontFile { bytes, face }) = find(letter)
            {
                match FontVec::try_from_vec_and_index(bytes, face) {
                    Ok(font) => fonts.0.push(FontArc::new(font)),
                    Err(error) => tracing::warn!(%error, %letter, "a font of the system cannot be read"),
                }
            }
        }
        fonts
    }

    /// The font that a letter is drawn with.
    fn of(&self, letter: char) -> Option<&FontArc> {
        self.0.iter().find(|font| has(font, letter)).or(self.0.first())
    }

    /// The scale of a font at which an em is as large as one of the first font, whose letters are `size` high.
    fn scale(&self, font: &FontArc, size: f32) -> PxScale {
        let em = |font: &FontArc| font.units_per_em().unwrap_or(1.0) / font.height_unscaled();
        PxScale::from(self.0.first().map_or(size, |first| size * em(first) / em(font)))
    }

    /// The height of letters above the line on which they stand.
    fn ascent(&self, size: f32) -> f32 {
        self.0.first().map_or(size, |first| first.as_scaled(PxScale::from(size)).ascent())
    }

    fn width(&self, text: &str, size: f32) -> f32 {
        let mut place = Place::default();
        for letter in text.chars() {
            place.step(self, letter, size);
        }
        place.at
    }
}

fn has(font: &FontArc, letter: char) -> bool {
    font.glyph_id(letter).0 != 0
}

/// Where the next letter of a line is.
#[derive(Default)]
struct Place {
    at: f32,
    /// The glyph before it, and the character that chose its font.
    before: Option<(ab_glyph::GlyphId, char)>,
}

impl Place {
    /// Moves past a letter. Returns its font and its glyph, and where that begins.
    fn step<'a>(
        &mut self,
        fonts: &'a Fonts,
        letter: char,
        size: f32,
    ) -> Option<(&'a FontArc, ab_glyph::Glyph, f32)> {
        let font = fonts.of(letter)?;
        let scale = fonts.scale(font, size);
        let scaled = font.as_scaled(scale);
        let id = font.glyph_id(letter);
        if let Some((before, other)) = self.before.replace((id, letter))
            && fonts.of(other).is_some_and(|other| std::ptr::eq(other, font))
        {
            self.at += scaled.kern(before, id);
        }
        let begin = self.at;
        self.at += scaled.h_advance(id);
        Some((font, id.with_scale(scale), begin))
    }
}

/// A label, wrapped into lines.
pub(super) struct Paragraph {
    lines: Vec<String>,
    size: f32,
    width: f32,
}

impl Paragraph {
    /// Wraps a label at a width in pixels: between words, and within those that are longer.
    pub(super) fn new(fonts: &Fonts, label: &str, size: f32, width: u32) -> Self {
        let most = width as f32;
        let mut lines: Vec<String> = Vec::new();
        for word in label.split_whitespace() {
            let joined = lines.last().map(|line| format!("{line} {word}"));
            if let (Some(joined), Some(line)) =
                (joined.filter(|joined| fonts.width(joined, size) <= most), lines.last_mut())
            {
                *line = joined;
                continue;
            }
            let mut line = String::new();
            for letter in word.chars() {
                line.push(letter);
                if fonts.width(&line, size) > most && line.chars().count() > 1 {
                    line.pop();
                    lines.push(std::mem::replace(&mut line, letter.to_string()));
                }
            }
            lines.push(line);
        }
        let width = lines.iter().map(|line| fonts.width(line, size)).fold(0.0, f32::max);
        Self { lines, size, width }
    }

    pub(super) fn width(&self) -> u32 {
        self.width.ceil() as u32
    }

    pub(super) fn height(&self) -> u32 {
        (self.lines.len() as f32 * self.size * LINE).ceil() as u32
    }

    /// Draws it with its top left corner there, each line in the middle of a width.
    pub(super) fn draw(&self, fonts: &Fonts, image: &mut RgbImage, [x, y]: [u32; 2], room: u32) {
        for (number, line) in self.lines.iter().enumerate() {
            let wide = fonts.width(line, self.size);
            let left = x as f32 + ((room as f32 - wide) / 2.0).max(0.0);
            let baseline = y as f32 + self.size * LINE * number as f32 + fonts.ascent(self.size);
            let mut place = Place::default();
            for letter in line.chars() {
                let Some((font, mut glyph, begin)) = place.step(fonts, letter, self.size) else { continue };
                glyph.position = point(left + begin, baseline);
                let Some(outline) = font.outline_glyph(glyph) else { continue };
                let bounds = outline.px_bounds();
                outline.draw(|column, row, coverage| {
                    let place = (bounds.min.x + column as f32, bounds.min.y + row as f32);
                    if place.0 < 0.0 || place.1 < 0.0 {
                        return;
                    }
                    if let Some(pixel) = image.get_pixel_mut_checked(place.0 as u32, place.1 as u32) {
                        let ink = |value: u8| {
                            let value = f32::from(value);
                            (value + (f32::from(INK) - value) * coverage.clamp(0.0, 1.0)).round() as u8
                        };
                        pixel.0 = pixel.0.map(ink);
                    }
                });
            }
        }
    }
}
