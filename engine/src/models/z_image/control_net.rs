//! ControlNets for Z-Image: a few layers beside its own, which see the image, the caption and a map. What is tapped is added to
//! all tokens.

use super::{
    ZImageConfig, ZImageTransformer, original_name,
    pass::{rotations, with_caption},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, TensorTable},
    models::{
        Conditioning, ControlImage, MapForm, Modulation, PrepareInput, Prepared, SteeredBy,
        control_nets::{ControlNet, Layout, Network, Stack, Steered, check, refused},
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

/// The network's shape. The weights come from a store.
#[derive(Debug)]
struct ZImageControlNet {
    network: ZImageTransformer,
}

fn map_embedder(config: &ZImageConfig) -> String {
    format!("control_all_x_embedder.{}", config.patch_key())
}

/// The blocks that the noise level modulates, in the order in which they run.
fn modulated_blocks(config: &ZImageConfig) -> impl Iterator<Item = String> {
    let refiners = (0..config.n_refiner_layers).map(|index| format!("{REFINER}.{index}"));
    refiners.chain((0..config.n_layers).map(|index| format!("{LAYERS}.{index}")))
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
    let has = |name: &str| part.tensors.contains_key(name);
    let count = |stack: &str| {
        (0..).take_while(|index| has(&format!("{stack}.{index}.attention_norm1.weight"))).count()
    };
    let config = ZImageConfig { n_layers: count(LAYERS), n_refiner_layers: count(REFINER), ..own.clone() };
    let (dim, embedder) = (config.dim, map_embedder(&config));
    let read =
        part.tensors.get(&format!("{embedder}.weight")).and_then(|table| table.shape().get(1).copied());
    let sees_image = has(&format!("{REFINER}.0.before_proj.weight"));
    if config.n_refiner_layers == 0 || sees_image || read.is_some_and(|read| read != config.patch_width()) {
        let reason =
            "it is of version 2 of the unions, which also reads a mask; use one of the first version";
        return Err(refused(part, reason.to_owned()));
    }
    let modulation = modulated_blocks(&config).fold(BlockSpec::stem("modulation"), |spec, block| {
        spec.linear(&format!("{block}.adaLN_modulation.0"), 4 * dim, config.modulation_width())
    });
    let mut specs = vec![BlockSpec::stem("map").linear(&embedder, dim, config.patch_width()), modulation];
    specs.extend((0..config.n_refiner_layers).map(|index| config.block(format!("{REFINER}.{index}"))));
    let taps: Vec<String> =
        (0..config.n_layers).map(|index| format!("{LAYERS}.{index}.after_proj")).collect();
    for (index, tap) in taps.iter().enumerate() {
        let layer = config.block(format!("{LAYERS}.{index}"));
        specs.push(if index == 0 { layer.linear("before_proj", dim, dim) } else { layer });
        specs.push(BlockSpec::stem(tap).linear(tap, dim, dim));
    }
    let component =
        Component::bind(Role::Denoiser, "ControlNet", &specs, &part.tensors, original_name, &part.path)?;
    let (layers, all) = (config.n_layers, own.n_layers);
    let mut places = vec![None; all];
    for tap in 0..layers {
        places[tap * all / layers] = Some(tap);
    }
    let layout = Layout { once: 2, lead: config.n_refiner_layers, taps, places };
    let network = ZImageControlNet { network: ZImageTransformer::new(config, steered.scale) };
    Ok((ControlNet::new(network, layout), component))
}

impl Network for ZImageControlNet {
    fn about(&self) -> SteeredBy {
        SteeredBy { reads: MapForm::Latents, ..SteeredBy::default() }
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
    /// For each branch, the tokens of the map, and from the first layer on those of everything.
    streams: Vec<Tensor>,
}

impl Stack for Layers<'_> {
    fn begin(&mut self, map: Tensor) -> Result<()> {
        self.streams = vec![map; self.branches.len()];
        Ok(())
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
