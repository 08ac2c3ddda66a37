//! Where the products of register tiles go.

use super::Kept;

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
