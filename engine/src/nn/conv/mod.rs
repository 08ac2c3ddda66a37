//! Two-dimensional convolution.

mod direct;
mod winograd;

use candle_core::{DType, Result, Tensor, bail};
use rayon::prelude::*;

use super::cpu::{contiguous, values};

/// How a convolution walks over its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conv2d {
    /// Step in both directions, 1 or 2.
    pub stride: usize,
    /// Rows of zeros above and below, columns of zeros left and right.
    pub padding: usize,
    /// Further rows of zeros below and columns of zeros on the right.
    pub trailing: usize,
}

impl Conv2d {
    /// 3×3 with one row and column of zeros around: the size stays.
    pub const SAME_3X3: Self = Self { stride: 1, padding: 1, trailing: 0 };
    /// 1×1: a linear layer over the channels.
    pub const POINTWISE: Self = Self { stride: 1, padding: 0, trailing: 0 };
    /// 3×3 that halves the size, with one row and column of zeros around: the downsampler of a UNet.
    pub const HALVE_3X3: Self = Self { stride: 2, padding: 1, trailing: 0 };
    /// 3×3 that halves an even size, with zeros below and on the right only: the downsampler of
    /// `AutoencoderKL`.
    pub const HALVE_3X3_TRAILING: Self = Self { stride: 2, padding: 0, trailing: 1 };
}

/// Convolves `x` `[batch, in, height, width]` with `weight` `[out, in, rows, columns]` and adds `bias`
/// `[out]`.
///
/// On the CPU 3×3 and 1×1 kernels are summed in f32 and rounded once.
pub fn conv2d(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    let (_, _, rows, columns) = weight.dims4()?;
    if x.device().is_cpu() && rows == columns && matches!(rows, 1 | 3) && matches!(conv.stride, 1 | 2) {
        fused(x, weight, bias, conv)
    } else {
        plain(x, weight, bias, conv)
    }
}

fn plain(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    let mut wide = x.to_dtype(DType::F32)?;
    if conv.trailing > 0 {
        wide = wide.pad_with_zeros(2, 0, conv.trailing)?.pad_with_zeros(3, 0, conv.trailing)?;
    }
    let product = wide.conv2d(&weight.to_dtype(DType::F32)?, conv.padding, conv.stride, 1, 1)?;
    match bias {
        Some(bias) => {
            product.broadcast_add(&bias.to_dtype(DType::F32)?.reshape((1, bias.elem_count(), 1, 1))?)?
        }
        None => product,
    }
    .to_dtype(x.dtype())
}

/// Sizes of one convolution with a square kernel.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    channels: usize,
    height: usize,
    width: usize,
    out_channels: usize,
    out_height: usize,
    out_width: usize,
    /// Rows and columns of the kernel.
    kernel: usize,
    stride: usize,
    /// Zeros above and on the left. Those below and on the right follow from the size of the result.
    padding: usize,
}

impl Sizes {
    fn of(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv2d) -> Result<Self> {
        let (_, channels, height, width) = x.dims4()?;
        let (out_channels, expected, kernel, _) = weight.dims4()?;
        if channels != expected {
            bail!("a convolution over {expected} channels was given {channels}");
        }
        if let Some(bias) = bias
            && bias.dims() != [out_channels]
        {
            bail!("a convolution to {out_channels} channels was given a bias of shape {:?}", bias.dims());
        }
        let zeros = 2 * conv.padding + conv.trailing;
        if height + zeros < kernel || width + zeros < kernel {
            bail!("an input of {height}×{width} is too small for a kernel of {kernel}×{kernel}");
        }
        let steps = |length: usize| (length + zeros - kernel) / conv.stride + 1;
        Ok(Self {
            channels,
            height,
            width,
            out_channels,
            out_height: steps(height),
            out_width: steps(width),
            kernel,
            stride: conv.stride,
            padding: conv.padding,
        })
    }
}

fn fused(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    let sizes = Sizes::of(x, weight, bias, conv)?;
    let (input, kernels) = (contiguous(x)?, contiguous(weight)?);
    let (input, kernels) = (input.storage_and_layout(), kernels.storage_and_layout());
    let (input, kernels) = (values(&input)?, values(&kernels)?);
    let bias = match bias {
        Some(bias) => bias.to_dtype(DType::F32)?.to_vec1::<f32>()?,
        None => vec![0.0; sizes.out_channels],
    };
    let shape = (x.dim(0)?, sizes.out_channels, sizes.out_height, sizes.out_width);
    let mut out = vec![0.0; shape.0 * shape.1 * shape.2 * shape.3];
    if !out.is_empty() {
        if winograd::suits(sizes) {
            winograd::convolve(input, kernels, &bias, sizes, &mut out);
        } else {
            direct::convolve(input, kernels, &bias, sizes, &mut out);
        }
    }
    Tensor::from_vec(out, shape, x.device())?.to_dtype(x.dtype())
}

/// Cuts each plane of `planes` into blocks of `length` and gathers, for each picture and block, the parts of
/// all its channels.
fn blocks(planes: &mut [f32], channels: usize, plane: usize, length: usize) -> Vec<Vec<&mut [f32]>> {
    let gather = |picture| {
        let mut blocks: Vec<_> = (0..plane.div_ceil(length)).map(|_| Vec::with_capacity(channels)).collect();
        for plane in <[f32]>::chunks_mut(picture, plane) {
            for (block, part) in blocks.iter_mut().zip(plane.chunks_mut(length)) {
                block.push(part);
            }
        }
        blocks
    };
    planes.chunks_mut(channels * plane).flat_map(gather).collect()
}

/// Doubles height and width of `x` `[batch, channels, height, width]`, each pixel repeated.
pub fn upsample_nearest_2x(x: &Tensor) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    if !(x.device().is_cpu() && x.dtype() == DType::F32) || x.elem_count() == 0 {
        return x.upsample_nearest2d(height * 2, width * 2);
    }
    let input = x.contiguous()?;
    let input = input.storage_and_layout();
    let rows = values(&input)?;
    let mut out = vec![0.0; 4 * x.elem_count()];
    out.par_chunks_mut(4 * width).enumerate().with_min_len(16).for_each(|(row, out)| {
        let (first, second) = out.split_at_mut(2 * width);
        for (pair, value) in first.as_chunks_mut::<2>().0.iter_mut().zip(&rows[row * width..]) {
            *pair = [*value; 2];
        }
        second.copy_from_slice(first);
    });
    Tensor::from_vec(out, (batch, channels, height * 2, width * 2), x.device())
}
