//! Runs every CUDA kernel on a GPU: checks its result, and compares its speed with the plain composition.

use std::time::{Duration, Instant};

use candle_core::{DType, Device, Result, Tensor, bail};
use serde::{Deserialize, Serialize};

use sluice_engine::{
    checkpoint::Role,
    memory::MemoryPreferences,
    nn::{
        computed::{
            Conv2d, Mask, Rope, Weight, attention, attention_with_bias, conv2d, gated_add, geglu,
            gelu_tanh_mul, group_norm_silu, layer_norm_modulated, linear, rms_norm_modulated, rope_half,
            rope_interleaved, scale_and_shift, silu_mul,
        },
        cuda::{enabled, switch},
    },
    pipeline::dtype_of,
    precision::{Encoding, Format, NF4_GROUP, encode},
    request::ComputeDtype,
    session::Failure,
};

use super::ceilings::target;

/// Number of rows compared with the CPU's result.
const FEW: usize = 130;
/// The error of long sums in f32 at most.
const LONG_SUMS: f64 = 2e-5;
/// Minimum duration of each timing.
const TIME: Duration = Duration::from_millis(60);
/// Width of rows, as in FLUX.1.
const WIDTH: usize = 3072;

/// The result for one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The function.
    pub name: String,
    /// Its dtype.
    pub dtype: String,
    /// Largest difference from the CPU's f32 result, relative to the largest value.
    pub error: f64,
    /// The same for the plain composition.
    pub plain_error: f64,
    /// Whether the kernel's error is within the tolerance, or that of long sums, which the plain composition has too.
    pub is_right: bool,
    /// Seconds per call.
    pub seconds: f64,
    /// Seconds per call of the plain composition.
    pub plain_seconds: f64,
}

/// A function that has a kernel.
struct Case {
    name: &'static str,
    function: Function,
}

enum Function {
    /// A function of tensors with a given number of rows.
    Values { given: fn(usize) -> Result<Vec<Tensor>>, compute: fn(&[Tensor]) -> Result<Tensor> },
    /// The same of one whose result is rounded before a bias is added.
    Sum { given: fn(usize) -> Result<Vec<Tensor>>, compute: fn(&[Tensor]) -> Result<Tensor> },
    /// A function of heads and angles.
    Rotation(fn(&Tensor, &Rope) -> Result<Tensor>),
    /// Dequantization of a packed matrix.
    Unpacking(Format),
}

/// Runs every CUDA kernel in this precision on the GPU that a job would use: checks results, and times `rows`
/// rows. Nothing else should compute meanwhile.
///
/// # Errors
/// Fails if this engine uses no GPU, or the GPU fails.
pub fn kernel_trials(dtype: ComputeDtype, rows: usize) -> std::result::Result<Vec<Trial>, Failure> {
    let target = target(&MemoryPreferences::default())?;
    if target.computes().is_processor() {
        return Err(Failure {
            message: "this program does not use a GPU, and the kernels need one".to_owned(),
            advice: Some("Run `sluice-cuda bench kernels` on a machine with an NVIDIA GPU.".to_owned()),
        });
    }
    let dtype = dtype_of(Role::Denoiser, dtype);
    let tried = trials(target.memory().device(), dtype, rows);
    #[cfg(feature = "cuda")]
    let tried = tried.and_then(|mut tried| {
        // In f32 there is no kernel for attention, and its composition copies strides from the host while it is recorded.
        if dtype != DType::F32 {
            tried.extend(super::graphs::trials(dtype)?);
        }
        Ok(tried)
    });
    tried.map_err(|error| Failure {
        message: format!("{} failed during a trial: {error}", target.machine.device),
        advice: None,
    })
}

/// Runs every kernel in a dtype on a device, timing functions of `rows` rows. Without a GPU there are no
/// kernels, and only plain compositions run.
///
/// # Errors
/// Fails if the device fails.
pub fn trials(device: &Device, dtype: DType, rows: usize) -> Result<Vec<Trial>> {
    let before = enabled();
    let all = CASES.iter().map(|case| case.tried(device, dtype, rows)).collect();
    switch(before);
    all
}

impl Case {
    const fn of_values(
        name: &'static str,
        given: fn(usize) -> Result<Vec<Tensor>>,
        compute: fn(&[Tensor]) -> Result<Tensor>,
    ) -> Self {
        Self { name, function: Function::Values { given, compute } }
    }

    const fn of_sum(
        name: &'static str,
        given: fn(usize) -> Result<Vec<Tensor>>,
        compute: fn(&[Tensor]) -> Result<Tensor>,
    ) -> Self {
        Self { name, function: Function::Sum { given, compute } }
    }

    const fn of_angles(name: &'static str, compute: fn(&Tensor, &Rope) -> Result<Tensor>) -> Self {
        Self { name, function: Function::Rotation(compute) }
    }

    const fn of_packed(name: &'static str, format: Format) -> Self {
        Self { name, function: Function::Unpacking(format) }
    }

    fn tried(&self, device: &Device, dtype: DType, rows: usize) -> Result<Trial> {
        let wide = self.prepared(FEW, dtype, &Device::Cpu)?;
        let want = match self.function {
            // Must be rounded once, bit-identical.
            Function::Unpacking(_) => flat(&wide(DType::F32)?.to_dtype(dtype)?)?,
            _ => flat(&wide(DType::F32)?)?,
        };
        let largest = want.iter().fold(0f32, |largest, value| largest.max(value.abs()));
        let own = self.prepared(FEW, dtype, device)?;
        let error = |on| -> Result<f64> {
            switch(on);
            Ok(distance(&flat(&own(dtype)?)?, &want) / f64::from(largest))
        };
        let (plain_error, own_error) = (error(false)?, error(true)?);
        let many = self.prepared(rows, dtype, device)?;
        let seconds = |on| {
            switch(on);
            timed(device, || many(dtype))
        };
        Ok(Trial {
            name: self.name.to_owned(),
            dtype: dtype.as_str().to_owned(),
            error: own_error,
            plain_error,
            is_right: own_error <= self.allowed(dtype).max(plain_error.min(LONG_SUMS)),
            plain_seconds: seconds(false)?,
            seconds: seconds(true)?,
        })
    }

    /// The function with its inputs on a device, exactly representable in `dtype`, ready to be computed in
    /// any dtype.
    fn prepared(
        &self,
        rows: usize,
        dtype: DType,
        device: &Device,
    ) -> Result<Box<dyn Fn(DType) -> Result<Tensor>>> {
        let given = |tensors: Vec<Tensor>| -> Result<Vec<Tensor>> {
            tensors.iter().map(|tensor| tensor.to_dtype(dtype)?.to_device(device)).collect()
        };
        let in_dtype = |tensors: &[Tensor], dtype| -> Result<Vec<Tensor>> {
            tensors.iter().map(|tensor| tensor.to_dtype(dtype)).collect()
        };
        Ok(match self.function {
            Function::Values { given: of_rows, compute } | Function::Sum { given: of_rows, compute } => {
                let given = given(of_rows(rows)?)?;
                Box::new(move |dtype| compute(&in_dtype(&given, dtype)?))
            }
            Function::Rotation(compute) => {
                let given = given(heads(rows, 128)?)?;
                let rope = Rope::from_angles(&numbers(4, rows * 64), rows, 64, device)?;
                Box::new(move |dtype| compute(&given[0].to_dtype(dtype)?, &rope))
            }
            Function::Unpacking(format) => {
                let weight = packed(format, rows, device)?;
                Box::new(move |dtype| weight.widened(dtype))
            }
        })
    }

    /// The tolerance: one unit in the last place of the largest value, two if sums are in the run's dtype,
    /// plus a few roundings of f32. Dequantized values are rounded only once.
    fn allowed(&self, dtype: DType) -> f64 {
        let unit = match dtype {
            DType::F16 => 2f64.powi(-11),
            DType::BF16 => 2f64.powi(-8),
            _ => 0.0,
        };
        match self.function {
            Function::Unpacking(_) => 0.0,
            Function::Rotation(_) | Function::Sum { .. } => 2.0 * unit + 4e-6,
            Function::Values { .. } => unit + 4e-6,
        }
    }
}

pub(super) fn flat(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.to_dtype(DType::F32)?.to_device(&Device::Cpu)?.flatten_all()?.to_vec1()
}

const CASES: &[Case] = &[
    Case::of_values("RMS norm, modulated", row_and_two_vectors, |given| {
        rms_norm_modulated(&given[0], &given[1].flatten_all()?, 1e-6, &given[2])
    }),
    Case::of_values("layer norm, modulated", row_and_two_vectors, |given| {
        layer_norm_modulated(&given[0], 1e-6, &given[1], Some(&given[2]))
    }),
    Case::of_values("group norm and SiLU", planes, |given| {
        group_norm_silu(&given[0], 32, &given[1], &given[2], 1e-5)
    }),
    Case::of_values("scale and shift", row_and_two_vectors, |given| {
        scale_and_shift(&given[0], &given[1], &given[2])
    }),
    Case::of_values("gated sum", two_rows_and_a_vector, |given| gated_add(&given[0], &given[2], &given[1])),
    Case::of_values("gated SiLU", two_rows_and_a_vector, |given| silu_mul(&given[0], &given[1])),
    Case::of_values("gated GELU, tanh approximation", two_rows_and_a_vector, |given| {
        gelu_tanh_mul(&given[0], &given[1])
    }),
    Case::of_values("gated GELU", two_rows_and_a_vector, |given| geglu(&given[0])),
    Case::of_sum("linear layer from 64, bias", inputs_weight_and_bias, |given| {
        linear(&given[0], &given[1], Some(&given[2]))
    }),
    Case::of_sum("1×1 convolution from 64, bias", pixels_weight_and_bias, |given| {
        conv2d(&given[0], &given[1], Some(&given[2]), Conv2d::POINTWISE)
    }),
    Case::of_values("3×3 convolution, 320 channels", |rows| planes_and_kernels(rows, 320, 320), convolve),
    Case::of_values(
        "3×3 convolution, 1280 channels",
        |rows| planes_and_kernels(rows.min(64), 1280, 1280),
        convolve,
    ),
    Case::of_values(
        "3×3 convolution, 128 channels, 8 times as large",
        |rows| planes_and_kernels(8 * rows, 128, 128),
        convolve,
    ),
    Case::of_values(
        "3×3 convolution, 128 channels to 3",
        |rows| planes_and_kernels(8 * rows, 128, 3),
        convolve,
    ),
    Case::of_angles("RoPE, interleaved", rope_interleaved),
    Case::of_angles("RoPE, half", rope_half),
    Case::of_values("attention, heads of 40", |rows| heads(rows, 40), attend),
    Case::of_values("attention, heads of 64", |rows| heads(rows, 64), attend),
    Case::of_values("attention, heads of 72", |rows| heads(rows, 72), attend),
    Case::of_values("attention, heads of 80", |rows| heads(rows, 80), attend),
    Case::of_values("attention, heads of 96", |rows| heads(rows, 96), attend),
    Case::of_values("attention, heads of 128", |rows| heads(rows, 128), attend),
    Case::of_values("attention, heads of 160", |rows| heads(rows, 160), attend),
    Case::of_values(
        "causal attention",
        |rows| heads(rows.min(512), 128),
        |given| attention(&given[0], &given[1], &given[2], Mask::Causal),
    ),
    Case::of_values(
        "attention with a bias",
        |rows| heads(rows.min(512), 64),
        |given| {
            let (tokens, heads) = (given[0].dim(1)?, given[0].dim(2)?);
            let bias = numbers(4, heads * (2 * tokens - 1));
            let bias = Tensor::from_vec(bias, (heads, 2 * tokens - 1), given[0].device())?;
            attention_with_bias(&given[0], &given[1], &given[2], &bias)
        },
    ),
    Case::of_packed("dequantization of fp8", Format::F8E4m3),
    Case::of_packed("dequantization of int8", Format::I8),
    Case::of_packed("dequantization of nf4", Format::Nf4),
    Case::of_packed("dequantization of Q8_0", Format::Q8_0),
    Case::of_packed("dequantization of Q4_K", Format::Q4K),
];

fn attend(given: &[Tensor]) -> Result<Tensor> {
    attention(&given[0], &given[1], &given[2], Mask::None)
}

fn row_and_two_vectors(rows: usize) -> Result<Vec<Tensor>> {
    Ok(vec![tensor(1, &[1, rows, WIDTH])?, tensor(2, &[1, 1, WIDTH])?, tensor(3, &[1, 1, WIDTH])?])
}

/// Few inputs, so that what follows the product takes most of the time.
fn inputs_weight_and_bias(rows: usize) -> Result<Vec<Tensor>> {
    Ok(vec![tensor(1, &[1, rows, 64])?, tensor(2, &[WIDTH, 64])?, tensor(3, &[WIDTH])?])
}

fn pixels_weight_and_bias(rows: usize) -> Result<Vec<Tensor>> {
    Ok(vec![tensor(1, &[1, 64, rows, 8])?, tensor(2, &[320, 64, 1, 1])?, tensor(3, &[320])?])
}

/// Planes of `rows` times eight pixels, kernels and bias.
fn planes_and_kernels(rows: usize, inputs: usize, outputs: usize) -> Result<Vec<Tensor>> {
    Ok(vec![tensor(1, &[1, inputs, rows, 8])?, tensor(2, &[outputs, inputs, 3, 3])?, tensor(3, &[outputs])?])
}

fn convolve(given: &[Tensor]) -> Result<Tensor> {
    conv2d(&given[0], &given[1], Some(&given[2]), Conv2d::SAME_3X3)
}

fn two_rows_and_a_vector(rows: usize) -> Result<Vec<Tensor>> {
    Ok(vec![tensor(1, &[1, rows, WIDTH])?, tensor(2, &[1, rows, WIDTH])?, tensor(3, &[1, 1, WIDTH])?])
}

fn planes(rows: usize) -> Result<Vec<Tensor>> {
    const CHANNELS: usize = 320;
    Ok(vec![tensor(1, &[1, CHANNELS, rows, 8])?, tensor(2, &[CHANNELS])?, tensor(3, &[CHANNELS])?])
}

fn heads(rows: usize, width: usize) -> Result<Vec<Tensor>> {
    (1..=3).map(|stream| tensor(stream, &[1, rows, WIDTH / 128, width])).collect()
}

pub(super) fn tensor(stream: u64, shape: &[usize]) -> Result<Tensor> {
    Tensor::from_vec(numbers(stream, shape.iter().product()), shape, &Device::Cpu)
}

/// Values between -2 and 2, the same each time: SplitMix64 (Steele et al. 2014).
fn numbers(stream: u64, count: usize) -> Vec<f32> {
    let number = |index: u64| {
        let mut mixed = (stream << 40 | index).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 40) as f32 / (1 << 22) as f32 - 2.0
    };
    (0..count as u64).map(number).collect()
}

/// A matrix with this many rows in a packed format.
fn packed(format: Format, rows: usize, device: &Device) -> Result<Weight> {
    let count = rows * WIDTH;
    let encoding = match format {
        Format::F8E4m3 => Encoding::scaled(format, count),
        Format::I8 => Encoding::scaled(format, WIDTH),
        Format::Nf4 => Encoding::scaled(format, NF4_GROUP),
        _ => format.into(),
    };
    let Some(bytes) = encode(encoding, &numbers(1, count)) else {
        bail!("nothing is written as {encoding:?}")
    };
    let bytes = Tensor::from_vec(bytes, encoding.bytes(count), device)?;
    Ok(Weight::Packed { bytes, encoding, shape: vec![rows, WIDTH] })
}

/// The largest difference; infinite if a value is NaN.
pub(super) fn distance(got: &[f32], want: &[f32]) -> f64 {
    let differences = got.iter().zip(want).map(|(got, want)| f64::from((got - want).abs()));
    differences.fold(
        0.0,
        |most, difference| if difference.is_finite() { most.max(difference) } else { f64::INFINITY },
    )
}

/// Seconds per call: the minimum of several.
pub(super) fn timed(device: &Device, mut work: impl FnMut() -> Result<Tensor>) -> Result<f64> {
    work()?;
    device.synchronize()?;
    let (begun, mut least) = (Instant::now(), f64::INFINITY);
    while begun.elapsed() < TIME {
        let started = Instant::now();
        work()?;
        device.synchronize()?;
        least = least.min(started.elapsed().as_secs_f64());
    }
    Ok(least)
}
