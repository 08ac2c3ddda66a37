//! How long the CPU's functions take, as the operations of a large matrix product in the same time. A function that waits for
//! memory, or packs its inputs first, counts more than it computes; a Winograd convolution counts less.

use std::time::{Duration, Instant};

use candle_core::{DType, Device, Result, Tensor};

use super::computed::{Conv2d, FEW_ROWS, Mask, attention, conv2d, linear, silu_mul};

/// Rows of a product that share weights which were widened once.
const TOGETHER: usize = 384;
/// Part of a direct convolution's multiplications that a Winograd convolution needs.
const WINOGRAD: f64 = 4.0 / 9.0;

/// How a convolution is computed on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvPath {
    /// By Winograd's minimal filtering.
    Winograd,
    /// As a linear layer on patches of the whole image.
    Small,
    /// As products with patches of some pixels at a time.
    Direct,
}

/// What functions take besides the operations of their products, in hundredths of an operation of a large matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Per value of a result of a product.
    pub output: u32,
    /// Per weight that is widened for many rows.
    pub widened: u32,
    /// Per weight, where so few rows are multiplied that the time goes into reading the weights.
    pub read: u32,
    /// Per query and key of a head.
    pub score: u32,
    /// Per value that is read or written.
    pub value: u32,
    /// Per pixel and channel, in and out, of a Winograd convolution.
    pub pixel: u32,
    /// Per pair of channels of a Winograd convolution, whose kernels are transformed.
    pub kernel: u32,
    /// Per operation of a direct convolution.
    pub direct: u32,
}

impl Effort {
    /// Of a processor with AVX-512.
    pub const USUAL: Self = Self {
        output: 6_000,
        widened: 8_000,
        read: 800,
        score: 500,
        value: 1_000,
        pixel: 9_000,
        kernel: 250_000,
        direct: 130,
    };

    /// `[rows, inputs]` through a linear layer with `outputs` outputs.
    pub(super) fn linear(self, rows: usize, inputs: usize, outputs: usize) -> f64 {
        let products = 2.0 * (rows * inputs * outputs) as f64;
        if rows <= FEW_ROWS {
            return products.max(of(self.read, inputs * outputs));
        }
        let widened = of(self.widened, inputs * outputs * rows.div_ceil(TOGETHER));
        products + of(self.output, rows * outputs) + widened
    }

    /// The same with the instruction for bf16, which computes twice as much in the same time.
    pub(super) fn linear_in_bf16(self, rows: usize, inputs: usize, outputs: usize) -> f64 {
        let widened = of(self.widened, inputs * outputs * rows.div_ceil(TOGETHER));
        (rows * inputs * outputs) as f64 + of(self.output, rows * outputs) + widened
    }

    /// A function that moves this many values.
    pub(super) fn moving(self, values: usize) -> f64 {
        of(self.value, values)
    }

    /// Attention of `queries` values over `keys` keys; `scores` is the number of queries, heads and keys.
    pub(super) fn attention(self, queries: usize, keys: usize, scores: usize) -> f64 {
        4.0 * queries as f64 * keys as f64 + of(self.score, scores)
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
        match path {
            ConvPath::Winograd => {
                operations * WINOGRAD
                    + of(self.pixel, pixels * (inputs + outputs))
                    + of(self.kernel, inputs * outputs)
            }
            ConvPath::Small => {
                let patches = self.moving(2 * pixels * inputs * taps);
                operations + patches + of(self.widened, inputs * outputs * taps)
            }
            ConvPath::Direct => operations * f64::from(self.direct) / 100.0,
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
        const HEADS: [usize; 4] = [1, 512, 4, 64];
        const VALUES: usize = 1 << 19;
        // Channels and sides of images: one whose transforms count, one whose kernels count, one that is convolved directly.
        const IMAGES: [[usize; 2]; 3] = [[64, 64], [192, 24], [12, 96]];
        let ones = |shape: &[usize]| Tensor::ones(shape, DType::F32, &Device::Cpu);
        let (rows, square) = (ones(&[ROWS, SIDE])?, ones(&[SIDE, SIDE])?);
        let (slim, narrow) = (ones(&[ROWS, NARROW])?, ones(&[SIDE, NARROW])?);
        let (some, row, half) = (ones(&[SOME, SIDE])?, ones(&[1, SIDE])?, square.to_dtype(DType::BF16)?);
        let (heads, values) = (ones(&HEADS)?, ones(&[1, VALUES])?);
        let image = |[channels, side]: [usize; 2]| -> Result<_> {
            Ok((ones(&[1, channels, side, side])?, ones(&[channels, channels, 3, 3])?))
        };
        let [flat, deep, small] = IMAGES.map(image);
        let (flat, deep, small) = (flat?, deep?, small?);
        let convolve = |(x, kernels): &(Tensor, Tensor)| conv2d(x, kernels, None, Conv2d::SAME_3X3);
        let [product, outputs, weights, reading, scores, moving, transforms, kernels, directly] = fastest([
            &|| linear(&rows, &square, None),
            &|| linear(&slim, &narrow, None),
            &|| linear(&some, &half, None),
            &|| linear(&row, &half, None),
            &|| attention(&heads, &heads, &heads, Mask::None),
            &|| silu_mul(&values, &values),
            &|| convolve(&flat),
            &|| convolve(&deep),
            &|| convolve(&small),
        ])?;

        let rate = (2 * ROWS * SIDE * SIDE) as f64 / product;
        let after = |seconds: f64, operations: f64| (rate * seconds - operations).max(0.0);
        let output = after(outputs, (2 * ROWS * SIDE * NARROW) as f64) / (ROWS * SIDE) as f64;
        let square = (SIDE * SIDE) as f64;
        let widened = after(weights, (2 * SOME) as f64 * square + output * (SOME * SIDE) as f64) / square;
        let read = rate * reading / square;
        let [_, tokens, count, width] = HEADS;
        let pairs = (tokens * tokens * count) as f64;
        let score = after(scores, 4.0 * pairs * width as f64) / pairs;
        let value = rate * moving / (3 * VALUES) as f64;
        let operations = |[channels, side]: [usize; 2]| (18 * channels * channels * side * side) as f64;
        let pixels = |[channels, side]: [usize; 2]| (2 * channels * side * side) as f64;
        let pixel = after(transforms, operations(IMAGES[0]) * WINOGRAD) / pixels(IMAGES[0]);
        let known = operations(IMAGES[1]) * WINOGRAD + pixel * pixels(IMAGES[1]);
        let kernel = after(kernels, known) / (IMAGES[1][0] * IMAGES[1][0]) as f64;
        let direct = rate * directly / operations(IMAGES[2]);
        let [output, widened, read, score, value, pixel, kernel, direct] =
            [output, widened, read, score, value, pixel, kernel, direct]
                .map(|one| (100.0 * one).round() as u32);
        let measured = Self { output, widened, read, score, value, pixel, kernel, direct };
        Ok((rate, measured.or_usual()))
    }

    /// No function takes nothing beside its products. Where that was measured, another program held up the large product,
    /// and the function counts as usual.
    fn or_usual(self) -> Self {
        let Self { output, widened, read, score, value, pixel, kernel, direct } = self;
        let or = |measured: u32, usual: u32| if measured == 0 { usual } else { measured };
        Self {
            output: or(output, Self::USUAL.output),
            widened: or(widened, Self::USUAL.widened),
            read: or(read, Self::USUAL.read),
            score: or(score, Self::USUAL.score),
            value: or(value, Self::USUAL.value),
            pixel: or(pixel, Self::USUAL.pixel),
            kernel: or(kernel, Self::USUAL.kernel),
            direct: or(direct, Self::USUAL.direct),
        }
    }
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
    fn what_was_measured_as_nothing_counts_as_usual() {
        let held_up = Effort { output: 0, widened: 0, score: 0, pixel: 0, value: 696, ..Effort::USUAL };
        assert_eq!(held_up.or_usual(), Effort { value: 696, ..Effort::USUAL });
        let slow = Effort { output: 1, ..Effort::USUAL };
        assert_eq!(slow.or_usual(), slow);
    }
}
