//! DAT, the Dual Aggregation Transformer (Chen et al. 2023, arXiv:2308.03364): blocks that attend within windows of places, and
//! between channels, in turns. Beside the attention is a convolution of each channel, and each of the two weighs the other.

use std::path::Path;

use super::{
    Upscaler,
    ending::Ending,
    interaction::{self, Weighs},
    open::{Found, refused},
    shell::{EPS, FIRST, Shell},
    upscaler::EVERYTHING,
    windows::{self, Windows, attended},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, TensorTable},
    nn::{
        Computes, DType, Result as TensorResult, Tensor, Untraced, add, computed, depthwise, gelu, untraced,
    },
    residency::{Blocks, RunError, Weights},
};

/// Its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dat {
    /// What is around its blocks.
    shell: Shell,
    /// For each group, its blocks and their heads.
    groups: Vec<[usize; 2]>,
    /// Sides of a window, the shorter one first.
    window: [usize; 2],
    /// Inner values of a feed-forward.
    inner: usize,
    /// Whether queries, keys and values have biases.
    has_bias: bool,
    ending: Ending,
    factor: usize,
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
        let shell = Shell::found(path, tensors, [FIRST, "before_RG.1"])?;
        if shell.norm.is_none() {
            return Err(missing("the norm before its groups"));
        }
        let width = shell.width;
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
        let (ending, factor) = Ending::found(path, &shape)?;
        let network = Self {
            shell,
            groups,
            window,
            inner,
            has_bias: tensors.contains_key("layers.0.blocks.0.attn.qkv.bias"),
            ending,
            factor,
        };
        Ok(Found { specs: network.blueprint(), network: Box::new(network), names: None })
    }

    fn blueprint(&self) -> Vec<BlockSpec> {
        let groups = self.groups.iter().enumerate().map(|(group, &[blocks, heads])| {
            (0..blocks).map(|block| self.block(group, block, heads)).collect::<Vec<_>>()
        });
        let ending = |spec| self.ending.described(spec, self.shell.width, self.factor);
        self.shell.described(groups, ending)
    }

    fn block(&self, group: usize, block: usize, heads: usize) -> BlockSpec {
        let Self { shell: Shell { width, .. }, inner, has_bias, .. } = *self;
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

    /// A block of `x` `[1, height, width, channels]`.
    fn passed(
        &self,
        w: &Weights<'_>,
        mut x: Tensor,
        [group, block, heads]: [usize; 3],
    ) -> TensorResult<Tensor> {
        let width = self.shell.width;
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
        x = add(&x, &w.linear("attn.proj", &joined)?)?;
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
            let windows = Windows { sides, shift, fills: long, heads: own, of: heads, around: 0 };
            halves.push(attended(&windows, qkv.clone(), &biases(w, &name, sides)?)?);
        }
        Tensor::cat(&halves, 3)
    }
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
    windows::biases(&x.squeeze(0)?, [rows, columns])
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

    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let of_group = |(group, &[blocks, heads]): (usize, &[usize; 2])| {
            (0..blocks).map(|block| [group, block, heads]).collect::<Vec<_>>()
        };
        let groups: Vec<_> = self.groups.iter().enumerate().map(of_group).collect();
        self.shell.upscale(
            blocks,
            image,
            &groups,
            |w, x, place| self.passed(w, x, place),
            |w, x, _| self.ending.enlarged(w, x, self.factor),
        )
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
