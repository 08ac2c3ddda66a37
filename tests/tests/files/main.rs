//! Model files in every layout and format, intact and damaged.

#![cfg(test)]

mod damaged;
mod formats;
mod formats_anima;
mod formats_chroma;
mod formats_flux;
mod formats_flux2;
mod formats_hidream;
mod formats_krea2;
mod formats_qwen_image;
mod formats_wan;
mod inventory;
mod likeness;
mod parts;
mod players;
mod published;
mod quantized;
