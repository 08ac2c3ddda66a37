//! DAT's adaptive interaction: attention and a convolution of each channel, of which each weighs the other.

use super::places::mean;
use crate::{
    checkpoint::BlockSpec,
    nn::{Result, Tensor, add, depthwise, gelu, linear},
    residency::Weights,
};

/// Added to the variance in batch norms.
const EPS: f64 = 1e-5;

/// What the convolution says about the result of the attention. The attention then says the other thing about the convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weighs {
    /// How much each channel counts.
    Channels,
    /// How much each place counts.
    Places,
}

/// The tensors, at `name`, for so many channels.
pub(super) fn described(spec: BlockSpec, name: &str, width: usize) -> BlockSpec {
    let spec = spec.conv_of_each(&format!("{name}.dwconv.0"), width);
    let spec = spec.batch_norm(&format!("{name}.dwconv.1"), width);
    let map = format!("{name}.channel_interaction");
    let spec = spec.conv(&format!("{map}.1"), width / 8, width, 1);
    let spec = spec.batch_norm(&format!("{map}.2"), width / 8).conv(&format!("{map}.4"), width, width / 8, 1);
    let map = format!("{name}.spatial_interaction");
    let spec = spec.conv(&format!("{map}.0"), width / 16, width, 1);
    spec.batch_norm(&format!("{map}.1"), width / 16).conv(&format!("{map}.3"), 1, width / 16, 1)
}

/// The sum of what was attended to and of a convolution of the values, each weighed by the other. All are `[1, height, width,
/// channels]`.
pub(super) fn joined(
    w: &Weights<'_>,
    name: &str,
    (seen, value): (&Tensor, &Tensor),
    weighs: Weighs,
) -> Result<Tensor> {
    let (kernel, bias) = w.with_batch_norm(&format!("{name}.dwconv.0"), &format!("{name}.dwconv.1"), EPS)?;
    let convolved = gelu(&depthwise(value, &kernel, &bias, 1)?)?;
    let channels = |x: &Tensor| {
        let map = format!("{name}.channel_interaction");
        weight(w, [&format!("{map}.1"), &format!("{map}.2"), &format!("{map}.4")], &mean(x)?)
    };
    let places = |x: &Tensor| {
        let map = format!("{name}.spatial_interaction");
        weight(w, [&format!("{map}.0"), &format!("{map}.1"), &format!("{map}.3")], x)
    };
    let (of_seen, of_convolved) = match weighs {
        Weighs::Channels => (channels(&convolved)?, places(seen)?),
        Weighs::Places => (places(&convolved)?, channels(seen)?),
    };
    add(&seen.broadcast_mul(&of_seen)?, &convolved.broadcast_mul(&of_convolved)?)
}

/// What counts how much, from 0 to 1: two convolutions of single places, with a batch norm after the first.
fn weight(w: &Weights<'_>, [first, norm, second]: [&str; 3], x: &Tensor) -> Result<Tensor> {
    let (kernel, bias) = w.with_batch_norm(first, norm, EPS)?;
    let inner = gelu(&linear(x, &kernel.flatten_from(1)?, Some(&bias))?)?;
    let kernel = w.get(&format!("{second}.weight"))?.flatten_from(1)?;
    let raw = linear(&inner, &kernel, Some(&w.get(&format!("{second}.bias"))?))?;
    // The sigmoid.
    raw.affine(0.5, 0.0)?.tanh()?.affine(0.5, 0.5)
}
