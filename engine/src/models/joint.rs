//! Shared parts of transformers whose image and text tokens have separate weights and interact in attention
//! (Esser et al. 2024, arXiv:2403.03206), modulated by noise level and pooled prompt.
//!
//! What depends only on those two is computed once per run, in separate blocks. `img`, `txt`, `vec` and `pe`
//! are the authors' names for both streams, the modulation's input, and the rotary position embeddings.

use std::ops::Range;

use super::{
    Conditioning, Modulation, PrepareInput, Prepared,
    modulated::{FREQUENCY_WIDTH, feed_forward, frequencies, normed, within_range},
};
use crate::{
    checkpoint::{BlockSpec, StoredName},
    nn::{D, Mask, Result, Rope, Tensor, attention, gated_add, rope_interleaved, silu},
    residency::{Blocks, RunError, Weights},
};

/// Hidden width of the feed-forward layers, as a multiple of the stream's width.
pub const MLP_RATIO: usize = 4;
/// Modulations per stream in a double block: shift, scale and gate for attention and for feed-forward.
pub const DOUBLE_MODULATION: usize = 6;
/// Added to the mean square of queries and keys.
const EPS: f64 = 1e-6;

/// Names of the layers of an attention.
#[derive(Debug)]
pub struct Attention {
    /// Queries, keys and values.
    pub qkv: [&'static str; 3],
    /// Norms of queries and keys.
    pub norms: [&'static str; 2],
    /// Output projection.
    pub out: &'static str,
}

/// The attention layers of `img` and of `txt`.
pub const SIDES: [Attention; 2] = [
    Attention {
        qkv: ["attn.to_q", "attn.to_k", "attn.to_v"],
        norms: ["attn.norm_q", "attn.norm_k"],
        out: "attn.to_out.0",
    },
    Attention {
        qkv: ["attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj"],
        norms: ["attn.norm_added_q", "attn.norm_added_k"],
        out: "attn.to_add_out",
    },
];
/// The feed-forward layers of `img` and of `txt`.
pub const MLPS: [&str; 2] = ["ff", "ff_context"];

/// Calls `work` for `img` and for `txt`.
pub fn each_side<T>(mut work: impl FnMut(usize) -> Result<T>) -> Result<[T; 2]> {
    Ok([work(0)?, work(1)?])
}

/// A layer's name here, its name in the authors' files, which part of the joined layer there it is, and the
/// number of those equal parts.
pub type Row = (&'static str, &'static str, Range<usize>, usize);

/// The name in the authors' files of a block's `layer`; `block` is the prefix of the block's names there.
pub fn stored_name(rows: &[Row], block: &str, layer: &str, parameter: &str) -> Option<StoredName> {
    let (_, original, parts, of) = rows.iter().find(|(own, ..)| *own == layer)?;
    let full = format!("{block}{original}.{parameter}");
    Some(if *of == 1 { StoredName::whole(full) } else { StoredName::part(full, parts.clone(), *of) })
}

/// The name in diffusers' files. They are the same except for modulations without a gate, where scale and
/// shift are joined.
pub fn diffusers_name(name: &str) -> StoredName {
    for (part, half) in [".scale.", ".shift."].into_iter().enumerate() {
        if let Some((layer, parameter)) = name.split_once(half) {
            return StoredName::part(format!("{layer}.linear.{parameter}"), part..part + 1, 2);
        }
    }
    StoredName::whole(name)
}

/// Dimensions of attention.
#[derive(Debug, Clone, Copy)]
pub struct Heads {
    /// Number of heads.
    pub count: usize,
    /// Width of a head.
    pub width: usize,
    /// Whether queries and keys are normalized.
    pub are_normed: bool,
}

impl Heads {
    /// Width of the residual streams.
    pub fn dim(self) -> usize {
        self.count * self.width
    }

    /// Adds the layers of an attention to a block; `goes_on` says whether its output is used.
    pub fn spec(self, spec: BlockSpec, layers: &Attention, goes_on: bool) -> BlockSpec {
        let dim = self.dim();
        let mut spec = layers.qkv.iter().fold(spec, |spec, name| spec.linear(name, dim, dim));
        if self.are_normed {
            spec = layers.norms.iter().fold(spec, |spec, name| spec.scale(name, self.width));
        }
        if goes_on { spec.linear(layers.out, dim, dim) } else { spec }
    }

    /// Adds the layers of both streams to a block. The first `streams` are used after the block and have
    /// feed-forward layers named `mlps`.
    pub fn joint_spec(self, mut spec: BlockSpec, mlps: [&str; 2], streams: usize) -> BlockSpec {
        let (dim, inner) = (self.dim(), MLP_RATIO * self.dim());
        for (side, (layers, mlp)) in SIDES.iter().zip(mlps).enumerate() {
            let goes_on = side < streams;
            spec = self.spec(spec, layers, goes_on);
            if goes_on {
                spec = spec.linear(&format!("{mlp}.net.0.proj"), inner, dim);
                spec = spec.linear(&format!("{mlp}.net.2"), dim, inner);
            }
        }
        spec
    }

    /// Queries, keys and values `[batch, tokens, heads, width]` of `x`, which is freed.
    pub fn qkv(self, w: &Weights, x: Tensor, layers: &Attention) -> Result<[Tensor; 3]> {
        let (batch, tokens, _) = x.dims3()?;
        let heads = |name: &str| w.linear(name, &x)?.reshape((batch, tokens, self.count, ()));
        let (mut q, mut k, v) = (heads(layers.qkv[0])?, heads(layers.qkv[1])?, heads(layers.qkv[2])?);
        drop(x);
        if self.are_normed {
            q = w.rms_norm(layers.norms[0], &q, EPS)?;
            k = w.rms_norm(layers.norms[1], &k, EPS)?;
        }
        Ok([q, k, v])
    }

    /// Attention over all tokens, `[batch, tokens, dim]`; `pe` rotates queries and keys in models with rotary
    /// embeddings.
    pub fn attend(self, [mut q, mut k, v]: [Tensor; 3], pe: Option<&Rope>) -> Result<Tensor> {
        if let Some(pe) = pe {
            q = rope_interleaved(&q, pe)?;
            k = rope_interleaved(&k, pe)?;
        }
        attention(&q, &k, &v, Mask::None)?.flatten_from(2)
    }

    /// Attention over the tokens of `x` only, with the output projection. Frees `x`.
    pub fn alone(self, w: &Weights, x: Tensor, layers: &Attention) -> Result<Tensor> {
        w.linear(layers.out, &self.attend(self.qkv(w, x, layers)?, None)?)
    }

    /// The outputs of attention over both streams for the first `outputs` streams, after norms that the first
    /// two tensors of `modulations` shift and scale.
    pub fn joint(
        self,
        w: &Weights,
        streams: [&Tensor; 2],
        modulations: [&[Tensor]; 2],
        pe: Option<&Rope>,
        outputs: usize,
    ) -> Result<Vec<Tensor>> {
        self.joint_of(w, |side| normed(streams[side], modulations[side]), pe, outputs)
    }

    /// The same for streams whose values, normalized and modulated, `normed` returns by their side.
    fn joint_of(
        self,
        w: &Weights,
        normed: impl Fn(usize) -> Result<Tensor>,
        pe: Option<&Rope>,
        outputs: usize,
    ) -> Result<Vec<Tensor>> {
        let [[img_q, img_k, img_v], [txt_q, txt_k, txt_v]] =
            each_side(|side| self.qkv(w, normed(side)?, &SIDES[side]))?;
        let text = txt_q.dim(1)?;
        let q = joined(txt_q, img_q)?;
        let k = joined(txt_k, img_k)?;
        let v = joined(txt_v, img_v)?;
        let h = self.attend([q, k, v], pe)?;
        let places = [text..h.dim(1)?, 0..text];
        let own = |(places, layers): (Range<usize>, &Attention)| {
            w.linear(layers.out, &h.narrow(1, places.start, places.len())?)
        };
        places.into_iter().zip(&SIDES).take(outputs).map(own).collect()
    }

    /// Both streams `[batch, tokens, dim]` after joint attention and the feed-forward layers named `mlps`,
    /// with shift, scale and gate for each in the stream's modulation `[1, 1, DOUBLE_MODULATION · dim]`.
    pub fn double_block(
        self,
        w: &Weights,
        streams: [&Tensor; 2],
        modulations: [Tensor; 2],
        mlps: [&str; 2],
        pe: &Rope,
    ) -> Result<[Tensor; 2]> {
        let [img, txt] = modulations;
        let spans = [vec![(streams[0].dim(1)?, img)], vec![(streams[1].dim(1)?, txt)]];
        self.double_block_in(w, streams, spans, mlps, pe)
    }

    /// The same where tokens of a stream are modulated differently: as many of them, in their order, by each modulation.
    pub fn double_block_in(
        self,
        w: &Weights,
        streams: [&Tensor; 2],
        modulations: [Vec<(usize, Tensor)>; 2],
        mlps: [&str; 2],
        pe: &Rope,
    ) -> Result<[Tensor; 2]> {
        let chunks = |(tokens, modulation): &(usize, Tensor)| {
            Ok((*tokens, modulation.chunk(DOUBLE_MODULATION, D::Minus1)?))
        };
        let spans = each_side(|side| modulations[side].iter().map(chunks).collect::<Result<Vec<Span>>>())?;
        let norm = |side: usize| in_spans([streams[side]], &spans[side], |[x], own| normed(x, own));
        let attended = self.joint_of(w, norm, Some(pe), 2)?;
        each_side(|side| {
            let (spans, both) = (&spans[side], [streams[side], &attended[side]]);
            let x = in_spans(both, spans, |[x, h], own| gated_add(x, &own[2], h))?;
            let h = in_spans([&x], spans, |[x], own| normed(x, &own[3..]))?;
            let h = feed_forward(w, mlps[side], h)?;
            within_range(in_spans([&x, &h], spans, |[x, h], own| gated_add(x, &own[5], h))?)
        })
    }

    /// A block called `name` with the layers that modulate `block`; an empty `block` means layers at the top
    /// level of the file.
    pub fn modulation_spec(self, block: &str, name: &str, layers: Modulators) -> BlockSpec {
        let dim = self.dim();
        let spec = BlockSpec { prefix: block.to_owned(), ..BlockSpec::new(format!("{block}{name}")) };
        layers.iter().copied().flatten().fold(spec, |spec, (name, width)| spec.linear(name, width * dim, dim))
    }
}

/// A number of tokens, and what modulates them: shift, scale and gate for attention and for feed-forward.
type Span = (usize, Vec<Tensor>);

/// The results of `work` for each span of the tokens of some streams, after one another.
fn in_spans<const N: usize>(
    streams: [&Tensor; N],
    spans: &[Span],
    work: impl Fn([&Tensor; N], &[Tensor]) -> Result<Tensor>,
) -> Result<Tensor> {
    if let [(_, only)] = spans {
        return work(streams, only);
    }
    let (mut first, mut parts) = (0, Vec::new());
    for (tokens, own) in spans {
        let mut narrowed = Vec::new();
        for stream in streams {
            narrowed.push(stream.narrow(1, first, *tokens)?.contiguous()?);
        }
        parts.push(work(std::array::from_fn(|index| &narrowed[index]), own)?);
        first += tokens;
    }
    Tensor::cat(&parts, 1)
}

/// Concatenates text and image along the tokens.
fn joined(txt: Tensor, img: Tensor) -> Result<Tensor> {
    Tensor::cat(&[txt, img], 1)
}

/// `x` plus the output of the layers below `mlp`, modulated by shift, scale and gate.
pub fn fed_forward(w: &Weights, mlp: &str, x: &Tensor, modulation: &[Tensor]) -> Result<Tensor> {
    let h = feed_forward(w, mlp, normed(x, modulation)?)?;
    within_range(gated_add(x, &modulation[2], &h)?)
}

/// Both streams `[batch, tokens, dim]`, for each branch.
pub fn streams(img: &Tensor, branches: &[Conditioning]) -> Result<Vec<[Tensor; 2]>> {
    let batch = img.dim(0)?;
    let both = branches.iter().map(|branch| {
        let (_, tokens, dim) = branch.prompt.dims3()?;
        Ok([img.clone(), branch.prompt.broadcast_as((batch, tokens, dim))?.contiguous()?])
    });
    both.collect()
}

/// The last layer, after a norm that `modulation` shifts and scales.
pub fn head(w: &Weights, x: &Tensor, modulation: &Tensor) -> Result<Tensor> {
    w.linear("proj_out", &normed(x, &modulation.chunk(2, D::Minus1)?)?)
}

/// Modulation layers with their output widths, as multiples of the stream's width. The outputs of layers in
/// the same list are concatenated.
pub type Modulators = &'static [&'static [(&'static str, usize)]];

/// The modulation layers of the head.
pub const HEAD_MODULATORS: Modulators = &[&[("norm_out.shift", 1), ("norm_out.scale", 1)]];

/// Widths of the conditioning that is computed once per run.
#[derive(Debug, Clone, Copy)]
pub struct Conditions {
    /// Width of the streams.
    pub dim: usize,
    /// Width of the pooled prompt.
    pub pooled: usize,
    /// Width of the prompt embeddings; 0 in networks that read none.
    pub prompt: usize,
    /// Whether the guidance scale is an input of the network.
    pub has_guidance: bool,
}

impl Conditions {
    /// The block that embeds noise level, guidance and prompt.
    pub fn spec(self) -> BlockSpec {
        let mut spec = conditioning_spec(self.dim);
        if self.has_guidance {
            spec = embedder_spec(spec, "guidance_embedder", self.dim, FREQUENCY_WIDTH);
        }
        let spec = embedder_spec(spec, "text_embedder", self.dim, self.pooled);
        if self.prompt == 0 { spec } else { spec.linear("context_embedder", self.dim, self.prompt) }
    }
}

/// Starts the block of embedders that are needed once per run, with the embedder of the noise level.
pub fn conditioning_spec(dim: usize) -> BlockSpec {
    embedder_spec(BlockSpec::stem("conditioning"), "timestep_embedder", dim, FREQUENCY_WIDTH)
}

fn embedder_spec(spec: BlockSpec, name: &str, dim: usize, width: usize) -> BlockSpec {
    let name = |layer| format!("time_text_embed.{name}.{layer}");
    spec.linear(&name("linear_1"), dim, width).linear(&name("linear_2"), dim, dim)
}

/// The output of the embedder `name` for `x`.
pub fn embedded(w: &Weights, name: &str, x: &Tensor) -> Result<Tensor> {
    let h = silu(&w.linear(&format!("{name}.linear_1"), x)?)?;
    w.linear(&format!("{name}.linear_2"), &h)
}

/// The output of the embedder `name` for numbers, `[numbers, dim]`.
pub fn embedded_waves(w: &Weights, name: &str, numbers: &[f32], blocks: Blocks<'_>) -> Result<Tensor> {
    embedded(w, name, &frequencies(numbers, &blocks.device())?.to_dtype(blocks.dtype())?)
}

/// Embeds the timesteps `times`, `[times, dim]`.
pub fn embedded_times(w: &Weights, times: &[f32], blocks: Blocks<'_>) -> Result<Tensor> {
    embedded_waves(w, "time_text_embed.timestep_embedder", times, blocks)
}

/// The network's tokens `[1, tokens, dim]` of each prompt. `embed` gets all prompts at once, so that each weight is read once
/// even if it is loaded by itself.
pub fn embedded_prompts(
    branches: &[Conditioning],
    embed: impl FnOnce(&Tensor) -> Result<Tensor>,
) -> Result<Vec<Tensor>> {
    let prompts: Vec<&Tensor> = branches.iter().map(|branch| &branch.prompt).collect();
    let all = embed(&Tensor::cat(&prompts, 0)?.unsqueeze(0)?)?;
    let mut first = 0;
    let own = prompts.into_iter().map(|prompt| {
        let tokens = prompt.dim(0)?;
        first += tokens;
        all.narrow(1, first - tokens, tokens)
    });
    own.collect()
}

/// Embeds the prompts as the network's tokens, and computes the modulation for each noise level. The first
/// block embeds, and each of the others up to `embedders` modulates through `layers`. `times` are the
/// timesteps of the noise levels; `guidance` is used by networks that have it as an input.
pub fn prepare(
    blocks: Blocks<'_>,
    input: &PrepareInput<'_>,
    times: &[f32],
    guidance: Option<f32>,
    embedders: usize,
    layers: impl Fn(usize) -> Modulators,
) -> std::result::Result<Prepared, RunError> {
    modulated(blocks, input.sigmas, embedders, layers, |w| {
        let vec = embed(w, input.branches, times, guidance, blocks)?;
        let prompt = |branch: &Conditioning| match w.has("context_embedder.weight") {
            true => w.linear("context_embedder", &branch.prompt.unsqueeze(0)?),
            false => branch.prompt.unsqueeze(0),
        };
        Ok((vec, input.branches.iter().map(prompt).collect::<Result<_>>()?))
    })
}

/// The modulation for each noise level. The first block computes `vec` `[noise levels, branches or 1, dim]`
/// and the network's tokens of each prompt, in `embed`; each of the others up to `embedders` modulates
/// through `layers`.
pub fn modulated(
    blocks: Blocks<'_>,
    sigmas: &[f32],
    embedders: usize,
    layers: impl Fn(usize) -> Modulators,
    embed: impl Fn(&Weights) -> Result<(Tensor, Vec<Tensor>)>,
) -> std::result::Result<Prepared, RunError> {
    let embed = |w: &Weights| {
        let (levels, prompts) = embed(w)?;
        Ok((silu(&levels)?, prompts))
    };
    modulated_by(blocks, sigmas, embedders, embed, |index, w, vec| {
        let modulation = |layer: &&[(&str, usize)]| {
            let parts = layer.iter().map(|(name, _)| w.linear(name, vec)).collect::<Result<Vec<_>>>()?;
            let all = if let [only] = &parts[..] { only.clone() } else { Tensor::cat(&parts, D::Minus1)? };
            all.unsqueeze(2)
        };
        layers(index).iter().map(modulation).collect()
    })
}

/// The same where `modulate` returns the modulations `[noise levels, …]` by a block, from what `embed` returns beside the
/// prompts.
pub fn modulated_by<T>(
    blocks: Blocks<'_>,
    sigmas: &[f32],
    embedders: usize,
    embed: impl Fn(&Weights) -> Result<(T, Vec<Tensor>)>,
    modulate: impl Fn(usize, &Weights, &T) -> Result<Vec<Tensor>>,
) -> std::result::Result<Prepared, RunError> {
    let mut modulations: Vec<Modulation> =
        sigmas.iter().map(|&sigma| Modulation { sigma, tensors: Vec::new() }).collect();
    let mut branches = Vec::new();
    let mut embedded = None;
    blocks.walk(0..embedders, |index, w| {
        let Some(embedded) = &embedded else {
            let (levels, prompts) = embed(w)?;
            embedded = Some(levels);
            branches = prompts.into_iter().map(Conditioning::new).collect();
            return Ok(());
        };
        for all in modulate(index, w, embedded)? {
            for (level, modulation) in modulations.iter_mut().enumerate() {
                modulation.tensors.push(all.get(level)?);
            }
        }
        Ok(())
    })?;
    Ok(Prepared { branches, modulations, ..Prepared::default() })
}

/// `vec`: noise level, guidance and pooled prompt combined, `[noise levels, branches, dim]`.
fn embed(
    w: &Weights,
    branches: &[Conditioning],
    times: &[f32],
    guidance: Option<f32>,
    blocks: Blocks<'_>,
) -> Result<Tensor> {
    let mut vec = embedded_times(w, times, blocks)?;
    if let Some(guidance) = guidance {
        let guidance = embedded_waves(w, "time_text_embed.guidance_embedder", &[guidance], blocks)?;
        vec = vec.broadcast_add(&guidance)?;
    }
    let pooled: Vec<&Tensor> = branches.iter().filter_map(|branch| branch.pooled.as_ref()).collect();
    let pooled = embedded(w, "time_text_embed.text_embedder", &Tensor::stack(&pooled, 0)?)?;
    vec.unsqueeze(1)?.broadcast_add(&pooled.unsqueeze(0)?)
}
