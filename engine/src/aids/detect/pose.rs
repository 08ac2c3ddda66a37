//! Poses of persons: the joints that YOLOv8-pose finds, as a map in the manner of OpenPose.

use candle_core::Tensor as Values;

use super::{Detector, Found, OpenedDetector, Seen, View, other_branch, prefix, skeleton};
use crate::{
    aids::{
        estimator::{Drawn, MapEstimator, refused},
        own,
    },
    checkpoint::{Checkpoint, CheckpointError, Component, MapKind, Role, TensorTable},
    nn::{Result as TensorResult, Tensor},
    residency::{Blocks, RunError},
};

/// The joints of a person, as the network numbers them: nose, eyes, ears, shoulders, elbows, wrists, hips, knees and ankles, of
/// pairs the left one first (COCO).
const JOINTS: usize = 17;
/// What the network says of the joints of a person: for each its column, its row and how sure it is.
pub(super) const OUTPUTS: usize = 3 * JOINTS;
/// Persons and joints of which the network is less sure are left out, as in DWPose.
const CONFIDENCE: f32 = 0.3;
/// The shoulders, between which is the neck.
const SHOULDERS: [usize; 2] = [5, 6];
/// The joint of the network for each of OpenPose's, of which the second is the neck.
const OF_OPEN_POSE: [Option<usize>; skeleton::JOINTS] = [
    Some(0),
    None,
    Some(6),
    Some(8),
    Some(10),
    Some(5),
    Some(7),
    Some(9),
    Some(12),
    Some(14),
    Some(16),
    Some(11),
    Some(13),
    Some(15),
    Some(2),
    Some(1),
    Some(4),
    Some(3),
];

/// YOLOv8-pose (Jocher et al. 2023).
pub struct PoseEstimator(Detector);

/// Whether a checkpoint is YOLOv8-pose.
pub(in crate::aids) fn is_pose_estimator(checkpoint: &Checkpoint) -> bool {
    let other = |tensors: &TensorTable| other_branch(tensors, prefix(tensors)?);
    own(checkpoint).and_then(other) == Some(OUTPUTS)
}

/// Opens the network in a checkpoint, see [`crate::aids::open_estimator`].
pub(in crate::aids) fn open_pose_estimator(
    checkpoint: &Checkpoint,
) -> Result<(PoseEstimator, Component), CheckpointError> {
    let unfit = |reason: &str| refused(&checkpoint.path, MapKind::Pose, reason);
    let found = own(checkpoint).and_then(|tensors| Some((tensors, prefix(tensors)?)));
    let (tensors, prefix) = found.ok_or_else(|| unfit("it is no YOLOv8-pose network"))?;
    match other_branch(tensors, prefix) {
        Some(OUTPUTS) => {}
        Some(_) => return Err(unfit("it does not find the 17 joints of persons")),
        None => return Err(unfit("it finds boxes and no joints, as detectors for detailers do")),
    }
    let opened = Detector::open(&checkpoint.path, tensors, prefix, Role::Preprocessor);
    let OpenedDetector { network, component } = opened.map_err(|error| match error {
        CheckpointError::Detector { path, reason } => refused(&path, MapKind::Pose, reason),
        other => other,
    })?;
    Ok((PoseEstimator(network), component))
}

impl MapEstimator for PoseEstimator {
    fn kind(&self) -> MapKind {
        MapKind::Pose
    }

    fn size(&self) -> &'static str {
        self.0.size()
    }

    fn scaled(&self, size: [u32; 2]) -> [u32; 2] {
        View::of(size).inner
    }

    fn sees(&self, size: [u32; 2]) -> [usize; 2] {
        View::of(size).whole
    }

    fn values(&self, size: [u32; 2], pixels: &[u8]) -> Vec<f32> {
        View::of(size).values(pixels)
    }

    fn estimate(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Vec<Tensor>, RunError> {
        let seen = self.0.look(blocks, image)?;
        Ok(seen.outputs().into_iter().cloned().collect())
    }

    fn drawn(&self, size: [u32; 2], said: &[Values]) -> TensorResult<Option<Drawn>> {
        let view = View::of(size);
        let said: Vec<Tensor> = said.iter().cloned().map(Tensor::from).collect();
        let found = Seen::of_joints(&said).found(view.whole, CONFIDENCE)?;
        let people: Vec<_> = found.iter().map(|found| open_pose(found, &view)).collect();
        Ok(Some(Drawn { pixels: skeleton::drawn(&people, size), size }))
    }
}

/// The joints of a person as OpenPose has them, in the image.
fn open_pose(found: &Found, view: &View) -> skeleton::Person {
    let joint = |number: usize| {
        let &[x, y, sure] = found.joints.get(number)?;
        (sure > CONFIDENCE).then(|| view.place([x, y]))
    };
    let neck = || {
        let [one, other] = SHOULDERS.map(joint);
        let (one, other) = (one?, other?);
        Some([0, 1].map(|axis| (one[axis] + other[axis]) / 2.0))
    };
    OF_OPEN_POSE.map(|number| number.map_or_else(neck, joint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_those_of_open_pose_with_the_neck_between_the_shoulders() {
        let joints: Vec<[f32; 3]> =
            (0..JOINTS).map(|joint| [joint as f32, 2.0 * joint as f32, 0.9]).collect();
        let mut found = Found { area: [0.0; 4], confidence: 0.9, class: 0, shape: None, joints };
        let view = View::of([640, 640]);
        let person = open_pose(&found, &view);
        assert_eq!(person[1], Some([5.5, 11.0]));
        assert_eq!(
            [person[2], person[5], person[17]],
            [Some([6.0, 12.0]), Some([5.0, 10.0]), Some([3.0, 6.0])]
        );
        let mut used: Vec<usize> = OF_OPEN_POSE.into_iter().flatten().collect();
        used.sort_unstable();
        assert_eq!(used, Vec::from_iter(0..JOINTS));
        found.joints[6][2] = 0.2;
        let person = open_pose(&found, &view);
        assert_eq!([person[1], person[2]], [None, None]);
    }
}
