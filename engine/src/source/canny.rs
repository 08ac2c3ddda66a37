//! Edges of an image (Canny 1986), as OpenCV's `Canny` finds them with a 3×3 Sobel operator and the sum of absolute
//! gradients.

use crate::output::Image;

/// Strength below which a pixel is no edge.
const LOW: i32 = 100;
/// Strength above which it is one by itself.
const HIGH: i32 = 200;
/// The tangent of 22.5°, in units of 2⁻¹⁵.
const TANGENT: i32 = 13_573;

/// White edges on black.
pub fn canny(image: &Image) -> Image {
    let gradients = Gradients::of(image);
    let mut edges = vec![false; gradients.values.len()];
    let mut maybe = vec![false; gradients.values.len()];
    let mut found = Vec::new();
    for (place, [_, _, strength]) in gradients.values.iter().enumerate() {
        if *strength > LOW && gradients.is_ridge(place) {
            maybe[place] = true;
            if *strength > HIGH {
                edges[place] = true;
                found.push(place);
            }
        }
    }
    // What may be an edge is one if it touches one.
    let [width, height] = gradients.size;
    while let Some(place) = found.pop() {
        let (x, y) = (place % width, place / width);
        for row in y.saturating_sub(1)..(y + 2).min(height) {
            for column in x.saturating_sub(1)..(x + 2).min(width) {
                let next = row * width + column;
                if maybe[next] && !edges[next] {
                    edges[next] = true;
                    found.push(next);
                }
            }
        }
    }
    let pixels = edges.into_iter().flat_map(|edge| [if edge { 255 } else { 0 }; 3]).collect();
    Image::opaque(image.width, image.height, pixels)
}

/// The gradient of each pixel across and down, and its strength; of three colours the strongest.
struct Gradients {
    size: [usize; 2],
    values: Vec<[i32; 3]>,
}

impl Gradients {
    fn of(image: &Image) -> Self {
        let size = [image.width as usize, image.height as usize];
        let [width, height] = size;
        let at = |x: usize, y: usize, colour: usize| i32::from(image.pixels[3 * (y * width + x) + colour]);
        let gradient = |place: usize| {
            let (x, y) = (place % width, place / width);
            let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
            let (above, below) = (y.saturating_sub(1), (y + 1).min(height - 1));
            let of_colour = |colour| {
                let across = |y| at(right, y, colour) - at(left, y, colour);
                let down = |x| at(x, below, colour) - at(x, above, colour);
                let across = across(above) + 2 * across(y) + across(below);
                let down = down(left) + 2 * down(x) + down(right);
                [across, down, across.abs() + down.abs()]
            };
            let stronger = |one: [i32; 3], other: [i32; 3]| if other[2] > one[2] { other } else { one };
            stronger(stronger(of_colour(0), of_colour(1)), of_colour(2))
        };
        Self { size, values: (0..width * height).map(gradient).collect() }
    }

    /// Whether no neighbour in the direction of a pixel's gradient is stronger.
    fn is_ridge(&self, place: usize) -> bool {
        let [width, height] = self.size;
        let [across, down, strength] = self.values[place];
        let (x, y) = ((place % width) as isize, (place / width) as isize);
        let at = |right: isize, below: isize| {
            let (x, y) = (x + right, y + below);
            let is_inside = (0..width as isize).contains(&x) && (0..height as isize).contains(&y);
            if is_inside { self.values[y as usize * width + x as usize][2] } else { 0 }
        };
        let (steep, flat) = (down.abs() << 15, across.abs() * TANGENT);
        if steep < flat {
            strength > at(-1, 0) && strength >= at(1, 0)
        } else if steep > flat + (across.abs() << 16) {
            strength > at(0, -1) && strength >= at(0, 1)
        } else {
            let side = if (across ^ down) < 0 { -1 } else { 1 };
            strength > at(-side, -1) && strength > at(side, 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What OpenCV makes of [`picture`].
    const EDGES: [&str; 16] = [
        ".........#..............",
        ".........#..............",
        "..........###...........",
        "........##...##.........",
        ".......##.....##........",
        "......##.......##.......",
        "......#.......#.#.......",
        ".....#..######..#.######",
        ".....#....#...#.#...#...",
        ".....#....#...#.#...#...",
        "......#...#.....#...#...",
        "......##..#....##...#...",
        "....#..##.....##....#...",
        "........##...##....#....",
        "#######...###...####.###",
        ".....#...#.....#...#....",
    ];

    /// A slope, a disc and a chequered board of growing contrast, each in a colour of its own.
    fn picture() -> Image {
        let (width, height) = (24, 16);
        let pixel = |place: u32| {
            let (x, y) = (place % width, place / width);
            let disc = x.abs_diff(11).pow(2) + y.abs_diff(8).pow(2) < 30;
            let board = (x / 5 + y / 7) % 2;
            [x * 7 + y * 3, if disc { 200 } else { 40 + 2 * x }, board * (30 + 2 * y) + x]
                .map(|value| value as u8)
        };
        Image::opaque(width, height, (0..width * height).flat_map(pixel).collect())
    }

    #[test]
    fn edges_are_those_of_opencv() {
        let edges = canny(&picture());
        let rows = edges.pixels.chunks(3 * 24).map(|row| -> String {
            row.chunks(3).map(|pixel| if pixel == [255; 3] { '#' } else { '.' }).collect()
        });
        assert_eq!(rows.collect::<Vec<_>>(), EDGES);
    }

    #[test]
    fn the_smallest_images_have_no_edges() {
        for (width, height) in [(1, 1), (2, 1), (1, 3)] {
            let pixels: Vec<u8> = (0..width * height).flat_map(|place| [place as u8 * 60; 3]).collect();
            let edges = canny(&Image::opaque(width, height, pixels));
            assert_eq!((edges.width, edges.height), (width, height));
        }
    }
}
