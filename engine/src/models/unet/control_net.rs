//! ControlNets for UNets (Zhang et al. 2023, arXiv:2302.05543): a copy of the way down and the middle, which also reads an
//! image. What it taps of each output is added to that output in the network that it steers.

use super::{
    OriginalNames, Pass, Unet, UnetConfig, has_addition,
    nodes::{blueprint, way_down},
    t2i_adapter::t2i_adapter_for,
    union::Union,
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, TensorTable},
    models::{
        ControlImage, FollowedMap, MapForm, PrepareInput, Prepared, SteeredBy, Steering,
        control_nets::steered_by, map_embedder::MapEmbedder,
    },
    nn::{Result, Tensor, bail},
    residency::{Blocks, RunError, Weights},
};

/// The network that embeds the image.
const HINT: &str = "controlnet_cond_embedding";
/// What the authors' files have before all names.
const PREFIX: &str = "control_model.";
const OF_TRANSFORMER: &str = "a ControlNet for another kind of transformer";
/// What else is offered as a ControlNet, by part of a name.
const OTHERS: [(&str, &str); 4] = [
    ("double_blocks.", OF_TRANSFORMER),
    ("controlnet_x_embedder", OF_TRANSFORMER),
    ("pos_embed_input", OF_TRANSFORMER),
    ("lora_controlnet", "a control LoRA"),
];

/// The network's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct ControlNet {
    /// The way down and the middle.
    unet: Unet,
    /// The embedder of the image.
    hint: MapEmbedder,
    /// What it has beside that if it follows several kinds of images.
    union: Option<Union>,
}

/// What is added to the first hidden values of a ControlNet.
#[derive(Debug, Clone, Copy)]
pub enum Hint<'a> {
    /// An embedded image.
    Embedded(&'a Tensor),
    /// What a union makes of several.
    Union(&'a Union, &'a [FollowedMap]),
}

impl Hint<'_> {
    /// The first hidden values with it, at a noise level.
    pub fn added(self, w: &Weights, x: Tensor, sigma: f32) -> Result<Tensor> {
        match self {
            Self::Embedded(hint) => x.broadcast_add(hint),
            Self::Union(union, maps) => union.fused(w, x, maps, sigma),
        }
    }
}

/// Which models the ControlNet in `tensors` is for, if there is one for a UNet.
pub fn control_net_for(tensors: &TensorTable) -> Option<String> {
    is_control_net(tensors).then(|| kind_of(prompt_width(tensors)))
}

fn is_control_net(tensors: &TensorTable) -> bool {
    let has = |name: &str| tensors.contains_key(name) || tensors.contains_key(&format!("{PREFIX}{name}"));
    let has_image = has("input_hint_block.0.weight") || has(&format!("{HINT}.conv_in.weight"));
    has_image && what_else(tensors).is_none()
}

/// What tensors are that are offered as a ControlNet and can be used as none.
pub fn what_else(tensors: &TensorTable) -> Option<&'static str> {
    let has = |word: &str| tensors.keys().any(|name| name.contains(word));
    let other = OTHERS.iter().find(|(word, _)| has(word)).map(|(_, what)| *what);
    other.or_else(|| t2i_adapter_for(tensors).map(|_| "a T2I-Adapter for Stable Diffusion"))
}

impl ControlNet {
    /// The ControlNet in a part of a checkpoint, for a network.
    ///
    /// # Errors
    /// When it is none that fits the network, or a tensor is missing or has another shape.
    pub fn open(part: &Part, steered: &Unet) -> std::result::Result<(Self, Component), CheckpointError> {
        let refused = |reason: String| CheckpointError::ControlNet { path: part.path.clone(), reason };
        if !is_control_net(&part.tensors) {
            let wanted = kind_of(Some(steered.config.cross_attention_dim));
            return Err(match steered_by(&part.tensors) {
                Some(own) => refused(format!("it is for {own}, and the model is {wanted}")),
                None => refused(format!("it is {}", what_else(&part.tensors).unwrap_or("no ControlNet"))),
            });
        }
        let tensors = plain(&part.tensors);
        let config = UnetConfig { in_channels: steered.config.out_channels, ..steered.config.clone() };
        let [own, wanted] = [prompt_width(&tensors), Some(config.cross_attention_dim)];
        if own != wanted || has_addition(&tensors) != config.addition.is_some() {
            let [own, wanted] = [own, wanted].map(kind_of);
            return Err(refused(format!("it is for {own}, and the model is {wanted}")));
        }
        let width = config.levels.first().map_or(0, |level| level.width);
        let Some(hint) = MapEmbedder::of(HINT, &tensors, width) else {
            return Err(refused("it is no ControlNet".to_owned()));
        };
        let nodes = way_down(&config);
        let names = OriginalNames::new(&nodes);
        let original = |name: &str| {
            let own = hint.original(name).or_else(|| Union::stored(name));
            own.unwrap_or_else(|| names.of(name))
        };
        let union = Union::of(&tensors, width);
        let mut specs = vec![hint.added_to(BlockSpec::stem(HINT))];
        specs.extend(blueprint(&config, &nodes));
        if let Some(union) = &union {
            let Some(addition) = config.addition else {
                return Err(refused(format!("it is a union, and there are none for {}", kind_of(wanted))));
            };
            for spec in &mut specs {
                let plain = std::mem::replace(spec, BlockSpec::stem(""));
                *spec = match plain.name.as_str() {
                    HINT => union.with_kinds(plain),
                    "embedders" => union.with_embedder(plain, config.time_width(), addition.time_dim),
                    "conv_in" => union.with_layers(plain),
                    _ => plain,
                };
            }
        }
        let component =
            Component::bind(Role::Denoiser, "ControlNet", &specs, &tensors, original, &part.path)?;
        let unet = Unet { config, nodes, steerers: Vec::new(), ip_adapters: 0, ..steered.clone() };
        Ok((Self { unet, hint, union }, component))
    }

    /// What has to be known to use it.
    pub fn about(&self) -> SteeredBy {
        match &self.union {
            Some(union) => SteeredBy { reads: MapForm::PixelsWithBlack, modes: union.modes() },
            None => SteeredBy::default(),
        }
    }

    /// Number of its blocks.
    pub fn blocks(&self) -> usize {
        1 + self.unet.first_node() + self.unet.nodes.len()
    }

    /// Embeds the image, or all of them if it is a union, and computes what depends only on the prompts and the noise
    /// levels.
    pub fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
        (first, controls): (&ControlImage, &[&ControlImage]),
    ) -> std::result::Result<Steering, RunError> {
        let (mut hint, mut followed) = (None, Vec::new());
        let mut maps: Vec<Option<FollowedMap>> = Vec::new();
        blocks.walk(0..1, |_, w| {
            let latents = [input.latents.height, input.latents.width];
            let embed = |w: &Weights, control: &ControlImage| {
                self.hint.embed(w, &control.image.to_dtype(blocks.dtype())?, latents)
            };
            let Some(union) = &self.union else {
                hint = Some(embed(w, first)?);
                return Ok(());
            };
            let numbers = controls.iter().map(|control| union.number(control.mode));
            let numbers = numbers.collect::<Result<Vec<_>>>()?;
            followed = union.followed(&numbers);
            maps = vec![None; controls.len()];
            // They take turns at each layer, which is loaded once.
            w.branches(&mut maps, |w, place, map| {
                let control = controls[place];
                let embedded = embed(w, control)?;
                let token = union.token(w, &embedded, numbers[place])?;
                *map = Some(FollowedMap { embedded, token, weight: control.weight, levels: control.levels });
                Ok(())
            })
        })?;
        let prepared = self.unet.prepare_own(blocks.from(1), input, &followed)?;
        let prepared = Prepared { image: hint, ..prepared };
        Ok(Steering { maps: maps.into_iter().flatten().collect(), ..Steering::new(prepared, first) })
    }

    /// Its pass at a noise level. Its blocks begin at `first`.
    pub fn pass<'a>(&'a self, steering: &'a Steering, sigma: f32, first: usize) -> Result<Pass<'a>> {
        let pass = Pass::new(&self.unet, &steering.prepared, sigma, first + 1)?;
        if let Some(union) = &self.union {
            // What several maps tap together is not weighed again.
            let weight = if let [alone] = &steering.maps[..] { alone.weight } else { 1.0 };
            return Ok(pass.steering(Hint::Union(union, &steering.maps), weight));
        }
        let Some(hint) = &steering.prepared.image else { bail!("the image of a ControlNet is missing") };
        Ok(pass.steering(Hint::Embedded(hint), steering.weight))
    }
}

/// The tensors without what the authors' files have before all names.
fn plain(tensors: &TensorTable) -> TensorTable {
    let own = tensors.iter().filter_map(|(name, tensor)| Some((name.strip_prefix(PREFIX)?, tensor)));
    let own: TensorTable = own.map(|(name, tensor)| (name.to_owned(), tensor.clone())).collect();
    if own.is_empty() { tensors.clone() } else { own }
}

/// Width of the prompts that the network in `tensors` reads.
fn prompt_width(tensors: &TensorTable) -> Option<usize> {
    let keys = tensors.iter().find(|(name, _)| name.ends_with(".attn2.to_k.weight"));
    keys.and_then(|(_, tensor)| tensor.shape().get(1).copied())
}

/// Which models have prompts of a width.
pub(super) fn kind_of(width: Option<usize>) -> String {
    match width {
        Some(768) => "Stable Diffusion 1".to_owned(),
        Some(1024) => "Stable Diffusion 2".to_owned(),
        Some(1280) => "the refiner of Stable Diffusion XL".to_owned(),
        Some(2048) => "Stable Diffusion XL".to_owned(),
        Some(width) => format!("a model with prompts of width {width}"),
        None => "a model without prompts".to_owned(),
    }
}
