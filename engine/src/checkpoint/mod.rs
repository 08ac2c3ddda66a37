//! Reads model files: names, shapes, dtypes and offsets of tensors. Reads only headers, no weights.
//!
//! There are three layouts: the diffusers folder (`model_index.json`, one subfolder per component), the split
//! files of ComfyUI (`diffusion_models`, `text_encoders`, `vae`, original key names), and single files with
//! several components. Components missing from a file are searched around it. Files are safetensors or GGUF,
//! recognized by content, and may be split into numbered shards. [`models`](crate::models) decides which
//! family a checkpoint belongs to.

mod assets;
mod blueprint;
mod error;
mod gguf;
mod header;
mod json;
mod layout;
mod llama_names;
mod map_kind;
mod metadata;
mod noise_half;
mod quantization;
mod quantization_error;
mod quantized;
mod role;
mod safetensors;
mod shards;
mod stamp;
mod stored;
mod transposed;
mod vocabulary;
mod weight_file;

pub use assets::{ASSETS_VARIABLE, asset, starter_clip_folder, starter_folder, upscaler_file};
pub use blueprint::{Block, BlockSpec, Component, LowRankTerm, StoredName};
pub use error::CheckpointError;
pub use gguf::type_of as gguf_type_of;
pub use header::{read_header, read_notes};
pub use json::{read_json, read_toml};
pub use layout::{
    Checkpoint, HollowFolder, HollowPart, HollowTensor, Layout, Part, folders_in, is_diffusers,
    is_model_folder, may_be_model, read_folder,
};
pub use map_kind::MapKind;
pub use noise_half::NoiseHalf;
pub use quantization::encoding_of;
pub use quantization_error::{Errors, sampled_errors};
pub use role::Role;
pub use safetensors::header as safetensors_header;
pub use shards::{files_of, read_weights, without_continuations};
pub use stamp::FileStamp;
pub use stored::{Change, EncodedPiece, StoredTensor, TensorTable, Values};
pub use vocabulary::{ModelNotes, Vocabulary, read_model_notes, read_vocabulary};
pub use weight_file::{FileKind, FilePart, file_kind};
