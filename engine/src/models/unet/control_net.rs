//! ControlNets for UNets (Zhang et al. 2023, arXiv:2302.05543): a copy of the way down and the middle, which also reads an
//! image. What it taps of each output is added to that output in the network that it steers.

use super::{
    OriginalNames, Pass, Unet, UnetConfig, has_addition,
    nodes::{blueprint, way_down},
    t2i_adapter::t2i_adapter_for,
    union::Union,
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, StoredTensor, TensorTable},
    models::{
        ControlImage, FollowedMap, MapForm, PrepareInput, Prepared, SteeredBy, Steering,
        control_nets::steered_by,
    },
    nn::{Conv2d, Result, Tensor, bail, silu},
    residency::{Blocks, RunError, Weights},
};

/// Channels of an image.
const COLOURS: usize = 3;
/// The network that embeds the image.
const HINT: &str = "controlnet_cond_embedding";
/// What the authors' files have before all names.
const PREFIX: &str = "control_model.";
/// What else is offered as a ControlNet, by part of a name.
const OTHERS: [(&str, &str); 4] = [
    ("double_blocks.", "a ControlNet of XLabs for FLUX.1, which is built in another way"),
    ("controlnet_x_embedder", "a ControlNet for another kind of transformer"),
    (
        "pos_embed_input",
        "a ControlNet for Stable Diffusion 3 in names of its own; convert it as diffusers has it",
    ),
    ("lora_controlnet", "a control LoRA"),
];

/// The network's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct ControlNet {
    /// The way down and the middle.
    unet: Unet,
    /// Channels in the embedder of the image, each after a halving of its size but the first.
    hint: Vec<usize>,
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
        let hint = hint_channels(&tensors);
        let nodes = way_down(&config);
        let names = OriginalNames::new(&nodes);
        let original = |name: &str| match name.strip_prefix(HINT) {
            Some(rest) => StoredName::whole(original_hint(rest, hint.len())),
            None => Union::stored(name).unwrap_or_else(|| names.of(name)),
        };
        let width = config.levels.first().map_or(0, |level| level.width);
        let union = Union::of(&tensors, width);
        let mut specs = vec![hint_spec(&hint, width)];
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
            let embed = |w: &Weights, control: &ControlImage| {
                self.embed_fitting(w, &control.image.to_dtype(blocks.dtype())?, input)
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

    /// Hidden values of an image, which have to have the size of the latents.
    fn embed_fitting(&self, w: &Weights, image: &Tensor, input: &PrepareInput<'_>) -> Result<Tensor> {
        let embedded = self.embed(w, image)?;
        let (own, latents) = (embedded.dims4()?, [input.latents.height, input.latents.width]);
        if [own.2, own.3] != latents {
            bail!("the image of a ControlNet is embedded as {}×{} latents, not {latents:?}", own.2, own.3);
        }
        Ok(embedded)
    }

    /// `[1, 3, height, width]` in 0…1 to hidden values of the latents' size.
    fn embed(&self, w: &Weights, image: &Tensor) -> Result<Tensor> {
        let mut x = silu(&w.conv2d(&format!("{HINT}.conv_in"), image, Conv2d::SAME_3X3)?)?;
        for layer in 0..2 * (self.hint.len() - 1) {
            let conv = if layer % 2 == 0 { Conv2d::SAME_3X3 } else { Conv2d::HALVE_3X3 };
            x = silu(&w.conv2d(&format!("{HINT}.blocks.{layer}"), &x, conv)?)?;
        }
        w.conv2d(&format!("{HINT}.conv_out"), &x, Conv2d::SAME_3X3)
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

/// The channels in the embedder of the image.
fn hint_channels(tensors: &TensorTable) -> Vec<usize> {
    let layers = (0..).map(|layer| {
        let own = if layer == 0 { ".conv_in".to_owned() } else { format!(".blocks.{}", 2 * layer - 1) };
        let original = format!("input_hint_block.{}.weight", 4 * layer);
        tensors.get(&format!("{HINT}{own}.weight")).or_else(|| tensors.get(&original))
    });
    let channels = |tensor: &StoredTensor| tensor.shape().first().copied().unwrap_or_default();
    layers.map_while(|layer| layer.map(channels)).collect()
}

/// The embedder: a convolution, two for each further number of channels, the second of which halves the size, and one to
/// hidden values.
fn hint_spec(channels: &[usize], width: usize) -> BlockSpec {
    let [first, .., last] = channels[..] else { return BlockSpec::stem(HINT) };
    let mut spec = BlockSpec::stem(HINT).conv(&format!("{HINT}.conv_in"), first, COLOURS, 3);
    for (index, pair) in channels.windows(2).enumerate() {
        let name = |layer: usize| format!("{HINT}.blocks.{layer}");
        spec =
            spec.conv(&name(2 * index), pair[0], pair[0], 3).conv(&name(2 * index + 1), pair[1], pair[0], 3);
    }
    spec.conv(&format!("{HINT}.conv_out"), width, last, 3)
}

/// The original name of a tensor of the embedder, from what its name has after the embedder's. Activations are counted,
/// too.
fn original_hint(rest: &str, channels: usize) -> String {
    let (layer, kind) = rest.trim_start_matches('.').rsplit_once('.').unwrap_or((rest, ""));
    let number = match layer.strip_prefix("blocks.") {
        Some(number) => number.parse::<usize>().map_or(0, |number| 2 * (number + 1)),
        None if layer == "conv_out" => 2 * (2 * channels.saturating_sub(1) + 1),
        None => 0,
    };
    format!("input_hint_block.{number}.{kind}")
}
