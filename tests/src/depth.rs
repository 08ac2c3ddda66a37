//! A tiny depth estimator of the fixtures, under the names of all programs.

use std::path::Path;

use anyhow::{Result, bail};
use candle_core::{Device, Tensor};

use crate::{
    checkpoint::{fixtures, manifest_tensors, save},
    hash_weights::weight,
    original_names::Tensors,
};

/// Its weights, under the names of transformers from version 5 on.
pub fn weights() -> Result<Tensors> {
    let files = manifest_tensors(&fixtures().join("depth"))?;
    let mut tensors = files.into_values().next().unwrap_or_default();
    // As in the reference, so that the last activation hides nothing.
    let Some(bias) = tensors.get_mut("head.conv3.bias") else { bail!("the fixture has no last bias") };
    *bias = (&*bias + 3.0)?;
    Ok(tensors)
}

/// The weights under the names of transformers until version 4, as published.
pub fn published(tensors: &Tensors) -> Tensors {
    let old = |name: &str| {
        name.replace("attention.q_proj", "attention.attention.query")
            .replace("attention.k_proj", "attention.attention.key")
            .replace("attention.v_proj", "attention.attention.value")
            .replace("attention.o_proj", "attention.output.dense")
    };
    tensors.iter().map(|(name, tensor)| (old(name), tensor.clone())).collect()
}

/// The weights under the names of their authors, with queries, keys and values in one matrix.
pub fn authors(tensors: &Tensors) -> Result<Tensors> {
    let mut made = Tensors::new();
    for (name, tensor) in tensors {
        if name.contains("k_proj") || name.contains("v_proj") {
            continue;
        }
        if name.contains("q_proj") {
            let other = |letter: &str| &tensors[&name.replace("q_proj", letter)];
            let joined = Tensor::cat(&[tensor, other("k_proj"), other("v_proj")], 0)?;
            made.insert(of_backbone(&name.replace("attention.q_proj", "attn.qkv")), joined);
        } else if name.starts_with("backbone.") {
            made.insert(of_backbone(name), tensor.clone());
        } else {
            made.insert(format!("depth_head.{}", of_head(name)), tensor.clone());
        }
    }
    Ok(made)
}

fn of_backbone(name: &str) -> String {
    name.replace("backbone.embeddings.cls_token", "pretrained.cls_token")
        .replace("backbone.embeddings.mask_token", "pretrained.mask_token")
        .replace("backbone.embeddings.position_embeddings", "pretrained.pos_embed")
        .replace("backbone.embeddings.patch_embeddings.projection", "pretrained.patch_embed.proj")
        .replace("backbone.encoder.layer", "pretrained.blocks")
        .replace("backbone.layernorm", "pretrained.norm")
        .replace("attention.o_proj", "attn.proj")
        .replace("layer_scale1.lambda1", "ls1.gamma")
        .replace("layer_scale2.lambda1", "ls2.gamma")
}

fn of_head(name: &str) -> String {
    let mut name = name.to_owned();
    for number in 0..4 {
        let from = |what: &str| format!("neck.{what}.{number}");
        name = name
            .replace(
                &format!("{}.projection", from("reassemble_stage.layers")),
                &format!("projects.{number}"),
            )
            .replace(
                &format!("{}.resize", from("reassemble_stage.layers")),
                &format!("resize_layers.{number}"),
            )
            .replace(&from("convs"), &format!("scratch.layer{}_rn", number + 1))
            .replace(&from("fusion_stage.layers"), &format!("scratch.refinenet{}", 4 - number));
    }
    if name.contains("refinenet") {
        return name
            .replace("projection", "out_conv")
            .replace("residual_layer", "resConfUnit")
            .replace("convolution", "conv");
    }
    name.replace("head.conv1", "scratch.output_conv1")
        .replace("head.conv2", "scratch.output_conv2.0")
        .replace("head.conv3", "scratch.output_conv2.2")
}

/// Writes the estimator to a file.
pub fn write(file: &Path) -> Result<()> {
    save(&published(&weights()?), file)
}

/// Writes an estimator whose vision transformer has the width of the small one and few layers, and thus needs more memory
/// than its head.
pub fn write_wide(file: &Path) -> Result<()> {
    const WIDTHS: [(usize, usize); 2] = [(128, 384), (512, 1536)];
    let mut wide = Tensors::new();
    for (name, tensor) in published(&weights()?) {
        if (4..8).any(|layer| name.contains(&format!("encoder.layer.{layer}."))) {
            continue;
        }
        let other =
            |side: &usize| WIDTHS.iter().find(|(own, _)| own == side).map_or(*side, |(_, wide)| *wide);
        let shape: Vec<usize> = tensor.dims().iter().map(other).collect();
        let made = Tensor::from_vec(weight(&name, &shape, 1.0), shape, &Device::Cpu)?;
        wide.insert(name, made);
    }
    save(&wide, file)
}
