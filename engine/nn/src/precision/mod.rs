//! Storage formats of weights, quantization, and dequantization to f32.
//!
//! Everything here is a function on bytes, independent of files, devices and tensors. It converts floats of 4
//! to 64 bits, integers and 4-bit codes with scales, and the GGUF block types, bit-identical to the programs
//! that define them.

mod blocks;
mod encode;
mod floats;
mod format;
mod packed;
mod rotation;
mod storage;
mod vectors;

pub use blocks::{DOUBLED, UNEVEN, half_power};
pub use encode::{encode, scale_of};
pub use floats::e4m3;
pub use format::{Encoding, Format, LARGEST_ROTATION, Zeros};
pub use packed::{Integers, NORMAL, Packed, finish};
pub use rotation::{rotate, sign};
pub use storage::{NF4_GROUP, Storage};
