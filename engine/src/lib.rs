//! The engine of Sluice: it loads diffusion checkpoints, places their weights and generates images.
//!
//! `ARCHITECTURE.md` describes the modules in dependency order: none uses a module listed after it. Callers
//! talk to the engine through [`session`]: commands go in, events come out.

#[cfg(all(feature = "cuda", feature = "metal"))]
compile_error!("an engine computes on NVIDIA's GPUs or on Apple's: choose `cuda` or `metal`");

pub mod adapters;
pub mod aids;
pub mod checkpoint;
pub mod hardware;
pub mod interpolation;
pub mod memory;
pub mod models;
pub mod output;
pub mod pipeline;
pub mod request;
pub mod residency;
pub mod sampling;
pub mod session;
pub mod source;
pub mod telemetry;
pub mod text;
pub mod units;
pub mod upscale;
pub mod vae;
pub mod wire;

pub use sluice_nn as nn;
pub use sluice_nn::precision;
