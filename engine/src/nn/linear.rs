//! Matrix products with weights.

use candle_core::{DType, Device, Result, Tensor};

/// `x · weightᵀ + bias`: `x` is `[…, in]`, `weight` is `[out, in]`, the result `[…, out]`.
///
/// On the CPU a product of bf16 values is summed in f32 and rounded once, as there is no bf16 product.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let (rows, shape) = (x.elem_count() / x.dim(candle_core::D::Minus1)?, x.dims());
    let flat = x.reshape((rows, shape[shape.len() - 1]))?;
    let widen = matches!(x.device(), Device::Cpu) && x.dtype() == DType::BF16;
    let product = if widen {
        flat.to_dtype(DType::F32)?.matmul(&weight.to_dtype(DType::F32)?.t()?)?
    } else {
        flat.matmul(&weight.t()?)?
    };
    let product = match bias {
        Some(bias) if widen => product.broadcast_add(&bias.to_dtype(DType::F32)?)?,
        Some(bias) => product.broadcast_add(bias)?,
        None => product,
    };
    let mut out = shape.to_vec();
    if let Some(last) = out.last_mut() {
        *last = weight.dim(0)?;
    }
    product.to_dtype(x.dtype())?.reshape(out)
}
