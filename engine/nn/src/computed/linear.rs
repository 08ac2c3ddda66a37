//! Matrix products with weights.

use candle_core::{D, DType, Result, Storage, Tensor, bail};
use half::bf16;

use crate::precision::{Encoding, Packed};

use super::{
    bf16_product::{self, Instruction, Method},
    cpu::{by_processor, contiguous, rounded, values, zeros},
    few_rows,
    operands::{Start, Weights},
    product,
    sums::Kept,
    unpacked::unpacked,
    whole_product::{self, Width, are_bytes, can_multiply},
};
use crate::cuda;

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

    /// How it is packed.
    fn encoding(&self) -> Option<Encoding> {
        match self {
            Self::Floats(_) => None,
            Self::Packed { encoding, .. } => Some(*encoding),
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
/// On the CPU everything is widened to f32, weights one block at a time, and the sum is rounded once. CPUs that multiply bf16
/// faster than f32 do so for inputs in bf16; packed weights are rounded to it.
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
    let count = shape.iter().product();
    let rows = count / outputs.max(1);
    let by = if count == 0 { By::Floats } else { By::of(x.dtype(), [rows, inputs], weight) };
    let is_narrow = x.dtype() == DType::BF16 && by != By::Floats;
    if is_narrow && terms.is_empty() {
        let mut out: Vec<bf16> = zeros(count);
        multiply_narrow(by, x, weight, &bias, inputs, &mut out)?;
        return Tensor::from_vec(out, shape, x.device());
    }
    let mut out = zeros(count);
    if !out.is_empty() {
        if is_narrow {
            multiply_narrow(by, x, weight, &bias, inputs, &mut out)?;
        }
        let wide = contiguous(x)?;
        let wide = wide.storage_and_layout();
        let x_values = values(&wide)?;
        if !is_narrow {
            multiply_by(by, weight, x_values, Start::Bias(&bias), inputs, &mut out)?;
        }
        for term in terms {
            let (rank, _) = term.down.dims2()?;
            let mut inner = zeros(rows * rank);
            multiply_by(By::Floats, &term.down, x_values, Start::Bias(&vec![0.0; rank]), inputs, &mut inner)?;
            inner.iter_mut().for_each(|value| *value *= term.scale);
            multiply_by(By::Floats, &term.up, &inner, Start::There(outputs), rank, &mut out)?;
        }
    }
    rounded(out, shape, x.dtype())
}

/// By what the CPU multiplies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// f32.
    Floats,
    /// bf16, or what stands for it.
    Bf16(Method),
    /// Whole numbers of 8 bits.
    Bytes,
}

impl By {
    fn of(dtype: DType, shape: [usize; 2], weight: &Weight) -> Self {
        if in_8_bits(dtype, shape, weight.encoding()) {
            return Self::Bytes;
        }
        let is_bf16 = dtype == DType::BF16 && in_bf16(shape, weight.is_narrow());
        Method::detect().filter(|_| is_bf16).map_or(Self::Floats, Self::Bf16)
    }
}

/// Whether the product of some rows in bf16 with weights that are bf16 or packed is computed in bf16.
pub(crate) fn in_bf16([rows, inputs]: [usize; 2], is_narrow: bool) -> bool {
    let fits = rows > few_rows::MOST && inputs > 0 && inputs.is_multiple_of(2);
    is_narrow && fits && Method::detect().is_some()
}

/// Whether the product of some rows with weights that are packed like this is computed in whole numbers of 8 bits.
pub(crate) fn in_8_bits(dtype: DType, [rows, inputs]: [usize; 2], encoding: Option<Encoding>) -> bool {
    let are_held = |encoding: Encoding| encoding.rounds_inputs && are_bytes(encoding, inputs);
    let fits = rows > few_rows::MOST && inputs > 0;
    fits && encoding.is_some_and(are_held) && rounds_inputs_in(dtype)
}

/// Whether this processor multiplies whole numbers of 8 bits faster than values of this type. Tiles of bf16 are faster still.
pub fn rounds_inputs_in(dtype: DType) -> bool {
    let is_slower = match dtype {
        DType::F32 => true,
        DType::BF16 => Method::detect() != Some(Method::By(Instruction::Tiles)),
        _ => false,
    };
    is_slower && can_multiply(Width::Bytes)
}

/// `out = bias + x · weightᵀ` for x in bf16, by something other than floats of 32 bits.
fn multiply_narrow<T: Kept>(
    by: By,
    x: &Tensor,
    weight: &Weight,
    bias: &[f32],
    inputs: usize,
    out: &mut [T],
) -> Result<()> {
    let x = x.contiguous()?;
    let (storage, layout) = x.storage_and_layout();
    let Storage::Cpu(storage) = &*storage else { bail!("the values are not on the CPU") };
    let rows = out.len() / bias.len();
    let x = &storage.as_slice::<bf16>()?[layout.start_offset()..][..rows * inputs];
    weight.read([bias.len(), inputs], |weights| match by {
        By::Bf16(method) => bf16_product::multiply(method, x, weights, Start::Bias(bias), inputs, out),
        _ => {
            let x = Weights::Bf16(x);
            whole_product::multiply(Width::Bytes, x, weights, Start::Bias(bias), inputs, out);
        }
    })
}

/// `out = start + x · weightᵀ` for x in f32.
fn multiply_by(
    by: By,
    weight: &Weight,
    x: &[f32],
    start: Start<'_>,
    inputs: usize,
    out: &mut [f32],
) -> Result<()> {
    weight.read([start.outputs(), inputs], |weights| match by {
        By::Bytes => whole_product::multiply(Width::Bytes, Weights::F32(x), weights, start, inputs, out),
        _ => multiply(x, weights, start, inputs, out),
    })
}

fn multiply(x: &[f32], weights: Weights, start: Start, inputs: usize, out: &mut [f32]) {
    if out.len() / start.outputs() <= few_rows::MOST {
        few_rows::multiply(x, weights, start, inputs, out);
    } else {
        product::multiply(x, weights, start, inputs, out);
    }
}

/// Scratch bytes of a product, without its input and its result.
pub(crate) fn scratch_bytes(
    rows: usize,
    inputs: usize,
    outputs: usize,
    threads: usize,
    is_rotated: bool,
) -> usize {
    if rows <= few_rows::MOST {
        few_rows::scratch_bytes(rows, inputs, outputs, threads)
    } else {
        product::scratch_bytes(rows, inputs, outputs, threads, is_rotated)
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::*;
    use crate::precision::{Format, Zeros};

    /// Integers with a scale for so many of them, one every 29 of which is the largest.
    fn integers(outputs: usize, inputs: usize, group: usize) -> (Weight, Tensor) {
        let encoding = Encoding::scaled(Format::I8, group).rounding_inputs();
        let values: Vec<u8> = (0..outputs * inputs).map(|place| (place * 73 % 255) as u8).collect();
        let scales = (0..encoding.tail(outputs * inputs)).map(|scale| 0.01 * (1 + scale % 7) as f32);
        let bytes: Vec<u8> = values.into_iter().chain(scales.flat_map(f32::to_le_bytes)).collect();
        let bytes = Tensor::from_vec(bytes.clone(), bytes.len(), &Device::Cpu).unwrap();
        let weight = Weight::Packed { bytes, encoding, shape: vec![outputs, inputs] };
        let wide = weight.widened(DType::F32).unwrap();
        (weight, wide)
    }

    /// Shapes and groups: of rows, of a part of one, of several.
    const IN_8_BITS: [([usize; 3], usize); 6] = [
        ([5, 128, 3], 128),
        ([17, 260, 40], 260),
        ([77, 512, 65], 128),
        ([385, 1024, 130], 2048),
        // In several pieces of the inputs, and of the rows.
        ([33, 4352, 71], 4352),
        ([1100, 8192, 33], 8192),
    ];

    #[test]
    fn products_in_8_bits_are_those_of_rounded_inputs() {
        if !can_multiply(Width::Bytes) {
            return;
        }
        for ([rows, inputs, outputs], group) in IN_8_BITS {
            let (weight, wide) = integers(outputs, inputs, group);
            // Whole numbers up to 127, which is in each group: nothing is rounded.
            let value = |place: usize| (place % inputs * 31 % 255) as f32 - 127.0;
            let value =
                |place: usize| if (place % inputs).is_multiple_of(128) { 127.0 } else { value(place) };
            let x: Vec<f32> = (0..rows * inputs).map(value).collect();
            let x = Tensor::from_vec(x, (rows, inputs), &Device::Cpu).unwrap();
            let bias = random(&[outputs], 3);
            for dtype in [DType::F32, DType::BF16] {
                let x = x.to_dtype(dtype).unwrap();
                assert_eq!(in_8_bits(dtype, [rows, inputs], weight.encoding()), rounds_inputs_in(dtype));
                let got = linear(&x, &weight, Some(&bias)).unwrap();
                assert_eq!(got.dtype(), dtype);
                let want = linear(&x.to_dtype(DType::F32).unwrap(), &wide, Some(&bias)).unwrap();
                let off = if dtype == DType::F32 { 1e-6 } else { 1.0 / 256.0 };
                assert_close(&got.to_dtype(DType::F32).unwrap(), &want, off);
            }
        }
    }

    #[test]
    fn products_in_8_bits_lose_less_than_one_percent() {
        if !can_multiply(Width::Bytes) {
            return;
        }
        for ([rows, inputs, outputs], group) in IN_8_BITS {
            let (weight, wide) = integers(outputs, inputs, group);
            // Most values are small, as in models, and some large.
            let x = (random(&[rows, inputs], 1).powf(3.0).unwrap() * 20.0).unwrap();
            let flat = |x: Tensor| x.flatten_all().unwrap().to_vec1::<f32>().unwrap();
            let want = flat(linear(&x, &wide, None).unwrap());
            let got = flat(linear(&x, &weight, None).unwrap());
            let error: f32 = got.iter().zip(&want).map(|(got, want)| (got - want).powi(2)).sum();
            let all: f32 = want.iter().map(|want| want * want).sum();
            let error = (error / all).sqrt();
            assert!(error > 1e-4 && error < 0.01, "{rows}, {inputs}, {outputs}: {error}");
        }
    }

    #[test]
    fn products_in_8_bits_take_terms_and_do_not_depend_on_threads() {
        if !can_multiply(Width::Bytes) {
            return;
        }
        let (weight, _) = integers(200, 128, 128);
        for dtype in [DType::F32, DType::BF16] {
            let x = random(&[500, 128], 1).to_dtype(dtype).unwrap();
            assert_independent_of_threads(|| linear(&x, &weight, None).unwrap());
            let all = linear(&x, &weight, None).unwrap().to_dtype(DType::F32).unwrap();
            let some = linear(&x.narrow(0, 3, 100).unwrap(), &weight, None).unwrap();
            assert_close(&some.to_dtype(DType::F32).unwrap(), &all.narrow(0, 3, 100).unwrap(), 0.0);
            let term = LowRank {
                down: (&random(&[4, 128], 3)).into(),
                up: (&random(&[200, 4], 4)).into(),
                scale: 0.5,
            };
            let more = linear(&x, &term.product(DType::F32).unwrap(), None).unwrap();
            let want = (&all + more.to_dtype(DType::F32).unwrap()).unwrap();
            let got = linear_with(&x, &weight, None, &[term]).unwrap().to_dtype(DType::F32).unwrap();
            assert_close(&got, &want, if dtype == DType::F32 { 1e-6 } else { 1.0 / 128.0 });
        }
    }

    /// Rows that read the weights once, halves of 16 bits, and weights that share no scales within groups stay floats.
    #[test]
    fn what_cannot_be_multiplied_in_8_bits_is_not_rounded() {
        let (weight, wide) = integers(40, 128, 32);
        let x = random(&[20, 128], 1);
        assert!(!in_8_bits(DType::F32, [20, 128], weight.encoding()));
        assert_close(&linear(&x, &weight, None).unwrap(), &linear(&x, &wide, None).unwrap(), 1e-6);
        let whole = integers(40, 128, 128).0.encoding();
        assert!(!in_8_bits(DType::F32, [few_rows::MOST, 128], whole));
        assert!(!in_8_bits(DType::F16, [20, 128], whole));
        assert_eq!(in_8_bits(DType::F32, [20, 128], whole), can_multiply(Width::Bytes));
        let exact = Encoding { rounds_inputs: false, ..whole.unwrap() };
        assert!(!in_8_bits(DType::F32, [20, 128], Some(exact)));
    }

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
