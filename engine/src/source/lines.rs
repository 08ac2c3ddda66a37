//! Lines of an image from the differences of its blurred copies, as controlnet_aux and A1111's extension find them.

use crate::output::Image;

/// How far the copy is blurred from which a pixel stands out, in standard deviations.
const AROUND: f32 = 6.0;
/// Least strength of a pixel that says how strong lines are.
const FAINT: f32 = 8.0;
/// The strength of lines at least, from which they are scaled.
const LEAST: f32 = 16.0;
/// The value of a line that is as strong as most.
const USUAL: f32 = 127.0;
/// How far the two copies of a scribble are blurred.
const SCRIBBLE: [f32; 2] = [0.5, 5.0];
/// The strength from which a pixel belongs to a scribble.
const SCRIBBLED: u8 = 16;

/// White lines on black where an image is darker than around: `lineart_standard`.
pub fn lineart(image: &Image) -> Image {
    let around = Plane::of(image).blurred(AROUND);
    let strengths: Vec<f32> = darker(&around.values, image.pixels.iter().map(|value| f32::from(*value)));
    let mut lines: Vec<f32> = strengths.iter().copied().filter(|strength| *strength > FAINT).collect();
    lines.sort_by(f32::total_cmp);
    let middle = match lines.len() {
        0 => 0.0,
        count if count % 2 == 1 => lines[count / 2],
        count => (lines[count / 2 - 1] + lines[count / 2]) / 2.0,
    };
    let scale = middle.max(LEAST);
    let shades = strengths.into_iter().map(|strength| (strength / scale * USUAL).clamp(0.0, 255.0) as u8);
    of_shades(image, shades)
}

/// Thick white lines on black: `scribble_xdog`.
pub fn scribble(image: &Image) -> Image {
    let [near, far] = SCRIBBLE.map(|deviation| Plane::of(image).blurred(deviation));
    let strengths = darker(&far.values, near.values.into_iter());
    // The reference cuts what is left of white to a whole number, and doubles what that lacks.
    let is_line = |strength: f32| 255 - (255.0 - strength).clamp(0.0, 255.0) as u8 > SCRIBBLED;
    of_shades(image, strengths.into_iter().map(|strength| if is_line(strength) { 255 } else { 0 }))
}

/// The image blurred by this many pixels.
pub fn blurred(image: &Image, deviation: f32) -> Image {
    let values = Plane::of(image).blurred(deviation).values;
    let pixels = values.into_iter().map(|value| value.round().clamp(0.0, 255.0) as u8).collect();
    Image::opaque(image.width, image.height, pixels)
}

/// By how much each pixel is darker than what is around it, in the colour in which it is least so; at least 0.
fn darker(around: &[f32], own: impl Iterator<Item = f32>) -> Vec<f32> {
    let differences: Vec<f32> = around.iter().zip(own).map(|(around, own)| around - own).collect();
    let least = |pixel: &[f32; 3]| pixel.iter().copied().fold(f32::INFINITY, f32::min);
    differences.as_chunks::<3>().0.iter().map(|pixel| least(pixel).clamp(0.0, 255.0)).collect()
}

fn of_shades(image: &Image, shades: impl Iterator<Item = u8>) -> Image {
    Image::opaque(image.width, image.height, shades.flat_map(|shade| [shade; 3]).collect())
}

/// Three values for each pixel, row by row.
struct Plane {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

impl Plane {
    fn of(image: &Image) -> Self {
        let values = image.pixels.iter().map(|value| f32::from(*value)).collect();
        Self { width: image.width as usize, height: image.height as usize, values }
    }

    /// Blurred with Gauss' curve to four standard deviations, mirrored at the edges without repeating them.
    fn blurred(self, deviation: f32) -> Self {
        let reach = ((8.0 * deviation + 1.0).round() as usize | 1) / 2;
        let weight = |place: usize| {
            let distance = place as f64 - reach as f64;
            (-distance * distance / (2.0 * f64::from(deviation) * f64::from(deviation))).exp()
        };
        let weights: Vec<f64> = (0..=2 * reach).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        let weights: Vec<f32> = weights.into_iter().map(|weight| (weight / sum) as f32).collect();
        let places = |size: usize| -> Vec<usize> {
            (0..size + 2 * reach).map(|ahead| mirrored(ahead, reach, size)).collect()
        };
        let Self { width, height, values } = self;
        let [columns, lines] = [width, height].map(places);
        let across = |row: usize, column: usize, colour: usize| {
            let row = &values[3 * row * width..][..3 * width];
            let seen = weights.iter().zip(&columns[column..]);
            seen.map(|(weight, column)| weight * row[3 * column + colour]).sum::<f32>()
        };
        let rows = each(width, height, across);
        let down = |row: usize, column: usize, colour: usize| {
            let seen = weights.iter().zip(&lines[row..]);
            seen.map(|(weight, row)| weight * rows[3 * (row * width + column) + colour]).sum::<f32>()
        };
        Self { width, height, values: each(width, height, down) }
    }
}

/// The values of all pixels.
fn each(width: usize, height: usize, value: impl Fn(usize, usize, usize) -> f32) -> Vec<f32> {
    let places = (0..height).flat_map(|row| (0..width).map(move |column| (row, column)));
    places.flat_map(|(row, column)| [0, 1, 2].map(|colour| value(row, column, colour))).collect()
}

/// The place `ahead − reach` of `size` places, mirrored at the first and the last as often as needed.
fn mirrored(ahead: usize, reach: usize, size: usize) -> usize {
    let period = 2 * size.saturating_sub(1);
    if period == 0 {
        return 0;
    }
    let place = (ahead + reach * (period - 1)) % period;
    place.min(period - place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_beyond_the_edges_are_mirrored() {
        let places = |size| (0..9).map(|ahead| mirrored(ahead, 3, size)).collect::<Vec<_>>();
        assert_eq!(places(4), [3, 2, 1, 0, 1, 2, 3, 2, 1]);
        assert_eq!(places(2), [1, 0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(places(1), [0; 9]);
    }

    #[test]
    fn a_dark_line_becomes_white_on_black() {
        let pixels = (0..32 * 32).flat_map(|place| [if place % 32 == 16 { 40 } else { 220 }; 3]).collect();
        let image = Image::opaque(32, 32, pixels);
        for made in [lineart(&image), scribble(&image)] {
            assert!(made.pixels[3 * 16] > 120, "{}", made.pixels[3 * 16]);
            assert_eq!(made.pixels[0], 0);
        }
    }

    #[test]
    fn a_plain_image_has_no_lines_and_stays_as_it_is_when_it_is_blurred() {
        let image = Image::opaque(5, 3, vec![90; 45]);
        assert!(lineart(&image).pixels.iter().chain(&scribble(&image).pixels).all(|value| *value == 0));
        assert_eq!(blurred(&image, 9.0), image);
    }
}
