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

/// Writes a value for each of some codes. Codes are widened to 32 bits before they become floats, as vector instructions
/// do it: otherwise the compiler takes them one by one.
#[inline(always)]
fn write<const N: usize>(codes: [i32; N], out: &mut [f32], value: impl Fn(f32) -> f32) {
    for (out, code) in out.iter_mut().zip(codes) {
        *out = value(code as f32);
    }
}

/// `N` codes from as many bytes from a place on.
#[inline(always)]
fn codes<const N: usize>(bytes: &[u8], at: usize, code: impl Fn(i32) -> i32) -> [i32; N] {
    let bytes = &bytes[at..at + N];
    std::array::from_fn(|index| code(bytes[index].into()))
}

/// `N` codes from as many bytes from two places on.
#[inline(always)]
fn codes_of_two<const N: usize>(
    bytes: &[u8],
    [at, other]: [usize; 2],
    code: impl Fn(i32, i32) -> i32,
) -> [i32; N] {
    let (bytes, others) = (&bytes[at..at + N], &bytes[other..other + N]);
    std::array::from_fn(|index| code(bytes[index].into(), others[index].into()))
}

#[inline(always)]
fn q8_0(block: &[u8; 34], out: &mut [f32; 32]) {
    let scale = half(block, 0);
    write::<32>(codes(block, 2, |byte| i32::from((byte as u8).cast_signed())), out, |code| code * scale);
}

/// 16 bytes to 32 values: the lower halves first. `value` is told the place and the code.
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

/// 16 bytes to 32 values of the uneven table.
#[inline(always)]
fn uneven(bytes: &[u8], scale: f32, out: &mut [f32; 32]) {
    nibbles(bytes, out, |_, code| scale * UNEVEN[usize::from(code)]);
}

#[inline(always)]
fn iq4_nl(block: &[u8; 18], out: &mut [f32; 32]) {
    uneven(&block[2..], half(block, 0), out);
}

/// Writes two runs of 16 codes with scales of their own.
#[inline(always)]
fn two_runs(codes: [i32; 32], out: &mut [f32; 32], scales: [f32; 2], minima: Option<[f32; 2]>) {
    let mut values = [0.0; 32];
    write(codes, &mut values, |code| code);
    let (low, high) = out.split_at_mut(16);
    for (run, out) in [low, high].into_iter().enumerate() {
        for (out, value) in out.iter_mut().zip(&values[16 * run..]) {
            let product = scales[run] * value;
            *out = match minima {
                Some(minima) => product - minima[run],
                None => product,
            };
        }
    }
}

#[inline(always)]
fn q2_k(block: &[u8; 84], out: &mut [f32; 256]) {
    let (scale, minimum) = (half(block, 80), half(block, 82));
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let own = [block[2 * index], block[2 * index + 1]];
        // Four pairs of bits to 32 bytes.
        let (first, shift) = (16 + index / 4 * 32, index % 4 * 2);
        let codes = codes(block, first, |byte| byte >> shift & 3);
        let scales = own.map(|own| scale * f32::from(own & 15));
        two_runs(codes, out, scales, Some(own.map(|own| minimum * f32::from(own >> 4))));
    }
}

#[inline(always)]
fn q3_k(block: &[u8; 110], out: &mut [f32; 256]) {
    let scale = half(block, 108);
    for (index, out) in out.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let low_bits = block[96 + index % 8] >> (index / 8 * 4) & 15;
        let high_bits = block[104 + index % 4] >> (index / 4 * 2) & 3;
        let scale = scale * f32::from((low_bits | high_bits << 4).cast_signed() - 32);
        let (first, shift) = (32 + index / 8 * 32 + index % 2 * 16, index / 2 % 4 * 2);
        // The third bit says that nothing is taken away.
        let code = |low, high| (low >> shift & 3 | (high >> (index / 2) & 1) << 2) - 4;
        write::<16>(codes_of_two(block, [first, index % 2 * 16], code), out, |code| scale * code);
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
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (own_scale, own_minimum) = scale_and_minimum(&block[4..16], index);
        let (scale, minimum) = (scale * own_scale, minimum * own_minimum);
        let (first, shift) = (16 + index / 2 * 32, index % 2 * 4);
        write::<32>(codes(block, first, |byte| byte >> shift & 15), out, |code| scale * code - minimum);
    }
}

#[inline(always)]
fn q5_k(block: &[u8; 176], out: &mut [f32; 256]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let (own_scale, own_minimum) = scale_and_minimum(&block[4..16], index);
        let (scale, minimum) = (scale * own_scale, minimum * own_minimum);
        let (first, shift) = (48 + index / 2 * 32, index % 2 * 4);
        let code = |low, high| low >> shift & 15 | (high >> index & 1) << 4;
        write::<32>(codes_of_two(block, [first, 16], code), out, |code| scale * code - minimum);
    }
}

#[inline(always)]
fn q6_k(block: &[u8; 210], out: &mut [f32; 256]) {
    let scale = half(block, 208);
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        // 128 values to 64 bytes of lower halves, first of all 64, then the upper; and to 32 bytes of pairs.
        let (part, run) = (index / 4, index % 4);
        let places = [part * 64 + run % 2 * 32, 128 + part * 32];
        let code = |low, high| (low >> (run / 2 * 4) & 15 | (high >> (run * 2) & 3) << 4) - 32;
        let own = [block[192 + 2 * index], block[193 + 2 * index]];
        let scales = own.map(|own| scale * f32::from(own.cast_signed()));
        two_runs(codes_of_two(block, places, code), out, scales, None);
    }
}

#[inline(always)]
fn iq4_xs(block: &[u8; 136], out: &mut [f32; 256]) {
    let scale = half(block, 0);
    let high = u16::from_le_bytes([block[2], block[3]]);
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let own = block[4 + index / 2] >> (index % 2 * 4) & 15 | ((high >> (2 * index) & 3) << 4) as u8;
        uneven(&block[8 + 16 * index..], scale * f32::from(own.cast_signed() - 32), out);
    }
}
