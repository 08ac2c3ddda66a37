//! Lines of text on an image.

use ab_glyph::{Font as _, FontRef, PxScale, ScaleFont as _, point};
use image::RgbImage;

static INTER: &[u8] = include_bytes!("../../../../assets/fonts/Inter.ttf");
/// The height of a line, in heights of letters.
const LINE: f32 = 1.25;
const INK: u8 = 24;

/// The font of labels; none if it cannot be read, and then labels stay empty.
pub(super) struct Font(Option<FontRef<'static>>);

impl Default for Font {
    fn default() -> Self {
        let font = FontRef::try_from_slice(INTER);
        Self(font.inspect_err(|error| tracing::warn!(%error, "sheets have no labels")).ok())
    }
}

impl Font {
    fn width(&self, text: &str, size: f32) -> f32 {
        self.0.as_ref().map_or(0.0, |font| width(font, text, size))
    }
}

fn width(font: &FontRef<'_>, text: &str, size: f32) -> f32 {
    let font = font.as_scaled(PxScale::from(size));
    let mut before = None;
    let advance = |letter: char| {
        let glyph = font.glyph_id(letter);
        let kerning = before.replace(glyph).map_or(0.0, |before| font.kern(before, glyph));
        kerning + font.h_advance(glyph)
    };
    text.chars().map(advance).sum()
}

/// A label, wrapped into lines.
pub(super) struct Paragraph {
    lines: Vec<String>,
    size: f32,
    width: f32,
}

impl Paragraph {
    /// Wraps a label at a width in pixels: between words, and within those that are longer.
    pub(super) fn new(font: &Font, label: &str, size: f32, width: u32) -> Self {
        let most = width as f32;
        let mut lines: Vec<String> = Vec::new();
        for word in label.split_whitespace() {
            let joined = lines.last().map(|line| format!("{line} {word}"));
            if let (Some(joined), Some(line)) =
                (joined.filter(|joined| font.width(joined, size) <= most), lines.last_mut())
            {
                *line = joined;
                continue;
            }
            let mut line = String::new();
            for letter in word.chars() {
                line.push(letter);
                if font.width(&line, size) > most && line.chars().count() > 1 {
                    line.pop();
                    lines.push(std::mem::replace(&mut line, letter.to_string()));
                }
            }
            lines.push(line);
        }
        let width = lines.iter().map(|line| font.width(line, size)).fold(0.0, f32::max);
        Self { lines, size, width }
    }

    pub(super) fn width(&self) -> u32 {
        self.width.ceil() as u32
    }

    pub(super) fn height(&self) -> u32 {
        (self.lines.len() as f32 * self.size * LINE).ceil() as u32
    }

    /// Draws it with its top left corner there, each line in the middle of a width.
    pub(super) fn draw(&self, font: &Font, image: &mut RgbImage, [x, y]: [u32; 2], room: u32) {
        let Some(font) = &font.0 else { return };
        let inter = font;
        let font = inter.as_scaled(PxScale::from(self.size));
        for (number, line) in self.lines.iter().enumerate() {
            let wide = width(inter, line, self.size);
            let mut at = x as f32 + ((room as f32 - wide) / 2.0).max(0.0);
            let baseline = y as f32 + self.size * LINE * number as f32 + font.ascent();
            let mut before = None;
            for letter in line.chars() {
                let id = font.glyph_id(letter);
                at += before.replace(id).map_or(0.0, |before| font.kern(before, id));
                let glyph = id.with_scale_and_position(font.scale(), point(at, baseline));
                at += font.h_advance(id);
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
