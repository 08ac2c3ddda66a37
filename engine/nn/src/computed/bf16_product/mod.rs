//! Matrix products of values in bf16, by what some processors multiply faster than f32: tiles of bf16 (AMX, `tdpbf16ps`),
//! vectors of pairs of bf16 (AVX-512, `vdpbf16ps`), or vectors of pairs of whole numbers (`vpdpwssd` of VNNI, `vpmaddwd` of
//! AVX2). Packed weights are rounded to bf16 or to such numbers, as to bf16 on GPUs. Sums are f32.
//!
//! Each entry is summed in one fixed order, so results do not depend on the number of threads. They differ in the last bits
//! between the three, and from processors without any.

mod cut;
#[cfg(not(target_arch = "x86_64"))]
mod elsewhere;
#[cfg(target_arch = "x86_64")]
mod packed_rows;
#[cfg(target_arch = "x86_64")]
mod packed_weights;
#[cfg(target_arch = "x86_64")]
mod pairs;
#[cfg(target_arch = "x86_64")]
mod tiles;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::{
    simd::Tile,
    whole_product::{Width, can_multiply},
};

pub(crate) use cut::{pieces, scratch_bytes};
#[cfg(not(target_arch = "x86_64"))]
use elsewhere as x86;
pub(super) use x86::{Unit, join, multiply};

/// Lanes of a vector, each with a pair.
pub(super) const LANES: usize = 16;
/// Outputs that are computed together, at most.
pub(super) const STRIP: usize = 32;
/// What a row of weights in the cache is longer by: at a power of two, rows would share places of the cache.
pub(super) const GAP: usize = LANES;

/// An instruction for products in bf16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// `vdpbf16ps` of AVX-512.
    Pairs,
    /// `tdpbf16ps` of AMX.
    Tiles,
}

impl Instruction {
    /// The fastest one of this processor that is faster than f32. On Intel's, pairs take twice the time of single values.
    pub fn detect() -> Option<Self> {
        x86::detect()
    }

    /// Rows of which [`Unit::add`] takes a multiple.
    pub(super) const fn rows(self) -> usize {
        match self {
            Self::Pairs => 8,
            Self::Tiles => STRIP,
        }
    }

    /// Most columns of a panel, for [`Unit::add`].
    pub(super) const fn columns(self) -> usize {
        match self {
            Self::Pairs => 3 * LANES,
            Self::Tiles => 2 * LANES,
        }
    }
}

/// How linear layers multiply values in bf16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// By an instruction for bf16.
    By(Instruction),
    /// As whole numbers of 16 bits, in groups that share an exponent.
    Words,
}

impl Method {
    /// The fastest one of this processor that is faster than f32.
    pub fn detect() -> Option<Self> {
        Instruction::detect().map(Self::By).or_else(|| can_multiply(Width::Words).then_some(Self::Words))
    }
}

/// The instructions that the functions of this module use on this processor, in words.
pub fn instructions() -> String {
    let vectors = match Tile::detect().lanes {
        16 => "AVX-512",
        8 => "AVX2",
        _ => "vectors of 128 bits",
    };
    match Method::detect() {
        Some(Method::By(Instruction::Tiles)) => format!("{vectors}, bf16 in tiles (AMX)"),
        Some(Method::By(Instruction::Pairs)) => format!("{vectors}, bf16 in pairs"),
        Some(Method::Words) => format!("{vectors}, bf16 as whole numbers"),
        None => vectors.to_owned(),
    }
}

/// Pairs of a row, with zeros to whole tiles.
pub(super) fn pairs_of(inputs: usize) -> usize {
    (inputs / 2).next_multiple_of(LANES)
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Tensor};
    use half::bf16;

    use super::{
        super::{
            check::{assert_close, assert_independent_of_threads, random},
            linear::{LowRank, Weight, linear, linear_with},
            operands::{Start, Weights},
            sums::Kept as _,
        },
        Instruction, Method, multiply,
    };
    use crate::precision::{Encoding, Format, Zeros};

    fn values_of(tensor: &Tensor) -> Vec<bf16> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    /// Those of this processor.
    fn instructions() -> impl Iterator<Item = Instruction> {
        let best = Instruction::detect();
        [Instruction::Pairs, Instruction::Tiles].into_iter().filter(move |one| match best {
            Some(best) => *one == Instruction::Pairs || *one == best,
            None => false,
        })
    }

    #[test]
    fn products_are_those_of_widened_values() {
        let shapes = [
            (5, 2, 1),
            (16, 18, 3),
            (17, 32, 40),
            (48, 256, 64),
            (77, 258, 65),
            (400, 40, 9),
            (385, 600, 130),
            (33, 1026, 71),
            (900, 130, 300),
            // In several pieces of the inputs.
            (9, 2050, 40),
            (21, 4130, 71),
            (70, 4096, 100),
        ];
        for instruction in instructions() {
            for (rows, inputs, outputs) in shapes {
                let narrow = |shape, seed| random(shape, seed).to_dtype(DType::BF16).unwrap();
                let (x, weight, bias) =
                    (narrow(&[rows, inputs], 1), narrow(&[outputs, inputs], 2), random(&[outputs], 3));
                let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
                let want = linear(&wide(&x), &wide(&weight), Some(&bias)).unwrap();
                let bias: Vec<f32> = bias.to_vec1().unwrap();
                let (x, held) = (values_of(&x), values_of(&weight));
                let product = |start, out: &mut [f32]| {
                    multiply(Method::By(instruction), &x, Weights::Bf16(&held), start, inputs, out);
                    Tensor::from_slice(out, (rows, outputs), want.device()).unwrap()
                };
                let mut out = vec![0.0; rows * outputs];
                assert_close(&product(Start::Bias(&bias), &mut out), &want, 2e-6);
                let got = product(Start::There(outputs), &mut out);
                let zeros = vec![0.0; outputs];
                let more = product(Start::Bias(&zeros), &mut out.clone());
                assert_close(&got, &(&want + more).unwrap(), 2e-6);
                // What is kept in bf16 is the same sum, rounded.
                let mut rounded = vec![bf16::ZERO; rows * outputs];
                let method = Method::By(instruction);
                multiply(method, &x, Weights::Bf16(&held), Start::Bias(&bias), inputs, &mut rounded);
                product(Start::Bias(&bias), &mut out);
                let are_rounded = |rounded: &[bf16], sums: &[f32]| {
                    rounded.iter().zip(sums).all(|(rounded, sum)| *rounded == bf16::from_f32(*sum))
                };
                assert!(are_rounded(&rounded, &out));
                let mut sums: Vec<f32> = rounded.iter().map(|value| value.wide()).collect();
                let weights = Weights::Bf16(&held);
                multiply(method, &x, weights, Start::There(outputs), inputs, &mut rounded);
                product(Start::There(outputs), &mut sums);
                assert!(are_rounded(&rounded, &sums));
            }
        }
    }

    #[test]
    fn packed_weights_are_rounded_to_bf16() {
        let Some(method) = Method::detect() else { return };
        // The second in several pieces of the inputs.
        for [rows, inputs, outputs] in [[40, 768, 70], [12, 4352, 20]] {
            let x = random(&[rows, inputs], 1).to_dtype(DType::BF16).unwrap();
            let int8 = Encoding::scaled(Format::I8, inputs);
            let encodings = [
                Format::Q8_0.into(),
                Encoding::scaled(Format::F8E4m3, inputs * outputs),
                int8,
                int8.rotated(256),
                Encoding::scaled(Format::I4, 32).with_zeros(Zeros::Added),
            ];
            for encoding in encodings {
                let values =
                    (0..encoding.format.bytes(inputs * outputs)).map(|place| (place * 37 % 59) as u8);
                let scales = (0..encoding.tail(inputs * outputs)).flat_map(|_| 0.013_f32.to_le_bytes());
                let bytes: Vec<u8> = values.chain(scales).collect();
                let bytes = Tensor::from_vec(bytes.clone(), bytes.len(), x.device()).unwrap();
                let weight = Weight::Packed { bytes, encoding, shape: vec![outputs, inputs] };
                let rounded = weight.widened(DType::F32).unwrap().to_dtype(DType::BF16).unwrap();
                let want = linear(&x, &rounded, None).unwrap();
                let got = linear(&x, weight, None).unwrap();
                if encoding.rotation.is_some() || method == Method::Words {
                    // The rows of the input are rotated instead, and then rounded, or weights are rounded to whole numbers:
                    // by one unit in the last place.
                    let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
                    assert_close(&wide(&got), &wide(&want), 1.0 / 128.0);
                } else {
                    assert_eq!(values_of(&got), values_of(&want), "{encoding:?}");
                }
            }
        }
    }

    #[test]
    fn terms_are_added_before_the_sum_is_rounded() {
        if Method::detect().is_none() {
            return;
        }
        let narrow = |shape, seed| random(shape, seed).to_dtype(DType::BF16).unwrap();
        let (x, weight) = (narrow(&[70, 64], 1), narrow(&[90, 64], 2));
        let term =
            LowRank { down: (&random(&[4, 64], 3)).into(), up: (&random(&[90, 4], 4)).into(), scale: 0.5 };
        let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
        let want = linear_with(&wide(&x), &wide(&weight), None, std::slice::from_ref(&term)).unwrap();
        let got = linear_with(&x, &weight, None, &[term]).unwrap();
        assert_close(&wide(&got), &want, 1.0 / 256.0);
    }

    #[test]
    fn products_are_the_same_on_any_number_of_threads_and_for_any_rows_beside() {
        if Method::detect().is_none() {
            return;
        }
        let narrow = |shape, seed| random(shape, seed).to_dtype(DType::BF16).unwrap();
        let (x, weight) = (narrow(&[500, 130], 1), narrow(&[200, 130], 2));
        assert_independent_of_threads(|| linear(&x, &weight, None).unwrap());
        let all = linear(&x, &weight, None).unwrap();
        for (first, count) in [(0, 5), (3, 100), (450, 50)] {
            let some = linear(&x.narrow(0, first, count).unwrap(), &weight, None).unwrap();
            assert_eq!(values_of(&some), values_of(&all.narrow(0, first, count).unwrap()));
        }
    }
}
