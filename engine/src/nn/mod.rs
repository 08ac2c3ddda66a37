//! Functions on tensors: what the models are made of.
//!
//! Every function is pure: weights come in as arguments and nothing is kept. The CPU paths are fused and
//! parallel; each is checked against the plain composition of candle operations it stands for.

mod activation;
mod addition;
mod attention;
#[cfg(test)]
mod check;
mod conv;
mod cost;
mod cpu;
pub mod cuda;
mod few_rows;
mod gelu;
mod linear;
mod modulation;
mod norm;
mod rope;
mod simd;
mod unpacked;

pub use activation::{gelu_tanh, gelu_tanh_mul, quick_gelu, silu, silu_mul};
pub use addition::add;
pub use attention::{Mask, attention, attention_with_bias};
pub use conv::{Conv2d, conv2d, upsample_nearest_2x};
pub use cost::{Computes, Cost, Costs, Tape};
pub use cpu::compute_as_on_cards;
pub use gelu::{geglu, gelu};
pub use linear::{LowRank, Weight, linear, linear_with};
pub use modulation::{gated_add, modulate, scale_and_shift};
pub use norm::{group_norm, group_norm_silu, layer_norm, layer_norm_modulated, rms_norm, rms_norm_modulated};
pub use rope::{Rope, rope_half, rope_interleaved};
