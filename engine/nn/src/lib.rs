//! The building blocks of networks: tensors, weights and functions on them.
//!
//! Networks are written once, over [`Tensor`]. A computed tensor has values, and functions on it compute. A
//! traced tensor has only a shape, and functions on it record in a [`Trace`] what they would allocate and
//! compute.

mod back_end;
pub mod computed;
mod cost;
pub mod cuda;
mod doubling;
mod dryrun;
mod effort;
mod experts;
mod functions;
mod instructions;
mod noise;
pub mod precision;
mod tensor;
mod trace;
mod turning;
mod untraced;
mod waves;
mod weight;

pub use candle_core::{D, DType, Error, Result, bail};

pub use back_end::{Attention, AttentionBytes, with_attention};
pub use computed::{Conv2d, Mask, compute_as_on_cards};
pub use cost::{Balance, Computes, Cost, Costs, Kernels};
pub use doubling::{doubled, doubling_kernels};
pub use dryrun::{DryRun, Meter};
pub use effort::Effort;
pub use experts::{Routes, Share};
pub use functions::{
    Rope, add, attention, attention_with_bias, attention_with_grid_bias, attention_with_pair_bias,
    attention_with_sinks, channel_norm, depthwise, gated_add, geglu, gelu, gelu_mul, gelu_tanh,
    gelu_tanh_mul, group_norm, group_norm_silu, layer_norm, layer_norm_modulated, leaky_relu, linear,
    modulate, on_host, prelu, quick_gelu, resize_between_edges, resize_bilinear, response_norm, rms_norm,
    rms_norm_modulated, rope_half, rope_interleaved, scale_and_shift, sigmoid_mul, silu, silu_mul,
    upsample_nearest_2x, warp,
};
pub use noise::{NoiseStream, randn};
pub use tensor::{Device, Tensor};
pub use trace::{Passed, Trace};
pub use turning::turned;
pub use untraced::{Untraced, untraced};
pub use waves::{Waves, waves};
pub use weight::{LowRank, TracedWeight, Weight, conv2d, conv3d, linear_with};
