//! Networks that make maps of images for ControlNets, one kind of map each.

use std::{path::Path, sync::Arc};

use candle_core::Tensor as Values;

use super::{
    depth::{is_depth_anything, open_depth_anything},
    detect::{is_pose_estimator, open_pose_estimator},
    hed::{is_hed, open_hed},
    segformer::{is_segformer, open_segformer},
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, MapKind},
    nn::{Result as TensorResult, Tensor},
    residency::{Blocks, RunError},
};

/// Channels of an image.
pub(super) const COLOURS: usize = 3;
/// Means and deviations of the channels of images in 0…1, over those of ImageNet.
pub(super) const IMAGE_NET: [[f32; 3]; 2] = [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]];

/// A network that makes one kind of map. It looks at a scaled image, and a map is drawn of what it says. Sizes are height and
/// width.
pub trait MapEstimator: Send + Sync {
    /// The kind of its maps.
    fn kind(&self) -> MapKind;

    /// What people call its size.
    fn size(&self) -> &'static str;

    /// The size to which an image of a size is scaled.
    fn scaled(&self, size: [u32; 2]) -> [u32; 2];

    /// The size of what it sees of an image of a size: the scaled image, and what is around it.
    fn sees(&self, size: [u32; 2]) -> [usize; 2] {
        self.scaled(size).map(|side| side as usize)
    }

    /// What it sees of an image of a size, `[3, height, width]`, from the pixels of the scaled image.
    fn values(&self, size: [u32; 2], pixels: &[u8]) -> Vec<f32>;

    /// What it says of what it sees, `[1, 3, height, width]`; in f32.
    ///
    /// # Errors
    /// When weights cannot be read, memory runs out, or the run is cancelled.
    fn estimate(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Vec<Tensor>, RunError>;

    /// The map of an image of a size, from what it said, in RAM. `None` if a value is not finite.
    ///
    /// # Errors
    /// When what it said has other shapes.
    fn drawn(&self, size: [u32; 2], said: &[Values]) -> TensorResult<Option<Drawn>>;
}

/// A map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Red, green and blue of its pixels, row by row.
    pub pixels: Vec<u8>,
    /// Its height and width.
    pub size: [u32; 2],
}

impl Drawn {
    /// A map without colours.
    pub(super) fn of_shades(shades: impl Iterator<Item = u8>, size: [u32; 2]) -> Self {
        Self { pixels: shades.flat_map(|shade| [shade; 3]).collect(), size }
    }
}

/// A map estimator and the location of its weights.
pub struct OpenedEstimator {
    /// The network.
    pub network: Arc<dyn MapEstimator>,
    /// Location of its weights.
    pub component: Component,
}

/// What the network in a checkpoint makes maps of, if it is a map estimator that can be opened.
pub fn map_kind(checkpoint: &Checkpoint) -> Option<MapKind> {
    MapKind::ALL.into_iter().find(|kind| match kind {
        MapKind::Depth => is_depth_anything(checkpoint),
        MapKind::Pose => is_pose_estimator(checkpoint),
        MapKind::Segments => is_segformer(checkpoint),
        MapKind::SoftEdge => is_hed(checkpoint),
    })
}

/// Opens the map estimator in a checkpoint that makes this kind of map. Reads no weights.
///
/// # Errors
/// When it has none, or a tensor is missing or has another shape.
pub fn open_estimator(checkpoint: &Checkpoint, wanted: MapKind) -> Result<OpenedEstimator, CheckpointError> {
    if let Some(other) = map_kind(checkpoint).filter(|kind| *kind != wanted) {
        return Err(refused(&checkpoint.path, wanted, format!("it makes {}", other.maps())));
    }
    fn of((network, component): (impl MapEstimator + 'static, Component)) -> OpenedEstimator {
        OpenedEstimator { network: Arc::new(network), component }
    }
    match wanted {
        MapKind::Depth => open_depth_anything(checkpoint).map(of),
        MapKind::Pose => open_pose_estimator(checkpoint).map(of),
        MapKind::Segments => open_segformer(checkpoint).map(of),
        MapKind::SoftEdge => open_hed(checkpoint).map(of),
    }
}

pub(super) fn refused(path: &Path, maps: MapKind, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::MapEstimator { path: path.to_owned(), maps, reason: reason.into() }
}

/// The size with this shorter side, the longer one in proportion, but a multiple of `step` and at most three times as long.
pub(super) fn with_short_side([height, width]: [u32; 2], short: u32, step: u32) -> [u32; 2] {
    const LONGEST: u32 = 3;
    let (shorter, longer) = (u64::from(height.min(width).max(1)), u64::from(height.max(width)));
    let steps = (u64::from(short) * longer / shorter + u64::from(step / 2)) / u64::from(step);
    let longer = steps.clamp(1, u64::from(LONGEST * short / step)) as u32 * step;
    if height > width { [longer, short] } else { [short, longer] }
}

/// The planes of an image from its pixels, with a value for each channel and byte.
pub(super) fn planes(pixels: &[u8], value: impl Fn(usize, u8) -> f32) -> Vec<f32> {
    let pixels = pixels.as_chunks::<COLOURS>().0;
    let plane = |channel: usize| pixels.iter().map(move |pixel| (channel, pixel[channel]));
    (0..COLOURS).flat_map(plane).map(|(channel, byte)| value(channel, byte)).collect()
}

/// The planes of an image without the means and deviations of ImageNet.
pub(super) fn normalized_planes(pixels: &[u8]) -> Vec<f32> {
    let [means, deviations] = IMAGE_NET;
    planes(pixels, |channel, byte| (f32::from(byte) / 255.0 - means[channel]) / deviations[channel])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_side_is_in_proportion_and_a_multiple() {
        for (size, sees) in [
            ([512, 512], [512, 512]),
            ([768, 1024], [512, 672]),
            ([1920, 1080], [896, 512]),
            ([1, 4000], [512, 1536]),
        ] {
            assert_eq!(with_short_side(size, 512, 32), sees, "{size:?}");
        }
        assert_eq!(with_short_side([400, 0], 512, 64), [1536, 512]);
    }

    #[test]
    fn planes_come_one_after_the_other() {
        assert_eq!(planes(&[1, 2, 3, 4, 5, 6], |_, byte| f32::from(byte)), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let white = normalized_planes(&[255, 255, 255]);
        assert_eq!(white, [(1.0 - 0.485) / 0.229, (1.0 - 0.456) / 0.224, (1.0 - 0.406) / 0.225]);
    }
}
