//! Where the products of register tiles go.

use half::bf16;

/// A sum as it is kept.
pub trait Kept: Copy + Send + Sync {
    /// In f32.
    fn wide(self) -> f32;
    /// Rounded once.
    fn rounded(sum: f32) -> Self;
}

impl Kept for f32 {
    fn wide(self) -> f32 {
        self
    }

    fn rounded(sum: f32) -> Self {
        sum
    }
}

impl Kept for bf16 {
    fn wide(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    fn rounded(sum: f32) -> Self {
        // To the nearest, and to even between two; what is not a number stays that.
        let bits = sum.to_bits();
        let up = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
        let bits = if sum.is_nan() { bits | 0x0040_0000 } else { up };
        Self::from_bits((bits >> 16) as u16)
    }
}

/// Where the products of a strip of rows go.
pub struct Sums<'a, 'b, T> {
    /// The rows of a block.
    pub out: &'a mut [&'b mut [T]],
    /// The sums so far, where not all inputs are summed at once, in rows of `stride`.
    pub sums: &'a mut [f32],
    pub stride: usize,
    /// The first output.
    pub first: usize,
    /// Whether there is no sum yet.
    pub is_first: bool,
    /// What is added at the end, if this is the end; without a bias, what is there.
    pub bias: Option<Option<&'a [f32]>>,
}

impl<T: Kept> Sums<'_, '_, T> {
    /// Takes the products of some outputs of a row, from the first on, of which only the first may be there.
    #[inline(always)]
    pub fn take<const N: usize>(&mut self, row: usize, place: usize, mut products: [f32; N]) {
        let place = self.first + place;
        let sums = if self.is_first && self.bias.is_some() {
            &mut []
        } else {
            &mut self.sums[row * self.stride + place..][..N]
        };
        if !self.is_first {
            products.iter_mut().zip(&*sums).for_each(|(product, sum)| *product += sum);
        }
        let Some(bias) = self.bias else { return sums.copy_from_slice(&products) };
        let out = &mut self.out[row][place..];
        let bias = bias.map(|bias| &bias[place..]);
        if let Some(out) = out.first_chunk_mut::<N>() {
            let start = match bias.and_then(|bias| bias.first_chunk()) {
                Some(bias) => *bias,
                None => out.map(T::wide),
            };
            *out = std::array::from_fn(|lane| T::rounded(products[lane] + start[lane]));
            return;
        }
        for (lane, (out, product)) in out.iter_mut().zip(products).enumerate() {
            *out = T::rounded(product + bias.map_or(out.wide(), |bias| bias[lane]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_rounded_to_the_nearest() {
        let mut bits = 1_u32;
        for _ in 0..100_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let sum = f32::from_bits(bits);
            assert_eq!(<bf16 as Kept>::rounded(sum).to_bits(), bf16::from_f32(sum).to_bits(), "{sum}");
        }
        for sum in [0.0, -0.0, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE / 3.0]
        {
            assert_eq!(<bf16 as Kept>::rounded(sum).to_bits(), bf16::from_f32(sum).to_bits(), "{sum}");
        }
    }
}
