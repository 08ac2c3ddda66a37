//! Model files in every layout and format, intact and damaged.

#![cfg(test)]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cuda_engine;
mod damaged;
mod downloads;
mod formats;
mod formats_anima;
mod formats_chroma;
mod formats_ernie_image;
mod formats_flux;
mod formats_flux2;
mod formats_hidream;
mod formats_krea2;
mod formats_lens;
mod formats_longcat;
mod formats_qwen_image;
mod formats_qwen_image_21;
mod formats_wan;
mod inventory;
mod library;
mod likeness;
mod parts;
mod players;
mod published;
mod published_control_nets;
mod quantized;
mod vision_towers;
