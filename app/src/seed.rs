//! Random seeds.

use std::hash::{BuildHasher as _, RandomState};

/// A random seed. It has 32 bits, so that every program can read it and users can copy it.
pub fn random_seed() -> u64 {
    // The standard library seeds its hashers from the system, which is random enough for noise.
    RandomState::new().hash_one(0_u8) >> 32
}
