//! ControlNets for Z-Image: a few layers beside its own, which see the image, the caption and a map. What is tapped is added to
//! all tokens.
//!
//! Those of version 2 of the union also see the image before its tokens are refined, and steer that: version 2.0 with the layers
//! themselves, whose result they then begin with, version 2.1 with blocks of their own. They also read a mask and the input image
//! without its masked part. As in the code of the authors (VideoX-Fun), what is added to tokens that are refined reaches the
//! network; in diffusers it is lost, because only the ControlNet sees them.

use super::{
    ZImageConfig, ZImageTransformer, original_name,
    pass::{rotations, with_caption},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, TensorTable},
    models::{
        Conditioning, ControlImage, MapForm, Modulation, PrepareInput, Prepared, SteeredBy,
        control_nets::{ControlNet, Early, Layout, Network, Stack, Steered, check, refused},
        patches::{Channels, patchify},
    },
    nn::{Device, Result, Rope, Tensor, bail},
    residency::{Blocks, RunError, Weights},
};

/// What the authors call the models.
const MODELS: &str = "Z-Image";
const LAYERS: &str = "control_layers";
const REFINER: &str = "control_noise_refiner";

/// Whether tensors are those of a ControlNet for Z-Image.
pub fn is_control_net(tensors: &TensorTable) -> bool {
    tensors.contains_key("control_layers.0.after_proj.weight")
}

/// What refines the tokens of a map before the layers see them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refiner {
    /// Blocks that see the map alone: the first version.
    Blocks,
    /// Blocks that are like the layers, and see the image, too: version 2.1.
    TappedBlocks,
    /// The layers, which see the image, but not yet the caption: version 2.0.
    Layers,
}

impl Refiner {
    /// The one in a part of a checkpoint.
    fn of(part: &Part) -> std::result::Result<Self, CheckpointError> {
        let projection = part.tensors.get(&format!("{REFINER}.0.before_proj.weight"));
        let Some(projection) = projection else {
            let has_blocks = part.tensors.contains_key(&format!("{REFINER}.0.attention_norm1.weight"));
            return Ok(if has_blocks { Self::Blocks } else { Self::Layers });
        };
        // The files of version 2.0 have blocks that were never trained and are not used. Their projections are zeros, which is
        // how diffusers tells them, too.
        let is_trained =
            projection.is_hollow() || projection.row(0)?.values()?.iter().any(|&value| value != 0.0);
        Ok(if is_trained { Self::TappedBlocks } else { Self::Layers })
    }
}

/// The network's shape. The weights come from a store.
#[derive(Debug)]
struct ZImageControlNet {
    network: ZImageTransformer,
    /// How it reads its map.
    reads: MapForm,
}

fn map_embedder(config: &ZImageConfig) -> String {
    format!("control_all_x_embedder.{}", config.patch_key())
}

/// The blocks that the noise level modulates, in the order in which they run.
fn modulated_blocks(config: &ZImageConfig) -> impl Iterator<Item = String> {
    let refiners = (0..config.n_refiner_layers).map(|index| format!("{REFINER}.{index}"));
    refiners.chain((0..config.n_layers).map(|index| format!("{LAYERS}.{index}")))
}

/// The layer that taps a block.
fn tap_of(stack: &str, index: usize) -> String {
    format!("{stack}.{index}.after_proj")
}

/// Blocks, each followed by the layer that taps it. The first one joins the map and the image.
fn tapped(config: &ZImageConfig, stack: &'static str, count: usize) -> impl Iterator<Item = BlockSpec> {
    let dim = config.dim;
    (0..count).flat_map(move |index| {
        let (block, tap) = (config.block(format!("{stack}.{index}")), tap_of(stack, index));
        let block = if index == 0 { block.linear("before_proj", dim, dim) } else { block };
        [block, BlockSpec::stem(&tap).linear(&tap, dim, dim)]
    })
}

/// The ControlNet in a part of a checkpoint, for a network.
///
/// # Errors
/// When it is none that fits the network, or a tensor is missing or has another shape.
pub fn open(
    part: &Part,
    steered: &ZImageTransformer,
) -> std::result::Result<(ControlNet, Component), CheckpointError> {
    check(part, MODELS)?;
    let own = &steered.config;
    let count = |stack: &str| {
        let has =
            |index: &usize| part.tensors.contains_key(&format!("{stack}.{index}.attention_norm1.weight"));
        (0..).take_while(has).count()
    };
    let refiner = Refiner::of(part)?;
    let refiners = if refiner == Refiner::Layers { 0 } else { count(REFINER) };
    let config = ZImageConfig { n_layers: count(LAYERS), n_refiner_layers: refiners, ..own.clone() };
    let (dim, embedder) = (config.dim, map_embedder(&config));
    let (reads, inputs) = form_of(part, &config)?;
    let modulation = modulated_blocks(&config).fold(BlockSpec::stem("modulation"), |spec, block| {
        spec.linear(&format!("{block}.adaLN_modulation.0"), 4 * dim, config.modulation_width())
    });
    let mut specs = vec![BlockSpec::stem("map").linear(&embedder, dim, inputs), modulation];
    match refiner {
        Refiner::Blocks => {
            specs.extend((0..refiners).map(|index| config.block(format!("{REFINER}.{index}"))));
        }
        Refiner::TappedBlocks => specs.extend(tapped(&config, REFINER, refiners)),
        Refiner::Layers => {}
    }
    specs.extend(tapped(&config, LAYERS, config.n_layers));
    let component =
        Component::bind(Role::Denoiser, "ControlNet", &specs, &part.tensors, original_name, &part.path)?;
    let network = ZImageControlNet { network: ZImageTransformer::new(config.clone(), steered.scale), reads };
    Ok((ControlNet::new(network, layout(refiner, &config, own)), component))
}

/// How a ControlNet of this shape reads its map, and the number of values in a patch of that.
fn form_of(part: &Part, config: &ZImageConfig) -> std::result::Result<(MapForm, usize), CheckpointError> {
    let latents = config.patch_width();
    let with_input = 2 * latents + config.patch() * config.patch();
    let embedder = part.tensors.get(&format!("{}.weight", map_embedder(config)));
    match embedder.and_then(|embedder| embedder.shape().get(1).copied()) {
        Some(read) if read == with_input => Ok((MapForm::LatentsAndInput, with_input)),
        Some(read) if read != latents => {
            let reason = format!(
                "it reads {read} values of each patch of its map, and only those that read {latents} can be used, or \
                 {with_input} with a mask"
            );
            Err(refused(part, reason))
        }
        _ => Ok((MapForm::Latents, latents)),
    }
}

/// How the blocks of a ControlNet of this shape are arranged for a network of another.
fn layout(refiner: Refiner, config: &ZImageConfig, own: &ZImageConfig) -> Layout {
    let (layers, refiners, all) = (config.n_layers, config.n_refiner_layers, own.n_layers);
    let mut places = vec![None; all];
    for tap in 0..layers {
        places[tap * all / layers] = Some(tap);
    }
    // One tap after each block that refines the tokens of the image.
    let early = |stack: &str, blocks: usize| {
        let taps: Vec<String> = (0..blocks.min(own.n_refiner_layers)).map(|tap| tap_of(stack, tap)).collect();
        let places = (0..own.n_refiner_layers).map(|block| (block < taps.len()).then_some(block)).collect();
        Some(Early { blocks, taps, places })
    };
    let (lead, early) = match refiner {
        Refiner::Blocks => (refiners, None),
        Refiner::TappedBlocks => (2 * refiners, early(REFINER, refiners)),
        Refiner::Layers => (0, early(LAYERS, layers)),
    };
    let taps = (0..layers).map(|tap| tap_of(LAYERS, tap)).collect();
    Layout { once: 2, lead, taps, places, early }
}

impl Network for ZImageControlNet {
    fn about(&self) -> SteeredBy {
        SteeredBy { reads: self.reads, ..SteeredBy::default() }
    }

    /// It sees the caption and the noise level as the network does that it steers.
    fn prepare(
        &self,
        blocks: Blocks<'_>,
        _: &PrepareInput<'_>,
        control: &ControlImage,
        steered: &Prepared,
    ) -> std::result::Result<Prepared, RunError> {
        let config = &self.network.config;
        let (mut map, mut modulations) = (None, Vec::new());
        blocks.walk(0..2, |index, w| {
            if index == 0 {
                let latents = control.image.to_dtype(blocks.dtype())?;
                map = Some(
                    w.linear(&map_embedder(config), &patchify(&latents, config.patch(), Channels::Last)?)?,
                );
                return Ok(());
            }
            let mut each = vec![Vec::new(); steered.modulations.len()];
            w.branches(&mut each, |w, level, tensors| {
                let Some(timestep) = steered.modulations[level].tensors.last() else {
                    bail!("the embedding of a noise level is missing")
                };
                for block in modulated_blocks(config) {
                    let name = format!("{block}.adaLN_modulation.0");
                    tensors.push(w.linear(&name, timestep)?.unsqueeze(1)?);
                }
                Ok(())
            })?;
            let levels = steered.modulations.iter().zip(each);
            modulations = levels.map(|(own, tensors)| Modulation { sigma: own.sigma, tensors }).collect();
            Ok(())
        })?;
        Ok(Prepared { branches: steered.branches.clone(), modulations, image: map, ..Prepared::default() })
    }

    fn begin(&self, _: &Weights, _: &Tensor, map: &Tensor, steered: &dyn Steered) -> Result<Tensor> {
        match steered.padding() {
            Some(padding) => Tensor::cat(&[map, padding], 1),
            None => Ok(map.clone()),
        }
    }

    fn stack<'a>(
        &'a self,
        prepared: &'a Prepared,
        sigma: f32,
        latents: [usize; 2],
        device: &Device,
    ) -> Result<Box<dyn Stack + 'a>> {
        let grid = latents.map(|side| side / self.network.config.patch());
        Ok(Box::new(Layers {
            network: &self.network,
            branches: &prepared.branches,
            rotations: rotations(&self.network, &prepared.branches, grid, device)?,
            modulation: prepared.modulation(sigma)?,
            streams: Vec::new(),
        }))
    }
}

/// A pass through the layers.
struct Layers<'a> {
    network: &'a ZImageTransformer,
    branches: &'a [Conditioning],
    rotations: Vec<[Rope; 2]>,
    modulation: &'a [Tensor],
    /// For each branch, the tokens of the map, perhaps joined with those of the image, and from the first layer after the
    /// refining on those of everything.
    streams: Vec<Tensor>,
}

impl Stack for Layers<'_> {
    fn begin(&mut self, map: Tensor) -> Result<()> {
        self.streams = vec![map; self.branches.len()];
        Ok(())
    }

    /// The blocks come in the order of their modulations: the first of all, or the layers if there are no others.
    fn early(&mut self, w: &Weights, number: usize, steered: &dyn Steered) -> Result<()> {
        let Self { network, rotations, modulation, .. } = self;
        w.branches(&mut self.streams, |w, branch, x| {
            if number == 0 {
                let own = w.linear("before_proj", x)?;
                *x = steered.embedded(branch)?.broadcast_add(&own)?;
            }
            *x = network.block(w, x, &rotations[branch][0], Some(&modulation[number]))?;
            Ok(())
        })
    }

    fn lead(&mut self, w: &Weights, place: usize) -> Result<()> {
        let Self { network, rotations, modulation, .. } = self;
        w.branches(&mut self.streams, |w, branch, x| {
            *x = network.block(w, x, &rotations[branch][0], Some(&modulation[place]))?;
            Ok(())
        })
    }

    fn block(&mut self, w: &Weights, number: usize, steered: &dyn Steered) -> Result<()> {
        let Self { network, branches, rotations, modulation, .. } = self;
        let modulation = &modulation[network.config.n_refiner_layers + number];
        w.branches(&mut self.streams, |w, branch, x| {
            if number == 0 {
                let own = w.linear("before_proj", &with_caption(x, &branches[branch])?)?;
                *x = with_caption(&steered.embedded(branch)?, &branches[branch])?.broadcast_add(&own)?;
            }
            *x = network.block(w, x, &rotations[branch][1], Some(modulation))?;
            Ok(())
        })
    }

    fn tapped(&self, branch: usize) -> Result<Tensor> {
        match self.streams.get(branch) {
            Some(x) => Ok(x.clone()),
            None => bail!("there is nothing to tap yet"),
        }
    }
}
