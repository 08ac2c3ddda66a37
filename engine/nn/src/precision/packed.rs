//! The bytes of a tensor, and their dequantization.

use std::{hint::black_box, num::NonZeroUsize};

use pulp::{NullaryFnOnce, Simd, WithSimd};

use super::{Encoding, Format, Zeros, blocks, floats, rotation::rotate, vectors};
use crate::instructions::arch;

/// The sixteen NF4 values of bitsandbytes.
pub const NORMAL: [f32; 16] = [
    -1.0,
    -0.696_192_8,
    -0.525_073_05,
    -0.394_917_5,
    -0.284_441_38,
    -0.184_773_43,
    -0.091_050_036,
    0.0,
    0.079_580_3,
    0.160_930_2,
    0.246_112_3,
    0.337_915_24,
    0.440_709_83,
    0.562_617,
    0.722_956_84,
    1.0,
];

/// The sixteen FP4 values of bitsandbytes: a sign bit, and eight magnitudes in the order of its binary tree.
const TREE: [f32; 16] = [
    0.0,
    0.005_208_333_3,
    0.666_666_7,
    1.0,
    0.333_333_34,
    0.5,
    0.166_666_67,
    0.25,
    0.0,
    -0.005_208_333_3,
    -0.666_666_7,
    -1.0,
    -0.333_333_34,
    -0.5,
    -0.166_666_67,
    -0.25,
];

/// The sixteen floats with 2 exponent bits and 1 mantissa bit.
const TINY: [f32; 16] =
    [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0];

/// The sixteen signed integers of 4 bits.
const INTEGERS: [f32; 16] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0];

/// The values of 4-bit codes.
const fn table_of(format: Format) -> &'static [f32; 16] {
    match format {
        Format::Fp4 => &TREE,
        Format::E2m1 => &TINY,
        Format::I4 => &INTEGERS,
        _ => &NORMAL,
    }
}

/// Bytes per memory access.
const CACHE_LINE: usize = 64;

/// The values of a tensor as they are stored.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'a> {
    encoding: Encoding,
    values: &'a [u8],
    /// The scales, then the zero points.
    tail: &'a [u8],
}

/// Integers of 8 bits with scales.
#[derive(Debug, Clone, Copy)]
pub struct Integers<'a> {
    /// The integers, as signed bytes.
    pub values: &'a [u8],
    scales: &'a [[u8; 4]],
    group: usize,
}

impl Integers<'_> {
    /// The scale of an integer.
    pub fn scale(&self, index: usize) -> f32 {
        self.scales.get(index / self.group).map_or(1.0, |scale| f32::from_le_bytes(*scale))
    }
}

impl<'a> Packed<'a> {
    /// `elements` values in `bytes`: the values, then the scales and the zero points. `None` if there are too few
    /// bytes, or if the format cannot have the encoding's zero points or rotation.
    pub fn new(encoding: Encoding, elements: usize, bytes: &'a [u8]) -> Option<Self> {
        let bytes = bytes.get(..encoding.bytes(elements)).filter(|_| encoding.is_sound())?;
        let (values, tail) = bytes.split_at(encoding.format.bytes(elements));
        Some(Self { encoding, values, tail })
    }

    /// The values without their rotation, and its size: their products with rotated values are those of the
    /// weights with the values. Weights with zero points keep their rotation.
    pub fn without_rotation(mut self) -> (Self, Option<NonZeroUsize>) {
        let has_zeros = self.encoding.zeros.is_some();
        let rotation = self.encoding.rotation.take_if(|_| !has_zeros);
        (self, rotation)
    }

    /// The values as integers with scales, if they are no more than that.
    pub fn integers(&self) -> Option<Integers<'a>> {
        let Encoding { format, group, zeros, rotation, .. } = self.encoding;
        let are_integers = format == Format::I8 && zeros.is_none() && rotation.is_none();
        let group = group.map_or(usize::MAX, NonZeroUsize::get);
        are_integers.then_some(Integers { values: self.values, scales: self.tail.as_chunks().0, group })
    }

    /// Dequantizes values from index `start` on. Both `start` and the length of `out` must be multiples of the
    /// encoding's [unit](Encoding::unit).
    pub fn widen(&self, start: usize, out: &mut [f32]) {
        arch().dispatch(Widen { packed: self, start, out });
    }

    /// The same with given vector instructions.
    #[inline(always)]
    pub fn widen_with<S: Simd>(&self, simd: S, start: usize, out: &mut [f32]) {
        // A separate function per instruction set: it is long and has many callers.
        simd.vectorize(Vectorized { simd, widen: Widen { packed: self, start, out } });
    }

    #[inline(always)]
    fn widen_here<S: Simd>(&self, simd: S, start: usize, out: &mut [f32]) {
        let format = self.encoding.format;
        let first = format.bytes(start);
        let values = &self.values[first..first + format.bytes(out.len())];
        if format == Format::Q6K {
            // Prefetches the block. Its scales are at the end, so distant memory would otherwise be fetched
            // once for them and again for the codes.
            black_box(values.iter().step_by(CACHE_LINE).fold(0, |all, byte| all ^ byte));
        }
        match format {
            Format::I8 | Format::I4 if self.encoding.is_affine() => {
                match format {
                    Format::I8 => integer_run(simd, values, 1.0, out),
                    _ => looked_up_run(simd, &INTEGERS, values, 1.0, out),
                }
                return finish(self.encoding, self.tail, start, out);
            }
            Format::F8E4m3 | Format::I8 => return self.widen_runs(simd, values, start, out),
            Format::I4 | Format::Nf4 | Format::Fp4 | Format::E2m1
                if self.encoding.group.is_none_or(|group| (group.get() | start).is_multiple_of(16)) =>
            {
                return self.widen_runs(simd, values, start, out);
            }
            Format::F8E5m2 => each(values, out, |&value| floats::e5m2(value)),
            Format::I4 | Format::Nf4 | Format::Fp4 | Format::E2m1 => {
                looked_up_run(simd, table_of(format), values, 1.0, out);
            }
            Format::F16 => each(values.as_chunks().0, out, |&value| floats::f16(u16::from_le_bytes(value))),
            Format::Bf16 => each(values.as_chunks().0, out, |&value| floats::bf16(u16::from_le_bytes(value))),
            Format::F32 => each(values.as_chunks().0, out, |&value| f32::from_le_bytes(value)),
            Format::F64 => each(values.as_chunks().0, out, |&value| f64::from_le_bytes(value) as f32),
            format => blocks::widen(simd, format, values, out),
        }
        finish(self.encoding, self.tail, start, out);
    }
}

impl Packed<'_> {
    /// Dequantizes codes, each group with its scale.
    #[inline(always)]
    fn widen_runs<S: Simd>(&self, simd: S, values: &[u8], start: usize, out: &mut [f32]) {
        let group = self.encoding.group.map_or(usize::MAX, NonZeroUsize::get);
        let scales = &self.tail.as_chunks().0[(start / group).min(self.tail.len() / 4)..];
        let (mut scales, mut left, mut done) = (scales.iter(), group - start % group, 0);
        while done < out.len() {
            let scale = scales.next().map_or(1.0, |scale| f32::from_le_bytes(*scale));
            let run = &mut out[done..];
            let count = left.min(run.len());
            let run = &mut run[..count];
            match self.encoding.format {
                Format::F8E4m3 => e4m3_run(simd, &values[done..][..count], scale, run),
                Format::I8 => integer_run(simd, &values[done..][..count], scale, run),
                format => looked_up_run(simd, table_of(format), &values[done / 2..], scale, run),
            }
            (done, left) = (done + count, group);
        }
    }
}

/// Converts 8-bit floats and multiplies them by a scale.
#[inline(always)]
fn e4m3_run<S: Simd>(simd: S, values: &[u8], scale: f32, out: &mut [f32]) {
    let ((whole, rest), (values, last)) = (out.as_chunks_mut(), values.as_chunks());
    for (out, values) in whole.iter_mut().zip(values) {
        vectors::e4m3(simd, *values, scale, out);
    }
    for (out, value) in rest.iter_mut().zip(last) {
        *out = scale * floats::e4m3(*value);
    }
}

/// Converts integers and multiplies them by a scale.
#[inline(always)]
fn integer_run<S: Simd>(simd: S, values: &[u8], scale: f32, out: &mut [f32]) {
    let ((whole, rest), (values, last)) = (out.as_chunks_mut(), values.as_chunks());
    for (out, values) in whole.iter_mut().zip(values) {
        vectors::scaled::<S, true>(simd, *values, scale, None, out);
    }
    for (out, value) in rest.iter_mut().zip(last) {
        *out = scale * f32::from(value.cast_signed());
    }
}

/// Converts 4-bit codes, two per byte, and multiplies them by a scale.
#[inline(always)]
fn looked_up_run<S: Simd>(simd: S, table: &[f32; 16], values: &[u8], scale: f32, out: &mut [f32]) {
    let (whole, rest) = out.as_chunks_mut::<32>();
    for (out, values) in whole.iter_mut().zip(values.as_chunks().0) {
        let codes = vectors::pairs(simd, *values);
        for (codes, out) in codes.as_chunks().0.iter().zip(out.as_chunks_mut().0) {
            vectors::looked_up(simd, *codes, table, scale, out);
        }
    }
    let values = &values[16 * whole.len()..];
    let (half, rest) = rest.split_at_mut(rest.len() / 16 * 16);
    if let (Ok(out), Some(own)) = (half.try_into(), values.first_chunk::<8>()) {
        let mut packed = [0; 16];
        packed[..8].copy_from_slice(own);
        let codes = vectors::pairs(simd, packed);
        if let Some(codes) = codes.first_chunk() {
            vectors::looked_up(simd, *codes, table, scale, out);
        }
    }
    let values = &values[half.len() / 2..];
    for (index, out) in rest.iter_mut().enumerate() {
        let byte = values[index / 2];
        *out = scale * table[usize::from(if index % 2 == 0 { byte >> 4 } else { byte & 15 })];
    }
}

/// A dequantization to run.
struct Widen<'a, 'b> {
    packed: &'a Packed<'a>,
    start: usize,
    out: &'b mut [f32],
}

impl WithSimd for Widen<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.packed.widen_with(simd, self.start, self.out);
    }
}

/// The same with given vector instructions.
struct Vectorized<'a, 'b, S> {
    simd: S,
    widen: Widen<'a, 'b>,
}

impl<S: Simd> NullaryFnOnce for Vectorized<'_, '_, S> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Widen { packed, start, out } = self.widen;
        packed.widen_here(self.simd, start, out);
    }
}

/// Makes weights of values that were only converted, the first of which has index `start` in its tensor: rotates
/// them, multiplies them by their scales and applies their zero points. `tail` has all scales of the tensor, then
/// all zero points.
#[inline(always)]
pub fn finish(encoding: Encoding, tail: &[u8], start: usize, values: &mut [f32]) {
    if let Some(rotation) = encoding.rotation {
        values.chunks_exact_mut(rotation.get()).for_each(rotate);
    }
    let Some(group) = encoding.group.map(NonZeroUsize::get) else { return };
    let tail = tail.as_chunks().0;
    let (scales, zeros) = tail.split_at(if encoding.zeros.is_some() { tail.len() / 2 } else { tail.len() });
    let (mut place, mut done) = (start, 0);
    while done < values.len() {
        let scale = f32::from_le_bytes(scales[place / group]);
        let count = (group - place % group).min(values.len() - done);
        let run = values[done..done + count].iter_mut();
        let zero = || f32::from_le_bytes(zeros[place / group]);
        match encoding.zeros {
            None => run.for_each(|value| *value *= scale),
            Some(Zeros::Subtracted) => {
                let zero = zero();
                run.for_each(|value| *value = (*value - zero) * scale);
            }
            Some(Zeros::Added) => {
                let zero = zero();
                run.for_each(|value| *value = *value * scale + zero);
            }
        }
        (place, done) = (place + count, done + count);
    }
}

#[inline(always)]
fn each<T>(values: &[T], out: &mut [f32], widen: impl Fn(&T) -> f32) {
    out.iter_mut().zip(values).for_each(|(out, value)| *out = widen(value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precision::encode;

    fn ramp(count: usize) -> Vec<f32> {
        (0..count).map(|index| ((index * 37 % 101) as f32 - 50.0) / 64.0).collect()
    }

    #[test]
    fn any_part_is_widened_as_the_whole_is() {
        for format in Format::ALL {
            let scaled = |group| Encoding::scaled(format, group);
            let mut encodings = match format {
                Format::I8 | Format::I4 | Format::Nf4 | Format::F8E4m3 => {
                    vec![scaled(64), scaled(100), format.into()]
                }
                _ => vec![format.into()],
            };
            if matches!(format, Format::I8 | Format::I4) {
                let rotations = [4, 16, 64, 256].map(|rotation| scaled(512).rotated(rotation));
                encodings.extend(rotations);
                encodings
                    .extend([scaled(64).with_zeros(Zeros::Added), scaled(6).with_zeros(Zeros::Subtracted)]);
                encodings.push(scaled(256).rotated(64).with_zeros(Zeros::Subtracted));
            }
            for encoding in encodings {
                let block = encoding.unit().max(2);
                let bytes: Vec<u8> =
                    (0..encoding.bytes(1024)).map(|index| (index * 131 % 113) as u8).collect();
                let packed = Packed::new(encoding, 1024, &bytes).unwrap();
                let mut whole = vec![0.0; 1024];
                packed.widen(0, &mut whole);
                for start in (0..1024).step_by(block) {
                    let mut part = vec![0.0; block];
                    packed.widen(start, &mut part);
                    let bits =
                        |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&part), bits(&whole[start..start + block]), "{encoding:?}");
                }
            }
        }
    }

    /// Within a vector and alone at the end of a run, with all kinds of scales.
    #[test]
    fn codes_are_widened_as_one_by_one() {
        let same = |got: f32, want: f32| got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan());
        let codes: Vec<u8> = (0..=u8::MAX).collect();
        let integer = |code: u8| f32::from(code.cast_signed());
        let normal = |code: u8| [NORMAL[usize::from(code >> 4)], NORMAL[usize::from(code & 15)]];
        for scale in [1.0f32, 0.013, -2.0, 3e36, 1e-42] {
            for (format, one) in [(Format::F8E4m3, floats::e4m3 as fn(u8) -> f32), (Format::I8, integer)] {
                let bytes = [codes.as_slice(), &scale.to_le_bytes()].concat();
                let packed = Packed::new(Encoding::scaled(format, 256), 256, &bytes).unwrap();
                for start in [0, 5, 250] {
                    let mut out = vec![0.0; 256 - start];
                    packed.widen(start, &mut out);
                    for (value, code) in out.iter().zip(&codes[start..]) {
                        assert!(same(*value, one(*code) * scale), "{format:?}, {code:02x}: {value}");
                    }
                }
            }
            for group in [32, 64, 100, 512] {
                let encoding = Encoding::scaled(Format::Nf4, group);
                let scales = (0..encoding.scales(512)).map(|index| scale * (index + 1) as f32);
                let scales: Vec<f32> = scales.collect();
                let bytes: Vec<u8> = codes
                    .iter()
                    .copied()
                    .chain(scales.iter().flat_map(|scale| scale.to_le_bytes()))
                    .collect();
                let packed = Packed::new(encoding, 512, &bytes).unwrap();
                let wide: Vec<f32> = codes.iter().flat_map(|code| normal(*code)).collect();
                for start in [0, 6, 64, 500] {
                    let mut out = vec![0.0; 512 - start];
                    packed.widen(start, &mut out);
                    for (value, place) in out.iter().zip(start..) {
                        assert!(
                            same(*value, wide[place] * scales[place / group]),
                            "{group}, {place}: {value}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_was_encoded_comes_back_near() {
        let values = ramp(512);
        for (encoding, allowed) in [
            (Encoding::from(Format::F32), 0.0),
            (Format::F16.into(), 1e-3),
            (Format::Bf16.into(), 4e-3),
            (Format::Q8_0.into(), 5e-3),
            (Format::Q4K.into(), 0.08),
            (Encoding::scaled(Format::F8E4m3, 512), 0.04),
            (Encoding::scaled(Format::I8, 256), 5e-3),
            (Encoding::scaled(Format::Nf4, 64), 0.12),
        ] {
            let bytes = encode(encoding, &values).unwrap();
            assert_eq!(bytes.len(), encoding.bytes(512));
            let mut back = vec![0.0; 512];
            Packed::new(encoding, 512, &bytes).unwrap().widen(0, &mut back);
            let square =
                |values: &mut dyn Iterator<Item = f32>| values.map(|value| value * value).sum::<f32>();
            let error = square(&mut values.iter().zip(&back).map(|(a, b)| a - b));
            let relative = (error / square(&mut values.iter().copied())).sqrt();
            assert!(relative <= allowed, "{encoding:?}: {relative}");
        }
    }

    #[test]
    fn integers_are_rotated_scaled_and_moved() {
        let integer = |code: u8| f32::from(code.cast_signed() << 4 >> 4);
        let codes: Vec<u8> = (0..64).map(|index| (index * 7 % 16) as u8).collect();
        let halves = codes.as_chunks().0.iter().map(|[first, second]| first << 4 | second);
        let tail = [0.5f32, -2.0, 3.0, 0.25];
        let bytes: Vec<u8> = halves.chain(tail.iter().flat_map(|value| value.to_le_bytes())).collect();
        let plain: Vec<f32> = codes.iter().map(|code| integer(*code)).collect();
        let turned: Vec<f32> = (0..64)
            .map(|place| {
                let start = place / 16 * 16;
                (0..16).map(|column| super::super::sign(place % 16, column) * plain[start + column]).sum()
            })
            .collect();
        let scaled = Encoding::scaled(Format::I4, 32);
        for (encoding, values, zeros) in [
            (scaled.with_zeros(Zeros::Added), &plain, true),
            (scaled.with_zeros(Zeros::Subtracted), &plain, false),
            (scaled.with_zeros(Zeros::Subtracted).rotated(16), &turned, false),
        ] {
            let mut out = vec![0.0; 64];
            Packed::new(encoding, 64, &bytes).unwrap().widen(0, &mut out);
            for (place, (got, value)) in out.iter().zip(values).enumerate() {
                let (scale, zero) = (tail[place / 32], tail[2 + place / 32]);
                let want = if zeros { value * scale + zero } else { (value - zero) * scale };
                assert_eq!(*got, want, "{encoding:?}, {place}");
            }
        }
        let mut out = vec![0.0; 64];
        Packed::new(scaled.rotated(16), 64, &bytes).unwrap().widen(0, &mut out);
        assert!(
            out.iter().zip(&turned).enumerate().all(|(place, (got, value))| *got == value * tail[place / 32])
        );
    }

    #[test]
    fn too_few_bytes_are_refused() {
        assert!(Packed::new(Encoding::scaled(Format::Nf4, 64).rotated(16), 64, &[0; 64]).is_none());
        assert!(Packed::new(Format::Q8_0.into(), 64, &[0; 67]).is_none());
        assert!(Packed::new(Encoding::scaled(Format::I8, 8), 8, &[0; 11]).is_none());
    }
}
