//! The denoisers: one file a family, one line in [`FAMILIES`].

mod family;
pub mod flux;
mod inventory;
mod joint;
mod likeness;
mod modulated;
mod patches;
pub mod sd3;
pub mod sdxl;
pub mod stable_diffusion;
pub mod unet;
pub mod z_image;

pub use family::{
    Conditioning, Denoiser, DenoiserInput, DenoiserShape, Family, Model, ModelDefaults, Modulation, Opened,
    PrepareInput, Prepared, Prompt, TextPart, open,
};
pub use inventory::{Content, Finding, Inventory, Item, content, inventory};
pub use likeness::{Likeness, LikenessError};

/// Every family that Sluice draws with.
pub static FAMILIES: &[&dyn Family] =
    &[&z_image::ZImage, &flux::Flux, &sd3::Sd3, &sdxl::Sdxl, &stable_diffusion::StableDiffusion];
