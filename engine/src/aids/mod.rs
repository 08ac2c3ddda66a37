//! Small networks beside the model: they look at images, and what they see helps to make others.

mod ade;
mod depth;
mod depth_names;
mod detect;
mod estimator;
mod hed;
mod places;
mod segformer;
mod segment;
mod taken;

use crate::checkpoint::{Checkpoint, TensorTable};

pub use detect::{Detector, Found, OpenedDetector, Seen, View, is_detector, open_detector};
pub use estimator::{Drawn, MapEstimator, OpenedEstimator, map_kind, open_estimator};
pub use segment::{MASK_SIDE, Masks, OpenedSegmenter, Prompt, Segmenter, is_segmenter, open_segmenter};

/// The tensors of the file itself.
fn own(checkpoint: &Checkpoint) -> Option<&TensorTable> {
    let own = checkpoint.parts.iter().find(|part| part.path == checkpoint.path);
    own.map(|part| &part.tensors)
}
