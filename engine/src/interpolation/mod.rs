//! Frame interpolation: networks that make the frames between those of a clip.
//!
//! They are opened from the files that people have: the version and the widths come from the names and shapes of the
//! tensors.

mod ifnet;
mod open;
mod shape;

pub use ifnet::{Ifnet, SIDES};
pub use open::{Opened, is_interpolator, open};
