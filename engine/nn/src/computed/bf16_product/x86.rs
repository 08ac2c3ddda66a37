//! What the products of both instructions have in common.

use std::{arch::x86_64::*, num::NonZeroUsize, sync::OnceLock};

use half::bf16;
use pulp::Simd;

use super::{
    super::{
        operands::{Start, Weights},
        simd::Tiled,
        sums::Kept,
        whole_product::{self, Width},
    },
    Instruction, LANES, Method, packed_rows, packed_weights, pairs, tiles,
};
use crate::{
    instructions::{amd_family, arch},
    precision::rotate,
};

/// The fastest instruction of this processor.
pub fn detect() -> Option<Instruction> {
    static DETECTED: OnceLock<Option<Instruction>> = OnceLock::new();
    *DETECTED.get_or_init(|| {
        // Rows are packed with the vectors of AVX-512.
        if !(matches!(arch(), pulp::x86::Arch::V4(_)) && is_x86_feature_detected!("avx512bf16")) {
            return None;
        }
        if tiles::are_available() {
            return Some(Instruction::Tiles);
        }
        amd_family().map(|_| Instruction::Pairs)
    })
}

/// An instruction, ready in this thread.
pub struct Unit(Option<tiles::Config>);

impl Unit {
    /// Panics on processors without the instruction.
    pub fn of(instruction: Instruction) -> Self {
        let usable = detect();
        assert!(usable == Some(instruction) || usable.is_some() && instruction == Instruction::Pairs);
        Self((instruction == Instruction::Tiles).then(tiles::Config::load))
    }

    /// Adds the products of rows of weights, `stride` apart with [`GAP`] values behind each, and a panel `[pair][column]` to sums
    /// in rows of `width`. There are at most [`STRIP`] rows, in multiples of [`Instruction::rows`].
    pub fn add(&self, weights: &[u32], stride: usize, panel: &[u32], sums: &mut [f32], width: usize) {
        match &self.0 {
            Some(config) => config.add(weights, stride, panel, sums, width),
            // SAFETY: the processor has the instruction, as was asserted.
            None => unsafe { pairs::add(weights, stride, panel, sums, width) },
        }
    }
}

/// `out = start + x · weightsᵀ`, with `x` `[row, in]`, `weights` `[out, in]` and an even number of inputs. Panics on processors
/// without the instruction for it.
pub fn multiply<T: Kept>(
    method: Method,
    x: &[bf16],
    weights: Weights<'_>,
    start: Start<'_>,
    inputs: usize,
    out: &mut [T],
) {
    match method {
        Method::By(Instruction::Pairs) => packed_weights::multiply(x, weights, start, inputs, out),
        Method::By(Instruction::Tiles) => packed_rows::multiply(x, weights, start, inputs, out),
        Method::Words => whole_product::multiply(Width::Words, Weights::Bf16(x), weights, start, inputs, out),
    }
}

/// Writes values as pairs.
pub fn join(values: &[bf16], pairs: &mut [u32]) {
    for (pair, both) in pairs.iter_mut().zip(values.as_chunks().0) {
        *pair = joint(*both);
    }
}

/// Two values as a pair.
#[inline(always)]
pub fn joint([first, second]: [bf16; 2]) -> u32 {
    u32::from(first.to_bits()) | u32::from(second.to_bits()) << 16
}

/// Rounds whole vectors of pairs to bf16.
#[target_feature(enable = "avx512f,avx512bf16")]
pub fn pair_up(values: &[f32], pairs: &mut [u32]) {
    let halves = values.as_chunks::<LANES>().0.as_chunks::<2>().0;
    for (pairs, [low, high]) in pairs.as_chunks_mut::<LANES>().0.iter_mut().zip(halves) {
        // SAFETY: all are sixteen floats, or as many pairs.
        *pairs = unsafe {
            let [low, high] = [*low, *high].map(|half| std::mem::transmute::<[f32; LANES], __m512>(half));
            std::mem::transmute::<__m512bh, [u32; LANES]>(_mm512_cvtne2ps_pbh(high, low))
        };
    }
}

/// Rotates a row of the input in f32.
pub struct Rotate<'a> {
    pub x: &'a [bf16],
    pub rotation: NonZeroUsize,
    pub out: &'a mut [f32],
}

impl Tiled for Rotate<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, _: S) {
        for (out, x) in self.out.iter_mut().zip(self.x) {
            *out = x.wide();
        }
        self.out.chunks_exact_mut(self.rotation.get()).for_each(rotate);
    }
}

/// Widens the weights of a part of an output.
pub struct Widen<'a> {
    pub weights: Weights<'a>,
    pub place: usize,
    pub out: &'a mut [f32],
}

impl Tiled for Widen<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        self.weights.widen(simd, self.place, self.out);
    }
}
