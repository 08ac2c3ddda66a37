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
mod storage;
mod vectors;

pub use blocks::UNEVEN;
pub use encode::{encode, scale_of};
pub use format::{Encoding, Format};
pub use packed::{NORMAL, Packed, apply_scales};
pub use storage::{NF4_GROUP, Storage};
