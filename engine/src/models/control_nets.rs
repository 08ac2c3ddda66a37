//! ControlNets for transformers (Zhang et al. 2023, arXiv:2302.05543): networks like the one that they steer, with fewer
//! blocks, which also read a map. What is tapped after each of their blocks is added after blocks of that network.

mod pass;

use std::{fmt::Debug, ops::Range, sync::Arc};

use self::pass::Pass;
use super::{
    ControlImage, DenoiserInput, PrepareInput, Prepared, SteeredBy, Steering, flux,
    modulated::within_range,
    qwen_image, sd3,
    unet::{control_net_for, union_modes, what_else},
    z_image,
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, TensorTable},
    nn::{Device, Result, Tensor, add},
    request::ControlMode,
    residency::{Blocks, RunError, Weights},
};

/// A kind of ControlNet: the models that it is for, and how it is known from the names of its tensors.
struct Kind {
    /// The name of their family.
    models: &'static str,
    is_one: fn(&TensorTable) -> bool,
    /// The kinds of maps that it has to be told apart.
    modes: fn(&TensorTable) -> &'static [ControlMode],
}

/// The embedder of maps.
pub const MAP_EMBEDDER: &str = "controlnet_x_embedder";
/// The block of a network that embeds latents.
const EMBEDDERS: &str = "embedders";
/// The layers that tap blocks, and the blocks that they tap.
const TAPS: [(&str, &str); 2] = [
    ("controlnet_blocks", "transformer_blocks."),
    ("controlnet_single_blocks", "single_transformer_blocks."),
];

/// The ControlNets for transformers that are known.
const KINDS: [Kind; 4] = [
    Kind { models: "FLUX.1", is_one: flux::is_control_net, modes: flux::control_modes },
    Kind { models: "Qwen-Image", is_one: qwen_image::is_control_net, modes: |_| &[] },
    Kind { models: "Z-Image", is_one: z_image::is_control_net, modes: |_| &[] },
    Kind { models: "Stable Diffusion 3", is_one: sd3::is_control_net, modes: |_| &[] },
];

fn kind_of(tensors: &TensorTable) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| (kind.is_one)(tensors))
}

/// The family of the models that the ControlNet in `tensors` is for, if it is one for a transformer.
pub fn steered_by(tensors: &TensorTable) -> Option<&'static str> {
    kind_of(tensors).map(|kind| kind.models)
}

/// The kinds of maps that the ControlNet in `tensors` has to be told, if it follows several.
pub fn modes_of(tensors: &TensorTable) -> &'static [ControlMode] {
    kind_of(tensors).map_or_else(|| union_modes(tensors), |kind| (kind.modes)(tensors))
}

/// Checks that a part is a ControlNet for `models`.
pub fn check(part: &Part, models: &str) -> std::result::Result<(), CheckpointError> {
    let own = steered_by(&part.tensors).map(str::to_owned);
    Err(refused(
        part,
        match own.or_else(|| control_net_for(&part.tensors)) {
            Some(own) if own == models => return Ok(()),
            Some(own) => format!("it is for {own}, and the model is {models}"),
            None => format!("it is {}", what_else(&part.tensors).unwrap_or("no ControlNet")),
        },
    ))
}

/// The error for a part that cannot be used.
pub fn refused(part: &Part, reason: String) -> CheckpointError {
    CheckpointError::ControlNet { path: part.path.clone(), reason }
}

/// Checks that its map has patches of as many values as those of latents.
pub fn check_map(part: &Part, values: usize) -> std::result::Result<(), CheckpointError> {
    let embedder = part.tensors.get(&format!("{MAP_EMBEDDER}.weight"));
    match embedder.and_then(|embedder| embedder.shape().get(1)) {
        Some(&read) if read != values => {
            let reason = format!(
                "it reads {read} values of each patch of its map, and only those that read {values} can be used: some also \
                 read a mask"
            );
            Err(refused(part, reason))
        }
        _ => Ok(()),
    }
}

/// The same input for the prompt alone.
pub fn first_branch<'a>(input: &PrepareInput<'a>) -> PrepareInput<'a> {
    PrepareInput { branches: &input.branches[..input.branches.len().min(1)], ..input.clone() }
}

/// The pass of a prediction through the blocks of a network.
pub trait Stack {
    /// Begins with tokens.
    fn begin(&mut self, tokens: Tensor) -> Result<()>;

    /// Passes a block while the network has only embedded its latents, by its number, if any are passed then.
    fn early(&mut self, _: &Weights, _number: usize, _: &dyn Steered) -> Result<()> {
        Ok(())
    }

    /// Passes a block before those that are tapped, if it does more than embed.
    fn lead(&mut self, _: &Weights, _place: usize) -> Result<()> {
        Ok(())
    }

    /// Passes a block that is tapped, by its number.
    fn block(&mut self, w: &Weights, number: usize, steered: &dyn Steered) -> Result<()>;

    /// What is tapped in a guidance branch, `[batch, tokens, width]`: tokens of the latents, or all of them.
    fn tapped(&self, branch: usize) -> Result<Tensor>;
}

/// The network of a ControlNet.
pub trait Network: Debug + Send + Sync {
    /// What has to be known to use it.
    fn about(&self) -> SteeredBy;

    /// Embeds its map, as the `image` of the result, and computes what depends only on the prompts and the noise levels.
    /// `steered` is what the network has computed that it steers.
    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
        control: &ControlImage,
        steered: &Prepared,
    ) -> std::result::Result<Prepared, RunError>;

    /// The tokens to begin with, in the first block of a step, from those of the map.
    fn begin(&self, w: &Weights, latents: &Tensor, map: &Tensor, steered: &dyn Steered) -> Result<Tensor>;

    /// A pass at a noise level through latents of this height and width.
    fn stack<'a>(
        &'a self,
        prepared: &'a Prepared,
        sigma: f32,
        latents: [usize; 2],
        device: &Device,
    ) -> Result<Box<dyn Stack + 'a>>;
}

/// How the blocks of a ControlNet are arranged: those that are needed once per run, those before the first that is tapped, and
/// then each block with the layer that taps it.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Number of the first ones.
    pub once: usize,
    /// Number of the second ones. If some come [early](Self::early), all of these do.
    pub lead: usize,
    /// The layers that tap.
    pub taps: Vec<String>,
    /// For each block of the network that it steers, the number of the tap that is added after it.
    pub places: Vec<Option<usize>>,
    /// What it passes before, if it does.
    pub early: Option<Early>,
}

/// What a ControlNet passes and taps between the first block of the network that it steers, which embeds latents, and those
/// that follow: its first blocks of a step. They may come again after those of the network.
#[derive(Debug, Clone)]
pub struct Early {
    /// Number of the blocks, without the layers that tap them.
    pub blocks: usize,
    /// The layers that tap the first of them.
    pub taps: Vec<String>,
    /// For each block of the network before those that are steered otherwise, without the first one, the number of the tap
    /// that is added after it.
    pub places: Vec<Option<usize>>,
}

impl Early {
    /// The blocks, as parts of a walk: those that are tapped with the layers that tap them, and the others alone.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let tapped = self.taps.len();
        std::iter::once(0..2 * tapped).chain((tapped..self.blocks).map(|number| 2 * number..2 * number + 1))
    }

    /// How many blocks are passed, with the layers that tap them.
    fn passes(&self) -> usize {
        self.taps.len() + self.blocks
    }
}

impl Layout {
    /// That of [tapped] blocks.
    pub fn of(specs: &[BlockSpec], places: Vec<Option<usize>>) -> Self {
        let is_tap = |spec: &&BlockSpec| TAPS.iter().any(|(taps, _)| spec.name.starts_with(taps));
        let taps: Vec<String> = specs.iter().filter(is_tap).map(|spec| spec.name.clone()).collect();
        let lead = usize::from(specs.iter().any(|spec| spec.name == EMBEDDERS));
        Self { once: specs.len().saturating_sub(2 * taps.len() + lead), lead, taps, places, early: None }
    }
}

/// A ControlNet.
#[derive(Debug, Clone)]
pub struct ControlNet {
    network: Arc<dyn Network>,
    layout: Layout,
}

impl ControlNet {
    /// A ControlNet with blocks in this layout.
    pub fn new(network: impl Network + 'static, layout: Layout) -> Self {
        Self { network: Arc::new(network), layout }
    }

    /// Number of its blocks that are needed in each step.
    fn steps(&self) -> usize {
        self.layout.lead + 2 * self.layout.taps.len()
    }

    fn blocks(&self) -> usize {
        self.layout.once + self.steps()
    }
}

/// The blocks of a ControlNet after those of `first`, from those of a network like the one that it steers: without its head,
/// and each followed by the layer that taps it, of this width.
pub fn tapped(first: Vec<BlockSpec>, specs: Vec<BlockSpec>, width: usize) -> Vec<BlockSpec> {
    let mut all = first;
    for spec in specs.into_iter().filter(|spec| !["head", "head.modulation", "places"].contains(&&*spec.name))
    {
        let tap = TAPS.iter().find_map(|(taps, blocks)| {
            let number: usize = spec.name.strip_prefix(blocks)?.parse().ok()?;
            let name = format!("{taps}.{number}");
            Some(BlockSpec::stem(&name).linear(&name, width, width))
        });
        all.push(spec);
        all.extend(tap);
    }
    all
}

/// Number of the taps of the first or the second kind of blocks.
pub fn taps_in(tensors: &TensorTable, kind: usize) -> usize {
    let (taps, _) = TAPS[kind];
    (0..).take_while(|number| tensors.contains_key(&format!("{taps}.{number}.weight"))).count()
}

/// The taps from `first` on that are added after the blocks of a network, each after as many: all but the last ones.
pub fn spread(blocks: usize, first: usize, taps: usize) -> impl Iterator<Item = Option<usize>> {
    let each = blocks.div_ceil(taps.max(1));
    (0..blocks).map(move |block| (taps > 0).then(|| first + block / each))
}

/// The taps that are added after the blocks of a network, each after one block in turn.
pub fn in_turn(blocks: usize, taps: usize) -> impl Iterator<Item = Option<usize>> {
    (0..blocks).map(move |block| block.checked_rem(taps))
}

/// What the taps of ControlNets add after the blocks of the network that they steer.
#[derive(Default)]
pub struct Residuals<'a> {
    all: Vec<Taps<'a>>,
}

struct Taps<'a> {
    places: &'a [Option<usize>],
    /// For each branch of the ControlNet, the tapped tokens.
    branches: Vec<Vec<Tensor>>,
}

impl<'a> Residuals<'a> {
    /// Adds those of another ControlNet. What is added in the same places becomes one sum.
    fn join(&mut self, taps: Taps<'a>) -> Result<()> {
        let alike =
            |own: &&mut Taps<'_>| own.places == taps.places && own.branches.len() == taps.branches.len();
        let Some(own) = self.all.iter_mut().find(alike) else {
            self.all.push(taps);
            return Ok(());
        };
        for (sums, tapped) in own.branches.iter_mut().zip(taps.branches) {
            for (sum, tapped) in sums.iter_mut().zip(tapped) {
                *sum = add(sum, &tapped)?;
            }
        }
        Ok(())
    }

    /// `x` `[batch, tokens, width]` with what is added after a block of the network to the tokens from `first` on. A
    /// ControlNet that sees only the prompt steers the negative prompt in the same way.
    pub fn added(&self, x: &Tensor, first: usize, block: usize, branch: usize) -> Result<Tensor> {
        let mut x = x.clone();
        for Taps { places, branches } in &self.all {
            let (Some(Some(tap)), Some(last)) = (places.get(block), branches.len().checked_sub(1)) else {
                continue;
            };
            let tapped = &branches[branch.min(last)][*tap];
            let (tokens, own) = (x.dim(1)?, tapped.dim(1)?);
            if own == tokens {
                x = within_range(add(&x, tapped)?)?;
                continue;
            }
            let steered = add(&x.narrow(1, first, own)?.contiguous()?, tapped)?;
            let rest = first + own;
            let before = (first > 0).then(|| x.narrow(1, 0, first)).transpose()?;
            let after = (rest < tokens).then(|| x.narrow(1, rest, tokens - rest)).transpose()?;
            let parts: Vec<Tensor> =
                before.into_iter().chain([within_range(steered)?]).chain(after).collect();
            x = Tensor::cat(&parts, 1)?;
        }
        Ok(x)
    }
}

/// The pass of a prediction through a network that ControlNets can steer.
pub trait Steered {
    /// Passes a block, by its index in the network.
    fn block(&mut self, w: &Weights, index: usize, residuals: &Residuals<'_>) -> Result<()>;

    /// The tokens of the latents in a guidance branch, before the blocks that are steered.
    fn embedded(&self, branch: usize) -> Result<Tensor>;

    /// The tokens `[1, tokens, width]` that fill up those of the latents, if there are any.
    fn padding(&self) -> Option<&Tensor> {
        None
    }
}

/// The ControlNets that steer a transformer. Their blocks come before its own.
#[derive(Debug, Clone, Default)]
pub struct ControlNets {
    all: Vec<ControlNet>,
}

impl ControlNets {
    /// Those in parts of checkpoints.
    ///
    /// # Errors
    /// When `open` refuses one.
    pub fn open(
        nets: &[&Part],
        open: impl Fn(&Part) -> std::result::Result<(ControlNet, Component), CheckpointError>,
    ) -> std::result::Result<(Self, Vec<Component>), CheckpointError> {
        let (mut all, mut components) = (Vec::new(), Vec::new());
        for part in nets {
            let (net, component) = open(part)?;
            all.push(net);
            components.push(component);
        }
        Ok((Self { all }, components))
    }

    /// What has to be known to use them.
    pub fn about(&self) -> Vec<SteeredBy> {
        self.all.iter().map(|net| net.network.about()).collect()
    }

    fn first_blocks(&self) -> impl Iterator<Item = (&ControlNet, usize)> {
        self.all.iter().scan(0, |next, net| {
            let first = *next;
            *next += net.blocks();
            Some((net, first))
        })
    }

    /// Number of their blocks.
    pub fn blocks(&self) -> usize {
        self.all.iter().map(ControlNet::blocks).sum()
    }

    /// What `own` computes once per stage from the blocks of the network, and then what each of them computes.
    pub fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
        own: impl FnOnce(Blocks<'_>) -> std::result::Result<Prepared, RunError>,
    ) -> std::result::Result<Prepared, RunError> {
        let own = own(blocks.from(self.blocks()))?;
        let mut steering = Vec::new();
        for ((net, first), control) in self.first_blocks().zip(input.controls) {
            let prepared = net.network.prepare(blocks.from(first), input, control, &own)?;
            steering.push(Steering::new(prepared, control));
        }
        Ok(Prepared { steering, ..own })
    }

    /// Walks through `own` blocks of the network, and after the first `lead` of them through those of the ControlNets that
    /// act. What these pass early comes after the first one.
    pub fn walk(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
        (own, lead): (Range<usize>, usize),
        steered: &mut dyn Steered,
    ) -> std::result::Result<(), RunError> {
        let before = self.blocks();
        let own = before + own.start..before + own.end;
        let mut passes = Vec::new();
        for ((net, first), steering) in self.first_blocks().zip(&prepared.steering) {
            if steering.acts_at(input.sigma) {
                passes.push(Pass::new(net, first, blocks, input, steering)?);
            }
        }
        if passes.is_empty() {
            let none = Residuals::default();
            return blocks.walk(own, |index, w| steered.block(w, index - before, &none));
        }
        let (embedded, rest) = (own.start + 1, own.start + lead..own.end);
        let mut parts: Vec<Range<usize>> = passes.iter().flat_map(Pass::early_parts).collect();
        if parts.is_empty() {
            parts.push(own.start..rest.start);
        } else {
            parts.insert(0, own.start..embedded);
            parts.push(embedded..rest.start);
        }
        parts.extend(passes.iter().map(Pass::blocks));
        parts.push(rest.clone());
        let (mut early, mut residuals) = (Residuals::default(), Residuals::default());
        blocks.walk_parts(&parts, |index, w| {
            if let Some(pass) = passes.iter_mut().find(|pass| pass.has(index)) {
                return pass.block(w, index, &*steered);
            }
            if index == embedded {
                passes.iter_mut().filter_map(Pass::take_early).try_for_each(|taps| early.join(taps))?;
            }
            if index < rest.start {
                return steered.block(w, index - before, &early);
            }
            if index == rest.start {
                early = Residuals::default();
                passes.drain(..).try_for_each(|pass| residuals.join(pass.into_taps()))?;
            }
            steered.block(w, index - before, &residuals)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_are_spread_over_the_blocks() {
        let places = |blocks, first, taps| spread(blocks, first, taps).collect::<Vec<_>>();
        assert_eq!(places(5, 0, 2), [Some(0), Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(places(4, 3, 4), [Some(3), Some(4), Some(5), Some(6)]);
        assert_eq!(places(3, 0, 0), [None; 3]);
        assert_eq!(in_turn(3, 2).collect::<Vec<_>>(), [Some(0), Some(1), Some(0)]);
        assert_eq!(in_turn(2, 0).collect::<Vec<_>>(), [None; 2]);
    }

    #[test]
    fn early_blocks_that_nothing_taps_come_without_a_layer_that_does() {
        let early = Early { blocks: 4, taps: vec![String::new(); 2], places: Vec::new() };
        assert_eq!(early.parts().collect::<Vec<_>>(), [0..4, 4..5, 6..7]);
        assert_eq!(early.passes(), 6);
    }
}
