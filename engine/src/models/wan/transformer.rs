//! The forward pass of Wan's transformer.

use std::ops::Range;

use super::{
    WanConfig,
    config::{Layer, MODULATIONS, TABLE},
};
use crate::models::{
    Conditioning, Denoiser, DenoiserInput, GivenFrames, LatentShape, Modulation, PrepareInput, Prepared,
    patches::{Channels, patchify, unpatchify},
    token_levels::{Modulated, TokenLevels, levels_of},
};
use crate::{
    nn::{
        D, Device, Mask, Result, Rope, Tensor, Waves, add, attention, bail, gated_add, gelu, gelu_tanh,
        layer_norm_modulated, rope_interleaved, silu, waves,
    },
    request::{Canvas, Mode, ReferenceSizes, References},
    residency::{Blocks, RunError, Weights},
    text::Encoded,
};

/// Base of the rotary frequencies.
const THETA: f64 = 10_000.0;
/// Added to the variance in the norms of image embeddings.
const IMAGE_EPS: f64 = 1e-5;
/// The most reference images: each is a latent frame.
const MOST_REFERENCES: usize = 8;
/// Tokens that run through the feed-forward at a time: its inner values are several times as wide.
const TOGETHER: usize = 8192;
/// The block that embeds the latents, and the first one after it.
const EMBEDDER: usize = 1;
const FIRST: usize = 2;

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct WanTransformer {
    /// Its configuration.
    pub config: WanConfig,
    /// Pixels per latent, along one side.
    pub scale: usize,
    /// Frames per latent frame after the first.
    pub frames: usize,
    /// Whether timesteps are rounded down.
    pub has_whole_times: bool,
    /// The timestep below which the model's second transformer takes over, if it has one.
    pub boundary: Option<f32>,
    /// Whether each token can have a timestep of its own, as in Wan 2.2 5B.
    pub has_own_times: bool,
}

impl Denoiser for WanTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * self.config.patch()) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        let frames = 1 + canvas.frames.saturating_sub(1) as usize / self.frames;
        // Reference images come before the clip.
        let frames = if self.config.is_controlled() { frames + canvas.references } else { frames };
        LatentShape { channels: self.config.out_channels, frames, height, width }
    }

    fn makes_clips(&self) -> bool {
        true
    }

    fn references(&self) -> Option<References> {
        let sizes = ReferenceSizes::Canvas;
        self.config.is_controlled().then_some(References { most: MOST_REFERENCES, edits: false, sizes })
    }

    fn frame_multiple(&self) -> u32 {
        self.frames as u32
    }

    fn hands_over_below(&self) -> Option<f32> {
        self.boundary
    }

    fn modes(&self) -> &'static [Mode] {
        match (self.given_frames(), self.config.images()) {
            (GivenFrames::Beside, [1]) => &[Mode::ImageToVideo, Mode::Extend],
            (GivenFrames::Beside, [2]) => &[Mode::FirstAndLast],
            (GivenFrames::Beside, _) => &[Mode::ImageToVideo, Mode::FirstAndLast, Mode::Extend],
            (GivenFrames::Clean | GivenFrames::Renoised, _) => {
                &[Mode::Text, Mode::ImageToVideo, Mode::VideoToVideo, Mode::Extend]
            }
            (GivenFrames::Noised, _) => &[Mode::Text, Mode::VideoToVideo, Mode::Extend],
            (GivenFrames::Controlling, _) => {
                &[Mode::Text, Mode::ImageToVideo, Mode::FirstAndLast, Mode::Extend, Mode::Control]
            }
        }
    }

    fn given_frames(&self) -> GivenFrames {
        if self.config.is_controlled() {
            return GivenFrames::Controlling;
        }
        match (self.config.channels_beside() > 0, self.has_own_times) {
            (true, _) => GivenFrames::Beside,
            (false, true) => GivenFrames::Clean,
            (false, false) => GivenFrames::Noised,
        }
    }

    fn channels_beside(&self) -> usize {
        match self.config.is_controlled() {
            true => self.config.vace_in_channels,
            false => self.config.channels_beside(),
        }
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match encoded.into_iter().next() {
            Some(Encoded { states, .. }) => Ok(Conditioning::new(states)),
            None => bail!("the prompt was not encoded"),
        }
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        &PrepareInput { branches, sigmas, clean, image, control, .. }: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let mut prepared = Prepared { control, ..Prepared::default() };
        blocks.walk(0..1, |_, w| {
            prepared.modulations = self.modulations(w, &levels_of(sigmas, clean), blocks)?;
            prepared.branches = embed_prompts(w, branches)?;
            prepared.image = image.map(|image| self.embed_image(w, image)).transpose()?;
            Ok(())
        })?;
        Ok(prepared)
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        Ok(self.predict_all(blocks, std::slice::from_ref(input), prepared)?.pop().unwrap_or_default())
    }

    fn predict_all(
        &self,
        blocks: Blocks<'_>,
        inputs: &[DenoiserInput<'_>],
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Vec<Tensor>>, RunError> {
        let Some(first_input) = inputs.first() else { return Ok(Vec::new()) };
        let grid = Grid::new(first_input.latents.dims(), self.config.patch())?;
        let rope = self.rope(grid, &blocks.device())?;
        let levels = |input: &DenoiserInput<'_>| {
            TokenLevels::new(prepared, input.sigma, input.clean * grid.rows * grid.columns)
        };
        let levels = inputs.iter().map(levels).collect::<Result<Vec<_>>>()?;
        let branches = prepared.branches.len();
        let is_controlled = prepared.control.acts_at(first_input.sigma);
        let layers = self.config.layers();
        let mut streams: Vec<Stream> = Vec::new();
        blocks.walk_parts(&of_step(&layers, is_controlled), |index, w| {
            if index == EMBEDDER {
                for input in inputs {
                    let stream = self.embedded(w, input, grid, (blocks, is_controlled))?;
                    streams.extend(std::iter::repeat_n(stream, branches));
                }
                return Ok(());
            }
            let layer = layers.get(index - FIRST);
            w.branches(&mut streams, |w, number, stream| {
                let (levels, branch) = (levels[number / branches], &prepared.branches[number % branches]);
                let seen = Seen { prompt: &branch.prompt, image: prepared.image.as_ref() };
                match layer {
                    Some(Layer::Plain(_)) => {
                        stream.x = self.block(w, &stream.x, levels, seen, &rope)?;
                        if let Some(hint) = stream.hint.take() {
                            stream.x = add(&stream.x, &(hint * f64::from(prepared.control.strength))?)?;
                        }
                    }
                    Some(Layer::Control(number)) => {
                        let Some(mut x) = stream.control.take() else { bail!("nothing controls the clip") };
                        if *number == 0 {
                            x = add(&w.linear("proj_in", &x)?, &stream.x)?;
                        }
                        let x = self.block(w, &x, levels, seen, &rope)?;
                        stream.hint = Some(w.linear("proj_out", &x)?);
                        stream.control = Some(x);
                    }
                    None => stream.x = self.head(w, &stream.x, levels)?,
                }
                Ok(())
            })
        })?;
        let of_input = |streams: &[Stream]| streams.iter().map(|stream| grid.latents(&stream.x)).collect();
        Ok(streams.chunks(branches.max(1)).map(of_input).collect::<Result<_>>()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}

impl WanTransformer {
    /// For each noise level, the modulation of all blocks, `[1, 6, dim]`, and that of the head, `[1, 1, dim]`, before
    /// their tables are added.
    fn modulations(&self, w: &Weights, sigmas: &[f32], blocks: Blocks<'_>) -> Result<Vec<Modulation>> {
        let time = |sigma: &f32| if self.has_whole_times { (sigma * 1000.0).floor() } else { sigma * 1000.0 };
        let times: Vec<f32> = sigmas.iter().map(time).collect();
        let width = self.config.freq_dim;
        let form = Waves { width, spaced: (width / 2) as f64, cosines_first: true };
        let wave = waves(&times, form, &blocks.device())?.to_dtype(blocks.dtype())?;
        let name = "condition_embedder.time_embedder";
        let embedded = silu(&w.linear(&format!("{name}.linear_1"), &wave)?)?;
        let embedded = w.linear(&format!("{name}.linear_2"), &embedded)?;
        let projected = w.linear("condition_embedder.time_proj", &silu(&embedded)?)?;
        let dim = self.config.dim();
        let of_level = |(index, &sigma): (usize, &f32)| {
            let of_blocks = projected.narrow(0, index, 1)?.reshape((1, MODULATIONS, dim))?;
            let of_head = embedded.narrow(0, index, 1)?.reshape((1, 1, dim))?;
            Ok(Modulation { sigma, tensors: vec![of_blocks, of_head] })
        };
        sigmas.iter().enumerate().map(of_level).collect()
    }

    /// The patches of the latents, and of what controls them, if it does.
    fn embedded(
        &self,
        w: &Weights,
        input: &DenoiserInput<'_>,
        grid: Grid,
        (blocks, is_controlled): (Blocks<'_>, bool),
    ) -> Result<Stream> {
        let patches = |name: &str, latents: &Tensor| {
            w.patches(name, &grid.patches(&latents.to_dtype(blocks.dtype())?)?)
        };
        let (x, control) = match input.beside {
            Some(beside) if self.config.is_controlled() => {
                let control = is_controlled.then(|| patches("vace_patch_embedding", beside)).transpose()?;
                (patches("patch_embedding", input.latents)?, control)
            }
            Some(beside) => (patches("patch_embedding", &Tensor::cat(&[input.latents, beside], 1)?)?, None),
            None => (patches("patch_embedding", input.latents)?, None),
        };
        Ok(Stream { x, control, hint: None })
    }

    fn block(
        &self,
        w: &Weights,
        x: &Tensor,
        levels: TokenLevels<'_>,
        seen: Seen<'_>,
        rope: &Rope,
    ) -> Result<Tensor> {
        // Shift, scale and gate of attention, then of the feed-forward.
        let table = w.get(TABLE)?;
        let modulation = levels.modulated(0, |level| chunks(&(&table + level)?, MODULATIONS))?;
        drop(table);
        let h = modulation.apply([x], |[x], own| self.normed(x, &own[..2]))?;
        let h = self.attention(w, "attn1", h, None, Some(rope))?;
        let x = modulation.apply([x, &h], |[x, h], own| gated_add(x, &own[2], h))?;
        drop(h);
        let h =
            if self.config.cross_attn_norm { w.layer_norm("norm2", &x, self.config.eps)? } else { x.clone() };
        let x = add(&x, &self.attention(w, "attn2", h, Some(seen), None)?)?;
        self.feed_forward(w, &x, &modulation)
    }

    /// `x` normalized, then modulated by shift and scale.
    fn normed(&self, x: &Tensor, modulation: &[Tensor]) -> Result<Tensor> {
        layer_norm_modulated(x, self.config.eps, &modulation[1], Some(&modulation[0]))
    }

    /// Attention of all tokens of `x`, which is freed as early as possible, to themselves or to what is given.
    fn attention(
        &self,
        w: &Weights,
        name: &str,
        x: Tensor,
        seen: Option<Seen<'_>>,
        rope: Option<&Rope>,
    ) -> Result<Tensor> {
        let (heads, width) = (self.config.num_attention_heads, self.config.attention_head_dim);
        let batch = x.dim(0)?;
        let split = |x: Tensor| {
            let tokens = x.dim(1)?;
            let x = x.reshape((x.dim(0)?, tokens, heads, width))?;
            if x.dim(0)? == batch {
                Ok(x)
            } else {
                x.broadcast_as((batch, tokens, heads, width))?.contiguous()
            }
        };
        let projected = |layer: &str, norm: &str, x: &Tensor| -> Result<Tensor> {
            let h = w.linear(&format!("{name}.{layer}"), x)?;
            if self.config.qk_norm.is_none() {
                return split(h);
            }
            split(w.rms_norm(&format!("{name}.{norm}"), &h, self.config.eps)?)
        };
        let prompt = seen.map(|seen| seen.prompt);
        let mut q = projected("to_q", "norm_q", &x)?;
        let mut k = projected("to_k", "norm_k", prompt.unwrap_or(&x))?;
        let v = split(w.linear(&format!("{name}.to_v"), prompt.unwrap_or(&x))?)?;
        drop(x);
        if let Some(rope) = rope {
            q = rope_interleaved(&q, rope)?;
            k = rope_interleaved(&k, rope)?;
        }
        let mut h = attention(&q, &k, &v, Mask::None)?;
        drop((k, v));
        if let Some(image) = seen.and_then(|seen| seen.image) {
            let k = projected("add_k_proj", "norm_added_k", image)?;
            let v = split(w.linear(&format!("{name}.add_v_proj"), image)?)?;
            h = add(&h, &attention(&q, &k, &v, Mask::None)?)?;
        }
        drop(q);
        w.linear(&format!("{name}.to_out.0"), &h.flatten_from(2)?)
    }

    /// The feed-forward layers, for some tokens at a time.
    fn feed_forward(&self, w: &Weights, x: &Tensor, modulation: &Modulated) -> Result<Tensor> {
        let part = |(range, own): (Range<usize>, &[Tensor])| {
            let x = x.narrow(1, range.start, range.len())?.contiguous()?;
            let h = self.normed(&x, &own[3..5])?;
            let wide = w.linear("ffn.net.0.proj", &h)?;
            drop(h);
            let h = gelu_tanh(&wide)?;
            drop(wide);
            gated_add(&x, &own[5], &w.linear("ffn.net.2", &h)?)
        };
        let ranges = modulation.ranges(x.dim(1)?, TOGETHER).into_iter();
        let parts = ranges.map(part).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&parts, 1)
    }

    fn head(&self, w: &Weights, x: &Tensor, levels: TokenLevels<'_>) -> Result<Tensor> {
        // Shift and scale.
        let table = w.get(TABLE)?;
        let modulation = levels.modulated(1, |level| chunks(&table.broadcast_add(level)?, 2))?;
        drop(table);
        let h = modulation.apply([x], |[x], own| self.normed(x, own))?;
        w.linear("proj_out", &h)
    }

    /// Converts the embeddings of input images `[tokens, width]` to the network's tokens `[1, tokens, dim]`.
    fn embed_image(&self, w: &Weights, image: &Tensor) -> Result<Tensor> {
        let name = "condition_embedder.image_embedder";
        let mut x = image.unsqueeze(0)?;
        if self.config.pos_embed_seq_len.is_some() {
            x = add(&x, &w.get(&format!("{name}.pos_embed"))?)?;
        }
        let x = w.layer_norm(&format!("{name}.norm1"), &x, IMAGE_EPS)?;
        let h = gelu(&w.linear(&format!("{name}.ff.net.0.proj"), &x)?)?;
        w.layer_norm(&format!("{name}.norm2"), &w.linear(&format!("{name}.ff.net.2"), &h)?, IMAGE_EPS)
    }

    /// Rotary embeddings of the patches: frame by frame, row by row.
    fn rope(&self, grid: Grid, device: &Device) -> Result<Rope> {
        let sides = [grid.frames, grid.rows, grid.columns];
        let table = |(width, side): (usize, usize)| -> Vec<Vec<(f32, f32)>> {
            let angle =
                |place: usize, pair: usize| place as f64 / THETA.powf((2 * pair) as f64 / width as f64);
            let pair = |place, pair| {
                let angle: f64 = angle(place, pair);
                (angle.cos() as f32, angle.sin() as f32)
            };
            (0..side).map(|place| (0..width / 2).map(|index| pair(place, index)).collect()).collect()
        };
        let [of_frames, of_rows, of_columns] = {
            let mut tables = self.config.axes().into_iter().zip(sides).map(table);
            [(); 3].map(|()| tables.next().unwrap_or_default())
        };
        let pairs = self.config.attention_head_dim / 2;
        let (mut cosines, mut sines) =
            (Vec::with_capacity(grid.count() * pairs), Vec::with_capacity(grid.count() * pairs));
        for frame in &of_frames {
            for row in &of_rows {
                for column in &of_columns {
                    for (cosine, sine) in frame.iter().chain(row).chain(column) {
                        cosines.push(*cosine);
                        sines.push(*sine);
                    }
                }
            }
        }
        Rope::from_cosines_and_sines([cosines, sines], grid.count(), pairs, device)
    }
}

/// The blocks of a step from the embedder to the head: without those of the second stream where that has no effect.
fn of_step(layers: &[Layer], is_controlled: bool) -> Vec<Range<usize>> {
    let (mut parts, mut start) = (Vec::new(), EMBEDDER);
    for (place, layer) in layers.iter().enumerate() {
        if !is_controlled && matches!(layer, Layer::Control(_)) {
            parts.push(start..FIRST + place);
            start = FIRST + place + 1;
        }
    }
    parts.push(start..FIRST + layers.len() + 1);
    parts
}

/// The values of a guidance branch between two blocks, each `[batch, tokens, dim]`.
#[derive(Clone)]
struct Stream {
    x: Tensor,
    /// Those of the stream that controls.
    control: Option<Tensor>,
    /// What that adds to the next block's.
    hint: Option<Tensor>,
}

/// What the tokens of a clip attend to besides themselves, each `[1, tokens, dim]`.
#[derive(Clone, Copy)]
struct Seen<'a> {
    prompt: &'a Tensor,
    image: Option<&'a Tensor>,
}

/// The parts of a modulation `[1, count, dim]`.
fn chunks(modulation: &Tensor, count: usize) -> Result<Vec<Tensor>> {
    modulation.chunk(count, 1)?.iter().map(Tensor::contiguous).collect()
}

/// Converts prompt embeddings `[tokens, width]` to the network's tokens `[1, tokens, dim]`, layer by layer.
fn embed_prompts(w: &Weights, branches: &[Conditioning]) -> Result<Vec<Conditioning>> {
    let name = "condition_embedder.text_embedder";
    let inner = |branch: &Conditioning| {
        gelu_tanh(&w.linear(&format!("{name}.linear_1"), &branch.prompt.unsqueeze(0)?)?)
    };
    let inner = branches.iter().map(inner).collect::<Result<Vec<_>>>()?;
    let token = |h: &Tensor| Ok(Conditioning::new(w.linear(&format!("{name}.linear_2"), h)?));
    inner.iter().map(token).collect()
}

/// The patches of an image's or a clip's latents.
#[derive(Debug, Clone, Copy)]
struct Grid {
    batch: usize,
    frames: usize,
    rows: usize,
    columns: usize,
    /// Side of a patch.
    side: usize,
    /// Whether the latents have an axis for frames.
    is_clip: bool,
}

impl Grid {
    fn new(dims: &[usize], side: usize) -> Result<Self> {
        let (batch, frames, height, width) = match *dims {
            [batch, _, height, width] => (batch, 1, height, width),
            [batch, _, frames, height, width] => (batch, frames, height, width),
            _ => bail!("latents have the shape {dims:?}"),
        };
        Ok(Self { batch, frames, rows: height / side, columns: width / side, side, is_clip: dims.len() == 5 })
    }

    /// Number of patches.
    fn count(self) -> usize {
        self.frames * self.rows * self.columns
    }

    /// Latents as patches `[batch, patches, channels · side · side]`.
    fn patches(self, latents: &Tensor) -> Result<Tensor> {
        let images = if self.is_clip {
            let dims = latents.dims().to_vec();
            latents.transpose(1, 2)?.reshape((self.batch * self.frames, dims[1], dims[3], dims[4]))?
        } else {
            latents.clone()
        };
        let patches = patchify(&images, self.side, Channels::First)?;
        patches.reshape((self.batch, self.count(), patches.dim(D::Minus1)?))
    }

    /// Patches as latents.
    fn latents(self, patches: &Tensor) -> Result<Tensor> {
        let of_frame = self.rows * self.columns;
        let patches = patches.reshape((self.batch * self.frames, of_frame, patches.dim(D::Minus1)?))?;
        let images = unpatchify(&patches, [self.rows, self.columns], self.side, Channels::Last)?;
        if !self.is_clip {
            return Ok(images);
        }
        let (_, channels, height, width) = images.dims4()?;
        images.reshape((self.batch, self.frames, channels, height, width))?.transpose(1, 2)?.contiguous()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_the_second_stream_are_left_out_where_it_has_no_effect() {
        let config = WanConfig { num_layers: 3, vace_layers: vec![0, 2], ..WanConfig::default() };
        let parts = |config: &WanConfig, is_controlled| -> Vec<[usize; 2]> {
            let parts = of_step(&config.layers(), is_controlled);
            parts.iter().map(|part| [part.start, part.end]).collect()
        };
        assert_eq!(parts(&config, true), [[1, 8]]);
        assert_eq!(parts(&config, false), [[1, 2], [3, 5], [6, 8]]);
        let plain = WanConfig { vace_layers: Vec::new(), ..config };
        assert_eq!(parts(&plain, false), [[1, 6]]);
    }
}
