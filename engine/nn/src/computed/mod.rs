//! The functions of `nn` on candle tensors.
//!
//! Every function is pure: weights are arguments, and nothing is kept between calls. The CPU paths are fused
//! and parallel. Each is tested against the plain composition of candle operations that it replaces.

mod activation;
mod addition;
mod attention;
mod bf16_product;
mod channel_norm;
#[cfg(test)]
mod check;
mod columns;
mod conv;
mod conv_next;
mod cpu;
mod experts;
mod few_rows;
mod gelu;
mod held;
mod leaky;
mod linear;
mod modulation;
mod norm;
mod operands;
mod pointwise;
mod product;
mod rope;
mod sampling;
mod scratch;
mod simd;
mod sums;
mod turning;
mod unpacked;
mod whole_product;

pub use activation::{gelu_tanh, gelu_tanh_mul, quick_gelu, sigmoid_mul, silu, silu_mul};
pub use addition::add;
pub use attention::{
    Mask, attention, attention_with_bias, attention_with_grid_bias, attention_with_pair_bias,
    attention_with_sinks,
};
pub(crate) use attention::{
    Most, in_bf16 as attends_in_bf16, pieces as attention_pieces, scratch_bytes as attention_scratch_bytes,
};
pub use bf16_product::{Instruction as Bf16Instruction, Method as Bf16Method, instructions};
pub(crate) use bf16_product::{pieces as bf16_pieces, scratch_bytes as bf16_scratch_bytes};
pub use channel_norm::channel_norm;
pub(crate) use channel_norm::scratch_bytes as channel_norm_scratch_bytes;
pub use conv::{Conv2d, conv2d};
pub(crate) use conv::{
    LARGE as LARGE_KERNEL, Path as ConvPath, path as conv_path, scratch_bytes as conv_scratch_bytes,
};
pub(crate) use conv_next::response_norm_scratch_bytes;
pub use conv_next::{depthwise, response_norm};
pub use cpu::compute_as_on_cards;
pub use experts::add_rows;
pub(crate) use few_rows::MOST as FEW_ROWS;
pub use gelu::{geglu, gelu, gelu_mul};
pub use leaky::{leaky_relu, prelu};
pub use linear::{LowRank, Weight, linear, linear_with, rounds_inputs_in};
pub(crate) use linear::{in_8_bits, in_bf16, scratch_bytes as linear_scratch_bytes};
pub use modulation::{gated_add, modulate, scale_and_shift};
pub use norm::{group_norm, group_norm_silu, layer_norm, layer_norm_modulated, rms_norm, rms_norm_modulated};
pub(crate) use product::{pieces as linear_pieces, times_packed};
pub use rope::{Rope, rope_half, rope_interleaved};
pub(crate) use sampling::WARP_PLANES;
pub use sampling::{resize_between_edges, upsample_nearest_2x, warp};
pub use turning::{means, turned};
pub(crate) use unpacked::scratch_bytes as unpacked_scratch_bytes;
pub(crate) use whole_product::{bytes_pieces, bytes_scratch_bytes};
