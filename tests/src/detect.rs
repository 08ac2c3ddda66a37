//! Tiny detectors, whose weights come from the names of ultralytics; `reference/detect.py` has the same.

use std::path::Path;

use anyhow::Result;
use candle_core::{DType, Device, Tensor};

use crate::{checkpoint::save, hash_weights::weight, original_names::Tensors};

/// The channels that the layers before the head make, by their numbers.
const OUTPUTS: [(usize, usize); 16] = [
    (0, 8),
    (1, 8),
    (2, 8),
    (3, 16),
    (4, 16),
    (5, 32),
    (6, 32),
    (7, 64),
    (8, 64),
    (9, 64),
    (12, 32),
    (15, 16),
    (16, 16),
    (18, 32),
    (19, 32),
    (21, 64),
];
/// How many classes they tell apart.
pub const CLASSES: usize = 2;
/// Kernels of the usual size make nearly nothing after so many activations.
const KERNELS: f32 = 1.5;
/// Channels of the head on the way to boxes, classes, shares and prototypes.
const HIDDEN: [usize; 4] = [64, 16, 32, 16];
const PROTOTYPES: usize = 32;
/// Three numbers for each of 17 joints.
const JOINTS: usize = 51;
/// How much more a tiny YOLOv8-pose says of persons and joints, what is taken from how sure it is of persons, and how far its
/// joints are moved, as in the reference.
const CONTRAST: f64 = 20.0;
const ASIDE: f64 = 2.0;
const UNSURE: f64 = 2.44;
const BINS: usize = 16;

#[derive(Default)]
struct Made(Tensors);

impl Made {
    fn add(&mut self, name: &str, shape: &[usize]) -> Result<()> {
        let scale = if shape.len() == 4 { KERNELS } else { 1.0 };
        let values = weight(&format!("detect.{name}"), shape, scale);
        self.0.insert(name.to_owned(), Tensor::from_vec(values, shape, &Device::Cpu)?);
        Ok(())
    }

    fn conv(&mut self, name: &str, shape: [usize; 3]) -> Result<()> {
        let [outputs, inputs, side] = shape;
        self.add(&format!("{name}.conv.weight"), &[outputs, inputs, side, side])?;
        for end in ["weight", "bias", "running_mean", "running_var"] {
            self.add(&format!("{name}.bn.{end}"), &[outputs])?;
        }
        // Files have it, and nobody reads it.
        let count = Tensor::new(7_i64, &Device::Cpu)?;
        self.0.insert(format!("{name}.bn.num_batches_tracked"), count);
        Ok(())
    }

    fn bottlenecks(&mut self, name: &str, inputs: usize, outputs: usize, count: usize) -> Result<()> {
        let hidden = outputs / 2;
        self.conv(&format!("{name}.cv1"), [outputs, inputs, 1])?;
        self.conv(&format!("{name}.cv2"), [outputs, (2 + count) * hidden, 1])?;
        for inner in 0..count {
            for part in ["cv1", "cv2"] {
                self.conv(&format!("{name}.m.{inner}.{part}"), [hidden, hidden, 3])?;
            }
        }
        Ok(())
    }

    fn way(&mut self, name: &str, [inputs, hidden, outputs]: [usize; 3]) -> Result<()> {
        self.conv(&format!("{name}.0"), [hidden, inputs, 3])?;
        self.conv(&format!("{name}.1"), [hidden, hidden, 3])?;
        self.add(&format!("{name}.2.weight"), &[outputs, hidden, 1, 1])?;
        self.add(&format!("{name}.2.bias"), &[outputs])
    }
}

fn outputs(number: usize) -> usize {
    OUTPUTS.iter().find(|(own, _)| *own == number).map_or(0, |(_, outputs)| *outputs)
}

/// What the third branch of the head tells.
#[derive(Clone, Copy, PartialEq)]
enum Third {
    Nothing,
    Shapes,
    Joints,
}

/// The weights of a tiny YOLOv8, with or without what tells shapes.
pub fn weights(has_shapes: bool) -> Result<Tensors> {
    made(if has_shapes { Third::Shapes } else { Third::Nothing })
}

/// The weights of a tiny YOLOv8-pose, which is sure of few places.
pub fn pose_weights() -> Result<Tensors> {
    let mut tensors = made(Third::Joints)?;
    let is_last = |name: &str| {
        let branch = name.starts_with("model.22.cv3.") || name.starts_with("model.22.cv4.");
        branch && name.split('.').count() == 6 && name.split('.').nth(4) == Some("2")
    };
    for (name, tensor) in tensors.iter_mut().filter(|(name, _)| is_last(name)) {
        *tensor = (&*tensor * CONTRAST)?;
        if name.ends_with("bias") {
            *tensor = (&*tensor + if name.contains("cv3") { -UNSURE } else { ASIDE })?;
        }
    }
    Ok(tensors)
}

fn made(third: Third) -> Result<Tensors> {
    let mut made = Made::default();
    for (number, own) in OUTPUTS {
        let name = format!("model.{number}");
        let inputs = match number {
            0 => 3,
            12 => outputs(9) + outputs(6),
            15 => outputs(12) + outputs(4),
            18 => outputs(16) + outputs(12),
            21 => outputs(19) + outputs(9),
            other => outputs(other - 1),
        };
        match number {
            2 | 4 | 6 | 8 | 12 | 15 | 18 | 21 => {
                made.bottlenecks(&name, inputs, own, if number == 4 || number == 6 { 2 } else { 1 })?;
            }
            9 => {
                made.conv(&format!("{name}.cv1"), [own / 2, inputs, 1])?;
                made.conv(&format!("{name}.cv2"), [own, 2 * own, 1])?;
            }
            _ => made.conv(&name, [own, inputs, 3])?,
        }
    }
    let [sides, hidden, shares, inner] = HIDDEN;
    let classes = if third == Third::Joints { 1 } else { CLASSES };
    for (level, inputs) in [15, 18, 21].map(outputs).into_iter().enumerate() {
        made.way(&format!("model.22.cv2.{level}"), [inputs, sides, 4 * BINS])?;
        made.way(&format!("model.22.cv3.{level}"), [inputs, hidden, classes])?;
        match third {
            Third::Nothing => {}
            Third::Shapes => made.way(&format!("model.22.cv4.{level}"), [inputs, shares, PROTOTYPES])?,
            Third::Joints => made.way(&format!("model.22.cv4.{level}"), [inputs, JOINTS, JOINTS])?,
        }
    }
    if third == Third::Shapes {
        made.conv("model.22.proto.cv1", [inner, outputs(15), 3])?;
        made.add("model.22.proto.upsample.weight", &[inner, inner, 2, 2])?;
        made.add("model.22.proto.upsample.bias", &[inner])?;
        made.conv("model.22.proto.cv2", [inner, inner, 3])?;
        made.conv("model.22.proto.cv3", [PROTOTYPES, inner, 1])?;
    }
    // The bins' distances, which are always the same.
    let bins = Tensor::arange(0_f32, BINS as f32, &Device::Cpu)?.reshape((1, BINS, 1, 1))?;
    made.0.insert("model.22.dfl.conv.weight".to_owned(), bins);
    Ok(made.0)
}

/// The same with each norm folded into the convolution before it.
pub fn folded(own: &Tensors) -> Result<Tensors> {
    const EPS: f64 = 1e-3;
    let mut all = Tensors::new();
    for (name, tensor) in own {
        let Some(layer) = name.strip_suffix(".conv.weight").filter(|_| !name.contains("dfl")) else {
            if !name.contains(".bn.") {
                all.insert(name.clone(), tensor.clone());
            }
            continue;
        };
        let of_norm =
            |end: &str| -> Result<Tensor> { Ok(own[&format!("{layer}.bn.{end}")].to_dtype(DType::F64)?) };
        let scale = (of_norm("weight")? / (of_norm("running_var")? + EPS)?.sqrt()?)?;
        let bias = (of_norm("bias")? - (of_norm("running_mean")? * &scale)?)?;
        let kernel =
            tensor.to_dtype(DType::F64)?.broadcast_mul(&scale.reshape((scale.elem_count(), 1, 1, 1))?)?;
        all.insert(name.clone(), kernel.to_dtype(DType::F32)?);
        all.insert(format!("{layer}.conv.bias"), bias.to_dtype(DType::F32)?);
    }
    Ok(all)
}

/// Writes one with shapes as a file.
pub fn write(file: &Path) -> Result<()> {
    save(&weights(true)?, file)
}

/// Writes one without shapes as a file.
pub fn write_plain(file: &Path) -> Result<()> {
    save(&weights(false)?, file)
}
