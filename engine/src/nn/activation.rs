//! Activation functions.

use candle_core::{Result, Tensor};

/// `x · sigmoid(x)`.
pub fn silu(x: &Tensor) -> Result<Tensor> {
    x.silu()
}

/// `silu(gate) · up`, the middle of a SwiGLU feed-forward.
pub fn silu_mul(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    gate.silu()? * up
}
