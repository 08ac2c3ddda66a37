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

    /// Measures the CPU with the threads that this is called from, in a second and 10 MB: operations a second in a large
    /// matrix product, and what other functions take.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn measure() -> Result<(f64, Self)> {
        const ROWS: usize = 384;
        const SIDE: usize = 1024;
        const NARROW: usize = 96;
        const SOME: usize = 16;
        const LARGE: usize = 1024;
        const HEADS: [usize; 4] = [1, 512, 4, 64];
        const VALUES: usize = 1 << 19;
        let ones = |shape: &[usize]| Tensor::ones(shape, DType::F32, &Device::Cpu);
        let (rows, square) = (ones(&[ROWS, SIDE])?, ones(&[SIDE, SIDE])?);
        let product = (ROWS * SIDE * SIDE) as f64 * 2.0;
        let rate = product / fastest(|| linear(&rows, &square, None))?;
        let after = |seconds: f64, operations: f64| (rate * seconds - operations).max(0.0);
        let (rows, narrow) = (ones(&[ROWS, NARROW])?, ones(&[SIDE, NARROW])?);
        let products = (2 * ROWS * SIDE * NARROW) as f64;
        let output = after(fastest(|| linear(&rows, &narrow, None))?, products) / (ROWS * SIDE) as f64;
        let large = ones(&[LARGE, LARGE])?.to_dtype(DType::BF16)?;
        let some = ones(&[SOME, LARGE])?;
        let products = (2 * SOME * LARGE * LARGE) as f64 + output * (SOME * LARGE) as f64;
        let weights = (LARGE * LARGE) as f64;
        let widened = after(fastest(|| linear(&some, &large, None))?, products) / weights;
        let row = ones(&[1, LARGE])?;
        let read = rate * fastest(|| linear(&row, &large, None))? / weights;
        let heads = ones(&HEADS)?;
        let [_, tokens, count, width] = HEADS;
        let scores = (tokens * tokens * count) as f64;
        let products = 4.0 * scores * width as f64;
        let score = after(fastest(|| attention(&heads, &heads, &heads, Mask::None))?, products) / scores;
        let values = ones(&[1, VALUES])?;
        let value = rate * fastest(|| silu_mul(&values, &values))? / (3 * VALUES) as f64;
        let convolve = |channels: usize, side: usize| -> Result<f64> {
            let (x, kernels) = (ones(&[1, channels, side, side])?, ones(&[channels, channels, 3, 3])?);
            fastest(|| conv2d(&x, &kernels, None, Conv2d::SAME_3X3))
        };
        let operations = |channels: usize, side: usize| (18 * channels * channels * side * side) as f64;
        let (channels, side) = (64, 64);
        let transforms = after(convolve(channels, side)?, operations(channels, side) * WINOGRAD);
        let pixel = transforms / (2 * channels * side * side) as f64;
        let (channels, side) = (192, 24);
        let before = operations(channels, side) * WINOGRAD + pixel * (2 * channels * side * side) as f64;
        let kernel = after(convolve(channels, side)?, before) / (channels * channels) as f64;
        let (channels, side) = (12, 96);
        let direct = rate * convolve(channels, side)? / operations(channels, side);
        let [output, widened, read, score, value, pixel, kernel, direct] =
            [output, widened, read, score, value, pixel, kernel, direct]
                .map(|one| (100.0 * one).round() as u32);
        Ok((rate, Self { output, widened, read, score, value, pixel, kernel, direct }))
    }
}

fn of(hundredths: u32, count: usize) -> f64 {
    f64::from(hundredths) / 100.0 * count as f64
}

/// Seconds of the fastest of many short calls: other programs interrupt most calls on a busy machine, and the first ones start
/// the threads.
fn fastest(work: impl Fn() -> Result<Tensor>) -> Result<f64> {
    const TIME: Duration = Duration::from_millis(80);
    const LEAST: u32 = 16;
    let (started, mut calls, mut fastest) = (Instant::now(), 0, f64::INFINITY);
    while started.elapsed() < TIME || calls < LEAST {
        let begun = Instant::now();
        work()?;
        fastest = fastest.min(begun.elapsed().as_secs_f64());
        calls += 1;
    }
    Ok(fastest)
}
