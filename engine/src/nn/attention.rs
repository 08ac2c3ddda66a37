//! Scaled dot-product attention.

use candle_core::{DType, Result, Tensor};

/// Which keys a query may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// All of them.
    None,
    /// Those at its own place and before it.
    Causal,
}

/// Attention of `q` `[batch, tokens, heads, head_dim]` over `k` and `v`
/// `[batch, keys, kv_heads, head_dim]`, scaled by `1 / sqrt(head_dim)`; the result has the shape of `q`.
/// `heads` is a multiple of `kv_heads`: neighbouring query heads share a key head.
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, mask: Mask) -> Result<Tensor> {
    let (batch, tokens, heads, width) = q.dims4()?;
    let (_, keys, kv_heads, _) = k.dims4()?;
    let spread = |x: &Tensor| -> Result<Tensor> {
        let x = x.to_dtype(DType::F32)?.transpose(1, 2)?;
        if kv_heads == heads {
            return x.contiguous();
        }
        let shape = (batch, kv_heads, heads / kv_heads, keys, width);
        x.unsqueeze(2)?.broadcast_as(shape)?.reshape((batch, heads, keys, width))
    };
    let queries = q.to_dtype(DType::F32)?.transpose(1, 2)?.contiguous()?;
    let mut scores = (queries.matmul(&spread(k)?.transpose(2, 3)?)? / (width as f64).sqrt())?;
    if mask == Mask::Causal {
        let hidden: Vec<f32> = (0..tokens)
            .flat_map(|query| (0..keys).map(move |key| if key > query { f32::NEG_INFINITY } else { 0.0 }))
            .collect();
        scores = scores.broadcast_add(&Tensor::from_vec(hidden, (tokens, keys), q.device())?)?;
    }
    let weights = candle_nn::ops::softmax_last_dim(&scores)?;
    weights.matmul(&spread(v)?)?.transpose(1, 2)?.contiguous()?.to_dtype(q.dtype())
}
