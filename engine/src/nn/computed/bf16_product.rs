//! Matrix products in bf16, by the instruction of AVX-512 that multiplies pairs of values and adds in f32 (`vdpbf16ps`). It does
//! twice as much as f32 instructions in the same time. Packed weights are rounded to bf16 for it, as on GPUs.
//!
//! Each entry is summed in one fixed order, so results do not depend on the number of threads. They differ in the last bits
//! from those of processors without the instruction.

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use half::bf16;

    use super::super::operands::{Start, Weights};

    pub fn is_available() -> bool {
        false
    }

    pub fn multiply(_: &[bf16], _: Weights<'_>, _: Start<'_>, _: usize, _: &mut [f32]) {}
}

#[cfg(not(target_arch = "x86_64"))]
pub use elsewhere::is_available;
#[cfg(not(target_arch = "x86_64"))]
pub(super) use elsewhere::multiply;
#[cfg(target_arch = "x86_64")]
pub use x86::is_available;
#[cfg(target_arch = "x86_64")]
pub(super) use x86::multiply;

/// Lanes of a vector, each with a pair.
const LANES: usize = 16;
/// Vectors across a full register tile.
const VECTORS: usize = 3;
/// Rows of x in a panel.
const COLUMNS: usize = LANES * VECTORS;
/// Panels that share the weights in the cache.
const PANELS: usize = 8;
/// Outputs per work item.
const OUTPUTS: usize = 64;
/// Outputs of a register tile.
const ROWS: usize = 8;
/// Pairs summed at a time.
const DEPTH: usize = 128;

/// Scratch bytes of a product, without its input and its result.
pub(in crate::nn) fn scratch_bytes(rows: usize, inputs: usize, outputs: usize, threads: usize) -> usize {
    let width = rows.min(PANELS * COLUMNS).next_multiple_of(LANES);
    let pieces = outputs.div_ceil(OUTPUTS);
    let workers = threads.min(pieces) * (OUTPUTS * width + (OUTPUTS + 2 * ROWS) * DEPTH) * size_of::<f32>();
    let lists = pieces * width.min(rows) * size_of::<&mut [f32]>();
    width * inputs / 2 * size_of::<u32>() + outputs * size_of::<f32>() + workers + lists
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::{
        arch::x86_64::{
            __m512, __m512bh, __m512i, _mm512_cvtne2ps_pbh, _mm512_dpbf16_ps, _mm512_set1_epi32,
            _mm512_setzero_ps,
        },
        num::NonZeroUsize,
        ops::Range,
    };

    use half::bf16;
    use pulp::Simd;
    use rayon::prelude::*;

    use super::{
        super::{
            operands::{Start, Weights},
            simd::{Tiled, run},
        },
        COLUMNS, DEPTH, LANES, OUTPUTS, PANELS, ROWS, VECTORS,
    };
    use crate::precision::rotate;

    /// Whether this processor has the instruction.
    pub fn is_available() -> bool {
        is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16")
    }

    /// `out = start + x · weightsᵀ`, with `x` `[row, in]`, `weights` `[out, in]` and an even number of inputs. Only on
    /// processors that [have the instruction](is_available); elsewhere it panics.
    pub fn multiply(x: &[bf16], weights: Weights<'_>, start: Start<'_>, inputs: usize, out: &mut [f32]) {
        assert!(is_available(), "this processor has no vdpbf16ps");
        let (outputs, pairs) = (start.outputs(), inputs / 2);
        let (weights, rotation) = weights.without_rotation();
        let together = PANELS * COLUMNS;
        let mut panels = Vec::new();
        for (x, out) in x.chunks(together * inputs).zip(out.chunks_mut(together * outputs)) {
            let rows = x.len() / inputs;
            panels.resize(rows.div_ceil(LANES) * pairs, [0_u32; LANES]);
            panels.par_chunks_mut(VECTORS * pairs).zip(x.par_chunks(COLUMNS * inputs)).for_each(
                |(panel, x)| {
                    let vectors = panel.len() / pairs;
                    let (mut rotated, mut joint) = (Vec::new(), Vec::new());
                    for (row, x) in x.chunks_exact(inputs).enumerate() {
                        let mut put =
                            |pair: usize, both: u32| panel[pair * vectors + row / LANES][row % LANES] = both;
                        let Some(rotation) = rotation else {
                            x.as_chunks()
                                .0
                                .iter()
                                .enumerate()
                                .for_each(|(pair, both)| put(pair, joined(both)));
                            continue;
                        };
                        rotated.resize(inputs.next_multiple_of(2 * LANES), 0.0);
                        run(Rotate { x, rotation, out: &mut rotated[..inputs] });
                        joint.clear();
                        // SAFETY: the instructions are there, as was asserted above.
                        unsafe { pair_up(&rotated, &mut joint) };
                        joint[..pairs].iter().enumerate().for_each(|(pair, both)| put(pair, *both));
                    }
                },
            );
            let mut work: Vec<Vec<&mut [f32]>> = Vec::with_capacity(outputs.div_ceil(OUTPUTS));
            work.resize_with(outputs.div_ceil(OUTPUTS), || Vec::with_capacity(rows));
            for row in out.chunks_mut(outputs) {
                for (work, part) in work.iter_mut().zip(row.chunks_mut(OUTPUTS)) {
                    work.push(part);
                }
            }
            let panels = &*panels;
            work.into_par_iter().enumerate().for_each_init(Scratch::default, |scratch, (index, out)| {
                let first = index * OUTPUTS;
                let bias = match start {
                    Start::Bias(bias) => Some(&bias[first..first + out[0].len()]),
                    Start::There(_) => None,
                };
                let block = Block { panels, weights, first, bias, pairs, out };
                // SAFETY: the instructions are there, as was asserted above.
                unsafe { compute(block, scratch) }
            });
        }
    }

    /// A range of outputs, for all rows of the panels.
    struct Block<'a> {
        /// Pairs of some rows of x, `[panel][pair][vector]`.
        panels: &'a [[u32; LANES]],
        weights: Weights<'a>,
        /// Index of the first output.
        first: usize,
        /// The initial value of the sums; `None` adds to what `out` holds.
        bias: Option<&'a [f32]>,
        /// Pairs of a row.
        pairs: usize,
        /// The outputs of each row.
        out: Vec<&'a mut [f32]>,
    }

    /// Scratch memory that a worker reuses between work items.
    #[derive(Default)]
    struct Scratch {
        sums: Vec<[f32; LANES]>,
        weights: Vec<u32>,
        widened: Vec<f32>,
    }

    impl Scratch {
        /// Adds `depth` pairs of each of some outputs to those of others, from a pair of their rows on.
        #[target_feature(enable = "avx512f,avx512bf16")]
        fn add_weights(&mut self, weights: Weights<'_>, outputs: Range<usize>, pairs: Pairs) {
            let Pairs { all, first, depth } = pairs;
            let place = |output: usize| 2 * (output * all + first);
            if let Weights::Bf16(weights) = weights {
                for output in outputs {
                    let row = &weights[place(output)..][..2 * depth];
                    self.weights.extend(row.as_chunks::<2>().0.iter().map(joined));
                }
                return;
            }
            // What is behind a row's last value is converted with it, and left out.
            let width = (2 * depth).next_multiple_of(2 * LANES);
            for outputs in outputs.clone().step_by(ROWS).map(|first| first..outputs.end.min(first + ROWS)) {
                self.widened.resize(self.widened.len().max(outputs.len() * width), 0.0);
                let rows = &mut self.widened[..outputs.len() * width];
                run(Widen { weights, places: outputs.map(place), length: 2 * depth, width, out: rows });
                for row in rows.chunks_exact(width) {
                    let end = self.weights.len() + depth;
                    pair_up(row, &mut self.weights);
                    self.weights.truncate(end);
                }
            }
        }
    }

    /// Some pairs of each row of weights.
    #[derive(Clone, Copy)]
    struct Pairs {
        /// Pairs of a row.
        all: usize,
        /// The first of them.
        first: usize,
        /// Their number.
        depth: usize,
    }

    /// Rounds whole vectors of pairs to bf16.
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn pair_up(values: &[f32], pairs: &mut Vec<u32>) {
        for [low, high] in values.as_chunks::<LANES>().0.as_chunks::<2>().0 {
            // SAFETY: all are sixteen floats, or as many pairs.
            let rounded = unsafe {
                let [low, high] = [*low, *high].map(|half| std::mem::transmute::<[f32; LANES], __m512>(half));
                std::mem::transmute::<__m512bh, [u32; LANES]>(_mm512_cvtne2ps_pbh(high, low))
            };
            pairs.extend_from_slice(&rounded);
        }
    }

    /// Rotates a row of the input in f32.
    struct Rotate<'a> {
        x: &'a [bf16],
        rotation: NonZeroUsize,
        out: &'a mut [f32],
    }

    impl Tiled for Rotate<'_> {
        #[inline(always)]
        fn run<S: Simd, const R: usize>(self, _: S) {
            for (out, x) in self.out.iter_mut().zip(self.x) {
                *out = f32::from_bits(u32::from(x.to_bits()) << 16);
            }
            self.out.chunks_exact_mut(self.rotation.get()).for_each(rotate);
        }
    }

    /// Widens `length` weights from each of some places on, to rows of `width`.
    struct Widen<'a, P> {
        weights: Weights<'a>,
        places: P,
        length: usize,
        width: usize,
        out: &'a mut [f32],
    }

    impl<P: Iterator<Item = usize>> Tiled for Widen<'_, P> {
        #[inline(always)]
        fn run<S: Simd, const R: usize>(self, simd: S) {
            for (place, out) in self.places.zip(self.out.chunks_exact_mut(self.width)) {
                self.weights.widen(simd, place, &mut out[..self.length]);
            }
        }
    }

    fn joined([first, second]: &[bf16; 2]) -> u32 {
        u32::from(first.to_bits()) | u32::from(second.to_bits()) << 16
    }

    #[target_feature(enable = "avx512f,avx512bf16")]
    fn compute(block: Block<'_>, scratch: &mut Scratch) {
        let Block { panels, weights, first, bias, pairs, mut out } = block;
        let (height, width) = (out[0].len(), panels.len() / pairs);
        scratch.sums.clear();
        scratch.sums.resize(height * width, [0.0; LANES]);
        scratch.weights.clear();
        // With room for those of the last outputs too, which may be rounded for whole vectors.
        scratch.weights.reserve_exact(height * DEPTH.min(pairs) + LANES);
        for piece in (0..pairs).step_by(DEPTH) {
            let depth = DEPTH.min(pairs - piece);
            scratch.weights.clear();
            scratch.add_weights(weights, first..first + height, Pairs { all: pairs, first: piece, depth });
            for strip in (0..height).step_by(ROWS) {
                let last = height - strip - 1;
                let rows: [&[u32]; ROWS] =
                    std::array::from_fn(|row| &scratch.weights[(strip + row.min(last)) * depth..][..depth]);
                let sums = &mut scratch.sums[strip * width..];
                for first in (0..width).step_by(VECTORS) {
                    let vectors = VECTORS.min(width - first);
                    let panel = &panels[first * pairs + piece * vectors..][..depth * vectors];
                    match vectors {
                        1 => add::<1>(rows, panel, sums, [first, width]),
                        2 => add::<2>(rows, panel, sums, [first, width]),
                        _ => add::<VECTORS>(rows, panel, sums, [first, width]),
                    }
                }
            }
        }
        for (row, out) in out.iter_mut().enumerate() {
            let sums = scratch.sums.chunks_exact(width).map(|sums| sums[row / LANES][row % LANES]);
            for (output, (out, sum)) in out.iter_mut().zip(sums).enumerate() {
                *out = sum + bias.map_or(*out, |bias| bias[output]);
            }
        }
    }

    /// Adds the products of some rows of weights and a panel of `V` vectors to the sums from vector `first` on, of `width`
    /// vectors per row.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn add<const V: usize>(
        rows: [&[u32]; ROWS],
        panel: &[[u32; LANES]],
        sums: &mut [[f32; LANES]],
        [first, width]: [usize; 2],
    ) {
        let tile = product::<V>(rows, panel.as_chunks::<V>().0);
        for (sums, products) in sums.chunks_mut(width).zip(tile) {
            for (sum, products) in sums[first..first + V].iter_mut().zip(products) {
                // SAFETY: both are sixteen floats.
                let products = unsafe { std::mem::transmute::<__m512, [f32; LANES]>(products) };
                sum.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    #[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
    fn product<const V: usize>(rows: [&[u32]; ROWS], panel: &[[[u32; LANES]; V]]) -> [[__m512; V]; ROWS] {
        let mut sums = [[_mm512_setzero_ps(); V]; ROWS];
        let rows = rows.map(|row| &row[..panel.len()]);
        for (pair, vectors) in panel.iter().enumerate() {
            // SAFETY: sixteen pairs have the size of a vector, and every pattern of bits is a number.
            let vectors =
                vectors.map(|pairs| unsafe { std::mem::transmute::<[u32; LANES], __m512bh>(pairs) });
            for row in 0..ROWS {
                let factors = _mm512_set1_epi32(rows[row][pair].cast_signed());
                // SAFETY: as above.
                let factors = unsafe { std::mem::transmute::<__m512i, __m512bh>(factors) };
                for vector in 0..V {
                    sums[row][vector] = _mm512_dpbf16_ps(sums[row][vector], factors, vectors[vector]);
                }
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Tensor};
    use half::bf16;

    use super::{
        super::{
            check::{assert_close, assert_independent_of_threads, random},
            linear::{Weight, linear},
            operands::{Start, Weights},
        },
        is_available, multiply,
    };
    use crate::precision::{Encoding, Format, Zeros};

    fn values_of(tensor: &Tensor) -> Vec<bf16> {
        tensor.flatten_all().unwrap().to_vec1().unwrap()
    }

    #[test]
    fn products_are_those_of_widened_values() {
        if !is_available() {
            return;
        }
        let shapes = [
            (5, 2, 1),
            (16, 18, 3),
            (48, 256, 64),
            (77, 258, 65),
            (400, 40, 9),
            (385, 600, 130),
            (33, 1026, 71),
        ];
        for (rows, inputs, outputs) in shapes {
            let narrow = |shape, seed| random(shape, seed).to_dtype(DType::BF16).unwrap();
            let (x, weight, bias) =
                (narrow(&[rows, inputs], 1), narrow(&[outputs, inputs], 2), random(&[outputs], 3));
            let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
            let want = linear(&wide(&x), &wide(&weight), Some(&bias)).unwrap();
            let bias: Vec<f32> = bias.to_vec1().unwrap();
            let mut out = vec![0.0; rows * outputs];
            let held = values_of(&weight);
            let weights = Weights::Bf16(&held);
            multiply(&values_of(&x), weights, Start::Bias(&bias), inputs, &mut out);
            let got = Tensor::from_vec(out.clone(), (rows, outputs), x.device()).unwrap();
            assert_close(&got, &want, 2e-6);
            multiply(&values_of(&x), weights, Start::There(outputs), inputs, &mut out);
            let got = Tensor::from_vec(out, (rows, outputs), x.device()).unwrap();
            let zeros = vec![0.0; outputs];
            let mut more = vec![0.0; rows * outputs];
            multiply(&values_of(&x), weights, Start::Bias(&zeros), inputs, &mut more);
            let more = Tensor::from_vec(more, (rows, outputs), x.device()).unwrap();
            assert_close(&got, &(want + more).unwrap(), 2e-6);
        }
    }

    #[test]
    fn packed_weights_are_rounded_to_bf16() {
        if !is_available() {
            return;
        }
        let (rows, inputs, outputs) = (40, 768, 70);
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
            let values = (0..encoding.format.bytes(inputs * outputs)).map(|place| (place * 37 % 59) as u8);
            let scales = (0..encoding.tail(inputs * outputs)).flat_map(|_| 0.013_f32.to_le_bytes());
            let bytes: Vec<u8> = values.chain(scales).collect();
            let bytes = Tensor::from_vec(bytes.clone(), bytes.len(), x.device()).unwrap();
            let weight = Weight::Packed { bytes, encoding, shape: vec![outputs, inputs] };
            let rounded = weight.widened(DType::F32).unwrap().to_dtype(DType::BF16).unwrap();
            let want = linear(&x, &rounded, None).unwrap();
            let got = linear(&x, weight, None).unwrap();
            if encoding.rotation.is_some() {
                // The rows of the input are rotated instead, and then rounded: by one unit in the last place.
                let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
                assert_close(&wide(&got), &wide(&want), 1.0 / 128.0);
            } else {
                assert_eq!(values_of(&got), values_of(&want), "{encoding:?}");
            }
        }
    }

    #[test]
    fn products_are_the_same_on_any_number_of_threads_and_for_any_rows_beside() {
        if !is_available() {
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
