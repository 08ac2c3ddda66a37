//! What the functions of the networks take on the CPU, with the number of threads of a session, is what was
//! predicted.

use candle_core::{DType, Device, Tensor};
use rayon::ThreadPool;
use sluice_engine::{
    hardware::{MemoryAccount, computing_threads},
    nn::{self, Computes, Conv2d, Effort, Mask, Trace, TracedWeight, Weight, computed},
    precision::{Encoding, Format},
};

type Function = fn(&[nn::Tensor]) -> nn::Result<nn::Tensor>;

/// A trace of a session with two threads. Its plans are made outside of them.
fn trace_of_two_threads() -> Trace {
    Trace::new(Computes::Processor { threads: 2, effort: Effort::USUAL })
}

/// How often a function is run: at least, and where one thread did all of the work.
const LEAST_RUNS: usize = 5;
const RUNS: usize = 100;

/// Fails unless `work` takes about what was predicted.
fn check(
    what: &str,
    predicted: u64,
    account: &MemoryAccount,
    pool: &ThreadPool,
    work: impl Fn() -> nn::Result<nn::Tensor> + Sync,
) {
    // The order of the threads' work decides how much scratch memory is held at once. On a busy machine one thread may do it all.
    let mut part = 0.0_f64;
    for run in 0..RUNS {
        account.take_peaks();
        drop(pool.install(|| work().unwrap()));
        part = part.max(account.take_peaks().activations as f64 / predicted as f64);
        if run >= LEAST_RUNS && part >= 0.6 {
            break;
        }
    }
    println!("{what}: {part:.3} of {predicted}");
    assert!((0.6..=1.01).contains(&part), "{what}: {part} of {predicted}");
}

#[test]
fn functions_take_what_was_predicted_for_two_threads() {
    const WIDE: [usize; 3] = [1, 1024, 512];
    const NARROW: [usize; 2] = [65_536, 36];
    const HEADS: [usize; 4] = [1, 512, 8, 64];
    const PLANE: [usize; 4] = [1, 64, 96, 96];
    const PLANES: [usize; 4] = [3, 64, 48, 48];
    const SAME: [usize; 4] = [32, 64, 3, 3];
    const POINT: [usize; 4] = [128, 64, 1, 1];
    const LARGE: [usize; 4] = [16, 64, 17, 17];
    const AROUND: Conv2d = Conv2d { padding: 8, ..Conv2d::SAME_3X3 };
    let functions: [(&str, &[&[usize]], Function); 30] = [
        ("linear", &[&WIDE, &[768, 512]], |x| nn::linear(&x[0], &x[1], None)),
        ("linear to few", &[&WIDE, &[64, 512]], |x| nn::linear(&x[0], &x[1], None)),
        ("attention", &[&HEADS, &HEADS, &HEADS], |x| nn::attention(&x[0], &x[1], &x[2], Mask::None)),
        ("causal attention", &[&HEADS, &HEADS, &HEADS], |x| nn::attention(&x[0], &x[1], &x[2], Mask::Causal)),
        ("attention with sinks", &[&HEADS, &HEADS, &HEADS, &[8]], |x| {
            nn::attention_with_sinks(&x[0], &x[1], &x[2], &x[3], Some(128))
        }),
        (
            "attention with biases of a grid",
            &[&HEADS, &HEADS, &HEADS, &[1, 512, 8, 16], &[1, 512, 8, 32]],
            |x| nn::attention_with_grid_bias(&x[0], &x[1], &x[2], &x[3], &x[4]),
        ),
        ("conv2d 3x3", &[&PLANE, &SAME], |x| nn::conv2d(&x[0], &x[1], None, Conv2d::SAME_3X3)),
        ("conv2d 3x3 of three", &[&PLANES, &SAME], |x| nn::conv2d(&x[0], &x[1], None, Conv2d::SAME_3X3)),
        ("conv2d 3x3 halved", &[&PLANE, &SAME], |x| nn::conv2d(&x[0], &x[1], None, Conv2d::HALVE_3X3)),
        ("conv2d 17x17", &[&PLANE, &LARGE], |x| nn::conv2d(&x[0], &x[1], None, AROUND)),
        ("conv2d 1x1", &[&PLANE, &POINT], |x| nn::conv2d(&x[0], &x[1], None, Conv2d::POINTWISE)),
        ("channel_norm", &[&PLANE, &[64]], |x| nn::channel_norm(&x[0], &x[1], true)),
        ("group_norm_silu", &[&PLANE, &[64], &[64]], |x| nn::group_norm_silu(&x[0], 8, &x[1], &x[2], 1e-6)),
        ("rms_norm", &[&WIDE, &[512]], |x| nn::rms_norm(&x[0], &x[1], 1e-6)),
        ("leaky_relu", &[&PLANE], |x| nn::leaky_relu(&x[0], 0.2)),
        ("prelu", &[&PLANE, &[64]], |x| nn::prelu(&x[0], &x[1])),
        ("resize_between_edges", &[&PLANE], |x| nn::resize_between_edges(&x[0], [192, 48])),
        ("warp", &[&PLANE], |x| {
            nn::warp(&x[0], &nn::Tensor::ones((1, 2, 96, 96), DType::F32, &x[0].device())?)
        }),
        ("silu_mul", &[&WIDE, &WIDE], |x| nn::silu_mul(&x[0], &x[1])),
        ("sigmoid_mul", &[&WIDE, &WIDE], |x| nn::sigmoid_mul(&x[0], &x[1])),
        ("geglu", &[&WIDE], |x| nn::geglu(&x[0])),
        ("gated_add", &[&WIDE, &[1, 1, 512], &WIDE], |x| nn::gated_add(&x[0], &x[1], &x[2])),
        ("upsample_nearest_2x", &[&PLANE], |x| nn::upsample_nearest_2x(&x[0])),
        ("cat", &[&WIDE, &WIDE], |x| nn::Tensor::cat(x, 1)),
        ("attention with biases of pairs", &[&HEADS, &HEADS, &HEADS, &[8, 512, 512]], |x| {
            nn::attention_with_pair_bias(&x[0], &x[1], &x[2], &x[3])
        }),
        ("layer_norm", &[&NARROW, &[36], &[36]], |x| nn::layer_norm(&x[0], Some((&x[1], &x[2])), 1e-6)),
        ("linear of few", &[&NARROW, &[36, 36]], |x| nn::linear(&x[0], &x[1], None)),
        ("add", &[&NARROW, &NARROW], |x| nn::add(&x[0], &x[1])),
        ("gelu", &[&NARROW], |x| nn::gelu(&x[0])),
        ("rows by number", &[&[65_536, 36]], |x| {
            x[0].index_select_by(70_000, || (0..70_000).map(|row| row * 7 % 65_536).collect())
        }),
    ];
    let account = MemoryAccount::new();
    let pool = computing_threads(&account, Some(2)).unwrap();
    for (name, shapes, function) in functions {
        for dtype in [DType::F32, DType::BF16, DType::F16] {
            let trace = trace_of_two_threads();
            let traced: Vec<_> = shapes.iter().map(|dims| trace.tensor(dims, dtype)).collect();
            let before = trace.live();
            trace.take();
            function(&traced).unwrap();
            let predicted = trace.take().peak - before;
            let ones = |dims: &&[usize]| Tensor::ones(*dims, dtype, &Device::Cpu).unwrap().into();
            let inputs: Vec<nn::Tensor> = shapes.iter().map(ones).collect();
            check(&format!("{name} in {dtype:?}"), predicted, &account, &pool, || function(&inputs));
        }
    }
}

/// Of rotated weights the last row is rotated alone, after 384 others.
#[test]
fn products_with_packed_weights_take_what_was_predicted() {
    const ROWS: usize = 385;
    let (inputs, outputs) = (1024, 512);
    let account = MemoryAccount::new();
    let pool = computing_threads(&account, Some(2)).unwrap();
    let plain = Encoding::scaled(Format::I8, inputs);
    let rounding = plain.rounding_inputs();
    for encoding in [plain, plain.rotated(256), rounding, rounding.rotated(256)] {
        let bytes = Tensor::zeros(encoding.bytes(inputs * outputs), DType::U8, &Device::Cpu).unwrap();
        let shape = vec![outputs, inputs];
        let weight = Weight::from(computed::Weight::Packed { bytes, encoding, shape: shape.clone() });
        for dtype in [DType::F32, DType::BF16] {
            let trace = trace_of_two_threads();
            let x = trace.tensor(&[ROWS, inputs], dtype);
            let traced =
                TracedWeight { trace: trace.clone(), dims: shape.clone(), dtype, packed: Some(encoding) };
            let before = trace.live();
            trace.take();
            nn::linear_with(&x, &Weight::Traced(traced), None, &[]).unwrap();
            let predicted = trace.take().peak - before;
            let x: nn::Tensor = Tensor::ones((ROWS, inputs), dtype, &Device::Cpu).unwrap().into();
            check(&format!("{encoding:?} in {dtype:?}"), predicted, &account, &pool, || {
                nn::linear_with(&x, &weight, None, &[])
            });
        }
    }
}
