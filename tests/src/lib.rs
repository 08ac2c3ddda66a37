//! What the tests of Sluice share: tiny checkpoints made from the fixtures, tensors that diffusers computed,
//! and a session that is waited for.

pub mod adapters;
pub mod checkpoint;
pub mod emulation;
pub mod failures;
pub mod golden;
pub mod hash_weights;
pub mod modes;
pub mod original_names;
pub mod packed;
pub mod parity;
pub mod pixels;
pub mod runner;
pub mod stores;
pub mod twins;
