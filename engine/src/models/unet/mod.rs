//! The UNet of Stable Diffusion (Rombach et al. 2022, arXiv:2112.10752) and of Stable Diffusion XL (Podell et al. 2023,
//! arXiv:2307.01952).
//!
//! On the way down, residual blocks and spatial transformers halve the resolution level by level. On the way
//! up, each residual block also reads the output of one on the way down. The timestep is added in the middle
//! of every residual block, and every transformer block attends to the prompt; their projections of both are
//! computed once per run.

mod config;
mod control_net;
mod ip_adapter;
mod nodes;
mod original_names;
mod pass;
mod published;
mod shapes;
mod steerer;
mod t2i_adapter;
mod trained;
mod union;

use std::{ops::Range, sync::Arc};

pub use self::{
    config::{Addition, Level, UnetConfig},
    control_net::{control_net_for, what_else},
    ip_adapter::ip_adapter_for,
    t2i_adapter::t2i_adapter_for,
    trained::{has_table, trained},
    union::union_modes,
};
use self::{
    nodes::{Kind, Node, blueprint, nodes},
    original_names::OriginalNames,
    pass::Pass,
    steerer::Steerer,
};
use super::{
    Conditioning, Denoiser, DenoiserInput, LatentShape, Modulation, PrepareInput, Prepared,
    denoiser::{SteeredBy, negative_first},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, TensorTable},
    nn::{DType, Result, Tensor, Waves, bail, silu, waves},
    request::{Canvas, ControlMode},
    residency::{Blocks, RunError, Weights},
    sampling::{Discrete, PredictionType, variance_preserving},
    text::Encoded,
};

/// Aesthetic scores, for networks conditioned on them (Podell et al. 2023): with the prompt, and with the
/// negative prompt.
const AESTHETIC_SCORES: [f32; 2] = [6.0, 2.5];

/// The network's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct Unet {
    config: UnetConfig,
    nodes: Vec<Node>,
    training: Discrete,
    /// Pixels per latent, along one side.
    scale: usize,
    /// Whether it was trained with zeros in place of a missing prompt.
    has_zeros_for_none: bool,
    /// What steers it.
    steerers: Vec<Steerer>,
    /// Through how many IP-Adapters it reads images.
    ip_adapters: usize,
}

/// Finds every tensor of a network, by diffusers' names or the original ones.
pub fn open(
    part: &Part,
    architecture: &'static str,
) -> std::result::Result<(UnetConfig, Component), CheckpointError> {
    let config = part.config(UnetConfig::from_shapes)?;
    config.check(part)?;
    let nodes = nodes(&config);
    let names = OriginalNames::new(&nodes);
    let component = Component::bind(
        Role::Denoiser,
        architecture,
        &blueprint(&config, &nodes),
        &part.tensors,
        |name| names.of(name),
        &part.path,
    )?;
    Ok((config, component))
}

/// Whether tensors are those of a UNet, which has a way up. Other networks share its way down.
pub fn is_unet(tensors: &TensorTable) -> bool {
    let has = |names: [&str; 2]| names.iter().all(|name| tensors.contains_key(*name));
    has(["input_blocks.1.0.in_layers.2.weight", "output_blocks.0.0.in_layers.2.weight"])
        || has(["down_blocks.0.resnets.0.time_emb_proj.weight", "up_blocks.0.resnets.0.time_emb_proj.weight"])
}

/// Whether residual blocks of the network in `tensors` have inputs besides the timestep.
pub fn has_addition(tensors: &TensorTable) -> bool {
    ["label_emb.0.0.weight", "add_embedding.linear_1.weight"].iter().any(|name| tensors.contains_key(*name))
}

impl UnetConfig {
    /// The blocks of weights.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        blueprint(self, &nodes(self))
    }
}

impl Denoiser for Unet {
    /// The network takes any size: upsampled values are cropped to the size of what was kept.
    fn size_multiple(&self) -> u32 {
        self.scale as u32
    }

    fn channels_beside(&self) -> usize {
        self.config.in_channels.saturating_sub(self.config.out_channels)
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.out_channels, height, width)
    }

    /// Concatenates the hidden states of all encoders, with the pooled output of the last.
    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        let states: Vec<&Tensor> = encoded.iter().map(|encoded| &encoded.states).collect();
        let prompt = if let [only] = states[..] { only.clone() } else { Tensor::cat(&states, 1)? };
        let last = encoded.into_iter().next_back().filter(|_| self.config.addition.is_some());
        Ok(Conditioning { pooled: last.and_then(|last| last.pooled), ..Conditioning::new(prompt) })
    }

    fn without_prompt(&self, empty: Conditioning) -> Result<Conditioning> {
        if !self.has_zeros_for_none {
            return Ok(empty);
        }
        let Conditioning { prompt, pooled, .. } = empty;
        let pooled = pooled.map(|pooled| pooled.zeros_like()).transpose()?;
        Ok(Conditioning { pooled, ..Conditioning::new(prompt.zeros_like()?) })
    }

    fn control_modes(&self) -> &'static [ControlMode] {
        if self.config.addition.is_some() { &union::MODES } else { &[] }
    }

    fn control_nets(&self) -> Option<Vec<SteeredBy>> {
        Some(Steerer::about_all(&self.steerers))
    }

    fn controlled_by(
        &self,
        nets: &[&Part],
    ) -> std::result::Result<(Arc<dyn Denoiser>, Vec<Component>), CheckpointError> {
        let (steerers, components) = Steerer::open(nets, self)?;
        Ok((Arc::new(Self { steerers, ..self.clone() }), components))
    }

    fn ip_adapters(&self) -> Option<usize> {
        Some(self.ip_adapters)
    }

    fn with_ip_adapters(
        &self,
        adapters: &[&Part],
    ) -> std::result::Result<(Arc<dyn Denoiser>, Vec<Component>), CheckpointError> {
        let components = adapters
            .iter()
            .map(|part| ip_adapter::open(part, self))
            .collect::<std::result::Result<_, _>>()?;
        Ok((Arc::new(Self { ip_adapters: adapters.len(), ..self.clone() }), components))
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let mut steering = Vec::new();
        // Nothing steers it without maps, such as in the boxes of a detailer.
        let steerers = if input.controls.is_empty() { &[][..] } else { &self.steerers[..] };
        for (steerer, first) in steerers.iter().zip(self.first_blocks()) {
            steering.push(steerer.prepare(blocks.from(first), input)?);
        }
        let (steered, adapter) = (self.steered_blocks(), ip_adapter::blocks(self));
        let mut images = Vec::new();
        for (number, tokens) in input.image_tokens.iter().take(self.ip_adapters).enumerate() {
            images.push(ip_adapter::prepare(self, blocks.from(steered + number * adapter), tokens)?);
        }
        Ok(Prepared { steering, images, ..self.prepare_own(blocks.from(self.own_blocks()), input, &[])? })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let latents = self.scaled_latents(input, blocks.dtype())?;
        let (mut nets, mut features) = (Vec::new(), Vec::new());
        for ((steerer, steering), first) in
            self.steerers.iter().zip(&prepared.steering).zip(self.first_blocks())
        {
            if steering.acts_at(input.sigma) {
                nets.extend(steerer.pass(steering, input.sigma, first)?);
                features.push(&steering.features[..]);
            }
        }
        let own = Pass::new(self, prepared, input.sigma, self.own_blocks())?;
        let mut own = own.with_features(features);
        let parts: Vec<Range<usize>> = nets.iter().chain([&own]).map(Pass::blocks).collect();
        blocks.walk_parts(&parts, |index, w| {
            if let Some(net) = nets.iter_mut().find(|net| net.blocks().contains(&index)) {
                return net.node(w, index, || Ok(latents.clone()));
            }
            if index == own.blocks().start {
                own.follow(&mut nets)?;
            }
            own.node(w, index, || self.with_others(&latents, input.beside))
        })?;
        Ok(own.into_outputs())
    }

    /// The network's prediction of the noise.
    fn velocity(&self, input: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        match self.training.prediction() {
            PredictionType::Epsilon => Ok(output.clone()),
            PredictionType::VPrediction => {
                // Summed from the smallest value on: at high noise levels, nearly all of it is noise.
                let share = variance_preserving(input.sigma);
                let noise = (input.latents / f64::from(input.sigma))?;
                ((output - (&noise * share)?)? * share)? + noise
            }
        }
    }

    fn recorded(&self, outputs: &[Tensor]) -> Result<Vec<(String, Tensor)>> {
        Ok(vec![("unet.0.out.0".to_owned(), negative_first(outputs)?)])
    }
}

impl Unet {
    /// A network with this shape that was trained on these noise levels. Each latent covers `scale` by
    /// `scale` pixels. `has_zeros_for_none` says whether a missing prompt is zeros rather than the encoders'
    /// output for an empty one.
    pub fn new(config: UnetConfig, training: Discrete, scale: usize, has_zeros_for_none: bool) -> Self {
        let nodes = nodes(&config);
        Self { config, nodes, training, scale, has_zeros_for_none, steerers: Vec::new(), ip_adapters: 0 }
    }

    /// Index of the block of the first node. All blocks before it are needed once per run.
    fn first_node(&self) -> usize {
        let transformers = self.nodes.iter().filter(|node| matches!(node.kind, Kind::Transformer { .. }));
        1 + transformers.count()
    }

    fn resnets(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| matches!(node.kind, Kind::Resnet { .. }))
    }

    /// Latents scaled to variance one.
    fn scaled_latents(&self, input: &DenoiserInput<'_>, dtype: DType) -> Result<Tensor> {
        (input.latents * variance_preserving(input.sigma))?.to_dtype(dtype)
    }

    /// The network's input. For networks trained to inpaint, a mask that covers the whole image is added to the latents
    /// if nothing else is.
    fn with_others(&self, latents: &Tensor, beside: Option<&Tensor>) -> Result<Tensor> {
        let (batch, channels, height, width) = latents.dims4()?;
        if self.config.in_channels <= channels {
            return Ok(latents.clone());
        }
        let dtype = latents.dtype();
        if let Some(beside) = beside {
            return Tensor::cat(&[latents, &beside.to_dtype(dtype)?], 1);
        }
        let mask = Tensor::ones((batch, 1, height, width), dtype, &latents.device())?;
        let others = self.config.in_channels - channels - 1;
        let masked_image = Tensor::zeros((batch, others, height, width), dtype, &latents.device())?;
        Tensor::cat(&[latents.clone(), mask, masked_image], 1)
    }

    /// What the network itself computes once per stage: see [`Denoiser::prepare`]. `followed` says which kinds of maps a
    /// union follows.
    fn prepare_own(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
        followed: &[f32],
    ) -> std::result::Result<Prepared, RunError> {
        let mut modulations: Vec<Modulation> =
            input.sigmas.iter().map(|&sigma| Modulation { sigma, tensors: Vec::new() }).collect();
        let mut seen: Vec<Vec<[Tensor; 2]>> = vec![Vec::new(); input.branches.len()];
        blocks.walk(0..self.first_node(), |index, w| {
            if index == 0 {
                let emb = self.embed_conditions(w, (input, followed), blocks)?;
                for node in self.resnets() {
                    let all = w.linear(&format!("{}.time_emb_proj", node.name), &emb)?;
                    for (level, modulation) in modulations.iter_mut().enumerate() {
                        modulation.tensors.push(all.get(level)?);
                    }
                }
                return Ok(());
            }
            let prompts = input.branches.iter().map(|branch| &branch.prompt);
            let both = ip_adapter::keys_and_values(w, ["to_k", "to_v"], prompts)?;
            seen.iter_mut().zip(both).for_each(|(seen, both)| seen.push(both));
            Ok(())
        })?;
        Ok(Prepared { branches: input.branches.to_vec(), modulations, seen, ..Prepared::default() })
    }

    /// The first block of each network that steers it, whose blocks come before all others.
    fn first_blocks(&self) -> impl Iterator<Item = usize> + '_ {
        self.steerers.iter().scan(0, |next, steerer| {
            let first = *next;
            *next += steerer.blocks();
            Some(first)
        })
    }

    /// The blocks of the networks that steer it. Those of its IP-Adapters follow.
    fn steered_blocks(&self) -> usize {
        self.steerers.iter().map(Steerer::blocks).sum()
    }

    /// The first of the network's own blocks.
    fn own_blocks(&self) -> usize {
        self.steered_blocks() + self.ip_adapters * ip_adapter::blocks(self)
    }

    /// The embedding that residual blocks project: timestep, pooled prompt and sizes combined, `[noise
    /// levels, branches, width]`, or one branch if it is the same for all.
    fn embed_conditions(
        &self,
        w: &Weights,
        (input, followed): (&PrepareInput<'_>, &[f32]),
        blocks: Blocks<'_>,
    ) -> Result<Tensor> {
        let (config, device) = (&self.config, &blocks.device());
        let mlp = |name: &str, x: &Tensor| {
            let h = silu(&w.linear(&format!("{name}.linear_1"), x)?)?;
            w.linear(&format!("{name}.linear_2"), &h)
        };
        let described = |numbers: &[f32], width: usize| {
            let spaced = (width / 2) as f64 - config.freq_shift;
            let kind = Waves { width, spaced, cosines_first: config.flip_sin_to_cos };
            waves(numbers, kind, device)?.to_dtype(blocks.dtype())
        };
        let times: Vec<f32> = input.sigmas.iter().map(|&sigma| self.training.timestep(sigma)).collect();
        let width = config.levels.first().map_or(0, |level| level.width);
        let mut emb = mlp("time_embedding", &described(&times, width)?)?.unsqueeze(1)?;
        let Some(Addition { time_dim, inputs }) = config.addition else { return silu(&emb) };
        if !followed.is_empty() {
            let kinds = described(followed, time_dim)?.flatten_all()?.unsqueeze(0)?;
            emb = emb.broadcast_add(&mlp(union::FOLLOWED, &kinds)?.unsqueeze(0)?)?;
        }
        let mut rows = Vec::new();
        for (place, branch) in input.branches.iter().enumerate() {
            let Some(pooled) = &branch.pooled else { bail!("a pooled prompt is missing") };
            let count = inputs.saturating_sub(pooled.dim(0)?) / time_dim;
            let sizes = sizes(input.pixels, count, place);
            rows.push(Tensor::cat(&[pooled, &described(&sizes, time_dim)?.flatten_all()?], 0)?);
        }
        silu(&emb.broadcast_add(&mlp("add_embedding", &Tensor::stack(&rows, 0)?)?.unsqueeze(0)?)?)
    }
}

/// The image size that Stable Diffusion XL is conditioned on, each by height and width: original size, crop
/// position and target size. If `count` is 5, the aesthetic score replaces the target size.
fn sizes([height, width]: [usize; 2], count: usize, branch: usize) -> Vec<f32> {
    let size = [height as f32, width as f32];
    let end = if count == 5 { &AESTHETIC_SCORES[branch.min(1)..][..1] } else { &size[..] };
    [&size[..], &[0.0, 0.0], end].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(blocks: &[BlockSpec]) -> u64 {
        let tensors = blocks.iter().flat_map(|block| &block.tensors);
        tensors.map(|(_, shape)| shape.iter().product::<usize>() as u64).sum()
    }

    fn xl() -> UnetConfig {
        let level =
            |width, depth| Level { width, heads: width / 64, down: vec![depth; 2], up: vec![depth; 3] };
        UnetConfig {
            levels: vec![level(320, 0), level(640, 2), level(1280, 10)],
            middle: Some(10),
            cross_attention_dim: 2048,
            addition: Some(Addition { time_dim: 256, inputs: 2816 }),
            ..UnetConfig::default()
        }
    }

    /// A slot for streamed blocks is as large as the largest of them.
    #[test]
    fn blocks_are_no_larger_than_a_residual_block() {
        let sizes: Vec<u64> =
            xl().blueprint().iter().map(|block| weights(std::slice::from_ref(block))).collect();
        assert_eq!(sizes.len(), 1 + 70 + 70 + 17 + 2 + 2 + 2);
        assert_eq!(sizes.iter().max(), Some(&47_525_120));
    }

    #[test]
    fn sizes_are_told_by_height_and_width() {
        assert_eq!(sizes([768, 1024], 6, 1), [768.0, 1024.0, 0.0, 0.0, 768.0, 1024.0]);
        assert_eq!(sizes([768, 1024], 5, 0), [768.0, 1024.0, 0.0, 0.0, 6.0]);
        assert_eq!(sizes([768, 1024], 5, 1), [768.0, 1024.0, 0.0, 0.0, 2.5]);
    }
}
