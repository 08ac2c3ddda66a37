//! MXFP4 as transformers stores it: 4-bit floats, the first of two in the lower half of a byte, and their exponents in another
//! tensor. They become blocks in GGUF's order while they are read.

use super::{CheckpointError, Format, ScaleCodes, Scales, StoredTensor};

/// Values and bytes of a block.
const BLOCK: (usize, usize) = Format::Mxfp4.block();
/// Bytes of its codes.
const CODES: usize = BLOCK.0 / 2;
/// Blocks read at a time.
const PIECE: usize = 1 << 14;

impl StoredTensor {
    /// Attaches exponents from another tensor, one per 32 4-bit floats; `shape` is that of the values.
    pub(in crate::checkpoint) fn join_exponents(&mut self, shape: Vec<usize>, table: Self) {
        let bytes = (self.raw_bytes(), table.raw_bytes());
        self.set_shape(shape);
        let fits = self.shape.last().is_some_and(|columns| columns.is_multiple_of(BLOCK.0))
            && bytes == (self.elements() / 2, self.elements() / BLOCK.0 as u64);
        self.join(
            fits,
            Format::Mxfp4.into(),
            Scales { table: table.into(), first: 0, codes: ScaleCodes::Woven },
        );
    }

    /// Its exponents, if they are in another tensor.
    pub(super) fn woven(&self) -> Option<&Scales> {
        self.scales.as_ref().filter(|scales| matches!(scales.codes, ScaleCodes::Woven))
    }

    /// Bytes in the file that this many values take, from the first on.
    pub(super) fn place_of(&self, format: Format, values: usize) -> u64 {
        let bytes = if self.woven().is_some() { values / BLOCK.0 * CODES } else { format.bytes(values) };
        bytes as u64
    }

    /// Reads bytes of its values, from byte `first` on, as they are provided.
    pub(super) fn read_values(&self, first: usize, out: &mut [u8]) -> Result<(), CheckpointError> {
        if let Some(repacked) = &self.repacked {
            return repacked.read(first, out);
        }
        let Some(exponents) = self.woven() else {
            return self.file.read_at(out, self.range.start + first as u64);
        };
        let (mut codes, mut powers) = (Vec::new(), Vec::new());
        let mut blocks = first / BLOCK.1;
        let (mut skipped, mut out) = (first % BLOCK.1, out);
        while !out.is_empty() {
            let count = (skipped + out.len()).div_ceil(BLOCK.1).min(PIECE);
            codes.resize(count * CODES, 0);
            powers.resize(count, 0);
            self.file.read_at(&mut codes, self.range.start + (blocks * CODES) as u64)?;
            exponents.table.read_raw_at(exponents.first + blocks, &mut powers)?;
            for (codes, &power) in codes.as_chunks().0.iter().zip(&powers) {
                let block = block(codes, power);
                let part = &block[skipped..BLOCK.1.min(skipped + out.len())];
                let (place, rest) = out.split_at_mut(part.len());
                place.copy_from_slice(part);
                (out, skipped) = (rest, 0);
            }
            blocks += count;
        }
        Ok(())
    }
}

/// A block in GGUF's order: the exponent, then bytes whose lower halves are the first 16 values.
fn block(codes: &[u8; CODES], exponent: u8) -> [u8; BLOCK.1] {
    let mut block = [exponent; BLOCK.1];
    let (first, last) = codes.split_at(CODES / 2);
    for ((first, last), pair) in first.iter().zip(last).zip(block[1..].as_chunks_mut().0) {
        *pair = [first & 15 | last << 4, first >> 4 | last & 0xf0];
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::precision::Packed;

    #[test]
    fn values_are_in_their_places() {
        let codes: [u8; CODES] =
            std::array::from_fn(|byte| ((2 * byte % 16) | (((2 * byte + 1) % 16) << 4)) as u8);
        let block = block(&codes, 128);
        let mut values = [0.0; BLOCK.0];
        Packed::new(Format::Mxfp4.into(), BLOCK.0, &block).unwrap().widen(0, &mut values);
        let tiny = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        for (place, value) in values.into_iter().enumerate() {
            let sign = if place % 16 < 8 { 2.0 } else { -2.0 };
            assert_eq!(value, sign * tiny[place % 8], "{place}");
        }
    }
}
