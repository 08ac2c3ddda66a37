//! Persons as OpenPose draws them (Cao et al. 2019, arXiv:1812.08008), in the colours and widths of controlnet_aux: each limb
//! an ellipse, each joint a disc above it, on black.

/// The joints of a person: nose and neck, then shoulder, elbow and wrist of the right and the left arm, hip, knee and ankle of
/// the right and the left leg, the eyes and the ears.
pub(super) const JOINTS: usize = 18;
/// The column and the row of each joint that is seen.
pub(super) type Person = [Option<[f32; 2]>; JOINTS];

/// The joints that a limb is between; the first ones are drawn first.
const LIMBS: [[usize; 2]; 17] = [
    [1, 2],
    [1, 5],
    [2, 3],
    [3, 4],
    [5, 6],
    [6, 7],
    [1, 8],
    [8, 9],
    [9, 10],
    [1, 11],
    [11, 12],
    [12, 13],
    [1, 0],
    [0, 14],
    [14, 16],
    [0, 15],
    [15, 17],
];
/// The colours of joints, and of limbs before they are dimmed.
const COLOURS: [[u8; 3]; JOINTS] = [
    [255, 0, 0],
    [255, 85, 0],
    [255, 170, 0],
    [255, 255, 0],
    [170, 255, 0],
    [85, 255, 0],
    [0, 255, 0],
    [0, 255, 85],
    [0, 255, 170],
    [0, 255, 255],
    [0, 170, 255],
    [0, 85, 255],
    [0, 0, 255],
    [85, 0, 255],
    [170, 0, 255],
    [255, 0, 255],
    [255, 0, 170],
    [255, 0, 85],
];
/// How bright limbs are.
const LIMB: f32 = 0.6;
/// Half of the width of limbs and of discs, in pixels of an image whose shorter side has [`SHORT`].
const HALF: f32 = 4.0;
const SHORT: f32 = 512.0;

/// The pixels of a map of this height and width, red, green and blue, row by row.
pub(super) fn drawn(people: &[Person], [height, width]: [u32; 2]) -> Vec<u8> {
    let mut canvas = Canvas {
        pixels: vec![0; 3 * height as usize * width as usize],
        size: [height as usize, width as usize],
    };
    let half = (HALF * height.min(width) as f32 / SHORT).max(1.0);
    for person in people {
        for ([from, to], colour) in LIMBS.into_iter().zip(COLOURS) {
            if let (Some(from), Some(to)) = (person[from], person[to]) {
                canvas.limb(from, to, half, colour.map(|value| (f32::from(value) * LIMB) as u8));
            }
        }
        for (joint, colour) in person.iter().zip(COLOURS) {
            if let Some(place) = joint {
                canvas.disc(*place, half, colour);
            }
        }
    }
    canvas.pixels
}

struct Canvas {
    pixels: Vec<u8>,
    /// Height and width.
    size: [usize; 2],
}

impl Canvas {
    /// An ellipse from one joint to the other: a polygon with a corner for each degree. Its middle, its length, its angle and
    /// its corners are whole numbers, as there.
    fn limb(&mut self, from: [f32; 2], to: [f32; 2], half: f32, colour: [u8; 3]) {
        let [across, down] = [0, 1].map(|axis| from[axis] - to[axis]);
        let middle = [0, 1].map(|axis| ((from[axis] + to[axis]) / 2.0).trunc());
        let (sine, cosine) = down.atan2(across).to_degrees().trunc().to_radians().sin_cos();
        let long = (across.hypot(down) / 2.0).trunc();
        let corner = |degree: u16| {
            let (aside, along) = f32::from(degree).to_radians().sin_cos();
            let (along, aside) = (long * along, half * aside);
            [
                (middle[0] + along * cosine - aside * sine).round(),
                (middle[1] + along * sine + aside * cosine).round(),
            ]
        };
        // For each row, its first and its last column.
        let mut spans = vec![[f32::INFINITY, f32::NEG_INFINITY]; self.size[0]];
        for degree in 0..360 {
            let (one, other) = (corner(degree), corner(degree + 1));
            let way = [0, 1].map(|axis| other[axis] - one[axis]);
            let steps = way[0].abs().max(way[1].abs()).max(1.0);
            for step in 0..=steps as usize {
                let [column, row] = [0, 1].map(|axis| (one[axis] + way[axis] * step as f32 / steps).round());
                if row >= 0.0
                    && let Some([first, last]) = spans.get_mut(row as usize)
                {
                    (*first, *last) = (first.min(column), last.max(column));
                }
            }
        }
        let edge = self.size[1] as f32;
        for (row, [first, last]) in spans.into_iter().enumerate() {
            let columns = first.clamp(0.0, edge) as usize..(last + 1.0).clamp(0.0, edge) as usize;
            columns.for_each(|column| self.paint(column, row, colour));
        }
    }

    fn disc(&mut self, place: [f32; 2], radius: f32, colour: [u8; 3]) {
        let middle = place.map(f32::trunc);
        let range = |middle: f32, length: usize| {
            let sides = [middle - radius, middle + radius + 1.0];
            let [from, to] = sides.map(|side| side.clamp(0.0, length as f32));
            from as usize..to as usize
        };
        let [height, width] = self.size;
        for row in range(middle[1], height) {
            for column in range(middle[0], width) {
                if (column as f32 - middle[0]).hypot(row as f32 - middle[1]) <= radius {
                    self.paint(column, row, colour);
                }
            }
        }
    }

    fn paint(&mut self, column: usize, row: usize, colour: [u8; 3]) {
        let place = 3 * (row * self.size[1] + column);
        self.pixels[place..place + 3].copy_from_slice(&colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pixels: &[u8], width: usize, column: usize, row: usize) -> [u8; 3] {
        let place = 3 * (row * width + column);
        [pixels[place], pixels[place + 1], pixels[place + 2]]
    }

    #[test]
    fn joints_are_discs_above_dimmed_limbs() {
        let mut person = [None; JOINTS];
        (person[1], person[2]) = (Some([300.0, 100.0]), Some([200.0, 100.0]));
        let pixels = drawn(&[person], [512, 512]);
        assert_eq!(at(&pixels, 512, 300, 100), [255, 85, 0]);
        assert_eq!(at(&pixels, 512, 200, 104), [255, 170, 0]);
        assert_eq!(at(&pixels, 512, 250, 104), [153, 0, 0]);
        assert_eq!([at(&pixels, 512, 250, 105), at(&pixels, 512, 195, 100)], [[0; 3]; 2]);
    }

    #[test]
    fn widths_grow_with_the_image_and_what_is_beside_it_is_cut() {
        let mut person = [None; JOINTS];
        (person[0], person[14]) = (Some([-40.0, 2.0]), Some([100.0, 20.0]));
        assert!(drawn(&[person], [64, 32]).chunks(3).any(|pixel| pixel == [51, 0, 153]));
        (person[0], person[14]) = (Some([512.0, 512.0]), None);
        let pixels = drawn(&[person], [1024, 1024]);
        let [inside, beside] = [520, 521].map(|column| at(&pixels, 1024, column, 512));
        assert_eq!((inside, beside), ([255, 0, 0], [0; 3]));
    }
}
