//! Normalizations. Statistics are summed in f32 within short blocks and in f64 across them.

use candle_core::{D, DType, Result, Tensor, bail};
use pulp::Simd;
use rayon::prelude::*;

use super::activation::silu_of;
use super::cpu::{by_processor, values_as, zeros};
use super::held::{AsHeld, BLOCK, Held, as_held};
use super::modulation::{modulate, scale_and_shift};
use super::simd::{Tiled, run};
use crate::cuda::{self, RowNorm};

/// Minimum rows per work item.
const ROWS: usize = 4;

/// RMS norm over the last dimension: `x / sqrt(mean(x²) + eps) · weight` (Zhang and Sennrich 2019).
pub fn rms_norm(x: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor> {
    if by_processor(x) {
        fused_rows(x, Some(weight), None, eps, false)
    } else {
        let norm = RowNorm { eps, weight: Some(weight), ..RowNorm::default() };
        cuda::or_plain(x, || cuda::norm_rows(x, norm), || plain_rms_norm(x, weight, eps))
    }
}

/// [`rms_norm`] followed by [`modulate`], in one pass where the device has a fused kernel.
pub fn rms_norm_modulated(x: &Tensor, weight: &Tensor, eps: f64, scale: &Tensor) -> Result<Tensor> {
    let plain = || modulate(&rms_norm(x, weight, eps)?, scale);
    let norm = RowNorm { eps, weight: Some(weight), scale: Some(scale), ..RowNorm::default() };
    cuda::or_plain(x, || cuda::norm_rows(x, norm), plain)
}

/// [`layer_norm`] without weight and bias, followed by [`scale_and_shift`], or by [`modulate`] if there is no
/// shift; in one pass where the device has a fused kernel.
pub fn layer_norm_modulated(x: &Tensor, eps: f64, scale: &Tensor, shift: Option<&Tensor>) -> Result<Tensor> {
    let plain = || {
        let normed = layer_norm(x, None, None, eps)?;
        match shift {
            Some(shift) => scale_and_shift(&normed, scale, shift),
            None => modulate(&normed, scale),
        }
    };
    let norm = RowNorm { centred: true, eps, scale: Some(scale), shift, ..RowNorm::default() };
    cuda::or_plain(x, || cuda::norm_rows(x, norm), plain)
}

/// Layer norm over the last dimension (Ba et al. 2016), with or without weight and bias.
pub fn layer_norm(x: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>, eps: f64) -> Result<Tensor> {
    if by_processor(x) {
        fused_rows(x, weight, bias, eps, true)
    } else {
        let norm = RowNorm { centred: true, eps, weight, bias, ..RowNorm::default() };
        cuda::or_plain(x, || cuda::norm_rows(x, norm), || plain_layer_norm(x, weight, bias, eps))
    }
}

/// Group norm (Wu and He 2018) of `x` `[batch, channels, …]`; `weight` and `bias` are `[channels]`.
pub fn group_norm(x: &Tensor, groups: usize, weight: &Tensor, bias: &Tensor, eps: f64) -> Result<Tensor> {
    if by_processor(x) {
        fused_groups(x, groups, weight, bias, eps, false)
    } else {
        let work = || cuda::group_norm(x, groups, (weight, bias), eps, false);
        cuda::or_plain(x, work, || plain_group_norm(x, groups, weight, bias, eps))
    }
}

/// [`group_norm`] followed by [`silu`](super::silu), in one pass where the device has a fused kernel.
pub fn group_norm_silu(
    x: &Tensor,
    groups: usize,
    weight: &Tensor,
    bias: &Tensor,
    eps: f64,
) -> Result<Tensor> {
    if by_processor(x) {
        fused_groups(x, groups, weight, bias, eps, true)
    } else {
        let work = || cuda::group_norm(x, groups, (weight, bias), eps, true);
        cuda::or_plain(x, work, || plain_group_norm(x, groups, weight, bias, eps)?.silu())
    }
}

fn plain_rms_norm(x: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor> {
    let wide = x.to_dtype(DType::F32)?;
    let mean = wide.sqr()?.mean_keepdim(D::Minus1)?;
    let normed = wide.broadcast_div(&(mean + eps)?.sqrt()?)?;
    drop(wide);
    normed.to_dtype(x.dtype())?.broadcast_mul(&weight.to_dtype(x.dtype())?)
}

/// `x` in f32 without the mean of its last dimension, divided by its deviation. At most two tensors of that size are in
/// memory at a time.
fn standardized(x: &Tensor, eps: f64) -> Result<Tensor> {
    let wide = x.to_dtype(DType::F32)?;
    let centred = wide.broadcast_sub(&wide.mean_keepdim(D::Minus1)?)?;
    drop(wide);
    let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
    centred.broadcast_div(&(variance + eps)?.sqrt()?)
}

fn plain_layer_norm(x: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>, eps: f64) -> Result<Tensor> {
    let mut normed = standardized(x, eps)?.to_dtype(x.dtype())?;
    if let Some(weight) = weight {
        normed = normed.broadcast_mul(&weight.to_dtype(x.dtype())?)?;
    }
    match bias {
        Some(bias) => normed.broadcast_add(&bias.to_dtype(x.dtype())?),
        None => Ok(normed),
    }
}

fn plain_group_norm(x: &Tensor, groups: usize, weight: &Tensor, bias: &Tensor, eps: f64) -> Result<Tensor> {
    let dims = x.dims().to_vec();
    let (batch, channels) = (dims[0], dims[1]);
    let grouped = x.reshape((batch, groups, x.elem_count() / (batch * groups)))?;
    let normed = standardized(&grouped, eps)?.reshape(dims.clone())?;
    let mut per_channel = vec![1; dims.len()];
    per_channel[1] = channels;
    let weight = weight.to_dtype(DType::F32)?.reshape(per_channel.clone())?;
    let bias = bias.to_dtype(DType::F32)?.reshape(per_channel)?;
    let scaled = normed.broadcast_mul(&weight)?;
    drop(normed);
    let shifted = scaled.broadcast_add(&bias)?;
    drop(scaled);
    shifted.to_dtype(x.dtype())
}

/// The values of a vector of `length`, or `otherwise` repeated if there is none.
fn parameters(vector: Option<&Tensor>, length: usize, otherwise: f32) -> Result<Vec<f32>> {
    let Some(vector) = vector else { return Ok(vec![otherwise; length]) };
    if vector.dims() != [length] {
        bail!("a norm over {length} values got parameters of shape {:?}", vector.dims());
    }
    vector.to_dtype(DType::F32)?.to_vec1()
}

/// A norm over the last dimension, with or without subtracting the mean.
fn fused_rows(
    x: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
    centred: bool,
) -> Result<Tensor> {
    let width = x.dim(D::Minus1)?;
    let (weight, bias) = (parameters(weight, width, 1.0)?, parameters(bias, width, 0.0)?);
    as_held(x.dtype(), RowsNorm { x, weight: &weight, bias: &bias, eps, centred })
}

#[derive(Clone, Copy)]
struct RowsNorm<'a> {
    x: &'a Tensor,
    weight: &'a [f32],
    bias: &'a [f32],
    eps: f64,
    centred: bool,
}

impl AsHeld for RowsNorm<'_> {
    fn of<T: Held>(self) -> Result<Tensor> {
        let input = self.x.to_dtype(T::DTYPE)?.contiguous()?;
        let (held, width) = (input.storage_and_layout(), self.weight.len().max(1));
        let mut out: Vec<T> = zeros(input.elem_count());
        let rows = out.par_chunks_mut(width).zip(values_as::<T>(&held)?.par_chunks(width));
        rows.with_min_len(ROWS)
            .for_each_init(|| [[0.0; BLOCK]; 2], |wide, (out, x)| run(Row { x, out, norm: self, wide }));
        Tensor::from_vec(out, input.dims(), input.device())
    }
}

struct Row<'a, T> {
    x: &'a [T],
    out: &'a mut [T],
    norm: RowsNorm<'a>,
    wide: &'a mut [[f32; BLOCK]; 2],
}

impl<T: Held> Tiled for Row<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, _: S) {
        let RowsNorm { weight, bias, eps, centred, .. } = self.norm;
        let ([of_x, of_out], count) = (self.wide, self.x.len() as f64);
        let mean = if centred { (sum(self.x, 0.0, of_x)[0] / count) as f32 } else { 0.0 };
        let scale = (1.0 / (sum(self.x, mean, of_x)[1] / count + eps).sqrt()) as f32;
        let parameters = weight.chunks(BLOCK).zip(bias.chunks(BLOCK));
        for ((out, x), (weight, bias)) in self.out.chunks_mut(BLOCK).zip(self.x.chunks(BLOCK)).zip(parameters)
        {
            let x = T::widened(x, of_x);
            let results = T::target(out, of_out).iter_mut().zip(x).zip(weight).zip(bias);
            for (((result, x), weight), bias) in results {
                *result = (x - mean) * scale * weight + bias;
            }
            T::finish(out, of_out);
        }
    }
}

/// A norm over groups of channels, with or without an activation.
fn fused_groups(
    x: &Tensor,
    groups: usize,
    weight: &Tensor,
    bias: &Tensor,
    eps: f64,
    silu: bool,
) -> Result<Tensor> {
    let (batch, channels) = (x.dim(0)?, x.dim(1)?);
    if groups == 0 || channels % groups != 0 {
        bail!("{channels} channels cannot be split into {groups} groups");
    }
    let (weight, bias) = (parameters(Some(weight), channels, 1.0)?, parameters(Some(bias), channels, 0.0)?);
    let size = x.elem_count() / (batch * groups).max(1);
    as_held(x.dtype(), GroupsNorm { x, size, groups, weight: &weight, bias: &bias, eps, silu })
}

#[derive(Clone, Copy)]
struct GroupsNorm<'a> {
    x: &'a Tensor,
    /// Values of a group.
    size: usize,
    groups: usize,
    /// Of all channels.
    weight: &'a [f32],
    bias: &'a [f32],
    eps: f64,
    silu: bool,
}

impl AsHeld for GroupsNorm<'_> {
    fn of<T: Held>(self) -> Result<Tensor> {
        let Self { size, groups, .. } = self;
        let input = self.x.to_dtype(T::DTYPE)?.contiguous()?;
        let (held, together) = (input.storage_and_layout(), self.weight.len() / groups);
        let mut out: Vec<T> = zeros(input.elem_count());
        if size > 0 {
            let inputs = values_as::<T>(&held)?.par_chunks(size);
            out.par_chunks_mut(size).zip(inputs).enumerate().for_each(|(index, (out, x))| {
                let first = index % groups * together;
                let [weight, bias] = [self.weight, self.bias].map(|values| &values[first..][..together]);
                run(Group { x, out, weight, bias, eps: self.eps, silu: self.silu });
            });
        }
        Tensor::from_vec(out, input.dims(), input.device())
    }
}

struct Group<'a, T> {
    x: &'a [T],
    out: &'a mut [T],
    /// Of each channel of the group.
    weight: &'a [f32],
    bias: &'a [f32],
    eps: f64,
    silu: bool,
}

impl<T: Held> Tiled for Group<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        let (count, [mut of_x, mut of_out]) = (self.x.len() as f64, [[0.0; BLOCK]; 2]);
        // Squares are taken around a first estimate of the mean, so that one pass is accurate enough.
        let sample = &self.x[..self.x.len().min(BLOCK)];
        let guess = (sum(sample, 0.0, &mut of_x)[0] / sample.len() as f64) as f32;
        let [offset, squares] = sum(self.x, guess, &mut of_x).map(|sum| sum / count);
        let mean = (f64::from(guess) + offset) as f32;
        let deviation = 1.0 / (squares - offset * offset + self.eps).sqrt();
        let plane = self.x.len() / self.weight.len();
        let planes = self.out.chunks_mut(plane).zip(self.x.chunks(plane));
        for ((out, x), (weight, bias)) in planes.zip(self.weight.iter().zip(self.bias)) {
            let scale = (deviation * f64::from(*weight)) as f32;
            let [means, scales, biases] = [mean, scale, *bias].map(|value| simd.splat_f32s(value));
            for (out, x) in out.chunks_mut(BLOCK).zip(x.chunks(BLOCK)) {
                let x = T::widened(x, &mut of_x);
                let results = T::target(out, &mut of_out);
                if self.silu {
                    let ((whole, rest), (x, x_rest)) = (S::as_mut_simd_f32s(results), S::as_simd_f32s(x));
                    for (result, x) in whole.iter_mut().zip(x) {
                        let normed = simd.mul_add_e_f32s(simd.sub_f32s(*x, means), scales, biases);
                        *result = silu_of(simd, normed);
                    }
                    let centred = simd.sub_f32s(simd.partial_load_f32s(x_rest), means);
                    let normed = simd.mul_add_e_f32s(centred, scales, biases);
                    simd.partial_store_f32s(rest, silu_of(simd, normed));
                } else {
                    for (result, x) in results.iter_mut().zip(x) {
                        *result = (x - mean) * scale + bias;
                    }
                }
                T::finish(out, &of_out);
            }
        }
    }
}

/// Partial sums in f32 of a [`BLOCK`], before they are added up in f64.
const LANES: usize = 32;

/// The sum of `x - centre` and the sum of its squares.
#[inline(always)]
fn sum<T: Held>(x: &[T], centre: f32, wide: &mut [f32; BLOCK]) -> [f64; 2] {
    let mut total = [0.0; 2];
    for block in x.chunks(BLOCK) {
        let (whole, rest) = T::widened(block, wide).as_chunks::<LANES>();
        let (mut sums, mut squares) = ([0.0f32; LANES], [0.0f32; LANES]);
        for values in whole {
            for lane in 0..LANES {
                let value = values[lane] - centre;
                sums[lane] += value;
                squares[lane] += value * value;
            }
        }
        for (lane, value) in rest.iter().enumerate() {
            let value = value - centre;
            sums[lane] += value;
            squares[lane] += value * value;
        }
        for lane in 0..LANES {
            total[0] += f64::from(sums[lane]);
            total[1] += f64::from(squares[lane]);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_close, assert_independent_of_threads, flat, random};
    use super::*;

    #[test]
    fn row_norms_are_the_plain_compositions() {
        for shape in [vec![1, 1], vec![3, 7], vec![2, 9, 130], vec![5, 2560]] {
            let width = shape[shape.len() - 1];
            let (x, weight, bias) = (random(&shape, 1), random(&[width], 2), random(&[width], 3));
            let want = plain_rms_norm(&x, &weight, 1e-6).unwrap();
            assert_close(&rms_norm(&x, &weight, 1e-6).unwrap(), &want, 1e-6);
            // With a single value, which is its own mean, only rounding would be compared.
            if width > 1 {
                for (weight, bias) in [(None, None), (Some(&weight), None), (Some(&weight), Some(&bias))] {
                    let want = plain_layer_norm(&x, weight, bias, 1e-6).unwrap();
                    assert_close(&layer_norm(&x, weight, bias, 1e-6).unwrap(), &want, 2e-6);
                }
            }
        }
    }

    #[test]
    fn group_norms_are_the_plain_compositions() {
        for (batch, channels, groups, height, width) in
            [(1, 4, 2, 1, 1), (2, 6, 3, 5, 7), (1, 32, 32, 9, 11), (2, 64, 32, 16, 16), (1, 8, 1, 40, 33)]
        {
            let x = random(&[batch, channels, height, width], 1);
            let (weight, bias) = (random(&[channels], 2), random(&[channels], 3));
            let want = plain_group_norm(&x, groups, &weight, &bias, 1e-5).unwrap();
            assert_close(&group_norm(&x, groups, &weight, &bias, 1e-5).unwrap(), &want, 2e-6);
            let got = group_norm_silu(&x, groups, &weight, &bias, 1e-5).unwrap();
            assert_close(&got, &want.silu().unwrap(), 2e-6);
        }
    }

    #[test]
    fn norms_take_views_and_half_width_floats() {
        let x = random(&[2, 40, 12, 5], 1).transpose(1, 2).unwrap().narrow(1, 4, 8).unwrap();
        let (weight, bias) = (random(&[8], 2), random(&[8], 3));
        let want = plain_group_norm(&x, 4, &weight, &bias, 1e-5).unwrap();
        assert_close(&group_norm(&x, 4, &weight, &bias, 1e-5).unwrap(), &want, 2e-6);
        let rows = x.transpose(1, 3).unwrap();
        let want = plain_rms_norm(&rows, &weight, 1e-6).unwrap();
        assert_close(&rms_norm(&rows, &weight, 1e-6).unwrap(), &want, 1e-6);
        let narrow = |x: &Tensor| x.to_dtype(DType::BF16).unwrap();
        let got = rms_norm(&narrow(&rows), &narrow(&weight), 1e-6).unwrap();
        assert_close(&got, &narrow(&want), 2e-2);
    }

    #[test]
    fn statistics_stay_exact_far_from_zero() {
        let x = (random(&[1, 2, 300, 300], 1) + 100.0).unwrap();
        let (weight, bias) = (Tensor::new(&[1.0f32; 2], x.device()).unwrap(), random(&[2], 2));
        let got = flat(&group_norm(&x, 2, &weight, &bias, 1e-6).unwrap());
        let (values, bias) = (flat(&x), flat(&bias));
        for (plane, (got, values)) in got.chunks(90_000).zip(values.chunks(90_000)).enumerate() {
            let mean = values.iter().copied().map(f64::from).sum::<f64>() / 90_000.0;
            let square = |value: &f32| (f64::from(*value) - mean).powi(2);
            let deviation = (values.iter().map(square).sum::<f64>() / 90_000.0 + 1e-6).sqrt();
            for (got, value) in got.iter().zip(values) {
                let want = (f64::from(*value) - mean) / deviation + f64::from(bias[plane]);
                assert!((f64::from(*got) - want).abs() < 1e-5, "got {got}, expected {want}");
            }
        }
    }

    #[test]
    fn norms_of_narrow_values_are_those_of_wide_ones_rounded_once() {
        // Groups and rows of several blocks, and of less than a vector.
        for (channels, side) in [(8, 37), (4, 70), (2, 1)] {
            let x = random(&[2, channels, side, side], 1);
            let (weight, bias) = (random(&[channels], 2), random(&[channels], 3));
            for dtype in [DType::BF16, DType::F16] {
                let narrow = x.to_dtype(dtype).unwrap();
                let wide = narrow.to_dtype(DType::F32).unwrap();
                let norms: [&dyn Fn(&Tensor) -> Tensor; 4] = [
                    &|x| group_norm(x, 2, &weight, &bias, 1e-5).unwrap(),
                    &|x| group_norm_silu(x, 2, &weight, &bias, 1e-5).unwrap(),
                    &|x| rms_norm(&x.permute((0, 2, 3, 1)).unwrap(), &weight, 1e-6).unwrap(),
                    &|x| layer_norm(&x.flatten_from(1).unwrap(), None, None, 1e-6).unwrap(),
                ];
                for norm in norms {
                    let got = norm(&narrow);
                    assert_eq!(got.dtype(), dtype);
                    assert_eq!(flat(&got), flat(&norm(&wide).to_dtype(dtype).unwrap()));
                }
            }
        }
    }

    #[test]
    fn norms_refuse_parameters_that_do_not_fit() {
        let x = random(&[2, 6, 4], 1);
        assert!(rms_norm(&x, &random(&[6], 2), 1e-6).is_err());
        assert!(group_norm(&x, 4, &random(&[6], 2), &random(&[6], 3), 1e-6).is_err());
        assert!(group_norm(&x, 3, &random(&[6], 2), &random(&[5], 3), 1e-6).is_err());
    }

    #[test]
    fn norms_are_the_same_on_any_number_of_threads() {
        let (x, weight, bias) = (random(&[2, 12, 31, 17], 1), random(&[12], 2), random(&[12], 3));
        assert_independent_of_threads(|| group_norm_silu(&x, 3, &weight, &bias, 1e-5).unwrap());
        let weight = random(&[17], 4);
        assert_independent_of_threads(|| rms_norm(&x, &weight, 1e-5).unwrap());
    }
}
