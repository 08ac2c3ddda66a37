//! Functions on tensors, computed or traced. [`computed`] holds the computations, [`cost`](super::cost) the
//! cost formulas.

mod attention;

use candle_core::{DType, Device as CandleDevice, Result, Tensor as Values, bail};

use super::{
    Device, Tensor, computed,
    cost::{Cost, Costs},
    tensor::Kind,
};

pub use attention::{
    attention, attention_with_bias, attention_with_grid_bias, attention_with_pair_bias, attention_with_sinks,
};

/// Applies a function of tensors of one dtype. On values it runs `compute`; on shapes it returns a tensor of
/// the shape, and charges the cost, that `take` gives.
pub(super) fn apply<const N: usize>(
    name: &'static str,
    inputs: [&Tensor; N],
    take: impl FnOnce(Costs) -> (Cost, Vec<usize>),
    compute: impl Fn([&Values; N]) -> Result<Values>,
) -> Result<Tensor> {
    let Kind::Traced(first) = &inputs[0].0 else {
        let mut values = [inputs[0].computed()?; N];
        for (values, input) in values.iter_mut().zip(inputs) {
            *values = input.computed()?;
        }
        return Ok(compute(values)?.into());
    };
    let (mut cost, dims) = take(first.trace().costs(first.dtype));
    let mut traced = [first; N];
    for (traced, input) in traced.iter_mut().zip(inputs) {
        *traced = input.traced()?;
        cost.peak += traced.reordering();
    }
    let result = first.trace().call(name, &traced, cost, (&dims, first.dtype), |values| {
        compute(std::array::from_fn(|index| &values[index]))
    })?;
    Ok(result.into())
}

/// [`apply`] for functions that the CPU computes of values as they are held: in 16 bits, too, it copies inputs of as many values
/// as the first that are in another order.
fn apply_as_held<const N: usize>(
    name: &'static str,
    inputs: [&Tensor; N],
    take: impl FnOnce(Costs) -> (Cost, Vec<usize>),
    compute: impl Fn([&Values; N]) -> Result<Values>,
) -> Result<Tensor> {
    let values = inputs[0].elem_count();
    let reordering = |input: &&Tensor| match &input.0 {
        Kind::Traced(x) if x.trace().computes().is_processor() && x.elements() == values => {
            x.narrow_reordering()
        }
        _ => 0,
    };
    let reordering: u64 = inputs.iter().map(reordering).sum();
    let take = |costs: Costs| {
        let (cost, dims) = take(costs);
        (Cost { peak: cost.peak + reordering, ..cost }, dims)
    };
    apply(name, inputs, take, compute)
}

/// A function whose result has the shape of its first input.
fn pointwise<const N: usize>(
    name: &'static str,
    inputs: [&Tensor; N],
    tensors: usize,
    compute: impl Fn([&Values; N]) -> Result<Values>,
) -> Result<Tensor> {
    let (values, dims) = (inputs[0].elem_count(), inputs[0].dims().to_vec());
    apply_as_held(name, inputs, |costs| (costs.pointwise(values, tensors), dims), compute)
}

/// An elementwise function of one tensor, for which the tensor library takes some `functions`.
fn activation(
    name: &'static str,
    x: &Tensor,
    functions: usize,
    compute: fn(&Values) -> Result<Values>,
) -> Result<Tensor> {
    let dims = x.dims().to_vec();
    let take = |costs: Costs| (costs.activation(x.elem_count(), functions), dims);
    apply_as_held(name, [x], take, |[x]| compute(x))
}

/// A norm of the first of `inputs`.
fn norm<const N: usize>(
    name: &'static str,
    inputs: [&Tensor; N],
    compute: impl Fn([&Values; N]) -> Result<Values>,
) -> Result<Tensor> {
    let (values, dims) = (inputs[0].elem_count(), inputs[0].dims().to_vec());
    apply_as_held(name, inputs, |costs| (costs.norm(values), dims), compute)
}

/// `x · weightᵀ + bias`: `x` is `[…, in]`, `weight` is `[out, in]`, the result is `[…, out]`.
///
/// On the CPU everything is widened to f32, weights one block at a time, and the sum is rounded once. CPUs that multiply in
/// bf16 do so if all is in it.
pub fn linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let (outputs, inputs) = weight.dims2()?;
    if x.dim(candle_core::D::Minus1)? != inputs {
        bail!("a linear layer from {inputs} to {outputs} values got {:?}", x.dims());
    }
    let mut dims = x.dims().to_vec();
    dims.pop();
    let rows = dims.iter().product();
    dims.push(outputs);
    let are_bf16 = [x, weight].iter().all(|input| input.dtype() == DType::BF16);
    let in_bf16 = are_bf16 && computed::in_bf16([rows, inputs], true);
    let take = |costs: Costs| (Costs { in_bf16, ..costs }.linear(rows, inputs, outputs), dims);
    match bias {
        Some(bias) => apply("linear", [x, weight, bias], take, |[x, weight, bias]| {
            computed::linear(x, weight, Some(bias))
        }),
        None => apply("linear", [x, weight], take, |[x, weight]| computed::linear(x, weight, None)),
    }
}

/// `x · sigmoid(x)`.
pub fn silu(x: &Tensor) -> Result<Tensor> {
    activation("silu", x, 1, computed::silu)
}

/// `silu(gate) · up`, the middle of a SwiGLU feed-forward.
pub fn silu_mul(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    pointwise("silu_mul", [gate, up], 2, |[gate, up]| computed::silu_mul(gate, up))
}

/// `x · sigmoid(gate)`, such as the output of a gated attention.
pub fn sigmoid_mul(gate: &Tensor, x: &Tensor) -> Result<Tensor> {
    let (values, dims) = (x.elem_count(), x.dims().to_vec());
    apply_as_held(
        "sigmoid_mul",
        [x, gate],
        |costs| (costs.product_of_two(values), dims),
        |[x, gate]| computed::sigmoid_mul(gate, x),
    )
}

/// GELU in its tanh approximation (Hendrycks and Gimpel 2016).
pub fn gelu_tanh(x: &Tensor) -> Result<Tensor> {
    activation("gelu_tanh", x, 1, computed::gelu_tanh)
}

/// `gelu_tanh(gate) · up`, the middle of T5's feed-forward.
pub fn gelu_tanh_mul(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    pointwise("gelu_tanh_mul", [gate, up], 2, |[gate, up]| computed::gelu_tanh_mul(gate, up))
}

/// `x · sigmoid(1.702 · x)`, the activation of OpenAI's CLIP.
pub fn quick_gelu(x: &Tensor) -> Result<Tensor> {
    activation("quick_gelu", x, 3, computed::quick_gelu)
}

/// Negative values times `slope`, the others unchanged (Maas et al. 2013).
pub fn leaky_relu(x: &Tensor, slope: f32) -> Result<Tensor> {
    let dims = x.dims().to_vec();
    let take = |costs: Costs| (costs.activation(x.elem_count(), 3), dims);
    apply_as_held("leaky_relu", [x], take, |[x]| computed::leaky_relu(x, slope))
}

/// [`leaky_relu`] of `x` `[batch, channels, …]` with a slope for each channel: `slopes` is `[channels]` (He et al. 2015,
/// arXiv:1502.01852).
pub fn prelu(x: &Tensor, slopes: &Tensor) -> Result<Tensor> {
    let dims = x.dims().to_vec();
    let take = |costs: Costs| (costs.activation(x.elem_count(), 3), dims);
    apply_as_held("prelu", [x, slopes], take, |[x, slopes]| computed::prelu(x, slopes))
}

/// Exact GELU: `x / 2 · (1 + erf(x / √2))`.
pub fn gelu(x: &Tensor) -> Result<Tensor> {
    activation("gelu", x, 1, computed::gelu)
}

/// `gelu(gate) · up`, the middle of ERNIE-Image's feed-forward.
pub fn gelu_mul(gate: &Tensor, up: &Tensor) -> Result<Tensor> {
    pointwise("gelu_mul", [gate, up], 2, |[gate, up]| computed::gelu_mul(gate, up))
}

/// `value · gelu(gate)` of `x` `[…, 2 · width]`, whose first half is the value and whose second half is the
/// gate (Shazeer 2020, arXiv:2002.05202).
pub fn geglu(x: &Tensor) -> Result<Tensor> {
    let mut dims = x.dims().to_vec();
    if let Some(last) = dims.last_mut() {
        *last /= 2;
    }
    let take = |costs: Costs| (costs.pointwise(x.elem_count() / 2, 2), dims);
    apply_as_held("geglu", [x], take, |[x]| computed::geglu(x))
}

/// `x + y`; both have the same shape.
pub fn add(x: &Tensor, y: &Tensor) -> Result<Tensor> {
    if x.dims() != y.dims() {
        bail!("values of shape {:?} cannot be added to {:?}", y.dims(), x.dims());
    }
    match &x.0 {
        Kind::Computed(values) => Ok(computed::add(values, y.computed()?)?.into()),
        Kind::Traced(traced) => {
            let take = |costs: Costs| (costs.copy(x.elem_count()), traced.dims().to_vec());
            apply("add", [x, y], take, |[x, y]| computed::add(x, y))
        }
    }
}

/// RMS norm over the last dimension: `x / sqrt(mean(x²) + eps) · weight` (Zhang and Sennrich 2019).
pub fn rms_norm(x: &Tensor, weight: &Tensor, eps: f64) -> Result<Tensor> {
    norm("rms_norm", [x, weight], |[x, weight]| computed::rms_norm(x, weight, eps))
}

/// [`rms_norm`] followed by [`modulate`], in one pass where the device has a fused kernel.
pub fn rms_norm_modulated(x: &Tensor, weight: &Tensor, eps: f64, scale: &Tensor) -> Result<Tensor> {
    match (&x.0, &weight.0, &scale.0) {
        (Kind::Computed(x), Kind::Computed(weight), Kind::Computed(scale)) => {
            Ok(computed::rms_norm_modulated(x, weight, eps, scale)?.into())
        }
        _ => modulate(&rms_norm(x, weight, eps)?, scale),
    }
}

/// Layer norm over the last dimension (Ba et al. 2016), with or without weight and bias.
pub fn layer_norm(x: &Tensor, parameters: Option<(&Tensor, &Tensor)>, eps: f64) -> Result<Tensor> {
    match parameters {
        Some((weight, bias)) => norm("layer_norm", [x, weight, bias], |[x, weight, bias]| {
            computed::layer_norm(x, Some(weight), Some(bias), eps)
        }),
        None => norm("layer_norm", [x], |[x]| computed::layer_norm(x, None, None, eps)),
    }
}

/// [`layer_norm`] without weight and bias, followed by [`scale_and_shift`], or by [`modulate`] if there is no
/// shift; in one pass where the device has a fused kernel.
pub fn layer_norm_modulated(x: &Tensor, eps: f64, scale: &Tensor, shift: Option<&Tensor>) -> Result<Tensor> {
    if let Kind::Computed(values) = &x.0 {
        let shift = shift.map(Tensor::computed).transpose()?;
        return Ok(computed::layer_norm_modulated(values, eps, scale.computed()?, shift)?.into());
    }
    let normed = layer_norm(x, None, eps)?;
    match shift {
        Some(shift) => scale_and_shift(&normed, scale, shift),
        None => modulate(&normed, scale),
    }
}

/// Group norm (Wu and He 2018) of `x` `[batch, channels, …]`; `weight` and `bias` are `[channels]`.
pub fn group_norm(x: &Tensor, groups: usize, weight: &Tensor, bias: &Tensor, eps: f64) -> Result<Tensor> {
    norm("group_norm", [x, weight, bias], |[x, weight, bias]| {
        computed::group_norm(x, groups, weight, bias, eps)
    })
}

/// [`group_norm`] followed by [`silu`], in one pass where the device has a fused kernel.
pub fn group_norm_silu(
    x: &Tensor,
    groups: usize,
    weight: &Tensor,
    bias: &Tensor,
    eps: f64,
) -> Result<Tensor> {
    norm("group_norm_silu", [x, weight, bias], |[x, weight, bias]| {
        computed::group_norm_silu(x, groups, weight, bias, eps)
    })
}

/// `√channels · x / ‖x‖ · weight` over the channels of each pixel of `x` `[batch, channels, …]`, followed by
/// [`silu`] if asked for; `weight` is `[channels]`.
pub fn channel_norm(x: &Tensor, weight: &Tensor, silu: bool) -> Result<Tensor> {
    let dims = x.dims().to_vec();
    let &[batch, channels, ..] = dims.as_slice() else { bail!("a norm over channels got {dims:?}") };
    let pixels = dims[2..].iter().product();
    let take = |costs: Costs| (costs.channel_norm([batch, channels, pixels]), dims);
    apply("channel_norm", [x, weight], take, |[x, weight]| computed::channel_norm(x, weight, silu))
}

/// Global response norm (Woo et al. 2023, arXiv:2301.00808) of `x` `[batch, tokens, width]`: `x · (1 + weight · r) + bias`,
/// where `r` is the norm of a channel over all tokens, divided by the mean of these norms over the channels. `weight` and
/// `bias` are `[width]`.
pub fn response_norm(x: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor> {
    let (batch, tokens, width) = x.dims3()?;
    let take = |costs: Costs| (costs.response_norm([batch, tokens, width]), vec![batch, tokens, width]);
    apply("response_norm", [x, weight, bias], take, |[x, weight, bias]| {
        computed::response_norm(x, weight, bias)
    })
}

/// Convolves each channel of `x` `[batch, height, width, channels]` with a kernel of its own: `weight` is `[channels, 1,
/// side, side]`, `bias` `[channels]`. `padding` rows and columns of zeros are on all four sides.
pub fn depthwise(x: &Tensor, weight: &Tensor, bias: &Tensor, padding: usize) -> Result<Tensor> {
    let (batch, height, width, channels) = x.dims4()?;
    let side = weight.dim(2)?;
    let smaller = |length: usize| (length + 2 * padding + 1).saturating_sub(side);
    let dims = [batch, smaller(height), smaller(width), channels];
    let take = |costs: Costs| (costs.depthwise(dims, side), dims.to_vec());
    apply("depthwise", [x, weight, bias], take, |[x, weight, bias]| {
        computed::depthwise(x, weight, bias, padding)
    })
}

/// `x · (1 + scale)`: `x` is `[batch, tokens, width]`, `scale` is `[batch, 1, width]` or `[1, 1, width]`.
pub fn modulate(x: &Tensor, scale: &Tensor) -> Result<Tensor> {
    pointwise("modulate", [x, scale], 1, |[x, scale]| computed::modulate(x, scale))
}

/// `x · (1 + scale) + shift`: `x` is `[batch, tokens, width]`, `scale` and `shift` are `[batch, 1, width]` or
/// `[1, 1, width]`.
pub fn scale_and_shift(x: &Tensor, scale: &Tensor, shift: &Tensor) -> Result<Tensor> {
    pointwise("scale_and_shift", [x, scale, shift], 1, |[x, scale, shift]| {
        computed::scale_and_shift(x, scale, shift)
    })
}

/// `x + gate · y`: `x` and `y` are `[batch, tokens, width]`, `gate` is `[batch, 1, width]` or `[1, 1, width]`.
pub fn gated_add(x: &Tensor, gate: &Tensor, y: &Tensor) -> Result<Tensor> {
    pointwise("gated_add", [x, gate, y], 2, |[x, gate, y]| computed::gated_add(x, gate, y))
}

/// Doubles height and width of `x` `[batch, channels, height, width]` by repeating each value.
pub fn upsample_nearest_2x(x: &Tensor) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let take = |costs: Costs| (costs.upsample(x.elem_count()), vec![batch, channels, 2 * height, 2 * width]);
    apply("upsample", [x], take, |[x]| computed::upsample_nearest_2x(x))
}

/// Resizes `x` `[batch, channels, height, width]` to these rows and columns by bilinear interpolation that keeps the pixels of
/// corners in the corners.
pub fn resize_bilinear(x: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    let (batch, channels, ..) = x.dims4()?;
    let dims = vec![batch, channels, rows, columns];
    let take = |costs: Costs| (costs.copy(dims.iter().product()), dims.clone());
    apply("resize_bilinear", [x], take, |[x]| x.contiguous()?.upsample_bilinear2d(rows, columns, true))
}

/// Resizes `x` `[batch, channels, height, width]` to these rows and columns by bilinear interpolation that keeps the edges of
/// pixels at the edges: PyTorch's `interpolate` without `align_corners`. A smaller result is not smoothed.
pub fn resize_between_edges(x: &Tensor, [rows, columns]: [usize; 2]) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    if [height, width] == [rows, columns] {
        return Ok(x.clone());
    }
    let dims = vec![batch, channels, rows, columns];
    let take = |costs: Costs| (costs.resize(x.elem_count(), dims.iter().product()), dims.clone());
    apply("resize_between_edges", [x], take, |[x]| computed::resize_between_edges(x, [rows, columns]))
}

/// What an image `[1, channels, height, width]` has where a flow leads: the pixel of column `x` and row `y` is that of the
/// column `x + flow[0]` and the row `y + flow[1]`, by bilinear interpolation. Beyond the edges the last pixels go on. `flow`
/// is `[1, 2, height, width]` in f32, because places are not known well enough in fewer bits.
pub fn warp(x: &Tensor, flow: &Tensor) -> Result<Tensor> {
    let (_, channels, height, width) = x.dims4()?;
    let take = |costs: Costs| (costs.warp(channels, height * width), x.dims().to_vec());
    apply("warp", [x, flow], take, |[x, flow]| computed::warp(x, flow))
}

/// Cosines and sines of the rotation angles, f32 `[tokens, head_dim / 2]` each.
#[derive(Debug, Clone)]
pub struct Rope {
    cos: Tensor,
    sin: Tensor,
}

impl Rope {
    /// Builds from angles in row-major order, `tokens` rows of `pairs` columns. Sines and cosines are
    /// computed from angles rounded to f32, as in the reference.
    pub fn from_angles(angles: &[f32], tokens: usize, pairs: usize, device: &Device) -> Result<Self> {
        let cos = angles.iter().map(|angle| angle.cos()).collect();
        let sin = angles.iter().map(|angle| angle.sin()).collect();
        Self::of(cos, sin, (tokens, pairs), device)
    }

    /// Builds from f64 angles and rounds only the sines and cosines, as FLUX.1 does.
    pub fn from_exact_angles(angles: &[f64], tokens: usize, pairs: usize, device: &Device) -> Result<Self> {
        let cos = angles.iter().map(|angle| angle.cos() as f32).collect();
        let sin = angles.iter().map(|angle| angle.sin() as f32).collect();
        Self::of(cos, sin, (tokens, pairs), device)
    }

    /// Builds from cosines and sines in row-major order, `tokens` rows of `pairs` columns.
    pub fn from_cosines_and_sines(
        [cos, sin]: [Vec<f32>; 2],
        tokens: usize,
        pairs: usize,
        device: &Device,
    ) -> Result<Self> {
        Self::of(cos, sin, (tokens, pairs), device)
    }

    fn of(cos: Vec<f32>, sin: Vec<f32>, shape: (usize, usize), device: &Device) -> Result<Self> {
        Ok(Self { cos: Tensor::from_vec(cos, shape, device)?, sin: Tensor::from_vec(sin, shape, device)? })
    }

    /// Appends the rotations of `other` along the tokens.
    pub fn concat(&self, other: &Self) -> Result<Self> {
        Ok(Self {
            cos: Tensor::cat(&[&self.cos, &other.cos], 0)?,
            sin: Tensor::cat(&[&self.sin, &other.sin], 0)?,
        })
    }
}

type Rotate = fn(&Values, &computed::Rope) -> Result<Values>;

fn rotate(
    name: &'static str,
    x: &Tensor,
    rope: &Rope,
    cost: impl Fn(Costs, usize) -> Cost,
    rotate: Rotate,
) -> Result<Tensor> {
    let take = |costs: Costs| (cost(costs, x.elem_count()), x.dims().to_vec());
    apply_as_held(name, [x, &rope.cos, &rope.sin], take, |[x, cos, sin]| {
        rotate(x, &computed::Rope { cos: cos.clone(), sin: sin.clone() })
    })
}

/// Rotates neighbouring pairs `(x₀, x₁), (x₂, x₃), …` of `x` `[batch, tokens, heads, head_dim]`, in f32.
pub fn rope_interleaved(x: &Tensor, rope: &Rope) -> Result<Tensor> {
    rotate("rope_interleaved", x, rope, Costs::rotation, computed::rope_interleaved)
}

/// Rotates `(x₀, x_{d/2}), (x₁, x_{d/2+1}), …` of `x` `[batch, tokens, heads, head_dim]`, the layout of
/// language models. Like them, computes in the dtype of `x`. With `head_dim` angles for a token, the two values of a pair are
/// rotated by angles of their own, as in ERNIE-Image.
pub fn rope_half(x: &Tensor, rope: &Rope) -> Result<Tensor> {
    let angles = 2 * rope.cos.elem_count();
    let cost = |costs: Costs, values| costs.rotation_of_halves(values, angles);
    rotate("rope_half", x, rope, cost, computed::rope_half)
}

/// Applies `change` to the values of `x`, row-major and in f32, on the host.
pub fn on_host(x: Tensor, change: impl FnOnce(&mut [f32])) -> Result<Tensor> {
    match x.0 {
        Kind::Computed(values) => {
            let (shape, dtype, device) = (values.shape().clone(), values.dtype(), values.device().clone());
            let mut host = values.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
            drop(values);
            change(&mut host);
            let changed = Values::from_vec(host, shape, &CandleDevice::Cpu)?;
            Ok(changed.to_device(&device)?.to_dtype(dtype)?.into())
        }
        Kind::Traced(ref traced) => {
            let wide = traced.copied(traced.dims(), DType::F32);
            let dtype = traced.dtype;
            drop(x);
            Ok(Tensor::from(wide).to_dtype(dtype)?)
        }
    }
}
