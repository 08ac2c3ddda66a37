//! Where faces, hands or persons are in an image: YOLOv8 (Jocher et al. 2023), with boxes alone, with their shapes
//! (prototypes and coefficients as in YOLACT, Bolya et al. 2019, arXiv:1904.02689), or with the joints of persons.

mod boxes;
mod layers;
mod pose;
mod skeleton;
mod view;

use std::path::Path;

use super::own;
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Role, StoredName, TensorTable},
    nn::{Error, Tensor, upsample_nearest_2x},
    residency::{Blocks, RunError},
};
use layers::{Head, Layer};

pub use boxes::{Found, Seen};
pub(super) use pose::{is_pose_estimator, open_pose_estimator};
pub use view::View;

/// The numbers of the layers with weights before the head, in the order in which they run.
const LAYERS: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 18, 19, 21];
/// The number of the head.
const HEAD: usize = 22;
/// The layers that the head reads: what they see is halved from one to the next.
const LEVELS: [usize; 3] = [15, 18, 21];

/// A network that finds what it was trained to find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detector {
    layers: Vec<Layer>,
    head: Head,
}

/// A detector and the location of its weights.
pub struct OpenedDetector {
    /// The network.
    pub network: Detector,
    /// Location of its weights.
    pub component: Component,
}

fn refused(path: &Path, reason: impl Into<String>) -> CheckpointError {
    CheckpointError::Detector { path: path.to_owned(), reason: reason.into() }
}

/// What comes before the names of a file: nothing, or what ultralytics' wrapper of the network adds.
fn prefix(tensors: &TensorTable) -> Option<&'static str> {
    let has = |prefix: &str, name: &str| tensors.contains_key(&format!("{prefix}{name}"));
    let names = ["model.0.conv.weight", "model.22.cv2.0.0.conv.weight", "model.22.cv3.0.0.conv.weight"];
    ["", "model."].into_iter().find(|prefix| names.iter().all(|name| has(prefix, name)))
}

/// The channels of a third branch that tells no shapes: three for each joint, or one for turned boxes.
fn other_branch(tensors: &TensorTable, prefix: &str) -> Option<usize> {
    let shape = |name: &str| tensors.get(&format!("{prefix}model.{HEAD}.{name}.weight")).map(|it| it.shape());
    match (shape("cv4.0.2"), shape("proto.cv1.conv")) {
        (Some(&[outputs, ..]), None) => Some(outputs),
        _ => None,
    }
}

/// Whether a checkpoint is a detector that can be opened.
pub fn is_detector(checkpoint: &Checkpoint) -> bool {
    let of = |tensors: &TensorTable| prefix(tensors).map(|prefix| other_branch(tensors, prefix));
    own(checkpoint).and_then(of).is_some_and(|other| other.is_none())
}

/// Opens the detector in a checkpoint. Reads no weights.
///
/// # Errors
/// When it has none, or a tensor is missing or has another shape.
pub fn open_detector(checkpoint: &Checkpoint) -> Result<OpenedDetector, CheckpointError> {
    let path = &checkpoint.path;
    let found = own(checkpoint).and_then(|tensors| Some((tensors, prefix(tensors)?)));
    let (tensors, prefix) = found.ok_or_else(|| refused(path, "it is no YOLOv8 network"))?;
    match other_branch(tensors, prefix) {
        None => {}
        Some(pose::OUTPUTS) => {
            return Err(refused(
                path,
                "it finds the joints of persons, from which poses for ControlNets are made",
            ));
        }
        Some(_) => return Err(refused(path, "it finds turned boxes or joints and not boxes or shapes")),
    }
    Detector::open(path, tensors, prefix, Role::Detector)
}

impl Detector {
    /// The network of these tensors, whose names have a prefix in the file.
    fn open(
        path: &Path,
        tensors: &TensorTable,
        prefix: &str,
        role: Role,
    ) -> Result<OpenedDetector, CheckpointError> {
        let shape = |name: &str| tensors.get(&format!("{prefix}{name}")).map_or(&[][..], |it| it.shape());
        let network = Self::found(path, shape)?;
        let is_folded = !shape("model.0.conv.bias").is_empty();
        let component = Component::bind(
            role,
            network.architecture(),
            &network.specs(is_folded),
            tensors,
            |name| StoredName::whole(format!("{prefix}{name}")),
            path,
        )?;
        Ok(OpenedDetector { network, component })
    }

    /// Its shape, from those of its tensors.
    fn found<'a>(path: &Path, shape: impl Fn(&str) -> &'a [usize]) -> Result<Self, CheckpointError> {
        let mut layers = Vec::new();
        for number in LAYERS {
            let layer = Layer::found(number, |name| shape(&format!("model.{number}.{name}")));
            layers.push(layer.ok_or_else(|| refused(path, format!("layer {number} of YOLOv8 is missing")))?);
        }
        let head = Head::found(|name| shape(&format!("model.{HEAD}.{name}")));
        let head = head.ok_or_else(|| refused(path, "its head is not that of YOLOv8"))?;
        Ok(Self { layers, head })
    }

    fn architecture(&self) -> &'static str {
        match (self.head.has_shapes(), self.head.has_joints()) {
            (true, _) => "YOLOv8 with shapes",
            (false, true) => "YOLOv8-pose",
            (false, false) => "YOLOv8",
        }
    }

    /// What people call its size.
    pub fn size(&self) -> &'static str {
        match (self.outputs(0), self.outputs(9)) {
            (16, 256) => "n",
            (32, 512) => "s",
            (48, 576) => "m",
            (64, 512) => "l",
            (80, 640) => "x",
            _ => "another size",
        }
    }

    /// How many kinds of things it tells apart.
    pub fn classes(&self) -> usize {
        self.head.classes
    }

    /// The channels of what a layer makes.
    fn outputs(&self, number: usize) -> usize {
        let place = LAYERS.iter().position(|own| *own == number);
        place.and_then(|place| self.layers.get(place)).map_or(0, Layer::outputs)
    }

    /// The channels of what a layer reads.
    fn inputs(&self, number: usize) -> usize {
        match number {
            0 => layers::COLOURS,
            12 => self.outputs(9) + self.outputs(6),
            15 => self.outputs(12) + self.outputs(4),
            18 => self.outputs(16) + self.outputs(12),
            21 => self.outputs(19) + self.outputs(9),
            other => self.outputs(other - 1),
        }
    }

    fn specs(&self, is_folded: bool) -> Vec<BlockSpec> {
        let block = |number: usize| BlockSpec::new(format!("model.{number}"));
        let each = LAYERS.iter().zip(&self.layers);
        let mut specs: Vec<_> =
            each.map(|(&number, layer)| layer.spec(block(number), self.inputs(number), is_folded)).collect();
        specs.push(self.head.spec(block(HEAD), LEVELS.map(|level| self.outputs(level)), is_folded));
        specs
    }

    /// What the network says about an image `[1, 3, height, width]` in 0…1, whose sides are multiples of 32.
    ///
    /// # Errors
    /// When weights cannot be read, memory runs out, or the run is cancelled.
    pub fn look(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Seen, RunError> {
        // What later layers read, by the numbers of layers.
        let mut kept: [Option<Tensor>; HEAD] = std::array::from_fn(|_| None);
        let mut last = None;
        let mut seen = None;
        let lost = || Error::msg("a layer of a detector ran before one that it reads");
        blocks.walk(0..LAYERS.len() + 1, |index, w| {
            let Some(&number) = LAYERS.get(index) else {
                let [Some(small), Some(middle), Some(large)] = LEVELS.map(|level| kept[level].take()) else {
                    return Err(lost());
                };
                seen = Some(self.head.see(w, &[small, middle, large])?);
                return Ok(());
            };
            let before: Tensor = match last.take() {
                None => image.clone(),
                Some(x) => x,
            };
            let mut joined = |x: Tensor, other: usize, is_last_use: bool| {
                let other = if is_last_use { kept[other].take() } else { kept[other].clone() };
                Tensor::cat(&[x, other.ok_or_else(lost)?], 1)
            };
            let x = match number {
                12 => joined(upsample_nearest_2x(&before)?, 6, true)?,
                15 => joined(upsample_nearest_2x(&before)?, 4, true)?,
                18 => joined(before, 12, true)?,
                21 => joined(before, 9, true)?,
                _ => before,
            };
            let made = self.layers[index].forward(w, x)?;
            if [4, 6, 9, 12].contains(&number) || LEVELS.contains(&number) {
                kept[number] = Some(made.clone());
            }
            last = (number != LEVELS[2]).then_some(made);
            Ok(())
        })?;
        seen.ok_or_else(|| Error::msg("a walk had no blocks").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shapes of the tensors of YOLOv8n, as far as its own shape comes from them.
    fn shape_of(name: &str) -> &'static [usize] {
        match name {
            "model.0.conv.weight" => &[16, 3, 3, 3],
            "model.1.conv.weight" => &[32, 16, 3, 3],
            "model.3.conv.weight" => &[64, 32, 3, 3],
            "model.5.conv.weight" => &[128, 64, 3, 3],
            "model.7.conv.weight" => &[256, 128, 3, 3],
            "model.16.conv.weight" => &[64, 64, 3, 3],
            "model.19.conv.weight" => &[128, 128, 3, 3],
            "model.9.cv1.conv.weight" => &[128, 256, 1, 1],
            "model.9.cv2.conv.weight" => &[256, 512, 1, 1],
            "model.22.cv2.0.0.conv.weight" => &[64, 64, 3, 3],
            "model.22.cv2.0.2.weight" => &[64, 64, 1, 1],
            "model.22.cv3.0.0.conv.weight" => &[64, 64, 3, 3],
            "model.22.cv3.0.2.weight" => &[1, 64, 1, 1],
            _ => {
                let (layer, rest) =
                    name.strip_prefix("model.").and_then(|name| name.split_once('.')).unwrap();
                let (outputs, count) = match layer {
                    "2" => (&[32, 48, 1, 1], 1),
                    "4" => (&[64, 128, 1, 1], 2),
                    "6" => (&[128, 256, 1, 1], 2),
                    "8" => (&[256, 384, 1, 1], 1),
                    "12" => (&[128, 192, 1, 1], 1),
                    "15" => (&[64, 96, 1, 1], 1),
                    "18" => (&[128, 192, 1, 1], 1),
                    "21" => (&[256, 384, 1, 1], 1),
                    _ => return &[],
                };
                match rest {
                    "cv1.conv.weight" | "cv2.conv.weight" => outputs,
                    "m.0.cv1.conv.weight" => outputs,
                    "m.1.cv1.conv.weight" if count == 2 => outputs,
                    _ => &[],
                }
            }
        }
    }

    #[test]
    fn the_size_and_the_chain_come_from_the_shapes() {
        let network = Detector::found(Path::new("face_yolov8n.safetensors"), shape_of).unwrap();
        assert_eq!((network.size(), network.classes(), network.architecture()), ("n", 1, "YOLOv8"));
        assert_eq!([12, 15, 18, 21].map(|number| network.inputs(number)), [384, 192, 192, 384]);
        let parameters: usize = network
            .specs(false)
            .iter()
            .flat_map(|spec| &spec.tensors)
            .filter(|(name, _)| !name.contains("running"))
            .map(|(_, shape)| shape.iter().product::<usize>())
            .sum();
        // 3 011 043 with one class, of which 16 are the constant numbers of the bins.
        assert_eq!(parameters, 3_011_043 - 16);
    }

    #[test]
    fn a_layer_that_is_missing_is_named() {
        let without = |name: &str| if name.starts_with("model.8.") { &[][..] } else { shape_of(name) };
        let error = Detector::found(Path::new("a.safetensors"), without).unwrap_err();
        assert!(error.to_string().contains("layer 8 of YOLOv8 is missing"), "{error}");
    }
}
