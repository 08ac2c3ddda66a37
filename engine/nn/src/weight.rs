//! Weights as they are held in memory.

use candle_core::{DType, Result, bail};

use super::{
    Conv2d, Tensor, Trace,
    computed::{self, conv_path, in_8_bits, in_bf16},
    cost::{Computes, Cost},
    linear,
    tensor::Kind,
    trace::Traced,
};
use crate::precision::Encoding;

/// A weight: computed, as floats or packed as it is stored, or traced.
#[derive(Debug, Clone)]
pub enum Weight {
    /// With values.
    Computed(computed::Weight),
    /// With a shape.
    Traced(TracedWeight),
}

/// How a traced weight would be held.
#[derive(Debug, Clone)]
pub struct TracedWeight {
    /// The trace that records what is computed from it.
    pub trace: Trace,
    /// Its shape.
    pub dims: Vec<usize>,
    /// The dtype it is held in, if it is held as floats.
    pub dtype: DType,
    /// The encoding, if it is held packed.
    pub packed: Option<Encoding>,
}

impl From<computed::Weight> for Weight {
    fn from(weight: computed::Weight) -> Self {
        Self::Computed(weight)
    }
}

impl TracedWeight {
    fn dims2(&self) -> Result<(usize, usize)> {
        match self.dims[..] {
            [outputs, inputs] => Ok((outputs, inputs)),
            _ => bail!("a weight of shape {:?} is not a matrix", self.dims),
        }
    }

    fn elements(&self) -> usize {
        self.dims.iter().product()
    }

    /// The weight as a traced function input.
    fn input(&self) -> Traced {
        match self.packed {
            Some(encoding) => Traced::weight(&self.trace, &[encoding.bytes(self.elements())], DType::U8),
            None => Traced::weight(&self.trace, &self.dims, self.dtype),
        }
    }

    /// Zeros in its place.
    fn zeros(&self, input: &candle_core::Tensor) -> computed::Weight {
        match self.packed {
            Some(encoding) => {
                computed::Weight::Packed { bytes: input.clone(), encoding, shape: self.dims.clone() }
            }
            None => computed::Weight::Floats(input.clone()),
        }
    }

    /// Bytes a GPU takes to dequantize it before a product.
    fn unpacked(&self, dtype: DType) -> u64 {
        self.packed.map_or(0, |_| self.trace.costs(dtype).unpacked(self.elements()))
    }
}

impl Weight {
    /// Its shape.
    pub fn dims(&self) -> &[usize] {
        match self {
            Self::Computed(weight) => weight.dims(),
            Self::Traced(weight) => &weight.dims,
        }
    }

    /// The same values in another shape with as many.
    pub fn reshaped(&self, dims: &[usize]) -> Result<Self> {
        if self.dims().iter().product::<usize>() != dims.iter().product::<usize>() {
            bail!("a weight of shape {:?} cannot be reshaped to {dims:?}", self.dims());
        }
        match self {
            Self::Computed(weight) => Ok(Self::Computed(weight.reshaped(dims)?)),
            Self::Traced(weight) => Ok(Self::Traced(TracedWeight { dims: dims.to_vec(), ..weight.clone() })),
        }
    }

    /// The weight as a tensor of `dtype`.
    pub fn widened(&self, dtype: DType) -> Result<Tensor> {
        match self {
            Self::Computed(weight) => Ok(weight.widened(dtype)?.into()),
            Self::Traced(weight) if weight.packed.is_none() && weight.dtype == dtype => {
                Ok(Traced::weight(&weight.trace, &weight.dims, dtype).into())
            }
            Self::Traced(weight) => {
                let mut cost = weight.trace.costs(dtype).copy(weight.elements());
                cost.peak = cost.peak.max(weight.unpacked(dtype));
                Ok(weight.trace.run(cost, &weight.dims, dtype).into())
            }
        }
    }

    fn computed(&self) -> Result<&computed::Weight> {
        match self {
            Self::Computed(weight) => Ok(weight),
            Self::Traced(_) => bail!("a traced weight has no values"),
        }
    }

    fn traced(&self) -> Result<&TracedWeight> {
        match self {
            Self::Traced(weight) => Ok(weight),
            Self::Computed(_) => bail!("a computed weight among traced ones"),
        }
    }
}

impl From<&Tensor> for Weight {
    fn from(tensor: &Tensor) -> Self {
        match &tensor.0 {
            Kind::Computed(values) => Self::Computed(values.into()),
            Kind::Traced(traced) => Self::Traced(TracedWeight {
                trace: traced.trace().clone(),
                dims: traced.dims().to_vec(),
                dtype: traced.dtype,
                packed: None,
            }),
        }
    }
}

/// Convolves `x` `[batch, in, height, width]` with `weight` `[out, in, rows, columns]` and adds `bias`
/// `[out]`.
///
/// On the CPU the weight is widened to f32 as it is needed, and 3×3 and 1×1 kernels accumulate in f32 and round
/// once.
pub fn conv2d(x: &Tensor, weight: impl Into<Weight>, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    let weight = weight.into();
    match &x.0 {
        Kind::Computed(values) => {
            let weight = match weight.computed()? {
                computed::Weight::Floats(weight) => weight.clone(),
                packed @ computed::Weight::Packed { .. } => packed.widened(values.dtype())?,
            };
            Ok(computed::conv2d(values, &weight, bias.map(Tensor::computed).transpose()?, conv)?.into())
        }
        Kind::Traced(traced) => trace_conv(traced, weight.traced()?, bias, conv),
    }
}

/// Convolves frames over time: the result is that of the last frame. `frames` are `[batch, in, height, width]`,
/// the oldest first and at most as many as the kernel spans; earlier frames count as zeros. `weight` is `[out, in,
/// frames, rows, columns]`, `bias` is `[out]`.
///
/// This is [`conv2d`] over the channels of all frames.
pub fn conv3d(frames: &[&Tensor], weight: &Weight, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    let (&[outputs, inputs, span, rows, columns], Some(newest)) = (weight.dims(), frames.last()) else {
        bail!("a convolution of {} frames with a kernel of shape {:?}", frames.len(), weight.dims());
    };
    let count = frames.len();
    if count > span {
        bail!("a convolution over {span} frames got {count}");
    }
    let dims = [outputs, inputs * count, rows, columns];
    let kernel = if count < span {
        let kernel = weight.widened(newest.dtype())?.narrow(2, span - count, count)?.contiguous()?;
        Weight::from(&kernel.reshape(&dims)?)
    } else {
        weight.reshaped(&dims)?
    };
    if count == 1 {
        return conv2d(newest, kernel, bias, conv);
    }
    let (batch, _, height, width) = newest.dims4()?;
    let joined = Tensor::stack(frames, 2)?.reshape((batch, inputs * count, height, width))?;
    conv2d(&joined, kernel, bias, conv)
}

fn trace_conv(x: &Traced, weight: &TracedWeight, bias: Option<&Tensor>, conv: Conv2d) -> Result<Tensor> {
    let (&[batch, inputs, height, width], &[outputs, expected, side, across]) = (x.dims(), &*weight.dims)
    else {
        bail!("a convolution of {:?} with {:?}", x.dims(), weight.dims)
    };
    if inputs != expected {
        bail!("a convolution over {expected} channels got {inputs}");
    }
    let zeros = 2 * conv.padding + conv.trailing;
    let steps = |length: usize| (length + zeros).saturating_sub(side) / conv.stride + 1;
    let size = [steps(height), steps(width)];
    let mut costs = x.trace().costs(x.dtype);
    costs.widens = match x.trace().computes() {
        Computes::Processor { .. } => weight.dtype != DType::F32,
        Computes::Card(..) => weight.dtype != x.dtype,
    };
    let dtypes = [x.dtype, if weight.packed.is_some() { x.dtype } else { weight.dtype }];
    let path = conv_path(dtypes, [inputs, outputs], size, [side, across], conv);
    let mut cost = costs.conv(path, [batch, inputs, outputs], size, [side, conv.stride]);
    cost.peak += weight.unpacked(x.dtype) + x.reordering();
    let as_held = x.trace().computes().is_processor() && path.reads_as_held();
    if as_held {
        cost.peak += x.narrow_reordering();
    }
    let dims = [batch, outputs, size[0], size[1]];
    let input = weight.input();
    let result = x.trace().call("conv2d", &[x, &input], cost, (&dims, x.dtype), |values| {
        let bias = bias.map(|bias| candle_core::Tensor::zeros(bias.dims(), bias.dtype(), values[0].device()));
        let kernels = match weight.zeros(&values[1]) {
            computed::Weight::Floats(kernels) => kernels,
            packed @ computed::Weight::Packed { .. } => packed.widened(values[0].dtype())?,
        };
        computed::conv2d(&values[0], &kernels, bias.transpose()?.as_ref(), conv)
    })?;
    Ok(result.into())
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
    fn computed(&self) -> Result<computed::LowRank> {
        let (down, up) = (self.down.computed()?.clone(), self.up.computed()?.clone());
        Ok(computed::LowRank { down, up, scale: self.scale })
    }

    /// The full product `scale · up · down`, `[out, in]`, as a tensor of `dtype`.
    pub fn product(&self, dtype: DType) -> Result<Tensor> {
        if matches!(self.down, Weight::Computed(_)) {
            return Ok(self.computed()?.product(dtype)?.into());
        }
        let (up, down) = (self.up.widened(DType::F32)?, self.down.widened(DType::F32)?);
        let turned = down.transpose(0, 1)?.contiguous()?;
        (linear(&up, &turned, None)? * f64::from(self.scale))?.to_dtype(dtype)
    }
}

/// `x · weightᵀ + bias`, plus `scale · (x · downᵀ) · upᵀ` for each of `terms`, added before the sum is
/// rounded: `x` is `[…, in]`, `weight` is `[out, in]`, the result is `[…, out]`.
pub fn linear_with(x: &Tensor, weight: &Weight, bias: Option<&Tensor>, terms: &[LowRank]) -> Result<Tensor> {
    match &x.0 {
        Kind::Computed(values) => {
            let terms = terms.iter().map(LowRank::computed).collect::<Result<Vec<_>>>()?;
            let bias = bias.map(Tensor::computed).transpose()?;
            Ok(computed::linear_with(values, weight.computed()?, bias, &terms)?.into())
        }
        Kind::Traced(traced) => trace_linear(traced, weight.traced()?, bias, terms),
    }
}

fn trace_linear(
    x: &Traced,
    weight: &TracedWeight,
    bias: Option<&Tensor>,
    terms: &[LowRank],
) -> Result<Tensor> {
    let (outputs, inputs) = weight.dims2()?;
    let Some((&last, rows)) = x.dims().split_last() else { bail!("a linear layer got a scalar") };
    if last != inputs || bias.is_some_and(|bias| bias.dims() != [outputs]) {
        bail!("a linear layer from {inputs} to {outputs} values got {:?}", x.dims());
    }
    let mut dims = rows.to_vec();
    dims.push(outputs);
    let rows: usize = rows.iter().product();
    let trace = x.trace();
    let mut costs = trace.costs(x.dtype);
    costs.widens = weight.packed.is_none() && weight.dtype != x.dtype;
    let is_narrow = weight.packed.is_some() || weight.dtype == DType::BF16;
    costs.in_8_bits = in_8_bits(x.dtype, [rows, inputs], weight.packed);
    costs.in_bf16 = !costs.in_8_bits && x.dtype == DType::BF16 && in_bf16([rows, inputs], is_narrow);
    costs.is_rotated = weight.packed.as_ref().is_some_and(|packed| packed.rotation.is_some());
    costs.is_biased = bias.is_some();
    let mut cost = match terms {
        [] => costs.linear(rows, inputs, outputs),
        _ => costs.linear_with_terms(rows, inputs, outputs),
    };
    cost.peak += weight.unpacked(x.dtype) + x.reordering();
    if weight.packed.is_some() {
        cost.operations += costs.widening(inputs * outputs);
    }
    let on_card = !trace.computes().is_processor();
    let ranks = terms.iter().map(|term| Ok(term.down.traced()?.dims2()?.0)).collect::<Result<Vec<_>>>()?;
    if !on_card {
        // The product with the first factor, in f32.
        cost.peak += (rows * ranks.iter().max().unwrap_or(&0) * size_of::<f32>()) as u64;
    }
    if costs.in_bf16 || costs.in_8_bits && x.dtype == DType::BF16 {
        let copied = if x.layout.is_contiguous() { 0 } else { x.dtype.size_in_bytes() };
        let widened = if terms.is_empty() { 0 } else { size_of::<f32>() };
        cost.peak += (rows * inputs * copied.max(widened)) as u64;
    }
    let through = |rank: usize| 2.0 * rows as f64 * rank as f64 * (inputs + outputs) as f64;
    cost.operations += ranks.iter().map(|&rank| through(rank)).sum::<f64>();
    let input = weight.input();
    let mut sum = trace.call("linear", &[x, &input], cost, (&dims, x.dtype), |values| {
        let bias = bias.map(|bias| candle_core::Tensor::zeros(bias.dims(), bias.dtype(), values[0].device()));
        computed::linear(&values[0], weight.zeros(&values[1]), bias.transpose()?.as_ref())
    })?;
    for &rank in ranks.iter().filter(|_| on_card) {
        let plain = Cost { operations: 0.0, ..costs.linear(rows, inputs, rank) };
        let _inner = trace.run(plain, &[rows, rank], x.dtype);
        let plain = Cost { operations: 0.0, ..costs.linear(rows, rank, outputs) };
        let product = trace.run(plain, &dims, x.dtype);
        let _scaled = product.copied(&dims, x.dtype);
        sum = sum.copied(&dims, x.dtype);
    }
    Ok(sum.into())
}
