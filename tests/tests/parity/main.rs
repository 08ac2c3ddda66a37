//! Comparison with the reference: functions, autoencoders, samplers, prompts, adapters, and whole runs of
//! every family.

#![cfg(test)]

mod adapters;
mod adapters_unet;
mod anima;
mod autoencoder;
mod autoencoder_tiny;
mod chroma;
mod configuration;
mod control_clips;
mod control_nets;
mod control_nets_of_transformers;
#[cfg(target_os = "linux")]
mod cuda_kernels;
mod depth;
mod describe;
mod detect;
mod ernie_image;
mod estimators;
mod flux;
mod flux2;
mod flux2_dev;
mod functions;
mod hidream;
mod image_prompts;
mod interpolators;
mod krea2;
mod lens;
mod longcat;
mod ltx;
mod prompts;
mod qwen_image;
mod qwen_image_21;
mod refiner;
mod samplers;
mod sd3;
mod segment;
mod stable_cascade;
mod stable_diffusion;
mod steering;
mod tables;
mod tokenizers;
mod upscalers;
mod walks;
mod wan;
mod writer;
mod wuerstchen;
mod z_image;
