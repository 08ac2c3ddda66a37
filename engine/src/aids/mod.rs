//! Small networks beside the model: they look at images, and what they see helps to make others.

mod depth;
mod depth_names;
mod detect;
mod places;
mod segment;
mod taken;

use crate::checkpoint::{Checkpoint, TensorTable};

pub use depth::{DepthAnything, Opened, is_depth_estimator, open};
pub use detect::{Detector, Found, OpenedDetector, Seen, View, is_detector, open_detector};
pub use segment::{MASK_SIDE, Masks, OpenedSegmenter, Prompt, Segmenter, is_segmenter, open_segmenter};

/// The tensors of the file itself.
fn own(checkpoint: &Checkpoint) -> Option<&TensorTable> {
    let own = checkpoint.parts.iter().find(|part| part.path == checkpoint.path);
    own.map(|part| &part.tensors)
}
