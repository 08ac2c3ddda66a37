//! Two-dimensional convolution.

mod direct;
mod in_bf16;
mod small;
mod winograd;

use candle_core::{DType, Result, Storage, Tensor, bail};

use super::{
    bf16_product::Instruction,
    cpu::{by_processor, contiguous, rounded, values, values_as, zeros},
    held::{AsHeld, Held, as_held},
    operands::Weights,
};
use crate::cuda;

/// The stride and padding of a convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conv2d {
    /// Stride in both directions, 1 or 2.
    pub stride: usize,
    /// Zero padding on all four sides.
    pub padding: usize,
    /// Additional zero padding at the bottom and on the right.
    pub trailing: usize,
    /// Whether tiles of an image must give the pixels of the whole, rounded to 16 bits: then pixels are not filtered four by
    /// four, so that what is around a tile changes less of their rounding.
    pub in_tiles: bool,
}

impl Conv2d {
    /// 3×3 with padding 1: keeps the size.
    pub const SAME_3X3: Self = Self { stride: 1, padding: 1, trailing: 0, in_tiles: false };
    /// The same for images that are computed in tiles.
    pub const SAME_3X3_IN_TILES: Self = Self { in_tiles: true, ..Self::SAME_3X3 };
    /// 1×1: a linear layer over the channels.
    pub const POINTWISE: Self = Self { padding: 0, ..Self::SAME_3X3 };
    /// 3×3 with stride 2 and padding 1, which halves the size: the downsampler of a UNet.
    pub const HALVE_3X3: Self = Self { stride: 2, ..Self::SAME_3X3 };
    /// 3×3 with stride 2 and padding only at the bottom and on the right, which halves an even size: the
    /// downsampler of `AutoencoderKL`.
    pub const HALVE_3X3_TRAILING: Self = Self { stride: 2, padding: 0, trailing: 1, ..Self::SAME_3X3 };
}

/// Rows, and columns, of kernels that are large: on GPUs they are applied row by row, in f32, so that the patches of one row are
/// in memory at a time.
pub(crate) const LARGE: usize = 9;

/// Convolves `x` `[batch, in, height, width]` with `weight` `[out, in, rows, columns]` and adds `bias`
/// `[out]`.
///
/// The weight may be held in 16-bit floats. On the CPU it is widened to f32 as it is needed, and 1×1, 3×3 and large
/// kernels accumulate in f32 and round once; Winograd's filtering takes larger tiles for values of 16 bits. Where all are in
/// bf16, CPUs that multiply it in tiles do so, and those that multiply it in pairs where nothing is filtered.
pub fn conv2d(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    let (_, _, rows, columns) = weight.dims4()?;
    if by_processor(x) && is_fused([rows, columns], conv.stride) {
        fused(x, weight, bias, conv)
    } else {
        plain(x, weight, bias, conv)
    }
}

fn is_fused([rows, columns]: [usize; 2], stride: usize) -> bool {
    rows == columns && (matches!(rows, 1 | 3) || rows >= LARGE) && matches!(stride, 1 | 2)
}

fn plain(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    // GPUs accumulate 16-bit values in f32 and round once; the tensor library on the CPU rounds partial sums.
    let is_wide = x.device().is_cpu() || is_by_rows(weight, conv);
    let dtype = if is_wide { DType::F32 } else { x.dtype() };
    let (values, weight) = (x.to_dtype(dtype)?, weight.to_dtype(dtype)?);
    let bias = bias.map(|bias| bias.to_dtype(dtype)).transpose()?;
    let composed = || {
        let product = product(&values, &weight, conv)?;
        let Some(bias) = &bias else { return Ok(product) };
        let plain = || product.broadcast_add(&bias.reshape((1, bias.elem_count(), 1, 1))?);
        cuda::or_plain(&product, || cuda::add_to_channels(&product, bias), plain)
    };
    cuda::or_plain(&values, || cuda::convolution(&values, &weight, bias.as_ref(), conv), composed)?
        .to_dtype(x.dtype())
}

/// A convolution by the tensor library, which for kernels of more than one pixel materializes the patches of the input.
fn product(x: &Tensor, weight: &Tensor, conv: Conv2d) -> Result<Tensor> {
    let (outputs, channels, rows, columns) = weight.dims4()?;
    if (rows, columns) == (1, 1) && conv == Conv2d::POINTWISE {
        let (batch, _, height, width) = x.dims4()?;
        let weight = weight.reshape((1, outputs, channels))?.broadcast_as((batch, outputs, channels))?;
        return weight.matmul(&x.flatten(2, 3)?.contiguous()?)?.reshape((batch, outputs, height, width));
    }
    if is_by_rows(weight, conv) {
        return by_rows(x, weight, conv.padding);
    }
    let padded = match conv.trailing {
        0 => x.clone(),
        trailing => x.pad_with_zeros(2, 0, trailing)?.pad_with_zeros(3, 0, trailing)?,
    };
    padded.conv2d(weight, conv.padding, conv.stride, 1, 1)
}

fn is_by_rows(weight: &Tensor, conv: Conv2d) -> bool {
    weight.dims()[2] >= LARGE && (conv.stride, conv.trailing) == (1, 0)
}

/// A convolution with the rows of a large kernel, one after the other.
fn by_rows(x: &Tensor, weight: &Tensor, padding: usize) -> Result<Tensor> {
    let padded = x.pad_with_zeros(2, padding, padding)?.pad_with_zeros(3, padding, padding)?;
    let side = weight.dim(2)?;
    let height = padded.dim(2)? + 1 - side;
    let row = |row: usize| {
        let rows = padded.narrow(2, row, height)?.contiguous()?;
        rows.conv2d(&weight.narrow(2, row, 1)?.contiguous()?, 0, 1, 1, 1)
    };
    (1..side).try_fold(row(0)?, |sum, number| sum + row(number)?)
}

/// How a convolution is computed on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Path {
    /// By an instruction for products in bf16, directly.
    InBf16(Instruction),
    /// By Winograd's minimal filtering of 2×2 pixels.
    WinogradByTwo,
    /// By Winograd's minimal filtering of 4×4 pixels.
    WinogradByFour,
    /// As a linear layer on patches of the whole image.
    Small,
    /// As products with patches of some pixels at a time.
    Direct,
}

impl Path {
    /// Whether values are read and written as they are held, and widened some at a time if at all.
    pub(crate) fn reads_as_held(self) -> bool {
        matches!(self, Self::InBf16(_) | Self::WinogradByTwo | Self::WinogradByFour)
    }

    fn of(sizes: Sizes, [values, kernels]: [DType; 2], conv: Conv2d) -> Self {
        let by_four =
            matches!(values, DType::F16 | DType::BF16) && !conv.in_tiles && winograd::four::suits(sizes);
        let in_bf16 = [values, kernels] == [DType::BF16; 2] && is_fused([sizes.kernel; 2], sizes.stride);
        match Instruction::detect().filter(|_| in_bf16) {
            // In pairs, products take half the time. Filtering leaves a quarter of them.
            Some(Instruction::Pairs) if by_four => Self::WinogradByFour,
            Some(instruction) => Self::InBf16(instruction),
            None if by_four => Self::WinogradByFour,
            None if winograd::two::suits(sizes) => Self::WinogradByTwo,
            None if small::is_small(sizes) => Self::Small,
            None => Self::Direct,
        }
    }
}

/// How a convolution with a result of this size is computed, with values and kernels of these types.
pub(crate) fn path(
    dtypes: [DType; 2],
    channels: [usize; 2],
    size: [usize; 2],
    [rows, columns]: [usize; 2],
    conv: Conv2d,
) -> Path {
    if rows != columns {
        return Path::Direct;
    }
    Path::of(Sizes::with_result(channels, size, rows, conv.stride), dtypes, conv)
}

/// The sizes of one convolution with a square kernel.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    channels: usize,
    height: usize,
    width: usize,
    out_channels: usize,
    out_height: usize,
    out_width: usize,
    /// Rows, and columns, of the kernel.
    kernel: usize,
    stride: usize,
    /// Padding at the top and on the left. The rest follows from the size of the result.
    padding: usize,
}

impl Sizes {
    /// Number of values that a result is the sum of.
    fn patch(self) -> usize {
        self.channels * self.kernel * self.kernel
    }

    /// Number of values in the kernels of all channels.
    fn kernel_values(self) -> usize {
        self.out_channels * self.patch()
    }

    /// Those of a convolution with this result, padded by half the kernel.
    fn with_result(
        [channels, out_channels]: [usize; 2],
        [out_height, out_width]: [usize; 2],
        kernel: usize,
        stride: usize,
    ) -> Self {
        let (height, width) = (out_height * stride, out_width * stride);
        let padding = kernel / 2;
        Self { channels, height, width, out_channels, out_height, out_width, kernel, stride, padding }
    }

    fn of(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, conv: Conv2d) -> Result<Self> {
        let (_, channels, height, width) = x.dims4()?;
        let (out_channels, expected, kernel, _) = weight.dims4()?;
        if channels != expected {
            bail!("a convolution over {expected} channels got {channels}");
        }
        if let Some(bias) = bias
            && bias.dims() != [out_channels]
        {
            bail!("a convolution to {out_channels} channels got a bias of shape {:?}", bias.dims());
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
    let bias = match bias {
        Some(bias) => bias.to_dtype(DType::F32)?.to_vec1::<f32>()?,
        None => vec![0.0; sizes.out_channels],
    };
    let shape = (x.dim(0)?, sizes.out_channels, sizes.out_height, sizes.out_width);
    let count = shape.0 * shape.1 * shape.2 * shape.3;
    let path = Path::of(sizes, [x, weight].map(Tensor::dtype), conv);
    let held = weight.contiguous()?;
    let held = held.storage_and_layout();
    if let Path::InBf16(instruction) = path {
        let input = x.contiguous()?;
        let input = input.storage_and_layout();
        let mut out = zeros(count);
        if count > 0 {
            let (input, kernels) = (values_as(&input)?, values_as(&held)?);
            in_bf16::convolve(instruction, input, kernels, &bias, sizes, &mut out);
        }
        return Tensor::from_vec(out, shape, x.device());
    }
    let (Storage::Cpu(kernels), layout) = (&*held.0, held.1) else { bail!("the weights are not on the CPU") };
    let kernels = Weights::new(kernels, layout.start_offset(), [sizes.out_channels, sizes.patch()], None)?;
    if matches!(path, Path::WinogradByTwo | Path::WinogradByFour) {
        return as_held(x.dtype(), ByWinograd { path, x, kernels, bias: &bias, sizes });
    }
    let wide = contiguous(x)?;
    let wide_held = wide.storage_and_layout();
    let mut out = zeros(count);
    if count > 0 {
        let input = values(&wide_held)?;
        match path {
            Path::Small => small::convolve(input, kernels, &bias, sizes, &mut out),
            _ => direct::convolve(input, kernels, &bias, sizes, &mut out),
        }
    }
    drop(wide_held);
    drop(wide);
    rounded(out, shape, x.dtype())
}

struct ByWinograd<'a> {
    path: Path,
    x: &'a Tensor,
    kernels: Weights<'a>,
    bias: &'a [f32],
    sizes: Sizes,
}

impl AsHeld for ByWinograd<'_> {
    fn of<T: Held>(self) -> Result<Tensor> {
        let Self { path, x, kernels, bias, sizes } = self;
        let input = x.to_dtype(T::DTYPE)?.contiguous()?;
        let held = input.storage_and_layout();
        let shape = (x.dim(0)?, sizes.out_channels, sizes.out_height, sizes.out_width);
        let mut out: Vec<T> = zeros(shape.0 * shape.1 * shape.2 * shape.3);
        if !out.is_empty() {
            let input = &values_as(&held)?[..x.elem_count()];
            if path == Path::WinogradByFour {
                winograd::four::convolve(input, kernels, bias, sizes, &mut out);
            } else {
                winograd::two::convolve(input, kernels, bias, sizes, &mut out);
            }
        }
        Tensor::from_vec(out, shape, x.device())
    }
}

/// Scratch bytes of the convolution of `images` together, without their input and their result. `widens` says whether the
/// kernels are held in 16-bit floats.
pub(crate) fn scratch_bytes(
    path: Path,
    [images, channels, out_channels]: [usize; 3],
    size: [usize; 2],
    [kernel, stride]: [usize; 2],
    widens: bool,
    threads: usize,
) -> usize {
    let sizes = Sizes::with_result([channels, out_channels], size, kernel, stride);
    let (values, blocks) = match path {
        Path::InBf16(instruction) => return in_bf16::scratch_bytes(instruction, sizes, images, threads),
        Path::WinogradByFour => return winograd::four::scratch_bytes(sizes, images, threads),
        Path::WinogradByTwo => winograd::two::scratch_values(sizes, images, widens, threads),
        Path::Small => (small::scratch_values(sizes, threads), 0),
        Path::Direct => direct::scratch_values(sizes, images, widens, threads),
    };
    values * size_of::<f32>() + images * blocks * out_channels * size_of::<&mut [f32]>()
}

/// Cuts each plane of `planes` into blocks of `length` and collects, per image and block, the slices of all
/// its channels.
fn blocks<T>(planes: &mut [T], channels: usize, plane: usize, length: usize) -> Vec<Vec<&mut [T]>> {
    let gather = |picture| {
        let mut blocks: Vec<_> = (0..plane.div_ceil(length)).map(|_| Vec::with_capacity(channels)).collect();
        for plane in <[T]>::chunks_mut(picture, plane) {
            for (block, part) in blocks.iter_mut().zip(plane.chunks_mut(length)) {
                block.push(part);
            }
        }
        blocks
    };
    planes.chunks_mut(channels * plane).flat_map(gather).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::check::{assert_close, assert_independent_of_threads, flat, random};
    use super::*;

    const INNER_3X3: Conv2d = Conv2d { padding: 0, ..Conv2d::SAME_3X3 };

    fn compare(input: [usize; 4], outputs: usize, kernel: usize, conv: Conv2d) {
        let x = random(&input, 1);
        let (weight, bias) = (random(&[outputs, input[1], kernel, kernel], 2), random(&[outputs], 3));
        let want = plain(&x, &weight, Some(&bias), conv).unwrap();
        assert_close(&conv2d(&x, &weight, Some(&bias), conv).unwrap(), &want, 2e-6);
    }

    #[test]
    fn convolutions_are_those_of_candle() {
        for conv in [Conv2d::SAME_3X3, INNER_3X3, Conv2d::HALVE_3X3, Conv2d::HALVE_3X3_TRAILING] {
            for input in [[1, 3, 3, 3], [2, 5, 7, 10], [1, 33, 17, 40], [1, 40, 9, 200], [2, 1, 64, 5]] {
                compare(input, 9, 3, conv);
            }
        }
        for stride in [1, 2] {
            compare([2, 70, 13, 19], 11, 1, Conv2d { stride, ..Conv2d::POINTWISE });
        }
    }

    #[test]
    fn winograd_tiles_reach_every_edge() {
        for (height, width) in [(40, 24), (41, 25), (24, 43), (5, 301), (301, 5), (4, 1001)] {
            for conv in [Conv2d::SAME_3X3, INNER_3X3] {
                compare([2, 17, height, width], 21, 3, conv);
            }
        }
        compare([1, 130, 32, 33], 70, 3, Conv2d::SAME_3X3);
    }

    #[test]
    fn large_kernels_are_fused_and_applied_row_by_row() {
        for (side, input) in [(17, [1, 6, 23, 31]), (9, [2, 5, 12, 20]), (17, [1, 3, 5, 90])] {
            let around = Conv2d { padding: side / 2, ..Conv2d::SAME_3X3 };
            compare(input, 9, side, around);
            let (x, weight) = (random(&input, 1), random(&[9, input[1], side, side], 2));
            let whole = x.conv2d(&weight, around.padding, 1, 1, 1).unwrap();
            assert_close(&by_rows(&x, &weight, around.padding).unwrap(), &whole, 2e-6);
            let halved = Conv2d { stride: 2, ..around };
            compare(input, 9, side, halved);
        }
    }

    #[test]
    fn other_kernels_are_left_to_candle() {
        compare([1, 4, 12, 12], 5, 5, Conv2d { padding: 2, ..Conv2d::SAME_3X3 });
        compare([1, 4, 12, 12], 5, 2, Conv2d { stride: 2, padding: 0, ..Conv2d::SAME_3X3 });
    }

    #[test]
    fn convolutions_take_views_and_half_width_floats() {
        let x = random(&[2, 20, 18, 30], 1).transpose(1, 3).unwrap().narrow(1, 5, 20).unwrap();
        let weight = random(&[3, 3, 20, 24], 2).permute((3, 2, 0, 1)).unwrap();
        let want = plain(&x, &weight, None, Conv2d::SAME_3X3).unwrap();
        assert_close(&conv2d(&x, &weight, None, Conv2d::SAME_3X3).unwrap(), &want, 2e-6);
        let (x, weight) = (x.to_dtype(DType::BF16).unwrap(), weight.to_dtype(DType::BF16).unwrap());
        let want = plain(&x, &weight, None, Conv2d::SAME_3X3).unwrap();
        assert_close(&conv2d(&x, &weight, None, Conv2d::SAME_3X3).unwrap(), &want, 1e-2);
    }

    #[test]
    fn kernels_of_half_width_give_the_bits_of_widened_ones() {
        for (input, kernel, conv) in [
            ([1, 20, 40, 33], 3, Conv2d::SAME_3X3),
            ([2, 20, 9, 8], 3, Conv2d::SAME_3X3),
            ([1, 20, 41, 33], 3, Conv2d::HALVE_3X3),
            ([1, 20, 40, 33], 1, Conv2d::POINTWISE),
        ] {
            let (x, bias) = (random(&input, 1), random(&[37], 3));
            for dtype in [DType::F16, DType::BF16] {
                let weight = random(&[37, 20, kernel, kernel], 2).to_dtype(dtype).unwrap();
                let wide = weight.to_dtype(DType::F32).unwrap();
                let want = conv2d(&x, &wide, Some(&bias), conv).unwrap();
                assert_eq!(flat(&conv2d(&x, &weight, Some(&bias), conv).unwrap()), flat(&want));
            }
        }
    }

    /// F(4×4, 3×3) on values in f32.
    fn by_four(x: &Tensor, weight: &Tensor, bias: &Tensor, conv: Conv2d) -> Tensor {
        let sizes = Sizes::of(x, weight, Some(bias), conv).unwrap();
        let kernels = flat(weight);
        let (path, bias, kernels) = (Path::WinogradByFour, &flat(bias), Weights::F32(&kernels));
        ByWinograd { path, x, kernels, bias, sizes }.of::<f32>().unwrap()
    }

    #[test]
    fn tiles_of_four_pixels_reach_every_edge() {
        for (channels, outputs, height, width) in [
            (17, 21, 40, 24),
            (20, 20, 41, 25),
            (16, 70, 24, 43),
            (40, 17, 5, 301),
            (16, 16, 301, 5),
            (16, 16, 4, 1001),
            (300, 65, 17, 18),
            (130, 33, 32, 33),
            // Many tiles, but more kernels than are transformed first: several blocks one after the other.
            (400, 336, 44, 70),
        ] {
            for conv in [Conv2d::SAME_3X3, INNER_3X3] {
                let (x, weight) =
                    (random(&[2, channels, height, width], 1), random(&[outputs, channels, 3, 3], 2));
                let bias = random(&[outputs], 3);
                let want = plain(&x, &weight, Some(&bias), conv).unwrap();
                assert_close(&by_four(&x, &weight, &bias, conv), &want, 1e-5);
            }
        }
    }

    #[test]
    fn convolutions_of_narrow_values_are_those_of_wide_ones_rounded_once() {
        for (height, width) in [(40, 24), (41, 25), (5, 301), (4, 1001)] {
            for conv in [Conv2d::SAME_3X3, INNER_3X3] {
                let (x, weight, bias) =
                    (random(&[2, 17, height, width], 1), random(&[21, 17, 3, 3], 2), random(&[21], 3));
                for dtype in [DType::F16, DType::BF16] {
                    let narrow = x.to_dtype(dtype).unwrap();
                    let wide = narrow.to_dtype(DType::F32).unwrap();
                    let want = by_four(&wide, &weight, &bias, conv).to_dtype(dtype).unwrap();
                    assert_eq!(flat(&conv2d(&narrow, &weight, Some(&bias), conv).unwrap()), flat(&want));
                    let conv = Conv2d { in_tiles: true, ..conv };
                    let want = conv2d(&wide, &weight, Some(&bias), conv).unwrap().to_dtype(dtype).unwrap();
                    assert_eq!(flat(&conv2d(&narrow, &weight, Some(&bias), conv).unwrap()), flat(&want));
                }
            }
        }
    }

    #[test]
    fn bf16_is_filtered_where_it_is_not_multiplied_in_tiles() {
        let (x, weight, bias) = (random(&[1, 20, 33, 29], 1), random(&[18, 20, 3, 3], 2), random(&[18], 3));
        let [narrow, kernels] = [&x, &weight].map(|wide| wide.to_dtype(DType::BF16).unwrap());
        let [wide, wide_kernels] = [&narrow, &kernels].map(|narrow| narrow.to_dtype(DType::F32).unwrap());
        let filtered = by_four(&wide, &wide_kernels, &bias, Conv2d::SAME_3X3).to_dtype(DType::BF16).unwrap();
        let got = conv2d(&narrow, &kernels, Some(&bias), Conv2d::SAME_3X3).unwrap();
        let in_tiles = Instruction::detect() == Some(Instruction::Tiles);
        assert_eq!(flat(&got) == flat(&filtered), !in_tiles);
    }

    #[test]
    fn images_together_give_the_bits_of_each_alone() {
        // Alone there are few tiles, so that the input is transformed first; together the kernels are.
        let (x, weight, bias) =
            (random(&[12, 150, 18, 17], 1), random(&[200, 150, 3, 3], 2), random(&[200], 3));
        let x = x.to_dtype(DType::BF16).unwrap();
        let all = conv2d(&x, &weight, Some(&bias), Conv2d::SAME_3X3).unwrap();
        for image in [0, 5, 11] {
            let alone = x.narrow(0, image, 1).unwrap();
            let alone = conv2d(&alone, &weight, Some(&bias), Conv2d::SAME_3X3).unwrap();
            assert_eq!(flat(&alone), flat(&all.narrow(0, image, 1).unwrap()));
        }
    }

    #[test]
    fn convolutions_refuse_shapes_that_do_not_fit() {
        let x = random(&[1, 4, 2, 2], 1);
        assert!(conv2d(&x, &random(&[3, 5, 3, 3], 2), None, Conv2d::SAME_3X3).is_err());
        assert!(conv2d(&x, &random(&[3, 4, 3, 3], 2), None, INNER_3X3).is_err());
        let bias = random(&[2], 3);
        assert!(conv2d(&x, &random(&[3, 4, 3, 3], 2), Some(&bias), Conv2d::SAME_3X3).is_err());
    }

    #[test]
    fn convolutions_are_the_same_on_any_number_of_threads() {
        for (input, outputs) in [([1, 20, 50, 70], 40), ([1, 140, 20, 20], 200)] {
            let (x, weight) = (random(&input, 1), random(&[outputs, input[1], 3, 3], 2));
            for dtype in [DType::F32, DType::F16] {
                let x = x.to_dtype(dtype).unwrap();
                for conv in [Conv2d::SAME_3X3, Conv2d::HALVE_3X3] {
                    assert_independent_of_threads(|| conv2d(&x, &weight, None, conv).unwrap());
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn any_convolution_is_that_of_candle(
            input in (1usize..3, 1usize..40, 3usize..45, 3usize..45),
            outputs in 1usize..40,
            (kernel, padding) in prop_oneof![Just((1, 0)), Just((3, 0)), Just((3, 1))],
            stride in 1usize..3,
            trailing in 0usize..2,
        ) {
            let input = [input.0, input.1, input.2, input.3];
            compare(input, outputs, kernel, Conv2d { stride, padding, trailing, in_tiles: false });
        }
    }
}
