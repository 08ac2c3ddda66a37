//! MP4 files: a muxer for clips, and the boxes of any file.

mod boxes;
mod mux;
pub(super) mod tags;

pub(crate) use boxes::{Boxes, child, children, full, read_box, top_boxes};
pub(super) use mux::mux;
