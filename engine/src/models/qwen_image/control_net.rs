//! ControlNets for Qwen-Image: networks with a few of its blocks.

use super::{PATCH, QwenImageConfig, QwenImageTransformer, pass::Trunk};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, TensorTable},
    models::{
        ControlImage, MapForm, PrepareInput, Prepared, SteeredBy,
        control_nets::{
            ControlNet, Layout, MAP_EMBEDDER, Network, Stack, Steered, check, check_map, first_branch,
            spread, tapped, taps_in,
        },
        joint::{diffusers_name, modulated},
        patches::{Channels, patchify},
    },
    nn::{Device, Result, Tensor},
    residency::{Blocks, RunError, Weights},
};

/// What the authors call the models.
const MODELS: &str = "Qwen-Image";

/// Whether tensors are those of a ControlNet for Qwen-Image.
pub fn is_control_net(tensors: &TensorTable) -> bool {
    let has = |name: &str| tensors.contains_key(name);
    has("controlnet_x_embedder.weight") && has("txt_norm.weight") && has("img_in.weight")
}

/// The network's shape. The weights come from a store.
#[derive(Debug)]
struct QwenImageControlNet {
    network: QwenImageTransformer,
    /// Whether it inpaints: its map has a channel for the mask.
    reads_mask: bool,
}

/// The ControlNet in a part of a checkpoint, for a network.
///
/// # Errors
/// When it is none that fits the network, or a tensor is missing or has another shape.
pub fn open(
    part: &Part,
    steered: &QwenImageTransformer,
) -> std::result::Result<(ControlNet, Component), CheckpointError> {
    check(part, MODELS)?;
    let own = &steered.config;
    let read =
        part.tensors.get(&format!("{MAP_EMBEDDER}.weight")).and_then(|embedder| embedder.shape().get(1));
    let with_mask = own.in_channels + PATCH * PATCH;
    let reads_mask = read == Some(&with_mask);
    if !reads_mask {
        check_map(part, own.in_channels)?;
    }
    let inputs = if reads_mask { with_mask } else { own.in_channels };
    let config = QwenImageConfig { num_layers: taps_in(&part.tensors, 0), zero_cond_t: false, ..own.clone() };
    let width = config.heads().dim();
    let first = BlockSpec::stem("map").linear(MAP_EMBEDDER, width, inputs);
    let specs = tapped(vec![first], config.blueprint(), width);
    let component =
        Component::bind(Role::Denoiser, "ControlNet", &specs, &part.tensors, diffusers_name, &part.path)?;
    let places = spread(own.num_layers, 0, config.num_layers).collect();
    let network = QwenImageTransformer::new(config, steered.scale);
    let network = QwenImageControlNet { network, reads_mask };
    Ok((ControlNet::new(network, Layout::of(&specs, places)), component))
}

impl Network for QwenImageControlNet {
    fn about(&self) -> SteeredBy {
        let reads = if self.reads_mask { MapForm::LatentsAndMask } else { MapForm::Latents };
        SteeredBy { reads, ..SteeredBy::default() }
    }

    /// It sees the prompt and never the negative one.
    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
        control: &ControlImage,
        _: &Prepared,
    ) -> std::result::Result<Prepared, RunError> {
        let mut map = None;
        blocks.walk(0..1, |_, w| {
            let patches = patchify(&control.image.to_dtype(blocks.dtype())?, PATCH, Channels::First)?;
            map = Some(w.linear(MAP_EMBEDDER, &patches)?);
            Ok(())
        })?;
        let (network, input, blocks) = (&self.network, first_branch(input), blocks.from(1));
        let modulators = |block| network.config.modulators(block);
        let embed = |w: &Weights| network.embed(w, &input, input.sigmas, blocks);
        let embedders = 1 + network.config.num_layers;
        Ok(Prepared { image: map, ..modulated(blocks, input.sigmas, embedders, modulators, embed)? })
    }

    fn begin(&self, w: &Weights, latents: &Tensor, map: &Tensor, _: &dyn Steered) -> Result<Tensor> {
        w.linear("img_in", &patchify(latents, PATCH, Channels::First)?)?.broadcast_add(map)
    }

    fn stack<'a>(
        &'a self,
        prepared: &'a Prepared,
        sigma: f32,
        latents: [usize; 2],
        device: &Device,
    ) -> Result<Box<dyn Stack + 'a>> {
        Ok(Box::new(Trunk::new(&self.network, prepared, sigma, latents, device)?))
    }
}
