//! Quantizes f32 to smaller formats.
//!
//! The loops are written to be auto-vectorized, because weights are quantized while they are read.

use super::{Encoding, Format, floats::f16, packed::NORMAL};
use crate::instructions::arch;

/// Quantizes `values`, which must fill whole blocks; `None` if the format cannot be written.
///
/// Chooses the scales: the largest magnitude of a group maps to the largest value of the format.
pub fn encode(encoding: Encoding, values: &[f32]) -> Option<Vec<u8>> {
    arch().dispatch(
        #[inline(always)]
        || encode_here(encoding, values),
    )
}

/// The scale that maps the largest magnitude of `values` to the largest value of the format; 0 for formats
/// without separate scales.
pub fn scale_of(format: Format, values: &[f32]) -> f32 {
    let magnitude = arch().dispatch(
        #[inline(always)]
        || largest_magnitude(values),
    );
    largest_of(format).map_or(0.0, |largest| magnitude / largest)
}

/// The largest value of a format with separate scales.
fn largest_of(format: Format) -> Option<f32> {
    match format {
        Format::F8E4m3 => Some(448.0),
        Format::F8E5m2 => Some(57_344.0),
        Format::I8 => Some(127.0),
        Format::Nf4 => Some(1.0),
        _ => None,
    }
}

#[inline(always)]
fn encode_here(encoding: Encoding, values: &[f32]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(encoding.bytes(values.len()));
    let Some(group) = encoding.group else {
        encode_values(encoding.format, values, &mut out)?;
        return Some(out);
    };
    let largest = largest_of(encoding.format)?;
    let mut scales = Vec::with_capacity(encoding.scales(values.len()));
    let mut scaled = Vec::with_capacity(values.len());
    for group in values.chunks(group.get()) {
        let scale = largest_magnitude(group) / largest;
        scales.push(scale);
        let divisor = if scale == 0.0 { 1.0 } else { scale };
        scaled.extend(group.iter().map(|value| value / divisor));
    }
    encode_values(encoding.format, &scaled, &mut out)?;
    out.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
    Some(out)
}

#[inline(always)]
fn encode_values(format: Format, values: &[f32], out: &mut Vec<u8>) -> Option<()> {
    if !values.len().is_multiple_of(format.block().0) {
        return None;
    }
    match format {
        Format::F32 => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
        Format::F16 => out.extend(values.iter().flat_map(|value| half::f16::from_f32(*value).to_le_bytes())),
        Format::Bf16 => {
            out.extend(values.iter().flat_map(|value| half::bf16::from_f32(*value).to_le_bytes()));
        }
        Format::F8E4m3 => out.extend(values.iter().map(|value| to_e4m3(*value))),
        Format::F8E5m2 => out.extend(values.iter().map(|value| to_e5m2(*value))),
        Format::I8 => out.extend(values.iter().map(|value| to_integer(*value))),
        Format::Nf4 => {
            out.extend(
                values.as_chunks().0.iter().map(|[first, second]| normal(*first) << 4 | normal(*second)),
            );
        }
        Format::Q8_0 => values.as_chunks().0.iter().for_each(|block| q8_0(block, out)),
        Format::Q4K => values.as_chunks().0.iter().for_each(|block| q4_k(block, out)),
        _ => return None,
    }
    Some(())
}

#[inline(always)]
fn largest_magnitude(values: &[f32]) -> f32 {
    const LANES: usize = 32;
    let larger = |one: f32, other: f32| if other > one { other } else { one };
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0f32; LANES];
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane = larger(*lane, value.abs());
        }
    }
    lanes.into_iter().chain(rest.iter().map(|value| value.abs())).fold(0.0, larger)
}

/// Rounds to the nearest 8-bit float with 3 mantissa bits, ties to even; saturates at the largest value.
#[inline(always)]
fn to_e4m3(value: f32) -> u8 {
    to_eight_bits::<3, 7>(value, 448.0)
}

/// The same with 2 mantissa bits.
#[inline(always)]
fn to_e5m2(value: f32) -> u8 {
    to_eight_bits::<2, 15>(value, 57_344.0)
}

/// Rounds to the nearest float with `MANTISSA` mantissa bits and this exponent bias.
#[inline(always)]
fn to_eight_bits<const MANTISSA: u32, const BIAS: u32>(value: f32, largest: f32) -> u8 {
    let sign = (value.to_bits() >> 24 & 0x80) as u8;
    let magnitude = if value.abs() > largest { largest } else { value.abs() };
    let bits = magnitude.to_bits();
    // Rounds at the end of the mantissa, ties to even.
    let dropped = 23 - MANTISSA;
    let rounded = bits + (1 << (dropped - 1)) - 1 + (bits >> dropped & 1);
    let normal = (rounded >> dropped).wrapping_sub((127 - BIAS) << MANTISSA);
    // Adding this to a number leaves its multiple of the smallest step in the lowest bits.
    let magic = f32::from_bits((127 - BIAS + 1 + dropped) << 23);
    let subnormal = (magnitude + magic).to_bits().wrapping_sub(magic.to_bits());
    let smallest_normal = f32::from_bits((127 - BIAS + 1) << 23);
    let code = if magnitude < smallest_normal { subnormal } else { normal };
    sign | if value.is_nan() { 0x7f } else { code as u8 }
}

/// Rounds to the nearest integer from -128 to 255, ties to even, in two's complement.
#[inline(always)]
fn to_integer(value: f32) -> u8 {
    // Adding this to a number leaves its nearest integer in the lowest bits of the mantissa.
    (value + 12_582_912.0).to_bits() as u8
}

/// The midpoints between neighbouring NF4 values.
const BETWEEN: [f32; 15] = {
    let mut between = [0.0; 15];
    let mut code = 0;
    while code < 15 {
        between[code] = f32::midpoint(NORMAL[code], NORMAL[code + 1]);
        code += 1;
    }
    between
};

/// The code of the nearest NF4 value.
#[inline(always)]
fn normal(value: f32) -> u8 {
    BETWEEN.iter().map(|&between| u32::from(value > between)).sum::<u32>() as u8
}

fn rounded_to_f16(value: f32) -> (f32, [u8; 2]) {
    let bits = half::f16::from_f32(value);
    (f16(bits.to_bits()), bits.to_le_bytes())
}

fn inverse(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { 1.0 / value }
}

/// Like ggml, rounds the codes with the scale before the scale itself is rounded.
#[inline(always)]
fn q8_0(block: &[f32; 32], out: &mut Vec<u8>) {
    let scale = largest_magnitude(block) / 127.0;
    let factor = inverse(scale);
    // Rounds half away from zero like C's `roundf`, for which there is no vector instruction.
    let rounded = |value: f32| {
        let whole = value.trunc();
        if (value - whole).abs() >= 0.5 { whole + 1f32.copysign(value) } else { whole }
    };
    out.extend(rounded_to_f16(scale).1);
    out.extend(block.map(|value| to_integer(rounded(value * factor))));
}

/// Eight groups of 32, each scaled between its minimum and maximum. ggml searches for better scales; this
/// does not.
#[inline(always)]
fn q4_k(block: &[f32; 256], out: &mut Vec<u8>) {
    let groups = block.as_chunks::<32>().0;
    let minima: [f32; 8] = std::array::from_fn(|index| groups[index].iter().fold(0.0f32, |a, b| a.min(*b)));
    let scales: [f32; 8] = std::array::from_fn(|index| {
        (groups[index].iter().fold(f32::MIN, |a, b| a.max(*b)) - minima[index]).max(0.0) / 15.0
    });
    let largest = |values: [f32; 8]| values.iter().fold(0.0f32, |a, b| a.max(*b));
    let (scale, scale_bytes) = rounded_to_f16(largest(scales) / 63.0);
    let (minimum, minimum_bytes) = rounded_to_f16(largest(minima.map(|value| -value)) / 63.0);
    let six_bits = |value: f32, unit: f32| (value * inverse(unit)).round_ties_even().clamp(0.0, 63.0) as u8;
    let low_scales = scales.map(|value| six_bits(value, scale));
    let low_minima = minima.map(|value| six_bits(-value, minimum));
    out.extend(scale_bytes);
    out.extend(minimum_bytes);
    for index in 0..4 {
        out.push(low_scales[index] & 63 | low_scales[index + 4] >> 4 << 6);
    }
    for index in 0..4 {
        out.push(low_minima[index] & 63 | low_minima[index + 4] >> 4 << 6);
    }
    for index in 4..8 {
        out.push(low_scales[index] & 15 | (low_minima[index] & 15) << 4);
    }
    let codes = |group: usize| {
        let (step, offset) = (scale * f32::from(low_scales[group]), minimum * f32::from(low_minima[group]));
        let inverse = inverse(step);
        groups[group].map(|value| to_integer(((value + offset) * inverse).clamp(0.0, 15.0)))
    };
    for pair in 0..4 {
        let (low, high) = (codes(2 * pair), codes(2 * pair + 1));
        let both: [u8; 32] = std::array::from_fn(|index| low[index] | high[index] << 4);
        out.extend(both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precision::floats::{e4m3, e5m2};

    #[test]
    fn every_e4m3_is_its_own_nearest() {
        for bits in (0..=0xffu8).filter(|bits| bits & 0x7f != 0x7f) {
            assert_eq!(to_e4m3(e4m3(bits)), bits);
        }
        assert_eq!(to_e4m3(1e9), 0x7e);
        assert_eq!(to_e4m3(-f32::NAN) & 0x7f, 0x7f);
        // Between 1 and 1.125 the even mantissa wins.
        assert_eq!(e4m3(to_e4m3(1.0625)), 1.0);
        assert_eq!(e4m3(to_e4m3(1.1875)), 1.25);
    }

    #[test]
    fn every_e5m2_is_its_own_nearest() {
        for bits in (0..=0xffu8).filter(|bits| bits & 0x7f < 0x7c) {
            assert_eq!(to_e5m2(e5m2(bits)), bits);
        }
        assert_eq!(to_e5m2(-1e9), 0xfb);
        assert_eq!(e5m2(to_e5m2(1.125)), 1.0);
        assert_eq!(e5m2(to_e5m2(1.375)), 1.5);
    }

    /// Values between two codes round to the nearer one. A step of 2⁻¹⁰ of a value is less than half of any
    /// code's.
    #[test]
    fn what_lies_between_two_goes_to_the_nearer() {
        let nearest = |wide: fn(u8) -> f32, last: u8, value: f32| {
            (0..=last).map(wide).min_by(|a, b| (a - value).abs().total_cmp(&(b - value).abs())).unwrap()
        };
        for step in 0..40_000 {
            let value = 1.3e-4 * 1.000_4f32.powi(step);
            if value <= 448.0 {
                let (got, want) = (e4m3(to_e4m3(value)), nearest(e4m3, 0x7e, value));
                assert!((got - value).abs() <= (want - value).abs(), "{value}: got {got}, expected {want}");
            }
            if value <= 57_344.0 {
                let (got, want) = (e5m2(to_e5m2(value)), nearest(e5m2, 0x7b, value));
                assert!((got - value).abs() <= (want - value).abs(), "{value}: got {got}, expected {want}");
            }
        }
    }

    #[test]
    fn every_normal_float_has_its_code() {
        for (code, value) in NORMAL.iter().enumerate() {
            assert_eq!(usize::from(normal(*value)), code);
        }
        assert_eq!(normal(0.03), 7);
        assert_eq!(normal(0.05), 8);
    }

    #[test]
    fn formats_that_are_only_read_are_refused() {
        assert!(encode(Format::Q2K.into(), &[0.0; 256]).is_none());
        assert!(encode(Format::Q8_0.into(), &[0.0; 33]).is_none());
    }
}
