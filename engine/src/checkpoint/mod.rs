//! What a model's files hold: names, shapes, dtypes, places. Headers only; no weight is read here.
//!
//! Two layouts are understood: the diffusers folder (`model_index.json`, one sub-folder a component, weights
//! in one or several safetensors files) and the split files of ComfyUI (`diffusion_models`, `text_encoders`,
//! `vae`, original key names). Files are safetensors or GGUF, recognised by their content. Which family a checkpoint belongs to is decided in [`models`](crate::models).

mod assets;
mod blueprint;
mod convert;
mod error;
mod file;
mod gguf;
mod layout;
mod llama_names;
mod safetensors;
mod stored;

pub use assets::{ASSETS_VARIABLE, asset, starter_folder};
pub use blueprint::{Block, BlockSpec, Component, LowRankTerm, Role, StoredName};
pub use convert::{Conversion, ConvertTo, Share, convert};
pub use error::CheckpointError;
pub use file::{FileKind, file_kind, read_header, read_notes};
pub use layout::{Checkpoint, Layout, Part, read_json, read_toml};
pub use stored::{Change, StoredTensor, TensorTable, Values};
