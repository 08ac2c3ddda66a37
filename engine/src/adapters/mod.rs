//! Adapters: small files that change a model's weights, such as LoRAs.
//!
//! [`AdapterFile`] groups the keys of a file by the layer that they change and says how ([`Content`]). [`Names`] finds
//! the tensors that a layer's name means, by the names that the model's own families give them: no program's spelling
//! is known here but for what stands before and after a name. [`adapt`] gives the components as they are with adapters.
//!
//! A plain low-rank change of a matrix becomes two thin matrices beside it: they are tensors of the block, come and go
//! with it, and are added where the matrix is multiplied. Everything else is done to the weights when they are read.
//! Which of both it is depends on the adapter and the layer alone, so that the numbers are the same wherever blocks are.

mod apply;
mod content;
mod error;
mod file;
mod folders;
mod formula;
mod names;
mod prompt;
mod summary;

pub use apply::{Adapted, AdapterReport, adapt};
pub use content::Content;
pub use error::AdapterError;
pub use file::{AdapterFile, Layer};
pub use folders::{find, folders_of, listed, nearest};
pub use names::Names;
pub use prompt::{Tag, without_tags};
pub use summary::{AdapterSummary, rank_in_words};
