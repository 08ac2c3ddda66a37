//! The decoders of the Tiny AutoEncoders for Stable Diffusion and for videos (O. Boer Bohan, TAESD and TAEHV): small
//! networks that approximate an autoencoder's decoder in a fraction of the time.

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
/// Channels of an image.
const COLOURS: usize = 3;
/// The weight of the first convolution of a residual block.
const FIRST_OF_THREE: &str = "conv.0.weight";
/// The weight of a layer that makes several frames of one.
const GROWN: &str = "conv.weight";
/// Convolutions of a residual block.
const CONVOLUTIONS: [&str; 3] = ["conv.0", "conv.2", "conv.4"];

/// A layer of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    /// A convolution of the latents.
    First,
    /// Three convolutions with a residual connection.
    Residual,
    /// The same of a frame beside what the layer got for the frame before.
    Remembering,
    /// A convolution to this many times the channels, one part for each of as many frames.
    Grown(usize),
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
    /// Side of the patch of pixels that the last convolution makes.
    patch: usize,
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
        let shape = |number: usize, parameter: &str| {
            let tensor = table.get(&format!("{prefix}{number}.{parameter}"));
            tensor.map_or(&[][..], |tensor| tensor.shape())
        };
        let end = |number: Option<&usize>| shape(number.copied().unwrap_or(0), "weight");
        let (&[mut width, channels, ..], &[outputs, ..]) = (end(ends[0]), end(ends[1])) else {
            let name = format!("{prefix}0.weight");
            return Err(CheckpointError::MissingTensor { path: path.to_owned(), name, missing: 1 });
        };
        let (mut layers, mut specs) = (Vec::new(), Vec::new());
        for (number, parameter) in &numbered {
            let found = shape(*number, parameter);
            let outputs_of = |found: &[usize]| found.first().copied().unwrap_or(0);
            let layer = match (*parameter, ends.map(|end| end == Some(number))) {
                (FIRST_OF_THREE, _) if found.get(1) == Some(&(2 * width)) => Layer::Remembering,
                (FIRST_OF_THREE, _) => Layer::Residual,
                (GROWN, _) => Layer::Grown((outputs_of(found) / width.max(1)).max(1)),
                (_, [true, _]) => Layer::First,
                (_, [_, true]) => Layer::Last,
                _ => Layer::Doubled,
            };
            let spec = BlockSpec::new(format!("{prefix}{number}"));
            let three = |spec: BlockSpec, inputs: usize| {
                let spec = spec.conv(CONVOLUTIONS[0], width, inputs, 3);
                CONVOLUTIONS[1..].iter().fold(spec, |spec, name| spec.conv(name, width, width, 3))
            };
            layers.push(layer);
            specs.push(match layer {
                Layer::First => spec.tensor("weight", &[width, channels, 3, 3]).tensor("bias", &[width]),
                Layer::Last => spec.tensor("weight", &[outputs, width, 3, 3]).tensor("bias", &[outputs]),
                Layer::Residual => three(spec, width),
                Layer::Remembering => three(spec, 2 * width),
                Layer::Grown(times) => spec.tensor(GROWN, &[times * width, width, 1, 1]),
                Layer::Doubled => {
                    let before = std::mem::replace(&mut width, outputs_of(found));
                    spec.tensor("weight", &[width, before, 3, 3])
                }
            });
        }
        let component = Component::bind(
            Role::Autoencoder,
            if layers.contains(&Layer::Remembering) { "TAEHV" } else { "AutoencoderTiny" },
            &specs,
            &table,
            |name| StoredName::whole(name),
            path,
        )?;
        let patch = (outputs / COLOURS).isqrt();
        Ok(Self { layers, component, channels, patch })
    }

    /// Channels of the latents.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Pixels per latent, in each direction.
    pub fn scale(&self) -> usize {
        self.patch << self.doublings()
    }

    /// How many of its layers double the resolution.
    pub fn doublings(&self) -> usize {
        self.layers.iter().filter(|layer| **layer == Layer::Doubled).count()
    }

    /// Decodes latents `[frames, channels, height, width]` to images
    /// `[frames, 3, scale · height, scale · width]` approximately in 0…1. Without its last `halvings` doublings the
    /// images are as many times half as large. Decoders of clips make one frame for each latent frame and know those
    /// before it. Reads the weights and frees them at the end.
    ///
    /// # Errors
    /// When the file has become unreadable, or memory runs out.
    pub fn decode(
        &self,
        latents: &Tensor,
        tiling: Option<Tiling>,
        halvings: usize,
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
        Ok(self.decode_with(&weights, latents, tiling, halvings)?)
    }

    fn decode_with(
        &self,
        weights: &[Vec<Tensor>],
        latents: &Tensor,
        tiling: Option<Tiling>,
        halvings: usize,
    ) -> Result<Tensor> {
        let latents = latents.to_dtype(DType::F32)?;
        let doublings = self.doublings().saturating_sub(halvings);
        let decode = |tile: &Tensor| self.decode_tile(weights, tile, doublings);
        match tiling {
            Some(tiling) => tiling.decode(&latents, self.patch << doublings, decode),
            None => decode(&latents),
        }
    }

    fn decode_tile(&self, weights: &[Vec<Tensor>], latents: &Tensor, doublings: usize) -> Result<Tensor> {
        let mut memory = vec![None; self.layers.len()];
        let mut frames = Vec::with_capacity(latents.dim(0)?);
        for index in 0..latents.dim(0)? {
            let frame = latents.narrow(0, index, 1)?.contiguous()?;
            frames.push(self.decode_frame(weights, &frame, doublings, &mut memory)?);
        }
        if let [frame] = &frames[..] { Ok(frame.clone()) } else { Tensor::cat(&frames, 0) }
    }

    /// Decodes one frame. `memory` has what each layer got for the frame before.
    fn decode_frame(
        &self,
        weights: &[Vec<Tensor>],
        latents: &Tensor,
        doublings: usize,
        memory: &mut [Option<Tensor>],
    ) -> Result<Tensor> {
        let mut x = ((latents / MAGNITUDE)?.tanh()? * MAGNITUDE)?;
        let mut left = doublings;
        for ((layer, weights), before) in self.layers.iter().zip(weights).zip(memory) {
            let conv = |x: &Tensor| conv2d(x, &weights[0], weights.get(1), Conv2d::SAME_3X3);
            let three = |x: &Tensor| {
                let nth = |n: usize, x: &Tensor| {
                    conv2d(x, &weights[2 * n], Some(&weights[2 * n + 1]), Conv2d::SAME_3X3)
                };
                nth(2, &nth(1, &nth(0, x)?.relu()?)?.relu()?)
            };
            x = match layer {
                Layer::First => conv(&x)?.relu()?,
                Layer::Last => shuffled(&conv(&x.relu()?)?, self.patch)?,
                Layer::Doubled if left == 0 => conv(&x)?,
                Layer::Doubled => {
                    left -= 1;
                    conv(&upsample_nearest_2x(&x)?)?
                }
                Layer::Residual => (three(&x)? + x)?.relu()?,
                Layer::Remembering => {
                    let past = match before.replace(x.clone()) {
                        Some(past) => past,
                        None => x.zeros_like()?,
                    };
                    (three(&Tensor::cat(&[&x, &past], 1)?)? + x)?.relu()?
                }
                // The last of the frames is at the time of the latent frame.
                Layer::Grown(times) => {
                    let width = weights[0].dim(1)?;
                    let last = weights[0].narrow(0, (times - 1) * width, width)?;
                    conv2d(&x, &last, None, Conv2d::POINTWISE)?
                }
            };
        }
        Ok(x)
    }

    /// Peak bytes for decoding latents of a number of frames, a height and a width in tiles, including weights and images.
    pub fn peak(&self, [frames, height, width]: [usize; 3], tiling: Tiling, halvings: usize) -> Result<u64> {
        let trace = Trace::new(Computes::here());
        let device = Device::from(trace.clone());
        let weights = self.component.blocks.iter().map(|block| {
            let tensors = block.tensors.iter();
            tensors.map(|(_, tensor)| Tensor::zeros(tensor.shape(), DType::F32, &device)).collect()
        });
        let weights: Vec<Vec<Tensor>> = weights.collect::<Result<_>>()?;
        let latents = Tensor::zeros((frames, self.channels, height, width), DType::F32, &device)?;
        // The latents with and without noise.
        let _held = latents.pad_with_zeros(0, 0, frames)?;
        let images = self.decode_with(&weights, &latents, Some(tiling), halvings)?;
        // The images' values in pixel order.
        let _values = images.neg()?;
        Ok(trace.take().peak)
    }
}

/// Groups of channels as patches of pixels: `[batch, channels · side · side, height, width]` to
/// `[batch, channels, side · height, side · width]`.
fn shuffled(x: &Tensor, side: usize) -> Result<Tensor> {
    if side == 1 {
        return Ok(x.clone());
    }
    let (batch, _, height, width) = x.dims4()?;
    let pixels = x.reshape((batch, COLOURS, side, side, height, width))?.permute([0, 1, 4, 2, 5, 3])?;
    pixels.reshape((batch, COLOURS, height * side, width * side))
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

/// The indices of layers with weights, and a parameter by which they differ.
fn numbered(table: &TensorTable, prefix: &str) -> BTreeMap<usize, &'static str> {
    let mut layers = BTreeMap::new();
    for name in table.keys().filter_map(|name| name.strip_prefix(prefix)) {
        let Some((number, parameter)) = name.split_once('.') else { continue };
        let Ok(number) = number.parse() else { continue };
        if let Some(known) = ["weight", FIRST_OF_THREE, GROWN].into_iter().find(|known| parameter == *known) {
            layers.insert(number, known);
        }
    }
    layers
}
