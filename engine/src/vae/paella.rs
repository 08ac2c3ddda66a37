//! The decoder of Paella's autoencoder (Rampas et al. 2022, arXiv:2211.07292), stage A of Stable Cascade and Wuerstchen.
//!
//! Its latents are not quantized here, as in diffusers. Pictures are not encoded.

use serde::Deserialize;

use super::{Autoencoder, Tiling};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Conv2d, Result, Tensor, add, bail, conv2d, depthwise, doubling_kernels, gelu, layer_norm},
    residency::{Blocks, RunError, Weights},
};

/// Added to the variance in every norm.
const EPS: f64 = 1e-6;
/// Hidden width of a residual block, as a multiple of its channels.
const RATIO: usize = 4;
/// Colours of an image.
const COLOURS: usize = 3;

/// The shape of the autoencoder, as in its `config.json`. The default is the published one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct PaellaVqConfig {
    /// Side of the patches of pixels.
    pub up_down_scale_factor: usize,
    /// Levels of resolution.
    pub levels: usize,
    /// Residual blocks of the lowest level.
    pub bottleneck_blocks: usize,
    /// Channels of the lowest level; each other has half of those below.
    pub embed_dim: usize,
    /// Channels of the latents.
    pub latent_channels: usize,
    /// The latents are multiplied by this before they are decoded.
    pub scale_factor: f64,
    /// Entries of the table that quantizes latents, which is not used here.
    pub num_vq_embeddings: usize,
}

impl Default for PaellaVqConfig {
    fn default() -> Self {
        Self {
            up_down_scale_factor: 2,
            levels: 2,
            bottleneck_blocks: 12,
            embed_dim: 384,
            latent_channels: 4,
            scale_factor: 0.3764,
            num_vq_embeddings: 8192,
        }
    }
}

/// What a block of weights computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Input,
    Residual,
    /// Doubles height and width.
    Up,
    Output,
}

impl PaellaVqConfig {
    /// Infers the shape from the tensors of the decoder, for files without a configuration.
    fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let &[embed_dim, latent_channels, ..] = &shape("up_blocks.0.0.weight")?[..] else { return None };
        let ups = (1..64).filter(|at| tensors.contains_key(&format!("up_blocks.{at}.weight"))).count();
        let first = (1..64).take_while(|at| tensors.contains_key(&format!("up_blocks.{at}.gammas"))).count();
        let pixels = shape("out_block.0.weight")?.first()? / COLOURS;
        Some(Self {
            up_down_scale_factor: pixels.isqrt(),
            levels: 1 + ups,
            bottleneck_blocks: first,
            embed_dim,
            latent_channels,
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        if self.levels == 0 || self.levels > 8 || self.embed_dim >> (self.levels - 1) == 0 {
            return part.refuse("levels", self.levels, "every level must have channels");
        }
        if self.up_down_scale_factor == 0 || self.bottleneck_blocks == 0 {
            return part.refuse("bottleneck_blocks", self.bottleneck_blocks, "it must be at least 1");
        }
        Ok(())
    }

    /// The nodes of the decoder, with the number of input channels of each.
    fn nodes(&self) -> Vec<(Node, usize)> {
        let mut nodes = vec![(Node::Input, self.latent_channels)];
        for level in 0..self.levels {
            let width = self.embed_dim >> level;
            let count = if level == 0 { self.bottleneck_blocks } else { 1 };
            nodes.extend(vec![(Node::Residual, width); count]);
            if level + 1 < self.levels {
                nodes.push((Node::Up, width));
            }
        }
        nodes.push((Node::Output, self.embed_dim >> (self.levels - 1)));
        nodes
    }

    /// The blocks of the decoder.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let spec = |(number, (node, width)): (usize, (Node, usize))| {
            let spec = BlockSpec::new(format!("up_blocks.{number}"));
            match node {
                Node::Input => spec.conv("0", self.embed_dim, width, 1),
                Node::Residual => residual_spec(spec, width),
                Node::Up => spec.tensor("weight", &[width, width / 2, 4, 4]).tensor("bias", &[width / 2]),
                Node::Output => BlockSpec::new("out_block").conv(
                    "0",
                    COLOURS * self.up_down_scale_factor.pow(2),
                    width,
                    1,
                ),
            }
        };
        self.nodes().into_iter().enumerate().map(spec).collect()
    }

    /// Names and shapes of the tensors in published files that only encode.
    pub fn layers_that_encode(&self) -> Vec<(String, Vec<usize>)> {
        let width = |level: usize| self.embed_dim >> (self.levels - 1 - level);
        let mut input =
            BlockSpec::stem("in").conv("in_block.1", width(0), COLOURS * self.up_down_scale_factor.pow(2), 1);
        let mut place = 0;
        for level in 0..self.levels {
            let mut next = || {
                place += 1;
                BlockSpec::new(format!("down_blocks.{}", place - 1))
            };
            let mut blocks = Vec::new();
            if level > 0 {
                let kernel = [width(level), width(level - 1), 4, 4];
                blocks.push(next().tensor("weight", &kernel).tensor("bias", &kernel[..1]));
            }
            blocks.push(residual_spec(next(), width(level)));
            for BlockSpec { prefix, tensors, .. } in blocks {
                input
                    .tensors
                    .extend(tensors.into_iter().map(|(name, shape)| (format!("{prefix}{name}"), shape)));
            }
        }
        let (last, channels) = (format!("down_blocks.{place}"), self.latent_channels);
        let mut tensors: Vec<_> = input.tensors.into_iter().collect();
        tensors.push((format!("{last}.0.weight"), vec![channels, width(self.levels - 1), 1, 1]));
        tensors.extend(
            ["weight", "bias", "running_mean", "running_var"]
                .map(|name| (format!("{last}.1.{name}"), vec![channels])),
        );
        // The number of training steps.
        tensors.push((format!("{last}.1.num_batches_tracked"), Vec::new()));
        tensors.push(("vquantizer.embedding.weight".to_owned(), vec![self.num_vq_embeddings, channels]));
        tensors
    }
}

/// The tensors of a residual block.
fn residual_spec(spec: BlockSpec, width: usize) -> BlockSpec {
    spec.tensor("gammas", &[6])
        .conv("depthwise.1", width, 1, 3)
        .linear("channelwise.0", RATIO * width, width)
        .linear("channelwise.2", width, RATIO * width)
}

/// The autoencoder's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct PaellaVq {
    config: PaellaVqConfig,
    nodes: Vec<Node>,
}

impl PaellaVq {
    /// Finds every tensor of the decoder.
    ///
    /// # Errors
    /// When its configuration is wrong, or a tensor is missing.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(PaellaVqConfig::from_shapes)?;
        config.check(part)?;
        let component = Component::bind(
            Role::Autoencoder,
            "PaellaVQModel",
            &config.blueprint(),
            &part.tensors,
            |name| StoredName::whole(name),
            &part.path,
        )?;
        let nodes = config.nodes().into_iter().map(|(node, _)| node).collect();
        Ok((Self { config, nodes }, component))
    }

    /// Number of latent channels of the autoencoder in `tensors`, if there is one.
    pub fn channels_of(tensors: &TensorTable) -> Option<usize> {
        tensors.get("up_blocks.1.gammas")?;
        tensors.get("up_blocks.0.0.weight").and_then(|tensor| tensor.shape().get(1).copied())
    }

    /// `x` is `[batch, height, width, channels]` between two nodes.
    fn decode_tile(&self, blocks: Blocks<'_>, latents: &Tensor) -> std::result::Result<Tensor, RunError> {
        let mut x = latents.clone();
        blocks.walk(0..self.nodes.len(), |index, w| {
            x = match self.nodes[index] {
                Node::Input => {
                    let (batch, channels, height, width) = x.dims4()?;
                    let rows = x.permute([0, 2, 3, 1])?.reshape((batch, height * width, channels))?;
                    w.patches("0", &rows)?.reshape((batch, height, width, ()))?
                }
                Node::Residual => residual(w, &x)?,
                Node::Up => doubled(w, &x)?,
                Node::Output => {
                    let (batch, height, width, channels) = x.dims4()?;
                    let side = self.config.up_down_scale_factor;
                    let pixels = w.patches("0", &x.reshape((batch, height * width, channels))?)?;
                    let pixels = pixels
                        .reshape(vec![batch, height, width, COLOURS, side, side])?
                        .permute([0, 3, 1, 4, 2, 5])?
                        .reshape((batch, COLOURS, height * side, width * side))?;
                    // From 0…1 to −1…1.
                    pixels.affine(2.0, -1.0)?
                }
            };
            Ok(())
        })?;
        Ok(x)
    }
}

fn residual(w: &Weights, x: &Tensor) -> Result<Tensor> {
    let gammas = w.get("gammas")?;
    let gamma = |index: usize| gammas.narrow(0, index, 1);
    let modulated = |x: &Tensor, scale: usize| {
        let scaled = layer_norm(x, None, EPS)?.broadcast_mul(&gamma(scale)?.affine(1.0, 1.0)?)?;
        scaled.broadcast_add(&gamma(scale + 1)?)
    };
    let seen = repeated(&repeated(&modulated(x, 0)?, 1)?, 2)?;
    let mixed = depthwise(&seen, &w.get("depthwise.1.weight")?, &w.get("depthwise.1.bias")?, 0)?;
    drop(seen);
    let x = add(x, &mixed.broadcast_mul(&gamma(2)?)?)?;
    drop(mixed);
    let h = gelu(&w.linear("channelwise.0", &modulated(&x, 3)?)?)?;
    let h = w.linear("channelwise.2", &h)?;
    add(&x, &h.broadcast_mul(&gamma(5)?)?)
}

/// Repeats the first and the last entry of a dimension.
fn repeated(x: &Tensor, dim: usize) -> Result<Tensor> {
    let last = x.dim(dim)? - 1;
    Tensor::cat(&[&x.narrow(dim, 0, 1)?.contiguous()?, x, &x.narrow(dim, last, 1)?.contiguous()?], dim)
}

/// A transposed convolution of `x` `[batch, height, width, channels]` to twice the height and width.
fn doubled(w: &Weights, x: &Tensor) -> Result<Tensor> {
    let (kernel, bias) = (w.get("weight")?, w.get("bias")?);
    let outputs = bias.dim(0)?;
    let (kernels, bias) = doubling_kernels(&kernel, &bias)?;
    let image = x.permute([0, 3, 1, 2])?.contiguous()?;
    let (batch, _, height, width) = image.dims4()?;
    let pixels = conv2d(&image, &kernels, Some(&bias), Conv2d::SAME_3X3)?;
    drop(image);
    let pixels = pixels.reshape(vec![batch, 2, 2, outputs, height, width])?.permute([0, 4, 1, 5, 2, 3])?;
    pixels.reshape((batch, 2 * height, 2 * width, outputs))
}

impl Autoencoder for PaellaVq {
    fn latent_channels(&self) -> usize {
        self.config.latent_channels
    }

    fn image_channels(&self) -> usize {
        COLOURS
    }

    fn scale(&self) -> usize {
        self.config.up_down_scale_factor << (self.config.levels - 1)
    }

    fn unscale(&self, latents: &Tensor) -> Result<Tensor> {
        latents * self.config.scale_factor
    }

    fn rescale(&self, latents: &Tensor) -> Result<Tensor> {
        latents / self.config.scale_factor
    }

    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError> {
        let latents = latents.to_dtype(blocks.dtype())?;
        match tiling {
            Some(tiling) => tiling.decode(&latents, self.scale(), |tile| {
                blocks.by_shape(tile, |tile| self.decode_tile(blocks, tile))
            }),
            None => self.decode_tile(blocks, &latents),
        }
    }

    /// # Errors
    /// Always: no model starts from its latents.
    fn encode(
        &self,
        _: Blocks<'_>,
        images: &Tensor,
        _: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError> {
        let refuse = || -> Result<(Tensor, Tensor)> {
            bail!(
                "images of shape {:?} are not encoded: the model makes images of prompts alone",
                images.dims()
            )
        };
        Ok(refuse()?)
    }
}
