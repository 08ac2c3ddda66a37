//! From f32 to the formats that models are converted to.

use super::{
    Encoding, Format,
    floats::{e4m3, f16},
    packed::NORMAL,
};

/// The largest number that 8 bits with 4 bits of exponent hold.
pub const LARGEST_E4M3: f32 = 448.0;

/// The bytes of `values`, whose number has to fill whole blocks; none if nothing is written in this format.
///
/// Scales are chosen here: the largest value of a group becomes the largest that the format has.
pub fn encode(encoding: Encoding, values: &[f32]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(encoding.bytes(values.len()));
    let Some(group) = encoding.group else {
        encode_values(encoding.format, values, &mut out)?;
        return Some(out);
    };
    let largest = match encoding.format {
        Format::F8E4m3 => LARGEST_E4M3,
        Format::I8 => 127.0,
        Format::Nf4 => 1.0,
        _ => return None,
    };
    let mut scales = Vec::with_capacity(encoding.scales(values.len()));
    let mut scaled = Vec::with_capacity(values.len());
    for group in values.chunks(group.get()) {
        let scale = group.iter().fold(0.0f32, |largest, value| largest.max(value.abs())) / largest;
        scales.push(scale);
        let divisor = if scale == 0.0 { 1.0 } else { scale };
        scaled.extend(group.iter().map(|value| value / divisor));
    }
    encode_values(encoding.format, &scaled, &mut out)?;
    out.extend(scales.iter().flat_map(|scale| scale.to_le_bytes()));
    Some(out)
}

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
        Format::I8 => out.extend(values.iter().map(|value| (value.round_ties_even() as i8).cast_unsigned())),
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

/// The nearest 8-bit float, ties to even; what is larger than all becomes the largest.
fn to_e4m3(value: f32) -> u8 {
    let magnitude = value.abs();
    let sign = if value.is_sign_negative() { 0x80 } else { 0 };
    if magnitude.is_nan() {
        return sign | 0x7f;
    }
    let magnitude = magnitude.min(LARGEST_E4M3);
    // Codes grow with the numbers that they stand for.
    let (mut below, mut above) = (0u8, 0x7e);
    while above - below > 1 {
        let middle = below.midpoint(above);
        if e4m3(middle) <= magnitude { below = middle } else { above = middle }
    }
    let (down, up) = (magnitude - e4m3(below), e4m3(above) - magnitude);
    sign | if down < up || (down == up && below % 2 == 0) { below } else { above }
}

/// The code of the nearest normal float.
fn normal(value: f32) -> u8 {
    let above = NORMAL.partition_point(|&known| known < value).min(15);
    let below = above.saturating_sub(1);
    if value - NORMAL[below] <= NORMAL[above] - value { below as u8 } else { above as u8 }
}

fn rounded_to_f16(value: f32) -> (f32, [u8; 2]) {
    let bits = half::f16::from_f32(value);
    (f16(bits.to_bits()), bits.to_le_bytes())
}

fn inverse(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { 1.0 / value }
}

/// As ggml does it: the codes are rounded with the scale before it is rounded.
fn q8_0(block: &[f32; 32], out: &mut Vec<u8>) {
    let scale = block.iter().fold(0.0f32, |largest, value| largest.max(value.abs())) / 127.0;
    let factor = inverse(scale);
    out.extend(rounded_to_f16(scale).1);
    out.extend(block.iter().map(|value| ((value * factor).round() as i8).cast_unsigned()));
}

/// Eight groups of 32 between their extremes. ggml searches for better scales; this takes the first ones.
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
    let code = |group: usize, value: f32| {
        let (step, offset) = (scale * f32::from(low_scales[group]), minimum * f32::from(low_minima[group]));
        ((value + offset) * inverse(step)).round_ties_even().clamp(0.0, 15.0) as u8
    };
    for pair in 0..4 {
        let (low, high) = (&groups[2 * pair], &groups[2 * pair + 1]);
        out.extend(low.iter().zip(high).map(|(a, b)| code(2 * pair, *a) | code(2 * pair + 1, *b) << 4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_e4m3_is_its_own_nearest() {
        for bits in (0..=0xffu8).filter(|bits| bits & 0x7f != 0x7f) {
            assert_eq!(to_e4m3(e4m3(bits)), bits);
        }
        assert_eq!(to_e4m3(1e9), 0x7e);
        // Between 1 and 1.125 the even mantissa wins.
        assert_eq!(e4m3(to_e4m3(1.0625)), 1.0);
        assert_eq!(e4m3(to_e4m3(1.1875)), 1.25);
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
