//! Shared parts of transformers whose norms are modulated by the timestep (Peebles and Xie 2023,
//! arXiv:2212.09748).

use crate::{
    nn::{DType, Device, Result, Tensor, Waves, gelu_tanh, layer_norm_modulated, silu_mul, waves},
    residency::Weights,
};

/// Number of values in a sinusoidal embedding.
pub const FREQUENCY_WIDTH: usize = 256;
/// Added to the variance in modulated norms.
const EPS: f64 = 1e-6;

/// `x` normalized, then modulated by shift and scale.
pub fn normed(x: &Tensor, modulation: &[Tensor]) -> Result<Tensor> {
    layer_norm_modulated(x, EPS, &modulation[1], Some(&modulation[0]))
}

/// Applies the two feed-forward layers below `name` to `x`.
pub fn feed_forward(w: &Weights, name: &str, x: Tensor) -> Result<Tensor> {
    feed_forward_by(w, name, x, gelu_tanh)
}

/// The same with this function between the layers.
pub fn feed_forward_by(
    w: &Weights,
    name: &str,
    x: Tensor,
    activation: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let wide = w.linear(&format!("{name}.net.0.proj"), &x)?;
    drop(x);
    let h = activation(&wide)?;
    drop(wide);
    w.linear(&format!("{name}.net.2"), &h)
}

/// The gated feed-forward `name` of `x` (SwiGLU, Shazeer 2020, arXiv:2002.05202).
pub fn gated_feed_forward(w: &Weights, name: &str, x: Tensor) -> Result<Tensor> {
    let (gate, up) = (w.linear(&format!("{name}.w1"), &x)?, w.linear(&format!("{name}.w3"), &x)?);
    drop(x);
    let h = silu_mul(&gate, &up)?;
    drop((gate, up));
    w.linear(&format!("{name}.w2"), &h)
}

/// Clamps `x`: the streams can exceed the range of f16.
pub fn within_range(x: Tensor) -> Result<Tensor> {
    if x.dtype() == DType::F16 { x.clamp(-65_504.0, 65_504.0) } else { Ok(x) }
}

/// Sinusoidal embeddings of numbers, f32 `[numbers, FREQUENCY_WIDTH]`.
pub fn frequencies(numbers: &[f32], device: &Device) -> Result<Tensor> {
    let half = (FREQUENCY_WIDTH / 2) as f64;
    waves(numbers, Waves { width: FREQUENCY_WIDTH, spaced: half, cosines_first: true }, device)
}
