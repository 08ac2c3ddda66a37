//! What the network says, as boxes.

use crate::nn::{Result, Tensor, bail};

/// Boxes that overlap more than this are of the same thing, as their intersection over their union.
const SAME: f32 = 0.7;
/// The most boxes of an image.
const MOST: usize = 300;
/// Pixels for each place of a prototype.
const PROTOTYPE: f32 = 4.0;

/// What the network says about the places of a level, `[1, channels, rows, columns]`, f32.
#[derive(Debug, Clone)]
pub(super) struct Level {
    /// For each side of a box, the shares of the distances to it.
    pub sides: Tensor,
    /// What is in the box.
    pub classes: Tensor,
    /// The shares of prototypes or, without those, places of joints and how sure they are.
    pub third: Option<Tensor>,
}

/// What the network says about an image.
#[derive(Debug, Clone)]
pub struct Seen {
    pub(super) levels: Vec<Level>,
    /// Prototypes of shapes, `[1, count, rows, columns]`, f32.
    pub(super) prototypes: Option<Tensor>,
}

/// Something that was found. Places are in pixels of what the network sees.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Left, top, right and bottom.
    pub area: [f32; 4],
    /// How sure the network is, in 0…1.
    pub confidence: f32,
    /// Its kind.
    pub class: usize,
    /// Its shape, if the network tells shapes.
    pub shape: Option<Shape>,
    /// The column and the row of each of its joints, and how sure the network is of it, in 0…1; empty if it tells none.
    pub joints: Vec<[f32; 3]>,
}

/// A shape within a box: above 0 inside.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    values: Vec<f32>,
    /// Rows and columns.
    size: [usize; 2],
}

/// The values of a tensor in RAM, row by row.
fn values(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.computed()?.to_device(&candle_core::Device::Cpu)?.flatten_all()?.to_vec1()
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The mean of 0, 1, 2… with these weights before softmax.
fn mean(weights: impl Iterator<Item = f32> + Clone) -> f32 {
    let most = weights.clone().fold(f32::NEG_INFINITY, f32::max);
    let (mut sum, mut all) = (0.0, 0.0);
    for (distance, weight) in weights.enumerate() {
        let share = (weight - most).exp();
        sum += distance as f32 * share;
        all += share;
    }
    sum / all
}

impl Seen {
    /// The raw outputs: for each level the sides of boxes, the classes and the shares of prototypes or the joints, then the
    /// prototypes.
    pub fn outputs(&self) -> Vec<&Tensor> {
        let each = self.levels.iter().flat_map(|level| {
            [Some(&level.sides), Some(&level.classes), level.third.as_ref()].into_iter().flatten()
        });
        each.chain(self.prototypes.as_ref()).collect()
    }

    /// The same from the raw outputs of a network that tells joints.
    pub fn of_joints(outputs: &[Tensor]) -> Self {
        let level = |[sides, classes, joints]: &[Tensor; 3]| Level {
            sides: sides.clone(),
            classes: classes.clone(),
            third: Some(joints.clone()),
        };
        Self { levels: outputs.as_chunks().0.iter().map(level).collect(), prototypes: None }
    }

    /// What is in an image of this height and width, with at least this confidence: the surest first, and each thing once.
    ///
    /// # Errors
    /// When a value is not finite or cannot be read.
    pub fn found(&self, [rows, _]: [usize; 2], confidence: f32) -> Result<Vec<Found>> {
        let mut candidates = Vec::new();
        let mut shares = Vec::new();
        for level in &self.levels {
            let (_, sides_of, height, width) = level.sides.dims4()?;
            let classes = level.classes.dim(1)?;
            let (bins, plane) = (sides_of / 4, height * width);
            let step = (rows / height.max(1)) as f32;
            let (sides, scores) = (values(&level.sides)?, values(&level.classes)?);
            let third = level.third.as_ref().map(values).transpose()?;
            for place in 0..plane {
                let each = (0..classes).map(|class| (class, scores[class * plane + place]));
                let Some((class, score)) = each.max_by(|one, other| one.1.total_cmp(&other.1)) else {
                    continue;
                };
                if !score.is_finite() {
                    bail!("a detector made values that are no numbers");
                }
                let sure = sigmoid(score);
                if sure <= confidence {
                    continue;
                }
                let distance =
                    |side: usize| mean((0..bins).map(|bin| sides[(side * bins + bin) * plane + place]));
                let (column, row) = ((place % width) as f32, (place / width) as f32);
                let (x, y) = (column + 0.5, row + 0.5);
                let area = [x - distance(0), y - distance(1), x + distance(2), y + distance(3)];
                let area = area.map(|side| side * step);
                let said: Option<Vec<f32>> =
                    third.as_ref().map(|all| all.iter().skip(place).step_by(plane).copied().collect());
                let joints = match (&self.prototypes, &said) {
                    (None, Some(said)) => joints(said, [column, row], step),
                    _ => Vec::new(),
                };
                let found = Found { area, confidence: sure, class, shape: None, joints };
                candidates.push((shares.len(), found));
                shares.push(said);
            }
        }
        candidates.sort_by(|(_, one), (_, other)| other.confidence.total_cmp(&one.confidence));
        let mut kept: Vec<(usize, Found)> = Vec::new();
        for (number, found) in candidates {
            let is_known = |(_, other): &(usize, Found)| {
                other.class == found.class && overlap(other.area, found.area) > SAME
            };
            if kept.len() < MOST && !kept.iter().any(is_known) {
                kept.push((number, found));
            }
        }
        let prototypes = match &self.prototypes {
            Some(prototypes) => Some((prototypes.dims4()?, values(prototypes)?)),
            None => None,
        };
        let with_shape = |(number, found): (usize, Found)| {
            let shape = prototypes.as_ref().zip(shares[number].as_ref()).map(
                |(((_, _, height, width), prototypes), shares)| Shape {
                    values: mixed(prototypes, shares, height * width),
                    size: [*height, *width],
                },
            );
            Found { shape, ..found }
        };
        Ok(kept.into_iter().map(with_shape).collect())
    }
}

/// Where joints are in pixels, and how sure they are, from what a place of a level says of them.
fn joints(said: &[f32], [column, row]: [f32; 2], step: f32) -> Vec<[f32; 3]> {
    let joint = |&[x, y, sure]: &[f32; 3]| [(2.0 * x + column) * step, (2.0 * y + row) * step, sigmoid(sure)];
    said.as_chunks().0.iter().map(joint).collect()
}

/// The sum of planes, each with its share.
fn mixed(planes: &[f32], shares: &[f32], plane: usize) -> Vec<f32> {
    let mut sum = vec![0.0; plane];
    for (values, share) in planes.chunks_exact(plane).zip(shares) {
        sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value * share);
    }
    sum
}

/// The intersection of two boxes over their union.
fn overlap(one: [f32; 4], other: [f32; 4]) -> f32 {
    let area = |[left, top, right, bottom]: [f32; 4]| (right - left).max(0.0) * (bottom - top).max(0.0);
    let both = area([one[0].max(other[0]), one[1].max(other[1]), one[2].min(other[2]), one[3].min(other[3])]);
    both / (area(one) + area(other) - both)
}

impl Shape {
    /// The value at a place in pixels of what the network sees, between those of the four nearest places.
    pub fn at(&self, x: f32, y: f32) -> f32 {
        let [rows, columns] = self.size;
        let between = |place: f32, length: usize| {
            let place = (place / PROTOTYPE - 0.5).clamp(0.0, length.saturating_sub(1) as f32);
            let first = place as usize;
            (first, (first + 1).min(length.saturating_sub(1)), place - first as f32)
        };
        let ((left, right, across), (top, bottom, down)) = (between(x, columns), between(y, rows));
        let row = |row: usize| {
            let value = |column: usize| self.values.get(row * columns + column).copied().unwrap_or(0.0);
            value(left) * (1.0 - across) + value(right) * across
        };
        row(top) * (1.0 - down) + row(bottom) * down
    }

    /// Its values, row by row, and their rows and columns: one for four by four pixels.
    pub fn values(&self) -> (&[f32], [usize; 2]) {
        (&self.values, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::Device;

    fn tensor(values: Vec<f32>, dims: [usize; 4]) -> Tensor {
        Tensor::from_vec(values, dims.as_slice(), &Device::processor()).unwrap()
    }

    /// Two columns at a step of 8 with two bins a side, of which the second has all, and one class.
    fn seen(scores: [f32; 2]) -> Seen {
        let sides = (0..8).flat_map(|bin| [if bin % 2 == 1 { 40.0 } else { -40.0 }; 2]).collect();
        let level = Level {
            sides: tensor(sides, [1, 8, 1, 2]),
            classes: tensor(scores.to_vec(), [1, 1, 1, 2]),
            third: Some(tensor(vec![1.0, -1.0], [1, 1, 1, 2])),
        };
        Seen { levels: vec![level], prototypes: Some(tensor(vec![1.0, 1.0, -1.0, -1.0], [1, 1, 1, 4])) }
    }

    #[test]
    fn boxes_reach_from_their_places_and_have_shapes() {
        let found = seen([2.0, 3.0]).found([8, 16], 0.5).unwrap();
        assert_eq!([found[0].area, found[1].area], [[4.0, -4.0, 20.0, 12.0], [-4.0, -4.0, 12.0, 12.0]]);
        assert!((found[0].confidence - 0.952_574).abs() < 1e-6);
        let shape = found[1].shape.as_ref().unwrap();
        assert_eq!([2.0, 8.0, 14.0].map(|x| shape.at(x, 2.0)), [1.0, 0.0, -1.0]);
        assert_eq!(found[0].shape.as_ref().unwrap().at(2.0, 2.0), -1.0);
        assert_eq!(seen([2.0, -3.0]).found([8, 16], 0.5).unwrap().len(), 1);
        assert!(seen([f32::NAN, 0.0]).found([8, 16], 0.5).is_err());
    }

    #[test]
    fn joints_are_told_from_the_places_of_a_level() {
        let mut seen = seen([2.0, 3.0]);
        seen.prototypes = None;
        seen.levels[0].third = Some(tensor(vec![0.5, -0.25, 1.0, 0.0, 0.0, 40.0], [1, 3, 1, 2]));
        let found = seen.found([8, 16], 0.5).unwrap();
        assert_eq!(found[1].joints, [[8.0, 16.0, 0.5]]);
        assert_eq!(found[0].joints, [[4.0, 0.0, 1.0]]);
        assert!(found[0].shape.is_none());
        let outputs: Vec<Tensor> = seen.outputs().into_iter().cloned().collect();
        assert_eq!(Seen::of_joints(&outputs).found([8, 16], 0.5).unwrap(), found);
    }

    #[test]
    fn what_overlaps_is_one_thing() {
        assert_eq!(overlap([0.0, 0.0, 2.0, 2.0], [1.0, 0.0, 3.0, 2.0]), 1.0 / 3.0);
        assert_eq!(overlap([0.0, 0.0, 2.0, 2.0], [5.0, 5.0, 6.0, 6.0]), 0.0);
    }
}
