//! Shared helpers of the tests: tiny checkpoints made from the fixtures, reference tensors from diffusers,
//! and a session that waits for jobs.

pub mod adapters;
pub mod checkpoint;
pub mod clips;
pub mod control_nets;
pub mod cuda_package;
pub mod depth;
pub mod describe;
pub mod detect;
pub mod emulation;
pub mod estimators;
pub mod failures;
pub mod file_server;
pub mod golden;
pub mod hash_weights;
pub mod image_prompts;
pub mod interpolators;
pub mod known;
pub mod modes;
pub mod motion;
pub mod network;
pub mod original_names;
pub mod packed;
pub mod parity;
pub mod pixels;
pub mod published_files;
pub mod runner;
pub mod segment;
pub mod steering;
pub mod stores;
pub mod twins;
pub mod upscalers;
pub mod writer;
