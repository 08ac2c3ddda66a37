//! One pass through the encoder or the decoder.

use std::cell::RefCell;

use super::{
    config::{DownLevel, LtxAutoencoderConfig, TIME, UpLevel},
    layers::{Time, convolve, doubled, frames_of, halved, layer_normed, normed},
};
use crate::{
    nn::{Conv2d, NoiseStream, Result, Tensor, Waves, add, silu, waves},
    residency::{Blocks, RunError, Weights},
    vae::frames::{Frames, each},
};

/// How noisy the decoder is told that its latents are, from 0 to 1, where it is told: not at all.
const DECODE_NOISE: f32 = 0.0;
/// Timesteps per unit of noise.
const TIMESTEPS: f32 = 1000.0;
/// Seed of the noise that a decoder adds to its own values. diffusers does not seed it.
const SEED: u64 = 0;

/// A pass over one tile.
pub struct Pass<'a> {
    config: &'a LtxAutoencoderConfig,
    blocks: Blocks<'a>,
    /// What convolutions see.
    over: Time,
    /// What the decoder adds to its own values.
    noise: RefCell<NoiseStream>,
}

impl<'a> Pass<'a> {
    pub fn new(config: &'a LtxAutoencoderConfig, blocks: Blocks<'a>, is_causal: bool) -> Self {
        Self { config, blocks, over: Time::new(is_causal), noise: RefCell::new(NoiseStream::new(SEED)) }
    }

    /// Decodes a clip `[1, channels, frames, height, width]` to frames.
    pub fn decode(&self, latents: &Tensor) -> std::result::Result<Frames, RunError> {
        let (first, levels) = (self.config.first_decoder_block(), self.config.up_levels());
        let last = first + 2 + levels.len();
        let mut x = frames_of(latents)?;
        self.blocks.walk(first..last + 1, |index, w| {
            self.over.enter(index);
            let frames = std::mem::take(&mut x);
            x = match index - first {
                0 => convolve(w, "decoder.conv_in", frames, &self.over)?,
                1 => {
                    let time = self.time(w, "time_embedder", 4)?;
                    self.resnets(w, self.config.middle_layers()[1], frames, time.as_ref())?
                }
                _ if index == last => self.decoder_out(w, frames)?,
                level => self.up(w, &levels[level - 2], frames)?,
            };
            Ok(())
        })?;
        Ok(x)
    }

    /// Encodes frames to mean and log variance of their latents. A causal encoder goes on from the frames of the call
    /// before: the first call gets one frame, the others as many as become one latent frame.
    pub fn encode(&self, frames: Frames) -> std::result::Result<Frames, RunError> {
        let (last, levels) = (self.config.first_decoder_block() - 1, self.config.down_levels());
        let mut x = frames;
        self.blocks.walk(0..last + 1, |index, w| {
            self.over.enter(index);
            let frames = std::mem::take(&mut x);
            x = match index {
                0 => {
                    let patches = each(frames, |frame| self.patches(&frame))?;
                    convolve(w, "encoder.conv_in", patches, &self.over)?
                }
                _ if index == last => {
                    let normed = each(frames, |frame| normed(&frame, None))?;
                    convolve(w, "encoder.conv_out", normed, &self.over)?
                }
                _ if index == levels.len() + 1 => {
                    self.resnets(w, self.config.middle_layers()[0], frames, None)?
                }
                level => self.down(w, &levels[level - 1], frames)?,
            };
            Ok(())
        })?;
        Ok(x)
    }

    fn decoder_out(&self, w: &Weights, x: Frames) -> Result<Frames> {
        let modulation = match self.time(w, "decoder.time_embedder", 2)? {
            Some(time) => {
                let table = (time + w.get("decoder.scale_shift_table")?)?;
                Some([table.narrow(0, 0, 1)?, table.narrow(0, 1, 1)?])
            }
            None => None,
        };
        let x = each(x, |frame| normed(&frame, modulation.as_ref()))?;
        each(convolve(w, "decoder.conv_out", x, &self.over)?, |frame| self.pixels(&frame))
    }

    fn up(&self, w: &Weights, level: &UpLevel, mut x: Frames) -> Result<Frames> {
        let time = self.time(w, "time_embedder", 4)?;
        if level.inputs != level.outputs {
            x = self.resnet(w, "conv_in", x, None)?;
        }
        if level.doubles {
            x = doubled(w, level, x, &self.over)?;
        }
        self.resnets(w, level.layers, x, time.as_ref())
    }

    fn down(&self, w: &Weights, level: &DownLevel, x: Frames) -> Result<Frames> {
        let mut x = self.resnets(w, level.layers, x, None)?;
        if let Some(halving) = level.halving {
            x = halved(w, halving, x, &self.over)?;
        }
        if level.widens() { self.resnet(w, "conv_out", x, None) } else { Ok(x) }
    }

    fn resnets(&self, w: &Weights, count: usize, mut x: Frames, time: Option<&Tensor>) -> Result<Frames> {
        for layer in 0..count {
            x = self.resnet(w, &format!("resnets.{layer}"), x, time)?;
        }
        Ok(x)
    }

    fn resnet(&self, w: &Weights, name: &str, x: Frames, time: Option<&Tensor>) -> Result<Frames> {
        // Shift and scale before the first convolution and before the second, as rows.
        let modulations = match time {
            Some(time) => {
                let table = (time + w.get(&format!("{name}.scale_shift_table"))?)?;
                let row = |row: usize| table.narrow(0, row, 1);
                Some([[row(0)?, row(1)?], [row(2)?, row(3)?]])
            }
            None => None,
        };
        let modulation = |index: usize| modulations.as_ref().map(|both| &both[index]);
        let h = x.iter().map(|frame| normed(frame, modulation(0))).collect::<Result<_>>()?;
        let h = convolve(w, &format!("{name}.conv1"), h, &self.over)?;
        let h = self.noisy(w, &format!("{name}.per_channel_scale1"), h)?;
        let h = each(h, |frame| normed(&frame, modulation(1)))?;
        let h = convolve(w, &format!("{name}.conv2"), h, &self.over)?;
        let h = self.noisy(w, &format!("{name}.per_channel_scale2"), h)?;
        let shortcut = format!("{name}.conv_shortcut.conv");
        let mut direct = x;
        if w.has(&format!("{shortcut}.weight")) {
            let (norm, eps) = (format!("{name}.norm3"), self.config.resnet_norm_eps);
            // Layer by layer, so that each layer's weights come once where they come one by one.
            direct = each(direct, |frame| layer_normed(w, &norm, &frame, eps))?;
            direct = each(direct, |frame| w.conv3d(&shortcut, &[&frame], Conv2d::POINTWISE))?;
        }
        direct.into_iter().zip(h).map(|(direct, h)| add(&direct, &h)).collect()
    }

    /// Adds noise to all frames, the same to each, if there are scales of this name: one for each channel.
    fn noisy(&self, w: &Weights, scales: &str, x: Frames) -> Result<Frames> {
        let Some(first) = x.first().filter(|_| w.has(scales)) else { return Ok(x) };
        let (_, channels, height, width) = first.dims4()?;
        let noise = || self.noise.borrow_mut().draw(height * width);
        let noise = Tensor::from_fn(noise, (1, 1, height, width), &first.device())?;
        let scales = w.get(scales)?.reshape((1, channels, 1, 1))?;
        let noise = noise.to_dtype(first.dtype())?.broadcast_mul(&scales)?;
        each(x, |frame| add(&frame, &noise))
    }

    /// The embedded timestep as `rows` rows `[rows, width]`, if the decoder is told it.
    fn time(&self, w: &Weights, name: &str, rows: usize) -> Result<Option<Tensor>> {
        if !self.config.timestep_conditioning {
            return Ok(None);
        }
        let (name, blocks) = (format!("{name}.timestep_embedder"), self.blocks);
        let form = Waves { width: TIME, spaced: (TIME / 2) as f64, cosines_first: true };
        let wave = waves(&[DECODE_NOISE * TIMESTEPS], form, &blocks.device())?.to_dtype(blocks.dtype())?;
        let h = w.linear(&format!("{name}.linear_1"), &wave)?;
        let h = w.linear(&format!("{name}.linear_2"), &silu(&h)?)?;
        let width = h.elem_count() / rows;
        h.reshape((rows, width)).map(Some)
    }

    /// A frame of pixels as patches: `[1, 3, height, width]` to `[1, 3 · side², height / side, width / side]`.
    fn patches(&self, frame: &Tensor) -> Result<Tensor> {
        let (side, (_, channels, height, width)) = (self.config.patch_size, frame.dims4()?);
        let [rows, columns] = [height / side, width / side];
        let split = frame.reshape((channels, rows, side, columns, side))?;
        split.permute([0, 4, 2, 1, 3])?.reshape((1, channels * side * side, rows, columns))
    }

    /// The reverse of [`patches`](Self::patches).
    fn pixels(&self, frame: &Tensor) -> Result<Tensor> {
        let (side, (_, values, rows, columns)) = (self.config.patch_size, frame.dims4()?);
        let channels = values / (side * side);
        let split = frame.reshape((channels, side, side, rows, columns))?;
        split.permute([0, 3, 2, 4, 1])?.reshape((1, channels, rows * side, columns * side))
    }
}
