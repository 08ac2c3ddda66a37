//! What a model's files hold: names, shapes, dtypes, places. Headers only; no weight is read here.
//!
//! Three layouts are understood: the diffusers folder (`model_index.json`, one sub-folder a component), the split files
//! of ComfyUI (`diffusion_models`, `text_encoders`, `vae`, original key names), and single files with several
//! components. What a file does not hold is looked for around it. Files are safetensors or GGUF, recognised by their
//! content, and may be cut into several that are numbered. Which family a checkpoint belongs to is decided in
//! [`models`](crate::models).

mod assets;
mod blueprint;
mod error;
mod gguf;
mod header;
mod json;
mod layout;
mod llama_names;
mod metadata;
mod quantization;
mod quantization_error;
mod role;
mod safetensors;
mod shards;
mod stored;
mod transposed;
mod vocabulary;
mod weight_file;

pub use assets::{ASSETS_VARIABLE, asset, starter_folder};
pub use blueprint::{Block, BlockSpec, Component, LowRankTerm, StoredName};
pub use error::CheckpointError;
pub use gguf::type_of as gguf_type_of;
pub use header::{read_header, read_notes};
pub use json::{read_json, read_toml};
pub use layout::{
    Checkpoint, Layout, Part, folders_in, is_diffusers, is_model_folder, may_be_model, read_folder,
};
pub use quantization::encoding_of;
pub use quantization_error::{Errors, sampled_errors};
pub use role::Role;
pub use safetensors::header as safetensors_header;
pub use shards::{files_of, read_weights, without_continuations};
pub use stored::{Change, EncodedPiece, StoredTensor, TensorTable, Values};
pub use vocabulary::{Vocabulary, read_vocabulary};
pub use weight_file::{FileKind, file_kind};
