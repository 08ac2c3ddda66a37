//! The block types of GGUF, in the order of operations of gguf-py, so that every bit is the same.

use super::{Format, floats::f16};

/// The uneven steps of the IQ4 types.
const UNEVEN: [f32; 16] = [
    -127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0,
];

/// A little-endian f16 at a place.
#[inline(always)]
fn half(bytes: &[u8], at: usize) -> f32 {
    f16(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// Widens whole blocks of 32 values.
#[inline(always)]
fn by_32<const BYTES: usize>(bytes: &[u8], out: &mut [f32], widen: impl Fn(&[u8; BYTES], &mut [f32; 32])) {
    for (block, out) in bytes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        widen(block, out);
    }
}

/// Widens whole blocks of 256 values.
#[inline(always)]
fn by_256<const BYTES: usize>(bytes: &[u8], out: &mut [f32], widen: impl Fn(&[u8; BYTES], &mut [f32; 256])) {
    for (block, out) in bytes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        widen(block, out);
    }
}

/// Widens blocks of a GGUF type; other formats are left as they are.
#[inline(always)]
pub fn widen(format: Format, bytes: &[u8], out: &mut [f32]) {
    match format {
        Format::Q4_0 => by_32(bytes, out, q4_0),
        Format::Q4_1 => by_32(bytes, out, q4_1),
        Format::Q5_0 => by_32(bytes, out, q5_0),
        Format::Q5_1 => by_32(bytes, out, q5_1),
        Format::Q8_0 => by_32(bytes, out, q8_0),
        Format::Iq4Nl => by_32(bytes, out, iq4_nl),
        Format::Q2K => by_256(bytes, out, q2_k),
        Format::Q3K => by_256(bytes, out, q3_k),
        Format::Q4K => by_256(bytes, out, q4_k),
        Format::Q5K => by_256(bytes, out, q5_k),
        Format::Q6K => by_256(bytes, out, q6_k),
        Format::Iq4Xs => by_256(bytes, out, iq4_xs),
        _ => {}
    }
}

#[inline(always)]
fn q8_0(block: &[u8; 34], out: &mut [f32; 32]) {
    let scale = half(block, 0);
    for (out, code) in out.iter_mut().zip(&block[2..]) {
        *out = f32::from(code.cast_signed()) * scale;
    }
}

/// 16 bytes to 32 codes: the lower halves first.
#[inline(always)]
fn nibbles(bytes: &[u8], out: &mut [f32; 32], value: impl Fn(usize, u8) -> f32) {
    let (low, high) = out.split_at_mut(16);
    for (index, ((low, high), byte)) in low.iter_mut().zip(high).zip(&bytes[..16]).enumerate() {
        *low = value(index, byte & 15);
        *high = value(index + 16, byte >> 4);
    }
}

#[inline(always)]
fn q4_0(block: &[u8; 18], out: &mut [f32; 32]) {
    let scale = half(block, 0);
    nibbles(&block[2..], out, |_, code| scale * f32::from(code.cast_signed() - 8));
}

#[inline(always)]
fn q4_1(block: &[u8; 20], out: &mut [f32; 32]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    nibbles(&block[4..], out, |_, code| scale * f32::from(code) + minimum);
}

/// Bit `index` of 32, as the fifth bit of a code.
#[inline(always)]
fn fifth(bits: u32, index: usize) -> u8 {
    ((bits >> index & 1) << 4) as u8
}

#[inline(always)]
fn q5_0(block: &[u8; 22], out: &mut [f32; 32]) {
    let scale = half(block, 0);
    let bits = u32::from_le_bytes([block[2], block[3], block[4], block[5]]);
    nibbles(&block[6..], out, |index, code| {
        scale * f32::from((code | fifth(bits, index)).cast_signed() - 16)
    });
}

#[inline(always)]
fn q5_1(block: &[u8; 24], out: &mut [f32; 32]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    let bits = u32::from_le_bytes([block[4], block[5], block[6], block[7]]);
    nibbles(&block[8..], out, |index, code| scale * f32::from(code | fifth(bits, index)) + minimum);
}

#[inline(always)]
fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    let scale = half(block, 0);
    nibbles(&block[2..], out, |_, code| scale * UNEVEN[usize::from(code)]);
}

#[inline(always)]
fn q2_k(block: &[u8; 84], out: &mut [f32; 256]) {
    let (scale, minimum) = (half(block, 80), half(block, 82));
    let (scales, codes) = (&block[..16], &block[16..80]);
    for (index, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = scale * f32::from(scales[index] & 15);
        let minimum = minimum * f32::from(scales[index] >> 4);
        // Two runs of 16 to a pair of bits, four pairs to 32 bytes.
        let (first, shift) = (index / 8 * 32 + index % 2 * 16, index / 2 % 4 * 2);
        for (out, byte) in out.iter_mut().zip(&codes[first..first + 16]) {
            *out = scale * f32::from(byte >> shift & 3) - minimum;
        }
    }
}

#[inline(always)]
fn q3_k(block: &[u8; 110], out: &mut [f32; 256]) {
    let scale = half(block, 108);
    let (high, codes, scales) = (&block[..32], &block[32..96], &block[96..108]);
    for (index, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low_bits = scales[index % 8] >> (index / 8 * 4) & 15;
        let high_bits = scales[8 + index % 4] >> (index / 4 * 2) & 3;
        let scale = scale * f32::from((low_bits | high_bits << 4).cast_signed() - 32);
        let (first, shift) = (index / 8 * 32 + index % 2 * 16, index / 2 % 4 * 2);
        let bits = &high[index % 2 * 16..][..16];
        for ((out, byte), bits) in out.iter_mut().zip(&codes[first..first + 16]).zip(bits) {
            // The third bit says that nothing is taken away.
            let away = (bits >> (index / 2) & 1 ^ 1) << 2;
            *out = scale * f32::from((byte >> shift & 3).cast_signed() - away.cast_signed());
        }
    }
}

/// Scale and minimum number `index` of the eight that Q4_K and Q5_K pack into 12 bytes.
#[inline(always)]
fn scale_and_minimum(packed: &[u8], index: usize) -> (f32, f32) {
    let (scale, minimum) = if index < 4 {
        (packed[index] & 63, packed[index + 4] & 63)
    } else {
        let shared = packed[index + 4];
        (shared & 15 | packed[index - 4] >> 2 & 48, shared >> 4 | packed[index] >> 2 & 48)
    };
    (f32::from(scale), f32::from(minimum))
}

#[inline(always)]
fn q4_k(block: &[u8; 144], out: &mut [f32; 256]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    let (packed, codes) = (&block[4..16], &block[16..]);
    for (index, out) in out.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let (first, second) =
            (scale_and_minimum(packed, 2 * index), scale_and_minimum(packed, 2 * index + 1));
        let (low, high) = out.split_at_mut(32);
        let (scales, minima) = ([scale * first.0, scale * second.0], [minimum * first.1, minimum * second.1]);
        for ((low, high), byte) in low.iter_mut().zip(high).zip(&codes[32 * index..32 * index + 32]) {
            *low = scales[0] * f32::from(byte & 15) - minima[0];
            *high = scales[1] * f32::from(byte >> 4) - minima[1];
        }
    }
}

#[inline(always)]
fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    let (packed, bits, codes) = (&block[4..16], &block[16..48], &block[48..]);
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (own_scale, own_minimum) = scale_and_minimum(packed, index);
        let (scale, minimum) = (scale * own_scale, minimum * own_minimum);
        let (first, shift) = (index / 2 * 32, index % 2 * 4);
        for ((out, byte), bits) in out.iter_mut().zip(&codes[first..first + 32]).zip(bits) {
            *out = scale * f32::from(byte >> shift & 15 | (bits >> index & 1) << 4) - minimum;
        }
    }
}

#[inline(always)]
fn q6_k(block: &[u8; 210], out: &mut [f32; 256]) {
    let scale = half(block, 208);
    let (low, high, scales) = (&block[..128], &block[128..192], &block[192..208]);
    for (index, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = scale * f32::from(scales[index].cast_signed());
        // 128 values to 64 bytes of lower halves, first of all 64, then the upper; and to 32 bytes of pairs.
        let (part, run) = (index / 8, index / 2 % 4);
        let first = part * 64 + run % 2 * 32 + index % 2 * 16;
        let pairs = part * 32 + index % 2 * 16;
        for ((out, low), high) in out.iter_mut().zip(&low[first..first + 16]).zip(&high[pairs..pairs + 16]) {
            let code = low >> (run / 2 * 4) & 15 | (high >> (run * 2) & 3) << 4;
            *out = scale * f32::from(code.cast_signed() - 32);
        }
    }
}

#[inline(always)]
fn iq4_xs(block: &[u8; 136], out: &mut [f32; 256]) {
    let scale = half(block, 0);
    let high = u16::from_le_bytes([block[2], block[3]]);
    let (low, codes) = (&block[4..8], &block[8..]);
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let own = low[index / 2] >> (index % 2 * 4) & 15 | ((high >> (2 * index) & 3) << 4) as u8;
        let scale = scale * f32::from(own.cast_signed() - 32);
        nibbles(&codes[16 * index..], out, |_, code| scale * UNEVEN[usize::from(code)]);
    }
}
