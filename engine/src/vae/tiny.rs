//! The decoder of the Tiny AutoEncoder for Stable Diffusion (O. Boer Bohan, TAESD): a small network that
//! approximates the autoencoder's decoder in a fraction of the time.

use std::{collections::BTreeMap, path::Path};

use super::Tiling;
use crate::{
    checkpoint::{
        BlockSpec, CheckpointError, Component, Role, StoredName, StoredTensor, TensorTable, Values,
        read_header,
    },
    nn::{self, Computes, Conv2d, DType, Device, Result, Tensor, Trace, conv2d, upsample_nearest_2x},
};

/// Prefixes of the decoder's layer names, in diffusers and in other files.
const PREFIXES: [&str; 4] = ["decoder.layers.", "taesd_decoder.", "decoder.", ""];
/// Latents are squashed smoothly to ± this value.
const MAGNITUDE: f64 = 3.0;
/// Convolutions of a residual block.
const CONVOLUTIONS: [&str; 3] = ["conv.0", "conv.2", "conv.4"];

/// A layer of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// A convolution of the latents.
    First,
    /// Three convolutions with a residual connection.
    Residual,
    /// Upsampling by 2, and a convolution.
    Doubled,
    /// A convolution to RGB.
    Last,
}

/// A tiny decoder; its weights are on disk.
#[derive(Debug, Clone)]
pub struct TinyDecoder {
    layers: Vec<Layer>,
    component: Component,
    channels: usize,
}

impl TinyDecoder {
    /// Finds the decoder in a file, under diffusers' or the original names. Reads only the header.
    pub fn open(path: &Path) -> std::result::Result<Self, CheckpointError> {
        let table = read_header(path)?;
        let (prefix, numbered) = PREFIXES
            .iter()
            .map(|prefix| (*prefix, numbered(&table, prefix)))
            .find(|(_, layers)| layers.len() > 2)
            .unwrap_or(("decoder.layers.", BTreeMap::new()));
        let ends = [numbered.keys().next(), numbered.keys().next_back()];
        let shape = |number: Option<&usize>| {
            let tensor = table.get(&format!("{prefix}{}.weight", number.copied().unwrap_or(0)));
            tensor.map_or(&[][..], |tensor| tensor.shape())
        };
        let (&[width, channels, ..], &[colours, ..]) = (shape(ends[0]), shape(ends[1])) else {
            let name = format!("{prefix}0.weight");
            return Err(CheckpointError::MissingTensor { path: path.to_owned(), name, missing: 1 });
        };
        let (mut layers, mut specs) = (Vec::new(), Vec::new());
        for (number, is_residual) in &numbered {
            let layer = match (*is_residual, ends.map(|end| end == Some(number))) {
                (true, _) => Layer::Residual,
                (false, [true, _]) => Layer::First,
                (false, [_, true]) => Layer::Last,
                (false, _) => Layer::Doubled,
            };
            let spec = BlockSpec::new(format!("{prefix}{number}"));
            layers.push(layer);
            specs.push(match layer {
                Layer::First => spec.tensor("weight", &[width, channels, 3, 3]).tensor("bias", &[width]),
                Layer::Doubled => spec.tensor("weight", &[width, width, 3, 3]),
                Layer::Last => spec.tensor("weight", &[colours, width, 3, 3]).tensor("bias", &[colours]),
                Layer::Residual => {
                    CONVOLUTIONS.iter().fold(spec, |spec, name| spec.conv(name, width, width, 3))
                }
            });
        }
        let component = Component::bind(
            Role::Autoencoder,
            "AutoencoderTiny",
            &specs,
            &table,
            |name| StoredName::whole(name),
            path,
        )?;
        Ok(Self { layers, component, channels })
    }

    /// Channels of the latents.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Pixels per latent, in each direction.
    pub fn scale(&self) -> usize {
        1 << self.layers.iter().filter(|layer| **layer == Layer::Doubled).count()
    }

    /// Decodes latents `[1, channels, height, width]` in the scale of diffusion to an image
    /// `[1, 3, scale · height, scale · width]` approximately in 0…1. Reads the weights and frees them at the
    /// end.
    pub fn decode(
        &self,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, TinyDecoderError> {
        let load = |tensor: &StoredTensor| -> std::result::Result<Tensor, TinyDecoderError> {
            let mut values = vec![0.0_f32; tensor.elements() as usize];
            tensor.read_into(Values::F32(&mut values))?;
            Ok(Tensor::from_vec(values, tensor.shape(), &Device::processor())?)
        };
        let weights = self.component.blocks.iter().map(|block| {
            block.tensors.iter().map(|(_, tensor)| load(tensor)).collect::<std::result::Result<Vec<_>, _>>()
        });
        let weights = weights.collect::<std::result::Result<Vec<_>, TinyDecoderError>>()?;
        Ok(self.decode_with(&weights, latents, tiling)?)
    }

    fn decode_with(
        &self,
        weights: &[Vec<Tensor>],
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> Result<Tensor> {
        let latents = latents.to_dtype(DType::F32)?;
        let decode = |tile: &Tensor| self.decode_tile(weights, tile);
        match tiling {
            Some(tiling) => tiling.decode(&latents, self.scale(), decode),
            None => decode(&latents),
        }
    }

    fn decode_tile(&self, weights: &[Vec<Tensor>], latents: &Tensor) -> Result<Tensor> {
        let mut x = ((latents / MAGNITUDE)?.tanh()? * MAGNITUDE)?;
        for (layer, weights) in self.layers.iter().zip(weights) {
            let conv = |x: &Tensor| conv2d(x, &weights[0], weights.get(1), Conv2d::SAME_3X3);
            x = match layer {
                Layer::First => conv(&x)?.relu()?,
                Layer::Last => conv(&x)?,
                Layer::Doubled => conv(&upsample_nearest_2x(&x)?)?,
                Layer::Residual => {
                    let nth = |n: usize, x: &Tensor| {
                        conv2d(x, &weights[2 * n], Some(&weights[2 * n + 1]), Conv2d::SAME_3X3)
                    };
                    let h = nth(1, &nth(0, &x)?.relu()?)?.relu()?;
                    (nth(2, &h)? + x)?.relu()?
                }
            };
        }
        Ok(x)
    }

    /// Peak bytes for decoding latents of `height` by `width` in tiles, including weights and image.
    pub fn peak(&self, [height, width]: [usize; 2], tile: usize) -> Result<u64> {
        let trace = Trace::new(Computes::Processor);
        let device = Device::from(trace.clone());
        let weights = self.component.blocks.iter().map(|block| {
            let tensors = block.tensors.iter();
            tensors.map(|(_, tensor)| Tensor::zeros(tensor.shape(), DType::F32, &device)).collect()
        });
        let weights: Vec<Vec<Tensor>> = weights.collect::<Result<_>>()?;
        let latents = Tensor::zeros((1, self.channels, height, width), DType::F32, &device)?;
        // The latents with and without noise.
        let _held = latents.pad_with_zeros(0, 0, 1)?;
        let image = self.decode_with(&weights, &latents, Some(Tiling::with_tile(tile)))?;
        // The image's values in pixel order.
        let _values = image.neg()?;
        Ok(trace.take().peak)
    }
}

/// Why decoding failed.
#[derive(Debug, thiserror::Error)]
pub enum TinyDecoderError {
    /// The weights cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A tensor operation failed.
    #[error(transparent)]
    Compute(#[from] nn::Error),
}

/// The indices of layers with weights, and whether each is a residual block.
fn numbered(table: &TensorTable, prefix: &str) -> BTreeMap<usize, bool> {
    let mut layers = BTreeMap::new();
    for name in table.keys().filter_map(|name| name.strip_prefix(prefix)) {
        let Some((number, parameter)) = name.split_once('.') else { continue };
        let Ok(number) = number.parse() else { continue };
        if parameter == "weight" || parameter == "conv.0.weight" {
            layers.insert(number, parameter != "weight");
        }
    }
    layers
}
