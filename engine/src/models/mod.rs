//! The denoisers: one file per family, one line in [`FAMILIES`].

mod adapter_marks;
pub mod anima;
pub mod cascade;
pub mod chroma;
mod clip_control;
mod control_nets;
pub mod cosmos;
mod denoiser;
mod detailer;
mod detectors;
pub mod ernie;
mod estimators;
mod family;
pub mod flux;
pub mod flux2;
mod flux_files;
pub mod hidream;
mod hires;
mod image_prompts;
mod interpolators;
mod inventory;
mod joint;
mod known;
pub mod krea2;
pub mod lens;
pub mod longcat;
pub mod ltx;
mod map_embedder;
mod model;
mod modulated;
mod opened;
mod patches;
pub mod qwen_image;
pub mod qwen_image_21;
pub mod scheduler;
pub mod sd3;
pub mod sdxl;
mod segmenters;
pub mod stable_diffusion;
mod stages;
mod token_levels;
pub mod unet;
mod upscalers;
pub mod wan;
mod windows;
mod writers;
pub mod wuerstchen;
pub mod z_image;

pub use adapter_marks::{AdapterMark, adapter_fits, adapter_summary, family_of_adapter};
pub use clip_control::ClipControl;
pub use denoiser::{
    Conditioning, ControlImage, Denoiser, DenoiserInput, FollowedMap, GivenFrames, ImageTokens, LatentShape,
    MapForm, Modulation, PrepareInput, Prepared, Reference, SeenImages, SteeredBy, Steering,
};
pub use detectors::{Detectors, open_detector};
pub use estimators::{MapEstimators, open_estimator};
pub use family::{Family, open};
pub use interpolators::{Interpolators, open_interpolator};
pub use inventory::{
    About, Content, Finding, Inventory, Item, Kind, Place, Remembered, Surroundings, content, content_hash,
    inventory, name_of, own_preview, scan, stamp, well_known_places,
};
pub use joint::diffusers_name;
pub use known::{
    KnownDefaults, KnownModel, Published, PublishedPart, PublishedTokenizer, Shapes, StoredAs, known_model,
    known_models, published_models,
};
pub use model::{
    Denoising, Model, ModelDefaults, ModelPart, Network, Opened, Prompt, SeenImage, TextPart, Used,
};
pub use opened::OpenedModels;
pub use segmenters::{Segmenters, open_segmenter};
pub use stages::{ClipFrames, Denoise, EncodedMap, SourceImages, Start, Steps, Task, around};
pub use upscalers::{Upscalers, open_upscaler};
pub use windows::{FrameWindows, Window};
pub use writers::{LanguageModels, open_language_model, sees_images};

/// Every family that Sluice supports.
pub static FAMILIES: &[&dyn Family] = &[
    &z_image::ZImage,
    &qwen_image::QwenImage,
    &qwen_image_21::QwenImage21,
    &longcat::LongCat,
    &flux::Flux,
    &flux2::Flux2,
    &hidream::HiDream,
    &chroma::Chroma,
    &ernie::ErnieImage,
    &lens::Lens,
    &anima::Anima,
    &krea2::Krea2,
    &sd3::Sd3,
    &cascade::StableCascade,
    &wuerstchen::Wuerstchen,
    &sdxl::Sdxl,
    &stable_diffusion::StableDiffusion,
    &wan::Wan,
    &ltx::Ltx,
];
