//! Upscalers: networks that enlarge images.
//!
//! They are opened from the files that people have: the architecture, its widths and its factor come from the names and
//! shapes of the tensors. Images are enlarged in [tiles](Tiles) where memory is short.

mod conv3xc;
mod dat;
mod ending;
mod hat;
mod interaction;
mod open;
mod pixels;
mod places;
mod plksr;
mod resampling;
mod rrdb;
mod rrdb_names;
mod shell;
mod span;
mod srvgg;
mod swin;
mod swinir;
mod tiles;
mod upscaler;
mod windows;

pub use dat::Dat;
pub use hat::Hat;
pub use open::{Opened, is_upscaler, open};
pub use pixels::{shuffle, unshuffle};
pub use plksr::RealPlksr;
pub use rrdb::Rrdb;
pub use span::Span;
pub use srvgg::Srvgg;
pub use swinir::SwinIr;
pub use tiles::{Tile, Tiles};
pub use upscaler::Upscaler;
