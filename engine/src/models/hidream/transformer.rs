//! The forward pass of HiDream-I1's transformer.

use std::cell::RefCell;

use super::{HiDreamConfig, config::Preparation};
use crate::models::{
    Conditioning, Denoiser, DenoiserInput, LatentShape, PrepareInput, Prepared,
    denoiser::negative_first,
    joint::{DOUBLE_MODULATION, embedded, embedded_waves, modulated_by},
    modulated::{gated_feed_forward, normed, within_range},
    patches::{Channels, angles, patchify, unpatchify},
};
use crate::{
    nn::{
        D, Device, Mask, Result, Rope, Routes, Share, Tensor, attention, bail, gated_add, rope_interleaved,
        silu,
    },
    request::Canvas,
    residency::{Blocks, RunError, Weights},
    text::Encoded,
};

/// Base of the rotary frequencies.
const THETA: f64 = 10_000.0;
/// Added to the mean square of queries and keys.
const EPS: f64 = 1e-5;

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct HiDreamTransformer {
    config: HiDreamConfig,
    /// Pixels per latent, along one side.
    scale: usize,
    /// Whether timesteps are rounded down.
    has_whole_times: bool,
}

/// What all branches of a prediction have in common.
struct Places {
    /// Rotations of image and text.
    queries: Rope,
    /// The same with the tokens that a block alone reads.
    keys: Rope,
    /// Tokens of the image.
    image: usize,
    /// Tokens of padding after the image, whose keys are zeros.
    padding: usize,
}

impl HiDreamTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: HiDreamConfig, scale: usize, has_whole_times: bool) -> Self {
        Self { config, scale, has_whole_times }
    }

    /// Tokens of padding after those of an image: as many as the largest image in training has more, if this one is not
    /// square and nearly as large. Networks have learned to see them. Others than these are not made in diffusers; ComfyUI
    /// pads none.
    fn padding(&self, [rows, columns]: [usize; 2]) -> usize {
        let [most_rows, most_columns] = self.config.max_resolution;
        let most = most_rows * most_columns / (self.config.patch_size * self.config.patch_size);
        let tokens = rows * columns;
        let is_large = tokens >= most - most / 8;
        if rows != columns && is_large { most.saturating_sub(tokens) } else { 0 }
    }

    /// Places of an image and its padding, and of two texts with as many tokens, of `text` tokens each.
    fn places(&self, grid: [usize; 2], text: usize, device: &Device) -> Result<Places> {
        let [rows, columns] = grid;
        let (image, padding) = (rows * columns, self.padding(grid));
        let rope = |places: Vec<[f64; 3]>| {
            let angle = |place: f64, exponent: f64| place / THETA.powf(exponent);
            let angles = angles(&places, &self.config.axes_dims_rope, angle);
            Rope::from_exact_angles(&angles, places.len(), self.config.attention_head_dim / 2, device)
        };
        let of_image = (0..image).map(|index| [0, index / columns, index % columns]);
        let all = of_image.chain(std::iter::repeat_n([0; 3], padding + 2 * text));
        let queries = rope(all.map(|place| place.map(|axis: usize| axis as f64)).collect())?;
        let keys = queries.concat(&rope(vec![[0.0; 3]; text])?)?;
        Ok(Places { queries, keys, image, padding })
    }

    /// `[batch, tokens, heads, width]` of the layer `name`.
    fn heads(&self, w: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
        self.split(w.linear(&format!("attn1.{name}"), x)?)
    }

    /// The same, normalized over all heads together.
    fn normed_heads(&self, w: &Weights, [name, norm]: [&str; 2], x: &Tensor) -> Result<Tensor> {
        let x = w.linear(&format!("attn1.{name}"), x)?;
        self.split(w.rms_norm(&format!("attn1.{norm}"), &x, EPS)?)
    }

    fn split(&self, x: Tensor) -> Result<Tensor> {
        let (batch, tokens, _) = x.dims3()?;
        x.reshape((batch, tokens, self.config.num_attention_heads, ()))
    }

    /// Attention of `q` over keys and values that begin with those of the image and its padding, `[batch, tokens, dim]`.
    fn attend(&self, q: Tensor, k: Tensor, v: Tensor, places: &Places) -> Result<Tensor> {
        let k = without_padding(k, places)?;
        let (q, k) = (rope_interleaved(&q, &places.queries)?, rope_interleaved(&k, &places.keys)?);
        attention(&q, &k, &v, Mask::None)?.flatten_from(2)
    }

    /// The sum of the shared expert, which all tokens of `x` `[batch, tokens, dim]` go through, and of those that each
    /// chooses.
    fn experts(&self, w: &Weights, x: Tensor) -> Result<Tensor> {
        let (batch, tokens, dim) = x.dims3()?;
        let x = x.reshape((batch * tokens, dim))?;
        let mut sum = gated_feed_forward(w, "ff_i.shared_experts", x.clone())?;
        let routes =
            Routes::new(&w.linear("ff_i.gate", &x)?, self.config.num_activated_experts, Share::OfAll)?;
        for expert in 0..routes.count() {
            let name = format!("ff_i.experts.{expert}");
            sum = routes.add(expert, &x, sum, |x| gated_feed_forward(w, &name, x))?;
        }
        sum.reshape((batch, tokens, dim))
    }

    /// Image and text after a double block that also reads `caption`.
    fn double_block(
        &self,
        w: &Weights,
        [img, txt]: [&Tensor; 2],
        caption: &Tensor,
        modulation: &Tensor,
        places: &Places,
    ) -> Result<[Tensor; 2]> {
        let own = modulation.chunk(2 * DOUBLE_MODULATION, D::Minus1)?;
        let (of_image, of_text) = own.split_at(DOUBLE_MODULATION);
        let text = txt.dim(1)?;
        let h = normed(img, of_image)?;
        let image_q = self.normed_heads(w, ["to_q", "q_rms_norm"], &h)?;
        let image_k = self.normed_heads(w, ["to_k", "k_rms_norm"], &h)?;
        let image_v = self.heads(w, "to_v", &h)?;
        drop(h);
        let h = normed(&Tensor::cat(&[txt, caption], 1)?, of_text)?;
        // What becomes of the caption is not needed.
        let q = self.normed_heads(w, ["to_q_t", "q_rms_norm_t"], &h.narrow(1, 0, text)?.contiguous()?)?;
        let k = self.normed_heads(w, ["to_k_t", "k_rms_norm_t"], &h)?;
        let v = self.heads(w, "to_v_t", &h)?;
        drop(h);
        let [q, k, v] = [[image_q, q], [image_k, k], [image_v, v]].map(|both| Tensor::cat(&both, 1));
        let h = self.attend(q?, k?, v?, places)?;
        let image = img.dim(1)?;
        let attended = w.linear("attn1.to_out", &h.narrow(1, 0, image)?.contiguous()?)?;
        let img = gated_add(img, &of_image[2], &attended)?;
        let attended = w.linear("attn1.to_out_t", &h.narrow(1, image, text)?.contiguous()?)?;
        let txt = gated_add(txt, &of_text[2], &attended)?;
        drop((h, attended));
        let h = self.experts(w, normed(&img, &of_image[3..])?)?;
        let img = within_range(gated_add(&img, &of_image[5], &h)?)?;
        let h = gated_feed_forward(w, "ff_t", normed(&txt, &of_text[3..])?)?;
        Ok([img, within_range(gated_add(&txt, &of_text[5], &h)?)?])
    }

    /// Image and text after a single block that also reads `caption`.
    fn single_block(
        &self,
        w: &Weights,
        x: &Tensor,
        caption: &Tensor,
        modulation: &Tensor,
        places: &Places,
    ) -> Result<Tensor> {
        let own = modulation.chunk(DOUBLE_MODULATION, D::Minus1)?;
        let tokens = x.dim(1)?;
        let h = normed(&Tensor::cat(&[x, caption], 1)?, &own)?;
        let q = self.normed_heads(w, ["to_q", "q_rms_norm"], &h.narrow(1, 0, tokens)?.contiguous()?)?;
        let k = self.normed_heads(w, ["to_k", "k_rms_norm"], &h)?;
        let v = self.heads(w, "to_v", &h)?;
        drop(h);
        let h = w.linear("attn1.to_out", &self.attend(q, k, v, places)?)?;
        let x = gated_add(x, &own[2], &h)?;
        drop(h);
        let h = self.experts(w, normed(&x, &own[3..])?)?;
        within_range(gated_add(&x, &own[5], &h)?)
    }
}

/// `k` with zeros in the place of the padding after the image.
fn without_padding(k: Tensor, places: &Places) -> Result<Tensor> {
    if places.padding == 0 {
        return Ok(k);
    }
    let (batch, tokens, heads, width) = k.dims4()?;
    let end = places.image + places.padding;
    let zeros = Tensor::zeros((batch, places.padding, heads, width), k.dtype(), &k.device())?;
    Tensor::cat(&[k.narrow(1, 0, places.image)?, zeros, k.narrow(1, end, tokens - end)?], 1)
}

impl Denoiser for HiDreamTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * self.config.patch_size) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.in_channels, height, width)
    }

    /// Each token has a row, with the state of T5 and those of the layers of Llama that are read.
    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        let [clip_l, clip_g, t5, llama] = &encoded[..] else {
            bail!("a prompt was not encoded by two CLIPs, T5 and Llama")
        };
        let pooled: Vec<&Tensor> = clip_l.pooled.iter().chain(&clip_g.pooled).collect();
        let prompt = Tensor::cat(&[&t5.states, &llama.states], 1)?;
        Ok(Conditioning { pooled: Some(Tensor::cat(&pooled, 0)?), ..Conditioning::new(prompt) })
    }

    /// The prompt becomes the tokens of T5, then those that each block reads.
    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let time = |sigma: &f32| if self.has_whole_times { (sigma * 1000.0).floor() } else { sigma * 1000.0 };
        let times: Vec<f32> = input.sigmas.iter().map(time).collect();
        let ([of_t5, of_llama], layers) = (self.config.caption_channels, self.config.layers_read());
        let read = self.config.llama_layers.as_deref().unwrap_or_default();
        let captions = RefCell::new(vec![Vec::new(); input.branches.len()]);
        let caption = |w: &Weights, number: usize| -> Result<()> {
            let (start, width) = match read.get(number).and_then(|layer| layers.binary_search(layer).ok()) {
                Some(place) => (of_t5 + place * of_llama, of_llama),
                None => (0, of_t5),
            };
            for (branch, captions) in input.branches.iter().zip(captions.borrow_mut().iter_mut()) {
                let states = branch.prompt.narrow(1, start, width)?.contiguous()?.unsqueeze(0)?;
                captions.push(w.linear(&format!("caption_projection.{number}.linear"), &states)?);
            }
            Ok(())
        };
        let embed = |w: &Weights| {
            let time = embedded_waves(w, "t_embedder.timestep_embedder", &times, blocks)?;
            let pooled: Vec<&Tensor> =
                input.branches.iter().filter_map(|branch| branch.pooled.as_ref()).collect();
            let pooled = embedded(w, "p_embedder.pooled_embedder", &Tensor::stack(&pooled, 0)?)?;
            let levels = time.unsqueeze(1)?.broadcast_add(&pooled.unsqueeze(0)?)?;
            Ok((silu(&levels)?, Vec::new()))
        };
        let end = self.config.embedders();
        let prepared = modulated_by(blocks, input.sigmas, end, embed, |index, w, levels| {
            match self.config.preparation(index) {
                Preparation::Caption(number) => caption(w, number).map(|()| Vec::new()),
                Preparation::Levels | Preparation::Modulation => {
                    Ok(vec![w.linear(&self.config.modulator(index), levels)?.unsqueeze(2)?])
                }
            }
        })?;
        let prompt = |mut captions: Vec<Tensor>| {
            captions.rotate_right(1);
            Ok(Conditioning::new(Tensor::cat(&captions, 1)?))
        };
        let branches = captions.into_inner().into_iter().map(prompt).collect::<Result<_>>()?;
        Ok(Prepared { branches, ..prepared })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (patch, count) = (self.config.patch_size, self.config.blocks());
        let (batch, _, height, width) = input.latents.dims4()?;
        let grid = [height / patch, width / patch];
        let prompts: Vec<&Tensor> = prepared.branches.iter().map(|branch| &branch.prompt).collect();
        let Some(first) = prompts.first() else { return Ok(Vec::new()) };
        let text = first.dim(1)? / (count + 1);
        let places = self.places(grid, text, &blocks.device())?;
        let modulation = prepared.modulation(input.sigma)?;
        let caption = |branch: usize, number: usize| {
            let own = prompts[branch].narrow(1, (number + 1) * text, text)?;
            own.broadcast_as((batch, text, own.dim(2)?))?.contiguous()
        };
        let (first, doubles) = (self.config.embedders() + 1, self.config.num_layers);
        let mut streams: Vec<Vec<Tensor>> = Vec::new();
        blocks.walk(first - 1..first + count + 1, |index, w| {
            if index < first {
                let patches = patchify(&input.latents.to_dtype(blocks.dtype())?, patch, Channels::Last)?;
                let img = w.linear("x_embedder.proj", &patches.pad_with_zeros(1, 0, places.padding)?)?;
                for prompt in &prompts {
                    let both = [prompt.narrow(1, 0, text)?, prompt.narrow(1, count * text, text)?];
                    let txt = Tensor::cat(&both, 1)?;
                    let txt = txt.broadcast_as((batch, 2 * text, txt.dim(2)?))?.contiguous()?;
                    streams.push(vec![img.clone(), txt]);
                }
                return Ok(());
            }
            let block = index - first;
            w.branches(&mut streams, |w, number, streams| {
                let own = modulation[block].narrow(0, number, 1)?;
                *streams = match &streams[..] {
                    [x] if block == count => {
                        let image = x.narrow(1, 0, places.image)?.contiguous()?;
                        vec![w.linear("final_layer.linear", &normed(&image, &own.chunk(2, D::Minus1)?)?)?]
                    }
                    [img, txt] if block < doubles => {
                        let caption = caption(number, block)?;
                        let after = self.double_block(w, [img, txt], &caption, &own, &places)?;
                        if block + 1 < doubles { after.into() } else { vec![Tensor::cat(&after, 1)?] }
                    }
                    [x] => vec![self.single_block(w, x, &caption(number, block)?, &own, &places)?],
                    _ => bail!("there are {} streams before block {block}", streams.len()),
                };
                Ok(())
            })
        })?;
        let latents = |streams: &Vec<Tensor>| unpatchify(&streams[0], grid, patch, Channels::Last);
        Ok(streams.iter().map(latents).collect::<Result<_>>()?)
    }

    /// The network predicts the direction from noise to image.
    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        output.neg()
    }

    fn recorded(&self, outputs: &[Tensor]) -> Result<Vec<(String, Tensor)>> {
        Ok(vec![("transformer.0.out.0".to_owned(), negative_first(outputs)?)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_are_nearly_as_large_as_in_training_are_padded() {
        let transformer = HiDreamTransformer::new(HiDreamConfig::default(), 8, true);
        for (grid, padding) in
            [([64, 64], 0), ([78, 52], 40), ([52, 78], 40), ([56, 64], 512), ([48, 64], 0), ([80, 60], 0)]
        {
            assert_eq!(transformer.padding(grid), padding, "{grid:?}");
        }
    }
}
