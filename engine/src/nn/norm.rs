//! Normalisations. Statistics are computed in f32 whatever the dtype of `x`.

use candle_core::{D, DType, Result, Tensor};

/// RMS norm over the last dimension: `x / sqrt(mean(x²) + eps) · weight` (Zhang and Sennrich 2019).
pub fn rms_norm(x: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor> {
    let wide = x.to_dtype(DType::F32)?;
    let mean = wide.sqr()?.mean_keepdim(D::Minus1)?;
    let normed = wide.broadcast_div(&(mean + eps)?.sqrt()?)?.to_dtype(x.dtype())?;
    normed.broadcast_mul(weight)
}

/// Layer norm over the last dimension (Ba et al. 2016), without or with weight and bias.
pub fn layer_norm(x: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>, eps: f64) -> Result<Tensor> {
    let wide = x.to_dtype(DType::F32)?;
    let centred = wide.broadcast_sub(&wide.mean_keepdim(D::Minus1)?)?;
    let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
    let mut normed = centred.broadcast_div(&(variance + eps)?.sqrt()?)?.to_dtype(x.dtype())?;
    if let Some(weight) = weight {
        normed = normed.broadcast_mul(weight)?;
    }
    match bias {
        Some(bias) => normed.broadcast_add(bias),
        None => Ok(normed),
    }
}

/// Group norm (Wu and He 2018) of `x` `[batch, channels, …]`; `weight` and `bias` are `[channels]`.
pub fn group_norm(x: &Tensor, groups: usize, weight: &Tensor, bias: &Tensor, eps: f64) -> Result<Tensor> {
    let dims = x.dims().to_vec();
    let (batch, channels) = (dims[0], dims[1]);
    let grouped = x.to_dtype(DType::F32)?.reshape((batch, groups, x.elem_count() / (batch * groups)))?;
    let centred = grouped.broadcast_sub(&grouped.mean_keepdim(D::Minus1)?)?;
    let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
    let normed = centred.broadcast_div(&(variance + eps)?.sqrt()?)?.reshape(dims.clone())?;
    let mut per_channel = vec![1; dims.len()];
    per_channel[1] = channels;
    let weight = weight.to_dtype(DType::F32)?.reshape(per_channel.clone())?;
    let bias = bias.to_dtype(DType::F32)?.reshape(per_channel)?;
    normed.broadcast_mul(&weight)?.broadcast_add(&bias)?.to_dtype(x.dtype())
}

/// [`group_norm`] followed by [`silu`](super::silu), in one pass where the device has it.
pub fn group_norm_silu(
    x: &Tensor,
    groups: usize,
    weight: &Tensor,
    bias: &Tensor,
    eps: f64,
) -> Result<Tensor> {
    group_norm(x, groups, weight, bias, eps)?.silu()
}
