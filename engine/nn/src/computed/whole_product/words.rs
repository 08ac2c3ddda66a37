//! Block floating point: values as whole numbers of 16 bits, in groups that share an exponent.
//!
//! Most processors of Intel multiply pairs of such numbers (VNNI) twice as fast as floats, and pairs of bf16 at half the speed
//! of floats, if at all. AVX2 has it in two instructions, and some processors do as many of the first as of those for floats.
//!
//! Inputs have 13 bits and weights 11, beside the sign, so the sum of a group fits into 32 bits and is exact. What bf16 itself
//! rounds is larger: of its eight significant bits, all are kept of inputs down to 1/32 of the largest one of their group, and
//! of weights down to 1/8.

use pulp::{Simd, bytemuck::cast_slice_mut};

use super::{
    super::{operands::Weights, simd::Tiled},
    cut::{GROUP, Width},
    numbers::Numbers,
    tile::{Panel, Row, has_vnni_of_256_bits, words_256, words_512, words_in_two},
};

/// Bits of an input.
const OF_INPUTS: u32 = 13;
/// Bits of a weight.
const OF_WEIGHTS: u32 = 11;

const _: () = {
    let largest = ((1_i64 << OF_INPUTS) - 1) * ((1 << OF_WEIGHTS) - 1);
    assert!(largest * GROUP as i64 <= i32::MAX as i64, "sums of a group would overflow");
};

/// Numbers of 16 bits.
#[derive(Clone, Copy)]
pub struct Words;

impl Numbers for Words {
    const WIDTH: Width = Width::Words;

    #[inline(always)]
    fn write<S: Simd>(self, simd: S, values: &[f32], lanes: &mut [u32], units: &mut [f32], _: &mut [i32]) {
        Quantize::<OF_INPUTS> { values, words: cast_slice_mut(lanes), units }.run::<S, 1, 1>(simd);
    }

    #[inline(always)]
    fn take<S: Simd>(
        self,
        simd: S,
        weights: Weights<'_>,
        start: usize,
        wide: &mut [f32],
        lanes: &mut [u32],
        units: &mut [f32],
    ) {
        weights.widen(simd, start, wide);
        Quantize::<OF_WEIGHTS> { values: wide, words: cast_slice_mut(lanes), units }.run::<S, 1, 1>(simd);
    }

    unsafe fn multiply<const R: usize>(self, rows: &[Row<'_>; R], panel: Panel<'_>, tile: &mut [f32]) {
        // SAFETY: the caller promises it.
        unsafe {
            match (R, panel.width) {
                (8, 16) => words_512::<R, 1>(rows, panel, tile),
                (8, 32) => words_512::<R, 2>(rows, panel, tile),
                (8, _) => words_512::<R, 3>(rows, panel, tile),
                (_, 8) if has_vnni_of_256_bits() => words_256::<R, 1>(rows, panel, tile),
                _ if has_vnni_of_256_bits() => words_256::<R, 2>(rows, panel, tile),
                (_, 8) => words_in_two::<R, 1>(rows, panel, tile),
                _ => words_in_two::<R, 2>(rows, panel, tile),
            }
        }
    }
}

/// Writes values as numbers of `BITS` bits, and what the numbers of each group are multiples of.
struct Quantize<'a, const BITS: u32> {
    values: &'a [f32],
    words: &'a mut [i16],
    units: &'a mut [f32],
}

impl<const BITS: u32> Tiled for Quantize<'_, BITS> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, _: S) {
        let groups = self.values.chunks(GROUP).zip(self.words.chunks_mut(GROUP));
        for ((values, words), unit) in groups.zip(self.units) {
            *unit = match (values.as_array::<GROUP>(), words.as_mut_array::<GROUP>()) {
                // Of constant length, so that the compiler unrolls the loops.
                (Some(values), Some(words)) => quantize::<BITS>(values, words),
                _ => quantize::<BITS>(values, words),
            };
        }
    }
}

/// Writes the values of a group, and returns the power of two of which they are multiples then. It is not a number if one of
/// them is infinite or not a number.
#[inline(always)]
fn quantize<const BITS: u32>(values: &[f32], words: &mut [i16]) -> f32 {
    /// Adding this to a number leaves its nearest integer in the lowest bits of the mantissa.
    const MAGIC: f32 = 12_582_912.0;
    /// Above what has no power of two for a unit, far below what matters.
    const LEAST: u32 = 16;
    let largest = values.iter().fold(0, |largest: u32, value| largest.max(value.to_bits() & 0x7fff_ffff));
    let exponent = (largest >> 23).max(LEAST);
    if exponent == 255 {
        words.fill(0);
        return f32::NAN;
    }
    // The largest value is below 2^(exponent - 126).
    let factor = f32::from_bits((253 + BITS - exponent) << 23);
    let most = ((1 << BITS) - 1) as f32;
    for (word, value) in words.iter_mut().zip(values) {
        let shifted = (value * factor).clamp(-most, most) + MAGIC;
        *word = shifted.to_bits() as i16;
    }
    f32::from_bits((exponent + 1 - BITS) << 23)
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::simd::run,
            tile::{Panel, Row, has_vnni_of_256_bits, words_256, words_512, words_in_two},
        },
        *,
    };

    fn written<const BITS: u32>(values: &[f32]) -> (Vec<i16>, Vec<f32>) {
        let mut words = vec![0; values.len()];
        let mut units = vec![0.0; values.len().div_ceil(GROUP)];
        run(Quantize::<BITS> { values, words: &mut words, units: &mut units });
        (words, units)
    }

    /// Pseudorandom values of different sizes.
    fn values(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state.cast_signed() >> 16) as f32 * 0.5_f32.powi((state >> 13 & 7).cast_signed())
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn values_become_the_nearest_numbers() {
        for scale in [1.0, 1e-30, 1e30, 0.0] {
            let values: Vec<f32> = values(300, 1).iter().map(|value| value * scale).collect();
            let (words, units) = written::<OF_INPUTS>(&values);
            for (place, (value, word)) in values.iter().zip(words).enumerate() {
                let unit = f64::from(units[place / GROUP]);
                let error = (f64::from(*value) - f64::from(word) * unit).abs();
                let largest = f64::from(value.abs()) >= 8191.0 * unit;
                assert!(error <= if largest { unit } else { unit / 2.0 }, "{value}: {word} · {unit}");
                assert!(word.unsigned_abs() < 1 << OF_INPUTS);
            }
            let largest = values[..GROUP].iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
            assert!(scale == 0.0 || largest >= 4096.0 * units[0], "{largest} · {}", units[0]);
        }
    }

    #[test]
    fn groups_with_what_is_not_finite_are_not_numbers() {
        for odd in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            let mut values = values(3 * GROUP, 1);
            values[GROUP + 5] = odd;
            let (_, units) = written::<OF_WEIGHTS>(&values);
            assert_eq!(units.iter().map(|unit| unit.is_nan()).collect::<Vec<_>>(), [false, true, false]);
        }
        let (words, units) = written::<OF_WEIGHTS>(&[f32::MAX, f32::MIN, 0.0]);
        assert_eq!(words, [2047, -2047, 0]);
        assert!(units[0].is_normal());
    }

    #[test]
    fn the_largest_sums_do_not_overflow_and_all_vectors_give_the_same_bits() {
        if !(is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")) {
            return;
        }
        const OUTPUTS: usize = 16;
        let pairs = 2 * (GROUP / 2) + 9;
        for most in [true, false] {
            let row = |row: usize, bits: u32| -> (Vec<i16>, Vec<f32>) {
                let of_sign = |place: usize| if (place / GROUP + row).is_multiple_of(2) { 1.0 } else { -1.0 };
                let values: Vec<f32> = if most {
                    (0..2 * pairs).map(|place| 2.25e15 * of_sign(place)).collect()
                } else {
                    values(2 * pairs, 7 * row as u32 + bits)
                };
                if bits == OF_INPUTS { written::<OF_INPUTS>(&values) } else { written::<OF_WEIGHTS>(&values) }
            };
            let rows: Vec<_> = (0..8).map(|index| row(index, OF_INPUTS)).collect();
            let weights: Vec<_> = (0..OUTPUTS).map(|index| row(index, OF_WEIGHTS)).collect();
            let (mut words, mut units) = (vec![0_u32; pairs * OUTPUTS], Vec::new());
            let both: &mut [[i16; 2]] = cast_slice_mut(&mut words);
            for (output, (of_output, _)) in weights.iter().enumerate() {
                for (pair, words) in of_output.as_chunks::<2>().0.iter().enumerate() {
                    both[pair * OUTPUTS + output] = *words;
                }
            }
            for group in 0..3 {
                units.extend(weights.iter().map(|(_, units)| units[group]));
            }
            let mut want = vec![0.0_f64; 8 * OUTPUTS];
            for (row, (of_row, row_units)) in rows.iter().enumerate() {
                for (output, (of_output, output_units)) in weights.iter().enumerate() {
                    for (place, (x, weight)) in of_row.iter().zip(of_output).enumerate() {
                        let unit =
                            f64::from(row_units[place / GROUP]) * f64::from(output_units[place / GROUP]);
                        want[row * OUTPUTS + output] += f64::from(*x) * f64::from(*weight) * unit;
                    }
                }
            }
            let mut joined = vec![0_u32; 8 * pairs];
            for (joined, (words, _)) in joined.chunks_exact_mut(pairs).zip(&rows) {
                cast_slice_mut::<u32, i16>(joined).copy_from_slice(words);
            }
            let held: [Row<'_>; 8] = std::array::from_fn(|row| Row {
                lanes: &joined[row * pairs..][..pairs],
                units: &rows[row].1,
                starts: &[],
            });
            let panel = Panel { lanes: &words, units: &units, width: OUTPUTS };
            let largest = want.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            let mut tile = [0.0; 6 * OUTPUTS];
            let six = held.first_chunk().unwrap();
            // SAFETY: the processor has AVX2 and FMA.
            unsafe { words_in_two::<6, 2>(six, panel, &mut tile) };
            let assert_near = |tile: &[f32]| {
                for (got, want) in tile.iter().zip(&want) {
                    assert!((f64::from(*got) - want).abs() <= 1e-6 * largest, "{got}, expected {want}");
                }
            };
            assert_near(&tile);
            if has_vnni_of_256_bits() {
                let mut other = [0.0; 6 * OUTPUTS];
                // SAFETY: and VNNI with vectors of 256 bits.
                unsafe { words_256::<6, 2>(six, panel, &mut other) };
                assert_eq!(other, tile);
            }
            if is_x86_feature_detected!("avx512vnni") {
                let mut other = [0.0; 8 * OUTPUTS];
                // SAFETY: and with those of 512.
                unsafe { words_512::<8, 1>(&held, panel, &mut other) };
                assert_near(&other);
                assert_eq!(other[..tile.len()], tile);
            }
        }
    }
}
