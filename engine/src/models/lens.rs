//! Lens (Microsoft 2026, arXiv:2605.21573): a transformer with two streams of tokens, whose blocks are like Qwen-Image's with
//! learned norms and gated feed-forward layers. Its prompt embeddings are states of several layers of GPT-OSS, and the
//! autoencoder is that of FLUX.2.
//!
//! diffusers does not have it. It follows Microsoft's published code, huggingface/diffusers pull request 13837 and
//! stable-diffusion.cpp, and is compared with `tests/reference/lens.py`, which is written down from the same.

use serde::Deserialize;

use super::{
    AdapterMark, Conditioning, Denoiser, DenoiserInput, Family, LatentShape, Model, ModelDefaults, Opened,
    PrepareInput, Prepared, TextPart,
    family::{is_named, part},
    joint::{
        DOUBLE_MODULATION, HEAD_MODULATORS, Heads, Modulators, conditioning_spec, diffusers_name, each_side,
        embedded_prompts, embedded_times, head, modulated, streams,
    },
    modulated::{gated_feed_forward, within_range},
    patches::{Channels, centred_rope, patchify, unpatchify, wrong_axes},
    scheduler,
};
use crate::{
    checkpoint::{BlockSpec, Checkpoint, CheckpointError, Component, Part, Role, TensorTable},
    nn::{D, Mask, Result, Rope, Tensor, attention, bail, gated_add, rope_interleaved, scale_and_shift},
    request::{Canvas, ComputeDtype},
    residency::{Blocks, RunError, Weights},
    sampling::{FlowShift, KeptNorms, OwnLevels, Training},
    text::{Encoded, GptOss},
    vae::{Autoencoder, Flux2Autoencoder},
};

/// The autoencoder's latents are patches already.
const PATCH: usize = 1;
/// Values of such a patch for each channel of the autoencoder.
const PATCHED: usize = 4;
/// Added to the mean square in the norms of blocks.
const EPS: f64 = 1e-6;
/// Added to the mean square of the prompt's states.
const PROMPT_EPS: f64 = 1e-5;
const BLOCK_MODULATORS: Modulators =
    &[&[("img_mod.1", DOUBLE_MODULATION)], &[("txt_mod.1", DOUBLE_MODULATION)]];

/// Names of the layers of a stream.
struct Side {
    qkv: &'static str,
    /// Of queries and keys.
    norms: [&'static str; 2],
    out: &'static str,
    /// Before attention and before the feed-forward layers.
    before: [&'static str; 2],
    mlp: &'static str,
}

/// Those of the image and of the text.
const SIDES: [Side; 2] = [
    Side {
        qkv: "attn.img_qkv",
        norms: ["attn.norm_q", "attn.norm_k"],
        out: "attn.to_out.0",
        before: ["img_norm1", "img_norm2"],
        mlp: "img_mlp",
    },
    Side {
        qkv: "attn.txt_qkv",
        norms: ["attn.norm_added_q", "attn.norm_added_k"],
        out: "attn.to_add_out",
        before: ["txt_norm1", "txt_norm2"],
        mlp: "txt_mlp",
    },
];

/// The family.
pub struct Lens;

impl Family for Lens {
    fn id(&self) -> &'static str {
        "lens"
    }

    fn name(&self) -> &'static str {
        "Lens"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        checkpoint.candidates(Role::Denoiser).any(is_transformer)
    }

    fn adapter_marks(&self) -> &'static [(&'static str, AdapterMark)] {
        &[
            ("Lens", AdapterMark::Name("transformer_blocks_0_attn_img_qkv")),
            ("Lens", AdapterMark::Name("transformer_blocks_0_attn_txt_qkv")),
        ]
    }

    fn open(&self, checkpoint: &Checkpoint) -> std::result::Result<Model, CheckpointError> {
        let denoiser = part(checkpoint, Role::Denoiser, "no Lens transformer was found", is_transformer)?;
        let config = denoiser.config(LensConfig::from_shapes)?;
        config.check(denoiser)?;
        let (width, channels) = (config.enc_hidden_dim, config.in_channels);
        let expected = format!("no GPT-OSS encoder of width {width} was found");
        let text = part(checkpoint, Role::TextEncoder, &expected, |part| {
            GptOss::width_of(&part.tensors) == Some(width)
        })?;
        let expected = format!("no autoencoder of FLUX.2 with {channels} channels was found");
        let vae = part(checkpoint, Role::Autoencoder, &expected, |part| {
            Flux2Autoencoder::channels_of(&part.tensors) == Some(channels)
        })?;
        let component = Component::bind(
            Role::Denoiser,
            "Lens transformer",
            &config.blueprint(),
            &denoiser.tensors,
            diffusers_name,
            &denoiser.path,
        )?;
        let taken = config.layers_read(GptOss::layers_of(text)?);
        let autoencoder = Flux2Autoencoder::open(vae)?;
        let kind = |name| is_named(&denoiser.path, name, "lens");
        let (steps, guidance) = match (kind("turbo"), kind("base")) {
            (true, _) => (4, 1.0),
            (_, true) => (50, 5.0),
            _ => (20, 5.0),
        };
        let published =
            FlowShift { use_dynamic_shifting: true, own: OwnLevels::Empirical, ..FlowShift::fixed(3.0) };
        let transformer = LensTransformer { config, scale: autoencoder.0.scale() };
        let opened = Opened {
            text: vec![TextPart::new(GptOss::open(checkpoint, text, &taken)?)],
            denoiser: (Box::new(transformer), component),
            autoencoder: (Box::new(autoencoder.0), autoencoder.1),
            training: Training::Flow(scheduler::flow_shift(checkpoint, published)?),
            defaults: ModelDefaults {
                width: 1024,
                height: 1024,
                steps,
                guidance,
                on_cards: ComputeDtype::Bf16,
                ..ModelDefaults::default()
            },
        };
        Ok(Model::new(&Lens, checkpoint, opened))
    }
}

/// Only Lens normalizes the states of several layers, and makes queries, keys and values in one layer.
fn is_transformer(part: &Part) -> bool {
    let names = ["txt_norm.0.weight", "transformer_blocks.0.attn.img_qkv.weight"];
    names.iter().all(|name| part.tensors.contains_key(*name))
}

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct LensConfig {
    /// Side of the patches of the autoencoder's latents.
    pub patch_size: usize,
    /// Values of such a patch.
    pub in_channels: usize,
    /// Channels of the autoencoder.
    pub out_channels: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of the states of a layer of the text encoder.
    pub enc_hidden_dim: usize,
    /// Widths of the parts of a head that are rotated by image, row and column.
    pub axes_dims_rope: Vec<usize>,
    /// Whether the feed-forward layers are gated.
    pub gate_mlp: bool,
    /// Whether the norms are those of the mean square.
    pub rms_norm: bool,
    /// Whether the states of several layers of the text encoder are read.
    pub multi_layer_encoder_feature: bool,
    /// Those layers, from 0. Without this, they are as far apart as in the published models, up to the last.
    pub selected_layer_index: Option<Vec<usize>>,
    /// How many they are, in files without a configuration.
    #[serde(skip)]
    pub selected_layers: usize,
}

impl Default for LensConfig {
    /// The published shape.
    fn default() -> Self {
        Self {
            patch_size: 2,
            in_channels: 128,
            out_channels: 32,
            num_layers: 48,
            attention_head_dim: 64,
            num_attention_heads: 24,
            enc_hidden_dim: 2880,
            axes_dims_rope: vec![8, 28, 28],
            gate_mlp: true,
            rms_norm: true,
            multi_layer_encoder_feature: true,
            selected_layer_index: None,
            selected_layers: 4,
        }
    }
}

impl LensConfig {
    /// Infers the shape from the tensors, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(&format!("{name}.weight")).map(|tensor| tensor.shape());
        let &[dim, in_channels] = shape("img_in")? else { return None };
        let head = *shape("transformer_blocks.0.attn.norm_q")?.first()?;
        Some(Self {
            in_channels,
            out_channels: in_channels / PATCHED,
            num_layers: tensors.keys().filter(|name| name.ends_with(".img_mod.1.weight")).count(),
            attention_head_dim: head,
            num_attention_heads: dim.checked_div(head)?,
            enc_hidden_dim: *shape("txt_norm.0")?.first()?,
            axes_dims_rope: vec![head / 8, head / 16 * 7, head / 16 * 7],
            selected_layers: tensors.keys().filter(|name| name.starts_with("txt_norm.")).count(),
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        if self.num_attention_heads == 0 {
            return part.refuse("num_attention_heads", 0, "it must be at least 1");
        }
        if let Some(reason) = wrong_axes(&self.axes_dims_rope, 3, self.attention_head_dim) {
            return part.refuse("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        if self.patch_size * self.patch_size != PATCHED {
            return part.refuse("patch_size", self.patch_size, "it must be 2, as in the autoencoder");
        }
        if self.in_channels != PATCHED * self.out_channels {
            let reason = format!("it must be {PATCHED} times the {} output channels", self.out_channels);
            return part.refuse("in_channels", self.in_channels, reason);
        }
        for (field, is_so) in [
            ("gate_mlp", self.gate_mlp),
            ("rms_norm", self.rms_norm),
            ("multi_layer_encoder_feature", self.multi_layer_encoder_feature),
        ] {
            if !is_so {
                return part.refuse(field, false, "no published model is without it");
            }
        }
        Ok(())
    }

    fn heads(&self) -> Heads {
        Heads { count: self.num_attention_heads, width: self.attention_head_dim, are_normed: true }
    }

    /// The number of layers of the text encoder whose states are read.
    fn states(&self) -> usize {
        self.selected_layer_index.as_ref().map_or(self.selected_layers, Vec::len)
    }

    /// The numbers of layers, of a text encoder with so many, after which the states are read.
    fn layers_read(&self, layers: usize) -> Vec<usize> {
        match &self.selected_layer_index {
            Some(own) => own.iter().map(|layer| layer + 1).collect(),
            None => (1..=self.states()).map(|part| part * layers / self.states()).collect(),
        }
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    fn embedders(&self) -> usize {
        2 + self.num_layers
    }

    /// The modulation layers of a block before [`embedders`](Self::embedders).
    fn modulators(&self, block: usize) -> Modulators {
        if block <= self.num_layers { BLOCK_MODULATORS } else { HEAD_MODULATORS }
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (heads, dim) = (self.heads(), self.heads().dim());
        // As the published code rounds it.
        let inner = (dim as f64 / 3.0 * 8.0) as usize;
        let block = |index: usize| format!("transformer_blocks.{index}");
        let conditioning = (0..self.states()).fold(conditioning_spec(dim), |spec, number| {
            spec.scale(&format!("txt_norm.{number}"), self.enc_hidden_dim)
        });
        let mut blocks = vec![conditioning.linear("txt_in", dim, self.states() * self.enc_hidden_dim)];
        blocks.extend((0..self.num_layers).map(|index| {
            heads.modulation_spec(&format!("{}.", block(index)), "modulation", BLOCK_MODULATORS)
        }));
        blocks.push(heads.modulation_spec("", "head.modulation", HEAD_MODULATORS));
        blocks.push(BlockSpec::stem("embedders").linear("img_in", dim, self.in_channels));
        blocks.extend((0..self.num_layers).map(|index| {
            SIDES.iter().fold(BlockSpec::new(block(index)), |spec, side| {
                let spec = spec.scale(side.before[0], dim).linear(side.qkv, 3 * dim, dim);
                let spec = side.norms.iter().fold(spec, |spec, norm| spec.scale(norm, heads.width));
                spec.linear(side.out, dim, dim)
                    .scale(side.before[1], dim)
                    .matrix(&format!("{}.w1", side.mlp), inner, dim)
                    .matrix(&format!("{}.w3", side.mlp), inner, dim)
                    .matrix(&format!("{}.w2", side.mlp), dim, inner)
            })
        }));
        blocks.push(BlockSpec::stem("head").linear("proj_out", PATCHED * self.out_channels, dim));
        blocks
    }
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct LensTransformer {
    config: LensConfig,
    /// Pixels per latent, along one side.
    scale: usize,
}

impl LensTransformer {
    /// The network's tokens of prompts `[1, tokens, states · width]`.
    fn embed_prompts(&self, w: &Weights, all: &Tensor) -> Result<Tensor> {
        let width = self.config.enc_hidden_dim;
        let normed = (0..self.config.states()).map(|number| {
            let states = all.narrow(2, number * width, width)?.contiguous()?;
            w.rms_norm(&format!("txt_norm.{number}"), &states, PROMPT_EPS)
        });
        let normed = normed.collect::<Result<Vec<_>>>()?;
        w.linear("txt_in", &Tensor::cat(&normed, D::Minus1)?)
    }

    /// Queries, keys and values `[batch, tokens, heads, width]` of a stream after its norm.
    fn qkv(&self, w: &Weights, x: &Tensor, modulation: &[Tensor], side: &Side) -> Result<[Tensor; 3]> {
        let (batch, tokens, _) = x.dims3()?;
        let count = self.config.num_attention_heads;
        let all = w.linear(side.qkv, &modulated_norm(w, side.before[0], x, modulation)?)?;
        let all = all.reshape((batch, tokens, 3 * count, ()))?;
        let part = |index: usize| all.narrow(2, index * count, count)?.contiguous();
        let q = w.rms_norm(side.norms[0], &part(0)?, EPS)?;
        let k = w.rms_norm(side.norms[1], &part(1)?, EPS)?;
        Ok([q, k, part(2)?])
    }

    /// Both streams after a block. The image does not see a hidden text.
    fn block(
        &self,
        w: &Weights,
        streams: [&Tensor; 2],
        modulations: [&Tensor; 2],
        pe: &Rope,
        is_hidden: bool,
    ) -> Result<[Tensor; 2]> {
        let own = each_side(|side| modulations[side].chunk(DOUBLE_MODULATION, D::Minus1))?;
        let [[img_q, img_k, img_v], [txt_q, txt_k, txt_v]] =
            each_side(|side| self.qkv(w, streams[side], &own[side], &SIDES[side]))?;
        let (image, text) = (img_q.dim(1)?, txt_q.dim(1)?);
        let q = rope_interleaved(&Tensor::cat(&[txt_q, img_q], 1)?, pe)?;
        let k = rope_interleaved(&Tensor::cat(&[txt_k, img_k], 1)?, pe)?;
        let h = if is_hidden {
            attention(&q, &k.narrow(1, text, image)?, &img_v, Mask::None)?
        } else {
            attention(&q, &k, &Tensor::cat(&[txt_v, img_v], 1)?, Mask::None)?
        };
        drop((q, k));
        let h = h.flatten_from(2)?;
        let attended = [h.narrow(1, text, image)?, h.narrow(1, 0, text)?];
        drop(h);
        each_side(|side| {
            let (names, modulation) = (&SIDES[side], &own[side]);
            let x = gated_add(streams[side], &modulation[2], &w.linear(names.out, &attended[side])?)?;
            let h = modulated_norm(w, names.before[1], &x, &modulation[3..])?;
            within_range(gated_add(&x, &modulation[5], &gated_feed_forward(w, names.mlp, h)?)?)
        })
    }
}

/// `x` after the norm `name`, shifted and scaled by the first two tensors of a modulation.
fn modulated_norm(w: &Weights, name: &str, x: &Tensor, modulation: &[Tensor]) -> Result<Tensor> {
    scale_and_shift(&w.rms_norm(name, x, EPS)?, &modulation[1], &modulation[0])
}

impl Denoiser for LensTransformer {
    fn size_multiple(&self) -> u32 {
        self.scale as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.in_channels, height, width)
    }

    fn guidance_keeps_norms(&self) -> Option<KeptNorms> {
        Some(KeptNorms { side: PATCH, at_most: false })
    }

    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        match encoded.into_iter().next() {
            Some(Encoded { states, .. }) => Ok(Conditioning::new(states)),
            None => bail!("the prompt was not encoded"),
        }
    }

    /// No text is seen.
    fn without_prompt(&self, empty: Conditioning) -> Result<Conditioning> {
        let prompt = empty.prompt.narrow(0, 0, 1)?.zeros_like()?;
        Ok(Conditioning { is_hidden: true, ..Conditioning::new(prompt) })
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        // The pipeline divides by the scheduler's 1000, by which the network multiplies again; the rounding
        // must match.
        let times: Vec<f32> = input.sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0 * 1000.0).collect();
        let embed = |w: &Weights| {
            let own = embedded_prompts(input.branches, |all| self.embed_prompts(w, all))?;
            Ok((embedded_times(w, &times, blocks)?.unsqueeze(1)?, own))
        };
        let modulators = |block| self.config.modulators(block);
        let mut prepared = modulated(blocks, input.sigmas, self.config.embedders(), modulators, embed)?;
        for (own, given) in prepared.branches.iter_mut().zip(input.branches) {
            own.is_hidden = given.is_hidden;
        }
        Ok(prepared)
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (_, _, rows, columns) = input.latents.dims4()?;
        let grid = [rows, columns];
        let widths = &self.config.axes_dims_rope;
        let rotation =
            |branch: &Conditioning| centred_rope(branch.prompt.dim(1)?, &[grid], widths, &blocks.device());
        let rotations: Vec<Rope> = prepared.branches.iter().map(rotation).collect::<Result<_>>()?;
        let modulation = prepared.modulation(input.sigma)?;
        let first = self.config.embedders() + 1;
        let last = first + self.config.num_layers;
        let mut both: Vec<[Tensor; 2]> = Vec::new();
        blocks.walk(self.config.embedders()..last + 1, |index, w| {
            if index < first {
                let patches = patchify(&input.latents.to_dtype(blocks.dtype())?, PATCH, Channels::First)?;
                both = streams(&w.linear("img_in", &patches)?, &prepared.branches)?;
                return Ok(());
            }
            let modulation = &modulation[2 * (index - first)..];
            w.branches(&mut both, |w, branch, [img, txt]| {
                if index == last {
                    *img = head(w, img, &modulation[0])?;
                    return Ok(());
                }
                let own = [&modulation[0], &modulation[1]];
                let is_hidden = prepared.branches[branch].is_hidden;
                [*img, *txt] = self.block(w, [&*img, &*txt], own, &rotations[branch], is_hidden)?;
                Ok(())
            })
        })?;
        let latents = |[img, _]: &[Tensor; 2]| unpatchify(img, grid, PATCH, Channels::First);
        Ok(both.iter().map(latents).collect::<Result<_>>()?)
    }

    fn velocity(&self, _: &DenoiserInput<'_>, output: &Tensor) -> Result<Tensor> {
        Ok(output.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_after_each_quarter_of_the_layers() {
        let config = LensConfig::default();
        assert_eq!(config.layers_read(24), [6, 12, 18, 24]);
        let other = LensConfig { selected_layer_index: Some(vec![1, 4]), ..config };
        assert_eq!((other.states(), other.layers_read(6)), (2, vec![2, 5]));
    }

    #[test]
    fn the_published_transformer_has_4_1_billion_weights() {
        let blocks = LensConfig::default().blueprint();
        let tensors = blocks.iter().flat_map(|block| &block.tensors);
        let weights: usize = tensors.map(|(_, shape)| shape.iter().product::<usize>()).sum();
        assert_eq!(weights / 10_000_000, 410);
    }
}
