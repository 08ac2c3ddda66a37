//! Tiny map estimators, whose weights come from the names that files of each have; `reference/estimators.py` has the same.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;
use candle_core::{Device, Tensor};
use sluice_engine::checkpoint::MapKind;

use crate::{
    checkpoint::save, depth, detect, hash_weights::noise, hash_weights::weight, original_names::Tensors,
};

/// The stages of a tiny SegFormer: channels, layers, and the side of the squares of keys.
const STAGES: [[usize; 3]; 4] = [[16, 2, 8], [32, 1, 4], [48, 1, 2], [64, 2, 1]];
const JOINED: usize = 24;
/// The classes of ADE20K.
pub const CLASSES: usize = 150;
/// The blocks of a tiny HED: channels and convolutions.
const BLOCKS: [[usize; 2]; 5] = [[8, 2], [8, 2], [12, 3], [12, 3], [16, 3]];
/// Kernels of the usual size make nearly nothing after so many activations.
const KERNELS: f32 = 1.5;

struct Made {
    prefix: &'static str,
    tensors: Tensors,
}

impl Made {
    fn new(prefix: &'static str) -> Self {
        Self { prefix, tensors: Tensors::new() }
    }

    fn add(&mut self, name: &str, shape: &[usize]) -> Result<()> {
        let scale = if shape.len() == 4 { KERNELS } else { 1.0 };
        let values = weight(&format!("{}.{name}", self.prefix), shape, scale);
        self.tensors.insert(name.to_owned(), Tensor::from_vec(values, shape, &Device::Cpu)?);
        Ok(())
    }

    fn with_bias(&mut self, name: &str, shape: &[usize]) -> Result<()> {
        self.add(&format!("{name}.weight"), shape)?;
        self.add(&format!("{name}.bias"), &shape[..1])
    }
}

/// The weights of a tiny SegFormer, as transformers saves them.
pub fn segformer() -> Result<Tensors> {
    let mut made = Made::new("segformer");
    let mut inputs = 3;
    for (stage, [width, layers, reduction]) in STAGES.into_iter().enumerate() {
        let embeddings = format!("segformer.encoder.patch_embeddings.{stage}");
        let side = if stage == 0 { 7 } else { 3 };
        made.with_bias(&format!("{embeddings}.proj"), &[width, inputs, side, side])?;
        made.with_bias(&format!("{embeddings}.layer_norm"), &[width])?;
        for layer in 0..layers {
            let name = |end: &str| format!("segformer.encoder.block.{stage}.{layer}.{end}");
            for norm in ["layer_norm_1", "layer_norm_2"] {
                made.with_bias(&name(norm), &[width])?;
            }
            for linear in ["query", "key", "value"] {
                made.with_bias(&name(&format!("attention.self.{linear}")), &[width, width])?;
            }
            if reduction > 1 {
                made.with_bias(&name("attention.self.sr"), &[width, width, reduction, reduction])?;
                made.with_bias(&name("attention.self.layer_norm"), &[width])?;
            }
            made.with_bias(&name("attention.output.dense"), &[width, width])?;
            made.with_bias(&name("mlp.dense1"), &[4 * width, width])?;
            made.with_bias(&name("mlp.dwconv.dwconv"), &[4 * width, 1, 3, 3])?;
            made.with_bias(&name("mlp.dense2"), &[width, 4 * width])?;
        }
        made.with_bias(&format!("segformer.encoder.layer_norm.{stage}"), &[width])?;
        made.with_bias(&format!("decode_head.linear_c.{stage}.proj"), &[JOINED, width])?;
        inputs = width;
    }
    made.add("decode_head.linear_fuse.weight", &[JOINED, 4 * JOINED, 1, 1])?;
    for end in ["weight", "bias", "running_mean", "running_var"] {
        made.add(&format!("decode_head.batch_norm.{end}"), &[JOINED])?;
    }
    made.with_bias("decode_head.classifier", &[CLASSES, JOINED, 1, 1])?;
    Ok(made.tensors)
}

/// The weights of a tiny HED, as its authors saved them.
pub fn hed() -> Result<Tensors> {
    let mut made = Made::new("hed");
    made.add("norm", &[1, 3, 1, 1])?;
    let mut inputs = 3;
    for (block, [width, convs]) in BLOCKS.into_iter().enumerate() {
        let name = format!("block{}", block + 1);
        for conv in 0..convs {
            made.with_bias(&format!("{name}.convs.{conv}"), &[width, inputs, 3, 3])?;
            inputs = width;
        }
        made.with_bias(&format!("{name}.projection"), &[1, width, 1, 1])?;
    }
    // What is said of edges is near zero.
    for (name, tensor) in &mut made.tensors {
        if name.ends_with("projection.weight") {
            *tensor = (&*tensor / 32.0)?;
        }
    }
    Ok(made.tensors)
}

/// The weights of a tiny map estimator for this kind of map.
pub fn weights(kind: MapKind) -> Result<Tensors> {
    match kind {
        MapKind::Depth => Ok(depth::published(&depth::weights()?)),
        MapKind::Pose => detect::pose_weights(),
        MapKind::Segments => segformer(),
        MapKind::SoftEdge => hed(),
    }
}

/// Writes a tiny map estimator to a file.
pub fn write(kind: MapKind, file: &Path) -> Result<()> {
    save(&weights(kind)?, file)
}

/// Writes one for each kind of map to a folder.
pub fn write_all(folder: &Path) -> Result<BTreeMap<MapKind, std::path::PathBuf>> {
    let written = MapKind::ALL.into_iter().map(|kind| {
        let file = folder.join(format!("{}_estimator.safetensors", kind.id()));
        write(kind, &file)?;
        Ok((kind, file))
    });
    written.collect()
}

/// Pixels that look like noise: red, green and blue, row by row.
pub fn pixels(name: &str, [height, width]: [usize; 2]) -> Vec<u8> {
    let byte = |value: f32| (value * 40.0 + 128.0).clamp(0.0, 255.0) as u8;
    noise(name, height * width * 3).into_iter().map(byte).collect()
}
