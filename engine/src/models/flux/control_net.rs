//! ControlNets for FLUX.1: networks with a few of its blocks. Those that follow several kinds of maps read a token for the
//! kind before the prompt. Those of XLabs read the pixels of a map through a small network of their own, and what they tap is
//! added after the double blocks in turn.

use super::{FluxConfig, FluxTransformer, PATCH, original_name, pass::Trunk};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    models::{
        Conditioning, ControlImage, MapForm, PrepareInput, Prepared, SteeredBy,
        control_nets::{
            ControlNet, Layout, MAP_EMBEDDER, Network, Stack, Steered, check, check_map, first_branch,
            in_turn, spread, tapped, taps_in,
        },
        joint::{diffusers_name, prepare},
        map_embedder::MapEmbedder,
        patches::{Channels, patchify},
    },
    nn::{Device, Result, Tensor, bail},
    request::ControlMode,
    residency::{Blocks, RunError, Weights},
};

/// What the authors call the models.
const MODELS: &str = "FLUX.1";
/// What embeds the pixels of maps in ControlNets of XLabs.
const HINT: &str = "input_hint_block";
/// What XLabs call the embedder of what that gives.
const XLABS_MAP_EMBEDDER: &str = "pos_embed_input";
const GUIDANCE_EMBEDDER: &str = "time_text_embed.guidance_embedder.linear_1.weight";
/// The table of tokens for kinds of maps.
const MODE_EMBEDDER: &str = "controlnet_mode_embedder.weight";
/// The kinds of maps, in the order of the table. Tables of some files have more rows than there are kinds.
pub const MODES: [ControlMode; 7] = [
    ControlMode::Canny,
    ControlMode::Tile,
    ControlMode::Depth,
    ControlMode::Blur,
    ControlMode::Pose,
    ControlMode::Gray,
    ControlMode::LowQuality,
];

/// Whether tensors are those of a ControlNet for FLUX.1, in the names of diffusers or of XLabs.
pub fn is_control_net(tensors: &TensorTable) -> bool {
    let has = |names: [&str; 3]| names.iter().all(|name| tensors.contains_key(*name));
    has(["controlnet_x_embedder.weight", "context_embedder.weight", "x_embedder.weight"])
        || has(["pos_embed_input.weight", "input_hint_block.0.weight", "double_blocks.0.img_mod.lin.weight"])
}

/// The kinds of maps that the ControlNet in `tensors` has to be told, if it follows several.
pub fn control_modes(tensors: &TensorTable) -> &'static [ControlMode] {
    let rows = tensors.get(MODE_EMBEDDER).and_then(|table| table.shape().first().copied()).unwrap_or(0);
    &MODES[..rows.min(MODES.len())]
}

/// The network's shape. The weights come from a store.
#[derive(Debug)]
struct FluxControlNet {
    network: FluxTransformer,
    /// The kinds of maps that it can be told.
    modes: &'static [ControlMode],
    /// What embeds the pixels of its map, in those of XLabs; others read latents.
    hint: Option<MapEmbedder>,
}

/// The ControlNet in a part of a checkpoint, for a network.
///
/// # Errors
/// When it is none that fits the network, or a tensor is missing or has another shape.
pub fn open(
    part: &Part,
    steered: &FluxTransformer,
) -> std::result::Result<(ControlNet, Component), CheckpointError> {
    check(part, MODELS)?;
    let own = &steered.config;
    let latents = own.outputs();
    check_map(part, latents)?;
    let has = |name: &str| part.tensors.contains_key(name);
    let config = FluxConfig {
        in_channels: latents,
        out_channels: None,
        num_layers: taps_in(&part.tensors, 0),
        num_single_layers: taps_in(&part.tensors, 1),
        guidance_embeds: has(GUIDANCE_EMBEDDER) || has(&original_name(GUIDANCE_EMBEDDER).name),
        ..own.clone()
    };
    let width = config.heads().dim();
    let hint = MapEmbedder::of(HINT, &part.tensors, own.latent_channels());
    let map = BlockSpec::stem("map");
    let map = if let Some(hint) = &hint { hint.added_to(map) } else { map };
    let mut first = vec![map.linear(MAP_EMBEDDER, width, latents)];
    if let Some(&[rows, _]) = part.tensors.get(MODE_EMBEDDER).map(|table| table.shape()) {
        first.push(BlockSpec::stem("modes").tensor(MODE_EMBEDDER, &[rows, width]));
    }
    let specs = tapped(first, config.blueprint(), width);
    let stored = |name: &str| stored_name(hint.as_ref(), name);
    let component = Component::bind(Role::Denoiser, "ControlNet", &specs, &part.tensors, stored, &part.path)?;
    let (double, single) = (config.num_layers, config.num_single_layers);
    let mut places: Vec<Option<usize>> = match hint {
        Some(_) => in_turn(own.num_layers, double).collect(),
        None => spread(own.num_layers, 0, double).collect(),
    };
    places.extend(spread(own.num_single_layers, double, single));
    let network = FluxTransformer::new(config, steered.scale);
    let network = FluxControlNet { network, modes: control_modes(&part.tensors), hint };
    Ok((ControlNet::new(network, Layout::of(&specs, places)), component))
}

/// The name of a tensor in files: XLabs' one if the ControlNet has their embedder of pixels.
fn stored_name(hint: Option<&MapEmbedder>, name: &str) -> StoredName {
    let Some(hint) = hint else { return diffusers_name(name) };
    hint.original(name).unwrap_or_else(|| match name.strip_prefix(MAP_EMBEDDER) {
        Some(rest) => StoredName::whole(format!("{XLABS_MAP_EMBEDDER}{rest}")),
        None => original_name(name),
    })
}

impl FluxControlNet {
    /// The token for a kind of maps, `[1, 1, width]`, from the table in the block after that of the map.
    fn token(&self, blocks: Blocks<'_>, mode: Option<ControlMode>) -> std::result::Result<Tensor, RunError> {
        let number = || match self.modes.iter().position(|known| Some(*known) == mode) {
            Some(number) => Ok(number as u32),
            None => bail!("a ControlNet was not told the kind of its map"),
        };
        Ok(blocks.rows(1, MODE_EMBEDDER, &[number()?])?.unsqueeze(0)?)
    }
}

impl Network for FluxControlNet {
    fn about(&self) -> SteeredBy {
        let reads = if self.hint.is_some() { MapForm::PixelsWithBlack } else { MapForm::Latents };
        SteeredBy { reads, modes: self.modes }
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
            let read = match &self.hint {
                Some(hint) => {
                    // The embedder is trained on pixels in −1…1.
                    let pixels = control.image.affine(2.0, -1.0)?.to_dtype(blocks.dtype())?;
                    hint.embed(w, &pixels, [input.latents.height, input.latents.width])?
                }
                None => control.image.to_dtype(blocks.dtype())?,
            };
            map = Some(w.linear(MAP_EMBEDDER, &patchify(&read, PATCH, Channels::First)?)?);
            Ok(())
        })?;
        let token = if self.modes.is_empty() { None } else { Some(self.token(blocks, control.mode)?) };
        let config = &self.network.config;
        let input = first_branch(input);
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let guidance = config.guidance_embeds.then_some(input.guidance * 1000.0);
        let modulators = |block| config.modulators(block);
        let (first, embedders) = (1 + usize::from(token.is_some()), 1 + config.blocks());
        let mut prepared = prepare(blocks.from(first), &input, &times, guidance, embedders, modulators)?;
        if let Some(token) = token {
            let with_token =
                |branch: &Conditioning| Ok(Conditioning::new(Tensor::cat(&[&token, &branch.prompt], 1)?));
            prepared.branches = prepared.branches.iter().map(with_token).collect::<Result<_>>()?;
        }
        Ok(Prepared { image: map, ..prepared })
    }

    fn begin(&self, w: &Weights, latents: &Tensor, map: &Tensor, _: &dyn Steered) -> Result<Tensor> {
        w.linear("x_embedder", &patchify(latents, PATCH, Channels::First)?)?.broadcast_add(map)
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
