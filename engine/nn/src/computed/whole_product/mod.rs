//! Matrix products of whole numbers in groups that share a scale, which some processors multiply faster than floats: pairs of 16
//! bits (`vpdpwssd` of VNNI, `vpmaddwd` of AVX2), or four of 8 bits (`vpdpbusd` of VNNI).
//!
//! Each entry is summed in one fixed order, so results do not depend on the number of threads.

#[cfg(target_arch = "x86_64")]
mod bytes;
mod cut;
#[cfg(not(target_arch = "x86_64"))]
mod elsewhere;
#[cfg(target_arch = "x86_64")]
mod numbers;
#[cfg(target_arch = "x86_64")]
mod packed;
#[cfg(target_arch = "x86_64")]
mod tile;
#[cfg(target_arch = "x86_64")]
mod words;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(super) use cut::{Width, are_bytes};
#[cfg(not(target_arch = "x86_64"))]
use elsewhere as x86;
pub(super) use x86::{can_multiply, multiply};

/// Work items that a product in 8 bits is divided into.
pub(crate) fn bytes_pieces(shape: [usize; 3], threads: usize) -> usize {
    Width::Bytes.pieces(shape, threads)
}

/// Scratch bytes of a product in 8 bits, without its input and its result.
pub(crate) fn bytes_scratch_bytes(shape: [usize; 3], threads: usize) -> usize {
    Width::Bytes.scratch_bytes(shape, threads)
}
