//! The denoisers: one file a family, one line in [`FAMILIES`].

mod family;
pub mod z_image;

pub use family::{
    Conditioning, Denoiser, DenoiserInput, DenoiserShape, Family, Model, ModelDefaults, Modulation, Prepared,
    TextStage, open,
};

/// Every family that Sluice draws with.
pub static FAMILIES: &[&dyn Family] = &[&z_image::ZImage];
