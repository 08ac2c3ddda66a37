//! How weights are stored, and how they become f32 again.
//!
//! Everything here is a function on bytes: nothing knows of files, devices or tensors. Floats of 8 to 64 bits,
//! integers and four-bit codes with scales, and the block types of GGUF are widened exactly as the programs that
//! made them do it.

mod blocks;
mod encode;
mod floats;
mod format;
mod packed;

pub use encode::{LARGEST_E4M3, encode};
pub use format::{Encoding, Format};
pub use packed::{NORMAL, Packed, apply_scales};
