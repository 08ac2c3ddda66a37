//! Root mean square normalization over the channels of each pixel.

use candle_core::{DType, Result, Tensor, bail};
use pulp::Simd;
use rayon::prelude::*;

use super::activation::silu_of;
use super::cpu::{by_processor, contiguous, rounded, values, zeros};
use super::simd::{Tiled, run};

/// Values of all channels that are normalized together, so that they stay in the cache.
const TOGETHER: usize = 1 << 16;
/// Bounds of the pixels that are normalized together.
const PIXELS: [usize; 2] = [64, 1024];
/// The smallest length of a pixel's vector that it is divided by, as in PyTorch.
const SHORTEST: f32 = 1e-12;

/// `√channels · x / ‖x‖ · weight` over the channels of `x` `[batch, channels, …]`, and SiLU if `silu`.
pub fn channel_norm(x: &Tensor, weight: &Tensor, silu: bool) -> Result<Tensor> {
    if weight.dims() != [x.dim(1)?] {
        bail!("a norm over {} channels got a weight of shape {:?}", x.dim(1)?, weight.dims());
    }
    if by_processor(x) { fused(x, weight, silu) } else { plain(x, weight, silu) }
}

/// Scratch bytes of the norm of `[batch, channels, pixels]` on the CPU.
pub(crate) fn scratch_bytes(batch: usize, channels: usize, pixels: usize) -> usize {
    let blocks = batch * pixels.div_ceil(together(channels));
    blocks * (channels * size_of::<&mut [f32]>() + size_of::<Vec<&mut [f32]>>())
}

fn plain(x: &Tensor, weight: &Tensor, silu: bool) -> Result<Tensor> {
    let wide = x.to_dtype(DType::F32)?;
    let length = wide.sqr()?.sum_keepdim(1)?.sqrt()?.maximum(SHORTEST)?;
    let normed = wide.broadcast_div(&length)?;
    drop(wide);
    let mut per_channel = vec![1; x.rank()];
    per_channel[1] = x.dim(1)?;
    let weight = (weight.to_dtype(x.dtype())?.reshape(per_channel)? * (x.dim(1)? as f64).sqrt())?;
    let rounded = normed.to_dtype(x.dtype())?;
    drop(normed);
    let scaled = rounded.broadcast_mul(&weight)?;
    drop(rounded);
    if silu { scaled.silu() } else { Ok(scaled) }
}

/// Pixels that are normalized together.
fn together(channels: usize) -> usize {
    (TOGETHER / channels.max(1)).clamp(PIXELS[0], PIXELS[1])
}

fn fused(x: &Tensor, weight: &Tensor, silu: bool) -> Result<Tensor> {
    let (batch, channels) = (x.dim(0)?, x.dim(1)?);
    let weight = weight.to_dtype(DType::F32)?.to_vec1::<f32>()?;
    let wide = contiguous(x)?;
    let held = wide.storage_and_layout();
    let input = values(&held)?;
    let mut out = zeros(x.elem_count());
    if !out.is_empty() {
        let (plane, length) = (out.len() / (batch * channels), together(channels));
        let blocks: Vec<(usize, Vec<&mut [f32]>)> = out
            .chunks_mut(channels * plane)
            .enumerate()
            .flat_map(|(index, image)| {
                let starts = (0..plane).step_by(length).map(move |pixel| index * channels * plane + pixel);
                let mut blocks: Vec<_> = starts.map(|start| (start, Vec::with_capacity(channels))).collect();
                for plane in image.chunks_mut(plane) {
                    for ((_, block), part) in blocks.iter_mut().zip(plane.chunks_mut(length)) {
                        block.push(part);
                    }
                }
                blocks
            })
            .collect();
        blocks.into_par_iter().for_each(|(start, out)| {
            run(Pixels { x: &input[start..], plane, out, weight: &weight, silu });
        });
    }
    drop(held);
    drop(wide);
    rounded(out, x.dims(), x.dtype())
}

/// Some pixels of an image.
struct Pixels<'a> {
    /// All values from the first of these pixels on.
    x: &'a [f32],
    /// Values from one channel to the next.
    plane: usize,
    /// The result of each channel.
    out: Vec<&'a mut [f32]>,
    /// Of each channel.
    weight: &'a [f32],
    silu: bool,
}

impl Tiled for Pixels<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        let count = self.out.first().map_or(0, |channel| channel.len());
        let mut scales = [0.0f32; PIXELS[1]];
        let scales = &mut scales[..count];
        for channel in 0..self.out.len() {
            for (sum, value) in scales.iter_mut().zip(&self.x[channel * self.plane..]) {
                *sum += value * value;
            }
        }
        let root = (self.out.len() as f32).sqrt();
        scales.iter_mut().for_each(|sum| *sum = root / sum.sqrt().max(SHORTEST));
        for (channel, (out, weight)) in self.out.into_iter().zip(self.weight).enumerate() {
            let x = &self.x[channel * self.plane..][..count];
            for ((out, x), scale) in out.iter_mut().zip(x).zip(&*scales) {
                *out = x * scale * weight;
            }
            if self.silu {
                let (whole, rest) = S::as_mut_simd_f32s(out);
                for values in whole {
                    *values = silu_of(simd, *values);
                }
                let last = silu_of(simd, simd.partial_load_f32s(rest));
                simd.partial_store_f32s(rest, last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{assert_close, assert_independent_of_threads, flat, random};
    use super::*;

    #[test]
    fn pixels_are_normalized_as_by_the_plain_composition() {
        for shape in [&[1, 5, 7][..], &[2, 96, 9, 11], &[1, 17, 40, 33], &[1, 1500, 3, 3]] {
            let (x, weight) = (random(shape, 1), random(&[shape[1]], 2));
            for silu in [false, true] {
                let want = plain(&x, &weight, silu).unwrap();
                assert_close(&channel_norm(&x, &weight, silu).unwrap(), &want, 2e-6);
            }
        }
    }

    #[test]
    fn empty_pixels_stay_empty() {
        let x = Tensor::zeros((1, 4, 3, 3), DType::F32, &candle_core::Device::Cpu).unwrap();
        assert!(flat(&channel_norm(&x, &random(&[4], 1), true).unwrap()).iter().all(|value| *value == 0.0));
        assert!(channel_norm(&x, &random(&[5], 1), false).is_err());
    }

    #[test]
    fn the_norm_is_the_same_on_any_number_of_threads() {
        let (x, weight) = (random(&[2, 40, 30, 41], 1), random(&[40], 2));
        assert_independent_of_threads(|| channel_norm(&x, &weight, true).unwrap());
    }
}
