//! The layers of YOLOv8.

use super::boxes::{Level, Seen};
use crate::{
    checkpoint::BlockSpec,
    nn::{Conv2d, DType, Result, Tensor, Untraced, add, conv2d, silu, untraced},
    residency::Weights,
};

/// Channels of an image.
pub(super) const COLOURS: usize = 3;
/// Added to the variance in every norm.
const EPS: f64 = 1e-3;
/// Pixels along each side of what the maximum is taken of, and before its middle.
const WINDOW: usize = 5;
const BEFORE: usize = WINDOW / 2;
/// How often it is taken, one of the other.
const POOLS: usize = 3;
/// Layers of which a maximum is taken, and of which parts are added, by their numbers.
const POOLED: usize = 9;
const PLAIN: [usize; 7] = [0, 1, 3, 5, 7, 16, 19];
/// The layers after this one do not add what comes into a bottleneck to what it makes.
const LAST_OF_BACKBONE: usize = 9;

/// A layer before the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// A convolution that halves the sides.
    Halving { outputs: usize },
    /// Bottlenecks one after the other, whose inputs and results are all read at the end ("C2f").
    Bottlenecks { hidden: usize, outputs: usize, count: usize, adds: bool },
    /// Maxima of ever larger neighbourhoods ("SPPF").
    Maxima { hidden: usize, outputs: usize },
}

/// The head: for each place, where a box around it ends and what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Channels on the way to boxes and to classes.
    hidden: [usize; 2],
    /// Distances that each side of a box has a share of.
    bins: usize,
    pub classes: usize,
    third: Option<Third>,
    /// Channels on the way to prototypes of shapes, if the third branch says the shares of those.
    prototypes: Option<usize>,
}

/// What else is said of each place: the shares of prototypes of shapes, or where joints are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Third {
    /// Channels on the way.
    hidden: usize,
    outputs: usize,
}

fn within(name: &str, end: &str) -> String {
    if name.is_empty() { end.to_owned() } else { format!("{name}.{end}") }
}

/// The channels that a convolution makes, from the shape of its kernel.
fn made(shape: &[usize]) -> Option<usize> {
    match shape {
        &[outputs, _, _, _] if outputs > 0 => Some(outputs),
        _ => None,
    }
}

/// A convolution and the norm after it, or the two folded to one with a bias.
fn conv(spec: BlockSpec, name: &str, [outputs, inputs, side]: [usize; 3], is_folded: bool) -> BlockSpec {
    let spec = spec.tensor(within(name, "conv.weight"), &[outputs, inputs, side, side]);
    if is_folded {
        return spec.tensor(within(name, "conv.bias"), &[outputs]);
    }
    spec.batch_norm(&within(name, "bn"), outputs)
}

/// Applies a convolution with its norm and SiLU.
fn convolved(w: &Weights<'_>, name: &str, x: &Tensor, conv: Conv2d) -> Result<Tensor> {
    let (name, norm) = (within(name, "conv"), within(name, "bn"));
    if w.has(&format!("{name}.bias")) {
        return silu(&w.conv2d(&name, x, conv)?);
    }
    let (kernel, bias) = w.with_batch_norm(&name, &norm, EPS)?;
    silu(&conv2d(x, &kernel, Some(&bias), conv)?)
}

impl Layer {
    /// The layer of this number, from the shapes of its tensors.
    pub fn found<'a>(number: usize, shape: impl Fn(&str) -> &'a [usize]) -> Option<Self> {
        if PLAIN.contains(&number) {
            return Some(Self::Halving { outputs: made(shape("conv.weight"))? });
        }
        let outputs = made(shape("cv2.conv.weight"))?;
        let first = made(shape("cv1.conv.weight"))?;
        if number == POOLED {
            return Some(Self::Maxima { hidden: first, outputs });
        }
        let is_there = |inner: &usize| !shape(&format!("m.{inner}.cv1.conv.weight")).is_empty();
        let count = (0..).take_while(is_there).count();
        let adds = number < LAST_OF_BACKBONE;
        (count > 0 && first % 2 == 0).then_some(Self::Bottlenecks { hidden: first / 2, outputs, count, adds })
    }

    /// The channels that it makes.
    pub fn outputs(&self) -> usize {
        match *self {
            Self::Halving { outputs } | Self::Bottlenecks { outputs, .. } | Self::Maxima { outputs, .. } => {
                outputs
            }
        }
    }

    pub fn spec(&self, spec: BlockSpec, inputs: usize, is_folded: bool) -> BlockSpec {
        match *self {
            Self::Halving { outputs } => conv(spec, "", [outputs, inputs, 3], is_folded),
            Self::Bottlenecks { hidden, outputs, count, .. } => {
                let mut spec = conv(spec, "cv1", [2 * hidden, inputs, 1], is_folded);
                for inner in 0..count {
                    for name in ["cv1", "cv2"] {
                        spec = conv(spec, &format!("m.{inner}.{name}"), [hidden, hidden, 3], is_folded);
                    }
                }
                conv(spec, "cv2", [outputs, (2 + count) * hidden, 1], is_folded)
            }
            Self::Maxima { hidden, outputs } => {
                let spec = conv(spec, "cv1", [hidden, inputs, 1], is_folded);
                conv(spec, "cv2", [outputs, (1 + POOLS) * hidden, 1], is_folded)
            }
        }
    }

    pub fn forward(&self, w: &Weights<'_>, x: Tensor) -> Result<Tensor> {
        match *self {
            Self::Halving { .. } => convolved(w, "", &x, Conv2d::HALVE_3X3),
            Self::Bottlenecks { hidden, count, adds, .. } => {
                let both = convolved(w, "cv1", &x, Conv2d::POINTWISE)?;
                drop(x);
                let mut parts = vec![both.narrow(1, 0, hidden)?, both.narrow(1, hidden, hidden)?];
                for inner in 0..count {
                    let before = parts[parts.len() - 1].contiguous()?;
                    let halfway = convolved(w, &format!("m.{inner}.cv1"), &before, Conv2d::SAME_3X3)?;
                    let after = convolved(w, &format!("m.{inner}.cv2"), &halfway, Conv2d::SAME_3X3)?;
                    parts.push(if adds { add(&before, &after)? } else { after });
                }
                let all = Tensor::cat(&parts, 1)?;
                drop((both, parts));
                convolved(w, "cv2", &all, Conv2d::POINTWISE)
            }
            Self::Maxima { .. } => {
                let mut parts = vec![convolved(w, "cv1", &x, Conv2d::POINTWISE)?];
                drop(x);
                for _ in 0..POOLS {
                    parts.push(greatest(&parts[parts.len() - 1])?);
                }
                let all = Tensor::cat(&parts, 1)?;
                drop(parts);
                convolved(w, "cv2", &all, Conv2d::POINTWISE)
            }
        }
    }
}

/// The greatest value in the window around each place of `[1, channels, height, width]`.
fn greatest(x: &Tensor) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let (planes, padded) = (batch * channels, (height + 2 * BEFORE) * (width + 2 * BEFORE));
    let rows = height * (width + 2 * BEFORE);
    let takes = |_| Untraced {
        values: planes * (padded + 2 * rows),
        operations: (2 * (WINDOW - 1) * planes * rows) as f64,
    };
    untraced([x], &[batch, channels, height, width], takes, |[x]| {
        // Behind an edge its own values are repeated: they are in the window anyway.
        let wide = x.pad_with_same(2, BEFORE, BEFORE)?.pad_with_same(3, BEFORE, BEFORE)?;
        let along = |x: &candle_core::Tensor, dim: usize, length: usize| {
            let mut most = x.narrow(dim, 0, length)?.contiguous()?;
            for first in 1..WINDOW {
                most = most.maximum(&x.narrow(dim, first, length)?)?;
            }
            Ok::<_, candle_core::Error>(most)
        };
        along(&along(&wide, 2, height)?, 3, width)
    })
}

impl Head {
    /// The head, from the shapes of its tensors.
    pub fn found<'a>(shape: impl Fn(&str) -> &'a [usize]) -> Option<Self> {
        let outputs = |name: &str| made(shape(&format!("{name}.weight")));
        let bins = outputs("cv2.0.2")?;
        let third = match outputs("cv4.0.2") {
            Some(outputs_of_third) => {
                Some(Third { hidden: outputs("cv4.0.0.conv")?, outputs: outputs_of_third })
            }
            None => None,
        };
        let prototypes = outputs("proto.cv1.conv");
        if prototypes.is_some() && third.is_none() {
            return None;
        }
        (bins % 4 == 0).then_some(Self {
            hidden: [outputs("cv2.0.0.conv")?, outputs("cv3.0.0.conv")?],
            bins: bins / 4,
            classes: outputs("cv3.0.2")?,
            third,
            prototypes,
        })
    }

    /// Whether it tells shapes.
    pub fn has_shapes(&self) -> bool {
        self.prototypes.is_some()
    }

    /// Whether it tells joints.
    pub fn has_joints(&self) -> bool {
        self.third.is_some() && self.prototypes.is_none()
    }

    pub fn spec(&self, mut spec: BlockSpec, inputs: [usize; 3], is_folded: bool) -> BlockSpec {
        let way = |spec: BlockSpec, name: &str, [inputs, hidden, outputs]: [usize; 3]| {
            let spec = conv(spec, &format!("{name}.0"), [hidden, inputs, 3], is_folded);
            let spec = conv(spec, &format!("{name}.1"), [hidden, hidden, 3], is_folded);
            spec.conv(&format!("{name}.2"), outputs, hidden, 1)
        };
        for (level, inputs) in inputs.into_iter().enumerate() {
            spec = way(spec, &format!("cv2.{level}"), [inputs, self.hidden[0], 4 * self.bins]);
            spec = way(spec, &format!("cv3.{level}"), [inputs, self.hidden[1], self.classes]);
            if let Some(Third { hidden, outputs }) = self.third {
                spec = way(spec, &format!("cv4.{level}"), [inputs, hidden, outputs]);
            }
        }
        let (Some(inner), Some(Third { outputs: count, .. })) = (self.prototypes, self.third) else {
            return spec;
        };
        let spec = conv(spec, "proto.cv1", [inner, inputs[0], 3], is_folded);
        let spec = spec.conv("proto.upsample", inner, inner, 2);
        let spec = conv(spec, "proto.cv2", [inner, inner, 3], is_folded);
        conv(spec, "proto.cv3", [count, inner, 1], is_folded)
    }

    /// What is seen in the features of three levels.
    pub fn see(&self, w: &Weights<'_>, features: &[Tensor; 3]) -> Result<Seen> {
        let way = |name: String, x: &Tensor| {
            let x = convolved(w, &format!("{name}.0"), x, Conv2d::SAME_3X3)?;
            let x = convolved(w, &format!("{name}.1"), &x, Conv2d::SAME_3X3)?;
            w.conv2d(&format!("{name}.2"), &x, Conv2d::POINTWISE)?.to_dtype(DType::F32)
        };
        let level = |(level, x): (usize, &Tensor)| {
            let third = self.third.map(|_| way(format!("cv4.{level}"), x)).transpose()?;
            Ok(Level {
                sides: way(format!("cv2.{level}"), x)?,
                classes: way(format!("cv3.{level}"), x)?,
                third,
            })
        };
        let levels = features.iter().enumerate().map(level).collect::<Result<_>>()?;
        let prototypes = self.prototypes.map(|_| prototypes(w, &features[0])).transpose()?;
        Ok(Seen { levels, prototypes })
    }
}

fn prototypes(w: &Weights<'_>, x: &Tensor) -> Result<Tensor> {
    let x = convolved(w, "proto.cv1", x, Conv2d::SAME_3X3)?;
    // A transposed convolution whose windows do not overlap: each place becomes two by two.
    let kernel = w.get("proto.upsample.weight")?;
    let (inputs, outputs, rows, columns) = kernel.dims4()?;
    let kernel =
        kernel.permute([1, 2, 3, 0])?.contiguous()?.reshape((outputs * rows * columns, inputs, 1, 1))?;
    let (batch, _, height, width) = x.dims4()?;
    let x = conv2d(&x, &kernel, None, Conv2d::POINTWISE)?;
    let x = x.reshape((batch, outputs, rows, columns, height, width))?.permute([0, 1, 4, 2, 5, 3])?;
    let x = x.contiguous()?.reshape((batch, outputs, rows * height, columns * width))?;
    let bias = w.get("proto.upsample.bias")?.reshape((1, outputs, 1, 1))?;
    let x = convolved(w, "proto.cv2", &x.broadcast_add(&bias)?, Conv2d::SAME_3X3)?;
    convolved(w, "proto.cv3", &x, Conv2d::POINTWISE)?.to_dtype(DType::F32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_value_around_each_place_is_taken() {
        let mut values = vec![-9.0_f32; 6 * 7];
        (values[7 + 1], values[5 * 7 + 6]) = (-1.0, 2.0);
        let x = candle_core::Tensor::from_vec(values, (1, 1, 6, 7), &candle_core::Device::Cpu).unwrap();
        let most = greatest(&x.into()).unwrap().into_computed().unwrap().flatten_all().unwrap();
        let most = most.to_vec1::<f32>().unwrap();
        for (place, most) in most.into_iter().enumerate() {
            let (row, column) = (place / 7, place % 7);
            let expected = match (row, column) {
                (3.., 4..) => 2.0,
                (..=3, ..=3) => -1.0,
                _ => -9.0,
            };
            assert_eq!(most, expected, "{row} {column}");
        }
    }
}
