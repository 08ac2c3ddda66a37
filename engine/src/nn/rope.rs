//! Rotary position embedding (Su et al. 2021).

use candle_core::{DType, Device, Result, Tensor};

/// Cosines and sines of the rotation angles, f32 `[tokens, head_dim / 2]` each.
#[derive(Debug, Clone)]
pub struct Rope {
    /// Cosine of each angle.
    pub cos: Tensor,
    /// Sine of each angle.
    pub sin: Tensor,
}

impl Rope {
    /// From angles in row-major order, `tokens` rows of `pairs` columns. The sines and cosines are taken of
    /// the angle rounded to f32, as the reference does.
    pub fn from_angles(angles: &[f32], tokens: usize, pairs: usize, device: &Device) -> Result<Self> {
        let cos: Vec<f32> = angles.iter().map(|angle| angle.cos()).collect();
        let sin: Vec<f32> = angles.iter().map(|angle| angle.sin()).collect();
        Ok(Self {
            cos: Tensor::from_vec(cos, (tokens, pairs), device)?,
            sin: Tensor::from_vec(sin, (tokens, pairs), device)?,
        })
    }

    /// The rotations of `self` followed by those of `other`, along the tokens.
    pub fn concat(&self, other: &Self) -> Result<Self> {
        Ok(Self {
            cos: Tensor::cat(&[&self.cos, &other.cos], 0)?,
            sin: Tensor::cat(&[&self.sin, &other.sin], 0)?,
        })
    }
}

/// Rotates neighbouring pairs `(x₀, x₁), (x₂, x₃), …` of `x` `[batch, tokens, heads, head_dim]`, in f32.
pub fn rope_interleaved(x: &Tensor, rope: &Rope) -> Result<Tensor> {
    let (batch, tokens, heads, width) = x.dims4()?;
    let pairs = x.to_dtype(DType::F32)?.reshape((batch, tokens, heads, width / 2, 2))?;
    let (a, b) = (pairs.narrow(4, 0, 1)?.squeeze(4)?, pairs.narrow(4, 1, 1)?.squeeze(4)?);
    let (cos, sin) = (rope.cos.unsqueeze(1)?, rope.sin.unsqueeze(1)?);
    let first = (a.broadcast_mul(&cos)? - b.broadcast_mul(&sin)?)?;
    let second = (a.broadcast_mul(&sin)? + b.broadcast_mul(&cos)?)?;
    Tensor::stack(&[first, second], 4)?.reshape((batch, tokens, heads, width))?.to_dtype(x.dtype())
}

/// Rotates `(x₀, x_{d/2}), (x₁, x_{d/2+1}), …` of `x` `[batch, tokens, heads, head_dim]`: the layout of
/// language models. Computed in the dtype of `x`, as there.
pub fn rope_half(x: &Tensor, rope: &Rope) -> Result<Tensor> {
    let width = x.dim(3)?;
    let (a, b) = (x.narrow(3, 0, width / 2)?, x.narrow(3, width / 2, width / 2)?);
    let cos = rope.cos.to_dtype(x.dtype())?.unsqueeze(1)?;
    let sin = rope.sin.to_dtype(x.dtype())?.unsqueeze(1)?;
    let first = (a.broadcast_mul(&cos)? - b.broadcast_mul(&sin)?)?;
    let second = (b.broadcast_mul(&cos)? + a.broadcast_mul(&sin)?)?;
    Tensor::cat(&[first, second], 3)
}
