//! Sluice's window and command line. Both talk to the engine through its session.

pub mod cli;
#[cfg(feature = "download")]
pub mod downloads;
pub mod engines;
pub mod enhancing;
pub mod folders;
pub mod fonts;
pub mod groups;
pub mod input_folder;
pub mod input_sizes;
#[cfg(feature = "window")]
pub mod language;
pub mod lean;
pub mod logs;
pub mod orders;
pub mod presets;
pub mod seed;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "window")]
pub mod sound;
pub mod tags;
pub mod upscaling;
pub use sluice_engine::units;
#[cfg(feature = "window")]
pub mod window;
