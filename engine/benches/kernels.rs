//! Times the CPU's tensor functions against the plain candle operations.
//!
//! `cargo bench -p sluice-engine --bench kernels [-- conv conv-bf16 conv-f16 linear bf16 int8 packed unpacking encoding
//! attention attention-bf16 norm]`,
//! with `RAYON_NUM_THREADS` for the number of threads. The two sides alternate every few runs and the shortest
//! run counts, so that other work on the machine disturbs both alike. `pytorch_kernels.py` prints the same
//! lines for PyTorch. For bf16 and f16 the other side is the same function in f32, for packed weights it is the product with
//! bf16 weights, for unpacking it is bf16 too, and for encoding it is the rate assumed by predictions.

use std::{cell::RefCell, hint::black_box, time::Instant};

use candle_core::{DType, Device, Error, Result, Tensor};
use sluice_engine::{
    checkpoint::{BlockSpec, Component, Role, StoredName, Values, read_header},
    hardware::{MemoryAccount, metered},
    nn::computed::{Conv2d, Mask, Weight, attention, conv2d, group_norm_silu, linear},
    precision::{Encoding, Format, Packed, Storage, Zeros},
};

/// Total duration of both sides in seconds, and the minimum number of runs.
const SECONDS: f64 = 3.0;
const RUNS: usize = 6;
/// Runs of a side before it is the turn of the other one.
const TOGETHER: usize = 3;

/// `in`, `out`, height, width.
const CONVOLUTIONS: [[usize; 4]; 14] = [
    [16, 16, 128, 128],
    [32, 32, 128, 128],
    [64, 64, 64, 64],
    [96, 96, 32, 32],
    [128, 128, 64, 64],
    [320, 320, 64, 64],
    [640, 640, 32, 32],
    [1280, 1280, 16, 16],
    [512, 512, 64, 64],
    [512, 512, 128, 128],
    [256, 256, 256, 256],
    [128, 128, 512, 512],
    [3, 128, 256, 256],
    [128, 3, 256, 256],
];

/// Rows, `in`, `out`.
const PRODUCTS: [[usize; 3]; 8] = [
    [1, 3840, 3840],
    [96, 3840, 3840],
    [1024, 3840, 3840],
    [256, 3840, 10240],
    [1024, 1024, 1024],
    [1024, 640, 640],
    [512, 192, 512],
    [256, 192, 192],
];

/// Rows, `in`, `out` of products with packed weights.
const PACKED: [[usize; 3]; 3] = [[1, 3840, 3840], [96, 3840, 3840], [1024, 3840, 3840]];

/// Number of weights to unpack.
const UNPACKED: usize = 1024;

/// Tokens, keys, heads, head width.
const ATTENTIONS: [[usize; 4]; 11] = [
    [77, 77, 12, 64],
    [256, 256, 8, 32],
    [1024, 77, 20, 64],
    [1024, 1024, 10, 64],
    [4096, 4096, 10, 64],
    [4096, 4096, 8, 40],
    [1056, 1056, 30, 128],
    [4096, 4096, 1, 512],
    [8192, 8192, 2, 64],
    [8192, 8192, 2, 128],
    [32_768, 32_768, 1, 128],
];

/// The other side is not run for more tokens than this: it would hold all scores.
const LONG: usize = 4096;

/// Channels, height, width of a group norm with SiLU in 32 groups.
const NORMS: [[usize; 3]; 3] = [[512, 64, 64], [256, 256, 256], [128, 512, 512]];

fn main() -> Result<()> {
    // On a thread of the pool, and with allocations that are measured and on large pages, as in the engine.
    rayon::scope(|_| metered(&MemoryAccount::new(), run))
}

fn run() -> Result<()> {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    println!("{} threads", rayon::current_num_threads());
    println!("{:<32} {:>10} {:>10} {:>7}", "", "ours", "candle", "ratio");
    if wants("conv") {
        for [inputs, outputs, height, width] in CONVOLUTIONS {
            let (x, weight) = (random(&[1, inputs, height, width])?, random(&[outputs, inputs, 3, 3])?);
            let bias = random(&[outputs])?;
            let per_channel = bias.reshape((1, outputs, 1, 1))?;
            row(
                &format!("conv 3×3 {inputs}→{outputs} {height}×{width}"),
                (2 * 9 * inputs * outputs * height * width) as f64,
                || conv2d(&x, &weight, Some(&bias), Conv2d::SAME_3X3),
                || x.conv2d(&weight, 1, 1, 1, 1)?.broadcast_add(&per_channel),
            )?;
        }
    }
    for (dtype, name) in [(DType::BF16, "bf16"), (DType::F16, "f16")] {
        if !wants(&format!("conv-{name}")) {
            continue;
        }
        for [inputs, outputs, height, width] in CONVOLUTIONS {
            let (x, weight) = (random(&[1, inputs, height, width])?, random(&[outputs, inputs, 3, 3])?);
            let (narrow_x, narrow) = (x.to_dtype(dtype)?, weight.to_dtype(dtype)?);
            row(
                &format!("conv {name} 3×3 {inputs}→{outputs} {height}×{width}"),
                (2 * 9 * inputs * outputs * height * width) as f64,
                || conv2d(&narrow_x, &narrow, None, Conv2d::SAME_3X3),
                || conv2d(&x, &weight, None, Conv2d::SAME_3X3),
            )?;
        }
    }
    if wants("linear") {
        for [rows, inputs, outputs] in PRODUCTS {
            let (x, weight) = (random(&[rows, inputs])?, random(&[outputs, inputs])?);
            let bias = random(&[outputs])?;
            row(
                &format!("linear {rows}×{inputs}→{outputs}"),
                (2 * rows * inputs * outputs) as f64,
                || linear(&x, &weight, Some(&bias)),
                || x.matmul(&weight.t()?)?.broadcast_add(&bias),
            )?;
        }
    }
    if wants("bf16") {
        for [rows, inputs, outputs] in PRODUCTS {
            let (x, weight) = (random(&[rows, inputs])?, random(&[outputs, inputs])?);
            let [narrow_x, narrow] = [&x, &weight].map(|wide| wide.to_dtype(DType::BF16));
            let (narrow_x, narrow) = (narrow_x?, narrow?);
            row(
                &format!("bf16 {rows}×{inputs}→{outputs}"),
                (2 * rows * inputs * outputs) as f64,
                || linear(&narrow_x, &narrow, None),
                || linear(&x, &weight, None),
            )?;
        }
    }
    if wants("int8") {
        for [rows, inputs, outputs] in PRODUCTS {
            let (x, weight) = (random(&[rows, inputs])?, random(&[outputs, inputs])?);
            let encoding = Encoding::scaled(Format::I8, inputs).rounding_inputs();
            let bytes = packed(encoding, [outputs, inputs])?;
            let narrow_x = x.to_dtype(DType::BF16)?;
            for (name, x_of_bytes) in [("f32", &x), ("bf16", &narrow_x)] {
                row(
                    &format!("int8 of {name} {rows}×{inputs}→{outputs}"),
                    (2 * rows * inputs * outputs) as f64,
                    || linear(x_of_bytes, &bytes, None),
                    || linear(&x, &weight, None),
                )?;
            }
        }
    }
    if wants("packed") {
        for [rows, inputs, outputs] in PACKED {
            let (x, narrow) = (random(&[rows, inputs])?, random(&[outputs, inputs])?.to_dtype(DType::BF16)?);
            for encoding in encodings(inputs, outputs) {
                let weight = packed(encoding, [outputs, inputs])?;
                row(
                    &format!("{} {rows}×{inputs}→{outputs}", label(encoding)),
                    (2 * rows * inputs * outputs) as f64,
                    || linear(&x, &weight, None),
                    || linear(&x, &narrow, None),
                )?;
                let x = x.to_dtype(DType::BF16)?;
                row(
                    &format!("{} in bf16 {rows}×{inputs}→{outputs}", label(encoding)),
                    (2 * rows * inputs * outputs) as f64,
                    || linear(&x, &weight, None),
                    || linear(&x, &narrow, None),
                )?;
            }
        }
    }
    if wants("unpacking") {
        unpacking()?;
    }
    if wants("encoding") {
        encoding()?;
    }
    if wants("attention") {
        for [tokens, keys, heads, width] in ATTENTIONS {
            let q = random(&[1, tokens, heads, width])?;
            let (k, v) = (random(&[1, keys, heads, width])?, random(&[1, keys, heads, width])?);
            let name = format!("attention {tokens}×{keys} {heads}×{width}");
            let operations = (4 * tokens * keys * heads * width) as f64;
            let ours = || attention(&q, &k, &v, Mask::None);
            if tokens > LONG {
                let [best] = shortest([&|| ours().map(drop)])?;
                println!("{name:<32} {:>10.2}", operations / best / 1e9);
            } else {
                row(&name, operations, ours, || plain_attention(&q, &k, &v))?;
            }
        }
    }
    if wants("attention-bf16") {
        for [tokens, keys, heads, width] in ATTENTIONS {
            let wide = [tokens, keys, keys].map(|count| random(&[1, count, heads, width]));
            let [q, k, v] = wide;
            let (q, k, v) = (q?, k?, v?);
            let [narrow_q, narrow_k, narrow_v] = [&q, &k, &v].map(|x| x.to_dtype(DType::BF16));
            let (narrow_q, narrow_k, narrow_v) = (narrow_q?, narrow_k?, narrow_v?);
            row(
                &format!("attention bf16 {tokens}×{keys} {heads}×{width}"),
                (4 * tokens * keys * heads * width) as f64,
                || attention(&narrow_q, &narrow_k, &narrow_v, Mask::None),
                || attention(&q, &k, &v, Mask::None),
            )?;
        }
    }
    if wants("norm") {
        for [channels, height, width] in NORMS {
            let x = random(&[1, channels, height, width])?;
            let (weight, bias) = (random(&[channels])?, random(&[channels])?);
            let norm = candle_nn::GroupNorm::new(weight.clone(), bias.clone(), channels, 32, 1e-6)?;
            // Bytes read and written once, so that the figure is GB/s.
            row(
                &format!("group norm, SiLU {channels} {height}×{width}"),
                (8 * channels * height * width) as f64,
                || group_norm_silu(&x, 32, &weight, &bias, 1e-6),
                || candle_core::Module::forward(&norm, &x)?.silu(),
            )?;
        }
    }
    Ok(())
}

fn encodings(inputs: usize, outputs: usize) -> Vec<Encoding> {
    let narrow = Format::ALL.into_iter().filter(|format| !format.is_wide());
    let encodings = narrow.map(|format| match format {
        Format::F8E4m3 => Encoding::scaled(format, inputs * outputs),
        Format::I8 => Encoding::scaled(format, inputs),
        Format::I4 => Encoding::scaled(format, 128).with_zeros(Zeros::Added),
        Format::Nf4 => Encoding::scaled(format, 64),
        _ => format.into(),
    });
    encodings.chain([Encoding::scaled(Format::I8, inputs).rotated(256)]).collect()
}

fn label(encoding: Encoding) -> String {
    match encoding.rotation {
        Some(rotation) => format!("{} rotated by {rotation}", encoding.format.name()),
        None => encoding.format.name().to_owned(),
    }
}

/// Weights of arbitrary values.
fn packed(encoding: Encoding, [outputs, inputs]: [usize; 2]) -> Result<Weight> {
    let bytes = any_bytes(encoding, outputs * inputs);
    let bytes = Tensor::from_vec(bytes, encoding.bytes(outputs * inputs), &Device::Cpu)?;
    Ok(Weight::Packed { bytes, encoding, shape: vec![outputs, inputs] })
}

/// Bytes below 60 decode to small numbers in every format. Separate scales get typical values: others could
/// give denormal results, at which CPUs are slow.
fn any_bytes(encoding: Encoding, weights: usize) -> Vec<u8> {
    let values = (0..encoding.format.bytes(weights)).map(|place| (place * 37 % 59) as u8);
    let scales = (0..encoding.tail(weights)).flat_map(|_| 0.01f32.to_le_bytes());
    values.chain(scales).collect()
}

fn random(shape: &[usize]) -> Result<Tensor> {
    Tensor::randn(0f32, 1.0, shape, &Device::Cpu)
}

fn plain_attention(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    let [q, k, v] = [q, k, v].map(|x| x.to_dtype(DType::F32)?.transpose(1, 2)?.contiguous());
    let (q, k, v) = (q?, k?, v?);
    let scores = (q.matmul(&k.transpose(2, 3)?)? / (q.dim(3)? as f64).sqrt())?;
    candle_nn::ops::softmax_last_dim(&scores)?.matmul(&v)?.transpose(1, 2)?.contiguous()
}

/// Prints the billions of operations per second of both sides, and the speedup of the first.
fn row(
    name: &str,
    operations: f64,
    ours: impl Fn() -> Result<Tensor>,
    plain: impl Fn() -> Result<Tensor>,
) -> Result<()> {
    let [best, best_plain] = shortest([&|| ours().map(drop), &|| plain().map(drop)])?;
    print_row(name, operations / best / 1e9, operations / best_plain / 1e9);
    Ok(())
}

fn print_row(name: &str, figure: f64, other: f64) {
    println!("{name:<32} {figure:>10.2} {other:>10.2} {:>7.2}", figure / other);
}

/// The shortest run of each in seconds.
fn shortest<const N: usize>(works: [&dyn Fn() -> Result<()>; N]) -> Result<[f64; N]> {
    let (start, mut best, mut runs) = (Instant::now(), [f64::MAX; N], 0);
    while start.elapsed().as_secs_f64() < SECONDS || runs < RUNS {
        for (work, best) in works.iter().zip(&mut best) {
            // Threads of the other side may still spin in the first one.
            for _ in 0..TOGETHER {
                let run = Instant::now();
                work()?;
                *best = best.min(run.elapsed().as_secs_f64());
            }
        }
        runs += TOGETHER;
    }
    Ok(best)
}

/// Billions of weights per second converted to f32 within the L1 cache, next to those of bf16.
fn unpacking() -> Result<()> {
    /// Number of runs over the same weights.
    const TIMES: usize = 4096;
    let widen = |encoding: Encoding| {
        let bytes = any_bytes(encoding, UNPACKED);
        move || {
            let mut out = [0.0; UNPACKED];
            let packed =
                Packed::new(encoding, UNPACKED, &bytes).ok_or_else(|| Error::msg("too few bytes"))?;
            for _ in 0..TIMES {
                packed.widen(0, black_box(&mut out));
            }
            Ok(())
        }
    };
    let weights = (UNPACKED * TIMES) as f64 / 1e9;
    for encoding in encodings(UNPACKED, 1) {
        let [own, plain] = shortest([&widen(encoding), &widen(Format::Bf16.into())])?;
        print_row(&format!("unpacking {}", label(encoding)), weights / own, weights / plain);
    }
    Ok(())
}

/// Billions of weights per second quantized while they are read, next to the rate assumed by predictions. The
/// time to read the same bytes unconverted is subtracted; the file is in the page cache.
fn encoding() -> Result<()> {
    const SIDES: [usize; 2] = [4096, 8192];
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("weights.safetensors");
    let name = "blocks.0.linear.weight";
    random(&SIDES)?.to_dtype(DType::BF16)?.save_safetensors(name, &path)?;
    let specs = [BlockSpec::new("blocks.0").matrix("linear", SIDES[0], SIDES[1])];
    let bind = || {
        let table = read_header(&path)?;
        Component::bind(Role::Denoiser, "one matrix", &specs, &table, |name| StoredName::whole(name), &path)
    };
    let bytes = RefCell::new(vec![1; 2 * SIDES[0] * SIDES[1]]);
    let read = |storage: Storage| -> Result<()> {
        // Bound again, so that the scales are computed as in the first read.
        let component = bind().map_err(Error::wrap)?.given_as(storage);
        let (_, tensor) = &component.blocks[0].tensors[0];
        let bytes = &mut bytes.borrow_mut()[..tensor.given_bytes() as usize];
        tensor.read_into(Values::Stored(bytes)).map_err(Error::wrap)
    };
    for storage in Storage::smaller() {
        let [own, plain] = shortest([&|| read(storage), &|| read(Storage::Stored)])?;
        let format = storage.encoding(SIDES[0], SIDES[1]).map_or(Format::Bf16, |encoding| encoding.format);
        let weights = (SIDES[0] * SIDES[1]) as f64;
        let name = format!("encoding {}", format.name());
        print_row(&name, weights / (own - plain) / 1e9, format.encoded_per_second() / 1e9);
    }
    Ok(())
}
