//! The GPU code path, compositions of tensor library functions, run on the CPU, matches diffusers. It has its
//! own process because `compute_as_on_cards` applies to the whole process.

#![cfg(test)]

use std::{collections::BTreeSet, fs};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    hardware::{MemoryAccount, metered},
    memory::Placement,
    nn::{
        self, Balance, Computes, Costs, Kernels, Mask, Trace, compute_as_on_cards,
        computed::{Weight, attention},
    },
    precision::{Encoding, Format, Zeros},
};
use sluice_tests::{
    checkpoint::{Fixture, fixtures},
    interpolators::check_interpolators,
    modes::check_half_precision,
    packed::{Written, packed_encodings},
    parity::check_runs,
    twins::bits,
    upscalers::check_upscalers,
};
use sluice_tools::trials;

/// A run that is only compared as the CPU computes it: over its 512 tokens, functions composed as on GPUs round the states of
/// T5 by up to 3.1e-5 of the largest value.
const OF_THE_CPU: &str = "dev/seen_two";

fn check_family(family: &str) {
    compute_as_on_cards(true);
    let entries = fs::read_dir(fixtures().join(family)).unwrap();
    let folders = entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("checkpoint").is_dir());
    let mut cases: Vec<_> = folders.map(|path| path.file_name().unwrap().to_owned()).collect();
    cases.sort();
    assert!(cases.len() > 1, "{family}: {cases:?}");
    for case in cases {
        let case = case.to_str().unwrap();
        let checked = check_runs(family, case, |run| run != OF_THE_CPU);
        checked.unwrap_or_else(|error| panic!("{family} {case}: {error:#}"));
    }
}

#[test]
fn flux() {
    check_family("flux");
    let names = ["encode_prompt.0.0.0", "encode_prompt.0.0.1", "transformer.0.out.0.0", "step.2.latents"];
    check_half_precision(&Fixture::new("flux", "dev"), "horse", &names).unwrap();
}

#[test]
fn stable_diffusion_3() {
    check_family("sd3");
}

#[test]
fn stable_diffusion() {
    check_family("stable_diffusion");
    let names = ["encode_prompt.0.0.0", "unet.0.out.0", "step.2.latents"];
    check_half_precision(&Fixture::new("stable_diffusion", "one"), "guided", &names).unwrap();
}

#[test]
fn stable_diffusion_xl() {
    check_family("sdxl");
}

#[test]
fn stable_cascade() {
    check_family("stable_cascade");
    let names = ["encode_prompt.0.0.0", "unet.0.out.0", "step.1.latents"];
    check_half_precision(&Fixture::new("stable_cascade", "default"), "unguided", &names).unwrap();
}

#[test]
fn wuerstchen() {
    check_family("wuerstchen");
    let names = ["encode_prompt.0.0.0", "unet.0.out.0", "step.0.latents"];
    check_half_precision(&Fixture::new("wuerstchen", "default"), "unguided", &names).unwrap();
}

#[test]
fn upscalers() {
    compute_as_on_cards(true);
    check_upscalers(&[Placement::Resident]).unwrap();
}

#[test]
fn interpolators() {
    compute_as_on_cards(true);
    check_interpolators(&[Placement::Resident]).unwrap();
}

#[test]
fn z_image() {
    check_family("z_image");
}

#[test]
fn qwen_image() {
    check_family("qwen_image");
}

#[test]
fn chroma() {
    check_family("chroma");
}

#[test]
fn longcat() {
    check_family("longcat");
}

#[test]
fn ernie_image() {
    check_family("ernie_image");
}

#[test]
fn lens() {
    check_family("lens");
}

#[test]
fn anima() {
    check_family("anima");
}

#[test]
fn krea2() {
    check_family("krea2");
}

#[test]
fn qwen_image_21() {
    check_family("qwen_image_21");
}

#[test]
fn hidream() {
    check_family("hidream");
}

#[test]
fn flux2() {
    check_family("flux2");
    check_family("flux2_dev");
}

#[test]
fn wan() {
    check_family("wan");
}

fn packed(written: &Written) -> Weight {
    let Written { encoding, shape, bytes } = written.clone();
    // In the middle of a slot, at an odd offset.
    let slot = [vec![0xee; 5], bytes].concat();
    let (length, slot) = (slot.len() - 5, Tensor::new(slot, &Device::Cpu).unwrap());
    Weight::Packed { bytes: slot.narrow(0, 5, length).unwrap(), encoding, shape }
}

/// More values than are unpacked at a time, with scales that end there and elsewhere.
fn large() -> Vec<(Encoding, usize)> {
    const MANY: usize = (1 << 22) + 512;
    let scaled = |format, group| (Encoding::scaled(format, group), MANY);
    vec![
        (Format::Q4K.into(), MANY),
        (Format::Q6K.into(), MANY),
        scaled(Format::F8E4m3, MANY),
        scaled(Format::I8, 3 << 20),
        scaled(Format::I8, 3000),
        scaled(Format::Nf4, 64),
        // More scales than are read at a time.
        scaled(Format::Nf4, 6),
        (Encoding::scaled(Format::I8, MANY).rotated(256), MANY),
        (Encoding::scaled(Format::I4, 128).with_zeros(Zeros::Added), MANY),
    ]
}

#[test]
fn packed_weights_are_the_same_bits() {
    compute_as_on_cards(true);
    let encodings = packed_encodings();
    let formats: BTreeSet<_> = encodings.iter().map(|(encoding, _)| encoding.format).collect();
    assert_eq!(formats.len(), 20);
    for (encoding, count) in encodings.into_iter().chain(large()) {
        let written = Written::with_every_code(encoding, count);
        let want = written.widened().unwrap();
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let got = packed(&written).widened(dtype).unwrap();
            let wanted = want.to_dtype(dtype).unwrap();
            assert_eq!(got.dims(), [count]);
            for (place, (got, want)) in bits(&got).into_iter().zip(bits(&wanted)).enumerate() {
                let nan = |bits| f32::from_bits(bits).is_nan();
                let same = got == want || (nan(got) && nan(want));
                assert!(same, "{encoding:?} as {dtype:?} at {place}: {got:08x} instead of {want:08x}");
            }
        }
    }
}

#[test]
fn unpacking_takes_what_was_foretold() {
    compute_as_on_cards(true);
    for (encoding, count) in large() {
        let weight = packed(&Written::with_every_code(encoding, count));
        for dtype in [DType::F32, DType::BF16] {
            let account = MemoryAccount::new();
            let values = metered(&account, || weight.widened(dtype).unwrap());
            assert_eq!(values.elem_count(), count);
            let computes = Computes::Card(Kernels::NONE, Balance::USUAL);
            let costs = Costs { computes, ..Costs::of_processor(dtype.size_in_bytes()) };
            let (taken, foretold) = (account.take_peaks().activations, costs.unpacked(count));
            let part = taken as f64 / foretold as f64;
            println!("{encoding:?} as {dtype:?}: {part:.3} of {foretold}");
            assert!((0.6..=1.0).contains(&part), "{encoding:?} as {dtype:?}: {part} of {foretold}");
        }
    }
}

/// Images compute all heads together, clips some at a time.
#[test]
fn attention_takes_what_was_predicted() {
    compute_as_on_cards(true);
    for (tokens, keys, heads, width) in [(2048, 2048, 8, 64), (96, 16_384, 24, 64), (4096, 4096, 2, 128)] {
        for dtype in [DType::F32, DType::BF16] {
            let random = |tokens: usize| {
                let x = Tensor::rand(-1.0_f32, 1.0, (1, tokens, heads, width), &Device::Cpu).unwrap();
                x.to_dtype(dtype).unwrap()
            };
            let (q, k, v) = (random(tokens), random(keys), random(keys));
            let account = MemoryAccount::new();
            let result = metered(&account, || attention(&q, &k, &v, Mask::None).unwrap());
            assert_eq!(result.dims(), q.dims());
            let computes = Computes::Card(Kernels::NONE, Balance::USUAL);
            let costs = Costs { computes, ..Costs::of_processor(dtype.size_in_bytes()) };
            let predicted = costs.attention([1, tokens, heads, width], keys, heads).peak;
            let part = account.take_peaks().activations as f64 / predicted as f64;
            println!("{tokens} × {keys}, {heads} heads in {dtype:?}: {part:.3} of {predicted}");
            assert!((0.8..=1.0).contains(&part), "{tokens} × {keys} in {dtype:?}: {part} of {predicted}");
        }
    }
}

/// There are no kernels here: both sides are the composition, which rounds more often than a kernel may.
#[test]
fn compositions_are_as_near_as_a_few_roundings_are() {
    compute_as_on_cards(true);
    for (dtype, unit) in [(DType::F32, 0.0), (DType::F16, 2f64.powi(-11)), (DType::BF16, 2f64.powi(-8))] {
        let trials = trials(&Device::Cpu, dtype, 64).unwrap();
        assert!(trials.len() > 20);
        for trial in trials {
            println!("{trial:?}");
            assert_eq!(trial.error, trial.plain_error, "{trial:?}");
            let rounds = unit > 0.0 && !trial.name.starts_with("dequantization");
            assert!(trial.error <= 4.0 * unit && (trial.error > 0.0) == rounds, "{trial:?}");
            assert!(trial.is_right || rounds, "{trial:?}");
            assert!(trial.seconds > 0.0 && trial.seconds.is_finite(), "{trial:?}");
        }
    }
}

#[test]
fn packed_bytes_that_are_too_few_are_refused() {
    compute_as_on_cards(true);
    let bytes = Tensor::zeros(33, DType::U8, &Device::Cpu).unwrap();
    let weight = Weight::Packed { bytes, encoding: Format::Q8_0.into(), shape: vec![1, 32] };
    let error = weight.widened(DType::F32).unwrap_err();
    assert!(error.to_string().contains("has 33 bytes"), "{error}");
}

/// Rotations of 512 tokens with heads of 64.
fn rope(x: &nn::Tensor) -> nn::Result<nn::Rope> {
    nn::Rope::from_angles(&[0.5; 512 * 32], 512, 32, &x.device())
}

/// The same with an angle for each value of a head.
fn rope_apart(x: &nn::Tensor) -> nn::Result<nn::Rope> {
    nn::Rope::from_angles(&[0.5; 512 * 64], 512, 64, &x.device())
}

/// A flow to the next pixel.
fn flow(x: &nn::Tensor) -> nn::Result<nn::Tensor> {
    nn::Tensor::ones((1, 2, 96, 96), DType::F32, &x.device())
}

/// A function of the networks.
type Function = fn(&[nn::Tensor]) -> nn::Result<nn::Tensor>;

#[test]
fn functions_take_what_was_predicted() {
    compute_as_on_cards(true);
    const WIDE: [usize; 3] = [1, 1024, 512];
    const ROW: [usize; 3] = [1, 1, 512];
    const HEADS: [usize; 4] = [1, 512, 64, 64];
    const PLANE: [usize; 4] = [1, 64, 96, 96];
    let functions: [(&str, &[&[usize]], Function); 26] = [
        ("layer_norm", &[&WIDE], |x| nn::layer_norm(&x[0], None, 1e-6)),
        ("layer_norm with weight", &[&WIDE, &[512], &[512]], |x| {
            nn::layer_norm(&x[0], Some((&x[1], &x[2])), 1e-6)
        }),
        ("layer_norm_modulated", &[&WIDE, &ROW, &ROW], |x| {
            nn::layer_norm_modulated(&x[0], 1e-6, &x[1], Some(&x[2]))
        }),
        ("rms_norm", &[&WIDE, &[512]], |x| nn::rms_norm(&x[0], &x[1], 1e-6)),
        ("rms_norm_modulated", &[&WIDE, &[512], &ROW], |x| nn::rms_norm_modulated(&x[0], &x[1], 1e-6, &x[2])),
        ("group_norm", &[&PLANE, &[64], &[64]], |x| nn::group_norm(&x[0], 8, &x[1], &x[2], 1e-6)),
        ("group_norm_silu", &[&PLANE, &[64], &[64]], |x| nn::group_norm_silu(&x[0], 8, &x[1], &x[2], 1e-6)),
        ("channel_norm", &[&PLANE, &[64]], |x| nn::channel_norm(&x[0], &x[1], true)),
        ("scale_and_shift", &[&WIDE, &ROW, &ROW], |x| nn::scale_and_shift(&x[0], &x[1], &x[2])),
        ("gated_add", &[&WIDE, &ROW, &WIDE], |x| nn::gated_add(&x[0], &x[1], &x[2])),
        ("silu", &[&WIDE], |x| nn::silu(&x[0])),
        ("gelu", &[&WIDE], |x| nn::gelu(&x[0])),
        ("gelu_tanh", &[&WIDE], |x| nn::gelu_tanh(&x[0])),
        ("quick_gelu", &[&WIDE], |x| nn::quick_gelu(&x[0])),
        ("leaky_relu", &[&PLANE], |x| nn::leaky_relu(&x[0], 0.2)),
        ("prelu", &[&PLANE, &[64]], |x| nn::prelu(&x[0], &x[1])),
        ("resize_between_edges", &[&PLANE], |x| nn::resize_between_edges(&x[0], [192, 48])),
        ("warp", &[&PLANE], |x| nn::warp(&x[0], &flow(&x[0])?)),
        ("warp of colours", &[&[1, 3, 96, 96]], |x| nn::warp(&x[0], &flow(&x[0])?)),
        ("silu_mul", &[&WIDE, &WIDE], |x| nn::silu_mul(&x[0], &x[1])),
        ("gelu_mul", &[&WIDE, &WIDE], |x| nn::gelu_mul(&x[0], &x[1])),
        ("add", &[&WIDE, &WIDE], |x| nn::add(&x[0], &x[1])),
        ("cat", &[&WIDE, &WIDE], |x| nn::Tensor::cat(x, 1)),
        ("rope_interleaved", &[&HEADS], |x| nn::rope_interleaved(&x[0], &rope(&x[0])?)),
        ("rope_half", &[&HEADS], |x| nn::rope_half(&x[0], &rope(&x[0])?)),
        ("rope_half with own angles", &[&HEADS], |x| nn::rope_half(&x[0], &rope_apart(&x[0])?)),
    ];
    for (name, shapes, function) in functions {
        for dtype in [DType::F32, DType::F16, DType::BF16] {
            let trace = Trace::new(Computes::Card(Kernels::NONE, Balance::USUAL));
            let traced: Vec<_> = shapes.iter().map(|dims| trace.tensor(dims, dtype)).collect();
            let before = trace.live();
            trace.take();
            function(&traced).unwrap();
            let predicted = trace.take().peak - before;
            let ones = |dims: &&[usize]| Tensor::ones(*dims, dtype, &Device::Cpu).unwrap().into();
            let inputs: Vec<nn::Tensor> = shapes.iter().map(ones).collect();
            let account = MemoryAccount::new();
            metered(&account, || function(&inputs).unwrap());
            let part = account.take_peaks().activations as f64 / predicted as f64;
            println!("{name} in {dtype:?}: {part:.3} of {predicted}");
            assert!((0.6..=1.01).contains(&part), "{name} in {dtype:?}: {part} of {predicted}");
        }
    }
}
