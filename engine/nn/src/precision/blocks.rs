//! Dequantizes GGUF block types with the operations of gguf-py in the same order, so that results are
//! bit-identical.

use pulp::Simd;

use super::{
    Format,
    vectors::{self, Words},
};

/// The non-uniform steps of the IQ4 types.
pub const UNEVEN: [f32; 16] = [
    -127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0,
];

/// Twice the values of 4-bit floats, as GGUF's programs have them.
pub const DOUBLED: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 0.0, -1.0, -2.0, -3.0, -4.0, -6.0, -8.0, -12.0];

/// Half of the power of two whose exponent, plus 127, is a byte.
#[inline(always)]
pub fn half_power(exponent: u8) -> f32 {
    let exponent = u32::from(exponent);
    f32::from_bits(if exponent < 2 { 0x0020_0000 << exponent } else { (exponent - 1) << 23 })
}

/// The little-endian f16 at an offset.
#[inline(always)]
fn half<S: Simd>(simd: S, bytes: &[u8], place: usize) -> f32 {
    vectors::half(simd, u16::from_le_bytes(*at(bytes, place)))
}

/// Dequantizes whole blocks with a function for one block. Not a closure: one that is not inlined would turn
/// each vector instruction into a call.
macro_rules! each_block {
    ($widen:ident, $simd:ident, $bytes:ident, $out:ident) => {
        for (block, out) in $bytes.as_chunks().0.iter().zip($out.as_chunks_mut().0) {
            $widen($simd, block, out);
        }
    };
}

/// Dequantizes blocks of a GGUF type; ignores other formats.
#[inline(always)]
pub fn widen<S: Simd>(simd: S, format: Format, bytes: &[u8], out: &mut [f32]) {
    match format {
        Format::Q4_0 => each_block!(q4_0, simd, bytes, out),
        Format::Q4_1 => each_block!(q4_1, simd, bytes, out),
        Format::Q5_0 => each_block!(q5_0, simd, bytes, out),
        Format::Q5_1 => each_block!(q5_1, simd, bytes, out),
        Format::Q8_0 => each_block!(q8_0, simd, bytes, out),
        Format::Iq4Nl => each_block!(iq4_nl, simd, bytes, out),
        Format::Mxfp4 => each_block!(mxfp4, simd, bytes, out),
        Format::Q2K => each_block!(q2_k, simd, bytes, out),
        Format::Q3K => each_block!(q3_k, simd, bytes, out),
        Format::Q4K => each_block!(q4_k, simd, bytes, out),
        Format::Q5K => each_block!(q5_k, simd, bytes, out),
        Format::Q6K => each_block!(q6_k, simd, bytes, out),
        Format::Iq4Xs => each_block!(iq4_xs, simd, bytes, out),
        _ => {}
    }
}

/// Converts codes to values. Codes are first unpacked to one byte each, so that both unpacking and conversion
/// use whole vectors.
#[inline(always)]
fn write<S: Simd, const N: usize>(
    simd: S,
    codes: &[u8; N],
    out: &mut [f32; N],
    scale: f32,
    offset: Option<f32>,
) {
    for (codes, out) in codes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        vectors::scaled::<S, false>(simd, *codes, scale, offset, out);
    }
}

/// The same for signed codes.
#[inline(always)]
fn write_signed<S: Simd, const N: usize>(simd: S, codes: &[u8; N], out: &mut [f32; N], scale: f32) {
    for (codes, out) in codes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        vectors::scaled::<S, true>(simd, *codes, scale, None, out);
    }
}

/// `scale · code` for 16 signed or unsigned codes.
#[inline(always)]
fn scales<S: Simd, const SIGNED: bool>(simd: S, codes: &[u8; 16], scale: f32) -> [f32; 16] {
    let mut scales = [0.0; 16];
    vectors::scaled::<S, SIGNED>(simd, *codes, scale, None, &mut scales);
    scales
}

/// `N` bytes at an offset.
#[inline(always)]
fn at<const N: usize>(bytes: &[u8], place: usize) -> &[u8; N] {
    bytes[place..].first_chunk().unwrap_or(&[0; N])
}

/// 32 bytes at an offset.
#[inline(always)]
fn words(bytes: &[u8], place: usize) -> Words {
    pulp::cast(*at::<32>(bytes, place))
}

/// The bytes of words.
#[inline(always)]
fn bytes(words: Words) -> [u8; 32] {
    pulp::cast(words)
}

/// The lower halves of 16 bytes, then the upper halves.
#[inline(always)]
fn halves<S: Simd>(simd: S, block: &[u8], place: usize) -> Words {
    vectors::halves(simd, pulp::cast(*at::<16>(block, place)))
}

/// The halves, with bits of 4 more bytes as their fifth bits.
#[inline(always)]
fn five_bits<S: Simd>(simd: S, block: &[u8], high: usize, low: usize) -> Words {
    let fifth = vectors::spread(simd, u32::from_le_bytes(*at(block, high)), 16);
    vectors::both(simd, halves(simd, block, low), fifth)
}

#[inline(always)]
fn q8_0<S: Simd>(simd: S, block: &[u8; 34], out: &mut [f32; 32]) {
    let scale = half(simd, block, 0);
    write_signed(simd, at(block, 2), out, scale);
}

#[inline(always)]
fn q4_0<S: Simd>(simd: S, block: &[u8; 18], out: &mut [f32; 32]) {
    let scale = half(simd, block, 0);
    write_signed(simd, &bytes(vectors::less(simd, halves(simd, block, 2), 8)), out, scale);
}

#[inline(always)]
fn q4_1<S: Simd>(simd: S, block: &[u8; 20], out: &mut [f32; 32]) {
    let (scale, minimum) = (half(simd, block, 0), half(simd, block, 2));
    write(simd, &bytes(halves(simd, block, 4)), out, scale, Some(minimum));
}

#[inline(always)]
fn q5_0<S: Simd>(simd: S, block: &[u8; 22], out: &mut [f32; 32]) {
    let scale = half(simd, block, 0);
    write_signed(simd, &bytes(vectors::less(simd, five_bits(simd, block, 2, 6), 16)), out, scale);
}

#[inline(always)]
fn q5_1<S: Simd>(simd: S, block: &[u8; 24], out: &mut [f32; 32]) {
    let (scale, minimum) = (half(simd, block, 0), half(simd, block, 2));
    write(simd, &bytes(five_bits(simd, block, 4, 8)), out, scale, Some(minimum));
}

/// 16 bytes to 32 values of a table.
#[inline(always)]
fn looked_up<S: Simd>(
    simd: S,
    table: &[f32; 16],
    block: &[u8],
    place: usize,
    scale: f32,
    out: &mut [f32; 32],
) {
    for (codes, out) in bytes(halves(simd, block, place)).as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        vectors::looked_up(simd, *codes, table, scale, out);
    }
}

#[inline(always)]
fn iq4_nl<S: Simd>(simd: S, block: &[u8; 18], out: &mut [f32; 32]) {
    looked_up(simd, &UNEVEN, block, 2, half(simd, block, 0), out);
}

#[inline(always)]
fn mxfp4<S: Simd>(simd: S, block: &[u8; 17], out: &mut [f32; 32]) {
    looked_up(simd, &DOUBLED, block, 1, half_power(block[0]), out);
}

/// Converts 256 codes to values. Each 16 share a scale, and optionally an offset.
#[inline(always)]
fn write_runs<S: Simd>(
    simd: S,
    codes: &[u8; 256],
    out: &mut [f32; 256],
    scales: &[f32; 16],
    offsets: Option<&[f32; 16]>,
) {
    for (run, (codes, out)) in codes.as_chunks().0.iter().zip(out.as_chunks_mut().0).enumerate() {
        vectors::scaled::<S, true>(simd, *codes, scales[run], offsets.map(|offsets| offsets[run]), out);
    }
}

#[inline(always)]
fn q2_k<S: Simd>(simd: S, block: &[u8; 84], out: &mut [f32; 256]) {
    let (scale, minimum) = (half(simd, block, 80), half(simd, block, 82));
    let own = bytes(halves(simd, block, 0));
    let own_scales = scales::<S, false>(simd, at(&own, 0), scale);
    let minima = scales::<S, false>(simd, at(&own, 16), -minimum);
    // Four 2-bit parts per byte: first of 32 bytes, then of the other 32.
    let mut codes = [0; 256];
    for (part, codes) in codes.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let packed = words(block, 16 + 32 * part);
        for (pair, codes) in codes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            *codes = bytes(vectors::bits(simd, packed, 2 * pair, 3));
        }
    }
    write_runs(simd, &codes, out, &own_scales, Some(&minima));
}

#[inline(always)]
fn q3_k<S: Simd>(simd: S, block: &[u8; 110], out: &mut [f32; 256]) {
    let scale = half(simd, block, 108);
    // The lower halves of 8 bytes, then the upper halves, with 2-bit parts of 4 bytes above them.
    let (low, high) = (u64::from_le_bytes(*at(block, 96)), u32::from_le_bytes(*at(block, 104)));
    let pairs = |shift: u32| u64::from(high >> shift & 0x0303_0303);
    let first = low & 0x0f0f_0f0f_0f0f_0f0f | pairs(0) << 4 | pairs(2) << 36;
    let second = low >> 4 & 0x0f0f_0f0f_0f0f_0f0f | pairs(4) << 4 | pairs(6) << 36;
    let own = bytes(vectors::less(simd, [first, second, 0, 0], 32));
    let own_scales = scales::<S, true>(simd, at(&own, 0), scale);
    let mut codes = [0u8; 256];
    let high = words(block, 0);
    for (part, codes) in codes.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let low = words(block, 32 + 32 * part);
        for (pair, codes) in codes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            // A set third bit means that nothing is subtracted.
            let third = vectors::bits_as(simd, high, 4 * part + pair, 1, 2);
            let code = vectors::both(simd, vectors::bits(simd, low, 2 * pair, 3), third);
            *codes = bytes(vectors::less(simd, code, 4));
        }
    }
    write_runs(simd, &codes, out, &own_scales, None);
}

/// The eight scales and the eight minima (negated) that Q4_K and Q5_K pack into 12 bytes, each
/// repeated to fill 16 values.
#[inline(always)]
fn scales_and_minima<S: Simd>(simd: S, block: &[u8]) -> ([f32; 16], [f32; 16]) {
    let [low, high, shared] = [4, 8, 12].map(|place| u32::from_le_bytes(*at(block, place)));
    let eight = |own: u32, shared: u32| {
        let upper = shared & 0x0f0f_0f0f | own >> 2 & 0x3030_3030;
        (u64::from(own & 0x3f3f_3f3f) | u64::from(upper) << 32).to_le_bytes()
    };
    let twice = |eight: [u8; 8]| pulp::cast::<[[u8; 8]; 2], [u8; 16]>([eight, eight]);
    let own_scales = scales::<S, false>(simd, &twice(eight(low, shared)), half(simd, block, 0));
    (own_scales, scales::<S, false>(simd, &twice(eight(high, shared >> 4)), -half(simd, block, 2)))
}

#[inline(always)]
fn q4_k<S: Simd>(simd: S, block: &[u8; 144], out: &mut [f32; 256]) {
    let (scales, minima) = scales_and_minima(simd, block);
    for (pair, out) in out.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let packed = words(block, 16 + 32 * pair);
        let [low, high] = out.as_chunks_mut::<32>().0 else { return };
        let (scale, minimum) = (scales[2 * pair], minima[2 * pair]);
        write(simd, &bytes(vectors::bits(simd, packed, 0, 15)), low, scale, Some(minimum));
        let (scale, minimum) = (scales[2 * pair + 1], minima[2 * pair + 1]);
        write(simd, &bytes(vectors::bits(simd, packed, 4, 15)), high, scale, Some(minimum));
    }
}

#[inline(always)]
fn q5_k<S: Simd>(simd: S, block: &[u8; 176], out: &mut [f32; 256]) {
    let (scales, minima) = scales_and_minima(simd, block);
    let high = words(block, 16);
    for (pair, out) in out.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let low = words(block, 48 + 32 * pair);
        for (upper, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let index = 2 * pair + upper;
            let fifth = vectors::bits_as(simd, high, index, 1, 4);
            let codes = vectors::both(simd, vectors::bits(simd, low, 4 * upper, 15), fifth);
            write(simd, &bytes(codes), out, scales[index], Some(minima[index]));
        }
    }
}

#[inline(always)]
fn q6_k<S: Simd>(simd: S, block: &[u8; 210], out: &mut [f32; 256]) {
    let own_scales = scales::<S, true>(simd, at(block, 192), half(simd, block, 208));
    let mut codes = [0u8; 256];
    for (part, codes) in codes.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let [first, second, third, fourth] = codes.as_chunks_mut::<32>().0 else { return };
        *first = q6_k_run::<S, 0>(simd, block, part);
        *second = q6_k_run::<S, 1>(simd, block, part);
        *third = q6_k_run::<S, 2>(simd, block, part);
        *fourth = q6_k_run::<S, 3>(simd, block, part);
    }
    write_runs(simd, &codes, out, &own_scales, None);
}

/// 32 of the 128 codes of a part: lower halves from 64 bytes (first all lower halves, then all upper halves)
/// and 2-bit parts from 32 bytes. Constant shifts are free whatever the compiler does with the surrounding
/// loop.
#[inline(always)]
fn q6_k_run<S: Simd, const RUN: usize>(simd: S, block: &[u8; 210], part: usize) -> [u8; 32] {
    let pairs = words(block, 128 + 32 * part);
    let low = words(block, 64 * part + 32 * (RUN % 2));
    let upper = vectors::bits_as(simd, pairs, 2 * RUN, 3, 4);
    let code = vectors::both(simd, vectors::bits(simd, low, RUN / 2 * 4, 15), upper);
    bytes(vectors::less(simd, code, 32))
}

#[inline(always)]
fn iq4_xs<S: Simd>(simd: S, block: &[u8; 136], out: &mut [f32; 256]) {
    let scale = half(simd, block, 0);
    let high = u16::from_le_bytes([block[2], block[3]]);
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let own = block[4 + index / 2] >> (index % 2 * 4) & 15 | ((high >> (2 * index) & 3) << 4) as u8;
        let scale = scale * f32::from(own.cast_signed() - 32);
        looked_up(simd, &UNEVEN, block, 8 + 16 * index, scale, out);
    }
}
