//! Upscalers: networks that enlarge images.
//!
//! They are opened from the files that people have: the architecture, its widths and its factor come from the names and
//! shapes of the tensors. Images are enlarged in [tiles](Tiles) where memory is short.

mod conv3xc;
mod open;
mod pixels;
mod rrdb;
mod rrdb_names;
mod span;
mod srvgg;
mod tiles;
mod upscaler;

pub use open::{Opened, is_upscaler, open};
pub use pixels::{shuffle, unshuffle};
pub use rrdb::Rrdb;
pub use span::Span;
pub use srvgg::Srvgg;
pub use tiles::{Tile, Tiles};
pub use upscaler::Upscaler;
