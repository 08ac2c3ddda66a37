//! Weights that are held as whole numbers of 8 bits, and inputs that are rounded to such, in groups with a scale each.
//!
//! The processor multiplies four unsigned numbers with four signed ones (`vpdpbusd` of VNNI), twice as many as pairs of 16 bits.
//! Weights are made unsigned by adding 128; what that adds to a sum depends on the inputs alone, and sums start with less by as
//! much.

use pulp::{Simd, bytemuck::cast_slice_mut};

use super::{
    super::operands::Weights,
    cut::{GROUP, Width},
    numbers::Numbers,
    tile::{Panel, Row, bytes_256, bytes_512},
};

/// The largest number.
const MOST: f32 = 127.0;
/// The smallest scale: numbers that are smaller have no inverse.
const LEAST: f32 = 1e-36;

const _: () = assert!(255 * 128 * GROUP as i64 <= i32::MAX as i64, "sums of a group would overflow");

/// Numbers of 8 bits.
#[derive(Clone, Copy)]
pub struct Bytes;

impl Numbers for Bytes {
    const WIDTH: Width = Width::Bytes;

    #[inline(always)]
    fn write<S: Simd>(self, _: S, values: &[f32], lanes: &mut [u32], units: &mut [f32], starts: &mut [i32]) {
        let bytes: &mut [i8] = cast_slice_mut(lanes);
        let groups = values.chunks(GROUP).zip(bytes.chunks_mut(GROUP));
        for ((values, bytes), (unit, start)) in groups.zip(units.iter_mut().zip(starts)) {
            (*unit, *start) = match (values.as_array::<GROUP>(), bytes.as_mut_array::<GROUP>()) {
                // Of constant length, so that the compiler unrolls the loops.
                (Some(values), Some(bytes)) => quantize(values, bytes),
                _ => quantize(values, bytes),
            };
        }
    }

    #[inline(always)]
    fn take<S: Simd>(
        self,
        _: S,
        weights: Weights<'_>,
        start: usize,
        _: &mut [f32],
        lanes: &mut [u32],
        units: &mut [f32],
    ) {
        let Some(integers) = weights.integers() else {
            // They are asked for before anything is multiplied.
            return units.fill(f32::NAN);
        };
        let bytes: &mut [u8] = cast_slice_mut(lanes);
        let count = bytes.len();
        for (byte, integer) in bytes.iter_mut().zip(&integers.values[start..][..count]) {
            *byte = integer ^ 0x80;
        }
        for (group, unit) in units.iter_mut().enumerate().take(count.div_ceil(GROUP)) {
            *unit = integers.scale(start + group * GROUP);
        }
    }

    unsafe fn multiply<const R: usize>(self, rows: &[Row<'_>; R], panel: Panel<'_>, tile: &mut [f32]) {
        // SAFETY: the caller promises it.
        unsafe {
            match (R, panel.width) {
                (8, 16) => bytes_512::<R, 1>(rows, panel, tile),
                (8, 32) => bytes_512::<R, 2>(rows, panel, tile),
                (8, _) => bytes_512::<R, 3>(rows, panel, tile),
                (_, 8) => bytes_256::<R, 1>(rows, panel, tile),
                _ => bytes_256::<R, 2>(rows, panel, tile),
            }
        }
    }
}

/// Writes the values of a group. Returns what they are multiples of then, which is not a number if one of them is infinite or
/// not a number, and what unsigned weights add to the sum.
#[inline(always)]
fn quantize(values: &[f32], bytes: &mut [i8]) -> (f32, i32) {
    /// Adding this to a number leaves its nearest integer in the lowest bits of the mantissa.
    const MAGIC: f32 = 12_582_912.0;
    let largest = values.iter().fold(0, |largest: u32, value| largest.max(value.to_bits() & 0x7fff_ffff));
    let largest = f32::from_bits(largest);
    if !largest.is_finite() {
        bytes.fill(0);
        return (f32::NAN, 0);
    }
    let largest = largest.max(LEAST);
    let factor = MOST / largest;
    for (byte, value) in bytes.iter_mut().zip(values) {
        let shifted = (value * factor).clamp(-MOST, MOST) + MAGIC;
        *byte = shifted.to_bits() as i8;
    }
    let sum: i32 = bytes.iter().map(|byte| i32::from(*byte)).sum();
    (largest / MOST, -128 * sum)
}

#[cfg(test)]
mod tests {
    use super::{super::tile::has_vnni_of_256_bits, *};
    use crate::computed::check::{flat, random};

    #[test]
    fn values_become_the_nearest_numbers() {
        for scale in [1.0, 1e-30, 1e30, 0.0] {
            let values: Vec<f32> = flat(&random(&[GROUP], 1)).iter().map(|value| value * scale).collect();
            let mut bytes = [0; GROUP];
            let (unit, start) = quantize(&values, &mut bytes);
            for (value, byte) in values.iter().zip(bytes) {
                let error = (f64::from(*value) - f64::from(byte) * f64::from(unit)).abs();
                assert!(error <= 0.5001 * f64::from(unit), "{value}: {byte} · {unit}");
            }
            assert!(scale == 0.0 || bytes.iter().any(|byte| byte.abs() == 127), "{bytes:?}");
            assert_eq!(start, -128 * bytes.iter().map(|byte| i32::from(*byte)).sum::<i32>());
        }
        for odd in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(quantize(&[1.0, odd], &mut [0; 2]).0.is_nan());
        }
        let mut bytes = [0; 3];
        assert!(quantize(&[f32::MAX, f32::MIN, 0.0], &mut bytes).0.is_normal());
        assert_eq!(bytes, [127, -127, 0]);
    }

    /// All vectors that the processor has compute the same, also with the largest numbers.
    #[test]
    fn sums_are_exact_with_all_vectors() {
        if !(is_x86_feature_detected!("avx512vnni") || has_vnni_of_256_bits()) {
            return;
        }
        const OUTPUTS: usize = 16;
        const LANES: usize = GROUP / 4 + 9;
        let numbers = |seed: u32| -> Vec<u8> {
            let mut state = seed;
            let next = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            };
            (0..4 * LANES).map(next).collect()
        };
        for most in [true, false] {
            let of = |seed: u32, largest: u8| if most { vec![largest; 4 * LANES] } else { numbers(seed) };
            let rows: Vec<Vec<u8>> = (0..8).map(|row| of(row, 0x81)).collect();
            let weights: Vec<Vec<u8>> = (0..OUTPUTS).map(|output| of(100 + output as u32, 0xff)).collect();
            let lanes_of = |bytes: &[u8]| -> Vec<u32> {
                bytes.as_chunks().0.iter().map(|lane| u32::from_le_bytes(*lane)).collect()
            };
            let lanes: Vec<Vec<u32>> = rows.iter().map(|row| lanes_of(row)).collect();
            let columns: Vec<Vec<u32>> = weights.iter().map(|weights| lanes_of(weights)).collect();
            let panel: Vec<u32> =
                (0..LANES).flat_map(|lane| columns.iter().map(move |column| column[lane])).collect();
            // Groups count differently.
            let (row_units, units) = ([1.0, 2.0], [[1.0; OUTPUTS], [4.0; OUTPUTS]].concat());
            let starts = [-3, 5];
            let rows_of: [Row<'_>; 8] =
                std::array::from_fn(|row| Row { lanes: &lanes[row], units: &row_units, starts: &starts });
            let panel = Panel { lanes: &panel, units: &units, width: OUTPUTS };
            let want = |row: usize, output: usize| -> f64 {
                let both = rows[row].iter().zip(&weights[output]);
                let products: Vec<i64> =
                    both.map(|(x, weight)| i64::from(x.cast_signed()) * i64::from(*weight)).collect();
                let sum = |range: &[i64], start: i64| (range.iter().sum::<i64>() + start) as f64;
                sum(&products[..GROUP], -3) + 8.0 * sum(&products[GROUP..], 5)
            };
            let assert_right = |tile: &[f32], rows: usize| {
                for row in 0..rows {
                    for output in 0..OUTPUTS {
                        let (got, want) = (f64::from(tile[row * OUTPUTS + output]), want(row, output));
                        assert!((got - want).abs() <= 1e-6 * want.abs(), "{row}, {output}: {got}, {want}");
                    }
                }
            };
            let (mut wide, mut narrow) = ([0.0; 8 * OUTPUTS], [0.0; 6 * OUTPUTS]);
            if is_x86_feature_detected!("avx512vnni") {
                // SAFETY: the processor has it.
                unsafe { bytes_512::<8, 1>(&rows_of, panel, &mut wide) };
                assert_right(&wide, 8);
            }
            if has_vnni_of_256_bits() {
                let six = rows_of.first_chunk().unwrap();
                // SAFETY: the processor has it.
                unsafe { bytes_256::<6, 2>(six, panel, &mut narrow) };
                assert_right(&narrow, 6);
            }
        }
    }
}
