//! The functions of ConvNeXt blocks (Woo et al. 2023, arXiv:2301.00808).

use candle_core::{DType, Result, Tensor, bail};
use rayon::prelude::*;

use super::cpu::{by_processor, contiguous, rounded, values, zeros};

/// Added to the mean of the norms.
const EPS: f64 = 1e-6;
/// Tokens whose squares are summed together.
const TOGETHER: usize = 256;

/// `x · (1 + weight · r) + bias` of `x` `[batch, tokens, width]`; see [`response_norm`](crate::response_norm).
pub fn response_norm(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let width = x.dim(2)?;
    if weight.elem_count() != width || bias.elem_count() != width {
        bail!("a norm of {width} values got {:?} and {:?}", weight.dims(), bias.dims());
    }
    if by_processor(x) { fused_norm(x, weight, bias) } else { plain_norm(x, weight, bias) }
}

/// Scratch bytes of the norm of `[batch, tokens, width]` on the CPU.
pub(crate) fn response_norm_scratch_bytes(tokens: usize, width: usize) -> usize {
    (tokens.div_ceil(TOGETHER) + 4) * width * size_of::<f32>()
}

fn plain_norm(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let wide = |x: &Tensor| x.to_dtype(DType::F32);
    let norms = wide(x)?.sqr()?.sum_keepdim(1)?.sqrt()?;
    let share = norms.broadcast_div(&(norms.mean_keepdim(2)? + EPS)?)?;
    let scale = (share.broadcast_mul(&wide(weight)?.flatten_all()?)? + 1.0)?.to_dtype(x.dtype())?;
    x.broadcast_mul(&scale)?.broadcast_add(&bias.to_dtype(x.dtype())?.flatten_all()?)
}

fn fused_norm(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let (_, tokens, width) = x.dims3()?;
    let flat = |x: &Tensor| x.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>();
    let (weight, bias) = (flat(weight)?, flat(bias)?);
    let wide = contiguous(x)?;
    let held = wide.storage_and_layout();
    let input = values(&held)?;
    let mut out = zeros(x.elem_count());
    if !out.is_empty() {
        for (image, out) in out.chunks_mut(tokens * width).enumerate() {
            let input = &input[image * tokens * width..][..tokens * width];
            let mut scale = vec![0.0_f32; width];
            let mut sums = vec![0.0_f32; tokens.div_ceil(TOGETHER) * width];
            sums.par_chunks_mut(width).zip(input.par_chunks(TOGETHER * width)).for_each(|(sums, tokens)| {
                for token in tokens.chunks(width) {
                    sums.iter_mut().zip(token).for_each(|(sum, value)| *sum += value * value);
                }
            });
            for part in sums.chunks(width) {
                scale.iter_mut().zip(part).for_each(|(scale, sum)| *scale += sum);
            }
            scale.iter_mut().for_each(|norm| *norm = norm.sqrt());
            let mean = scale.iter().copied().map(f64::from).sum::<f64>() / width as f64;
            let divisor = (mean + EPS) as f32;
            scale
                .iter_mut()
                .zip(&weight)
                .for_each(|(scale, weight)| *scale = 1.0 + weight * (*scale / divisor));
            out.par_chunks_mut(width).zip(input.par_chunks(width)).for_each(|(out, token)| {
                for (((out, value), scale), bias) in out.iter_mut().zip(token).zip(&scale).zip(&bias) {
                    *out = value * scale + bias;
                }
            });
        }
    }
    drop(held);
    drop(wide);
    rounded(out, x.dims(), x.dtype())
}

/// Convolves each channel of `x` `[batch, height, width, channels]`; see [`depthwise`](crate::depthwise).
pub fn depthwise(x: &Tensor, weight: &Tensor, bias: &Tensor, padding: usize) -> Result<Tensor> {
    let (_, height, width, channels) = x.dims4()?;
    let side = weight.dim(2)?;
    if weight.dims() != [channels, 1, side, side] || bias.dims() != [channels] {
        bail!("a convolution of {channels} channels got {:?} and {:?}", weight.dims(), bias.dims());
    }
    if height.min(width) + 2 * padding < side {
        bail!("an input of {height}×{width} is too small for a kernel of {side}×{side}");
    }
    // A row of values for each place of the kernel.
    let rows = weight.reshape((channels, side * side))?.t()?.contiguous()?;
    if by_processor(x) {
        fused_conv(x, &rows, bias, side, padding)
    } else {
        plain_conv(x, &rows, bias, side, padding)
    }
}

fn plain_conv(x: &Tensor, rows: &Tensor, bias: &Tensor, side: usize, padding: usize) -> Result<Tensor> {
    let padded = x.pad_with_zeros(1, padding, padding)?.pad_with_zeros(2, padding, padding)?;
    let [height, width] = [padded.dim(1)? + 1 - side, padded.dim(2)? + 1 - side];
    let rows = rows.to_dtype(x.dtype())?;
    let mut sum: Option<Tensor> = None;
    for place in 0..side * side {
        let seen = padded.narrow(1, place / side, height)?.narrow(2, place % side, width)?;
        let product = seen.broadcast_mul(&rows.get(place)?)?;
        sum = Some(match sum {
            Some(sum) => (sum + product)?,
            None => product,
        });
    }
    let Some(sum) = sum else { bail!("a kernel without values") };
    drop(padded);
    sum.broadcast_add(&bias.to_dtype(x.dtype())?)
}

fn fused_conv(x: &Tensor, rows: &Tensor, bias: &Tensor, side: usize, padding: usize) -> Result<Tensor> {
    let (batch, height, width, channels) = x.dims4()?;
    let flat = |x: &Tensor| x.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>();
    let (rows, bias) = (flat(rows)?, flat(bias)?);
    let [out_height, out_width] = [height, width].map(|length| length + 2 * padding + 1 - side);
    let wide = contiguous(x)?;
    let held = wide.storage_and_layout();
    let input = values(&held)?;
    let mut out = zeros(batch * out_height * out_width * channels);
    if !out.is_empty() {
        out.par_chunks_mut(out_width * channels).enumerate().for_each(|(line, out)| {
            let (image, top) = (line / out_height, line % out_height);
            for (left, out) in out.chunks_mut(channels).enumerate() {
                out.copy_from_slice(&bias);
                for (place, weights) in rows.chunks(channels).enumerate() {
                    let (y, x) = (top + place / side, left + place % side);
                    let is_inside = |at: usize, length: usize| at >= padding && at - padding < length;
                    if !is_inside(y, height) || !is_inside(x, width) {
                        continue;
                    }
                    let from = ((image * height + y - padding) * width + x - padding) * channels;
                    for ((out, value), weight) in out.iter_mut().zip(&input[from..]).zip(weights) {
                        *out += value * weight;
                    }
                }
            }
        });
    }
    drop(held);
    drop(wide);
    rounded(out, (batch, out_height, out_width, channels), x.dtype())
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;

    #[test]
    fn norms_are_those_of_the_plain_composition() {
        for shape in [[1, 5, 7], [2, 300, 24], [1, 1024, 33]] {
            let [weight, bias] = [2, 3].map(|seed| random(&[shape[2]], seed));
            let x = random(&shape, 1);
            let want = plain_norm(&x, &weight, &bias).unwrap();
            assert_close(&response_norm(&x, &weight, &bias).unwrap(), &want, 2e-6);
            assert_independent_of_threads(|| response_norm(&x, &weight, &bias).unwrap());
        }
        assert!(response_norm(&random(&[1, 2, 3], 1), &random(&[4], 2), &random(&[3], 3)).is_err());
    }

    #[test]
    fn convolutions_are_those_of_the_plain_composition() {
        for (shape, side, padding) in [([1, 5, 4, 7], 3, 1), ([2, 9, 6, 16], 3, 0), ([1, 6, 7, 3], 5, 2)] {
            let (x, weight) = (random(&shape, 1), random(&[shape[3], 1, side, side], 2));
            let bias = random(&[shape[3]], 3);
            let rows = weight.reshape((shape[3], side * side)).unwrap().t().unwrap().contiguous().unwrap();
            let want = plain_conv(&x, &rows, &bias, side, padding).unwrap();
            assert_close(&depthwise(&x, &weight, &bias, padding).unwrap(), &want, 2e-6);
            assert_independent_of_threads(|| depthwise(&x, &weight, &bias, padding).unwrap());
        }
        let x = random(&[1, 2, 2, 3], 1);
        assert!(depthwise(&x, &random(&[3, 1, 3, 3], 2), &random(&[3], 3), 0).is_err());
    }
}
