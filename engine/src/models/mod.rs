//! The denoisers: one file a family, one line in [`FAMILIES`].

mod adapter_marks;
mod family;
pub mod flux;
mod inventory;
mod joint;
mod modulated;
mod patches;
pub mod qwen_image;
pub mod scheduler;
pub mod sd3;
pub mod sdxl;
pub mod stable_diffusion;
pub mod unet;
pub mod z_image;

pub use adapter_marks::{AdapterMark, adapter_summary, family_of_adapter};
pub use family::{
    Conditioning, Denoiser, DenoiserInput, Family, Model, ModelDefaults, Modulation, Opened, PrepareInput,
    Prepared, Prompt, TextPart, open,
};
pub use inventory::{Content, Finding, Inventory, Item, content, inventory};
pub use joint::diffusers_name;

/// Every family that Sluice draws with.
pub static FAMILIES: &[&dyn Family] =
    &[&z_image::ZImage, &flux::Flux, &sd3::Sd3, &sdxl::Sdxl, &stable_diffusion::StableDiffusion];
