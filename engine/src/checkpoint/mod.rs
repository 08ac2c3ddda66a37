//! What a model's files hold: names, shapes, dtypes, places. Headers only; no weight is read here.
//!
//! Three layouts are understood: the diffusers folder (`model_index.json`, one sub-folder a component), the split files
//! of ComfyUI (`diffusion_models`, `text_encoders`, `vae`, original key names), and single files with several
//! components. What a file does not hold is looked for around it. Files are safetensors or GGUF, recognised by their
//! content, and may be cut into several that are numbered. Which family a checkpoint belongs to is decided in
//! [`models`](crate::models).

mod assets;
mod blueprint;
mod convert;
mod encoded;
mod error;
mod errors;
mod file;
mod gguf;
mod json;
mod kept;
mod layout;
mod llama_names;
mod random;
mod safetensors;
mod said;
mod sets;
mod stored;
mod turned;
mod vocabulary;

pub use assets::{ASSETS_VARIABLE, asset, starter_folder};
pub use blueprint::{Block, BlockSpec, Component, LowRankTerm, Role, StoredName};
pub use convert::{Conversion, ConvertTo, Share, convert};
pub use error::CheckpointError;
pub use errors::{Errors, sampled_errors};
pub use file::{FileKind, file_kind, read_header, read_notes};
pub use json::{read_json, read_toml};
pub use layout::{Checkpoint, Layout, Part, folders_in, is_diffusers, is_model_folder, may_be_model};
pub use random::{RandomDtype, RandomTensor, random_file_bytes, write_random};
pub use sets::{files_of, read_weights, without_continuations};
pub use stored::{Change, StoredTensor, TensorTable, Values};
pub use vocabulary::{Vocabulary, read_vocabulary};
