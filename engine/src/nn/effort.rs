//! How long the CPU's functions take, as the operations of a large matrix product in the same time. A function that waits for
//! memory, or packs its inputs first, counts more than it computes; a Winograd convolution counts less.

use std::time::{Duration, Instant};

use candle_core::{DType, Device, Result, Tensor};

use super::computed::{Conv2d, Mask, attention, conv2d, linear, silu_mul};

/// What functions take besides the operations of their products, in hundredths of an operation of a large matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Effort {
    /// Per value of a result of a product.
    pub output: u32,
    /// Per weight, where so few rows are multiplied that the time goes into reading the weights.
    pub weight: u32,
    /// Per query and key of a head.
    pub score: u32,
    /// Per value that is read or written.
    pub value: u32,
    /// Per pixel and channel, in and out, of a Winograd convolution.
    pub pixel: u32,
    /// Per pair of channels of a Winograd convolution, whose kernels are transformed.
    pub kernel: u32,
    /// Per operation of any other convolution.
    pub direct: u32,
}

/// Part of a direct convolution's multiplications that a Winograd convolution needs.
const WINOGRAD: f64 = 4.0 / 9.0;

impl Effort {
    /// Typical of processors with AVX2 or AVX-512.
    pub const USUAL: Self = Self {
        output: 10_000,
        weight: 4_000,
        score: 8_000,
        value: 800,
        pixel: 10_000,
        kernel: 10_000,
        direct: 120,
    };

    /// `[rows, inputs]` through a linear layer with `outputs` outputs.
    pub(super) fn linear(self, rows: usize, inputs: usize, outputs: usize) -> f64 {
        let computing = 2.0 * (rows * inputs * outputs) as f64 + of(self.output, rows * outputs);
        computing.max(of(self.weight, inputs * outputs))
    }

    /// The same with the instruction for bf16, which computes twice as much in the same time.
    pub(super) fn linear_in_bf16(self, rows: usize, inputs: usize, outputs: usize) -> f64 {
        (rows * inputs * outputs) as f64 + of(self.output, rows * outputs)
    }

    /// A function that moves this many values.
    pub(super) fn moving(self, values: usize) -> f64 {
        of(self.value, values)
    }

    /// Attention of `queries` values over `keys` keys; `scores` is the number of queries, heads and keys.
    pub(super) fn attention(self, queries: usize, keys: usize, scores: usize) -> f64 {
        4.0 * queries as f64 * keys as f64 + of(self.score, scores)
    }

    /// A convolution with `operations` operations from `inputs` to `outputs` channels of `pixels` pixels with kernels of
    /// `taps` values.
    pub(super) fn conv(
        self,
        operations: f64,
        [inputs, outputs]: [usize; 2],
        pixels: usize,
        taps: usize,
        is_winograd: bool,
    ) -> f64 {
        if is_winograd {
            operations * WINOGRAD
                + of(self.pixel, pixels * (inputs + outputs))
                + of(self.kernel, inputs * outputs)
        } else {
            let computing = operations * f64::from(self.direct) / 100.0;
            computing.max(of(self.weight, inputs * outputs * taps))
        }
    }

    /// Measures the CPU with the threads that this is called from, in about a third of a second and 12 MB: operations a second
    /// in a large matrix product, and what other functions take.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn measure() -> Result<(f64, Self)> {
        const ROWS: usize = 512;
        const SIDE: usize = 1024;
        const NARROW: usize = 192;
        const LARGE: [usize; 2] = [1024, 2048];
        const HEADS: [usize; 4] = [1, 1024, 4, 64];
        const VALUES: usize = 1 << 20;
        let ones = |shape: &[usize]| Tensor::ones(shape, DType::F32, &Device::Cpu);
        let (rows, square) = (ones(&[ROWS, SIDE])?, ones(&[SIDE, SIDE])?);
        let product = (ROWS * SIDE * SIDE) as f64 * 2.0;
        let rate = product / fastest(|| linear(&rows, &square, None))?;
        let (rows, narrow) = (ones(&[ROWS, NARROW])?, ones(&[ROWS, NARROW])?);
        let after = |seconds: f64, operations: f64| (rate * seconds - operations).max(0.0);
        let products = (2 * ROWS * ROWS * NARROW) as f64;
        let output = after(fastest(|| linear(&rows, &narrow, None))?, products) / (ROWS * ROWS) as f64;
        let (row, large) = (ones(&[1, LARGE[1]])?, ones(&LARGE)?);
        let weight = rate * fastest(|| linear(&row, &large, None))? / (LARGE[0] * LARGE[1]) as f64;
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
        let (channels, side) = (320, 24);
        let before = operations(channels, side) * WINOGRAD + pixel * (2 * channels * side * side) as f64;
        let kernel = after(convolve(channels, side)?, before) / (channels * channels) as f64;
        let (channels, side) = (320, 16);
        let direct = rate * convolve(channels, side)? / operations(channels, side);
        let [output, weight, score, value, pixel, kernel, direct] =
            [output, weight, score, value, pixel, kernel, direct].map(|one| (100.0 * one).round() as u32);
        Ok((rate, Self { output, weight, score, value, pixel, kernel, direct }))
    }
}

fn of(hundredths: u32, count: usize) -> f64 {
    f64::from(hundredths) / 100.0 * count as f64
}

/// Seconds of the fastest of several calls: other programs interrupt most calls on a busy machine, and the first ones start
/// the threads.
fn fastest(work: impl Fn() -> Result<Tensor>) -> Result<f64> {
    const TIME: Duration = Duration::from_millis(40);
    const LEAST: u32 = 4;
    let (started, mut calls, mut fastest) = (Instant::now(), 0, f64::INFINITY);
    while started.elapsed() < TIME || calls < LEAST {
        let begun = Instant::now();
        work()?;
        fastest = fastest.min(begun.elapsed().as_secs_f64());
        calls += 1;
    }
    Ok(fastest)
}
