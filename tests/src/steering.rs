//! Tiny unions of ControlNets and T2I-Adapters, whose weights come from names, as in `reference/steering.py`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use candle_core::{DType, Device, Tensor};
use serde_json::Value;

use crate::{
    checkpoint::{load, save},
    control_nets::{self, NetShape},
    golden,
    hash_weights::weight,
    original_names::Tensors,
};

/// Names and shapes of tensors.
type Shapes = BTreeMap<String, Vec<usize>>;

/// Every so many values of a reference tensor are kept.
const STRIDE: usize = 5;
/// Kinds of images that a union follows.
pub const KINDS: usize = 8;

/// A T2I-Adapter: its name in the reference, the channels of a pixel, and the features of its levels.
pub const FULL: Adapter =
    Adapter { name: "full", inputs: 3 * 64, levels: &[32, 64, 64, 96], is_light: false };
/// The same for Stable Diffusion XL.
pub const WIDE: Adapter =
    Adapter { name: "wide", inputs: 3 * 256, levels: &[32, 64, 128, 128], is_light: false };
/// A light one, for images without colours.
pub const LIGHT: Adapter = Adapter { name: "light", inputs: 64, levels: &[32, 64, 64], is_light: true };

/// The shape of a T2I-Adapter.
#[derive(Debug, Clone, Copy)]
pub struct Adapter {
    /// Its name in the reference.
    pub name: &'static str,
    inputs: usize,
    levels: &'static [usize],
    is_light: bool,
}

fn made(seed: &str, shapes: Shapes) -> Result<Tensors> {
    let made = shapes.into_iter().map(|(name, shape)| {
        let values = weight(&format!("{seed}.{name}"), &shape, 1.0);
        Ok((name, Tensor::from_vec(values, shape, &Device::Cpu)?))
    });
    made.collect()
}

fn add(shapes: &mut Shapes, name: &str, shape: &[usize]) {
    shapes.insert(format!("{name}.weight"), shape.to_vec());
    shapes.insert(format!("{name}.bias"), shape[..1].to_vec());
}

/// A union, from a ControlNet for the same network.
pub fn union(net: &Tensors) -> Result<Tensors> {
    let mut shapes: Shapes =
        net.iter().map(|(name, tensor)| (name.clone(), tensor.dims().to_vec())).collect();
    let width = shapes["conv_in.weight"][0];
    let time = shapes["time_embedding.linear_2.weight"][0];
    shapes.insert("task_embedding".to_owned(), vec![KINDS, width]);
    for layer in 0..2 {
        let name = |part: &str| format!("transformer_layes.{layer}.{part}");
        shapes.insert(name("attn.in_proj_weight"), vec![3 * width, width]);
        shapes.insert(name("attn.in_proj_bias"), vec![3 * width]);
        add(&mut shapes, &name("attn.out_proj"), &[width, width]);
        add(&mut shapes, &name("ln_1"), &[width]);
        add(&mut shapes, &name("ln_2"), &[width]);
        add(&mut shapes, &name("mlp.c_fc"), &[4 * width, width]);
        add(&mut shapes, &name("mlp.c_proj"), &[width, 4 * width]);
    }
    add(&mut shapes, "spatial_ch_projs", &[width, width]);
    add(&mut shapes, "control_add_embedding.linear_1", &[time, KINDS * 256]);
    add(&mut shapes, "control_add_embedding.linear_2", &[time, time]);
    made("control_net.union", shapes)
}

impl Adapter {
    /// Its tensors in the names of diffusers.
    pub fn tensors(self) -> Result<Tensors> {
        let mut shapes = Shapes::new();
        let mut before = self.inputs;
        if !self.is_light {
            before = self.levels[0];
            add(&mut shapes, "adapter.conv_in", &[before, self.inputs, 3, 3]);
        }
        for (number, &features) in self.levels.iter().enumerate() {
            let name = |layer: &str| format!("adapter.body.{number}.{layer}");
            let (width, blocks, side) = if self.is_light { (features / 4, 4, 3) } else { (features, 2, 1) };
            if self.is_light || before != width {
                add(&mut shapes, &name("in_conv"), &[width, before, 1, 1]);
            }
            for block in 0..blocks {
                add(&mut shapes, &name(&format!("resnets.{block}.block1")), &[width, width, 3, 3]);
                add(&mut shapes, &name(&format!("resnets.{block}.block2")), &[width, width, side, side]);
            }
            if self.is_light {
                add(&mut shapes, &name("out_conv"), &[features, width, 1, 1]);
            }
            before = features;
        }
        made(&format!("t2i_adapter.{}", self.name), shapes)
    }

    /// The names in the files of the authors.
    pub fn original(self) -> Result<Tensors> {
        let renamed = |name: &str| {
            let parts: Vec<&str> = name.trim_start_matches("adapter.").split('.').collect();
            let number = |text: &str| text.parse::<usize>().unwrap_or(0);
            match parts[..] {
                ["body", level, "resnets", block, conv, kind] if self.is_light => {
                    format!("body.{level}.body.{block}.{conv}.{kind}")
                }
                ["body", level, "resnets", block, conv, kind] => {
                    format!("body.{}.{conv}.{kind}", 2 * number(level) + number(block))
                }
                ["body", level, "in_conv", kind] if !self.is_light => {
                    format!("body.{}.in_conv.{kind}", 2 * number(level))
                }
                _ => parts.join("."),
            }
        };
        Ok(self.tensors()?.into_iter().map(|(name, tensor)| (renamed(&name), tensor)).collect())
    }

    /// Writes it to a folder; its file.
    pub fn write(self, folder: &Path) -> Result<PathBuf> {
        let file = folder.join(format!("{}.safetensors", self.name));
        save(&self.tensors()?, &file)?;
        Ok(file)
    }
}

/// Writes a ControlNet of this shape for a transformer in a model's folder, which also reads a mask; its file.
pub fn write_masked(model: &Path, shape: Value) -> Result<PathBuf> {
    let steered = load(&model.join("transformer/diffusion_pytorch_model.safetensors"))?;
    let shape: NetShape = serde_json::from_value(shape)?;
    let mut shapes: Shapes = control_nets::tensors("masked", &shape, &steered)?
        .into_iter()
        .map(|(name, tensor)| (name, tensor.dims().to_vec()))
        .collect();
    // A channel, or a patch of four values; for Z-Image with the latents of the input image.
    let embedders = [
        ("pos_embed_input.proj.weight", 1),
        ("controlnet_x_embedder.weight", 4),
        ("control_all_x_embedder.2-1.weight", 4 + 4 * 16),
    ];
    let embedder = embedders.iter().find(|(name, _)| shapes.contains_key(*name));
    let (name, more) = embedder.context("there is no embedder of maps")?;
    shapes.entry((*name).to_owned()).and_modify(|shape| shape[1] += more);
    let file = model.join("masked.safetensors");
    save(&made("control_net.masked", shapes)?, &file)?;
    Ok(file)
}

/// The distance of a tensor from the kept values of the reference's.
///
/// # Errors
/// When it is more than `tolerance`.
pub fn compare(name: &str, reference: &Tensors, found: &Tensor, tolerance: f64) -> Result<f64> {
    let values = found.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()?;
    let values: Vec<f32> = values.into_iter().step_by(STRIDE).collect();
    let count = values.len();
    golden::distance(name, &reference[name], &Tensor::from_vec(values, count, &Device::Cpu)?, tolerance)
}
