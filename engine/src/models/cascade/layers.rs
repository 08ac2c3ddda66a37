//! Layers that the networks of Stable Cascade and Wuerstchen have in common: ConvNeXt blocks, modulation by the timestep and
//! attention.
//!
//! Values are tokens `[batch, height · width, channels]` throughout, so that norms and linear layers need no transposition.

use super::config::{Layer, RATIO};
use crate::{
    checkpoint::BlockSpec,
    models::Modulation,
    nn::{
        DType, Mask, Result, Tensor, Waves, add, attention, depthwise, gelu, layer_norm, linear,
        response_norm, scale_and_shift, silu, waves,
    },
    residency::{Blocks, Weights},
    sampling::Cosine,
};

/// Added to the variance in every norm.
pub const EPS: f64 = 1e-6;
/// The factor from times to the positions that are embedded.
const POSITIONS: f32 = 10_000.0;

/// The state of one guidance branch in a network.
pub struct Branch {
    /// Tokens `[batch, height · width, channels]`.
    pub x: Tensor,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// What the higher levels made on the way down.
    pub kept: Vec<Tensor>,
}

/// Shape of a group of layers.
pub struct GroupShape<'a> {
    /// Channels.
    pub width: usize,
    /// Width of the tokens of the prompt.
    pub dim: usize,
    /// Width of the embedding of the timestep.
    pub time: usize,
    /// Side of the kernels.
    pub kernel: usize,
    /// Channels that the first layer reads beside its own, and those that every other ConvNeXt block reads.
    pub beside: [usize; 2],
    /// The conditions beside the timestep.
    pub conditions: &'a [String],
}

impl GroupShape<'_> {
    /// Adds the tensors of layers with these names.
    pub fn spec(&self, mut spec: BlockSpec, layers: &[(Layer, String)]) -> BlockSpec {
        let width = self.width;
        for (number, (layer, own)) in layers.iter().enumerate() {
            let of = |tensor: &str| format!("{own}.{tensor}");
            spec = match layer {
                Layer::Residual => {
                    let beside = self.beside[usize::from(number > 0)];
                    spec.conv(&of("depthwise"), width, 1, self.kernel)
                        .linear(&of("channelwise.0"), RATIO * width, width + beside)
                        .tensor(of("channelwise.2.gamma"), &[1, 1, 1, RATIO * width])
                        .tensor(of("channelwise.2.beta"), &[1, 1, 1, RATIO * width])
                        .linear(&of("channelwise.4"), width, RATIO * width)
                }
                Layer::Timestep => {
                    let spec = spec.linear(&of("mapper"), 2 * width, self.time);
                    self.conditions.iter().fold(spec, |spec, condition| {
                        spec.linear(&of(&format!("mapper_{condition}")), 2 * width, self.time)
                    })
                }
                Layer::Attention => spec
                    .linear(&of("attention.to_q"), width, width)
                    .linear(&of("attention.to_k"), width, width)
                    .linear(&of("attention.to_v"), width, width)
                    .linear(&of("attention.to_out.0"), width, width)
                    .linear(&of("kv_mapper.1"), width, self.dim),
            };
        }
        spec
    }
}

/// For each noise level the embedding of its time, `[1, width]` for the time and for each of `conditions`, which are 0.
pub fn times(
    blocks: Blocks<'_>,
    sigmas: &[f32],
    cosine: Cosine,
    width: usize,
    conditions: usize,
) -> Result<Vec<Modulation>> {
    let form = Waves { width, spaced: (width / 2) as f64 - 1.0, cosines_first: false };
    let modulation = |&sigma: &f32| {
        let mut positions = vec![cosine.time(sigma) * POSITIONS];
        positions.resize(1 + conditions, 0.0);
        let time = waves(&positions, form, &blocks.device())?.to_dtype(blocks.dtype())?;
        Ok(Modulation { sigma, tensors: vec![time.reshape((1, positions.len() * width))?] })
    };
    sigmas.iter().map(modulation).collect()
}

/// A ConvNeXt block; it also reads `beside`.
pub fn residual(w: &Weights, name: &str, branch: &Branch, beside: &[&Tensor], side: usize) -> Result<Tensor> {
    let Branch { x, height, width, .. } = branch;
    let (batch, tokens, channels) = x.dims3()?;
    let of = |layer: &str| format!("{name}.{layer}");
    let image = x.reshape((batch, *height, *width, channels))?;
    let mixed =
        depthwise(&image, &w.get(&of("depthwise.weight"))?, &w.get(&of("depthwise.bias"))?, side / 2)?;
    let mut h = layer_norm(&mixed.reshape((batch, tokens, channels))?, None, EPS)?;
    drop(mixed);
    if !beside.is_empty() {
        let all: Vec<&Tensor> = std::iter::once(&h).chain(beside.iter().copied()).collect();
        h = Tensor::cat(&all, 2)?;
    }
    h = gelu(&w.linear(&of("channelwise.0"), &h)?)?;
    let [gamma, beta] = ["gamma", "beta"].map(|which| w.get(&of(&format!("channelwise.2.{which}"))));
    h = response_norm(&h, &gamma?.flatten_all()?, &beta?.flatten_all()?)?;
    add(x, &w.linear(&of("channelwise.4"), &h)?)
}

/// Modulates by the timestep and by the conditions beside it, `time` `[1, all their embeddings]`.
pub fn modulated(
    w: &Weights,
    name: &str,
    x: &Tensor,
    time: &Tensor,
    conditions: &[String],
) -> Result<Tensor> {
    let parts = time.chunk(conditions.len() + 1, 1)?;
    let mut both = w.linear(&format!("{name}.mapper"), &parts[0].contiguous()?)?;
    for (condition, part) in conditions.iter().zip(&parts[1..]) {
        both = (both + w.linear(&format!("{name}.mapper_{condition}"), &part.contiguous()?)?)?;
    }
    let halves = both.unsqueeze(1)?.chunk(2, 2)?;
    scale_and_shift(x, &halves[0].contiguous()?, &halves[1].contiguous()?)
}

/// Attention to a prompt, and to the image itself if `to_itself`.
pub fn attend(
    w: &Weights,
    name: &str,
    x: &Tensor,
    prompt: &Tensor,
    heads: usize,
    to_itself: bool,
) -> Result<Tensor> {
    let (batch, _, width) = x.dims3()?;
    let of = |layer: &str| format!("{name}.{layer}");
    let prompt = w.linear(&of("kv_mapper.1"), &silu(&prompt.unsqueeze(0)?)?)?;
    let tokens = prompt.dim(1)?;
    let prompt = prompt.broadcast_as((batch, tokens, width))?.contiguous()?;
    let normed = layer_norm(x, None, EPS)?;
    let seen = if to_itself { Tensor::cat(&[&normed, &prompt], 1)? } else { prompt };
    let project = |layer: &str, x: &Tensor| {
        let y = w.linear(&of(layer), x)?;
        y.reshape((y.dim(0)?, y.dim(1)?, heads, ()))
    };
    let q = project("attention.to_q", &normed)?;
    drop(normed);
    let (k, v) = (project("attention.to_k", &seen)?, project("attention.to_v", &seen)?);
    drop(seen);
    let attended = attention(&q, &k, &v, Mask::None)?.flatten_from(2)?;
    drop((q, k, v));
    add(x, &w.linear(&of("attention.to_out.0"), &attended)?)
}

/// To half of the rows and columns: a convolution with a kernel of 2 by 2 and stride 2.
pub fn halved(w: &Weights, name: &str, branch: &mut Branch) -> Result<()> {
    let x = layer_norm(&branch.x, None, EPS)?;
    let (batch, _, channels) = x.dims3()?;
    (branch.height, branch.width) = (branch.height / 2, branch.width / 2);
    let patches = x
        .reshape(vec![batch, branch.height, 2, branch.width, 2, channels])?
        .permute([0, 1, 3, 5, 2, 4])?
        .reshape((batch, branch.height * branch.width, 4 * channels))?;
    branch.x = w.patches(name, &patches)?;
    Ok(())
}

/// To twice the rows and columns: a transposed convolution with a kernel of 2 by 2 and stride 2.
pub fn doubled(w: &Weights, name: &str, branch: &mut Branch) -> Result<()> {
    let x = layer_norm(&branch.x, None, EPS)?;
    let kernel = w.get(&format!("{name}.weight"))?;
    let (inputs, outputs) = (kernel.dim(0)?, kernel.dim(1)?);
    let matrix = kernel.reshape((inputs, 4 * outputs))?.transpose(0, 1)?.contiguous()?;
    let bias = w.get(&format!("{name}.bias"))?.unsqueeze(1)?.broadcast_as((outputs, 4))?.contiguous()?;
    let x = linear(&x, &matrix, Some(&bias.flatten_all()?))?;
    let (batch, height, width) = (x.dim(0)?, branch.height, branch.width);
    (branch.height, branch.width) = (2 * height, 2 * width);
    branch.x = x
        .reshape(vec![batch, height, width, outputs, 2, 2])?
        .permute([0, 1, 4, 2, 5, 3])?
        .reshape((batch, 4 * height * width, outputs))?;
    Ok(())
}

/// Patches `[batch, rows · columns, channels · side²]` of latents, and their rows and columns.
pub fn patches(latents: &Tensor, side: usize) -> Result<(Tensor, [usize; 2])> {
    let (batch, channels, height, width) = latents.dims4()?;
    let (height, width) = (height / side, width / side);
    let patches = latents
        .reshape(vec![batch, channels, height, side, width, side])?
        .permute([0, 2, 4, 1, 3, 5])?
        .reshape((batch, height * width, channels * side * side))?;
    Ok((patches, [height, width]))
}

/// Latents `[batch, channels, rows, columns]` of the patches of a branch.
pub fn latents(branch: &Branch, side: usize) -> Result<Tensor> {
    let (batch, _, values) = branch.x.dims3()?;
    let (height, width, channels) = (branch.height, branch.width, values / (side * side));
    branch
        .x
        .reshape(vec![batch, height, width, channels, side, side])?
        .permute([0, 3, 1, 4, 2, 5])?
        .reshape((batch, channels, height * side, width * side))
}

/// Interpolates `x` `[batch, channels, rows, columns]` to tokens `[batch, height · width, channels]`. `weights` are those of
/// the entries of a row, for the index in the result, its length, and the length of the row.
pub fn resized(
    x: &Tensor,
    [height, width]: [usize; 2],
    weights: fn(usize, usize, &mut [f32]),
) -> Result<Tensor> {
    let (batch, channels, rows, columns) = x.dims4()?;
    let matrix = |to: usize, from: usize| {
        let values = || {
            let mut values = vec![0.0_f32; to * from];
            values.chunks_mut(from).enumerate().for_each(|(index, row)| weights(index, to, row));
            values
        };
        Tensor::from_fn(values, (to, from), &x.device())
    };
    let wide = linear(&x.to_dtype(DType::F32)?, &matrix(width, columns)?, None)?;
    let tall = linear(&wide.transpose(2, 3)?.contiguous()?, &matrix(height, rows)?, None)?;
    tall.permute([0, 3, 2, 1])?.contiguous()?.reshape((batch, height * width, channels))
}

/// Between the two nearest entries, with the corners in their places.
pub fn linearly(index: usize, to: usize, row: &mut [f32]) {
    let last = row.len() - 1;
    let place = step(to, row.len()) * index as f32;
    let low = (place as usize).min(last);
    let share = place - low as f32;
    row[low] += 1.0 - share;
    row[(low + 1).min(last)] += share;
}

/// A cubic of the nearest entries, of more where a row becomes shorter, as torch computes it with `antialias` and
/// `align_corners`: entries are as far apart as with the corners in their places, but count from the edge.
pub fn cubically(index: usize, to: usize, row: &mut [f32]) {
    let step = step(to, row.len());
    let wide = step.max(1.0);
    let centre = step * (index as f32 + 0.5);
    let first = ((centre - 2.0 * wide + 0.5) as isize).max(0) as usize;
    let end = ((centre + 2.0 * wide + 0.5) as usize).min(row.len());
    for (place, weight) in row.iter_mut().enumerate().take(end).skip(first) {
        *weight = cubic((place as f32 - centre + 0.5) / wide);
    }
    let all: f32 = row.iter().sum();
    if all != 0.0 {
        row.iter_mut().for_each(|weight| *weight /= all);
    }
}

/// Entries of a row of `from` between those of one of `to`.
fn step(to: usize, from: usize) -> f32 {
    if to > 1 { (from as f32 - 1.0) / (to as f32 - 1.0) } else { 0.0 }
}

/// Keys' kernel with a = −0.5.
fn cubic(x: f32) -> f32 {
    let (x, a) = (x.abs(), -0.5_f32);
    if x < 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * a
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures are torch's, for `interpolate(mode="bicubic", antialias=True, align_corners=True)`.
    #[test]
    fn rows_are_resized_as_in_torch() {
        let resized = |row: &[f32], to: usize| -> Vec<f32> {
            let value = |index| {
                let mut weights = vec![0.0; row.len()];
                cubically(index, to, &mut weights);
                weights.iter().zip(row).map(|(weight, value)| weight * value).sum()
            };
            (0..to).map(value).collect()
        };
        for (row, expected) in [
            (
                vec![1.0, -2.0, 3.0, 0.5, 7.0],
                vec![
                    1.264706, 0.321168, -1.679389, -1.136719, 2.089844, 2.691406, 0.667969, 1.767176,
                    5.711679,
                ],
            ),
            (
                vec![1.0, -2.0, 3.0, 0.5, 7.0, 2.0, -1.0, 4.0, 6.0],
                vec![-0.207113, 1.967181, 3.552734, 1.867537, 6.132812],
            ),
        ] {
            let own = resized(&row, expected.len());
            assert!(own.iter().zip(&expected).all(|(one, other)| (one - other).abs() < 1e-5), "{own:?}");
        }
    }
}
