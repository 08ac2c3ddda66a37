//! Dequantizes packed weights with tensor library functions, on the device that holds them.
//!
//! Every byte is looked up in a table of what its bits mean. The rest is reshaping, products and sums in f32,
//! in the order of [`Packed`](crate::precision::Packed), so that results are bit-identical.

use candle_core::{DType, Result, Tensor, bail};

use crate::precision::{DOUBLED, Encoding, Format, Packed, UNEVEN, Zeros, half_power, sign};

/// Weights unpacked at a time. All at once would take several times their size in f32.
const PIECE: usize = 1 << 21;
/// Scratch bytes per weight, without the result: the looked-up values in order, and what is computed from
/// them.
const BYTES_A_WEIGHT: usize = 16;

/// Scratch bytes for unpacking this many weights, without the result.
pub(crate) fn scratch_bytes(elements: usize) -> usize {
    elements.min(PIECE) * BYTES_A_WEIGHT
}

/// Dequantizes a weight of `shape`.
pub(super) fn unpacked(bytes: &Tensor, encoding: Encoding, shape: &[usize], dtype: DType) -> Result<Tensor> {
    let elements: usize = shape.iter().product();
    if bytes.elem_count() < encoding.bytes(elements) {
        bail!("a weight of shape {shape:?} has {} bytes", bytes.elem_count());
    }
    let (all, values) = (encoding.scales(elements), encoding.format.bytes(elements));
    let floats = |first: usize| all_floats(&bytes.narrow(0, values + 4 * first, 4 * all)?);
    let scales = (all > 0).then(|| floats(0)).transpose()?;
    let zeros = encoding.zeros.map(|meaning| Result::Ok((meaning, floats(all)?))).transpose()?;
    let rotation = encoding.rotation.map(|size| Rotation::new(size.get(), bytes.device())).transpose()?;
    let result = Tensor::zeros(elements, dtype, bytes.device())?;
    let mut start = 0;
    while start < elements {
        let count = piece(encoding, start).min(elements - start);
        let first = encoding.format.bytes(start);
        let own = bytes.narrow(0, first, encoding.format.bytes(count))?;
        let mut values = of_format(&own, encoding.format)?.narrow(0, 0, count)?;
        if let Some(rotation) = &rotation {
            values = rotation.of(&values)?;
        }
        if let (Some(scales), Some(group)) = (&scales, encoding.group) {
            let own = |each: &Tensor| each.narrow(0, start / group.get(), encoding.scales(count));
            let product = |values: &Tensor, scales: &Tensor| values.broadcast_mul(scales);
            let scales = own(scales)?;
            values = match &zeros {
                None => by_group(&values, &scales, group.get(), product)?,
                Some((Zeros::Subtracted, zeros)) => {
                    let moved = by_group(&values, &own(zeros)?, group.get(), Tensor::broadcast_sub)?;
                    by_group(&moved, &scales, group.get(), product)?
                }
                Some((Zeros::Added, zeros)) => {
                    let scaled = by_group(&values, &scales, group.get(), product)?;
                    by_group(&scaled, &own(zeros)?, group.get(), Tensor::broadcast_add)?
                }
            };
        }
        result.slice_set(&values.to_dtype(dtype)?, 0, start)?;
        start += count;
    }
    result.reshape(shape)
}

/// How many weights to unpack together from index `start` on: whole blocks, and whole groups that share a
/// scale or a part of one.
fn piece(encoding: Encoding, start: usize) -> usize {
    let block = encoding.unit();
    match encoding.group.map(std::num::NonZeroUsize::get) {
        None => PIECE,
        Some(group) if group > PIECE && group.is_multiple_of(block) => PIECE.min(group - start % group),
        Some(group) => {
            let unit = if group.is_multiple_of(block) { group } else { group * block };
            (PIECE / unit).max(1) * unit
        }
    }
}

/// A function of values and one number per `group` of them, such as the product with their scales.
fn by_group(
    values: &Tensor,
    numbers: &Tensor,
    group: usize,
    function: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let (count, runs) = (values.elem_count(), values.elem_count() / group);
    if runs == 0 {
        return function(values, numbers);
    }
    let whole = values.narrow(0, 0, runs * group)?.reshape((runs, group))?;
    let whole = function(&whole, &numbers.narrow(0, 0, runs)?.unsqueeze(1)?)?.flatten_all()?;
    if runs * group == count {
        return Ok(whole);
    }
    let rest = values.narrow(0, runs * group, count - runs * group)?;
    Tensor::cat(&[whole, function(&rest, &numbers.narrow(0, runs, 1)?)?], 0)
}

/// The matrix of a rotation.
struct Rotation(Tensor);

impl Rotation {
    fn new(size: usize, device: &candle_core::Device) -> Result<Self> {
        let signs: Vec<f32> = (0..size * size).map(|place| sign(place / size, place % size)).collect();
        Ok(Self(Tensor::from_vec(signs, (size, size), device)?))
    }

    /// Rotates values in runs of its size.
    fn of(&self, values: &Tensor) -> Result<Tensor> {
        let size = self.0.dim(0)?;
        values.reshape(((), size))?.matmul(&self.0)?.flatten_all()
    }
}

/// Flat little-endian bytes as f32, in pieces that keep the scratch memory small.
fn all_floats(bytes: &Tensor) -> Result<Tensor> {
    const BYTES: usize = PIECE / 8;
    let all = bytes.elem_count();
    let pieces =
        (0..all).step_by(BYTES).map(|first| floats(&bytes.narrow(0, first, BYTES.min(all - first))?));
    Tensor::cat(&pieces.collect::<Result<Vec<_>>>()?, 0)
}

/// Flat little-endian bytes as f32: the first three bytes give the number, the fourth and one bit of the
/// third its exponent and sign.
fn floats(bytes: &Tensor) -> Result<Tensor> {
    let blocks = Blocks::new(bytes, 4)?;
    let low = blocks.looked_up(0, 1, |byte| [f32::from(byte)])?;
    let middle = blocks.looked_up(1, 1, |byte| [f32::from(byte) * 256.0])?;
    // The third byte has seven bits of the mantissa and the lowest bit of the exponent.
    let third = blocks.looked_up(2, 1, |byte| [f32::from(byte & 127) * 65_536.0, f32::from(byte >> 7)])?;
    let even = blocks.looked_up(3, 1, |byte| sizes(byte, 0))?;
    let odd = blocks.looked_up(3, 1, |byte| sizes(byte, 1))?;
    let is_odd = column(&third, 1)?;
    let chosen = |index| {
        let (even, odd) = (column(&even, index)?, column(&odd, index)?);
        &even + ((odd - &even)? * &is_odd)?
    };
    let mantissa = (((low + middle)? + column(&third, 0)?)? + chosen(0)?)?;
    (mantissa * chosen(1)?)?.flatten_all()
}

/// The meaning of the last byte of an f32 and the bit before it: the implicit part of the mantissa, and the
/// factor of the mantissa.
fn sizes(last: u8, bit: u8) -> [f32; 2] {
    let exponent = i32::from(last & 127) * 2 + i32::from(bit);
    let sign = if last < 128 { 1.0 } else { -1.0 };
    let implicit = if exponent > 0 { 8_388_608.0 } else { 0.0 };
    [implicit, sign * 2f64.powi(exponent.max(1) - 150) as f32]
}

/// One of the numbers that each byte was looked up as.
fn column(tensor: &Tensor, index: usize) -> Result<Tensor> {
    tensor.narrow(tensor.rank() - 1, index, 1)
}

/// The bytes of whole blocks as flat f32. Block layouts and orders of summation are those of
/// `precision/blocks.rs`.
fn of_format(bytes: &Tensor, format: Format) -> Result<Tensor> {
    let blocks = Blocks::new(bytes, format.block().1)?;
    let values = match format {
        Format::F8E4m3 | Format::F8E5m2 | Format::I8 => blocks.values::<1>(format)?,
        Format::I4 | Format::Nf4 | Format::Fp4 | Format::E2m1 => blocks.values::<2>(format)?,
        Format::Q4_0 => blocks.nibbles(2, |code| f32::from(code) - 8.0)?.broadcast_mul(&blocks.half(0)?)?,
        Format::Q4_1 => {
            let codes = blocks.nibbles(4, f32::from)?;
            codes.broadcast_mul(&blocks.half(0)?)?.broadcast_add(&blocks.half(2)?)?
        }
        Format::Q5_0 => {
            let codes = (blocks.nibbles(6, |code| f32::from(code) - 16.0)? + blocks.fifth_bits(2)?)?;
            codes.broadcast_mul(&blocks.half(0)?)?
        }
        Format::Q5_1 => {
            let codes = (blocks.nibbles(8, f32::from)? + blocks.fifth_bits(4)?)?;
            codes.broadcast_mul(&blocks.half(0)?)?.broadcast_add(&blocks.half(2)?)?
        }
        Format::Q8_0 => blocks.looked_up(2, 32, signed)?.squeeze(2)?.broadcast_mul(&blocks.half(0)?)?,
        Format::Iq4Nl => blocks.nibbles(2, uneven)?.broadcast_mul(&blocks.half(0)?)?,
        Format::Mxfp4 => {
            let scales = blocks.looked_up(0, 1, |byte| [half_power(byte)])?.squeeze(2)?;
            blocks.nibbles(1, |code| DOUBLED[usize::from(code)])?.broadcast_mul(&scales)?
        }
        Format::Q2K => blocks.q2_k()?,
        Format::Q3K => blocks.q3_k()?,
        Format::Q4K => blocks.q4_k()?,
        Format::Q5K => blocks.q5_k()?,
        Format::Q6K => blocks.q6_k()?,
        Format::Iq4Xs => blocks.iq4_xs()?,
        Format::F64 | Format::F32 | Format::F16 | Format::Bf16 => bail!("{} is not packed", format.name()),
    };
    values.flatten_all()
}

fn signed(byte: u8) -> [f32; 1] {
    [f32::from(byte.cast_signed())]
}

fn uneven(code: u8) -> f32 {
    UNEVEN[usize::from(code)]
}

/// The lower half of a byte, then the upper half.
fn halves(byte: u8) -> [f32; 2] {
    [f32::from(byte & 15), f32::from(byte >> 4)]
}

/// The four 2-bit parts of a byte, lowest first.
fn pairs(byte: u8) -> [f32; 4] {
    [0, 2, 4, 6].map(|shift| f32::from(byte >> shift & 3))
}

/// The eight bits of a byte, lowest first.
fn bits(byte: u8) -> [f32; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(|shift| f32::from(byte >> shift & 1))
}

/// Blocks of bytes, `[blocks, bytes]`.
struct Blocks(Tensor);

impl Blocks {
    fn new(bytes: &Tensor, size: usize) -> Result<Self> {
        Ok(Self(bytes.reshape(((), size))?))
    }

    /// Table entries for a range of bytes of each block: `[blocks, bytes, N]`.
    fn looked_up<const N: usize>(
        &self,
        place: usize,
        count: usize,
        table: impl Fn(u8) -> [f32; N],
    ) -> Result<Tensor> {
        // The library treats a u8 index of 255 as "none".
        let bytes = self.0.narrow(1, place, count)?.flatten_all()?.to_dtype(DType::U32)?;
        let table: Vec<f32> = (0..=u8::MAX).flat_map(table).collect();
        let table = Tensor::from_vec(table, (256, N), bytes.device())?;
        table.index_select(&bytes, 0)?.reshape((self.0.dim(0)?, count, N))
    }

    /// The values of bytes that hold `N` whole values each.
    fn values<const N: usize>(&self, format: Format) -> Result<Tensor> {
        let bytes: Vec<u8> = (0..=u8::MAX).collect();
        let mut values = vec![0.0; N * bytes.len()];
        if let Some(packed) = Packed::new(format.into(), values.len(), &bytes) {
            packed.widen(0, &mut values);
        }
        let values: &[[f32; N]] = values.as_chunks().0;
        self.looked_up(0, 1, |byte| values[usize::from(byte)])
    }

    /// A little-endian f16: `[blocks, 1]`.
    fn half(&self, place: usize) -> Result<Tensor> {
        // The upper byte's part of the mantissa, and the factor of the mantissa.
        let upper = self.looked_up(place + 1, 1, |byte| {
            let (sign, exponent) = (if byte < 128 { 1.0 } else { -1.0 }, i32::from(byte >> 2 & 31));
            let implicit = if exponent > 0 { 1024.0 } else { 0.0 };
            let size = if exponent < 31 { 2f32.powi(exponent.max(1) - 25) } else { f32::INFINITY };
            [implicit + f32::from(byte & 3) * 256.0, sign * size]
        })?;
        let lower = self.looked_up(place, 1, |byte| [f32::from(byte)])?;
        ((lower + column(&upper, 0)?)? * column(&upper, 1)?)?.squeeze(2)
    }

    /// Maps the lower halves of 16 bytes, then the upper halves, to numbers: `[blocks, 32]`.
    fn nibbles(&self, place: usize, number: impl Fn(u8) -> f32) -> Result<Tensor> {
        self.parts(place, 16, 1, |byte| [number(byte & 15), number(byte >> 4)])?.flatten(1, 2)
    }

    /// The fifth bits of 32 values, stored in 4 bytes: `[blocks, 32]`.
    fn fifth_bits(&self, place: usize) -> Result<Tensor> {
        self.looked_up(place, 4, |byte| bits(byte).map(|bit| 16.0 * bit))?.flatten(1, 2)
    }

    /// Splits `groups` times `count` bytes; the first parts of a group's bytes come before their second
    /// parts: `[blocks, groups · N, count]`.
    fn parts<const N: usize>(
        &self,
        place: usize,
        count: usize,
        groups: usize,
        parts: impl Fn(u8) -> [f32; N],
    ) -> Result<Tensor> {
        let blocks = self.0.dim(0)?;
        let parts = self.looked_up(place, groups * count, parts)?.reshape((blocks, groups, count, N))?;
        parts.transpose(2, 3)?.reshape((blocks, groups * N, count))
    }

    /// The eight scales and the eight minima (negated) of Q4_K and Q5_K: `[blocks, 8, 1]`.
    fn scales_and_minima(&self) -> Result<[Tensor; 2]> {
        let six = |byte: u8| [f32::from(byte & 63), f32::from(byte >> 6) * 16.0];
        let shared = self.looked_up(12, 4, halves)?;
        let eight = |place, half| {
            let own = self.looked_up(place, 4, six)?;
            Tensor::cat(&[column(&own, 0)?, (column(&shared, half)? + column(&own, 1)?)?], 1)
        };
        let scales = eight(4, 0)?.broadcast_mul(&self.half(0)?.unsqueeze(1)?)?;
        Ok([scales, eight(8, 1)?.broadcast_mul(&self.half(2)?.neg()?.unsqueeze(1)?)?])
    }

    fn q2_k(&self) -> Result<Tensor> {
        let own = self.looked_up(0, 16, halves)?;
        let scales = column(&own, 0)?.broadcast_mul(&self.half(80)?.unsqueeze(1)?)?;
        let minima = column(&own, 1)?.broadcast_mul(&self.half(82)?.neg()?.unsqueeze(1)?)?;
        let codes = self.parts(16, 32, 2, pairs)?.reshape(((), 16, 16))?;
        codes.broadcast_mul(&scales)?.broadcast_add(&minima)
    }

    fn q3_k(&self) -> Result<Tensor> {
        let low = self.parts(96, 8, 1, halves)?.flatten(1, 2)?;
        let high = self.parts(104, 4, 1, |byte| pairs(byte).map(|pair| 16.0 * pair - 32.0))?.flatten(1, 2)?;
        let scales = (low + high)?.broadcast_mul(&self.half(108)?)?.unsqueeze(2)?;
        // A set third bit means that nothing is subtracted.
        let third = self.parts(0, 32, 1, |byte| bits(byte).map(|bit| 4.0 * bit - 4.0))?;
        let codes = (self.parts(32, 32, 2, pairs)? + third)?.reshape(((), 16, 16))?;
        codes.broadcast_mul(&scales)
    }

    fn q4_k(&self) -> Result<Tensor> {
        let [scales, minima] = self.scales_and_minima()?;
        self.parts(16, 32, 4, halves)?.broadcast_mul(&scales)?.broadcast_add(&minima)
    }

    fn q5_k(&self) -> Result<Tensor> {
        let [scales, minima] = self.scales_and_minima()?;
        let fifth = self.parts(16, 32, 1, |byte| bits(byte).map(|bit| 16.0 * bit))?;
        (self.parts(48, 32, 4, halves)? + fifth)?.broadcast_mul(&scales)?.broadcast_add(&minima)
    }

    fn q6_k(&self) -> Result<Tensor> {
        let scales = self.looked_up(192, 16, signed)?.broadcast_mul(&self.half(208)?.unsqueeze(1)?)?;
        // The lower halves of 64 bytes, then the upper halves; for both, 2-bit parts of 32 bytes.
        let low = self.parts(0, 64, 2, halves)?.reshape(((), 8, 32))?;
        let high = self.parts(128, 32, 2, |byte| pairs(byte).map(|pair| 16.0 * pair - 32.0))?;
        (low + high)?.reshape(((), 16, 16))?.broadcast_mul(&scales)
    }

    fn iq4_xs(&self) -> Result<Tensor> {
        let low = self.looked_up(4, 4, halves)?.flatten(1, 2)?;
        let high = self.looked_up(2, 2, |byte| pairs(byte).map(|pair| 16.0 * pair - 32.0))?.flatten(1, 2)?;
        let scales = (low + high)?.broadcast_mul(&self.half(0)?)?.unsqueeze(2)?;
        let codes = self.parts(8, 16, 8, |byte| [uneven(byte & 15), uneven(byte >> 4)])?;
        codes.reshape(((), 8, 32))?.broadcast_mul(&scales)
    }
}
