//! Which processors multiply whole numbers.

use super::{
    super::{
        operands::{Start, Weights},
        sums::Kept,
    },
    Width, bytes, packed,
    tile::has_vnni_of_256_bits,
    words,
};
use crate::instructions::{amd_family, arch};

/// The first family of AMD's processors that does as many products of whole numbers as of floats at a time (Zen 3). Earlier ones
/// do half as many.
const ZEN_3: u32 = 0x19;

/// Whether this processor multiplies such numbers faster than floats, with the vectors that other functions use.
pub fn can_multiply(width: Width) -> bool {
    match arch() {
        pulp::x86::Arch::V4(_) => is_x86_feature_detected!("avx512vnni"),
        pulp::x86::Arch::V3(_) => {
            let in_two = || width == Width::Words && amd_family().is_some_and(|family| family >= ZEN_3);
            has_vnni_of_256_bits() || in_two()
        }
        _ => false,
    }
}

/// `out = start + x · weightsᵀ` by numbers of such a width, with x `[row, in]`, weights `[out, in]`, and as many inputs as fill
/// whole lanes. Bytes need weights that [are held in them](Width::holds). Panics on processors that do not multiply like this.
pub fn multiply<T: Kept>(
    width: Width,
    x: Weights<'_>,
    weights: Weights<'_>,
    start: Start<'_>,
    inputs: usize,
    out: &mut [T],
) {
    match width {
        Width::Words => packed::multiply(words::Words, x, weights, start, inputs, out),
        Width::Bytes => packed::multiply(bytes::Bytes, x, weights, start, inputs, out),
    }
}
