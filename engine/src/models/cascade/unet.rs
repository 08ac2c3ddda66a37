//! The networks of Stable Cascade: ConvNeXt blocks, modulation by the timestep and attention, level by level down and up.

use std::ops::Range;

use super::{
    config::{CascadeConfig, Layer, Node},
    layers::{self, Branch, EPS},
};
use crate::{
    checkpoint::{CheckpointError, Component, Part, Role, StoredName},
    models::{
        Conditioning, Denoiser, DenoiserInput, LatentShape, PrepareInput, Prepared, denoiser::negative_first,
    },
    nn::{DType, Result, Tensor, add, bail, gelu, layer_norm},
    request::{Canvas, Request},
    residency::{Blocks, RunError, Weights},
    sampling::Cosine,
    text::Encoded,
};

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
        let latents = (input.latents * crate::sampling::variance_preserving(input.sigma))?.to_dtype(dtype)?;
        let (patches, [height, width]) = layers::patches(&latents, self.config.patch_size)?;
        let mut x = layer_norm(&w.patches("embedding.1", &patches)?, None, EPS)?;
        if self.config.effnet_in_channels.is_some() {
            let Some(seen) = input.beside else { bail!("the latents of the stage before are missing") };
            let seen = layers::resized(seen, [height, width], layers::linearly)?.to_dtype(dtype)?;
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
            Node::Group { layers: group, level, reads_kept } => {
                for (number, (layer, name)) in group.iter().enumerate() {
                    let kept = branch.kept.get(*level).filter(|_| *reads_kept && number == 0);
                    let kept: Vec<&Tensor> = kept.into_iter().collect();
                    let config = &self.config;
                    branch.x = match layer {
                        Layer::Residual => layers::residual(w, name, branch, &kept, config.kernel_size)?,
                        Layer::Timestep => {
                            let conditions = &config.timestep_conditioning_type;
                            layers::modulated(w, name, &branch.x, time, conditions)?
                        }
                        Layer::Attention => {
                            let heads = config.num_attention_heads[*level] as usize;
                            let to_itself = config.attends_to_itself(*level);
                            layers::attend(w, name, &branch.x, prompt, heads, to_itself)?
                        }
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
                if self.config.switch_level.is_none() {
                    return layers::halved(w, "1", branch);
                }
                branch.x = w.patches("1.blocks.0", &layer_norm(&branch.x, None, EPS)?)?;
                Ok(())
            }
            Node::Up if self.config.switch_level.is_none() => layers::doubled(w, "1", branch),
            Node::Up => {
                branch.x = w.patches("1.blocks.1", &layer_norm(&branch.x, None, EPS)?)?;
                Ok(())
            }
            Node::Output => {
                branch.x = w.patches("1", &layer_norm(&branch.x, None, EPS)?)?;
                branch.x = layers::latents(branch, self.config.patch_size)?;
                Ok(())
            }
        }
    }
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
        let (width, conditions) =
            (self.config.timestep_ratio_embedding_dim, self.config.timestep_conditioning_type.len());
        let modulations = layers::times(blocks, input.sigmas, self.cosine, width, conditions)?;
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
