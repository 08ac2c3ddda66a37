//! The block types of GGUF, in the order of operations of gguf-py, so that every bit is the same.

use pulp::Simd;

use super::{
    Format,
    floats::f16,
    vectors::{self, Words},
};

/// The uneven steps of the IQ4 types.
const UNEVEN: [f32; 16] = [
    -127.0, -104.0, -83.0, -65.0, -49.0, -35.0, -22.0, -10.0, 1.0, 13.0, 25.0, 38.0, 53.0, 69.0, 89.0, 113.0,
];

/// A little-endian f16 at a place.
#[inline(always)]
fn half(bytes: &[u8], at: usize) -> f32 {
    f16(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

/// Widens whole blocks with a function for one of them. No closure: one that is not inlined would have each vector
/// instruction called.
macro_rules! each_block {
    ($widen:ident, $simd:ident, $bytes:ident, $out:ident) => {
        for (block, out) in $bytes.as_chunks().0.iter().zip($out.as_chunks_mut().0) {
            $widen($simd, block, out);
        }
    };
}

/// Widens blocks of a GGUF type; other formats are left as they are.
#[inline(always)]
pub fn widen<S: Simd>(simd: S, format: Format, bytes: &[u8], out: &mut [f32]) {
    match format {
        Format::Q4_0 => each_block!(q4_0, simd, bytes, out),
        Format::Q4_1 => each_block!(q4_1, simd, bytes, out),
        Format::Q5_0 => each_block!(q5_0, simd, bytes, out),
        Format::Q5_1 => each_block!(q5_1, simd, bytes, out),
        Format::Q8_0 => each_block!(q8_0, simd, bytes, out),
        Format::Iq4Nl => each_block!(iq4_nl, simd, bytes, out),
        Format::Q2K => each_block!(q2_k, simd, bytes, out),
        Format::Q3K => each_block!(q3_k, simd, bytes, out),
        Format::Q4K => each_block!(q4_k, simd, bytes, out),
        Format::Q5K => each_block!(q5_k, simd, bytes, out),
        Format::Q6K => each_block!(q6_k, simd, bytes, out),
        Format::Iq4Xs => each_block!(iq4_xs, simd, bytes, out),
        _ => {}
    }
}

/// The values of some codes. Codes stand in bytes of their own first: unpacking bytes and making floats of them are
/// both whole vectors then.
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

/// The same with codes that have a sign.
#[inline(always)]
fn write_signed<S: Simd, const N: usize>(simd: S, codes: &[u8; N], out: &mut [f32; N], scale: f32) {
    for (codes, out) in codes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        vectors::scaled::<S, true>(simd, *codes, scale, None, out);
    }
}

/// `N` bytes from a place on.
#[inline(always)]
fn at<const N: usize>(bytes: &[u8], place: usize) -> &[u8; N] {
    bytes[place..].first_chunk().unwrap_or(&[0; N])
}

/// 32 bytes from a place on.
#[inline(always)]
fn words(bytes: &[u8], place: usize) -> Words {
    pulp::cast(*at::<32>(bytes, place))
}

/// The bytes of words.
#[inline(always)]
fn bytes(words: Words) -> [u8; 32] {
    pulp::cast(words)
}

/// The lower halves of 16 bytes, then the upper ones.
#[inline(always)]
fn halves<S: Simd>(simd: S, block: &[u8], place: usize) -> Words {
    vectors::halves(simd, pulp::cast(*at::<16>(block, place)))
}

/// The lower halves with bits of 4 bytes as their fifth.
#[inline(always)]
fn five_bits<S: Simd>(simd: S, block: &[u8], high: usize, low: usize) -> Words {
    let fifth = vectors::spread(simd, u32::from_le_bytes(*at(block, high)), 16);
    vectors::both(simd, halves(simd, block, low), fifth)
}

#[inline(always)]
fn q8_0<S: Simd>(simd: S, block: &[u8; 34], out: &mut [f32; 32]) {
    let scale = half(block, 0);
    write_signed(simd, at(block, 2), out, scale);
}

#[inline(always)]
fn q4_0<S: Simd>(simd: S, block: &[u8; 18], out: &mut [f32; 32]) {
    let scale = half(block, 0);
    write_signed(simd, &bytes(vectors::less(simd, halves(simd, block, 2), 8)), out, scale);
}

#[inline(always)]
fn q4_1<S: Simd>(simd: S, block: &[u8; 20], out: &mut [f32; 32]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    write(simd, &bytes(halves(simd, block, 4)), out, scale, Some(minimum));
}

#[inline(always)]
fn q5_0<S: Simd>(simd: S, block: &[u8; 22], out: &mut [f32; 32]) {
    let scale = half(block, 0);
    write_signed(simd, &bytes(vectors::less(simd, five_bits(simd, block, 2, 6), 16)), out, scale);
}

#[inline(always)]
fn q5_1<S: Simd>(simd: S, block: &[u8; 24], out: &mut [f32; 32]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    write(simd, &bytes(five_bits(simd, block, 4, 8)), out, scale, Some(minimum));
}

/// 16 bytes to 32 values of the uneven table.
#[inline(always)]
fn uneven<S: Simd>(simd: S, block: &[u8], place: usize, scale: f32, out: &mut [f32; 32]) {
    for (codes, out) in bytes(halves(simd, block, place)).as_chunks().0.iter().zip(out.as_chunks_mut().0) {
        vectors::looked_up(simd, *codes, &UNEVEN, scale, out);
    }
}

#[inline(always)]
fn iq4_nl<S: Simd>(simd: S, block: &[u8; 18], out: &mut [f32; 32]) {
    uneven(simd, block, 2, half(block, 0), out);
}

/// The values of 256 codes, of which each 16 have a scale, and perhaps something that is added.
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
    let (scale, minimum) = (half(block, 80), half(block, 82));
    let own = at::<16>(block, 0);
    let scales = own.map(|own| scale * f32::from(own & 15));
    let minima = own.map(|own| -(minimum * f32::from(own >> 4)));
    // Four pairs of bits to a byte, of 32 bytes first, then of the other 32.
    let mut codes = [0; 256];
    for (part, codes) in codes.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let packed = words(block, 16 + 32 * part);
        for (pair, codes) in codes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            *codes = bytes(vectors::bits(simd, packed, 2 * pair, 3));
        }
    }
    write_runs(simd, &codes, out, &scales, Some(&minima));
}

#[inline(always)]
fn q3_k<S: Simd>(simd: S, block: &[u8; 110], out: &mut [f32; 256]) {
    let scale = half(block, 108);
    let mut scales = [0.0; 16];
    for (index, out) in scales.iter_mut().enumerate() {
        let low = block[96 + index % 8] >> (index / 8 * 4) & 15;
        let high = block[104 + index % 4] >> (index / 4 * 2) & 3;
        *out = scale * f32::from((low | high << 4).cast_signed() - 32);
    }
    let mut codes = [0u8; 256];
    let high = words(block, 0);
    for (part, codes) in codes.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        let low = words(block, 32 + 32 * part);
        for (pair, codes) in codes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            // The third bit says that nothing is taken away.
            let third = vectors::bits_as(simd, high, 4 * part + pair, 1, 2);
            let code = vectors::both(simd, vectors::bits(simd, low, 2 * pair, 3), third);
            *codes = bytes(vectors::less(simd, code, 4));
        }
    }
    write_runs(simd, &codes, out, &scales, None);
}

/// The eight scales and minima that Q4_K and Q5_K pack into 12 bytes.
#[inline(always)]
fn scales_and_minima(packed: &[u8; 12], scale: f32, minimum: f32) -> ([f32; 8], [f32; 8]) {
    let (mut scales, mut minima) = ([0.0; 8], [0.0; 8]);
    for index in 0..4 {
        let shared = packed[index + 8];
        scales[index] = scale * f32::from(packed[index] & 63);
        minima[index] = minimum * f32::from(packed[index + 4] & 63);
        scales[index + 4] = scale * f32::from(shared & 15 | packed[index] >> 2 & 48);
        minima[index + 4] = minimum * f32::from(shared >> 4 | packed[index + 4] >> 2 & 48);
    }
    (scales, minima)
}

#[inline(always)]
fn q4_k<S: Simd>(simd: S, block: &[u8; 144], out: &mut [f32; 256]) {
    let (scales, minima) = scales_and_minima(at(block, 4), half(block, 0), half(block, 2));
    for (pair, out) in out.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let packed = words(block, 16 + 32 * pair);
        let [low, high] = out.as_chunks_mut::<32>().0 else { return };
        let (scale, minimum) = (scales[2 * pair], minima[2 * pair]);
        write(simd, &bytes(vectors::bits(simd, packed, 0, 15)), low, scale, Some(-minimum));
        let (scale, minimum) = (scales[2 * pair + 1], minima[2 * pair + 1]);
        write(simd, &bytes(vectors::bits(simd, packed, 4, 15)), high, scale, Some(-minimum));
    }
}

#[inline(always)]
fn q5_k<S: Simd>(simd: S, block: &[u8; 176], out: &mut [f32; 256]) {
    let (scales, minima) = scales_and_minima(at(block, 4), half(block, 0), half(block, 2));
    let high = words(block, 16);
    for (pair, out) in out.as_chunks_mut::<64>().0.iter_mut().enumerate() {
        let low = words(block, 48 + 32 * pair);
        for (upper, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let index = 2 * pair + upper;
            let fifth = vectors::bits_as(simd, high, index, 1, 4);
            let codes = vectors::both(simd, vectors::bits(simd, low, 4 * upper, 15), fifth);
            write(simd, &bytes(codes), out, scales[index], Some(-minima[index]));
        }
    }
}

#[inline(always)]
fn q6_k<S: Simd>(simd: S, block: &[u8; 210], out: &mut [f32; 256]) {
    let scale = half(block, 208);
    let scales = at::<16>(block, 192).map(|own| scale * f32::from(own.cast_signed()));
    let mut codes = [0u8; 256];
    for (part, codes) in codes.as_chunks_mut::<128>().0.iter_mut().enumerate() {
        // 128 values to 64 bytes of lower halves, first of all 64, then the upper; and to 32 bytes of pairs.
        let pairs = words(block, 128 + 32 * part);
        for (run, codes) in codes.as_chunks_mut::<32>().0.iter_mut().enumerate() {
            let low = words(block, 64 * part + 32 * (run % 2));
            let upper = vectors::bits_as(simd, pairs, 2 * run, 3, 4);
            let code = vectors::both(simd, vectors::bits(simd, low, run / 2 * 4, 15), upper);
            *codes = bytes(vectors::less(simd, code, 32));
        }
    }
    write_runs(simd, &codes, out, &scales, None);
}

#[inline(always)]
fn iq4_xs<S: Simd>(simd: S, block: &[u8; 136], out: &mut [f32; 256]) {
    let scale = half(block, 0);
    let high = u16::from_le_bytes([block[2], block[3]]);
    for (index, out) in out.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let own = block[4 + index / 2] >> (index % 2 * 4) & 15 | ((high >> (2 * index) & 3) << 4) as u8;
        uneven(simd, block, 8 + 16 * index, scale * f32::from(own.cast_signed() - 32), out);
    }
}
