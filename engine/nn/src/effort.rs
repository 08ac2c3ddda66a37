//! How long the CPU's functions take, as the operations of a large matrix product in the same time. A function that waits for
//! memory, or packs its inputs first, counts more than it computes; a Winograd convolution counts less.

use std::time::{Duration, Instant};

use candle_core::{DType, Device, Result, Tensor};

use super::{
    computed::{
        Bf16Method, Conv2d, ConvPath, FEW_ROWS, Mask, Weight, attention, attention_pieces, bf16_pieces,
        bytes_pieces, conv2d, linear, linear_pieces, rounds_inputs_in, silu_mul, times_packed,
    },
    precision::{Encoding, Format},
};

/// Part of a direct convolution's multiplications that a Winograd convolution of 2×2 pixels needs.
const BY_TWO: f64 = 4.0 / 9.0;
/// The same of 4×4 pixels: a quarter, which takes the time of a quarter more because the sums pass through memory.
const BY_FOUR: f64 = 5.0 / 16.0;

/// What functions take besides the operations of their products, in hundredths of an operation of a large matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Per value of a result of a product.
    pub output: u32,
    /// Per weight that is packed for many rows.
    pub packed: u32,
    /// Per weight, where so few rows are multiplied that the time goes into reading the weights.
    pub read: u32,
    /// Per query and key of a head.
    pub score: u32,
    /// Per value that is read or written.
    pub value: u32,
    /// Per value that the tensor library copies into another order, which one thread does.
    pub copied: u32,
    /// Per pixel and channel, in and out, of a Winograd convolution of 2×2 pixels.
    pub pixel: u32,
    /// The same of 4×4 pixels.
    pub pixel_by_four: u32,
    /// Per pair of channels of a Winograd convolution, whose kernels are transformed.
    pub kernel: u32,
    /// Per operation of a direct convolution.
    pub direct: u32,
    /// Per operation of a product or a convolution in bf16.
    pub in_bf16: u32,
    /// Per operation of a product in whole numbers of 8 bits.
    pub in_8_bits: u32,
    /// Per product: memory for the result, dividing the work among threads, and waiting for the last. Other functions take half
    /// of it.
    pub call: u32,
}

impl Effort {
    /// Of a processor with AVX-512.
    pub const USUAL: Self = Self {
        output: 6_000,
        packed: 8_000,
        read: 800,
        score: 500,
        value: 1_000,
        copied: 8_000,
        pixel: 9_000,
        pixel_by_four: 16_000,
        kernel: 250_000,
        direct: 130,
        in_bf16: 50,
        in_8_bits: 30,
        call: 100_000_000,
    };

    /// `[rows, inputs]` through a linear layer with `outputs` outputs.
    pub(super) fn linear(self, [rows, inputs, outputs]: [usize; 3], threads: usize) -> f64 {
        let products = 2.0 * (rows * inputs * outputs) as f64;
        if rows <= FEW_ROWS {
            return products.max(of(self.read, inputs * outputs)) + of(self.call, 1) / 2.0;
        }
        let packed = of(self.packed, inputs * outputs * times_packed([rows, inputs, outputs], threads));
        let even = products + of(self.output, rows * outputs) + packed;
        even * uneven(linear_pieces([rows, inputs, outputs], threads), 1, threads) + of(self.call, 1)
    }

    /// The same with the processor's instruction for bf16.
    pub(super) fn linear_in_bf16(self, [rows, inputs, outputs]: [usize; 3], threads: usize) -> f64 {
        let products = 2.0 * (rows * inputs * outputs) as f64 * f64::from(self.in_bf16) / 100.0;
        let even = products + of(self.output, rows * outputs);
        even * uneven(bf16_pieces([rows, inputs, outputs], threads), 1, threads) + of(self.call, 1)
    }

    /// The same in whole numbers of 8 bits.
    pub(super) fn linear_in_8_bits(self, [rows, inputs, outputs]: [usize; 3], threads: usize) -> f64 {
        let products = 2.0 * (rows * inputs * outputs) as f64 * f64::from(self.in_8_bits) / 100.0;
        let even = products + of(self.output, rows * outputs);
        even * uneven(bytes_pieces([rows, inputs, outputs], threads), 1, threads) + of(self.call, 1)
    }

    /// A function that moves this many values.
    pub(super) fn moving(self, values: usize) -> f64 {
        of(self.value, values) + of(self.call, 1) / 2.0
    }

    /// So many values that the tensor library copies.
    pub(super) fn copying(self, values: usize) -> f64 {
        of(self.copied, values) + of(self.call, 1) / 2.0
    }

    /// Attention of `queries` values over `keys` keys; `scores` is the number of queries, heads and keys.
    pub(super) fn attention(self, queries: usize, keys: usize, scores: usize, in_bf16: bool) -> f64 {
        let part = if in_bf16 { f64::from(self.in_bf16) / 100.0 } else { 1.0 };
        4.0 * queries as f64 * keys as f64 * part + of(self.score, scores) + of(self.call, 1) / 2.0
    }

    /// A convolution from `inputs` to `outputs` channels of `pixels` pixels with kernels of `taps` values.
    pub(super) fn conv(
        self,
        path: ConvPath,
        [inputs, outputs]: [usize; 2],
        pixels: usize,
        taps: usize,
    ) -> f64 {
        let operations = 2.0 * (pixels * taps) as f64 * inputs as f64 * outputs as f64;
        let call = of(self.call, 1);
        let filtered = |products: f64, pixel: u32| {
            let transforms = of(pixel, pixels * (inputs + outputs)) + of(self.kernel, inputs * outputs);
            call + operations * products + transforms
        };
        match path {
            ConvPath::InBf16(_) => {
                call + operations * f64::from(self.in_bf16) / 100.0 + of(self.output, pixels * outputs)
            }
            ConvPath::WinogradByTwo => filtered(BY_TWO, self.pixel),
            ConvPath::WinogradByFour => filtered(BY_FOUR, self.pixel_by_four),
            ConvPath::Small => {
                let patches = self.moving(2 * pixels * inputs * taps);
                call + operations + patches + of(self.packed, inputs * outputs * taps)
            }
            ConvPath::Direct => call + operations * f64::from(self.direct) / 100.0,
        }
    }

    /// Measures the CPU with the threads that this is called from, in a second and 20 MB: operations a second in a large
    /// matrix product, and what other functions take.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn measure() -> Result<(f64, Self)> {
        const ROWS: usize = 384;
        const SIDE: usize = 1024;
        const NARROW: usize = 96;
        const SOME: usize = 16;
        // A small feed-forward network: its rows, their values, and those between its layers.
        const FEW: usize = 96;
        const OUTER: usize = 160;
        const INNER: usize = 432;
        const HEADS: [usize; 4] = [1, 512, 4, 64];
        const VALUES: usize = 1 << 19;
        // Channels and sides of images: one whose transforms count, one whose kernels count, one that is convolved directly.
        const IMAGES: [[usize; 2]; 3] = [[64, 64], [192, 24], [12, 96]];
        let ones = |shape: &[usize]| Tensor::ones(shape, DType::F32, &Device::Cpu);
        let (rows, square) = (ones(&[ROWS, SIDE])?, ones(&[SIDE, SIDE])?);
        let (slim, narrow) = (ones(&[ROWS, NARROW])?, ones(&[SIDE, NARROW])?);
        let (some, row, half) = (ones(&[SOME, SIDE])?, ones(&[1, SIDE])?, square.to_dtype(DType::BF16)?);
        let (heads, values) = (ones(&HEADS)?, ones(&[1, VALUES])?);
        let squares = ones(&[VALUES / 256, 16, 16])?;
        let image = |[channels, side]: [usize; 2]| -> Result<_> {
            Ok((ones(&[1, channels, side, side])?, ones(&[channels, channels, 3, 3])?))
        };
        let [flat, deep, small] = IMAGES.map(image);
        let (flat, deep, small) = (flat?, deep?, small?);
        let (few, up, down) = (ones(&[FEW, OUTER])?, ones(&[INNER, OUTER])?, ones(&[OUTER, INNER])?);
        let half_rows = rows.to_dtype(DType::BF16)?;
        let encoding = Encoding::scaled(Format::I8, SIDE).rounding_inputs();
        let bytes = Tensor::ones(encoding.bytes(SIDE * SIDE), DType::U8, &Device::Cpu)?;
        let bytes = Weight::Packed { bytes, encoding, shape: vec![SIDE; 2] };
        // Every CPU filters f16 by four.
        let half_flat = (flat.0.to_dtype(DType::F16)?, flat.1.to_dtype(DType::F16)?);
        let convolve = |(x, kernels): &(Tensor, Tensor)| conv2d(x, kernels, None, Conv2d::SAME_3X3);
        let [
            product,
            outputs,
            weights,
            reading,
            scores,
            moving,
            copying,
            transforms,
            transforms_by_four,
            kernels,
            directly,
            calls,
            in_bf16,
            in_8_bits,
        ] = fastest([
            &|| linear(&rows, &square, None),
            &|| linear(&slim, &narrow, None),
            &|| linear(&some, &half, None),
            &|| linear(&row, &half, None),
            &|| attention(&heads, &heads, &heads, Mask::None),
            &|| silu_mul(&values, &values),
            &|| squares.transpose(0, 1)?.contiguous(),
            &|| convolve(&flat),
            &|| convolve(&half_flat),
            &|| convolve(&deep),
            &|| convolve(&small),
            &|| {
                let gated = silu_mul(&linear(&few, &up, None)?, &linear(&few, &up, None)?)?;
                linear(&gated, &down, None)
            },
            &|| linear(&half_rows, &half, None),
            &|| linear(&rows, &bytes, None),
        ])?;

        // As if all threads ended at the same time.
        let threads = rayon::current_num_threads();
        let shared = |shape| uneven(linear_pieces(shape, threads), 1, threads);
        let product = product / shared([ROWS, SIDE, SIDE]);
        let outputs = outputs / shared([ROWS, NARROW, SIDE]);
        let weights = weights / shared([SOME, SIDE, SIDE]);
        let scores = scores / uneven(attention_pieces(HEADS, HEADS[1], None), 1, threads);
        let rate = (2 * ROWS * SIDE * SIDE) as f64 / product;
        let after = |seconds: f64, operations: f64| (rate * seconds - operations).max(0.0);
        let output = after(outputs, (2 * ROWS * SIDE * NARROW) as f64) / (ROWS * SIDE) as f64;
        let square = (SIDE * SIDE) as f64;
        let packed = after(weights, (2 * SOME) as f64 * square + output * (SOME * SIDE) as f64) / square;
        let read = rate * reading / square;
        let [_, tokens, count, width] = HEADS;
        let pairs = (tokens * tokens * count) as f64;
        let score = after(scores, 4.0 * pairs * width as f64) / pairs;
        let value = rate * moving / (3 * VALUES) as f64;
        let copied = rate * copying / VALUES as f64;
        let operations = |[channels, side]: [usize; 2]| (18 * channels * channels * side * side) as f64;
        let pixels = |[channels, side]: [usize; 2]| (2 * channels * side * side) as f64;
        let pixel = after(transforms, operations(IMAGES[0]) * BY_TWO) / pixels(IMAGES[0]);
        let pixel_by_four = after(transforms_by_four, operations(IMAGES[0]) * BY_FOUR) / pixels(IMAGES[0]);
        let known = operations(IMAGES[1]) * BY_TWO + pixel * pixels(IMAGES[1]);
        let kernel = after(kernels, known) / (IMAGES[1][0] * IMAGES[1][0]) as f64;
        let direct = rate * directly / operations(IMAGES[2]);
        let known = |shape @ [rows, inputs, outputs]: [usize; 3]| {
            let weights = (inputs * outputs) as f64;
            let packed = packed * weights * times_packed(shape, threads) as f64;
            (2.0 * rows as f64 * weights + output * (rows * outputs) as f64 + packed) * shared(shape)
        };
        let known =
            2.0 * known([FEW, OUTER, INNER]) + known([FEW, INNER, OUTER]) + value * (3 * FEW * INNER) as f64;
        // Three products and one other function.
        let call = after(calls, known) / 3.5;
        let of_product = |seconds: f64, pieces: usize| {
            let known = output * (ROWS * SIDE) as f64;
            after(seconds / uneven(pieces, 1, threads), known) / (2 * ROWS * SIDE * SIDE) as f64
        };
        let is_in = |is_possible: bool, seconds: f64, pieces: fn([usize; 3], usize) -> usize| {
            if is_possible { of_product(seconds, pieces([ROWS, SIDE, SIDE], threads)) } else { 0.0 }
        };
        let in_bf16 = is_in(Bf16Method::detect().is_some(), in_bf16, bf16_pieces);
        let in_8_bits = is_in(rounds_inputs_in(DType::F32), in_8_bits, bytes_pieces);
        let hundredths = |one: f64| (100.0 * one).round() as u32;
        let measured = Self {
            output: hundredths(output),
            packed: hundredths(packed),
            read: hundredths(read),
            score: hundredths(score),
            value: hundredths(value),
            copied: hundredths(copied),
            pixel: hundredths(pixel),
            pixel_by_four: hundredths(pixel_by_four),
            kernel: hundredths(kernel),
            direct: hundredths(direct),
            in_bf16: hundredths(in_bf16),
            in_8_bits: hundredths(in_8_bits),
            call: hundredths(call),
        };
        Ok((rate, measured.or_usual()))
    }

    /// No function takes nothing beside its products. Where that was measured, another program held up the large product,
    /// and the function counts as usual.
    fn or_usual(self) -> Self {
        let or = |measured: u32, usual: u32| if measured == 0 { usual } else { measured };
        Self {
            output: or(self.output, Self::USUAL.output),
            packed: or(self.packed, Self::USUAL.packed),
            read: or(self.read, Self::USUAL.read),
            score: or(self.score, Self::USUAL.score),
            value: or(self.value, Self::USUAL.value),
            copied: or(self.copied, Self::USUAL.copied),
            pixel: or(self.pixel, Self::USUAL.pixel),
            pixel_by_four: or(self.pixel_by_four, Self::USUAL.pixel_by_four),
            kernel: or(self.kernel, Self::USUAL.kernel),
            direct: or(self.direct, Self::USUAL.direct),
            in_bf16: or(self.in_bf16, Self::USUAL.in_bf16),
            in_8_bits: or(self.in_8_bits, Self::USUAL.in_8_bits),
            call: or(self.call, Self::USUAL.call),
        }
    }
}

/// How much longer `extent` takes in pieces of this size than if it could be divided among the threads evenly: the last
/// pieces leave threads idle.
pub(super) fn uneven(extent: usize, piece: usize, threads: usize) -> f64 {
    if extent == 0 {
        return 1.0;
    }
    let threads = threads.max(1);
    let (whole, rest) = (extent / piece, extent % piece);
    let last = if whole % threads > 0 { piece } else { rest };
    ((whole / threads * piece + last) * threads) as f64 / extent as f64
}

fn of(hundredths: u32, count: usize) -> f64 {
    f64::from(hundredths) / 100.0 * count as f64
}

/// Seconds of the fastest of many short calls of each of these. They take turns: other programs, and other threads of this one
/// as it starts, interrupt most calls of some rounds, and the first calls start the threads.
fn fastest<const N: usize>(works: [&dyn Fn() -> Result<Tensor>; N]) -> Result<[f64; N]> {
    const ROUNDS: u32 = 6;
    const TIME: Duration = Duration::from_millis(12);
    const LEAST: u32 = 3;
    let mut fastest = [f64::INFINITY; N];
    for _ in 0..ROUNDS {
        for (work, fastest) in works.iter().zip(&mut fastest) {
            let (started, mut calls) = (Instant::now(), 0);
            while started.elapsed() < TIME || calls < LEAST {
                let begun = Instant::now();
                work()?;
                *fastest = fastest.min(begun.elapsed().as_secs_f64());
                calls += 1;
            }
        }
    }
    Ok(fastest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_threads_cannot_share_leave_some_idle() {
        assert_eq!(uneven(1024, 64, 1), 1.0);
        assert_eq!(uneven(1024, 64, 16), 1.0);
        assert_eq!(uneven(160, 64, 2), 1.2, "one thread has a piece of 64, and the other that and one of 32");
        assert_eq!(uneven(192, 64, 2), 4.0 / 3.0);
        assert_eq!(uneven(40, 64, 4), 4.0, "one thread has it all");
        assert_eq!(uneven(5, 1, 2), 1.2);
        assert_eq!(uneven(0, 64, 2), 1.0);
    }

    #[test]
    fn what_was_measured_as_nothing_counts_as_usual() {
        let held_up = Effort { output: 0, packed: 0, score: 0, pixel: 0, value: 696, ..Effort::USUAL };
        assert_eq!(held_up.or_usual(), Effort { value: 696, ..Effort::USUAL });
        let slow = Effort { output: 1, ..Effort::USUAL };
        assert_eq!(slow.or_usual(), slow);
    }
}
