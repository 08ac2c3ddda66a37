//! Tensors generated from a name, bit-identical here and in `reference/hash_weights.py`.
//!
//! Element `i` of a tensor depends only on the tensor's name and on `i`: FNV-1a hashes the name, and
//! SplitMix64 turns the hash and `i` into 64 bits.

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// 64-bit FNV-1a hash of the UTF-8 bytes of `text`.
fn fnv1a64(text: &str) -> u64 {
    text.bytes().fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

/// Draw `index` of the SplitMix64 stream with this seed.
fn bits(seed: u64, index: u64) -> u64 {
    let mut state = seed.wrapping_add((index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// A multiple of 2^-23 in [-1, 1).
fn uniform(seed: u64, index: u64) -> f32 {
    (bits(seed, index) >> 40) as f32 * (1.0 / 8_388_608.0) - 1.0
}

/// The first `count` values of [-1, 1) of a name.
pub fn uniform_values(name: &str, count: usize) -> Vec<f32> {
    let seed = fnv1a64(name);
    (0..count as u64).map(|index| uniform(seed, index)).collect()
}

/// Nearly normal values of variance 1: the sum of the four 16-bit parts of a draw (Irwin-Hall).
pub fn noise(name: &str, count: usize) -> Vec<f32> {
    let (seed, scale) = (fnv1a64(name), 0.75_f32.sqrt());
    let value = |index| {
        let draw = bits(seed, index);
        let total: f32 = (0..4).map(|part| ((draw >> (16 * part)) & 0xffff) as f32).sum();
        (total - 131_070.0) * (1.0 / 32_768.0) * scale
    };
    (0..count as u64).map(value).collect()
}

/// A weight from its name and shape. No bias is zero and no norm is one, because such weights would hide
/// bugs.
pub fn weight(name: &str, shape: &[usize], scale: f32) -> Vec<f32> {
    let seed = fnv1a64(name);
    let count: usize = shape.iter().product();
    let is_bias = name.ends_with("bias") || name.ends_with("running_mean");
    let (centre, spread) = match shape {
        [_, inputs @ ..] if !inputs.is_empty() => {
            (0.0, (3.0 / inputs.iter().product::<usize>() as f32).sqrt())
        }
        _ if is_bias => (0.0, 0.1),
        _ => (1.0, 0.2),
    };
    (0..count as u64).map(|index| (uniform(seed, index) * spread + centre) * scale).collect()
}

/// FNV-1a over the bit patterns of the values, for comparison between two languages.
pub fn digest(values: &[f32]) -> u64 {
    values.iter().fold(FNV_OFFSET, |hash, value| (hash ^ u64::from(value.to_bits())).wrapping_mul(FNV_PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_the_bits_of_the_python_ones() {
        let examples: [(&str, &[usize], f32, u64); 6] = [
            ("flux1_dev.transformer.x_embedder.weight", &[256, 64], 1.0, 0x371e_b479_b9db_d04d),
            ("a.bias", &[1000], 1.0, 0x1699_3deb_108d_4c63),
            ("a.norm.weight", &[1000], 1.0, 0xbdb4_cb12_0b82_ab05),
            ("conv.weight", &[8, 4, 3, 3], 1.0, 0xfb34_ff3f_30c7_d78d),
            ("salt text/conv.weight", &[8, 4, 3, 3], 1.0, 0x193f_6cb5_1914_e27f),
            ("conv.weight", &[8, 4, 3, 3], 0.003, 0x0c4a_38ad_61c4_b116),
        ];
        for (name, shape, scale, expected) in examples {
            assert_eq!(digest(&weight(name, shape, scale)), expected, "{name} times {scale}");
        }
    }

    #[test]
    fn noise_has_the_bits_of_the_python_one() {
        assert_eq!(digest(&noise("flux1_dev.latents", 1024)), 0xbf16_70b0_5cc8_543d);
    }
}
