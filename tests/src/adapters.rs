//! Adapters of the fixtures, in the spellings of different programs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use serde::Deserialize;

use crate::{
    checkpoint::{Run, fixtures, manifest_tensors, read_json, save},
    hash_weights,
    original_names::Tensors,
};

/// A low-rank adapter of the fixtures, and a run with it.
#[derive(Debug, Clone)]
pub struct Adapter {
    folder: PathBuf,
    /// The weight that the reference used.
    pub weight: f32,
    /// Alpha of every layer.
    pub alpha: f32,
}

#[derive(Debug, Deserialize)]
struct Numbers {
    alpha: f32,
    weight: f32,
}

/// The factors of each layer: down, up.
pub type Layers = BTreeMap<String, [Tensor; 2]>;

impl Adapter {
    /// The adapter for a family.
    pub fn new(family: &str) -> Result<Self> {
        let folder = fixtures().join("adapters").join(family);
        let manifest: BTreeMap<String, Numbers> = read_json(&folder.join("manifest.json"))?;
        let Numbers { alpha, weight } = manifest["adapter.safetensors"];
        Ok(Self { folder, weight, alpha })
    }

    /// The reference run with it.
    pub fn run(&self) -> Result<Run> {
        Run::open(&self.folder)
    }

    /// Its factors, by diffusers' layer names, with the component's name as a prefix.
    pub fn layers(&self) -> Result<Layers> {
        let tensors = manifest_tensors(&self.folder)?.remove("adapter.safetensors").context("no tensors")?;
        let names = tensors.keys().filter_map(|key| key.strip_suffix(".lora_A.weight"));
        let factor = |name: &str, letter: &str| tensors[&format!("{name}.lora_{letter}.weight")].clone();
        Ok(names.map(|name| (name.to_owned(), [factor(name, "A"), factor(name, "B")])).collect())
    }

    /// Writes it in the reference's format.
    pub fn write(&self, path: &Path) -> Result<()> {
        save(&keys(&self.layers()?, self.alpha, str::to_owned, ["lora_A", "lora_B"])?, path)
    }
}

/// The keys of layers, named by `rename`, and their alphas.
pub fn keys(
    layers: &Layers,
    alpha: f32,
    rename: impl Fn(&str) -> String,
    [down, up]: [&str; 2],
) -> Result<Tensors> {
    let mut tensors = Tensors::new();
    for (name, factors) in layers {
        let name = rename(name);
        tensors.insert(format!("{name}.{down}.weight"), factors[0].clone());
        tensors.insert(format!("{name}.{up}.weight"), factors[1].clone());
        tensors.insert(format!("{name}.alpha"), Tensor::new(alpha, &Device::Cpu)?);
    }
    Ok(tensors)
}

/// Gives all layers that are concatenated in the authors' files the first factor of the first of them, like
/// an adapter trained on concatenated layers. `joined` names the whole of each part.
pub fn shared(layers: &Layers, joined: impl Fn(&str) -> Option<String>) -> Layers {
    let mut first: BTreeMap<String, Tensor> = BTreeMap::new();
    let mut all = Layers::new();
    for (name, [down, up]) in layers {
        let down = match joined(name) {
            Some(whole) => first.entry(whole).or_insert_with(|| down.clone()).clone(),
            None => down.clone(),
        };
        all.insert(name.clone(), [down, up.clone()]);
    }
    all
}

/// Changes of a Z-Image transformer that are applied to the weights themselves: LoHa, LoKr, DoRA over outputs
/// and over inputs, and differences of a matrix, a bias and a norm.
pub fn changes_inside(dim: usize, inner: usize) -> Result<Tensors> {
    let mut tensors = Tensors::new();
    let mut add = |name: &str, shape: &[usize], scale: f32| -> Result<()> {
        let values = hash_weights::weight(&format!("changes.{name}"), shape, scale);
        let name = format!("diffusion_model.{name}");
        tensors.insert(name, Tensor::from_vec(values, shape, &Device::Cpu)?);
        Ok(())
    };
    let rank = 3;
    for side in ["w1", "w2"] {
        add(&format!("layers.0.attention.to_q.hada_{side}_a"), &[dim, rank], 1.0)?;
        add(&format!("layers.0.attention.to_q.hada_{side}_b"), &[rank, dim], 1.0)?;
    }
    add("layers.1.attention.to_out.0.lokr_w1", &[dim / 4, dim / 4], 1.0)?;
    add("layers.1.attention.to_out.0.lokr_w2_a", &[4, 2], 1.0)?;
    add("layers.1.attention.to_out.0.lokr_w2_b", &[2, 4], 0.3)?;
    for (layer, magnitude) in [("layers.0.attention.to_k", [dim, 1]), ("layers.1.attention.to_v", [1, dim])] {
        add(&format!("{layer}.lora_down.weight"), &[rank, dim], 1.0)?;
        add(&format!("{layer}.lora_up.weight"), &[dim, rank], 1.0)?;
        add(&format!("{layer}.dora_scale"), &magnitude, 1.0)?;
    }
    add("noise_refiner.0.feed_forward.w2.diff", &[dim, inner], 0.5)?;
    add("all_x_embedder.2-1.diff_b", &[dim], 1.0)?;
    add("layers.0.attention_norm1.w_norm", &[dim], 0.1)?;
    Ok(tensors)
}
