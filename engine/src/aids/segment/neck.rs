//! What comes after the layers of both image encoders.

use super::CHANNELS;
use crate::{
    checkpoint::BlockSpec,
    nn::{Conv2d, Result, Tensor, layer_norm, linear},
    residency::Weights,
};

/// Added to the variance in its norms.
const EPS: f64 = 1e-6;

/// Its tensors.
pub(super) fn spec(spec: BlockSpec, width: usize) -> BlockSpec {
    spec.tensor("neck.0.weight", &[CHANNELS, width, 1, 1])
        .norm("neck.1", CHANNELS)
        .tensor("neck.2.weight", &[CHANNELS, CHANNELS, 3, 3])
        .norm("neck.3", CHANNELS)
}

/// The embedding `[1, 256, rows, columns]` of places `[1, rows, columns, width]`.
pub(super) fn embedding(w: &Weights<'_>, x: &Tensor) -> Result<Tensor> {
    let norm = |name: &str, x: &Tensor| {
        let of = |end: &str| w.get(&format!("{name}.{end}"));
        layer_norm(x, Some((&of("weight")?, &of("bias")?)), EPS)
    };
    let kernel = w.get("neck.0.weight")?;
    let (outputs, inputs, ..) = kernel.dims4()?;
    let x = norm("neck.1", &linear(x, &kernel.reshape((outputs, inputs))?, None)?)?;
    let x = w.conv2d("neck.2", &x.permute([0, 3, 1, 2])?.contiguous()?, Conv2d::SAME_3X3)?;
    norm("neck.3", &x.permute([0, 2, 3, 1])?.contiguous()?)?.permute([0, 3, 1, 2])?.contiguous()
}
