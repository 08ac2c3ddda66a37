//! DAT, the Dual Aggregation Transformer (Chen et al. 2023, arXiv:2308.03364): blocks that attend within windows of places, and
//! between channels, in turns. Beside the attention is a convolution of each channel, and each of the two weighs the other.

use std::path::Path;

use super::{
    Upscaler,
    interaction::{self, Weighs},
    open::{COLOURS, Found, refused},
    pixels::{MEAN, shuffle},
    windows::{Windows, attended},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{
        Computes, Conv2d, DType, Result as TensorResult, Tensor, Untraced, add, computed, depthwise, gelu,
        leaky_relu, turned, untraced,
    },
    residency::{Blocks, RunError, Weights},
};

/// Added to the variance in layer norms.
const EPS: f64 = 1e-5;
/// Slopes of activations below zero: between the convolutions after a group, and before new pixels are made.
const SLOPES: [f32; 2] = [0.2, 0.01];
/// A channel sees all places, so that there is no pixel that is too far away.
const EVERYTHING: usize = usize::MAX;

/// Its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dat {
    /// Channels.
    width: usize,
    /// For each group, its blocks and their heads.
    groups: Vec<[usize; 2]>,
    /// Sides of a window, the shorter one first.
    window: [usize; 2],
    /// Inner values of a feed-forward.
    inner: usize,
    /// Whether queries, keys and values have biases.
    has_bias: bool,
    /// Whether three convolutions are after each group.
    after_three: bool,
    ending: Ending,
    factor: usize,
}

/// How new pixels are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// In steps, over so many channels.
    Steps { channels: usize },
    /// By one convolution.
    AtOnce,
}

impl Dat {
    pub(super) const ARCHITECTURE: &str = "DAT";

    /// Whether a file has one.
    pub(super) fn is_in(tensors: &TensorTable) -> bool {
        let first = "layers.0.blocks.0.attn";
        ["attns.0.relative_position_index", "channel_interaction.1.weight", "dwconv.0.weight"]
            .iter()
            .all(|name| tensors.contains_key(&format!("{first}.{name}")))
    }

    /// Its shape, from those of its tensors.
    pub(super) fn found(path: &Path, tensors: &TensorTable) -> Result<Found, CheckpointError> {
        let shape = |name: &str| tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
        let missing = |what: &str| refused(path, format!("{what} is missing"));
        let &[width, inputs, ..] = shape("conv_first.weight") else {
            return Err(missing("its first convolution"));
        };
        if inputs != COLOURS {
            return Err(refused(path, format!("it reads {inputs} channels, and images have {COLOURS}")));
        }
        let has = |group: usize, block: usize| {
            tensors.contains_key(&format!("layers.{group}.blocks.{block}.norm1.weight"))
        };
        let mut groups = Vec::new();
        for group in (0..).take_while(|group| has(*group, 0)) {
            let blocks = (0..).take_while(|block| has(group, *block)).count();
            let heads = match shape(&format!("layers.{group}.blocks.1.attn.temperature")) {
                &[heads, ..] => heads,
                _ => match shape(&format!("layers.{group}.blocks.0.attn.attns.0.pos.pos3.2.weight")) {
                    &[half, ..] => 2 * half,
                    _ => return Err(missing("the attention of a group")),
                },
            };
            if heads < 2 || !heads.is_multiple_of(2) || !width.is_multiple_of(heads) {
                return Err(refused(path, format!("{heads} heads do not fit a width of {width}")));
            }
            groups.push([blocks, heads]);
        }
        let first = "layers.0.blocks.0.attn.attns.0";
        let places = shape(&format!("{first}.relative_position_index"));
        let distances = shape(&format!("{first}.rpe_biases"));
        let window = match (places, distances) {
            (&[places, _], &[distances, _]) => sides(places, distances),
            _ => None,
        };
        let window = window.ok_or_else(|| missing("the size of its windows"))?;
        let &[inner, _] = shape("layers.0.blocks.0.ffn.fc1.weight") else {
            return Err(missing("a feed-forward"));
        };
        let (ending, factor) = ending(path, &shape)?;
        let network = Self {
            width,
            groups,
            window,
            inner,
            has_bias: tensors.contains_key("layers.0.blocks.0.attn.qkv.bias"),
            after_three: !tensors.contains_key("conv_after_body.weight"),
            ending,
            factor,
        };
        Ok(Found { specs: network.blueprint(), network: Box::new(network), names: None })
    }

    fn blueprint(&self) -> Vec<BlockSpec> {
        let Self { width, factor, .. } = *self;
        let mut specs =
            vec![BlockSpec::stem("conv_first").conv("conv_first", width, 3, 3).norm("before_RG.1", width)];
        for (group, &[blocks, heads]) in self.groups.iter().enumerate() {
            specs.extend((0..blocks).map(|block| self.block(group, block, heads)));
            specs.push(self.convolutions(BlockSpec::new(format!("layers.{group}")), "conv"));
        }
        let last = self.convolutions(BlockSpec::stem("conv_last").norm("norm", width), "conv_after_body");
        specs.push(match self.ending {
            Ending::AtOnce => last.conv("upsample.0", 3 * factor * factor, width, 3),
            Ending::Steps { channels } => {
                let spec = last.conv("conv_before_upsample.0", channels, width, 3);
                let each = steps(factor).into_iter().enumerate();
                each.fold(spec, |spec, (number, side)| {
                    spec.conv(&format!("upsample.{}", 2 * number), side * side * channels, channels, 3)
                })
                .conv("conv_last", 3, channels, 3)
            }
        });
        specs
    }

    fn block(&self, group: usize, block: usize, heads: usize) -> BlockSpec {
        let Self { width, inner, has_bias, .. } = *self;
        let mut spec = BlockSpec::new(format!("layers.{group}.blocks.{block}")).norm("norm1", width).matrix(
            "attn.qkv",
            3 * width,
            width,
        );
        if has_bias {
            spec = spec.tensor("attn.qkv.bias", &[3 * width]);
        }
        spec = if is_of_places(block) {
            (0..2).fold(spec, |spec, branch| positions(spec, branch, width, heads))
        } else {
            spec.tensor("attn.temperature", &[heads, 1, 1])
        };
        interaction::described(spec, "attn", width)
            .linear("attn.proj", width, width)
            .norm("norm2", width)
            .linear("ffn.fc1", inner, width)
            .norm("ffn.sg.norm", inner / 2)
            .conv_of_each("ffn.sg.conv", inner / 2)
            .linear("ffn.fc2", width, inner / 2)
    }

    fn convolutions(&self, spec: BlockSpec, name: &str) -> BlockSpec {
        let width = self.width;
        match self.after_three {
            false => spec.conv(name, width, width, 3),
            true => spec
                .conv(&format!("{name}.0"), width / 4, width, 3)
                .conv(&format!("{name}.2"), width / 4, width / 4, 1)
                .conv(&format!("{name}.4"), width, width / 4, 3),
        }
    }

    /// The convolutions after a group, of `x` `[1, height, width, channels]`.
    fn convolved(&self, w: &Weights<'_>, name: &str, x: &Tensor) -> TensorResult<Tensor> {
        let mut x = channels_first(x)?;
        if !self.after_three {
            return w.conv2d(name, &x, Conv2d::SAME_3X3);
        }
        x = leaky_relu(&w.conv2d(&format!("{name}.0"), &x, Conv2d::SAME_3X3)?, SLOPES[0])?;
        x = leaky_relu(&w.conv2d(&format!("{name}.2"), &x, Conv2d::POINTWISE)?, SLOPES[0])?;
        w.conv2d(&format!("{name}.4"), &x, Conv2d::SAME_3X3)
    }

    /// A block of `x` `[1, height, width, channels]`.
    fn passed(&self, w: &Weights<'_>, x: Tensor, [group, block, heads]: [usize; 3]) -> TensorResult<Tensor> {
        let width = self.width;
        let qkv = w.linear("attn.qkv", &w.layer_norm("norm1", &x, EPS)?)?;
        let value = qkv.narrow(3, 2 * width, width)?.contiguous()?;
        let (seen, weighs) = if is_of_places(block) {
            (self.seen_in_windows(w, &qkv, heads, is_shifted(group, block))?, Weighs::Channels)
        } else {
            (between_channels(w, &qkv, heads)?, Weighs::Places)
        };
        drop(qkv);
        let joined = interaction::joined(w, "attn", (&seen, &value), weighs)?;
        drop((seen, value));
        let x = add(&x, &w.linear("attn.proj", &joined)?)?;
        drop(joined);
        let inner = gelu(&w.linear("ffn.fc1", &w.layer_norm("norm2", &x, EPS)?)?)?;
        let half = self.inner / 2;
        let gate = w.layer_norm("ffn.sg.norm", &inner.narrow(3, half, half)?.contiguous()?, EPS)?;
        let gate = depthwise(&gate, &w.get("ffn.sg.conv.weight")?, &w.get("ffn.sg.conv.bias")?, 1)?;
        let gated = (inner.narrow(3, 0, half)?.contiguous()? * gate)?;
        drop(inner);
        add(&x, &w.linear("ffn.fc2", &gated)?)
    }

    /// Attention within windows: one half of the channels sees wide ones, the other one high ones.
    fn seen_in_windows(
        &self,
        w: &Weights<'_>,
        qkv: &Tensor,
        heads: usize,
        is_shifted: bool,
    ) -> TensorResult<Tensor> {
        let [short, long] = self.window;
        let mut halves = Vec::new();
        for (branch, sides) in [[short, long], [long, short]].into_iter().enumerate() {
            let name = format!("attn.attns.{branch}.pos");
            let shift = if is_shifted { sides.map(|side| side / 2) } else { [0, 0] };
            let own = [branch * heads / 2, heads / 2];
            let windows = Windows { sides, shift, fills: long, heads: own, of: heads };
            halves.push(attended(&windows, qkv, &biases(w, &name, sides)?)?);
        }
        Tensor::cat(&halves, 3)
    }
}

/// `x` `[1, height, width, channels]` as `[1, channels, height, width]`.
fn channels_first(x: &Tensor) -> TensorResult<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    turned(&x.reshape((height * width, channels))?)?.reshape((1, channels, height, width))
}

/// `x` `[1, channels, height, width]` as `[1, height, width, channels]`.
fn channels_last(x: &Tensor) -> TensorResult<Tensor> {
    let (_, channels, height, width) = x.dims4()?;
    turned(&x.reshape((channels, height * width))?)?.reshape((1, height, width, channels))
}

/// Whether a block attends within windows. The others attend between channels.
fn is_of_places(block: usize) -> bool {
    block.is_multiple_of(2)
}

/// Whether the windows of a block are shifted by half their size.
fn is_shifted(group: usize, block: usize) -> bool {
    block % 4 == if group.is_multiple_of(2) { 2 } else { 0 }
}

/// The sides of a window from the number of its places, and of the distances between them.
fn sides(places: usize, distances: usize) -> Option<[usize; 2]> {
    let pairs = (1..=places).filter(|side| places.is_multiple_of(*side));
    let mut sides = pairs.map(|side| [side, places / side]);
    sides.find(|[short, long]| short <= long && (2 * short - 1) * (2 * long - 1) == distances)
}

/// The factors of the steps in which an image is enlarged.
fn steps(factor: usize) -> Vec<usize> {
    match factor {
        3 => vec![3],
        factor => vec![2; factor.ilog2() as usize],
    }
}

fn ending<'a>(path: &Path, shape: &impl Fn(&str) -> &'a [usize]) -> Result<(Ending, usize), CheckpointError> {
    let unknown = || refused(path, "how it makes new pixels is not known");
    if shape("conv_last.weight").is_empty() {
        let &[outputs, ..] = shape("upsample.0.weight") else { return Err(unknown()) };
        let factor = (outputs / COLOURS).isqrt();
        return if factor > 0 && COLOURS * factor * factor == outputs {
            Ok((Ending::AtOnce, factor))
        } else {
            Err(unknown())
        };
    }
    let &[channels, ..] = shape("conv_before_upsample.0.weight") else { return Err(unknown()) };
    let outputs = |number: usize| shape(&format!("upsample.{}.weight", 2 * number)).first().copied();
    let count = (0..).take_while(|number| outputs(*number).is_some()).count();
    let factor = match (count, outputs(0)) {
        (1, Some(first)) if first == 9 * channels => 3,
        (count, _) if (0..count).all(|number| outputs(number) == Some(4 * channels)) && count < 4 => {
            1 << count
        }
        _ => return Err(unknown()),
    };
    Ok((Ending::Steps { channels }, factor))
}

/// What makes the bias of a distance between places.
fn positions(spec: BlockSpec, branch: usize, width: usize, heads: usize) -> BlockSpec {
    let name = format!("attn.attns.{branch}.pos");
    let inner = width / 2 / 4 / 4;
    let layer = |spec: BlockSpec, number: usize, outputs: usize| {
        let name = format!("{name}.pos{number}");
        spec.norm(&format!("{name}.0"), inner).linear(&format!("{name}.2"), outputs, inner)
    };
    let spec = spec.linear(&format!("{name}.pos_proj"), inner, 2);
    layer(layer(layer(spec, 1, inner), 2, inner), 3, heads / 2)
}

/// What is added to the scores of two places in a window, `[heads, places, places]`.
fn biases(w: &Weights<'_>, name: &str, [rows, columns]: [usize; 2]) -> TensorResult<Tensor> {
    let range = |side: usize| (1 - side as i64..side as i64).map(|distance| distance as f32);
    let distances: Vec<f32> =
        range(rows).flat_map(|down| range(columns).flat_map(move |across| [down, across])).collect();
    let count = (2 * rows - 1) * (2 * columns - 1);
    let first = w.get(&format!("{name}.pos_proj.bias"))?;
    let distances = Tensor::from_vec(distances, (1, count, 2), &first.device())?.to_dtype(first.dtype())?;
    let mut x = w.linear(&format!("{name}.pos_proj"), &distances)?;
    for number in 1..=3 {
        let layer = format!("{name}.pos{number}");
        x = w.layer_norm(&format!("{layer}.0"), &x, EPS)?.relu()?;
        x = w.linear(&format!("{layer}.2"), &x)?;
    }
    let places = || (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let pairs = places().flat_map(|one| places().map(move |other| (one, other)));
    let index = |((row, column), (other_row, other_column)): ((usize, usize), (usize, usize))| {
        ((row + rows - 1 - other_row) * (2 * columns - 1) + column + columns - 1 - other_column) as u32
    };
    let places = rows * columns;
    let of_pairs = x.squeeze(0)?.index_select(&pairs.map(index).collect::<Vec<_>>())?;
    of_pairs.reshape((places, places, ()))?.permute([2, 0, 1])?.contiguous()
}

/// Attention between the channels of each head, over all places: `qkv` is `[1, height, width, 3 · channels]`.
fn between_channels(w: &Weights<'_>, qkv: &Tensor, heads: usize) -> TensorResult<Tensor> {
    let (_, height, columns, triple) = qkv.dims4()?;
    let (width, places) = (triple / 3, height * columns);
    let head = width / heads;
    let (wide, temperature) = (qkv.to_dtype(DType::F32)?, w.get("attn.temperature")?.to_dtype(DType::F32)?);
    let takes = |computes: Computes| {
        let products = (4 * width * head * places) as f64;
        // Three parts and the result are turned.
        let moving = computes.moving(8 * width * places);
        // Two parts are squared, summed and divided; products so narrow read three parts and write the result.
        let copying = computes.copying(10 * width * places);
        Untraced { values: 5 * width * places, operations: products + moving + copying }
    };
    let seen = untraced([&wide, &temperature], &[1, height, columns, width], takes, |[qkv, temperature]| {
        let all = qkv.reshape((places, triple))?;
        let part = |number: usize| {
            computed::turned(&all.narrow(1, number * width, width)?)?.reshape((heads, head, places))
        };
        let unit = |x: candle_core::Tensor| {
            let norm = x.sqr()?.sum_keepdim(2)?.sqrt()?.clamp(1e-12, f64::MAX)?;
            x.broadcast_div(&norm)
        };
        let (q, k) = (unit(part(0)?)?, unit(part(1)?)?);
        let scores = q.matmul(&k.transpose(1, 2)?)?.broadcast_mul(temperature)?;
        let seen = candle_nn::ops::softmax_last_dim(&scores)?.matmul(&part(2)?)?;
        computed::turned(&seen.reshape((width, places))?)?.reshape((1, height, columns, width))
    })?;
    seen.to_dtype(qkv.dtype())
}

impl Upscaler for Dat {
    fn architecture(&self) -> &'static str {
        Self::ARCHITECTURE
    }

    fn factor(&self) -> usize {
        self.factor
    }

    fn reach(&self) -> usize {
        EVERYTHING
    }

    fn multiplies_by_library(&self) -> bool {
        true
    }

    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let mean = Tensor::from_vec(MEAN.to_vec(), (1, 3, 1, 1), &image.device())?.to_dtype(image.dtype())?;
        let centred = image.broadcast_add(&mean.neg()?)?;
        // What each block of weights is: a block of a group, or what is after it.
        let of_group = |(group, &[blocks, heads]): (usize, &[usize; 2])| {
            (0..blocks).map(move |block| Some([group, block, heads])).chain([None])
        };
        let parts: Vec<_> = self.groups.iter().enumerate().flat_map(of_group).collect();
        let mut first = centred;
        let (mut x, mut before) = (first.clone(), first.clone());
        let mut made = None;
        blocks.walk(0..parts.len() + 2, |number, w| {
            if number == 0 {
                first = w.conv2d("conv_first", &first, Conv2d::SAME_3X3)?;
                x = w.layer_norm("before_RG.1", &channels_last(&first)?, EPS)?;
                before = x.clone();
                return Ok(());
            }
            match parts.get(number - 1) {
                Some(Some(place)) => {
                    // Nothing keeps it while the block is passed.
                    let taken = std::mem::replace(&mut x, first.clone());
                    x = self.passed(w, taken, *place)?;
                }
                Some(None) => {
                    let after = channels_last(&self.convolved(w, "conv", &x)?)?;
                    x = add(&before, &after)?;
                    before = x.clone();
                }
                None => {
                    let normed = w.layer_norm("norm", &x, EPS)?;
                    let body = add(&self.convolved(w, "conv_after_body", &normed)?, &first)?;
                    made = Some(self.enlarged(w, &body)?);
                }
            }
            Ok(())
        })?;
        let made = made.ok_or_else(|| crate::nn::Error::msg("a walk had no blocks"))?;
        Ok(made.broadcast_add(&mean)?)
    }
}

impl Dat {
    fn enlarged(&self, w: &Weights<'_>, body: &Tensor) -> TensorResult<Tensor> {
        if self.ending == Ending::AtOnce {
            return shuffle(&w.conv2d("upsample.0", body, Conv2d::SAME_3X3)?, self.factor);
        }
        let mut x = leaky_relu(&w.conv2d("conv_before_upsample.0", body, Conv2d::SAME_3X3)?, SLOPES[1])?;
        for (number, side) in steps(self.factor).into_iter().enumerate() {
            x = shuffle(&w.conv2d(&format!("upsample.{}", 2 * number), &x, Conv2d::SAME_3X3)?, side)?;
        }
        w.conv2d("conv_last", &x, Conv2d::SAME_3X3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_of_a_window_follow_from_counts() {
        assert_eq!(sides(256, 15 * 63), Some([8, 32]));
        assert_eq!(sides(256, 31 * 31), Some([16, 16]));
        assert_eq!(sides(8, 3 * 7), Some([2, 4]));
        assert_eq!(sides(8, 5), None);
    }

    #[test]
    fn every_fourth_block_has_shifted_windows() {
        let shifted = |group| (0..9).filter(|block| is_shifted(group, *block)).collect::<Vec<_>>();
        assert_eq!(shifted(0), [2, 6]);
        assert_eq!(shifted(1), [0, 4, 8]);
    }
}
