//! The noise that PyTorch's CPU generator gives for a seed.

/// `count` normal numbers, as `torch.randn(count, generator=torch.Generator().manual_seed(seed))`.
///
/// The generator is the Mersenne Twister MT19937, seeded with the low 32 bits. From 16 numbers on PyTorch
/// draws uniform numbers first and then turns blocks of 16 into normal ones by the Box-Muller method, the
/// first eight of a block being radii and the last eight angles; a rest that does not fill a block is drawn
/// again together with the numbers before it. Below 16 it draws pairs in double precision.
pub fn randn(seed: u64, count: usize) -> Vec<f32> {
    let mut generator = MersenneTwister::new(seed as u32);
    if count < BLOCK {
        return pairs(&mut generator, count);
    }
    let mut values: Vec<f32> = (0..count).map(|_| generator.uniform_f32()).collect();
    for block in values.chunks_exact_mut(BLOCK) {
        box_muller(block);
    }
    if !count.is_multiple_of(BLOCK) {
        let last = &mut values[count - BLOCK..];
        last.fill_with(|| generator.uniform_f32());
        box_muller(last);
    }
    values
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

fn pairs(generator: &mut MersenneTwister, count: usize) -> Vec<f32> {
    let mut values = Vec::with_capacity(count + 1);
    while values.len() < count {
        let angle = std::f64::consts::TAU * generator.uniform_f64();
        let radius = (-2.0 * (-generator.uniform_f64()).ln_1p()).sqrt();
        values.extend([(radius * angle.cos()) as f32, (radius * angle.sin()) as f32]);
    }
    values.truncate(count);
    values
}

/// MT19937 (Matsumoto and Nishimura 1998).
struct MersenneTwister {
    state: [u32; Self::SIZE],
    next: usize,
}

impl MersenneTwister {
    const SIZE: usize = 624;
    const MIDDLE: usize = 397;

    fn new(seed: u32) -> Self {
        let mut state = [seed; Self::SIZE];
        for index in 1..Self::SIZE {
            let before = state[index - 1];
            state[index] = 1_812_433_253_u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(index as u32);
        }
        Self { state, next: Self::SIZE }
    }

    fn twist(&mut self) {
        for index in 0..Self::SIZE {
            let joined =
                (self.state[index] & 0x8000_0000) | (self.state[(index + 1) % Self::SIZE] & 0x7fff_ffff);
            let matrix = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[index] = self.state[(index + Self::MIDDLE) % Self::SIZE] ^ (joined >> 1) ^ matrix;
        }
        self.next = 0;
    }

    fn bits(&mut self) -> u32 {
        if self.next == Self::SIZE {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// 24 random bits in [0, 1).
    fn uniform_f32(&mut self) -> f32 {
        (self.bits() & 0x00ff_ffff) as f32 / (1_u32 << 24) as f32
    }

    /// 53 random bits in [0, 1).
    fn uniform_f64(&mut self) -> f64 {
        let high = u64::from(self.bits());
        let word = (high << 32) | u64::from(self.bits());
        (word & ((1 << 53) - 1)) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twister_is_the_published_one() {
        let mut generator = MersenneTwister::new(5489);
        let last = (0..10_000).map(|_| generator.bits()).last();
        assert_eq!(last, Some(4_123_659_995), "the 10000th number of the reference implementation");
    }
}
