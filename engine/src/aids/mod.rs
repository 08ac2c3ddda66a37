//! Small networks beside the model: they look at images, and what they see helps to make others.

mod depth;
mod depth_names;
mod places;
mod segment;
mod taken;

pub use depth::{DepthAnything, Opened, is_depth_estimator, open};
pub use segment::{MASK_SIDE, Masks, OpenedSegmenter, Prompt, Segmenter, is_segmenter, open_segmenter};
