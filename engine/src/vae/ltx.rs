//! The autoencoder of LTX-Video (HaCohen et al. 2024, arXiv:2501.00103, section 2.2).
//!
//! The decoder's convolutions see the frame after as well as the frame before, so a tile is decoded with all its frames.
//! Only the frames of one level are in memory, and those of the level that is being computed from them.

use std::collections::VecDeque;

use super::{
    Autoencoder, LtxAutoencoderConfig, Piece, Show, Tiling,
    frames::{Frames, as_clip, each, per_channel},
    ltx_config::{DownLevel, TIME, UpLevel},
};
use crate::{
    checkpoint::{CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Conv2d, Result, Tensor, Waves, add, bail, channel_norm, silu, waves},
    residency::{Blocks, RunError, Weights},
};

/// Frames that a kernel over time spans.
const SPAN: usize = 3;
/// How noisy the decoder is told that its latents are, from 0 to 1, where it is told: not at all.
const DECODE_NOISE: f32 = 0.0;
/// Timesteps per unit of noise.
const TIMESTEPS: f32 = 1000.0;

/// The shape of an autoencoder; its weights come from a store.
#[derive(Debug, Clone)]
pub struct LtxAutoencoder {
    config: LtxAutoencoderConfig,
    /// Mean and standard deviation of each channel of the latents.
    statistics: [Vec<f32>; 2],
}

impl LtxAutoencoder {
    /// Finds every tensor of an autoencoder.
    ///
    /// # Errors
    /// When the configuration is wrong or not supported, a tensor is missing, or a tensor has the wrong shape.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(LtxAutoencoderConfig::from_shapes)?;
        config.check(part)?;
        let component = Component::bind(
            Role::Autoencoder,
            "AutoencoderKLLTXVideo",
            &config.blueprint(),
            &part.tensors,
            |name| StoredName::whole(name),
            &part.path,
        )?;
        let channels = config.latent_channels;
        let statistic = |name: &str, otherwise: f32| {
            let stored =
                part.tensors.get(name).filter(|stored| stored.shape() == [channels] && !stored.is_hollow());
            let Some(stored) = stored else { return Ok(vec![otherwise; channels]) };
            stored.values()
        };
        let statistics = [statistic("latents_mean", 0.0)?, statistic("latents_std", 1.0)?];
        Ok((Self { config, statistics }, component))
    }

    /// Number of latent channels of the autoencoder in `tensors`, if there is one.
    pub fn channels_of(tensors: &TensorTable) -> Option<usize> {
        match tensors.get("decoder.conv_in.conv.weight")?.shape() {
            [_, channels, _, _, _] => Some(*channels),
            _ => None,
        }
    }

    /// Decodes a clip `[1, channels, frames, height, width]` to frames.
    fn decode_tile(&self, blocks: Blocks<'_>, latents: &Tensor) -> std::result::Result<Frames, RunError> {
        let (first, levels) = (self.config.first_decoder_block(), self.config.up_levels());
        let [last, causal] = [first + 2 + levels.len(), usize::from(self.config.decoder_causal)];
        let causal = causal == 1;
        let mut x = frames_of(latents)?;
        blocks.walk(first..last + 1, |index, w| {
            let frames = std::mem::take(&mut x);
            x = match index - first {
                0 => convolve(w, "decoder.conv_in", frames, causal)?,
                1 => {
                    let time = self.time(w, "time_embedder", 4, blocks)?;
                    self.resnets(w, self.config.middle_layers()[1], frames, time.as_ref(), causal)?
                }
                _ if index == last => self.decoder_out(w, frames, blocks, causal)?,
                level => self.up(w, &levels[level - 2], frames, blocks, causal)?,
            };
            Ok(())
        })?;
        Ok(x)
    }

    fn decoder_out(&self, w: &Weights, x: Frames, blocks: Blocks<'_>, causal: bool) -> Result<Frames> {
        let modulation = match self.time(w, "decoder.time_embedder", 2, blocks)? {
            Some(time) => {
                let table = (time + w.get("decoder.scale_shift_table")?)?;
                Some([table.narrow(0, 0, 1)?, table.narrow(0, 1, 1)?])
            }
            None => None,
        };
        let x = each(x, |frame| normed(&frame, modulation.as_ref()))?;
        each(convolve(w, "decoder.conv_out", x, causal)?, |frame| self.pixels(&frame))
    }

    fn up(
        &self,
        w: &Weights,
        level: &UpLevel,
        mut x: Frames,
        blocks: Blocks<'_>,
        causal: bool,
    ) -> Result<Frames> {
        let time = self.time(w, "time_embedder", 4, blocks)?;
        if level.inputs != level.outputs {
            x = self.resnet(w, "conv_in", x, None, causal)?;
        }
        if level.doubles {
            x = doubled(w, level, x, causal)?;
        }
        self.resnets(w, level.layers, x, time.as_ref(), causal)
    }

    /// Encodes a clip `[1, channels, frames, height, width]` to mean and log variance of its latents.
    fn encode_tile(&self, blocks: Blocks<'_>, clip: &Tensor) -> std::result::Result<Tensor, RunError> {
        let (last, levels) = (self.config.first_decoder_block() - 1, self.config.down_levels());
        let causal = self.config.encoder_causal;
        let mut x = frames_of(clip)?;
        blocks.walk(0..last + 1, |index, w| {
            let frames = std::mem::take(&mut x);
            x = match index {
                0 => convolve(w, "encoder.conv_in", each(frames, |frame| self.patches(&frame))?, causal)?,
                _ if index == last => {
                    convolve(w, "encoder.conv_out", each(frames, |frame| normed(&frame, None))?, causal)?
                }
                _ if index == levels.len() + 1 => {
                    self.resnets(w, self.config.middle_layers()[0], frames, None, causal)?
                }
                level => self.down(w, &levels[level - 1], frames, causal)?,
            };
            Ok(())
        })?;
        Ok(Tensor::stack(&x, 2)?)
    }

    fn down(&self, w: &Weights, level: &DownLevel, x: Frames, causal: bool) -> Result<Frames> {
        let mut x = self.resnets(w, level.layers, x, None, causal)?;
        if level.halves {
            x = halved(w, x, causal)?;
        }
        if level.inputs != level.outputs { self.resnet(w, "conv_out", x, None, causal) } else { Ok(x) }
    }

    fn resnets(
        &self,
        w: &Weights,
        count: usize,
        mut x: Frames,
        time: Option<&Tensor>,
        causal: bool,
    ) -> Result<Frames> {
        for layer in 0..count {
            x = self.resnet(w, &format!("resnets.{layer}"), x, time, causal)?;
        }
        Ok(x)
    }

    fn resnet(
        &self,
        w: &Weights,
        name: &str,
        x: Frames,
        time: Option<&Tensor>,
        causal: bool,
    ) -> Result<Frames> {
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
        let h = convolve(w, &format!("{name}.conv1"), h, causal)?;
        let h = each(h, |frame| normed(&frame, modulation(1)))?;
        let h = convolve(w, &format!("{name}.conv2"), h, causal)?;
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

    /// The embedded timestep as `rows` rows `[rows, width]`, if the decoder is told it.
    fn time(&self, w: &Weights, name: &str, rows: usize, blocks: Blocks<'_>) -> Result<Option<Tensor>> {
        if !self.config.timestep_conditioning {
            return Ok(None);
        }
        let name = format!("{name}.timestep_embedder");
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

/// The frames of a clip `[1, channels, frames, height, width]`.
fn frames_of(clip: &Tensor) -> Result<Frames> {
    (0..clip.dim(2)?).map(|index| clip.narrow(2, index, 1)?.squeeze(2)?.contiguous()).collect()
}

/// The frame's channels normalized by their mean square, modulated by shift and scale if there are any, and SiLU.
fn normed(x: &Tensor, modulation: Option<&[Tensor; 2]>) -> Result<Tensor> {
    let ones = Tensor::ones(x.dim(1)?, x.dtype(), &x.device())?;
    let Some([shift, scale]) = modulation else { return channel_norm(x, &ones, true) };
    let channels = x.dim(1)?;
    let scale = scale.affine(1.0, 1.0)?.reshape(channels)?;
    let h = channel_norm(x, &scale, false)?;
    silu(&h.broadcast_add(&shift.reshape((1, channels, 1, 1))?)?)
}

/// Layer norm over the channels of each pixel.
fn layer_normed(w: &Weights, name: &str, x: &Tensor, eps: f64) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let pixels = x.flatten_from(2)?.transpose(1, 2)?.contiguous()?;
    let normed = w.layer_norm(name, &pixels, eps)?;
    normed.transpose(1, 2)?.contiguous()?.reshape((batch, channels, height, width))
}

/// A convolution over time, in which the first and the last frame are repeated.
fn convolve(w: &Weights, name: &str, frames: Frames, causal: bool) -> Result<Frames> {
    let (Some(first), Some(last)) = (frames.first().cloned(), frames.last().cloned()) else {
        return Ok(frames);
    };
    let before = if causal { SPAN - 1 } else { SPAN / 2 };
    let mut window: VecDeque<Tensor> = std::iter::repeat_n(first, before).collect();
    let mut convolved = Vec::with_capacity(frames.len());
    let name = format!("{name}.conv");
    for frame in frames.into_iter().chain(std::iter::repeat_n(last, SPAN - 1 - before)) {
        window.push_back(frame);
        if window.len() == SPAN {
            let seen: Vec<&Tensor> = window.iter().collect();
            convolved.push(w.conv3d(&name, &seen, Conv2d::SAME_3X3)?);
            window.pop_front();
        }
    }
    Ok(convolved)
}

/// Halves the number of frames, their height and their width.
fn halved(w: &Weights, frames: Frames, causal: bool) -> Result<Frames> {
    let before = if causal { SPAN - 1 } else { SPAN / 2 };
    let padded = frames.len() + SPAN - 1;
    let at = |place: usize| &frames[place.saturating_sub(before).min(frames.len() - 1)];
    let starts = (0..=padded.saturating_sub(SPAN)).step_by(2);
    let convolved = starts.map(|start| {
        let seen: Vec<&Tensor> = (start..start + SPAN).map(at).collect();
        w.conv3d("downsamplers.0.conv", &seen, Conv2d::HALVE_3X3)
    });
    convolved.collect()
}

/// Doubles the number of frames, their height and their width; the first frame stays alone.
fn doubled(w: &Weights, level: &UpLevel, x: Frames, causal: bool) -> Result<Frames> {
    let shortcut = if level.has_shortcut { x.clone() } else { Vec::new() };
    let convolved = convolve(w, "upsamplers.0.conv", x, causal)?;
    let mut shortcut = shortcut.into_iter();
    let mut doubled = Vec::with_capacity(2 * convolved.len());
    for frame in convolved {
        let direct = shortcut.next().map(|frame| unfold(&frame)).transpose()?;
        for (number, frame) in unfold(&frame)?.into_iter().enumerate() {
            let Some(direct) = &direct else {
                doubled.push(frame);
                continue;
            };
            let direct = &direct[number];
            let repeats = frame.dim(1)? / direct.dim(1)?;
            doubled.push(add(&frame, &Tensor::cat(&vec![direct.clone(); repeats], 1)?)?);
        }
    }
    doubled.remove(0);
    Ok(doubled)
}

/// Two frames of twice the height and width from the channels of one.
fn unfold(frame: &Tensor) -> Result<Frames> {
    let (_, values, height, width) = frame.dims4()?;
    let channels = values / 8;
    let split = frame.reshape((channels, 2, 4, height * width))?;
    let half = |number: usize| {
        let half = split.narrow(1, number, 1)?.contiguous()?.reshape((channels, 2, 2, height, width))?;
        half.permute([0, 3, 1, 4, 2])?.reshape((1, channels, 2 * height, 2 * width))
    };
    Ok(vec![half(0)?, half(1)?])
}

impl Autoencoder for LtxAutoencoder {
    fn latent_channels(&self) -> usize {
        self.config.latent_channels
    }

    fn image_channels(&self) -> usize {
        self.config.in_channels
    }

    fn scale(&self) -> usize {
        self.config.scale()
    }

    fn frames_per_latent(&self) -> usize {
        self.config.frames_per_latent()
    }

    fn unscale(&self, latents: &Tensor) -> Result<Tensor> {
        let [mean, deviation] = &self.statistics;
        let factor = self.config.scaling_factor as f32;
        let scaled =
            latents.broadcast_mul(&per_channel(deviation.iter().map(|value| value / factor), latents)?)?;
        scaled.broadcast_add(&per_channel(mean.iter().copied(), latents)?)
    }

    fn rescale(&self, latents: &Tensor) -> Result<Tensor> {
        let [mean, deviation] = &self.statistics;
        let factor = self.config.scaling_factor as f32;
        let centred = latents.broadcast_add(&per_channel(mean.iter().map(|value| -value), latents)?)?;
        centred.broadcast_mul(&per_channel(deviation.iter().map(|value| factor / value), latents)?)
    }

    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError> {
        let is_image = latents.rank() == 4;
        let clip = as_clip(&latents.to_dtype(blocks.dtype())?)?;
        let whole = |tile: &Tensor| -> std::result::Result<Tensor, RunError> {
            Ok(Tensor::stack(&self.decode_tile(blocks, tile)?, 2)?)
        };
        let decoded = match tiling {
            Some(tiling) => {
                tiling.decode(&clip, self.scale(), |tile| blocks.by_shape(tile, |tile| whole(tile)))?
            }
            None => whole(&clip)?,
        };
        Ok(if is_image { decoded.squeeze(2)? } else { decoded })
    }

    fn decode_clip(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
        show: Show<'_>,
    ) -> std::result::Result<(), RunError> {
        let latents = as_clip(&latents.to_dtype(blocks.dtype())?)?;
        let &[_, _, _, height, width] = latents.dims() else {
            let refuse = || -> Result<()> { bail!("a clip has the shape {:?}", latents.dims()) };
            return Ok(refuse()?);
        };
        for place in Tiling::places(tiling, [height, width]) {
            let tile = place.of(&latents)?;
            // The tile stands for its frames, which are handed over.
            blocks.by_shape(&tile, |tile| {
                show(Piece { place, first: 0, frames: self.decode_tile(blocks, tile)? })?;
                Ok(tile.clone())
            })?;
        }
        Ok(())
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError> {
        let clip = as_clip(&images.to_dtype(blocks.dtype())?)?;
        let moments = match tiling {
            Some(tiling) => tiling.encode(&clip, self.scale(), |tile| {
                blocks.by_shape(tile, |tile| self.encode_tile(blocks, tile))
            })?,
            None => self.encode_tile(blocks, &clip)?,
        };
        let moments = if images.rank() == 4 { moments.squeeze(2)? } else { moments };
        let channels = self.config.latent_channels;
        // All channels share one variance.
        let log_variance = moments.narrow(1, channels, 1)?.clamp(-30.0, 20.0)?;
        let log_variance = Tensor::cat(&vec![log_variance; channels], 1)?;
        Ok((moments.narrow(1, 0, channels)?, log_variance))
    }
}
