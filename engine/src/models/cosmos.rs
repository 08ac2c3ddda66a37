//! The transformer of Cosmos Predict 2 (NVIDIA 2025), an adaptive version of the one in arXiv:2501.03575, for images.
//!
//! Patches attend to each other and to the prompt. Each of a block's three norms is modulated through a narrow layer, to
//! which a modulation for all blocks is added.

use serde::Deserialize;

use super::{
    Conditioning, Denoiser, DenoiserInput, LatentShape, PrepareInput, Prepared,
    joint::{Row, modulated_by, stored_name},
    modulated::{feed_forward_by, normed, within_range},
    patches::{Channels, angles, patchify, unpatchify},
};
use crate::{
    checkpoint::{BlockSpec, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{
        D, DType, Device, Mask, Result, Rope, Tensor, Waves, attention, bail, gated_add, gelu, rope_half,
        silu, waves,
    },
    request::Canvas,
    residency::{Blocks, RunError, Weights},
    text::Encoded,
};

/// Side of the square patches of latents.
const PATCH: usize = 2;
/// Base of the rotary frequencies, before they are stretched.
const THETA: f64 = 10_000.0;
/// Added to the mean square of queries and keys.
const ATTENTION_EPS: f64 = 1e-5;
/// Added to the mean square of the embedded noise level.
const LEVEL_EPS: f64 = 1e-6;
/// Parts of a modulation of a block: shift, scale and gate.
const MODULATION: usize = 3;
/// The modulated norms of a block: of attention, of attention to the prompt, and of the feed-forward.
const NORMS: [&str; 3] = ["norm1", "norm2", "norm3"];
/// The norm of the head, which has no gate.
const HEAD_NORM: [&str; 1] = ["norm_out"];

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct CosmosConfig {
    /// Channels of the latents that it reads.
    pub in_channels: usize,
    /// Channels of its result.
    pub out_channels: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Number of blocks.
    pub num_layers: usize,
    /// Width inside the feed-forward layers, as a multiple of the residual stream's.
    pub mlp_ratio: f64,
    /// Width of the prompt embeddings.
    pub text_embed_dim: usize,
    /// Width inside the layers that modulate.
    pub adaln_lora_dim: usize,
    /// Frames, rows and columns of a patch.
    pub patch_size: [usize; 3],
    /// How much positions are stretched along frames, rows and columns.
    pub rope_scale: [f64; 3],
    /// Whether a channel says what is padding, which images do not have.
    pub concat_padding_mask: bool,
    /// The kind of positions that are added to the tokens.
    pub extra_pos_embed_type: Option<String>,
    /// Whether the prompt is projected first.
    pub use_crossattn_projection: bool,
    /// Width of the embeddings of images that it attends to.
    pub img_context_dim_in: Option<usize>,
}

impl Default for CosmosConfig {
    /// The shape of the model with 2 billion weights.
    fn default() -> Self {
        Self {
            in_channels: 16,
            out_channels: 16,
            num_attention_heads: 16,
            attention_head_dim: 128,
            num_layers: 28,
            mlp_ratio: 4.0,
            text_embed_dim: 1024,
            adaln_lora_dim: 256,
            patch_size: [1, PATCH, PATCH],
            rope_scale: [1.0, 4.0, 4.0],
            concat_padding_mask: true,
            extra_pos_embed_type: None,
            use_crossattn_projection: false,
            img_context_dim_in: None,
        }
    }
}

impl CosmosConfig {
    /// Infers the shape from tensors with their original names, for files without a configuration.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape());
        let &[dim, patch] = shape("x_embedder.proj.1.weight")? else { return None };
        let &[result, _] = shape("final_layer.linear.weight")? else { return None };
        let &[inner, _] = shape("blocks.0.mlp.layer1.weight")? else { return None };
        let &[_, prompt] = shape("blocks.0.cross_attn.k_proj.weight")? else { return None };
        let head = *shape("blocks.0.self_attn.q_norm.weight")?.first()?;
        let (seen, channels) = (patch / (PATCH * PATCH), result / (PATCH * PATCH));
        let has_mask = seen > channels;
        Some(Self {
            in_channels: seen - usize::from(has_mask),
            out_channels: channels,
            num_attention_heads: dim.checked_div(head)?,
            attention_head_dim: head,
            num_layers: tensors
                .keys()
                .filter(|name| name.ends_with(".adaln_modulation_mlp.1.weight"))
                .count(),
            mlp_ratio: inner as f64 / dim as f64,
            text_embed_dim: prompt,
            adaln_lora_dim: *shape("blocks.0.adaln_modulation_mlp.1.weight")?.first()?,
            concat_padding_mask: has_mask,
            ..Self::default()
        })
    }

    fn check(&self, part: &Part) -> std::result::Result<(), CheckpointError> {
        if self.in_channels != self.out_channels {
            let task = "that generates clips from images";
            return Err(CheckpointError::OtherTask { path: part.path.clone(), task });
        }
        if self.patch_size != [1, PATCH, PATCH] {
            return part.refuse("patch_size", format!("{:?}", self.patch_size), "it must be [1, 2, 2]");
        }
        let head = self.attention_head_dim;
        if self.num_attention_heads == 0 || head < 12 || !head.is_multiple_of(2) {
            return part.refuse("attention_head_dim", head, "it must be even and at least 12");
        }
        if let Some(kind) = &self.extra_pos_embed_type {
            return part.refuse("extra_pos_embed_type", kind, "only null is supported");
        }
        if self.use_crossattn_projection {
            return part.refuse("use_crossattn_projection", true, "only false is supported");
        }
        if let Some(width) = self.img_context_dim_in.filter(|width| *width > 0) {
            return part.refuse("img_context_dim_in", width, "only null is supported");
        }
        Ok(())
    }

    fn dim(&self) -> usize {
        self.num_attention_heads * self.attention_head_dim
    }

    /// Values of a patch that the network sees.
    fn patch_width(&self) -> usize {
        (self.in_channels + usize::from(self.concat_padding_mask)) * PATCH * PATCH
    }

    /// Widths of the parts of a head that are rotated by frame, row and column, and the base of the frequencies of each.
    fn axes(&self) -> [(usize, f32); 3] {
        let side = self.attention_head_dim / 6 * 2;
        let mut widths = [self.attention_head_dim - 2 * side, side, side].into_iter();
        self.rope_scale.map(|scale| {
            let width = widths.next().unwrap_or_default();
            (width, (THETA * scale.powf(width as f64 / (width as f64 - 2.0))) as f32)
        })
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    fn embedders(&self) -> usize {
        2 + self.num_layers
    }

    /// The norms that a block before [`embedders`](Self::embedders) modulates.
    fn norms(&self, block: usize) -> &'static [&'static str] {
        if block <= self.num_layers { &NORMS } else { &HEAD_NORM }
    }

    /// The blocks. Those that depend only on the noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let (dim, prompt) = (self.dim(), self.text_embed_dim);
        let inner = (dim as f64 * self.mlp_ratio) as usize;
        let modulation = |spec: BlockSpec, norm: &str, parts: usize| {
            spec.matrix(&format!("{norm}.linear_1"), self.adaln_lora_dim, dim).matrix(
                &format!("{norm}.linear_2"),
                parts * dim,
                self.adaln_lora_dim,
            )
        };
        let attention = |spec: BlockSpec, name: &str, read: usize| {
            let layer = |layer: &str| format!("{name}.{layer}");
            spec.matrix(&layer("to_q"), dim, dim)
                .matrix(&layer("to_k"), dim, read)
                .matrix(&layer("to_v"), dim, read)
                .scale(&layer("norm_q"), self.attention_head_dim)
                .scale(&layer("norm_k"), self.attention_head_dim)
                .matrix(&layer("to_out.0"), dim, dim)
        };
        let mut blocks = vec![
            BlockSpec::stem("conditioning")
                .matrix("time_embed.t_embedder.linear_1", dim, dim)
                .matrix("time_embed.t_embedder.linear_2", MODULATION * dim, dim)
                .scale("time_embed.norm", dim),
        ];
        blocks.extend((0..self.num_layers).map(|layer| {
            let prefix = format!("transformer_blocks.{layer}.");
            let spec = BlockSpec { prefix: prefix.clone(), ..BlockSpec::new(format!("{prefix}modulation")) };
            NORMS.iter().fold(spec, |spec, norm| modulation(spec, norm, MODULATION))
        }));
        blocks.push(modulation(BlockSpec::stem("head.modulation"), HEAD_NORM[0], 2));
        blocks.push(BlockSpec::stem("embedders").matrix("patch_embed.proj", dim, self.patch_width()));
        blocks.extend((0..self.num_layers).map(|layer| {
            let spec = BlockSpec::new(format!("transformer_blocks.{layer}"));
            attention(attention(spec, "attn1", dim), "attn2", prompt)
                .matrix("ff.net.0.proj", inner, dim)
                .matrix("ff.net.2", dim, inner)
        }));
        blocks.push(BlockSpec::stem("head").matrix("proj_out", self.out_channels * PATCH * PATCH, dim));
        blocks
    }
}

/// Layers of a block, and their original names.
const BLOCK: [Row; 20] = [
    ("norm1.linear_1", "adaln_modulation_self_attn.1", 0..1, 1),
    ("norm1.linear_2", "adaln_modulation_self_attn.2", 0..1, 1),
    ("norm2.linear_1", "adaln_modulation_cross_attn.1", 0..1, 1),
    ("norm2.linear_2", "adaln_modulation_cross_attn.2", 0..1, 1),
    ("norm3.linear_1", "adaln_modulation_mlp.1", 0..1, 1),
    ("norm3.linear_2", "adaln_modulation_mlp.2", 0..1, 1),
    ("attn1.to_q", "self_attn.q_proj", 0..1, 1),
    ("attn1.to_k", "self_attn.k_proj", 0..1, 1),
    ("attn1.to_v", "self_attn.v_proj", 0..1, 1),
    ("attn1.norm_q", "self_attn.q_norm", 0..1, 1),
    ("attn1.norm_k", "self_attn.k_norm", 0..1, 1),
    ("attn1.to_out.0", "self_attn.output_proj", 0..1, 1),
    ("attn2.to_q", "cross_attn.q_proj", 0..1, 1),
    ("attn2.to_k", "cross_attn.k_proj", 0..1, 1),
    ("attn2.to_v", "cross_attn.v_proj", 0..1, 1),
    ("attn2.norm_q", "cross_attn.q_norm", 0..1, 1),
    ("attn2.norm_k", "cross_attn.k_norm", 0..1, 1),
    ("attn2.to_out.0", "cross_attn.output_proj", 0..1, 1),
    ("ff.net.0.proj", "mlp.layer1", 0..1, 1),
    ("ff.net.2", "mlp.layer2", 0..1, 1),
];
/// Layers around the blocks, and their original names.
const AROUND: [Row; 7] = [
    ("time_embed.t_embedder.linear_1", "t_embedder.1.linear_1", 0..1, 1),
    ("time_embed.t_embedder.linear_2", "t_embedder.1.linear_2", 0..1, 1),
    ("time_embed.norm", "t_embedding_norm", 0..1, 1),
    ("patch_embed.proj", "x_embedder.proj.1", 0..1, 1),
    ("norm_out.linear_1", "final_layer.adaln_modulation.1", 0..1, 1),
    ("norm_out.linear_2", "final_layer.adaln_modulation.2", 0..1, 1),
    ("proj_out", "final_layer.linear", 0..1, 1),
];

/// The name of a tensor in the authors' files, which ComfyUI also uses.
fn original_name(name: &str) -> StoredName {
    let split = || {
        let (layer, parameter) = name.rsplit_once('.')?;
        let Some(rest) = layer.strip_prefix("transformer_blocks.") else {
            return stored_name(&AROUND, "", layer, parameter);
        };
        let (number, layer) = rest.split_once('.')?;
        stored_name(&BLOCK, &format!("blocks.{number}."), layer, parameter)
    };
    split().unwrap_or_else(|| StoredName::whole(name))
}

/// Only this transformer's blocks have three norms that narrow layers modulate.
pub fn is_transformer(part: &Part) -> bool {
    let has = |names: [&str; 2]| names.iter().all(|name| part.tensors.contains_key(*name));
    has(["patch_embed.proj.weight", "transformer_blocks.0.norm3.linear_1.weight"])
        || has(["x_embedder.proj.1.weight", "blocks.0.adaln_modulation_mlp.1.weight"])
}

/// The transformer's shape. The weights come from a store.
#[derive(Debug, Clone)]
pub struct CosmosTransformer {
    config: CosmosConfig,
    /// Pixels per latent, along one side.
    scale: usize,
    /// The network sees at least this many tokens of the prompt; those that it does not have are zeros.
    least_tokens: usize,
}

impl CosmosTransformer {
    /// A transformer with this shape. Each latent covers `scale` by `scale` pixels.
    pub fn new(config: CosmosConfig, scale: usize) -> Self {
        Self { config, scale, least_tokens: 0 }
    }

    /// The transformer in a part of a checkpoint, and the location of its weights.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing, or a tensor has the wrong shape.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(CosmosConfig::from_shapes)?;
        config.check(part)?;
        let component = Component::bind(
            Role::Denoiser,
            "Cosmos transformer",
            &config.blueprint(),
            &part.tensors,
            original_name,
            &part.path,
        )?;
        Ok((Self::new(config, 8), component))
    }

    /// The same for latents that cover `scale` by `scale` pixels, and prompts of at least this many tokens.
    pub fn reading(self, scale: usize, least_tokens: usize) -> Self {
        Self { scale, least_tokens, ..self }
    }

    /// Its shape.
    pub fn config(&self) -> &CosmosConfig {
        &self.config
    }

    /// The activated embeddings of noise levels, and the modulation for all blocks, `[noise levels, 3 · dim]`.
    fn levels(&self, w: &Weights, sigmas: &[f32], blocks: Blocks<'_>) -> Result<[Tensor; 2]> {
        let dim = self.config.dim();
        // The pipeline divides by the scheduler's 1000; the rounding must match.
        let times: Vec<f32> = sigmas.iter().map(|sigma| sigma * 1000.0 / 1000.0).collect();
        let form = Waves { width: dim, spaced: (dim / 2) as f64, cosines_first: true };
        let wave = waves(&times, form, &blocks.device())?.to_dtype(blocks.dtype())?;
        let name = "time_embed.t_embedder";
        let shared = silu(&w.linear(&format!("{name}.linear_1"), &wave)?)?;
        let shared = w.linear(&format!("{name}.linear_2"), &shared)?;
        Ok([silu(&w.rms_norm("time_embed.norm", &wave, LEVEL_EPS)?)?, shared])
    }

    /// Rotary embeddings of the patches of an image, row by row.
    fn rope(&self, [rows, columns]: [usize; 2], device: &Device) -> Result<Rope> {
        let axes = self.config.axes();
        let (widths, [frame, row, column]) = (axes.map(|(width, _)| width), axes.map(|(_, theta)| theta));
        let place = |index: usize| [index / columns, index % columns].map(|place| place as f32);
        let places: Vec<_> = (0..rows * columns)
            .map(|index| {
                let [of_row, of_column] = place(index);
                [(0.0, frame), (of_row, row), (of_column, column)]
            })
            .collect();
        let angle = |(place, theta): (f32, f32), exponent: f64| place * theta.powf(exponent as f32).recip();
        let angles = angles(&places, &widths, angle);
        Rope::from_angles(&angles, places.len(), self.config.attention_head_dim / 2, device)
    }

    /// Attention of `x`, which is freed, to itself or to a prompt.
    fn attention(
        &self,
        w: &Weights,
        name: &str,
        x: Tensor,
        prompt: Option<&Tensor>,
        rope: Option<&Rope>,
    ) -> Result<Tensor> {
        let batch = x.dim(0)?;
        let heads = |layer: &str, x: &Tensor| {
            let h = w.linear(&format!("{name}.{layer}"), x)?;
            let (own, tokens, dim) = h.dims3()?;
            let h = if own == batch { h } else { h.broadcast_as((batch, tokens, dim))?.contiguous()? };
            h.reshape((batch, tokens, (), self.config.attention_head_dim))
        };
        let normed = |norm: &str, h: &Tensor| w.rms_norm(&format!("{name}.{norm}"), h, ATTENTION_EPS);
        let mut q = normed("norm_q", &heads("to_q", &x)?)?;
        let mut k = normed("norm_k", &heads("to_k", prompt.unwrap_or(&x))?)?;
        let v = heads("to_v", prompt.unwrap_or(&x))?;
        drop(x);
        if let Some(rope) = rope {
            // In f32, as in the reference; positions of 16 bits would be too coarse.
            let rotated = |h: Tensor| rope_half(&h.to_dtype(DType::F32)?, rope)?.to_dtype(h.dtype());
            (q, k) = (rotated(q)?, rotated(k)?);
        }
        let h = attention(&q, &k, &v, Mask::None)?;
        drop((q, k, v));
        w.linear(&format!("{name}.to_out.0"), &h.flatten_from(2)?)
    }

    /// A block; `modulations` are those of its three norms.
    fn block(
        &self,
        w: &Weights,
        x: &Tensor,
        prompt: &Tensor,
        modulations: &[Tensor],
        rope: &Rope,
    ) -> Result<Tensor> {
        let own = |norm: usize| modulations[norm].chunk(MODULATION, D::Minus1);
        let modulation = own(0)?;
        let h = self.attention(w, "attn1", normed(x, &modulation)?, None, Some(rope))?;
        let x = gated_add(x, &modulation[2], &h)?;
        let modulation = own(1)?;
        let h = self.attention(w, "attn2", normed(&x, &modulation)?, Some(prompt), None)?;
        let x = gated_add(&x, &modulation[2], &h)?;
        let modulation = own(2)?;
        let h = feed_forward_by(w, "ff", normed(&x, &modulation)?, gelu)?;
        within_range(gated_add(&x, &modulation[2], &h)?)
    }
}

impl Denoiser for CosmosTransformer {
    fn size_multiple(&self) -> u32 {
        (self.scale * PATCH) as u32
    }

    fn latents(&self, canvas: Canvas) -> LatentShape {
        let [height, width] = canvas.latents(self.scale);
        LatentShape::image(self.config.in_channels, height, width)
    }

    /// The last encoder's states, with zeros after the prompt.
    fn conditioning(&self, encoded: Vec<Encoded>) -> Result<Conditioning> {
        let Some(Encoded { states, .. }) = encoded.into_iter().next_back() else {
            bail!("the prompt was not encoded");
        };
        let missing = self.least_tokens.saturating_sub(states.dim(0)?);
        Ok(Conditioning::new(states.pad_with_zeros(0, 0, missing)?))
    }

    fn prepare(
        &self,
        blocks: Blocks<'_>,
        input: &PrepareInput<'_>,
    ) -> std::result::Result<Prepared, RunError> {
        let embed = |w: &Weights| {
            let prompts = input.branches.iter().map(|branch| branch.prompt.unsqueeze(0));
            Ok((self.levels(w, input.sigmas, blocks)?, prompts.collect::<Result<_>>()?))
        };
        modulated_by(blocks, input.sigmas, self.config.embedders(), embed, |index, w, [level, shared]| {
            let modulation = |norm: &&str| {
                let narrow = w.linear(&format!("{norm}.linear_1"), level)?;
                let own = w.linear(&format!("{norm}.linear_2"), &narrow)?;
                let all = (&own + shared.narrow(1, 0, own.dim(1)?)?)?;
                all.unsqueeze(1)?.unsqueeze(1)
            };
            self.config.norms(index).iter().map(modulation).collect()
        })
    }

    fn predict(
        &self,
        blocks: Blocks<'_>,
        input: &DenoiserInput<'_>,
        prepared: &Prepared,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let (_, _, height, width) = input.latents.dims4()?;
        let grid = [height / PATCH, width / PATCH];
        let rope = self.rope(grid, &blocks.device())?;
        let modulations = prepared.modulation(input.sigma)?;
        let first = self.config.embedders() + 1;
        let last = first + self.config.num_layers;
        let mut streams: Vec<Tensor> = Vec::new();
        blocks.walk(first - 1..last + 1, |index, w| {
            if index < first {
                let patches = patchify(&input.latents.to_dtype(blocks.dtype())?, PATCH, Channels::First)?;
                // Nothing of an image is padding.
                let mask = self.config.patch_width() - patches.dim(D::Minus1)?;
                let x = w.linear("patch_embed.proj", &patches.pad_with_zeros(2, 0, mask)?)?;
                streams = vec![x; prepared.branches.len()];
                return Ok(());
            }
            let modulations = &modulations[NORMS.len() * (index - first)..];
            w.branches(&mut streams, |w, branch, x| {
                *x = if index == last {
                    w.linear("proj_out", &normed(x, &modulations[0].chunk(2, D::Minus1)?)?)?
                } else {
                    self.block(w, x, &prepared.branches[branch].prompt, modulations, &rope)?
                };
                Ok(())
            })
        })?;
        let latents = |x: &Tensor| unpatchify(x, grid, PATCH, Channels::Last);
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
    fn names_become_the_authors_own() {
        for (ours, theirs) in [
            ("transformer_blocks.11.norm2.linear_1.weight", "blocks.11.adaln_modulation_cross_attn.1.weight"),
            ("transformer_blocks.3.attn1.to_out.0.weight", "blocks.3.self_attn.output_proj.weight"),
            ("transformer_blocks.0.ff.net.0.proj.weight", "blocks.0.mlp.layer1.weight"),
            ("time_embed.norm.weight", "t_embedding_norm.weight"),
            ("patch_embed.proj.weight", "x_embedder.proj.1.weight"),
        ] {
            assert_eq!(original_name(ours), StoredName::whole(theirs), "{ours}");
        }
    }

    /// The published model rotates 44 values of a head by the frame, and 42 each by row and column.
    #[test]
    fn positions_share_a_head() {
        let axes = CosmosConfig::default().axes();
        assert_eq!(axes.map(|(width, _)| width), [44, 42, 42]);
        assert_eq!(axes[0].1, 10_000.0);
        assert!((axes[1].1 - 42_871.0).abs() < 1.0, "{axes:?}");
    }
}
