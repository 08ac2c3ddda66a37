//! Qwen-Image 2.1: a transformer with one stream of tokens, which generates images and changes them. Its autoencoder has an
//! opacity beside the colours.
//!
//! Attention is causal, except within an image, so that the prompt and the references before the image do not see it. They
//! are modulated as without noise: what blocks compute from them is computed once per run. All blocks share one modulation.

mod config;
mod spans;

pub use self::config::QwenImage21Config;
use self::spans::{Span, attend_in_order, joined, place_after, spans};
use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults,
    Modulation, Opened, PrepareInput, Prepared, TextPart,
    family::part,
    joint::SIDES,
    modulated::{frequencies, within_range},
    patches::{Channels, angles, patchify, references, unpatchify},
    scheduler,
};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName},
    nn::{
        Device, Mask, Result, Rope, Tensor, attention, bail, gated_add, gelu_tanh, layer_norm_modulated,
        rms_norm, rope_interleaved, silu, silu_mul,
    },
    request::{Canvas, ComputeDtype, ReferenceSizes, References},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, Training},
    text::{Encoded, Qwen3Vision, Qwen3Vl, TakenLayers, Told},
    vae::{Autoencoder, WanAutoencoder},
};

/// Base of the rotary frequencies.
const THETA: f64 = 10_000.0;
/// Latents along each side of what is a token of the text encoder.
const SEEN: usize = 2;
/// Scales and gates of attention and of the feed-forward layers.
const MODULATIONS: usize = 4;
/// Side of a square with the pixels of references.
const REFERENCE_SIDE: u32 = 1024;
const MOST_REFERENCES: usize = 10;
/// The layer that only this transformer has.
const MARK: &str = "txt_in.text_norm.weight";
/// The names of the gate and of the other half of the feed-forward layers, and of both together in ComfyUI's files.
const MLP: [&str; 2] = ["img_mlp.gate_layer", "img_mlp.proj"];
const JOINED_MLP: &str = "img_mlp.gate_up";

/// The family.
pub struct QwenImage21;

impl Family for QwenImage21 {
    fn id(&self) -> &'static str {
        "qwen_image_21"
    }

    fn name(&self) -> &'static str {
        "Qwen-Image 2.1"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Qwen-Image 2.1", AdapterMark::Name("transformer_blocks_0_img_mlp_gate")),
            ("Qwen-Image 2.1", AdapterMark::Name("transformer_blocks_0_img_mlp_proj")),
            ("Qwen-Image 2.1", AdapterMark::Name("transformer_blocks_0_img_mlp_out")),
        ]
    }

    fn gguf_architectures(&self) -> &'static [(&'static str, &'static str)] {
        &[(MARK, "qwen_image21"), (MARK, "qwen_image")]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser =
            part(checkpoint, Role::Denoiser, "no Qwen-Image 2.1 transformer was found", is_transformer)?;
        let config = denoiser.config(QwenImage21Config::from_shapes)?;
        config.check(denoiser)?;
        let component = Component::bind(
            Role::Denoiser,
            "Qwen-Image 2.1 transformer",
            &config.blueprint(),
            &denoiser.tensors,
            original_name,
            &denoiser.path,
        )?;
        let (width, channels) = (config.context_in_dim, config.in_channels);
        let expected = format!("no Qwen3-VL encoder of width {width} was found");
        let text =
            part(checkpoint, Role::TextEncoder, &expected, |part| Qwen3Vl::width_of(part) == Some(width))?;
        let expected = format!("no autoencoder of Qwen-Image 2.1 with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            WanAutoencoder::image_channels_of(&part.tensors) == Some(channels)
        })?;
        let autoencoder = WanAutoencoder::open(vae)?;
        // A file of the language model alone has no tower: then there are no references.
        let tower = checkpoint
            .candidates(Role::TextEncoder)
            .find(|part| Qwen3Vision::width_of(&part.tensors) == Some(width));
        let transformer =
            QwenImage21Transformer { config, scale: autoencoder.0.scale(), sees: tower.is_some() };
        let published = FlowShift {
            use_dynamic_shifting: true,
            max_shift: 0.9,
            max_image_seq_len: 8192,
            shift_terminal: Some(0.02),
            ..FlowShift::default()
        };
        let opened = Opened {
            text: vec![TextPart::new(Qwen3Vl::open(checkpoint, text, Told::Comprehend, TakenLayers::Last)?)],
            denoiser: (Box::new(transformer), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, published)?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps: 40,
                guidance: 1.0,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        let model = Model::new(&QwenImage21, checkpoint, opened);
        match tower {
            Some(tower) => Ok(model.with_vision_tower(Qwen3Vision::open(tower)?)),
            None => Ok(model),
        }
    }
}

fn is_transformer(part: &Part) -> bool {
    part.tensors.contains_key(MARK)
}

/// The name in ComfyUI's files.
fn original_name(name: &str) -> StoredName {
    for (half, own) in MLP.into_iter().enumerate() {
        if name.contains(own) {
            return StoredName::part(name.replace(own, JOINED_MLP), half..half + 1, 2);
        }
    }
    StoredName::whole(name)
}

/// Index of the block that embeds latents.
const EMBEDDER: usize = 1;
/// Index of the first layer.
const FIRST: usize = 2;

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct QwenImage21Transformer {
    config: QwenImage21Config,
    /// Pixels per latent, along one side.
    scale: usize,
    /// Whether the text encoder sees references.
    sees: bool,
}

impl QwenImage21Transformer {
    /// For each noise level scales and gates of the blocks and the scale of the head, `[1, 1, dim]` each.
    fn modulations(&self, w: &Weights, sigmas: &[f32], blocks: Blocks<'_>) -> Result<Vec<Modulation>> {
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times: Vec<f32> = sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let wave = frequencies(&times, &blocks.device())?.to_dtype(blocks.dtype())?;
        let name = |layer: &str| format!("time_text_embed.timestep_embedder.{layer}");
        let embedded = w.linear(&name("linear_2"), &silu(&w.linear(&name("linear_1"), &wave)?)?)?;
        let embedded = silu(&embedded)?;
        let (of_blocks, of_head) =
            (w.linear("modulation.1", &embedded)?, w.linear("norm_out.linear", &embedded)?);
        let dim = self.config.dim();
        let of_level = |(index, &sigma): (usize, &f32)| {
            let part = |x: &Tensor, number: usize| {
                x.narrow(0, index, 1)?.narrow(1, number * dim, dim)?.contiguous()?.reshape((1, 1, dim))
            };
            let scale = |number| part(&of_blocks, number);
            let gate = |number| part(&of_blocks, number)?.tanh();
            let tensors = vec![scale(0)?, gate(1)?, scale(2)?, gate(3)?, part(&of_head, 0)?];
            Ok(Modulation { sigma, tensors })
        };
        sigmas.iter().enumerate().map(of_level).collect()
    }

    /// Prompts as the network's tokens, `[1, tokens, dim]`.
    fn embed(&self, w: &Weights, branches: &[Conditioning]) -> Result<Vec<Tensor>> {
        // The stored weight of the norm is what its factor exceeds 1 by.
        let stored = w.get("txt_in.text_norm.weight")?;
        let factor = stored.to_dtype(crate::nn::DType::F32)?.affine(1.0, 1.0)?;
        // All prompts at once, so that each weight is read once even if it is loaded by itself.
        let prompts: Vec<&Tensor> = branches.iter().map(|branch| &branch.prompt).collect();
        let all = rms_norm(&Tensor::cat(&prompts, 0)?.unsqueeze(0)?, &factor, self.config.eps)?;
        let all = w.linear("txt_in.out_layer", &gelu_tanh(&w.linear("txt_in.in_layer", &all)?)?)?;
        let mut first = 0;
        let own = prompts.into_iter().map(|prompt| {
            let tokens = prompt.dim(0)?;
            first += tokens;
            all.narrow(1, first - tokens, tokens)?.contiguous()
        });
        own.collect()
    }

    /// Rotary embeddings of spans from this place on. Text goes on along all axes; the tokens of an image share a place
    /// in the sequence, and their rows and columns are relative to its centre.
    fn rope(&self, spans: &[Span], mut place: usize, device: &Device) -> Result<Rope> {
        let from_middle = |place: usize, side: usize| place as f32 - side.div_ceil(2) as f32;
        let mut places: Vec<[f32; 3]> = Vec::new();
        for span in spans {
            match *span {
                Span::Text(tokens) => places.extend((place..place + tokens).map(|place| [place as f32; 3])),
                Span::Image([rows, columns]) => places.extend((0..rows * columns).map(|index| {
                    let (row, column) = (index / columns, index % columns);
                    [place as f32, from_middle(row, rows), from_middle(column, columns)]
                })),
            }
            place += place_after(std::slice::from_ref(span));
        }
        let angle = |place, exponent| place * THETA.powf(exponent).recip() as f32;
        let angles = angles(&places, &self.config.axes_dims_rope, angle);
        Rope::from_angles(&angles, places.len(), self.config.attention_head_dim / 2, device)
    }

    /// Rotated queries and keys, and values, `[batch, tokens, heads, width]`.
    fn qkv(&self, w: &Weights, x: &Tensor, level: &[Tensor], rope: &Rope) -> Result<[Tensor; 3]> {
        let (batch, tokens, _) = x.dims3()?;
        let h = layer_norm_modulated(x, self.config.eps, &level[0], None)?;
        let layers = &SIDES[0];
        let heads =
            |name: &str| w.linear(name, &h)?.reshape((batch, tokens, self.config.num_attention_heads, ()));
        let [q, k, v] = [heads(layers.qkv[0])?, heads(layers.qkv[1])?, heads(layers.qkv[2])?];
        drop(h);
        let normed = |name: &str, x: Tensor| rope_interleaved(&w.rms_norm(name, &x, self.config.eps)?, rope);
        Ok([normed(layers.norms[0], q)?, normed(layers.norms[1], k)?, v])
    }

    /// The rest of a block after attention.
    fn rest(&self, w: &Weights, x: &Tensor, attended: Tensor, level: &[Tensor]) -> Result<Tensor> {
        let h = w.linear(SIDES[0].out, &attended.flatten_from(2)?)?;
        drop(attended);
        let x = gated_add(x, &level[1], &h)?;
        drop(h);
        let h = layer_norm_modulated(&x, self.config.eps, &level[2], None)?;
        let (gate, up) = (w.linear(MLP[0], &h)?, w.linear(MLP[1], &h)?);
        drop(h);
        let h = silu_mul(&gate, &up)?;
        drop((gate, up));
        within_range(gated_add(&x, &level[3], &w.linear("img_mlp.out", &h)?)?)
    }
}

/// The same for each image of a batch.
fn for_all(x: &Tensor, batch: usize) -> Result<Tensor> {
    if batch == 1 {
        return Ok(x.clone());
    }
    let (_, tokens, heads, width) = x.dims4()?;
    x.broadcast_as((batch, tokens, heads, width))?.contiguous()
}

impl Denoiser for QwenImage21Transformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * SEEN) as u32
    }

    /// Every latent is a token.
    fn token_side(&self) -> u32 {
        self.scale as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.in_channels, height, width)
    }

    fn references(&self) -> Option<References> {
        let sizes = ReferenceSizes::Area { side: REFERENCE_SIDE, multiple: self.size_multiple(), up: false };
        self.sees.then_some(References { most: MOST_REFERENCES, edits: true, sizes })
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match encoded.into_iter().next() {
            Some(Encoded { states, images, .. }) => Ok(Conditioning { images, ..Conditioning::new(states) }),
            None => bail!("the prompt was not encoded"),
        }
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let references = references(input.references, 1, Channels::First, blocks.dtype())?;
        let spans: Vec<Vec<Span>> = input
            .branches
            .iter()
            .map(|branch| spans(branch.prompt.dim(0)?, &branch.images, &references))
            .collect::<Result<_>>()?;
        let ropes: Vec<Rope> =
            spans.iter().map(|spans| self.rope(spans, 0, &blocks.device())).collect::<Result<_>>()?;
        let (mut modulations, mut without_noise, mut prompts) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen: Vec<Vec<[Tensor; 2]>> = vec![Vec::new(); spans.len()];
        let last = FIRST + self.config.num_layers - 1;
        let mut streams: Vec<(Tensor, Vec<[Tensor; 2]>)> = Vec::new();
        // Without references nothing is embedded yet.
        let embedded = if references.is_empty() { EMBEDDER } else { FIRST };
        blocks.walk_parts(&[0..embedded, FIRST..last + 1], |index, w| {
            if index < EMBEDDER {
                let sigmas: Vec<f32> = input.sigmas.iter().copied().chain([0.0]).collect();
                modulations = self.modulations(w, &sigmas, blocks)?;
                without_noise = modulations.pop().map(|level| level.tensors).unwrap_or_default();
                prompts = self.embed(w, input.branches)?;
                if references.is_empty() {
                    streams.extend(prompts.drain(..).map(|prompt| (prompt, Vec::new())));
                }
                return Ok(());
            }
            if index == EMBEDDER {
                let images: Vec<Tensor> = references
                    .iter()
                    .map(|reference| w.linear("img_in", &reference.patches))
                    .collect::<Result<_>>()?;
                for (prompt, spans) in std::mem::take(&mut prompts).into_iter().zip(&spans) {
                    streams.push((joined(prompt, spans, &images)?, Vec::new()));
                }
                return Ok(());
            }
            w.branches(&mut streams, |w, branch, (x, seen)| {
                let [q, k, v] = self.qkv(w, x, &without_noise, &ropes[branch])?;
                let attended = attend_in_order(&spans[branch], &q, &k, &v)?;
                drop(q);
                seen.push([k, v]);
                *x = self.rest(w, x, attended, &without_noise)?;
                Ok(())
            })
        })?;
        for (all, (_, own)) in seen.iter_mut().zip(streams) {
            *all = own;
        }
        let branches = input.branches.to_vec();
        Ok(Prepared { branches, modulations, seen, references, ..Prepared::default() })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (batch, _, height, width) = input.latents.dims4()?;
        let grid = [height, width];
        let rope = |branch: &Conditioning| {
            let spans = spans(branch.prompt.dim(0)?, &branch.images, &prepared.references)?;
            self.rope(&[Span::Image(grid)], place_after(&spans), &blocks.device())
        };
        let ropes: Vec<Rope> = prepared.branches.iter().map(rope).collect::<Result<_>>()?;
        let level = prepared.modulation(input.sigma)?;
        let last = FIRST + self.config.num_layers;
        let mut streams: Vec<Tensor> = Vec::new();
        blocks.walk(EMBEDDER..last + 1, |index, w| {
            if index == EMBEDDER {
                let latents = input.latents.to_dtype(blocks.dtype())?;
                let image = w.linear("img_in", &patchify(&latents, 1, Channels::First)?)?;
                streams = vec![image; prepared.branches.len()];
                return Ok(());
            }
            w.branches(&mut streams, |w, branch, x| {
                if index == last {
                    let h = layer_norm_modulated(x, self.config.eps, &level[MODULATIONS], None)?;
                    *x = w.linear("proj_out", &h)?;
                    return Ok(());
                }
                let [q, k, v] = self.qkv(w, x, level, &ropes[branch])?;
                let [before_k, before_v] = &prepared.seen[branch][index - FIRST];
                let k = Tensor::cat(&[for_all(before_k, batch)?, k], 1)?;
                let v = Tensor::cat(&[for_all(before_v, batch)?, v], 1)?;
                let attended = attention(&q, &k, &v, Mask::None)?;
                drop((q, k, v));
                *x = self.rest(w, x, attended, level)?;
                Ok(())
            })
        })?;
        let latents = |x: &Tensor| unpatchify(x, grid, 1, Channels::First);
        Ok(streams.iter().map(latents).collect::<Result<_>>()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_of_the_feed_forward_layers_are_one_in_other_files() {
        let stored = original_name("transformer_blocks.3.img_mlp.proj.weight");
        assert_eq!(stored, StoredName::part("transformer_blocks.3.img_mlp.gate_up.weight", 1..2, 2));
        assert_eq!(original_name("img_in.weight"), StoredName::whole("img_in.weight"));
    }
}
