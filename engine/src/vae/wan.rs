//! The causal autoencoders of Wan 2.1 (Team Wan 2025, arXiv:2503.20314, section 4.1) and of Wan 2.2 5B, and that of
//! Qwen-Image 2.1, which is the same for single images with an opacity.
//!
//! It works through a clip one latent frame at a time. Each convolution over time keeps the last frames that it has
//! seen, so memory does not grow with the length of the clip.

use std::{cell::RefCell, collections::HashMap};

use super::{
    Area, Autoencoder, Piece, Reel, Show, Tiling, WanAutoencoderConfig,
    frames::{Frames, as_clip, each, per_channel, stacked},
    wan_config::{Level, is_flat},
    wan_names::original_name,
    wan_patches,
};
use crate::{
    checkpoint::{CheckpointError, Component, Part, Role, TensorTable},
    nn::{Conv2d, Mask, Result, Tensor, add, attention, bail, upsample_nearest_2x},
    residency::{Blocks, RunError, Weights},
};

/// Channels of an image without its opacity.
const COLOURS: usize = 3;
/// Frames that a kernel over time spans.
const SPAN: usize = 3;
/// Latent frames after which every convolution has seen as many frames as its kernel spans.
const WARM: usize = 3;

/// The shape of an autoencoder; its weights come from a store.
#[derive(Debug, Clone)]
pub struct WanAutoencoder {
    config: WanAutoencoderConfig,
    is_sampled: bool,
}

impl WanAutoencoder {
    /// Builds the autoencoder from its shape.
    pub fn new(config: WanAutoencoderConfig) -> Self {
        Self { config, is_sampled: false }
    }

    /// The same for images, of which diffusion starts from a sample and not from the mean: as in Qwen-Image.
    pub fn sampled(self) -> Self {
        Self { is_sampled: true, ..self }
    }

    /// Finds every tensor of an autoencoder, under diffusers' or the original names.
    ///
    /// # Errors
    /// When the configuration is wrong or not supported, a tensor is missing, or a tensor has the wrong shape.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(WanAutoencoderConfig::from_shapes)?;
        let config = WanAutoencoderConfig { is_flat: is_flat(&part.tensors), ..config };
        config.check(part)?;
        let component = Component::bind(
            Role::Autoencoder,
            if config.is_flat { "AutoencoderKLQwenImage21" } else { "AutoencoderKLWan" },
            &config.blueprint(),
            &part.tensors,
            |name| original_name(name, config.num_res_blocks, config.is_residual),
            &part.path,
        )?;
        Ok((Self::new(config), component))
    }

    /// Number of latent channels of the autoencoder in `tensors`, if there is one.
    pub fn channels_of(tensors: &TensorTable) -> Option<usize> {
        let inputs = ["decoder.conv_in.weight", "decoder.conv1.weight"];
        let shape = inputs.iter().find_map(|name| tensors.get(*name))?.shape();
        // A kernel over time has five dimensions.
        match shape {
            [_, channels, frames, _, _] if *frames > 1 => Some(*channels),
            _ => None,
        }
    }

    /// The same of an autoencoder of single images.
    pub fn image_channels_of(tensors: &TensorTable) -> Option<usize> {
        // Others with kernels for images have no norms of this name.
        let middle = ["decoder.mid_block.resnets.0.norm1.gamma", "decoder.middle.0.residual.0.gamma"];
        let inputs = ["decoder.conv_in.weight", "decoder.conv1.weight"];
        let shape = inputs.iter().find_map(|name| tensors.get(*name))?.shape();
        let is_it = is_flat(tensors) && middle.iter().any(|name| tensors.contains_key(*name));
        shape.get(1).copied().filter(|_| is_it)
    }

    /// Its shape.
    pub fn config(&self) -> &WanAutoencoderConfig {
        &self.config
    }

    /// Images with an opacity beside the colours, in autoencoders that see it: those without one are opaque.
    fn with_opacity(&self, image: Tensor) -> Result<Tensor> {
        if !self.config.is_flat || image.dim(1)? > COLOURS {
            return Ok(image);
        }
        let opaque = image.narrow(1, 0, 1)?.affine(0.0, 1.0)?;
        Tensor::cat(&[image, opaque], 1)
    }

    /// Decodes a clip `[1, channels, frames, height, width]`, and hands over the frames of each latent frame.
    fn decode_tile(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        mut show: impl FnMut(usize, Frames) -> std::result::Result<(), RunError>,
    ) -> std::result::Result<(), RunError> {
        let count = latents.dim(2)?;
        let past = Past { is_flat: self.config.is_flat, ..Past::default() };
        let mut shown = 0;
        let mut decode = |index: usize| -> std::result::Result<(), RunError> {
            past.begin(index + 1 == count);
            let frame = latents.narrow(2, index, 1)?.squeeze(2)?.contiguous()?;
            let frames = self.decode_frame(blocks, frame, &past)?;
            let first = shown;
            shown += frames.len();
            show(first, frames)
        };
        (0..count.min(WARM)).try_for_each(&mut decode)?;
        blocks.repeat(count.saturating_sub(WARM), |index| decode(WARM + index))
    }

    fn decode_frame(
        &self,
        blocks: Blocks<'_>,
        latents: Tensor,
        past: &Past,
    ) -> std::result::Result<Frames, RunError> {
        let (first, levels) = (self.config.first_decoder_block(), self.config.up_levels());
        let last = first + 2 + levels.len();
        let mut x = vec![latents];
        blocks.walk(first..last + 1, |index, w| {
            let past = past.of(index);
            let frames = std::mem::take(&mut x);
            x = match index - first {
                0 => {
                    let frames =
                        each(frames, |frame| w.conv2d("post_quant_conv", &frame, Conv2d::POINTWISE))?;
                    past.convolve(w, "decoder.conv_in", frames)?
                }
                1 => middle(w, &past, frames)?,
                _ if index == last => {
                    let frames = each(frames, |frame| w.channel_norm("decoder.norm_out", &frame, true))?;
                    let frames = past.convolve(w, "decoder.conv_out", frames)?;
                    each(frames, |frame| wan_patches::joined(&frame, self.config.patch()))?
                }
                level => up(w, &past, &levels[level - 2], frames)?,
            };
            Ok(())
        })?;
        Ok(x)
    }

    /// Encodes an area of a clip to mean and log variance of its latents, one after the other in the channels.
    fn encode_tile(
        &self,
        blocks: Blocks<'_>,
        reel: &Reel<'_>,
        area: Area,
    ) -> std::result::Result<Tensor, RunError> {
        let step = self.config.frames_per_latent();
        let count = 1 + (reel.count - 1) / step;
        let past = Past { is_flat: self.config.is_flat, ..Past::default() };
        let mut moments: Frames = Vec::new();
        let mut encode = |index: usize| -> std::result::Result<(), RunError> {
            past.begin(index + 1 == count);
            let (first, length) = if index == 0 { (0, 1) } else { (1 + (index - 1) * step, step) };
            let frame = |place| {
                let frame = reel.part(place, area, blocks.dtype())?;
                wan_patches::split(&self.with_opacity(frame)?, self.config.patch())
            };
            let group = (first..first + length).map(frame).collect::<Result<_>>()?;
            moments.extend(self.encode_frames(blocks, group, &past)?);
            Ok(())
        };
        (0..count.min(WARM)).try_for_each(&mut encode)?;
        blocks.repeat(count.saturating_sub(WARM), |index| encode(WARM + index))?;
        Ok(stacked(moments, count)?)
    }

    fn encode_frames(
        &self,
        blocks: Blocks<'_>,
        frames: Frames,
        past: &Past,
    ) -> std::result::Result<Frames, RunError> {
        let (last, levels) = (self.config.first_decoder_block() - 1, self.config.down_levels());
        let mut x = frames;
        blocks.walk(0..last + 1, |index, w| {
            let past = past.of(index);
            let frames = std::mem::take(&mut x);
            x = match index {
                0 => past.convolve(w, "encoder.conv_in", frames)?,
                _ if index == last => {
                    let frames = each(frames, |frame| w.channel_norm("encoder.norm_out", &frame, true))?;
                    let frames = past.convolve(w, "encoder.conv_out", frames)?;
                    each(frames, |frame| w.conv2d("quant_conv", &frame, Conv2d::POINTWISE))?
                }
                _ if index == levels.len() + 1 => middle(w, &past, frames)?,
                level => down(w, &past, &levels[level - 1], frames)?,
            };
            Ok(())
        })?;
        Ok(x)
    }
}

/// The frames that convolutions over time have seen, by their names.
#[derive(Default)]
struct Past {
    /// Whether kernels are those of single images.
    is_flat: bool,
    seen: RefCell<HashMap<(usize, String), Frames>>,
    is_last: RefCell<bool>,
}

/// The part of it that belongs to a block.
struct OfBlock<'a> {
    past: &'a Past,
    block: usize,
}

impl Past {
    /// Begins the next latent frame. Of the last one, nothing is kept.
    fn begin(&self, is_last: bool) {
        *self.is_last.borrow_mut() = is_last;
    }

    fn of(&self, block: usize) -> OfBlock<'_> {
        OfBlock { past: self, block }
    }
}

impl OfBlock<'_> {
    /// What a layer has seen; `None` if it has not run before.
    fn take(&self, name: &str) -> Option<Frames> {
        self.past.seen.borrow_mut().remove(&(self.block, name.to_owned()))
    }

    fn keep(&self, name: &str, frames: Frames) {
        if !*self.past.is_last.borrow() {
            self.past.seen.borrow_mut().insert((self.block, name.to_owned()), frames);
        }
    }

    /// Applies a convolution over time to frames, each with those before it.
    fn convolve(&self, w: &Weights, name: &str, frames: Frames) -> Result<Frames> {
        let mut seen = self.take(name).unwrap_or_default();
        let convolved = each(frames, |frame| self.next(w, name, &mut seen, frame))?;
        self.keep(name, seen);
        Ok(convolved)
    }

    /// The convolution's result for one more frame.
    fn next(&self, w: &Weights, name: &str, seen: &mut Frames, frame: Tensor) -> Result<Tensor> {
        if self.past.is_flat {
            return w.conv2d(name, &frame, Conv2d::SAME_3X3);
        }
        seen.push(frame);
        let frames: Vec<&Tensor> = seen.iter().collect();
        let convolved = w.conv3d(name, &frames, Conv2d::SAME_3X3)?;
        if seen.len() == SPAN {
            seen.remove(0);
        }
        Ok(convolved)
    }
}

fn up(w: &Weights, past: &OfBlock<'_>, level: &Level, mut x: Frames) -> Result<Frames> {
    let inputs = if level.has_shortcut { x.clone() } else { Vec::new() };
    for name in &level.resnets {
        x = resnet(w, past, name, x)?;
    }
    let Some(sampler) = &level.sampler else { return Ok(x) };
    if sampler.in_time {
        x = doubled(w, past, &format!("{}.time_conv", sampler.name), x)?;
    }
    let name = format!("{}.resample.1", sampler.name);
    let x = each(x, |frame| w.conv2d(&name, &upsample_nearest_2x(&frame)?, Conv2d::SAME_3X3))?;
    if !level.has_shortcut {
        return Ok(x);
    }
    // Of the very first frame there is only one, the last of those that repeat it.
    let times = if sampler.in_time { 2 } else { 1 };
    let repeated = wan_patches::repeated(&inputs, sampler.outputs, times)?;
    let skipped = repeated.len() - x.len();
    x.into_iter().zip(&repeated[skipped..]).map(|(frame, shortcut)| add(&frame, shortcut)).collect()
}

/// Makes two frames of each. The very first one stays alone, and what follows does not see it.
fn doubled(w: &Weights, past: &OfBlock<'_>, name: &str, x: Frames) -> Result<Frames> {
    let Some(mut seen) = past.take(name) else {
        past.keep(name, Vec::new());
        return Ok(x);
    };
    let mut doubled = Vec::with_capacity(2 * x.len());
    for frame in x {
        seen.push(frame);
        let frames: Vec<&Tensor> = seen.iter().collect();
        let both = w.conv3d(name, &frames, Conv2d::POINTWISE)?;
        for half in both.chunk(2, 1)? {
            doubled.push(half.contiguous()?);
        }
        if seen.len() == SPAN {
            seen.remove(0);
        }
    }
    past.keep(name, seen);
    Ok(doubled)
}

fn down(w: &Weights, past: &OfBlock<'_>, level: &Level, mut x: Frames) -> Result<Frames> {
    let (side, times) = match &level.sampler {
        Some(sampler) => (2, if sampler.in_time { 2 } else { 1 }),
        None => (1, 1),
    };
    let shortcut = match level.has_shortcut {
        true => wan_patches::averaged(&x, level.width, times, side)?,
        false => Vec::new(),
    };
    for name in &level.resnets {
        x = resnet(w, past, name, x)?;
    }
    if let Some(sampler) = &level.sampler {
        let name = format!("{}.resample.1", sampler.name);
        x = each(x, |frame| w.conv2d(&name, &frame, Conv2d::HALVE_3X3_TRAILING))?;
        if sampler.in_time {
            x = halved(w, past, &format!("{}.time_conv", sampler.name), x)?;
        }
    }
    if !level.has_shortcut {
        return Ok(x);
    }
    x.into_iter().zip(&shortcut).map(|(frame, shortcut)| add(&frame, shortcut)).collect()
}

/// Makes one frame of two and the one before them. The very first one stays as it is.
fn halved(w: &Weights, past: &OfBlock<'_>, name: &str, mut x: Frames) -> Result<Frames> {
    let before = past.take(name);
    past.keep(name, x.last().cloned().into_iter().collect());
    let Some(before) = before else { return Ok(x) };
    x.splice(0..0, before);
    let starts = (0..x.len().saturating_sub(SPAN - 1)).step_by(2);
    starts
        .map(|start| {
            let frames: Vec<&Tensor> = x[start..start + SPAN].iter().collect();
            w.conv3d(name, &frames, Conv2d::POINTWISE)
        })
        .collect()
}

fn middle(w: &Weights, past: &OfBlock<'_>, x: Frames) -> Result<Frames> {
    let x = resnet(w, past, "resnets.0", x)?;
    let x = each(x, |frame| attend(w, &frame))?;
    resnet(w, past, "resnets.1", x)
}

/// A residual block, frame by frame: only one frame at a time is inside it.
fn resnet(w: &Weights, past: &OfBlock<'_>, name: &str, x: Frames) -> Result<Frames> {
    let [first, second] = ["conv1", "conv2"].map(|layer| format!("{name}.{layer}"));
    let [mut seen_first, mut seen_second] =
        [&first, &second].map(|layer| past.take(layer).unwrap_or_default());
    let shortcut = format!("{name}.conv_shortcut");
    let has_shortcut = w.has(&format!("{shortcut}.weight"));
    let x = each(x, |frame| {
        let h = w.channel_norm(&format!("{name}.norm1"), &frame, true)?;
        let h = past.next(w, &first, &mut seen_first, h)?;
        let h = w.channel_norm(&format!("{name}.norm2"), &h, true)?;
        let h = past.next(w, &second, &mut seen_second, h)?;
        match has_shortcut {
            true => add(&w.conv2d(&shortcut, &frame, Conv2d::POINTWISE)?, &h),
            false => add(&frame, &h),
        }
    })?;
    past.keep(&first, seen_first);
    past.keep(&second, seen_second);
    Ok(x)
}

/// Single-head attention over the pixels of a frame.
fn attend(w: &Weights, x: &Tensor) -> Result<Tensor> {
    let (batch, channels, height, width) = x.dims4()?;
    let name = "attentions.0";
    let h = w.channel_norm(&format!("{name}.norm"), x, false)?;
    let h = h.flatten_from(2)?.transpose(1, 2)?.contiguous()?;
    let qkv = w.linear(&format!("{name}.to_qkv"), &h)?.reshape((batch, height * width, 3, channels))?;
    let part = |index| qkv.narrow(2, index, 1);
    let h = attention(&part(0)?, &part(1)?, &part(2)?, Mask::None)?.squeeze(2)?;
    drop(qkv);
    let h = w.linear(&format!("{name}.proj"), &h)?;
    add(x, &h.transpose(1, 2)?.reshape((batch, channels, height, width))?)
}

impl Autoencoder for WanAutoencoder {
    fn latent_channels(&self) -> usize {
        self.config.z_dim
    }

    /// An opacity is added to images.
    fn image_channels(&self) -> usize {
        COLOURS
    }

    fn scale(&self) -> usize {
        self.config.scale()
    }

    fn frames_per_latent(&self) -> usize {
        self.config.frames_per_latent()
    }

    fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    fn unscale(&self, latents: &Tensor) -> Result<Tensor> {
        let scaled = latents.broadcast_mul(&per_channel(
            self.config.latents_std.iter().map(|&value| value as f32),
            latents,
        )?)?;
        scaled
            .broadcast_add(&per_channel(self.config.latents_mean.iter().map(|&value| value as f32), latents)?)
    }

    fn rescale(&self, latents: &Tensor) -> Result<Tensor> {
        let centred = latents.broadcast_add(&per_channel(
            self.config.latents_mean.iter().map(|&mean| -mean as f32),
            latents,
        )?)?;
        centred.broadcast_mul(&per_channel(
            self.config.latents_std.iter().map(|deviation| deviation.recip() as f32),
            latents,
        )?)
    }

    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError> {
        let whole = |tile: &Tensor| -> std::result::Result<Tensor, RunError> {
            let clip = as_clip(tile)?;
            let mut frames: Frames = Vec::new();
            self.decode_tile(blocks, &clip, |_, more| {
                frames.extend(more);
                Ok(())
            })?;
            if tile.rank() == 4 {
                return Ok(stacked(frames, 1)?.squeeze(2)?);
            }
            Ok(stacked(frames, 1 + (clip.dim(2)? - 1) * self.frames_per_latent())?)
        };
        let latents = latents.to_dtype(blocks.dtype())?;
        let decoded = match tiling {
            Some(tiling) => {
                tiling.decode(&latents, self.scale(), |tile| blocks.by_shape(tile, |tile| whole(tile)))?
            }
            None => whole(&latents)?,
        };
        Ok(decoded.clamp(-1.0, 1.0)?)
    }

    fn decode_clip(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
        show: Show<'_>,
    ) -> std::result::Result<(), RunError> {
        let latents = as_clip(&latents.to_dtype(blocks.dtype())?)?;
        let (_, _, _, height, width) = dims5(&latents)?;
        for place in Tiling::places(tiling, [height, width]) {
            let tile = place.of(&latents)?;
            // The tile stands for its frames, which are handed over.
            blocks.by_shape(&tile, |tile| {
                self.decode_tile(blocks, tile, |first, frames| show(Piece { place, first, frames }))?;
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
        let clip = as_clip(images)?;
        let (_, _, count, height, width) = dims5(&clip)?;
        let frame = |index: usize| clip.narrow(2, index, 1)?.squeeze(2)?.contiguous();
        let (mean, spread) =
            self.encode_clip(blocks, &Reel { count, height, width, frame: &frame }, tiling)?;
        Ok(if images.rank() == 4 { (mean.squeeze(2)?, spread.squeeze(2)?) } else { (mean, spread) })
    }

    fn encode_clip(
        &self,
        blocks: Blocks<'_>,
        reel: &Reel<'_>,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError> {
        let moments = match tiling {
            Some(tiling) => tiling.encode_areas([reel.height, reel.width], self.scale(), |area| {
                // The first frame stands for all of them.
                let first = reel.part(0, area, blocks.dtype())?;
                blocks.by_shape(&first, |_| self.encode_tile(blocks, reel, area))
            })?,
            None => self.encode_tile(blocks, reel, reel.whole())?,
        };
        let channels = self.config.z_dim;
        let log_variance = moments.narrow(1, channels, channels)?.clamp(-30.0, 20.0)?;
        Ok((moments.narrow(1, 0, channels)?, log_variance))
    }
}

/// The lengths of the five dimensions of a clip.
fn dims5(x: &Tensor) -> Result<(usize, usize, usize, usize, usize)> {
    match *x.dims() {
        [batch, channels, frames, height, width] => Ok((batch, channels, frames, height, width)),
        _ => bail!("a clip has the shape {:?}", x.dims()),
    }
}
