//! The noise that PyTorch's CPU generator produces for a seed.

use rand_mt::Mt;

/// `count` normal values, as from `torch.randn(count, generator=torch.Generator().manual_seed(seed))`: the
/// first draw of a [`NoiseStream`].
pub fn randn(seed: u64, count: usize) -> Vec<f32> {
    NoiseStream::new(seed).draw(count)
}

/// The noise of one seed, draw after draw: equal to repeated calls of
/// `torch.randn(count, generator=generator)` with the same generator.
///
/// Each image has its own stream, seeded with the request's seed plus the image's index in the batch. The
/// first draw is the initial noise, drawn even if other latents replace it. Stochastic samplers draw again in
/// each step but the last. So any image of a batch can be reproduced alone.
pub struct NoiseStream {
    generator: Mt,
    /// The second value of a pair of which only the first was used.
    spare: Option<f64>,
}

impl NoiseStream {
    /// The stream of a seed.
    ///
    /// The generator is the Mersenne Twister MT19937 (Matsumoto and Nishimura 1998), seeded with the low 32
    /// bits.
    pub fn new(seed: u64) -> Self {
        Self { generator: Mt::new(seed as u32), spare: None }
    }

    /// The next `count` normal values.
    ///
    /// From 16 values on, PyTorch draws uniform values first and then transforms blocks of 16 to normal ones
    /// by the Box-Muller method: the first eight of a block give radii, the last eight angles. An incomplete
    /// last block is redrawn together with the values before it. Below 16 values, PyTorch draws pairs in
    /// double precision.
    pub fn draw(&mut self, count: usize) -> Vec<f32> {
        if count < BLOCK {
            return (0..count).map(|_| self.one()).collect();
        }
        let mut values: Vec<f32> = (0..count).map(|_| uniform_f32(&mut self.generator)).collect();
        for block in values.chunks_exact_mut(BLOCK) {
            box_muller(block);
        }
        if !count.is_multiple_of(BLOCK) {
            let last = &mut values[count - BLOCK..];
            last.fill_with(|| uniform_f32(&mut self.generator));
            box_muller(last);
        }
        values
    }

    /// The next value that is evenly distributed in [0, 1): as `torch.rand(1, dtype=torch.float64, generator=generator)`.
    pub fn uniform(&mut self) -> f64 {
        uniform_f64(&mut self.generator)
    }

    fn one(&mut self) -> f32 {
        if let Some(spare) = self.spare.take() {
            return spare as f32;
        }
        let angle = std::f64::consts::TAU * uniform_f64(&mut self.generator);
        let radius = (-2.0 * (-uniform_f64(&mut self.generator)).ln_1p()).sqrt();
        self.spare = Some(radius * angle.sin());
        (radius * angle.cos()) as f32
    }
}

const BLOCK: usize = 16;

fn box_muller(block: &mut [f32]) {
    let (radii, angles) = block.split_at_mut(BLOCK / 2);
    for (first, second) in radii.iter_mut().zip(angles) {
        let radius = (-2.0 * (1.0 - *first).ln()).sqrt();
        let angle = std::f32::consts::TAU * *second;
        (*first, *second) = (radius * angle.cos(), radius * angle.sin());
    }
}

/// 24 random bits in [0, 1).
fn uniform_f32(generator: &mut Mt) -> f32 {
    (generator.next_u32() & 0x00ff_ffff) as f32 / (1_u32 << 24) as f32
}

/// 53 random bits in [0, 1).
fn uniform_f64(generator: &mut Mt) -> f64 {
    let high = u64::from(generator.next_u32());
    let word = (high << 32) | u64::from(generator.next_u32());
    (word & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twister_is_the_published_one() {
        let mut generator = Mt::new(5489);
        let last = (0..10_000).map(|_| generator.next_u32()).last();
        assert_eq!(last, Some(4_123_659_995), "the 10000th number of the reference implementation");
    }
}
