//! Matrix products with weights.

use std::num::NonZeroUsize;

use candle_core::{D, DType, Result, Storage, Tensor, bail};
use half::bf16;
use pulp::Simd;
use rayon::prelude::*;

use crate::precision::{Encoding, Packed, rotate};

use super::cpu::{by_processor, contiguous, rounded, values, zeros};
use super::simd::{Rows, Scratch, Tile, Tiled, VECTORS, product_of_rows, rows_of, run, vectors_of_mut};
use super::{
    bf16_product, few_rows,
    operands::{Start, Weights},
    unpacked::unpacked,
};
use crate::nn::cuda;

/// Register tiles of input rows that share the weights in the cache.
pub(super) const PANELS: usize = 8;
/// Outputs per work item.
pub(in crate::nn) const OUTPUTS: usize = 64;
/// Inputs summed at a time.
const DEPTH: usize = 256;
/// Inputs whose weights are widened at a time when many rows share them. Packed rows are short: with a
/// smaller number, each read would wait for memory.
const WIDENED: usize = 4 * DEPTH;

/// A weight as it is held in memory: as floats, or packed as it is stored. Layers need not know which.
#[derive(Debug, Clone)]
pub enum Weight {
    /// Floats.
    Floats(Tensor),
    /// Packed bytes as they are in a file.
    Packed {
        /// A flat U8 tensor: the values, then the scales and the zero points.
        bytes: Tensor,
        /// How to decode the bytes.
        encoding: Encoding,
        /// Shape of the weight.
        shape: Vec<usize>,
    },
}

impl From<&Tensor> for Weight {
    fn from(tensor: &Tensor) -> Self {
        Self::Floats(tensor.clone())
    }
}

impl From<&Self> for Weight {
    fn from(weight: &Self) -> Self {
        weight.clone()
    }
}

impl Weight {
    fn dims2(&self) -> Result<(usize, usize)> {
        match self {
            Self::Floats(tensor) => tensor.dims2(),
            Self::Packed { shape, .. } => match shape[..] {
                [outputs, inputs] => Ok((outputs, inputs)),
                _ => bail!("a weight of shape {shape:?} is not a matrix"),
            },
        }
    }

    /// Its shape.
    pub fn dims(&self) -> &[usize] {
        match self {
            Self::Floats(tensor) => tensor.dims(),
            Self::Packed { shape, .. } => shape,
        }
    }

    /// Whether it is held in bf16, or packed.
    fn is_narrow(&self) -> bool {
        match self {
            Self::Floats(tensor) => tensor.dtype() == DType::BF16,
            Self::Packed { .. } => true,
        }
    }

    /// Hands its values, on the CPU, to `work`.
    fn read(&self, shape: [usize; 2], work: impl FnOnce(Weights<'_>)) -> Result<()> {
        let (held, encoding) = match self {
            Self::Floats(tensor) => (tensor.contiguous()?, None),
            Self::Packed { bytes, encoding, .. } => (bytes.contiguous()?, Some(*encoding)),
        };
        let (storage, layout) = held.storage_and_layout();
        let Storage::Cpu(storage) = &*storage else { bail!("the weights are not on the CPU") };
        work(Weights::new(storage, layout.start_offset(), shape, encoding)?);
        Ok(())
    }

    /// The same values in another shape.
    pub fn reshaped(&self, dims: &[usize]) -> Result<Self> {
        match self {
            Self::Floats(tensor) => Ok(Self::Floats(tensor.reshape(dims)?)),
            Self::Packed { bytes, encoding, .. } => {
                Ok(Self::Packed { bytes: bytes.clone(), encoding: *encoding, shape: dims.to_vec() })
            }
        }
    }

    /// The weight as a tensor of `dtype`.
    pub fn widened(&self, dtype: DType) -> Result<Tensor> {
        match self {
            Self::Floats(tensor) => tensor.to_dtype(dtype),
            Self::Packed { bytes, encoding, shape } if by_processor(bytes) => {
                widen(bytes, *encoding, shape, dtype)
            }
            Self::Packed { bytes, encoding, shape } => {
                let work = || cuda::widen(bytes, *encoding, shape, dtype);
                cuda::or_plain(bytes, work, || unpacked(bytes, *encoding, shape, dtype))
            }
        }
    }
}

/// Dequantizes a weight on the CPU.
fn widen(bytes: &Tensor, encoding: Encoding, shape: &[usize], dtype: DType) -> Result<Tensor> {
    let elements: usize = shape.iter().product();
    let mut values = vec![0.0; elements.next_multiple_of(encoding.unit())];
    match Packed::new(encoding, elements, &bytes.to_vec1::<u8>()?) {
        Some(packed) => packed.widen(0, &mut values),
        None => bail!("a weight of shape {shape:?} has {} bytes", bytes.elem_count()),
    }
    values.truncate(elements);
    Tensor::from_vec(values, shape, bytes.device())?.to_dtype(dtype)
}

/// A low-rank term next to a weight, such as a LoRA.
#[derive(Debug, Clone)]
pub struct LowRank {
    /// `[rank, in]`.
    pub down: Weight,
    /// `[out, rank]`.
    pub up: Weight,
    /// Factor of the product.
    pub scale: f32,
}

impl LowRank {
    /// The full product `scale · up · down`, `[out, in]`, as a tensor of `dtype`.
    pub fn product(&self, dtype: DType) -> Result<Tensor> {
        let (up, down) = (self.up.widened(DType::F32)?, self.down.widened(DType::F32)?);
        (linear(&up, &down.t()?.contiguous()?, None)? * f64::from(self.scale))?.to_dtype(dtype)
    }
}

/// `x · weightᵀ + bias`: `x` is `[…, in]`, `weight` is `[out, in]`, the result is `[…, out]`.
///
/// On the CPU everything is widened to f32, weights one block at a time, and the sum is rounded once. CPUs that multiply in
/// bf16 do so for inputs in bf16; packed weights are rounded to it.
pub fn linear(x: &Tensor, weight: impl Into<Weight>, bias: Option<&Tensor>) -> Result<Tensor> {
    linear_with(x, weight, bias, &[])
}

/// [`linear`] plus `scale · (x · downᵀ) · upᵀ` for each of `terms`, added before the sum is rounded.
pub fn linear_with(
    x: &Tensor,
    weight: impl Into<Weight>,
    bias: Option<&Tensor>,
    terms: &[LowRank],
) -> Result<Tensor> {
    let weight = weight.into();
    let (outputs, inputs) = weight.dims2()?;
    for term in terms {
        let (rank, from) = term.down.dims2()?;
        let to = term.up.dims2()?;
        if from != inputs || to != (outputs, rank) {
            bail!(
                "a term of [{rank}, {from}] and {to:?} does not fit a layer from {inputs} to {outputs} values"
            );
        }
    }
    if x.dim(D::Minus1)? != inputs || bias.is_some_and(|bias| bias.dims() != [outputs]) {
        bail!("a linear layer from {inputs} to {outputs} values got {:?}", x.dims());
    }
    if by_processor(x) {
        return fused(x, &weight, bias, terms);
    }
    let mut sum = plain(x, &weight.widened(x.dtype())?, bias)?;
    for term in terms {
        let inner = plain(x, &term.down.widened(x.dtype())?, None)?;
        let product = plain(&inner, &term.up.widened(x.dtype())?, None)?;
        sum = (sum + (product * f64::from(term.scale))?)?;
    }
    Ok(sum)
}

fn plain(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let (outputs, inputs) = weight.dims2()?;
    let mut shape = x.dims().to_vec();
    shape[x.rank() - 1] = outputs;
    let product = x.reshape(((), inputs))?.matmul(&weight.t()?)?;
    match bias {
        Some(bias) => {
            let bias = bias.to_dtype(x.dtype())?;
            let plain = || product.broadcast_add(&bias);
            cuda::or_plain(&product, || cuda::add_vector(&product, &bias), plain)?
        }
        None => product,
    }
    .reshape(shape)
}

fn fused(x: &Tensor, weight: &Weight, bias: Option<&Tensor>, terms: &[LowRank]) -> Result<Tensor> {
    let (outputs, inputs) = weight.dims2()?;
    let mut shape = x.dims().to_vec();
    shape[x.rank() - 1] = outputs;
    let bias = match bias {
        Some(bias) => bias.to_dtype(DType::F32)?.to_vec1::<f32>()?,
        None => vec![0.0; outputs],
    };
    let mut out = zeros(shape.iter().product());
    if !out.is_empty() {
        let rows = out.len() / outputs;
        let is_narrow = x.dtype() == DType::BF16 && in_bf16([rows, inputs], weight.is_narrow());
        if is_narrow {
            multiply_in_bf16(x, weight, &bias, inputs, &mut out)?;
        }
        if !is_narrow || !terms.is_empty() {
            let wide = contiguous(x)?;
            let wide = wide.storage_and_layout();
            let x_values = values(&wide)?;
            if !is_narrow {
                multiply_by(weight, x_values, Start::Bias(&bias), inputs, &mut out)?;
            }
            for term in terms {
                let (rank, _) = term.down.dims2()?;
                let mut inner = zeros(rows * rank);
                multiply_by(&term.down, x_values, Start::Bias(&vec![0.0; rank]), inputs, &mut inner)?;
                inner.iter_mut().for_each(|value| *value *= term.scale);
                multiply_by(&term.up, &inner, Start::There(outputs), rank, &mut out)?;
            }
        }
    }
    rounded(out, shape, x.dtype())
}

/// Whether the product of some rows in bf16 with weights that are bf16 or packed is computed in bf16.
pub(in crate::nn) fn in_bf16([rows, inputs]: [usize; 2], is_narrow: bool) -> bool {
    let fits = rows > few_rows::MOST && inputs > 0 && inputs.is_multiple_of(2);
    is_narrow && fits && bf16_product::is_available()
}

/// `out = bias + x · weightᵀ` for x in bf16.
fn multiply_in_bf16(x: &Tensor, weight: &Weight, bias: &[f32], inputs: usize, out: &mut [f32]) -> Result<()> {
    let x = x.contiguous()?;
    let (storage, layout) = x.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { bail!("the values are not on the CPU") };
    let rows = out.len() / bias.len();
    let x = &storage.as_slice::<bf16>()?[layout.start_offset()..][..rows * inputs];
    weight.read([bias.len(), inputs], |weights| {
        bf16_product::multiply(x, weights, Start::Bias(bias), inputs, out);
    })
}

/// `out = start + x · weightᵀ`.
fn multiply_by(weight: &Weight, x: &[f32], start: Start<'_>, inputs: usize, out: &mut [f32]) -> Result<()> {
    weight.read([start.outputs(), inputs], |weights| multiply(x, weights, start, inputs, out))
}

fn multiply(x: &[f32], weights: Weights, start: Start, inputs: usize, out: &mut [f32]) {
    let outputs = start.outputs();
    if out.len() / outputs <= few_rows::MOST {
        return few_rows::multiply(x, weights, start, inputs, out);
    }
    let (weights, rotation) = weights.without_rotation();
    let columns = Tile::detect().columns();
    let together = PANELS * columns;
    let mut panels = Scratch::default();
    let rows = out.len() / outputs;
    for (x, out) in x[..rows * inputs].chunks(together * inputs).zip(out.chunks_mut(together * outputs)) {
        let rows = x.len() / inputs;
        let width = rows.next_multiple_of(Tile::detect().lanes);
        let panels = panels.take(width * inputs);
        panels.par_chunks_mut(columns * inputs).zip(x.par_chunks(columns * inputs)).for_each(|(panel, x)| {
            run(Transpose { x, inputs, rotation, panel });
        });
        let mut work: Vec<Vec<&mut [f32]>> = Vec::with_capacity(outputs.div_ceil(OUTPUTS));
        work.resize_with(outputs.div_ceil(OUTPUTS), || Vec::with_capacity(rows));
        for row in out.chunks_mut(outputs) {
            for (work, part) in work.iter_mut().zip(row.chunks_mut(OUTPUTS)) {
                work.push(part);
            }
        }
        let panels = &*panels;
        work.into_par_iter().enumerate().for_each_init(Scratch::default, |scratch, (index, out)| {
            let first = index * OUTPUTS;
            let bias = match start {
                Start::Bias(bias) => Some(&bias[first..first + out[0].len()]),
                Start::There(_) => None,
            };
            run(Block { panels, weights, bias, inputs, first, out: Sink::Rows(out), scratch });
        });
    }
}

/// Scratch bytes of a product, without its input and its result.
pub(in crate::nn) fn scratch_bytes(rows: usize, inputs: usize, outputs: usize, threads: usize) -> usize {
    if rows <= few_rows::MOST {
        return few_rows::scratch_bytes(rows, inputs, outputs, threads);
    }
    let tile = Tile::detect();
    let width = rows.min(PANELS * tile.columns()).next_multiple_of(tile.lanes);
    let pieces = outputs.div_ceil(OUTPUTS);
    let piece = OUTPUTS.min(outputs);
    let widened = widened_inputs(width, inputs, tile.columns());
    let workers = threads.min(pieces) * piece * (width + widened) * size_of::<f32>();
    let lists = pieces * width.min(rows) * size_of::<&mut [f32]>();
    (width * inputs + outputs) * size_of::<f32>() + workers + lists
}

/// Number of inputs whose weights are widened at a time, for panels of `width`.
fn widened_inputs(width: usize, inputs: usize, columns: usize) -> usize {
    inputs.min(if width > columns { WIDENED } else { DEPTH })
}

/// Transposes a few input rows into a panel, `[in, row]`.
struct Transpose<'a> {
    x: &'a [f32],
    inputs: usize,
    /// The rotation to apply to the rows.
    rotation: Option<NonZeroUsize>,
    panel: &'a mut [f32],
}

impl Tiled for Transpose<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, _: S) {
        let width = self.panel.len() / self.inputs;
        let mut rotated = Vec::new();
        for (row, mut values) in self.x.chunks_exact(self.inputs).enumerate() {
            if let Some(rotation) = self.rotation {
                rotated.clear();
                rotated.extend_from_slice(values);
                rotated.chunks_exact_mut(rotation.get()).for_each(rotate);
                values = &rotated;
            }
            for (out, value) in self.panel.chunks_exact_mut(width).zip(values) {
                out[row] = *value;
            }
        }
    }
}

/// Where the outputs of a block go.
pub(super) enum Sink<'a> {
    /// The outputs of each row.
    Rows(Vec<&'a mut [f32]>),
    /// All rows of each output.
    Outputs(Vec<&'a mut [f32]>),
}

impl Sink<'_> {
    fn outputs(&self) -> usize {
        match self {
            Self::Rows(rows) => rows[0].len(),
            Self::Outputs(outputs) => outputs.len(),
        }
    }
}

/// A range of outputs, for all rows of the panels.
pub(super) struct Block<'a> {
    /// Panels of up to [`VECTORS`] vectors of rows, each `[in, row]`.
    pub panels: &'a [f32],
    pub weights: Weights<'a>,
    /// The initial value of the sums; `None` adds to what `out` holds.
    pub bias: Option<&'a [f32]>,
    pub inputs: usize,
    /// Index of the first output.
    pub first: usize,
    pub out: Sink<'a>,
    pub scratch: &'a mut Scratch,
}

impl Tiled for Block<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(mut self, simd: S) {
        let columns = VECTORS * S::F32_LANES;
        let width = self.panels.len() / self.inputs;
        let height = self.out.outputs();
        let widened = widened_inputs(width, self.inputs, columns);
        let scratch = self.scratch.take(height.next_multiple_of(R) * width + height * widened);
        let (sums, weights) = scratch.split_at_mut(height.next_multiple_of(R) * width);
        for (index, sums) in sums.chunks_mut(width).take(height).enumerate() {
            match (self.bias, &self.out) {
                (Some(bias), _) => sums.fill(bias[index]),
                (None, Sink::Rows(rows)) => {
                    sums.iter_mut().zip(rows).for_each(|(sum, row)| *sum = row[index]);
                }
                (None, Sink::Outputs(outputs)) => {
                    sums[..outputs[index].len()].copy_from_slice(outputs[index])
                }
            }
        }
        // With few rows the product is bound by reading weights, which is fastest in storage order.
        let together = if width > columns { height.next_multiple_of(R) } else { R };
        for group in (0..height).step_by(together) {
            let group = group..height.min(group + together);
            for piece in (0..self.inputs).step_by(widened) {
                let length = widened.min(self.inputs - piece);
                for (output, row) in group.clone().zip(weights.chunks_exact_mut(length)) {
                    self.weights.widen(simd, (self.first + output) * self.inputs + piece, row);
                }
                let weights = &weights[..group.len() * length];
                for start in (0..length).step_by(DEPTH) {
                    let depth = DEPTH.min(length - start);
                    for strip in (0..group.len()).step_by(R) {
                        let rows = rows_of::<R>(&weights[strip * length + start..], length, depth);
                        for first in (0..width).step_by(columns) {
                            let across = columns.min(width - first);
                            let place = first * self.inputs + (piece + start) * across;
                            let panel = (&self.panels[place..][..depth * across], across / S::F32_LANES);
                            let sums = &mut sums[(group.start + strip) * width + first..];
                            product_of_rows(simd, rows, panel, Sums { sums, width });
                        }
                    }
                }
            }
        }
        match &mut self.out {
            Sink::Rows(rows) => {
                for (row, out) in rows.iter_mut().enumerate() {
                    out.iter_mut().zip(sums.chunks_exact(width)).for_each(|(out, sums)| *out = sums[row]);
                }
            }
            Sink::Outputs(outputs) => {
                for (out, sums) in outputs.iter_mut().zip(sums.chunks_exact(width)) {
                    out.copy_from_slice(&sums[..out.len()]);
                }
            }
        }
    }
}

/// Sums in rows of `width`; products are added to them.
struct Sums<'a> {
    sums: &'a mut [f32],
    width: usize,
}

impl<S: Simd> Rows<S> for Sums<'_> {
    #[inline(always)]
    fn take(&mut self, simd: S, row: usize, values: &[S::f32s]) {
        let sums = vectors_of_mut::<S>(&mut self.sums[row * self.width..], values.len());
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = simd.add_f32s(*sum, *value);
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;
    use crate::precision::{Format, Zeros};

    #[test]
    fn products_are_those_of_candle() {
        for (rows, inputs, outputs) in
            [(1, 1, 1), (1, 300, 70), (5, 17, 3), (48, 256, 64), (77, 257, 65), (400, 40, 9), (13, 600, 130)]
        {
            let (x, weight) = (random(&[rows, inputs], 1), random(&[outputs, inputs], 2));
            let bias = random(&[outputs], 3);
            for bias in [None, Some(&bias)] {
                let want = plain(&x, &weight, bias).unwrap();
                assert_close(&linear(&x, &weight, bias).unwrap(), &want, 2e-6);
            }
        }
    }

    #[test]
    fn products_take_views_and_any_rank() {
        let (x, weight) = (random(&[3, 20, 4, 9], 1), random(&[20, 12], 2));
        let x = x.transpose(1, 3).unwrap().narrow(3, 8, 10).unwrap();
        let weight = weight.t().unwrap().narrow(1, 5, 10).unwrap();
        let want = plain(&x, &weight, None).unwrap();
        assert_close(&linear(&x, &weight, None).unwrap(), &want, 2e-6);
    }

    #[test]
    fn narrow_weights_are_widened_exactly() {
        let (x, weight) = (random(&[9, 300], 1), random(&[70, 300], 2));
        for dtype in [DType::BF16, DType::F16] {
            let narrow = weight.to_dtype(dtype).unwrap();
            let want = plain(&x, &narrow.to_dtype(DType::F32).unwrap(), None).unwrap();
            assert_close(&linear(&x, &narrow, None).unwrap(), &want, 2e-6);
            let got = linear(&x.to_dtype(dtype).unwrap(), &narrow, None).unwrap();
            assert_close(&got, &want.to_dtype(dtype).unwrap(), 1e-2);
        }
    }

    #[test]
    fn packed_weights_give_the_bits_of_widened_ones() {
        let bits = |x: &Tensor| -> Vec<u32> {
            x.flatten_all().unwrap().to_vec1::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
        };
        for format in Format::ALL {
            let is_long = format.block().0 == 256 || matches!(format, Format::I8 | Format::I4);
            let inputs = if is_long { 768 } else { 352 };
            let outputs = 70;
            let encodings = match format {
                Format::F8E4m3 | Format::F8E5m2 => {
                    vec![format.into(), Encoding::scaled(format, 70 * inputs), Encoding::scaled(format, 32)]
                }
                Format::I8 | Format::I4 => {
                    let rows = Encoding::scaled(format, inputs);
                    let groups = Encoding::scaled(format, 32);
                    vec![rows, groups.with_zeros(Zeros::Added), rows.rotated(64), rows.rotated(256)]
                }
                Format::Nf4 | Format::Fp4 => vec![Encoding::scaled(format, 64)],
                Format::E2m1 => vec![Encoding::scaled(format, 16)],
                _ => vec![format.into()],
            };
            for encoding in encodings {
                // Bytes below 60 decode to small numbers in every format, as values and as scales.
                let bytes: Vec<u8> =
                    (0..encoding.bytes(outputs * inputs)).map(|place| (place * 37 % 59) as u8).collect();
                let bytes = Tensor::from_vec(bytes, encoding.bytes(outputs * inputs), &Device::Cpu).unwrap();
                let packed = Weight::Packed { bytes, encoding, shape: vec![outputs, inputs] };
                let wide = packed.widened(DType::F32).unwrap();
                for rows in [1, 5, 200] {
                    let (x, bias) = (random(&[rows, inputs], 1), random(&[outputs], 3));
                    let want = linear(&x, &wide, Some(&bias)).unwrap();
                    let got = linear(&x, &packed, Some(&bias)).unwrap();
                    if encoding.rotation.is_some() {
                        // The rows of the input are rotated instead.
                        assert_close(&got, &want, 2e-6);
                    } else {
                        assert!(bits(&want) == bits(&got), "{encoding:?}, {rows} rows");
                    }
                    if format != Format::F64 {
                        assert!(
                            bits(&got).iter().any(|bits| bits & 0x7fff_ffff != 0),
                            "{encoding:?} is zero"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn terms_are_added_to_the_product() {
        for (rows, inputs, outputs, rank) in [(1, 9, 70, 1), (5, 300, 65, 4), (130, 64, 200, 16)] {
            let (x, weight) = (random(&[rows, inputs], 1), random(&[outputs, inputs], 2));
            let bias = random(&[outputs], 3);
            let term = |seed, scale| LowRank {
                down: (&random(&[rank, inputs], seed)).into(),
                up: (&random(&[outputs, rank], seed + 1)).into(),
                scale,
            };
            let terms = [term(4, 0.7), term(6, -1.5)];
            let sum = (&weight + terms[0].product(DType::F32).unwrap()).unwrap();
            let sum = (sum + terms[1].product(DType::F32).unwrap()).unwrap();
            let want = plain(&x, &sum, Some(&bias)).unwrap();
            assert_close(&linear_with(&x, &weight, Some(&bias), &terms).unwrap(), &want, 3e-6);
            assert_independent_of_threads(|| linear_with(&x, &weight, Some(&bias), &terms).unwrap());
        }
        let term =
            LowRank { down: (&random(&[2, 4], 1)).into(), up: (&random(&[3, 1], 1)).into(), scale: 1.0 };
        assert!(linear_with(&random(&[1, 4], 1), &random(&[3, 4], 1), None, &[term]).is_err());
    }

    #[test]
    fn products_refuse_shapes_that_do_not_fit() {
        let (x, weight) = (random(&[2, 3], 1), random(&[4, 3], 2));
        assert!(linear(&x, &random(&[4, 5], 2), None).is_err());
        assert!(linear(&x, &weight, Some(&random(&[3], 3))).is_err());
        assert!(linear(&x, &weight.to_dtype(DType::F64).unwrap(), None).is_err());
    }

    #[test]
    fn products_are_the_same_on_any_number_of_threads() {
        let (x, weight) = (random(&[130, 300], 1), random(&[200, 300], 2));
        assert_independent_of_threads(|| linear(&x, &weight, None).unwrap());
    }
}
