//! ControlNets for Stable Diffusion 3. Those of InstantX are networks with a few of its blocks, which see no pooled prompt and
//! read maps without the shift of latents. Those of Stability for 3.5 large begin with the tokens of the network that they
//! steer, their blocks see no prompt, and their files say what they follow.

use super::{
    KERNEL, PLACES, Sd3Config, Sd3Transformer, Streams, original_names::control_net_name, pass::Trunk,
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, TensorTable},
    models::{
        Conditioning, ControlImage, MapForm, PrepareInput, Prepared, SteeredBy,
        control_nets::{ControlNet, Layout, Network, Stack, Steered, check, refused, tapped, taps_in},
        joint::{diffusers_name, prepare},
    },
    nn::{Device, Result, Tensor},
    residency::{Blocks, RunError, Weights},
};

/// What the models are called.
const MODELS: &str = "Stable Diffusion 3";
/// The kernel that converts patches of the map to tokens.
const MAP_KERNEL: &str = "pos_embed_input.proj";

/// A tensor of each block, as diffusers and as Stability call it.
const IN_BLOCKS: [&str; 2] =
    ["transformer_blocks.0.norm1.linear.weight", "transformer_blocks.0.adaLN_modulation.1.weight"];
/// The tensor in which a file of Stability says what the ControlNet follows.
const FOLLOWED: &str = "control_type";
/// What it says of Canny edges. 0 is blur.
const CANNY: u8 = 1;
/// What it says of depth maps.
const DEPTH: u8 = 2;

/// Whether tensors are those of a ControlNet for Stable Diffusion 3, in the names of diffusers or of Stability.
pub fn is_control_net(tensors: &TensorTable) -> bool {
    let has = |name: &str| tensors.contains_key(name);
    has("pos_embed_input.proj.weight") && IN_BLOCKS.into_iter().any(has)
}

/// In which form a ControlNet whose file says what it follows reads its map.
fn form_said(part: &Part) -> std::result::Result<Option<MapForm>, CheckpointError> {
    let said = part.tensors.get(FOLLOWED).filter(|said| said.elements() == 1 && !said.is_hollow());
    let Some(said) = said else { return Ok(None) };
    // An integer has no encoding as a weight. Its first byte is the lowest.
    let number = match said.encoding() {
        Some(_) => said.values()?.first().map(|value| value.round() as u8),
        None => said.read_raw()?.first().copied(),
    };
    Ok(match number {
        Some(CANNY) => Some(MapForm::WideLatents),
        Some(DEPTH) => Some(MapForm::InvertedLatents),
        _ => None,
    })
}

/// The network's shape. The weights come from a store.
#[derive(Debug)]
struct Sd3ControlNet {
    network: Sd3Transformer,
    /// Whether it embeds latents itself, with position embeddings of its own.
    embeds: bool,
    /// Whether it was trained without the pooled prompt.
    is_reduced: bool,
    /// How it reads its map.
    reads: MapForm,
}

/// The ControlNet in a part of a checkpoint, for a network.
///
/// # Errors
/// When it is none that fits the network, or a tensor is missing or has another shape.
pub fn open(
    part: &Part,
    steered: &Sd3Transformer,
) -> std::result::Result<(ControlNet, Component), CheckpointError> {
    check(part, MODELS)?;
    let has = |name: &str| part.tensors.contains_key(name);
    let shape = |name: &str| part.tensors.get(name).map_or(&[][..], |tensor| tensor.shape());
    let own = &steered.config;
    let read = shape("pos_embed_input.proj.weight").get(1).copied().unwrap_or(own.in_channels);
    let reads_mask = read == own.in_channels + 1;
    if read != own.in_channels && !reads_mask {
        let reason = format!(
            "it reads {read} channels of its map, and only those that read {} can be used, or one more for a mask",
            own.in_channels
        );
        return Err(refused(part, reason));
    }
    let layers = taps_in(&part.tensors, 0);
    let block = |index: usize, layer: &str| has(&format!("transformer_blocks.{index}.{layer}"));
    // Files may have an embedder of prompts that no block reads.
    let sees_prompt = block(0, "attn.add_q_proj.weight");
    let width = own.heads().dim();
    let places = shape(PLACES).iter().product::<usize>().checked_div(width).unwrap_or(0);
    let config = Sd3Config {
        num_layers: layers,
        dual_attention_layers: (0..layers).filter(|&index| block(index, "attn2.to_q.weight")).collect(),
        qk_norm: block(0, "attn.norm_q.weight").then(|| "rms_norm".to_owned()),
        pos_embed_max_size: places.isqrt(),
        streams: if sees_prompt { Streams::BothToTheEnd } else { Streams::Image },
        ..own.clone()
    };
    let embeds = places > 0;
    let kernel = [width, read, own.patch_size, own.patch_size];
    let map = BlockSpec::stem("map").tensor(format!("{MAP_KERNEL}.weight"), &kernel);
    let mut first = vec![map.tensor(format!("{MAP_KERNEL}.bias"), &[width])];
    if embeds {
        first.push(BlockSpec::stem("places").tensor(PLACES, &[places, width]));
    }
    let mut specs = config.blueprint();
    specs.retain(|spec| embeds || spec.name != "embedders");
    let specs = tapped(first, specs, width);
    let stored = if has(IN_BLOCKS[1]) { control_net_name } else { diffusers_name };
    let component = Component::bind(Role::Denoiser, "ControlNet", &specs, &part.tensors, stored, &part.path)?;
    // The reference counts in fractions of blocks, and adds nothing after the last one.
    let each = own.num_layers as f64 / layers.max(1) as f64;
    let place =
        |index: usize| (index + 1 < own.num_layers && layers > 0).then_some((index as f64 / each) as usize);
    let places = (0..own.num_layers).map(place).collect();
    let is_reduced =
        part.config.as_ref().and_then(|config| config.get("force_zeros_for_pooled_projection")?.as_bool());
    let is_reduced = is_reduced.unwrap_or(sees_prompt);
    // Those that were trained without the pooled prompt were so without the shift of latents.
    let reads = match (reads_mask, is_reduced) {
        (true, _) => MapForm::LatentsAndMask,
        (_, true) => MapForm::UnshiftedLatents,
        _ => form_said(part)?.unwrap_or(MapForm::Latents),
    };
    let network = Sd3Transformer::new(config, steered.scale);
    let network = Sd3ControlNet { network, embeds, is_reduced, reads };
    Ok((ControlNet::new(network, Layout::of(&specs, places)), component))
}

impl Network for Sd3ControlNet {
    fn about(&self) -> SteeredBy {
        SteeredBy { reads: self.reads, ..SteeredBy::default() }
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
        control: &ControlImage,
        _: &Prepared,
    ) -> std::result::Result<Prepared, RunError> {
        let network = &self.network;
        let mut map = None;
        blocks.walk(0..1, |_, w| {
            map = Some(network.embed(w, MAP_KERNEL, &control.image.to_dtype(blocks.dtype())?)?);
            Ok(())
        })?;
        if let (true, Some(tokens)) = (self.embeds, &mut map) {
            let rows = network.rows(input.latents.height, input.latents.width);
            *tokens = tokens.broadcast_add(&blocks.rows(1, PLACES, &rows)?.unsqueeze(0)?)?;
        }
        let seen = |branch: &Conditioning| {
            let pooled = branch.pooled.as_ref().map(|pooled| match self.is_reduced {
                true => pooled.zeros_like(),
                false => Ok(pooled.clone()),
            });
            Ok(Conditioning { pooled: pooled.transpose()?, ..branch.clone() })
        };
        let branches = input.branches.iter().map(seen).collect::<Result<Vec<_>>>()?;
        let input = PrepareInput { branches: &branches, ..input.clone() };
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0).collect();
        let modulators = |block| network.config.modulators(block);
        let first = 1 + usize::from(self.embeds);
        let embedders = 1 + network.config.num_layers;
        let prepared = prepare(blocks.from(first), &input, &times, None, embedders, modulators)?;
        Ok(Prepared { image: map, ..prepared })
    }

    fn begin(&self, w: &Weights, latents: &Tensor, map: &Tensor, steered: &dyn Steered) -> Result<Tensor> {
        match self.embeds {
            true => self.network.embed(w, KERNEL, latents)?.broadcast_add(map),
            false => steered.embedded(0)?.broadcast_add(map),
        }
    }

    fn stack<'a>(
        &'a self,
        prepared: &'a Prepared,
        sigma: f32,
        _: [usize; 2],
        _: &Device,
    ) -> Result<Box<dyn Stack + 'a>> {
        Ok(Box::new(Trunk::new(&self.network, prepared, sigma)?))
    }
}
