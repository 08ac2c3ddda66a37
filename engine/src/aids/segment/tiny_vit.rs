//! MobileSAM's image encoder (Zhang et al. 2023, arXiv:2306.14289): TinyViT (Wu et al. 2022, arXiv:2207.10666).

use std::path::Path;

use super::{GRID, SIDE, neck, refused};
use crate::{
    checkpoint::{BlockSpec, CheckpointError},
    nn::{
        Conv2d, Error, Result as TensorResult, Tensor, attention_with_pair_bias, conv2d, depthwise, gelu,
        linear,
    },
    residency::{Blocks, RunError, Weights},
};

/// Stages of layers of one width.
pub(super) const STAGES: usize = 4;
/// Added to the variance in batch norms and layer norms.
const EPS: f64 = 1e-5;
/// The stage after which the grid keeps its size.
const KEEPS: usize = 2;

/// Its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TinyVit {
    stages: [Stage; STAGES],
}

/// The shape of a stage. The first one is made of convolutions; the others attend within windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Stage {
    width: usize,
    layers: usize,
    heads: usize,
    /// Places along each side of a window.
    window: usize,
}

impl TinyVit {
    /// The one with tensors of these shapes, by the authors' names.
    pub fn found<'a>(path: &Path, shape: impl Fn(&str) -> &'a [usize]) -> Result<Self, CheckpointError> {
        let mut stages = [Stage::default(); STAGES];
        for (number, stage) in stages.iter_mut().enumerate() {
            let of_layer = |layer: usize, name: &str| {
                shape(&format!("image_encoder.layers.{number}.blocks.{layer}.{name}.weight"))
            };
            let first = if number == 0 { "conv3.c" } else { "attn.proj" };
            let &[width, ..] = of_layer(0, first) else {
                return Err(refused(path, format!("stage {} of its image encoder is missing", number + 1)));
            };
            let layers = (0..).take_while(|layer| !of_layer(*layer, first).is_empty()).count();
            *stage = Stage { width, layers, ..Stage::default() };
            if number == 0 {
                continue;
            }
            let biases = format!("image_encoder.layers.{number}.blocks.0.attn.attention_biases");
            let &[heads, offsets] = shape(&biases) else {
                return Err(refused(
                    path,
                    format!("the places in windows of stage {} are missing", number + 1),
                ));
            };
            let window = offsets.isqrt();
            if heads == 0 || !width.is_multiple_of(heads) || window == 0 || window * window != offsets {
                return Err(refused(
                    path,
                    format!("{heads} heads and {offsets} distances do not fit a width of {width}"),
                ));
            }
            (stage.heads, stage.window) = (heads, window);
        }
        Ok(Self { stages })
    }

    /// What people call its size.
    pub fn size(&self) -> &'static str {
        match self.stages.map(|stage| stage.width) {
            [64, 128, 160, 320] => "TinyViT-5M",
            _ => "TinyViT of another size",
        }
    }

    /// A block for each stage: the patches are of the first one, the neck of the last.
    pub fn specs(&self) -> Vec<BlockSpec> {
        let specs = self.stages.iter().enumerate().map(|(number, stage)| {
            let Stage { width, .. } = *stage;
            let name = format!("image_encoder.layers.{number}");
            let mut spec = BlockSpec { prefix: "image_encoder.".to_owned(), ..BlockSpec::stem(name) };
            if number == 0 {
                spec = conv_norm(spec, "patch_embed.seq.0", [width / 2, 3, 3]);
                spec = conv_norm(spec, "patch_embed.seq.2", [width, width / 2, 3]);
            }
            for layer in 0..stage.layers {
                let layer = format!("layers.{number}.blocks.{layer}");
                spec =
                    if number == 0 { convolutions(spec, &layer, width) } else { stage.layer(spec, &layer) };
            }
            let Some(next) = self.stages.get(number + 1) else {
                return neck::spec(spec, width);
            };
            let merging = format!("layers.{number}.downsample");
            spec = conv_norm(spec, &format!("{merging}.conv1"), [next.width, width, 1]);
            spec = conv_norm(spec, &format!("{merging}.conv2"), [next.width, 1, 3]);
            conv_norm(spec, &format!("{merging}.conv3"), [next.width, next.width, 1])
        });
        specs.collect()
    }

    /// The embedding `[1, 256, 64, 64]` of a normalized image `[1, 3, 1024, 1024]`.
    pub fn embed(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
        let mut x = None;
        blocks.walk(0..STAGES, |number, w| {
            let before = match x.take() {
                None => patches(w, image)?,
                Some(x) => x,
            };
            x = Some(self.stage(w, number, before)?);
            Ok(())
        })?;
        x.ok_or_else(|| Error::msg("a walk had no blocks").into())
    }

    fn stage(&self, w: &Weights<'_>, number: usize, mut x: Tensor) -> TensorResult<Tensor> {
        let stage = &self.stages[number];
        for layer in 0..stage.layers {
            let layer = format!("layers.{number}.blocks.{layer}");
            x = if number == 0 { mixed(w, &layer, &x)? } else { stage.attended(w, &layer, x)? };
        }
        if number + 1 == STAGES {
            return neck::embedding(w, &x);
        }
        merged(w, &format!("layers.{number}.downsample"), x, number != KEEPS)
    }
}

impl Stage {
    fn layer(&self, spec: BlockSpec, name: &str) -> BlockSpec {
        let Self { width, heads, window, .. } = *self;
        let spec = spec
            .norm(&format!("{name}.attn.norm"), width)
            .linear(&format!("{name}.attn.qkv"), 3 * width, width)
            .linear(&format!("{name}.attn.proj"), width, width)
            .tensor(format!("{name}.attn.attention_biases"), &[heads, window * window])
            .norm(&format!("{name}.mlp.norm"), width)
            .linear(&format!("{name}.mlp.fc1"), 4 * width, width)
            .linear(&format!("{name}.mlp.fc2"), width, 4 * width);
        conv_norm(spec, &format!("{name}.local_conv"), [width, 1, 3])
    }

    /// A layer: attention within windows, a convolution of each channel, and a feed-forward.
    fn attended(&self, w: &Weights<'_>, name: &str, x: Tensor) -> TensorResult<Tensor> {
        let Self { width, window, .. } = *self;
        let (_, side, _, _) = x.dims4()?;
        let whole = side.next_multiple_of(window);
        let (more, count) = (whole - side, whole / window);
        let padded = x.pad_with_zeros(1, 0, more)?.pad_with_zeros(2, 0, more)?;
        let cut = padded.reshape((count, window, count, window, width))?.permute([0, 2, 1, 3, 4])?;
        drop(padded);
        let seen = self.attention(w, name, &cut.contiguous()?.reshape((count * count, (), width))?)?;
        drop(cut);
        let seen = seen.reshape((count, count, window, window, width))?.permute([0, 2, 1, 3, 4])?;
        let seen = seen.contiguous()?.reshape((1, whole, whole, width))?;
        let x = (x + seen.narrow(1, 0, side)?.narrow(2, 0, side)?.contiguous()?)?;
        drop(seen);
        let (kernel, bias) = folded(w, &format!("{name}.local_conv"))?;
        let x = depthwise(&x, &kernel, &bias, 1)?;
        let normed = w.layer_norm(&format!("{name}.mlp.norm"), &x, EPS)?;
        let inner = gelu(&w.linear(&format!("{name}.mlp.fc1"), &normed)?)?;
        drop(normed);
        w.linear(&format!("{name}.mlp.fc2"), &inner)? + x
    }

    /// Attention of windows `[count, places, width]`.
    fn attention(&self, w: &Weights<'_>, name: &str, x: &Tensor) -> TensorResult<Tensor> {
        let Self { width, heads, window, .. } = *self;
        let (count, places, _) = x.dims3()?;
        let head = width / heads;
        let normed = w.layer_norm(&format!("{name}.attn.norm"), x, EPS)?;
        let all =
            w.linear(&format!("{name}.attn.qkv"), &normed)?.reshape((count, places, heads, 3 * head))?;
        drop(normed);
        let part = |number: usize| all.narrow(3, number * head, head);
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        let biases = w.get(&format!("{name}.attn.attention_biases"))?.transpose(0, 1)?.contiguous()?;
        let biases = biases.index_select(&distances(window))?.reshape((places, places, heads))?;
        let attended = attention_with_pair_bias(&q, &k, &v, &biases.permute([2, 0, 1])?.contiguous()?)?;
        drop((q, k, v, all, biases));
        let attended = attended.reshape((count, places, width))?;
        w.linear(&format!("{name}.attn.proj"), &attended)
    }
}

/// For each pair of places in a window, the row of the bias for their distance.
fn distances(window: usize) -> Vec<u32> {
    let places = || (0..window).flat_map(|row| (0..window).map(move |column| (row, column)));
    let pairs = places().flat_map(|one| places().map(move |other| (one, other)));
    pairs.map(|(one, other)| (one.0.abs_diff(other.0) * window + one.1.abs_diff(other.1)) as u32).collect()
}

/// A convolution without bias, and the batch norm after it.
fn conv_norm(spec: BlockSpec, name: &str, [outputs, inputs, side]: [usize; 3]) -> BlockSpec {
    spec.tensor(format!("{name}.c.weight"), &[outputs, inputs, side, side])
        .batch_norm(&format!("{name}.bn"), outputs)
}

fn convolutions(spec: BlockSpec, name: &str, width: usize) -> BlockSpec {
    let spec = conv_norm(spec, &format!("{name}.conv1"), [4 * width, width, 1]);
    let spec = conv_norm(spec, &format!("{name}.conv2"), [4 * width, 1, 3]);
    conv_norm(spec, &format!("{name}.conv3"), [width, 4 * width, 1])
}

fn folded(w: &Weights<'_>, name: &str) -> TensorResult<(Tensor, Tensor)> {
    w.with_batch_norm(&format!("{name}.c"), &format!("{name}.bn"), EPS)
}

/// A folded convolution of single places `[1, rows, columns, channels]`.
fn pointwise(w: &Weights<'_>, name: &str, x: &Tensor) -> TensorResult<Tensor> {
    let (kernel, bias) = folded(w, name)?;
    let (outputs, inputs, ..) = kernel.dims4()?;
    linear(x, &kernel.reshape((outputs, inputs))?, Some(&bias))
}

/// The patches of an image `[1, 3, side, side]`, as `[1, rows, columns, channels]`.
fn patches(w: &Weights<'_>, image: &Tensor) -> TensorResult<Tensor> {
    let halved = |name: &str, x: &Tensor| {
        let (kernel, bias) = folded(w, name)?;
        conv2d(x, &kernel, Some(&bias), Conv2d::HALVE_3X3)
    };
    let x = gelu(&halved("patch_embed.seq.0", image)?)?;
    halved("patch_embed.seq.2", &x)?.permute([0, 2, 3, 1])?.contiguous()
}

/// A layer of convolutions, of which the middle one is of each channel.
fn mixed(w: &Weights<'_>, name: &str, x: &Tensor) -> TensorResult<Tensor> {
    let inner = gelu(&pointwise(w, &format!("{name}.conv1"), x)?)?;
    let (kernel, bias) = folded(w, &format!("{name}.conv2"))?;
    let inner = depthwise(&inner, &kernel, &bias, 1)?;
    let inner = gelu(&inner)?;
    gelu(&(pointwise(w, &format!("{name}.conv3"), &inner)? + x)?)
}

/// What comes between two stages.
fn merged(w: &Weights<'_>, name: &str, x: Tensor, halves: bool) -> TensorResult<Tensor> {
    let inner = gelu(&pointwise(w, &format!("{name}.conv1"), &x)?)?;
    drop(x);
    let (kernel, bias) = folded(w, &format!("{name}.conv2"))?;
    let mut inner = depthwise(&inner, &kernel, &bias, 1)?;
    if halves {
        // Every second row and column.
        let (_, rows, columns, channels) = inner.dims4()?;
        let pairs = inner.reshape((rows / 2, 2, columns / 2, 2 * channels))?;
        let kept = pairs.narrow(1, 0, 1)?.narrow(3, 0, channels)?.contiguous()?;
        inner = kept.reshape((1, rows / 2, columns / 2, channels))?;
    }
    pointwise(w, &format!("{name}.conv3"), &gelu(&inner)?)
}

// Two convolutions and two mergings halve the grid.
const _: () = assert!(SIDE == 16 * GRID);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_counted_as_they_first_appear() {
        let places = [(0_usize, 0_usize), (0, 1), (1, 0), (1, 1)];
        let mut known = Vec::new();
        let mut expected = Vec::new();
        for one in places {
            for other in places {
                let offset = (one.0.abs_diff(other.0), one.1.abs_diff(other.1));
                if !known.contains(&offset) {
                    known.push(offset);
                }
                expected.push(known.iter().position(|known| *known == offset).unwrap() as u32);
            }
        }
        assert_eq!(distances(2), expected);
    }
}
