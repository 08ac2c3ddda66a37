//! The CUDA kernels, in emulation, against the CPU functions.

use std::sync::LazyLock;

use candle_core::{D, DType, Device, Tensor};
use sluice_engine::{
    nn::{
        computed::{self as nn, Conv2d, Mask, Rope},
        cuda::{self, Curve, Launches, Rotation, RowNorm},
    },
    precision::Format,
};
use sluice_tests::{
    emulation::Emulation,
    hash_weights::noise,
    packed::{Written, packed_encodings},
    twins::bits,
};

static EMULATION: LazyLock<Emulation> = LazyLock::new(|| Emulation::build().unwrap());

const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

fn emulated(work: candle_core::Result<Option<Launches>>) -> Tensor {
    EMULATION.run(&work.unwrap().expect("there is a kernel")).unwrap()
}

fn random(name: &str, shape: &[usize], dtype: DType) -> Tensor {
    let values = noise(name, shape.iter().product());
    Tensor::from_vec(values, shape, &Device::Cpu).unwrap().to_dtype(dtype).unwrap()
}

fn flat(x: &Tensor) -> Vec<f32> {
    x.to_dtype(DType::F32).unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

fn wide(x: &Tensor) -> Tensor {
    x.to_dtype(DType::F32).unwrap()
}

/// Half the distance of neighbouring values, relative to them.
fn rounding(dtype: DType) -> f32 {
    match dtype {
        DType::F16 => 2f32.powi(-11),
        DType::BF16 => 2f32.powi(-8),
        _ => 0.0,
    }
}

/// Fails unless `got` equals `want` (f32) up to a millionth of its largest value and one rounding. Returns
/// the difference that rounding does not explain.
#[track_caller]
fn assert_rounded_once(name: &str, got: &Tensor, want: &Tensor) -> f32 {
    assert_rounded_once_after(1e-6, name, got, want)
}

/// The same where sums may be off by this part of the largest value before they are rounded.
#[track_caller]
fn assert_rounded_once_after(sums: f32, name: &str, got: &Tensor, want: &Tensor) -> f32 {
    assert_eq!(got.dims(), want.dims(), "{name}");
    assert_eq!(want.dtype(), DType::F32);
    let (values, wanted) = (flat(got), flat(want));
    let largest = wanted.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    let mut most = 0.0f32;
    for (place, (got_value, want_value)) in values.iter().zip(&wanted).enumerate() {
        // The smallest f16 values are 2^-24 apart.
        let allowed = (want_value.abs() * rounding(got.dtype())).max(if got.dtype() == DType::F16 {
            3e-8
        } else {
            0.0
        });
        let error = ((got_value - want_value).abs() - allowed) / largest;
        assert!(error <= sums, "{name} {:?}: {got_value} instead of {want_value} at {place}", got.dtype());
        most = most.max(error);
    }
    most
}

#[test]
fn packed_weights_are_widened_to_the_same_bits() {
    let formats = packed_encodings();
    assert_eq!(
        formats.iter().map(|(encoding, _)| encoding.format).collect::<std::collections::BTreeSet<_>>().len(),
        20
    );
    for (encoding, count) in formats {
        let written = Written::with_every_code(encoding, count);
        let want = written.widened().unwrap();
        // In the middle of a slot, at an even and at an odd offset.
        for before in [0, 2, 5] {
            let slot = [vec![0xee; before], written.bytes.clone()].concat();
            let length = slot.len() - before;
            let bytes = Tensor::from_vec(slot, before + length, &Device::Cpu).unwrap();
            let bytes = bytes.narrow(0, before, length).unwrap();
            for dtype in DTYPES {
                if before > 0 && dtype != DType::BF16 {
                    continue;
                }
                let got = emulated(cuda::widen(&bytes, encoding, &[count], dtype));
                let wanted = want.to_dtype(dtype).unwrap();
                for (place, (got, want)) in bits(&got).into_iter().zip(bits(&wanted)).enumerate() {
                    let nan = |bits| f32::from_bits(bits).is_nan();
                    let same = got == want || (nan(got) && nan(want));
                    assert!(same, "{encoding:?} as {dtype:?} at {place}: {got:08x} instead of {want:08x}");
                }
            }
        }
    }
    let short = Tensor::zeros(33, DType::U8, &Device::Cpu).unwrap();
    assert!(cuda::widen(&short, Format::Q8_0.into(), &[1, 32], DType::F32).is_err());
    assert!(cuda::widen(&short, Format::Bf16.into(), &[16], DType::F32).unwrap().is_none());
}

/// A slice of a larger tensor, with arbitrary alignment and strided rows.
fn part(name: &str, shape: [usize; 3], dtype: DType, first: usize) -> Tensor {
    let [batch, tokens, width] = shape;
    random(name, &[batch, tokens, width * 3], dtype).narrow(2, first, width).unwrap()
}

#[test]
fn norms_of_rows_are_those_of_the_processor() {
    let mut most = 0.0f32;
    for dtype in DTYPES {
        for [batch, tokens, width] in
            [[1, 1, 8], [2, 3, 7], [2, 5, 128], [1, 9, 320], [2, 3, 1344], [1, 2, 4104]]
        {
            let x = random("x", &[batch, tokens, width], dtype);
            let [weight, bias] = ["weight", "bias"].map(|name| random(name, &[width], dtype));
            let scale = part("scale", [batch, 1, width], dtype, 0);
            let shift = part("scale", [batch, 1, width], dtype, width);
            let shared = part("scale", [1, 1, width], dtype, width * 2);
            let of_x = wide(&x);
            let norm = |norm| emulated(cuda::norm_rows(&x, norm));
            let eps = 1e-3;

            let rms = nn::rms_norm(&of_x, &wide(&weight), eps).unwrap();
            let row = RowNorm { eps, weight: Some(&weight), ..RowNorm::default() };
            most = most.max(assert_rounded_once("rms_norm", &norm(row), &rms));
            let want = nn::modulate(&rms, &wide(&scale)).unwrap();
            assert_rounded_once("modulated", &norm(RowNorm { scale: Some(&scale), ..row }), &want);

            let row = RowNorm { centred: true, eps, ..RowNorm::default() };
            let bare = nn::layer_norm(&of_x, None, None, eps).unwrap();
            most = most.max(assert_rounded_once("layer_norm", &norm(row), &bare));
            let both = RowNorm { weight: Some(&weight), bias: Some(&bias), ..row };
            let want = nn::layer_norm(&of_x, Some(&wide(&weight)), Some(&wide(&bias)), eps).unwrap();
            assert_rounded_once("layer_norm with weight and bias", &norm(both), &want);
            let want = nn::scale_and_shift(&bare, &wide(&scale), &wide(&shift)).unwrap();
            let modulated = RowNorm { scale: Some(&scale), shift: Some(&shift), ..row };
            assert_rounded_once("scaled and shifted", &norm(modulated), &want);
            let want = nn::modulate(&bare, &wide(&shared)).unwrap();
            assert_rounded_once(
                "with one scale for all",
                &norm(RowNorm { scale: Some(&shared), ..row }),
                &want,
            );
        }
    }
    println!("rows: {most:.1e}");
    let x = random("x", &[1, 2, 8], DType::F32);
    let other = RowNorm { weight: Some(&x), ..RowNorm::default() };
    assert!(cuda::norm_rows(&x, other).is_err());
    let weight = random("weight", &[8], DType::BF16);
    assert!(cuda::norm_rows(&x, RowNorm { weight: Some(&weight), ..RowNorm::default() }).unwrap().is_none());
}

#[test]
fn the_fused_norms_of_the_engine_are_the_functions_one_after_the_other() {
    for dtype in DTYPES {
        let (x, weight) = (random("x", &[2, 5, 48], dtype), random("weight", &[48], dtype));
        let [scale, shift] = ["scale", "shift"].map(|name| random(name, &[2, 1, 48], dtype));
        let rms = nn::rms_norm(&x, &weight, 1e-5).unwrap();
        let got = nn::rms_norm_modulated(&x, &weight, 1e-5, &scale).unwrap();
        assert_eq!(bits(&got), bits(&nn::modulate(&rms, &scale).unwrap()));
        let bare = nn::layer_norm(&x, None, None, 1e-5).unwrap();
        let got = nn::layer_norm_modulated(&x, 1e-5, &scale, Some(&shift)).unwrap();
        assert_eq!(bits(&got), bits(&nn::scale_and_shift(&bare, &scale, &shift).unwrap()));
        let got = nn::layer_norm_modulated(&x, 1e-5, &scale, None).unwrap();
        assert_eq!(bits(&got), bits(&nn::modulate(&bare, &scale).unwrap()));
    }
}

#[test]
fn group_norms_are_those_of_the_processor() {
    let mut most = 0.0f32;
    for dtype in DTYPES {
        for (shape, groups) in [
            ([1, 4, 1, 1], 2),
            ([2, 6, 5, 7], 3),
            ([1, 32, 9, 11], 32),
            ([2, 8, 16, 24], 4),
            ([1, 6, 100, 102], 2),
            ([1, 2, 150, 128], 1),
        ] {
            for mean in [0.0, 30.0] {
                let x = (random("x", &shape, DType::F32) + mean).unwrap().to_dtype(dtype).unwrap();
                let [weight, bias] = ["weight", "bias"].map(|name| random(name, &[shape[1]], dtype));
                let (of_x, of_weight, of_bias) = (wide(&x), wide(&weight), wide(&bias));
                let norm = |silu| emulated(cuda::group_norm(&x, groups, (&weight, &bias), 1e-3, silu));
                let want = nn::group_norm(&of_x, groups, &of_weight, &of_bias, 1e-3).unwrap();
                if mean == 0.0 {
                    most = most.max(assert_rounded_once("group_norm", &norm(false), &want));
                    let want = nn::group_norm_silu(&of_x, groups, &of_weight, &of_bias, 1e-3).unwrap();
                    assert_rounded_once("group_norm_silu", &norm(true), &want);
                } else if dtype == DType::F32 {
                    // The mean itself is only accurate to this fraction of the deviation.
                    let (got, want) = (flat(&norm(false)), flat(&want));
                    let most = got.iter().zip(&want).fold(0.0f32, |most, (a, b)| most.max((a - b).abs()));
                    assert!(most < 1e-5, "{shape:?}: {most}");
                }
            }
        }
    }
    println!("groups: {most:.1e}");
    let (x, weight) = (random("x", &[1, 6, 4], DType::F32), random("weight", &[6], DType::F32));
    assert!(cuda::group_norm(&x, 4, (&weight, &weight), 1e-5, false).is_err());
}

#[test]
fn modulation_is_that_of_the_processor() {
    for dtype in DTYPES {
        for [batch, tokens, width] in [[1, 1, 1], [2, 5, 7], [3, 4, 136], [1, 3, 2056]] {
            let shape = [batch, tokens, width];
            let x = random("x", &shape, dtype);
            let y = part("y", shape, dtype, width);
            for items in [1, batch] {
                let scale = part("scale", [items, 1, width], dtype, width);
                let shift = part("shift", [items, 1, width], dtype, 0);
                let (of_x, of_scale) = (wide(&x), wide(&scale));
                let want = nn::modulate(&of_x, &of_scale).unwrap();
                assert_rounded_once("modulate", &emulated(cuda::modulate(&x, &scale, None)), &want);
                let want = nn::scale_and_shift(&of_x, &of_scale, &wide(&shift)).unwrap();
                let odd = |name| random(name, &[items, 1, width + 1], dtype).narrow(2, 1, width).unwrap();
                let want_odd =
                    nn::scale_and_shift(&of_x, &wide(&odd("scale")), &wide(&odd("shift"))).unwrap();
                let got = emulated(cuda::modulate(&x, &odd("scale"), Some(&odd("shift"))));
                assert_rounded_once("factors anywhere", &got, &want_odd);
                let want_odd = nn::gated_add(&of_x, &wide(&odd("scale")), &wide(&y)).unwrap();
                let got = emulated(cuda::gated_add(&x, &odd("scale"), &y));
                assert_rounded_once("a gate anywhere", &got, &want_odd);
                let got = emulated(cuda::modulate(&x, &scale, Some(&shift)));
                assert_rounded_once("scale_and_shift", &got, &want);
                let want = nn::gated_add(&of_x, &of_scale, &wide(&y)).unwrap();
                assert_rounded_once("gated_add", &emulated(cuda::gated_add(&x, &scale, &y)), &want);
            }
        }
    }
    let x = random("x", &[2, 4, 6], DType::F32);
    assert!(cuda::modulate(&x, &random("scale", &[3, 1, 6], DType::F32), None).is_err());
}

#[test]
fn biases_are_added_as_by_the_tensor_library() {
    for dtype in DTYPES {
        for shape in [vec![9], vec![3, 5, 7], vec![2, 3, 264], vec![5, 2056]] {
            let (x, width) = (random("x", &shape, dtype), shape[shape.len() - 1]);
            // Weights lie one after the other, so that a bias may begin anywhere.
            for before in 0..3 {
                let bias = random("bias", &[before + width], dtype).narrow(0, before, width).unwrap();
                let want = wide(&x).broadcast_add(&wide(&bias)).unwrap();
                assert_rounded_once("add_vector", &emulated(cuda::add_vector(&x, &bias)), &want);
            }
        }
        for shape in [vec![1, 3, 1, 1], vec![2, 5, 3, 7], vec![1, 4, 16, 160], vec![2, 3, 2, 5, 8]] {
            let x = random("x", &shape, dtype);
            let bias = random("bias", &[shape[1]], dtype);
            let all = wide(&bias).reshape([vec![1, shape[1]], vec![1; shape.len() - 2]].concat()).unwrap();
            let want = wide(&x).broadcast_add(&all).unwrap();
            assert_rounded_once("add_to_channels", &emulated(cuda::add_to_channels(&x, &bias)), &want);
        }
    }
    let x = random("x", &[2, 4, 6], DType::F32);
    assert!(cuda::add_vector(&x, &random("bias", &[4], DType::F32)).is_err());
    assert!(cuda::add_to_channels(&x, &random("bias", &[6], DType::F32)).is_err());
}

/// Compares a convolution with that in f64. It adds hundreds of products one after the other.
fn check_convolution(input: [usize; 4], outputs: usize, padding: usize, dtypes: &[DType]) {
    let conv = Conv2d { padding, ..Conv2d::SAME_3X3 };
    for &dtype in dtypes {
        let x = random("x", &input, dtype);
        let weight = random("weight", &[outputs, input[1], 3, 3], dtype);
        let bias = random("bias", &[outputs], dtype);
        for bias in [Some(&bias), None] {
            let exact = |tensor: &Tensor| tensor.to_dtype(DType::F64).unwrap();
            let mut want = exact(&x).conv2d(&exact(&weight), padding, 1, 1, 1).unwrap();
            if let Some(bias) = bias {
                want = want.broadcast_add(&exact(bias).reshape((1, outputs, 1, 1)).unwrap()).unwrap();
            }
            let want = want.to_dtype(DType::F32).unwrap();
            let got = emulated(cuda::convolution(&x, &weight, bias, conv));
            assert_rounded_once_after(2e-6, &format!("{input:?} to {outputs}"), &got, &want);
        }
    }
}

#[test]
fn convolutions_are_exact_but_for_rounding() {
    check_convolution([1, 3, 5, 7], 4, 1, &DTYPES);
    check_convolution([2, 37, 9, 20], 33, 1, &DTYPES);
    check_convolution([1, 70, 18, 9], 67, 0, &DTYPES);
    // Each shape of blocks, some of them with rows that are written in wide pieces.
    let halves = [DType::F16, DType::BF16];
    check_convolution([1, 40, 10, 16], 160, 1, &halves);
    check_convolution([1, 40, 9, 24], 128, 1, &halves);
    check_convolution([1, 33, 17, 32], 3, 1, &halves);
    check_convolution([1, 64, 9, 40], 32, 1, &halves);
    check_convolution([1, 8, 10, 18], 20, 0, &halves);
    // Few pixels of many channels are shared by several blocks.
    check_convolution([2, 128, 5, 9], 70, 1, &[DType::F32, DType::BF16]);
    check_convolution([1, 128, 5, 9], 160, 1, &halves);
}

#[test]
fn kernels_of_convolutions_may_begin_anywhere() {
    let x = random("x", &[1, 37, 6, 8], DType::BF16);
    let weight = random("weight", &[33, 37, 3, 3], DType::BF16);
    let convolved = |weight: &Tensor| wide(&emulated(cuda::convolution(&x, weight, None, Conv2d::SAME_3X3)));
    let want: Vec<f32> = convolved(&weight).flatten_all().unwrap().to_vec1().unwrap();
    for first in [1, 3, 4] {
        let before = Tensor::zeros(first, DType::BF16, x.device()).unwrap();
        let values = Tensor::cat(&[before, weight.flatten_all().unwrap()], 0).unwrap();
        let view = values.narrow(0, first, weight.elem_count()).unwrap().reshape(weight.shape()).unwrap();
        let got: Vec<f32> = convolved(&view).flatten_all().unwrap().to_vec1().unwrap();
        assert!(got == want, "kernels that begin at value {first}");
    }
}

#[test]
fn there_are_kernels_for_convolutions_that_keep_the_size() {
    let none = |weight: &[usize], conv| {
        let x = random("x", &[1, 4, 6, 6], DType::F16);
        cuda::convolution(&x, &random("weight", weight, DType::F16), None, conv).unwrap().is_none()
    };
    assert!(!none(&[5, 4, 3, 3], Conv2d::SAME_3X3));
    assert!(none(&[5, 4, 3, 3], Conv2d::HALVE_3X3));
    assert!(none(&[5, 4, 1, 1], Conv2d::POINTWISE));
    let x = random("x", &[1, 4, 6, 6], DType::F16);
    let wrong = cuda::convolution(&x, &random("weight", &[5, 3, 3, 3], DType::F16), None, Conv2d::SAME_3X3);
    assert!(wrong.is_err());
}

#[test]
fn activations_are_those_of_the_processor() {
    for dtype in DTYPES {
        for shape in [vec![9], vec![3, 5, 7], vec![2, 3, 264], vec![5, 2048]] {
            let gate = (random("gate", &shape, DType::F32) * 4.0).unwrap().to_dtype(dtype).unwrap();
            let up = random("up", &shape, dtype);
            let (of_gate, of_up) = (wide(&gate), wide(&up));
            let want = nn::silu_mul(&of_gate, &of_up).unwrap();
            assert_rounded_once("silu_mul", &emulated(cuda::gated(Curve::Silu, &gate, &up)), &want);
            let want = nn::gelu_tanh_mul(&of_gate, &of_up).unwrap();
            assert_rounded_once("gelu_tanh_mul", &emulated(cuda::gated(Curve::GeluTanh, &gate, &up)), &want);

            let want = nn::gelu_mul(&of_gate, &of_up).unwrap();
            assert_rounded_once("gelu_mul", &emulated(cuda::gated(Curve::Gelu, &gate, &up)), &want);

            let both = Tensor::cat(&[&up, &gate], D::Minus1).unwrap();
            let width = shape[shape.len() - 1];
            let [up, gate] = [0, width].map(|first| both.narrow(D::Minus1, first, width).unwrap());
            let want = nn::geglu(&wide(&both)).unwrap();
            assert_rounded_once("geglu", &emulated(cuda::gated(Curve::Gelu, &gate, &up)), &want);
        }
        let turned = random("gate", &[6, 4, 8], dtype).transpose(0, 1).unwrap();
        let want = nn::silu_mul(&wide(&turned), &wide(&turned)).unwrap();
        assert_rounded_once("a view", &emulated(cuda::gated(Curve::Silu, &turned, &turned)), &want);
    }
}

#[test]
fn rotations_are_those_of_the_processor() {
    for dtype in DTYPES {
        for [batch, tokens, heads, width] in [[1, 1, 1, 2], [2, 5, 3, 6], [1, 7, 4, 128], [2, 3, 2, 40]] {
            let x = random("x", &[batch, tokens, heads, width], dtype);
            let angles: Vec<f32> = (0..tokens * width / 2).map(|index| index as f32 * 0.37).collect();
            let rope = Rope::from_angles(&angles, tokens, width / 2, &Device::Cpu).unwrap();
            let turn = |rotation| emulated(cuda::rope(rotation, &x, &rope.cos, &rope.sin));
            let want = nn::rope_interleaved(&wide(&x), &rope).unwrap();
            assert_rounded_once("interleaved", &turn(Rotation::Interleaved), &want);
            let want = nn::rope_half(&x, &rope).unwrap();
            if dtype == DType::F32 {
                assert_rounded_once("half", &turn(Rotation::Half), &want);
            } else {
                assert_eq!(bits(&turn(Rotation::Half)), bits(&want));
            }
            let angles: Vec<f32> = (0..tokens * width).map(|index| index as f32 * 0.37).collect();
            let apart = Rope::from_angles(&angles, tokens, width, &Device::Cpu).unwrap();
            let want = nn::rope_half(&x, &apart).unwrap();
            let got = emulated(cuda::rope(Rotation::Half, &x, &apart.cos, &apart.sin));
            if dtype == DType::F32 {
                assert_rounded_once("angles of their own", &got, &want);
            } else {
                assert_eq!(bits(&got), bits(&want));
            }
        }
        let x = random("x", &[2, 6, 5, 24], dtype).transpose(1, 2).unwrap().narrow(3, 3, 8).unwrap();
        let angles: Vec<f32> = (0..5 * 4).map(|index| index as f32 * 0.37).collect();
        let rope = Rope::from_angles(&angles, 5, 4, &Device::Cpu).unwrap();
        let want = nn::rope_interleaved(&wide(&x), &rope).unwrap();
        let got = emulated(cuda::rope(Rotation::Interleaved, &x, &rope.cos, &rope.sin));
        assert_rounded_once("a view", &got, &want);
    }
}

/// Fails unless `got` is as close to `want` as exponentials rounded to the dtype allow.
#[track_caller]
fn assert_attended(name: &str, got: &Tensor, want: &Tensor) -> [f32; 2] {
    assert_eq!(got.dims(), want.dims(), "{name}");
    let (values, wanted) = (flat(got), flat(want));
    let largest = wanted.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    let (mut error, mut total, mut most) = (0.0f32, 0.0f32, 0.0f32);
    for (place, (got, want)) in values.iter().zip(&wanted).enumerate() {
        let distance = (got - want).abs() / largest;
        assert!(distance.is_finite(), "{name}: {got} instead of {want} at {place}");
        most = most.max(distance);
        error += (got - want).powi(2);
        total += want.powi(2);
    }
    let unit = 2.0 * rounding(got.dtype());
    let relative = (error / total).sqrt();
    assert!(most <= 0.6 * unit && relative <= 0.3 * unit, "{name}: {most} at most, {relative} overall");
    [most / unit, relative / unit]
}

struct Case {
    q: [usize; 4],
    keys: usize,
    kv_heads: usize,
}

fn case(q: [usize; 4], keys: usize, kv_heads: usize) -> Case {
    Case { q, keys, kv_heads }
}

impl Case {
    /// Heads that are slices of wider rows, as from a joint projection.
    fn inputs(&self, dtype: DType) -> [Tensor; 3] {
        let [batch, tokens, heads, width] = self.q;
        let heads_of = |name: &str, tokens, heads, first| {
            let all = random(name, &[batch, tokens, 2 * heads * width], dtype);
            let part = all.narrow(2, first * heads * width, heads * width).unwrap();
            part.reshape((batch, tokens, heads, width)).unwrap()
        };
        let q = (wide(&heads_of("q", tokens, heads, 0)) * 2.0).unwrap().to_dtype(dtype).unwrap();
        [q, heads_of("kv", self.keys, self.kv_heads, 0), heads_of("kv", self.keys, self.kv_heads, 1)]
    }
}

#[test]
fn attention_is_that_of_the_processor() {
    let mut most = [0.0f32; 2];
    for dtype in [DType::F16, DType::BF16] {
        for width in cuda::WIDTHS {
            let cases = [
                case([1, 1, 1, width], 1, 1),
                case([2, 5, 2, width], 77, 2),
                case([1, 130, 2, width], 64, 1),
                case([1, 67, 1, width], 129, 1),
            ];
            for case in cases {
                let [q, k, v] = case.inputs(dtype);
                for mask in [Mask::None, Mask::Causal] {
                    let want = nn::attention(&wide(&q), &wide(&k), &wide(&v), mask).unwrap();
                    let got = emulated(cuda::attention(&q, &k, &v, mask == Mask::Causal));
                    let name = format!("{dtype:?} {:?} over {} {mask:?}", case.q, case.keys);
                    let found = assert_attended(&name, &got, &want);
                    most = [most[0].max(found[0]), most[1].max(found[1])];
                }
            }
        }
    }
    println!("attention: {} units of the dtype at most, {} overall", most[0], most[1]);
}

#[test]
fn attention_adds_a_bias_by_distance() {
    for (q, keys) in [([1, 70, 2, 64], 70), ([2, 3, 2, 64], 100)] {
        let [q, k, v] = case(q, keys, 2).inputs(DType::BF16);
        let q = (wide(&q) * 0.1).unwrap().to_dtype(DType::BF16).unwrap();
        let bias = (random("bias", &[2, q.dim(1).unwrap() + keys - 1], DType::F32) * 3.0).unwrap();
        let want = nn::attention_with_bias(&wide(&q), &wide(&k), &wide(&v), &bias).unwrap();
        assert_attended("bias", &emulated(cuda::attention_with_bias(&q, &k, &v, &bias)), &want);
    }
}

#[test]
fn sharp_scores_do_not_overflow() {
    let [q, k, v] = case([1, 40, 1, 64], 200, 1).inputs(DType::BF16);
    let q = (wide(&q) * 1e3).unwrap().to_dtype(DType::BF16).unwrap();
    let want = nn::attention(&wide(&q), &wide(&k), &wide(&v), Mask::None).unwrap();
    let got = emulated(cuda::attention(&q, &k, &v, false));
    let (got, want) = (flat(&got), flat(&want));
    let near = got.iter().zip(&want).filter(|(got, want)| (*got - *want).abs() < 0.02).count();
    assert!(near * 100 > got.len() * 97, "{near} of {}", got.len());
    assert!(got.iter().all(|value| value.is_finite()));
}

/// The emulation is only useful if it finds bugs that would show on a GPU but not on a CPU.
#[test]
fn the_emulation_finds_races_and_places_beyond_the_end() {
    let x = random("x", &[3, 1344], DType::F32);
    let work = cuda::norm_rows(&x, RowNorm { eps: 1e-5, ..RowNorm::default() }).unwrap().unwrap();
    let error = |work: &Launches, from: &str, to: &str| {
        let changed = EMULATION.changed("norm", |text| text.replace(from, to)).unwrap();
        changed.run(work).unwrap_err().to_string()
    };
    let race = error(&work, "of_warps[warp] = value;\n    __syncthreads();", "of_warps[warp] = value;");
    assert!(race.contains("depends on the order of threads"), "{race}");
    let beyond = error(&work, "place < row.width; place", "place <= row.width; place");
    assert!(beyond.contains("AddressSanitizer"), "{beyond}");
    let waits = error(&work, "if (lane == 0) of_warps", "if (lane < 1) __syncthreads(), of_warps");
    assert!(waits.contains("wait"), "{waits}");

    let mut fewer = work.clone();
    fewer.launches[0].arguments.pop();
    let refused = EMULATION.run(&fewer).unwrap_err().to_string();
    assert!(refused.contains("too few arguments"), "{refused}");
    let mut other = work;
    other.launches[0].arguments.swap(6, 7);
    let refused = EMULATION.run(&other).unwrap_err().to_string();
    assert!(refused.contains("is no long long"), "{refused}");
}

#[test]
fn there_are_kernels_for_what_tensor_cores_multiply() {
    let shape = |width| [1, 4, 1, width];
    for (dtype, width) in [(DType::F32, 64), (DType::BF16, 48), (DType::BF16, 512)] {
        let x = random("x", &shape(width), dtype);
        assert!(cuda::attention(&x, &x, &x, false).unwrap().is_none());
    }
    assert!(cuda::enabled(), "kernels are on until somebody turns them off");
}
