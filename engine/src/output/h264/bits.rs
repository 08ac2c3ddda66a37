//! Bits of a parameter set.

/// Reads bits, the most significant first.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The number of bits that were read.
    pub fn position(&self) -> usize {
        self.at
    }

    pub fn bit(&mut self) -> Option<bool> {
        let byte = *self.bytes.get(self.at / 8)?;
        let bit = byte >> (7 - self.at % 8) & 1;
        self.at += 1;
        Some(bit == 1)
    }

    /// At most 32 bits.
    pub fn bits(&mut self, count: u32) -> Option<u32> {
        (0..count).try_fold(0, |value, _| Some(value << 1 | u32::from(self.bit()?)))
    }

    /// An unsigned Exp-Golomb code.
    pub fn ue(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while !self.bit()? {
            zeros += 1;
            if zeros > 31 {
                return None;
            }
        }
        Some((1 << zeros) - 1 + self.bits(zeros)?)
    }

    /// A signed Exp-Golomb code.
    pub fn se(&mut self) -> Option<i32> {
        let code = self.ue()?;
        let half = code.div_ceil(2) as i32;
        Some(if code % 2 == 1 { half } else { -half })
    }
}

/// Writes bits, the most significant first.
#[derive(Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    used: usize,
}

impl BitWriter {
    pub fn bit(&mut self, bit: bool) {
        if self.used.is_multiple_of(8) {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << (7 - self.used % 8);
        }
        self.used += 1;
    }

    /// The lowest `count` bits.
    pub fn bits(&mut self, value: u32, count: u32) {
        (0..count).rev().for_each(|place| self.bit(value >> place & 1 == 1));
    }

    /// An unsigned Exp-Golomb code. The value is below 2³² − 1.
    pub fn ue(&mut self, value: u32) {
        let code = value + 1;
        let length = code.ilog2();
        self.bits(0, length);
        self.bits(code, length + 1);
    }

    /// Ends with a set bit and fills the byte.
    pub fn finish(mut self) -> Vec<u8> {
        self.bit(true);
        self.bytes
    }
}
