//! Converts one-byte codes to floats, sixteen at a time.
//!
//! What the compiler makes of a loop over codes depends on the surrounding code, so the vector instructions
//! of common CPUs are used explicitly. Other CPUs run the loop and get bit-identical results.

#![cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "the loops take no vectors"))]

#[cfg(target_arch = "x86_64")]
use std::any::Any;

use pulp::Simd;
#[cfg(target_arch = "x86_64")]
use pulp::{
    cast,
    x86::{V3, V4},
};

use super::floats;

/// 32 bytes. Shifts and masks of words vectorize; those of bytes do not.
pub type Words = [u64; 4];

/// The 32-byte vector instructions of the CPU.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn avx2<S: Simd>(simd: S) -> Option<pulp::core_arch::x86::Avx2> {
    // No closures: one that is not inlined would turn each instruction into a call.
    if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V4>() {
        return Some(simd.avx2);
    }
    if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V3>() {
        return Some(simd.avx2);
    }
    None
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn sse2<S: Simd>(simd: S) -> Option<pulp::core_arch::x86::Sse2> {
    if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V4>() {
        return Some(simd.sse2);
    }
    if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V3>() {
        return Some(simd.sse2);
    }
    None
}

/// The same byte eight times.
const fn all(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The bits of `mask` from each byte, shifted right by `shift`.
#[inline(always)]
pub fn bits<S: Simd>(simd: S, words: Words, shift: usize, mask: u8) -> Words {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2(simd) {
        let shifted = avx2._mm256_srl_epi64(cast(words), cast([shift as u64, 0]));
        return cast(avx2._mm256_and_si256(shifted, cast([all(mask); 4])));
    }
    words.map(|word| word >> shift & all(mask))
}

/// The same bits, moved to bit `to` of each byte.
#[inline(always)]
pub fn bits_as<S: Simd>(simd: S, words: Words, shift: usize, mask: u8, to: usize) -> Words {
    if shift >= to {
        bits(simd, words, shift - to, mask << to)
    } else {
        left(simd, bits(simd, words, shift, mask), to)
    }
}

#[inline(always)]
fn left<S: Simd>(simd: S, words: Words, by: usize) -> Words {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2(simd) {
        return cast(avx2._mm256_sll_epi64(cast(words), cast([by as u64, 0])));
    }
    words.map(|word| word << by)
}

/// The bitwise OR of both.
#[inline(always)]
pub fn both<S: Simd>(simd: S, low: Words, high: Words) -> Words {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2(simd) {
        return cast(avx2._mm256_or_si256(cast(low), cast(high)));
    }
    std::array::from_fn(|index| low[index] | high[index])
}

/// Each byte minus `less`, as a signed byte. Bytes are below 64.
#[inline(always)]
pub fn less<S: Simd>(simd: S, words: Words, less: u8) -> Words {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2(simd) {
        return cast(avx2._mm256_sub_epi8(cast(words), cast([all(less); 4])));
    }
    // With the highest bit of each byte set, no byte borrows from its neighbour.
    words.map(|word| ((word | all(0x80)) - all(less)) ^ all(0x80))
}

/// The lower halves of 16 bytes, then the upper halves.
#[inline(always)]
pub fn halves<S: Simd>(simd: S, [first, second]: [u64; 2]) -> Words {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2(simd) {
        let twice = cast([first, second, first, second]);
        let shifted = avx2._mm256_srlv_epi64(twice, cast([0u64, 0, 4, 4]));
        return cast(avx2._mm256_and_si256(shifted, cast([all(15); 4])));
    }
    [first, second, first >> 4, second >> 4].map(|word| word & all(15))
}

/// `value` in each byte whose bit is set.
#[inline(always)]
pub fn spread<S: Simd>(simd: S, bits: u32, value: u8) -> Words {
    /// One bit per byte of a word.
    const OWN: u64 = 0x8040_2010_0804_0201;
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2(simd) {
        let places = [all(0), all(1), all(2), all(3)];
        let bytes = avx2._mm256_shuffle_epi8(cast([bits; 8]), cast(places));
        let own = cast([OWN; 4]);
        let set = avx2._mm256_cmpeq_epi8(avx2._mm256_and_si256(bytes, own), own);
        return cast(avx2._mm256_and_si256(set, cast([all(value); 4])));
    }
    bits.to_le_bytes().map(|byte| {
        let own = all(byte) & OWN;
        // The highest bit of each nonzero byte.
        let set = (((own & all(0x7f)) + all(0x7f)) | own) & all(0x80);
        (set >> 7) * u64::from(value)
    })
}

/// The codes of 16 bytes, with the upper half of each byte before the lower.
#[inline(always)]
pub fn pairs<S: Simd>(simd: S, packed: [u8; 16]) -> [u8; 32] {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = sse2(simd) {
        let mask = cast([all(15); 2]);
        let high = simd._mm_and_si128(simd._mm_srli_epi64::<4>(cast(packed)), mask);
        let low = simd._mm_and_si128(cast(packed), mask);
        return cast([simd._mm_unpacklo_epi8(high, low), simd._mm_unpackhi_epi8(high, low)]);
    }
    std::array::from_fn(|index| if index % 2 == 0 { packed[index / 2] >> 4 } else { packed[index / 2] & 15 })
}

/// Converts the bits of an f16.
#[inline(always)]
pub fn half<S: Simd>(simd: S, bits: u16) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V4>() {
        return cast::<_, [f32; 16]>(simd.avx512f._mm512_cvtph_ps(cast([bits; 16])))[0];
    }
    floats::f16(bits)
}

/// `scale · code`, plus `offset` if there is one, for signed or unsigned codes.
#[inline(always)]
pub fn scaled<S: Simd, const SIGNED: bool>(
    simd: S,
    codes: [u8; 16],
    scale: f32,
    offset: Option<f32>,
    out: &mut [f32; 16],
) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V4>() {
            let f = simd.avx512f;
            let wide = if SIGNED {
                f._mm512_cvtepi8_epi32(cast(codes))
            } else {
                f._mm512_cvtepu8_epi32(cast(codes))
            };
            let values = f._mm512_mul_ps(f._mm512_cvtepi32_ps(wide), f._mm512_set1_ps(scale));
            *out = match offset {
                Some(offset) => cast(f._mm512_add_ps(values, f._mm512_set1_ps(offset))),
                None => cast(values),
            };
            return;
        }
        if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V3>() {
            let [low, high]: [u64; 2] = cast(codes);
            for (codes, out) in [low, high].into_iter().zip(out.as_chunks_mut::<8>().0) {
                let codes = cast([codes, 0]);
                let wide = if SIGNED {
                    simd.avx2._mm256_cvtepi8_epi32(codes)
                } else {
                    simd.avx2._mm256_cvtepu8_epi32(codes)
                };
                let values =
                    simd.avx._mm256_mul_ps(simd.avx._mm256_cvtepi32_ps(wide), simd.avx._mm256_set1_ps(scale));
                *out = match offset {
                    Some(offset) => cast(simd.avx._mm256_add_ps(values, simd.avx._mm256_set1_ps(offset))),
                    None => cast(values),
                };
            }
            return;
        }
    }
    for (out, code) in out.iter_mut().zip(codes) {
        let code = if SIGNED { i32::from(code.cast_signed()) } else { i32::from(code) };
        let value = scale * code as f32;
        *out = offset.map_or(value, |offset| value + offset);
    }
}

/// `scale · value` for 8-bit floats with 3 mantissa bits.
#[inline(always)]
pub fn e4m3<S: Simd>(simd: S, codes: [u8; 16], scale: f32, out: &mut [f32; 16]) {
    #[cfg(target_arch = "x86_64")]
    {
        // Treated as f16, whose exponent bias differs: all values are 1/256 of theirs, and NaN is another
        // code.
        let factor = 256.0 * scale;
        if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V4>()
            && factor.is_finite()
        {
            const LAST: u16 = 0x3f80;
            const NAN: u16 = 0x7e00;
            let (f, simd) = (simd.avx512f, simd.avx2);
            let wide = simd._mm256_cvtepu8_epi16(cast(codes));
            let magnitude = simd._mm256_and_si256(simd._mm256_slli_epi16::<7>(wide), cast([LAST; 16]));
            let sign = simd._mm256_and_si256(simd._mm256_slli_epi16::<8>(wide), cast([0x8000u16; 16]));
            let is_nan = simd._mm256_cmpeq_epi16(magnitude, cast([LAST; 16]));
            let instead = simd._mm256_and_si256(is_nan, cast([NAN ^ LAST; 16]));
            let half = simd._mm256_or_si256(simd._mm256_xor_si256(magnitude, instead), sign);
            *out = cast(f._mm512_mul_ps(f._mm512_cvtph_ps(half), f._mm512_set1_ps(factor)));
            return;
        }
    }
    for (out, code) in out.iter_mut().zip(codes) {
        *out = scale * floats::e4m3(code);
    }
}

/// `scale · table[code]`, for codes below 16.
#[inline(always)]
pub fn looked_up<S: Simd>(simd: S, codes: [u8; 16], table: &[f32; 16], scale: f32, out: &mut [f32; 16]) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V4>() {
            let f = simd.avx512f;
            let values = f._mm512_permutexvar_ps(f._mm512_cvtepu8_epi32(cast(codes)), cast(*table));
            *out = cast(f._mm512_mul_ps(values, f._mm512_set1_ps(scale)));
            return;
        }
        if let Some(simd) = (&simd as &dyn Any).downcast_ref::<V3>() {
            let [first, last]: [[f32; 8]; 2] = cast(*table);
            let [low, high]: [u64; 2] = cast(codes);
            for (codes, out) in [low, high].into_iter().zip(out.as_chunks_mut::<8>().0) {
                let codes = simd.avx2._mm256_cvtepu8_epi32(cast([codes, 0]));
                let first = simd.avx2._mm256_permutevar8x32_ps(cast(first), codes);
                let last = simd.avx2._mm256_permutevar8x32_ps(cast(last), codes);
                // Moves the fourth bit of a code to the sign bit, which selects the half of the table.
                let upper = simd.avx2._mm256_slli_epi32::<28>(codes);
                let values = simd.avx._mm256_blendv_ps(first, last, cast(upper));
                *out = cast(simd.avx._mm256_mul_ps(values, simd.avx._mm256_set1_ps(scale)));
            }
            return;
        }
    }
    for (out, code) in out.iter_mut().zip(codes) {
        *out = scale * table[usize::from(code & 15)];
    }
}
