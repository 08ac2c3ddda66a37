//! Adapters: small files that change a model's weights, such as LoRAs.
//!
//! [`AdapterFile`] groups the keys of a file by the layer they change, with the kind of change ([`Content`]).
//! [`Names`] maps layer names to tensors, using the names that the model families define; the only spellings
//! known here are the prefixes and suffixes of programs. [`adapt`] returns the components with adapters
//! applied.
//!
//! A plain low-rank change of a matrix becomes a low-rank term: both factors are tensors of the block, are
//! loaded and freed with it, and are added when the matrix is multiplied. All other changes are applied to
//! the weights when they are read. The choice depends only on the adapter and the layer, so results do not
//! depend on where blocks are.

mod apply;
mod content;
mod error;
mod few_steps;
mod file;
mod folders;
mod formula;
mod names;
mod prompt;
mod summary;

pub use apply::{Adapted, AdapterReport, adapt};
pub use content::Content;
pub use error::AdapterError;
pub use few_steps::FewSteps;
pub use file::{AdapterFile, Layer};
pub use folders::{find, folders_of, listed, nearest};
pub use names::Names;
pub use prompt::{Tag, without_tags};
pub use summary::{AdapterSummary, rank_in_words};
