//! Tiny ControlNets for transformers: the shapes are those of the network that they steer, and the weights come from names, as
//! in `reference/control_nets.py`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use candle_core::{Device, Tensor};
use serde::Deserialize;

use crate::{hash_weights::weight, original_names::Tensors};

/// In what a ControlNet differs from the network that it steers.
#[derive(Debug, Clone, Deserialize)]
pub struct NetShape {
    /// Number of blocks with two streams, or of all blocks.
    num_layers: usize,
    /// Number of blocks with one stream.
    #[serde(default)]
    num_single_layers: usize,
    /// Rows of the table of kinds of maps.
    #[serde(default)]
    num_mode: usize,
    /// Channels that the pixels of a map are embedded to, if they are read.
    #[serde(default)]
    conditioning_embedding_channels: usize,
    /// Whether it has position embeddings; those of Stable Diffusion 3 that have none see no prompt either.
    #[serde(default = "yes")]
    use_pos_embed: bool,
    /// Channels of the map of one for Z-Image, if they are more than those of latents.
    #[serde(default)]
    control_in_dim: Option<usize>,
    /// Which blocks of one for Z-Image see the image before it is refined: "control_layers" or "control_noise_refiner".
    #[serde(default)]
    add_control_noise_refiner: Option<String>,
}

fn yes() -> bool {
    true
}

/// The stacks of blocks, with the layers that tap them.
const STACKS: [(&str, &str); 2] =
    [("transformer_blocks", "controlnet_blocks"), ("single_transformer_blocks", "controlnet_single_blocks")];
/// Layers of a network that its ControlNets lack.
const LEFT_OUT: [&str; 2] = ["norm_out.", "proj_out."];
/// What those lack that see no prompt: parts of names.
const OF_PROMPTS: [&str; 7] =
    ["pos_embed.", "context_embedder", "_context", "attn.add_", "attn.norm_", "to_add_out", "attn2"];

/// The names and shapes of a ControlNet for Z-Image, which shares the embedders of the network that it steers.
fn of_z_image(shape: &NetShape, steered: &Tensors, width: usize) -> BTreeMap<String, Vec<usize>> {
    let mut shapes = BTreeMap::new();
    let refiner = shape.add_control_noise_refiner.as_deref();
    let mut refiners = 0;
    for (own, tensor) in steered {
        let number = own.split('.').nth(1).and_then(|number| number.parse::<usize>().ok());
        let is_used = match own.split_once('.') {
            Some(("layers", _)) => number.is_some_and(|number| number < shape.num_layers),
            Some(("noise_refiner", _)) => refiner != Some("control_layers"),
            Some((stack, _)) => stack == "all_x_embedder",
            None => false,
        };
        if is_used {
            if own.starts_with("noise_refiner.") {
                refiners = refiners.max(number.map_or(0, |number| number + 1));
            }
            shapes.insert(format!("control_{own}"), tensor.dims().to_vec());
        }
    }
    let mut tapped = vec![("control_layers", shape.num_layers)];
    if refiner == Some("control_noise_refiner") {
        tapped.push(("control_noise_refiner", refiners));
    }
    for (stack, blocks) in tapped {
        let taps = (0..blocks).map(|block| format!("{block}.after_proj"));
        for name in taps.chain(["0.before_proj".to_owned()]) {
            shapes.insert(format!("{stack}.{name}.weight"), vec![width, width]);
            shapes.insert(format!("{stack}.{name}.bias"), vec![width]);
        }
    }
    if let Some(channels) = shape.control_in_dim {
        // Patches of two by two.
        shapes.insert("control_all_x_embedder.2-1.weight".to_owned(), vec![width, 4 * channels]);
    }
    shapes
}

/// The tensors of a ControlNet of this name for a transformer.
pub fn tensors(name: &str, shape: &NetShape, steered: &Tensors) -> Result<Tensors> {
    let dims = |name: &str| steered.get(name).map(|tensor| tensor.dims().to_vec());
    if let Some(embedder) = dims("all_x_embedder.2-1.weight") {
        return made(name, of_z_image(shape, steered, embedder[0]));
    }
    let mut shapes = BTreeMap::new();
    for (own, tensor) in steered {
        let (stack, number) = own.split_once('.').unwrap_or_default();
        let number = number.split('.').next().and_then(|number| number.parse::<usize>().ok());
        let count = match stack {
            "transformer_blocks" => shape.num_layers,
            "single_transformer_blocks" => shape.num_single_layers,
            _ => usize::MAX,
        };
        let is_of_prompt = !shape.use_pos_embed && OF_PROMPTS.iter().any(|part| own.contains(part));
        let is_left_out = is_of_prompt || LEFT_OUT.iter().any(|layer| own.starts_with(layer));
        if !is_left_out && number.is_none_or(|number| number < count) {
            shapes.insert(own.clone(), tensor.dims().to_vec());
        }
    }
    let embedders = [
        ("x_embedder.weight", "controlnet_x_embedder"),
        ("img_in.weight", "controlnet_x_embedder"),
        ("pos_embed.proj.weight", "pos_embed_input.proj"),
    ];
    let embedder = embedders.into_iter().find_map(|(own, of_map)| Some((dims(own)?, of_map)));
    let (embedder, of_map) = embedder.context("the transformer has no embedder")?;
    let width = embedder[0];
    let mut add = |name: String, shape: Vec<usize>| shapes.insert(name, shape);
    add(format!("{of_map}.weight"), embedder);
    add(format!("{of_map}.bias"), vec![width]);
    for ((_, taps), count) in STACKS.into_iter().zip([shape.num_layers, shape.num_single_layers]) {
        for number in 0..count {
            add(format!("{taps}.{number}.weight"), vec![width, width]);
            add(format!("{taps}.{number}.bias"), vec![width]);
        }
    }
    if shape.conditioning_embedding_channels > 0 {
        let blocks = (0..6).map(|layer| (format!("blocks.{layer}"), 16, 16));
        let last = ("conv_out".to_owned(), shape.conditioning_embedding_channels, 16);
        let layers = [("conv_in".to_owned(), 16, 3), last].into_iter().chain(blocks);
        for (layer, outputs, inputs) in layers {
            add(format!("input_hint_block.{layer}.weight"), vec![outputs, inputs, 3, 3]);
            add(format!("input_hint_block.{layer}.bias"), vec![outputs]);
        }
    }
    if shape.num_mode > 0 {
        add("controlnet_mode_embedder.weight".to_owned(), vec![shape.num_mode, width]);
    }
    made(name, shapes)
}

/// Weights by their names in a ControlNet.
fn made(name: &str, shapes: BTreeMap<String, Vec<usize>>) -> Result<Tensors> {
    let made = shapes.into_iter().map(|(own, shape)| {
        let values = weight(&format!("control_net.{name}.{own}"), &shape, 1.0);
        Ok((own, Tensor::from_vec(values, shape, &Device::Cpu)?))
    });
    made.collect()
}
