//! The networks of Stable Cascade: ConvNeXt blocks, modulation by the timestep and attention, level by level down and up.
//!
//! Values are tokens `[batch, height · width, channels]` throughout, so that norms and linear layers need no transposition.

use std::ops::Range;

use super::config::{CascadeConfig, Layer, Node};
use crate::{
    checkpoint::{CheckpointError, Component, Part, Role, StoredName},
    models::{
        Conditioning, Denoiser, DenoiserInput, LatentShape, Modulation, PrepareInput, Prepared,
        denoiser::negative_first,
    },
    nn::{
        DType, Mask, Result, Tensor, Waves, add, attention, bail, depthwise, gelu, layer_norm, linear,
        response_norm, scale_and_shift, silu, waves,
    },
    request::{Canvas, Request},
    residency::{Blocks, RunError, Weights},
    sampling::Cosine,
    text::Encoded,
};

/// Added to the variance in every norm.
const EPS: f64 = 1e-6;
/// The factor from times to the positions that are embedded.
const POSITIONS: f32 = 10_000.0;

/// How sizes of images, of the prior's latents and of the decoder's are related.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sides {
    /// Pixels per latent of the prior.
    pub prior: f64,
    /// Latents of the decoder per latent of the prior.
    pub decoder: f64,
    /// Pixels per latent of the decoder.
    pub scale: usize,
    /// Latents of the decoder of which there must be a multiple.
    pub multiple: usize,
}

impl Sides {
    /// Latents of the prior and of the decoder along a side of this many pixels.
    pub fn of(self, pixels: u32) -> [usize; 2] {
        let prior = (f64::from(pixels) / self.prior).ceil();
        [prior as usize, (prior * self.decoder) as usize]
    }

    /// The smallest side of which all multiples come out as they are asked for.
    pub fn size_multiple(self) -> u32 {
        let unit = (self.scale * self.multiple).max(1) as u32;
        let is_exact = |pixels: u32| self.of(pixels)[1] * self.scale == pixels as usize;
        let mut candidates = (1..=64).map(|times| unit * times);
        candidates.find(|side| (1..=8).all(|times| is_exact(side * times))).unwrap_or(unit)
    }
}

/// The network's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct CascadeUnet {
    config: CascadeConfig,
    nodes: Vec<Node>,
    /// The blocks that a prediction goes through.
    parts: Vec<Range<usize>>,
    cosine: Cosine,
    sides: Sides,
}

/// The state of one guidance branch in the network.
struct Branch {
    /// Tokens `[batch, height · width, channels]`.
    x: Tensor,
    height: usize,
    width: usize,
    /// What the higher levels made on the way down.
    kept: Vec<Tensor>,
}

/// Finds every tensor of a network, by diffusers' names or the authors'.
///
/// # Errors
/// When its configuration is wrong, or a tensor is missing.
pub fn open(
    part: &Part,
    architecture: &'static str,
) -> std::result::Result<(CascadeConfig, Component), CheckpointError> {
    let config = part.config(CascadeConfig::from_shapes)?;
    config.check(part)?;
    let is_original = part.tensors.keys().any(|name| name.ends_with(".in_proj_weight"));
    let renamed = part.tensors.contains_key("clip_mapper.weight");
    let component = Component::bind(
        Role::Denoiser,
        architecture,
        &config.blueprint(),
        &part.tensors,
        |name| if is_original { original_name(name, renamed) } else { StoredName::whole(name) },
        &part.path,
    )?;
    Ok((config, component))
}

/// The name of a tensor in the authors' files, where query, key and value are one matrix. In the decoder's, the pooled
/// prompt is the only one.
pub fn original_name(name: &str, is_decoder: bool) -> StoredName {
    for (index, letter) in ["q", "k", "v"].into_iter().enumerate() {
        if let Some((layer, kind)) = name.split_once(&format!(".attention.to_{letter}.")) {
            return StoredName::part(format!("{layer}.attention.attn.in_proj_{kind}"), index..index + 1, 3);
        }
    }
    let name = name.replace(".attention.to_out.0.", ".attention.attn.out_proj.");
    StoredName::whole(if is_decoder { name.replace("clip_txt_pooled_mapper", "clip_mapper") } else { name })
}

impl CascadeUnet {
    /// A network with this shape.
    pub fn new(config: CascadeConfig, cosine: Cosine, sides: Sides) -> Self {
        let (nodes, parts) = config.nodes();
        Self { nodes: nodes.into_iter().map(|(_, node)| node).collect(), parts, config, cosine, sides }
    }

    fn is_prior(&self) -> bool {
        self.config.effnet_in_channels.is_none()
    }

    /// The tokens that the network attends to: of the hidden states, of the pooled output, and of no image.
    fn prompt(&self, w: &Weights, branch: &Conditioning) -> Result<Tensor> {
        let (config, pooled) = (&self.config, branch.pooled.as_ref().unwrap_or(&branch.prompt));
        let pooled = match pooled.rank() {
            1 => pooled.unsqueeze(0)?,
            _ => pooled.clone(),
        };
        let split = |x: Tensor| x.reshape((config.clip_seq, config.conditioning_dim));
        let mut tokens = vec![split(w.linear("clip_txt_pooled_mapper", &pooled)?)?];
        if let (Some(_), Some(images)) = (config.clip_text_in_channels, config.clip_image_in_channels) {
            tokens.insert(0, w.linear("clip_txt_mapper", &branch.prompt)?);
            let none = Tensor::zeros((1, images), pooled.dtype(), &pooled.device())?;
            tokens.push(split(w.linear("clip_img_mapper", &none)?)?);
        }
        layer_norm(&Tensor::cat(&tokens, 0)?, None, EPS)
    }

    /// The first tokens: patches of the latents, with the result of the stage before and without pixels.
    fn input(&self, w: &Weights, input: &DenoiserInput<'_>, dtype: DType) -> Result<Branch> {
        let side = self.config.patch_size;
        let (batch, channels, height, width) = input.latents.dims4()?;
        let (height, width) = (height / side, width / side);
        let latents = (input.latents * crate::sampling::variance_preserving(input.sigma))?.to_dtype(dtype)?;
        let patches = latents
            .reshape(vec![batch, channels, height, side, width, side])?
            .permute([0, 2, 4, 1, 3, 5])?
            .reshape((batch, height * width, channels * side * side))?;
        let mut x = layer_norm(&w.patches("embedding.1", &patches)?, None, EPS)?;
        if self.config.effnet_in_channels.is_some() {
            let Some(seen) = input.beside else { bail!("the latents of the stage before are missing") };
            let seen = resized(seen, height, width)?.to_dtype(dtype)?;
            x = add(&x, &self.mapped(w, "effnet", &seen)?)?;
        }
        if let Some(channels) = self.config.pixel_mapper_in_channels {
            let none = Tensor::zeros((1, 1, channels), dtype, &x.device())?;
            x = x.broadcast_add(&self.mapped(w, "pixels", &none)?)?;
        }
        Ok(Branch { x, height, width, kept: Vec::new() })
    }

    fn mapped(&self, w: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
        let h = gelu(&w.patches(&format!("{name}_mapper.0"), x)?)?;
        layer_norm(&w.patches(&format!("{name}_mapper.2"), &h)?, None, EPS)
    }

    fn node(
        &self,
        w: &Weights,
        node: &Node,
        branch: &mut Branch,
        time: &Tensor,
        prompt: &Tensor,
    ) -> Result<()> {
        match node {
            Node::Group { layers, level, reads_kept } => {
                for (number, (layer, name)) in layers.iter().enumerate() {
                    let kept = branch.kept.get(*level).filter(|_| *reads_kept && number == 0);
                    branch.x = match layer {
                        Layer::Residual => residual(w, name, branch, kept, self.config.kernel_size)?,
                        Layer::Timestep => self.modulated(w, name, &branch.x, time)?,
                        Layer::Attention => self.attend(w, name, &branch.x, prompt, *level)?,
                    };
                }
                Ok(())
            }
            Node::Again => {
                let Some(name) = (0..)
                    .map(|time: usize| time.to_string())
                    .take(64)
                    .find(|time| w.has(&format!("{time}.weight")))
                else {
                    bail!("a map between two runs of a level is missing")
                };
                branch.x = w.patches(&name, &branch.x)?;
                Ok(())
            }
            Node::Down => {
                branch.kept.push(branch.x.clone());
                let x = layer_norm(&branch.x, None, EPS)?;
                if self.config.switch_level.is_some() {
                    branch.x = w.patches("1.blocks.0", &x)?;
                    return Ok(());
                }
                let (batch, _, channels) = x.dims3()?;
                (branch.height, branch.width) = (branch.height / 2, branch.width / 2);
                let patches = x
                    .reshape(vec![batch, branch.height, 2, branch.width, 2, channels])?
                    .permute([0, 1, 3, 5, 2, 4])?
                    .reshape((batch, branch.height * branch.width, 4 * channels))?;
                branch.x = w.patches("1", &patches)?;
                Ok(())
            }
            Node::Up => {
                let x = layer_norm(&branch.x, None, EPS)?;
                if self.config.switch_level.is_some() {
                    branch.x = w.patches("1.blocks.1", &x)?;
                    return Ok(());
                }
                let kernel = w.get("1.weight")?;
                let (inputs, outputs) = (kernel.dim(0)?, kernel.dim(1)?);
                let matrix = kernel.reshape((inputs, 4 * outputs))?.transpose(0, 1)?.contiguous()?;
                let bias = w.get("1.bias")?.unsqueeze(1)?.broadcast_as((outputs, 4))?.contiguous()?;
                let x = linear(&x, &matrix, Some(&bias.flatten_all()?))?;
                let (batch, height, width) = (x.dim(0)?, branch.height, branch.width);
                (branch.height, branch.width) = (2 * height, 2 * width);
                branch.x = x
                    .reshape(vec![batch, height, width, outputs, 2, 2])?
                    .permute([0, 1, 4, 2, 5, 3])?
                    .reshape((batch, 4 * height * width, outputs))?;
                Ok(())
            }
            Node::Output => {
                let x = w.patches("1", &layer_norm(&branch.x, None, EPS)?)?;
                let (batch, height, width, side) =
                    (x.dim(0)?, branch.height, branch.width, self.config.patch_size);
                branch.x = x
                    .reshape(vec![batch, height, width, self.config.out_channels, side, side])?
                    .permute([0, 3, 1, 4, 2, 5])?
                    .reshape((batch, self.config.out_channels, height * side, width * side))?;
                Ok(())
            }
        }
    }

    /// Modulates by the timestep and by the conditions beside it, `time` `[1, all their embeddings]`.
    fn modulated(&self, w: &Weights, name: &str, x: &Tensor, time: &Tensor) -> Result<Tensor> {
        let conditions = &self.config.timestep_conditioning_type;
        let parts = time.chunk(conditions.len() + 1, 1)?;
        let mut both = w.linear(&format!("{name}.mapper"), &parts[0].contiguous()?)?;
        for (condition, part) in conditions.iter().zip(&parts[1..]) {
            both = (both + w.linear(&format!("{name}.mapper_{condition}"), &part.contiguous()?)?)?;
        }
        let halves = both.unsqueeze(1)?.chunk(2, 2)?;
        scale_and_shift(x, &halves[0].contiguous()?, &halves[1].contiguous()?)
    }

    fn attend(&self, w: &Weights, name: &str, x: &Tensor, prompt: &Tensor, level: usize) -> Result<Tensor> {
        let (batch, _, width) = x.dims3()?;
        let heads = self.config.num_attention_heads[level] as usize;
        let of = |layer: &str| format!("{name}.{layer}");
        let prompt = w.linear(&of("kv_mapper.1"), &silu(&prompt.unsqueeze(0)?)?)?;
        let tokens = prompt.dim(1)?;
        let prompt = prompt.broadcast_as((batch, tokens, width))?.contiguous()?;
        let normed = layer_norm(x, None, EPS)?;
        let seen = match self.config.attends_to_itself(level) {
            true => Tensor::cat(&[&normed, &prompt], 1)?,
            false => prompt,
        };
        let project = |layer: &str, x: &Tensor| {
            let y = w.linear(&of(layer), x)?;
            y.reshape((y.dim(0)?, y.dim(1)?, heads, ()))
        };
        let q = project("attention.to_q", &normed)?;
        drop(normed);
        let (k, v) = (project("attention.to_k", &seen)?, project("attention.to_v", &seen)?);
        drop(seen);
        let attended = attention(&q, &k, &v, Mask::None)?.flatten_from(2)?;
        drop((q, k, v));
        add(x, &w.linear(&of("attention.to_out.0"), &attended)?)
    }
}

/// A ConvNeXt block; `kept` is what the level made on the way down.
fn residual(w: &Weights, name: &str, branch: &Branch, kept: Option<&Tensor>, side: usize) -> Result<Tensor> {
    let Branch { x, height, width, .. } = branch;
    let (batch, tokens, channels) = x.dims3()?;
    let of = |layer: &str| format!("{name}.{layer}");
    let image = x.reshape((batch, *height, *width, channels))?;
    let mixed =
        depthwise(&image, &w.get(&of("depthwise.weight"))?, &w.get(&of("depthwise.bias"))?, side / 2)?;
    let mut h = layer_norm(&mixed.reshape((batch, tokens, channels))?, None, EPS)?;
    drop(mixed);
    if let Some(kept) = kept {
        h = Tensor::cat(&[&h, kept], 2)?;
    }
    h = gelu(&w.linear(&of("channelwise.0"), &h)?)?;
    let [gamma, beta] = ["gamma", "beta"].map(|which| w.get(&of(&format!("channelwise.2.{which}"))));
    h = response_norm(&h, &gamma?.flatten_all()?, &beta?.flatten_all()?)?;
    add(x, &w.linear(&of("channelwise.4"), &h)?)
}

/// Interpolates `x` `[batch, channels, rows, columns]` to tokens `[batch, height · width, channels]`, with the corners in
/// their places.
fn resized(x: &Tensor, height: usize, width: usize) -> Result<Tensor> {
    let (batch, channels, rows, columns) = x.dims4()?;
    let matrix = |to: usize, from: usize| {
        let values = || {
            let mut values = vec![0.0_f32; to * from];
            let step = if to > 1 { (from as f32 - 1.0) / (to as f32 - 1.0) } else { 0.0 };
            for (index, row) in values.chunks_mut(from).enumerate() {
                let place = step * index as f32;
                let low = (place as usize).min(from - 1);
                let share = place - low as f32;
                row[low] += 1.0 - share;
                row[(low + 1).min(from - 1)] += share;
            }
            values
        };
        Tensor::from_fn(values, (to, from), &x.device())
    };
    let wide = linear(&x.to_dtype(DType::F32)?, &matrix(width, columns)?, None)?;
    let tall = linear(&wide.transpose(2, 3)?.contiguous()?, &matrix(height, rows)?, None)?;
    tall.permute([0, 3, 2, 1])?.contiguous()?.reshape((batch, height * width, channels))
}

impl Denoiser for CascadeUnet {
    fn size_multiple(&self) -> u32 {
        self.sides.size_multiple()
    }

    fn takes_images(&self) -> bool {
        false
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] =
            [canvas.height, canvas.width].map(|side| self.sides.of(side)[usize::from(!self.is_prior())]);
        LatentShape::image(self.config.out_channels, height, width)
    }

    /// The decoder is not guided: the prior has followed the prompt already.
    fn guidance_weight(&self, request: &Request) -> f64 {
        if self.is_prior() { request.guidance.into() } else { 1.0 }
    }

    /// The decoder reads the pooled output only.
    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        let Some(Encoded { states, pooled: Some(pooled), .. }) = encoded.into_iter().next() else {
            bail!("a pooled prompt is missing")
        };
        Ok(match self.is_prior() {
            true => Conditioning { pooled: Some(pooled), ..Conditioning::new(states) },
            false => Conditioning::new(pooled.unsqueeze(0)?),
        })
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let mut branches = input.branches.to_vec();
        blocks.walk(0..1, |_, w| {
            w.branches(&mut branches, |w, _, branch| {
                *branch = Conditioning::new(self.prompt(w, branch)?);
                Ok(())
            })
        })?;
        let width = self.config.timestep_ratio_embedding_dim;
        let form = Waves { width, spaced: (width / 2) as f64 - 1.0, cosines_first: false };
        let modulation = |&sigma: &f32| {
            let mut positions = vec![self.cosine.time(sigma) * POSITIONS];
            positions.resize(1 + self.config.timestep_conditioning_type.len(), 0.0);
            let time = waves(&positions, form, &blocks.device())?.to_dtype(blocks.dtype())?;
            Ok(Modulation { sigma, tensors: vec![time.reshape((1, positions.len() * width))?] })
        };
        let modulations = input.sigmas.iter().map(modulation).collect::<Result<_>>()?;
        Ok(Prepared { branches, modulations, ..Prepared::default() })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let [time] = prepared.modulation(input.sigma)? else {
            return Err(RunError::from(crate::nn::Error::Msg("a timestep has one embedding".to_owned())));
        };
        let mut branches: Vec<Branch> = Vec::new();
        blocks.walk_parts(&self.parts, |index, w| {
            let Some(node) = index.checked_sub(2).map(|node| &self.nodes[node]) else {
                let Branch { x, height, width, .. } = self.input(w, input, blocks.dtype())?;
                let branch = || Branch { x: x.clone(), height, width, kept: Vec::new() };
                branches.extend(prepared.branches.iter().map(|_| branch()));
                return Ok(());
            };
            w.branches(&mut branches, |w, place, branch| {
                self.node(w, node, branch, time, &prepared.branches[place].prompt)
            })
        })?;
        Ok(branches.into_iter().map(|branch| branch.x).collect())
    }

    /// The network predicts the noise.
    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }

    fn recorded(&self, outputs: &[Tensor]) -> Result<Vec<(String, Tensor)>> {
        Ok(vec![("unet.0.out.0".to_owned(), negative_first(outputs)?)])
    }
}
