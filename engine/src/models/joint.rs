//! What transformers have in common whose image and text tokens have weights of their own and meet in attention (Esser
//! et al. 2024, arXiv:2403.03206), modulated by noise level and pooled prompt.
//!
//! What those two alone decide is computed once a run, in blocks of their own. `img`, `txt`, `vec` and `pe` are the
//! authors' words: both streams, what modulates them, and the rotations of their places.

use std::ops::Range;

use candle_core::{D, Result, Tensor};

use super::{
    Conditioning, DenoiserShape, Modulation, PrepareInput, Prepared,
    modulated::{FREQUENCY_WIDTH, feed_forward, frequencies, norm_tape, normed, once, within_range},
};
use crate::{
    checkpoint::{BlockSpec, StoredName},
    memory::BlockWork,
    nn::{Costs, Mask, Rope, Tape, attention, gated_add, rope_interleaved, silu},
    residency::{Executor, RunError, WeightStore, Weights},
};

/// Width inside the feed-forward layers, in widths of the stream.
pub const MLP_RATIO: usize = 4;
/// Added to the mean square of queries and keys.
const EPS: f64 = 1e-6;

/// The names of an attention's layers.
#[derive(Debug)]
pub struct Attention {
    /// Queries, keys and values.
    pub qkv: [&'static str; 3],
    /// The norms of queries and keys.
    pub norms: [&'static str; 2],
    /// What its result goes through.
    pub out: &'static str,
}

/// Those of `img` and of `txt`.
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
/// Their feed-forward layers.
pub const MLPS: [&str; 2] = ["ff", "ff_context"];

/// The same for `img` and for `txt`.
pub fn each_side<T>(mut work: impl FnMut(usize) -> Result<T>) -> Result<[T; 2]> {
    Ok([work(0)?, work(1)?])
}

/// A layer's name here, in the authors' files, and which of how many equal parts of what is joined there.
pub type Row = (&'static str, &'static str, Range<usize>, usize);

/// The name in the authors' files of the `layer` of a block whose names start with `block` there.
pub fn stored_name(rows: &[Row], block: &str, layer: &str, parameter: &str) -> Option<StoredName> {
    let (_, original, parts, of) = rows.iter().find(|(own, ..)| *own == layer)?;
    let full = format!("{block}{original}.{parameter}");
    Some(if *of == 1 { StoredName::whole(full) } else { StoredName::part(full, parts.clone(), *of) })
}

/// In diffusers' files the names are the same, but for modulations without a gate: scale and shift are joined.
pub fn diffusers_name(name: &str) -> StoredName {
    for (part, half) in [".scale.", ".shift."].into_iter().enumerate() {
        if let Some((layer, parameter)) = name.split_once(half) {
            return StoredName::part(format!("{layer}.linear.{parameter}"), part..part + 1, 2);
        }
    }
    StoredName::whole(name)
}

/// Sizes of attention.
#[derive(Debug, Clone, Copy)]
pub struct Heads {
    /// How many.
    pub count: usize,
    /// Width of one.
    pub width: usize,
    /// Whether queries and keys are normed.
    pub are_normed: bool,
}

impl Heads {
    /// Width of the residual streams.
    pub fn dim(self) -> usize {
        self.count * self.width
    }

    /// Adds the layers of an attention to a block; `goes_on` says whether its result is used.
    pub fn spec(self, spec: BlockSpec, layers: &Attention, goes_on: bool) -> BlockSpec {
        let dim = self.dim();
        let mut spec = layers.qkv.iter().fold(spec, |spec, name| spec.linear(name, dim, dim));
        if self.are_normed {
            spec = layers.norms.iter().fold(spec, |spec, name| spec.scale(name, self.width));
        }
        if goes_on { spec.linear(layers.out, dim, dim) } else { spec }
    }

    /// Adds the layers of both streams to a block, of which the first `streams` go on after it.
    pub fn joint_spec(self, mut spec: BlockSpec, streams: usize) -> BlockSpec {
        let (dim, inner) = (self.dim(), MLP_RATIO * self.dim());
        for (side, (layers, mlp)) in SIDES.iter().zip(MLPS).enumerate() {
            let goes_on = side < streams;
            spec = self.spec(spec, layers, goes_on);
            if goes_on {
                spec = spec.linear(&format!("{mlp}.net.0.proj"), inner, dim);
                spec = spec.linear(&format!("{mlp}.net.2"), dim, inner);
            }
        }
        spec
    }

    /// Queries, keys and values `[batch, tokens, heads, width]` of `x`, which is let go.
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

    /// [`qkv`](Self::qkv), function by function; the bytes of its results.
    pub fn qkv_tape(self, tape: &mut Tape, costs: Costs, rows: usize) -> u64 {
        let dim = self.dim();
        let heads = (0..3).map(|_| tape.run(costs.linear(rows, dim, dim))).sum();
        if self.are_normed {
            (0..2).for_each(|_| tape.replace(costs.pointwise(rows * dim, 1)));
        }
        heads
    }

    /// Attention over all tokens, which `pe` turns by their places where a model has that, `[batch, tokens, dim]`.
    pub fn attend(self, [mut q, mut k, v]: [Tensor; 3], pe: Option<&Rope>) -> Result<Tensor> {
        if let Some(pe) = pe {
            q = rope_interleaved(&q, pe)?;
            k = rope_interleaved(&k, pe)?;
        }
        attention(&q, &k, &v, Mask::None)?.flatten_from(2)
    }

    /// [`attend`](Self::attend), function by function; the bytes of its result.
    pub fn attention_tape(
        self,
        tape: &mut Tape,
        costs: Costs,
        batch: usize,
        tokens: usize,
        is_turned: bool,
    ) -> u64 {
        if is_turned {
            (0..2).for_each(|_| tape.replace(costs.pointwise(batch * tokens * self.dim(), 1)));
        }
        tape.run(costs.attention([batch, tokens, self.count, self.width], tokens, self.count))
    }

    /// Attention over the tokens of `x` alone, through its last layer. `x` is let go.
    pub fn alone(self, w: &Weights, x: Tensor, layers: &Attention) -> Result<Tensor> {
        w.linear(layers.out, &self.attend(self.qkv(w, x, layers)?, None)?)
    }

    /// The norm before [`alone`](Self::alone) and itself, function by function; the bytes of its result.
    pub fn alone_tape(self, tape: &mut Tape, costs: Costs, batch: usize, tokens: usize) -> u64 {
        let (rows, dim) = (batch * tokens, self.dim());
        let h = norm_tape(tape, costs, rows * dim);
        let qkv = self.qkv_tape(tape, costs, rows);
        tape.free(h);
        let attended = self.attention_tape(tape, costs, batch, tokens, false);
        tape.free(qkv);
        let projected = tape.run(costs.linear(rows, dim, dim));
        tape.free(attended);
        projected
    }

    /// What the first `outputs` streams get of attention over both, after norms that the first two tensors of
    /// `modulations` shift and scale.
    pub fn joint(
        self,
        w: &Weights,
        streams: [&Tensor; 2],
        modulations: [&[Tensor]; 2],
        pe: Option<&Rope>,
        outputs: usize,
    ) -> Result<Vec<Tensor>> {
        let [[img_q, img_k, img_v], [txt_q, txt_k, txt_v]] =
            each_side(|side| self.qkv(w, normed(streams[side], modulations[side])?, &SIDES[side]))?;
        let q = joined(txt_q, img_q)?;
        let k = joined(txt_k, img_k)?;
        let v = joined(txt_v, img_v)?;
        let h = self.attend([q, k, v], pe)?;
        let text = streams[1].dim(1)?;
        let places = [text..h.dim(1)?, 0..text];
        let own = |(places, layers): (Range<usize>, &Attention)| {
            w.linear(layers.out, &h.narrow(1, places.start, places.len())?)
        };
        places.into_iter().zip(&SIDES).take(outputs).map(own).collect()
    }

    /// [`joint`](Self::joint), function by function; the bytes of its results.
    pub fn joint_tape(
        self,
        tape: &mut Tape,
        costs: Costs,
        batch: usize,
        tokens: [usize; 2],
        is_turned: bool,
        outputs: usize,
    ) -> u64 {
        let dim = self.dim();
        for rows in tokens.map(|tokens| batch * tokens) {
            let h = norm_tape(tape, costs, rows * dim);
            self.qkv_tape(tape, costs, rows);
            tape.free(h);
        }
        let all = tokens[0] + tokens[1];
        let joined: u64 = (0..3)
            .map(|_| {
                let joined = tape.run(costs.copy(batch * all * dim));
                tape.free(joined);
                joined
            })
            .sum();
        let attended = self.attention_tape(tape, costs, batch, all, is_turned);
        tape.free(joined);
        let mut projected = 0;
        for rows in tokens.map(|tokens| batch * tokens).into_iter().take(outputs) {
            let copied = if batch > 1 { tape.run(costs.copy(rows * dim)) } else { 0 };
            projected += tape.run(costs.linear(rows, dim, dim));
            tape.free(copied);
        }
        tape.free(attended);
        projected
    }
}

/// Text before image, along the tokens.
fn joined(txt: Tensor, img: Tensor) -> Result<Tensor> {
    Tensor::cat(&[txt, img], 1)
}

/// `x` and what the layers below `mlp` make of it, modulated by shift, scale and gate.
pub fn fed_forward(w: &Weights, mlp: &str, x: &Tensor, modulation: &[Tensor]) -> Result<Tensor> {
    let h = feed_forward(w, mlp, normed(x, modulation)?)?;
    within_range(gated_add(x, &modulation[2], &h)?)
}

/// [`fed_forward`] of `rows` of this width, function by function.
pub fn feed_forward_tape(tape: &mut Tape, costs: Costs, rows: usize, dim: usize) {
    let inner = MLP_RATIO * dim;
    let h = norm_tape(tape, costs, rows * dim);
    let wide = tape.run(costs.linear(rows, dim, inner));
    tape.free(h);
    let active = tape.run(costs.activation(rows * inner));
    tape.free(wide);
    let h = tape.run(costs.linear(rows, inner, dim));
    tape.free(active);
    tape.run(costs.pointwise(rows * dim, 2));
    tape.free(h);
}

/// Both streams `[batch, tokens, dim]` for each branch.
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

/// Layers that modulate, with their widths in widths of the stream; the results of those that stand together are
/// joined.
pub type Modulators = &'static [&'static [(&'static str, usize)]];

/// Those before the last layer.
pub const HEAD_MODULATORS: Modulators = &[&[("norm_out.shift", 1), ("norm_out.scale", 1)]];

/// Widths of what is computed once a run.
#[derive(Debug, Clone, Copy)]
pub struct Conditions {
    /// That of the streams.
    pub dim: usize,
    /// That of the pooled prompt.
    pub pooled: usize,
    /// That of the prompt.
    pub prompt: usize,
    /// Whether the network is told the guidance scale.
    pub has_guidance: bool,
}

impl Conditions {
    /// The block that embeds noise level, guidance and prompt.
    pub fn spec(self) -> BlockSpec {
        let embedder = |spec: BlockSpec, name: &str, width: usize| {
            let name = |layer| format!("time_text_embed.{name}.{layer}");
            spec.linear(&name("linear_1"), self.dim, width).linear(&name("linear_2"), self.dim, self.dim)
        };
        let mut spec = embedder(BlockSpec::stem("conditioning"), "timestep_embedder", FREQUENCY_WIDTH);
        if self.has_guidance {
            spec = embedder(spec, "guidance_embedder", FREQUENCY_WIDTH);
        }
        embedder(spec, "text_embedder", self.pooled).linear("context_embedder", self.dim, self.prompt)
    }

    /// The block `name` of layers that modulate `block`, or that stand at the top of the file.
    pub fn modulation_spec(self, block: &str, name: &str, layers: Modulators) -> BlockSpec {
        let spec = BlockSpec { prefix: block.to_owned(), ..BlockSpec::new(format!("{block}{name}")) };
        layers
            .iter()
            .copied()
            .flatten()
            .fold(spec, |spec, (name, width)| spec.linear(name, width * self.dim, self.dim))
    }

    /// What the first block and then one for each of `modulated` has to do: [`prepare`], function by function.
    pub fn work(
        self,
        costs: Costs,
        shape: &DenoiserShape,
        modulated: impl Iterator<Item = Modulators>,
    ) -> Vec<BlockWork> {
        let texts = &shape.prompts[..shape.branches];
        let rows = shape.sigmas * shape.branches;
        let mut tape = Tape::default();
        for (rows, inputs) in
            [(shape.sigmas, FREQUENCY_WIDTH), (1, FREQUENCY_WIDTH), (shape.branches, self.pooled)]
        {
            tape.run(costs.linear(rows, inputs, self.dim));
            tape.replace(costs.pointwise(rows * self.dim, 1));
            tape.replace(costs.linear(rows, self.dim, self.dim));
        }
        tape.run(costs.copy(rows * self.dim));
        tape.run(costs.pointwise(rows * self.dim, 1));
        texts.iter().for_each(|&text| {
            tape.run(costs.linear(text, self.prompt, self.dim));
        });
        let modulation = |layers: Modulators| {
            let mut tape = Tape::default();
            tape.hold((rows * self.dim * costs.value_bytes) as u64);
            layers.iter().copied().flatten().for_each(|(_, width)| {
                tape.run(costs.linear(rows, self.dim, width * self.dim));
            });
            once(tape)
        };
        std::iter::once(once(tape)).chain(modulated.map(modulation)).collect()
    }

    /// Values that [`prepare`] leaves behind.
    pub fn kept(self, shape: &DenoiserShape, modulated: impl Iterator<Item = Modulators>) -> usize {
        let widths: usize =
            modulated.flat_map(|layers| layers.iter().copied().flatten()).map(|(_, width)| width).sum();
        let texts: usize = shape.prompts[..shape.branches].iter().sum();
        texts * (self.prompt + self.dim) + shape.branches * shape.sigmas * widths * self.dim
    }
}

/// Prompts as the network's own tokens, and what each noise level modulates with. The first block embeds, and each of
/// the others up to `blocks` modulates through `layers`; `times` describe the noise levels, and the network is told
/// `guidance` where it wants to know it.
pub fn prepare(
    executor: &Executor,
    store: &WeightStore,
    input: &PrepareInput<'_>,
    times: &[f32],
    guidance: Option<f32>,
    blocks: usize,
    layers: impl Fn(usize) -> Modulators,
) -> std::result::Result<Prepared, RunError> {
    let mut modulations: Vec<Modulation> =
        input.sigmas.iter().map(|&sigma| Modulation { sigma, tensors: Vec::new() }).collect();
    let mut branches = Vec::new();
    let mut vec = None;
    executor.walk(store, 0..blocks, |index, w| {
        let Some(vec) = &vec else {
            vec = Some(silu(&embed(w, input.branches, times, guidance, store)?)?);
            for branch in input.branches {
                let prompt = w.linear("context_embedder", &branch.prompt.unsqueeze(0)?)?;
                branches.push(Conditioning { prompt, pooled: None });
            }
            return Ok(());
        };
        repeat_left_out(&mut modulations, index, &layers)?;
        for layer in layers(index) {
            let parts = layer.iter().map(|(name, _)| w.linear(name, vec)).collect::<Result<Vec<_>>>()?;
            let all = if let [only] = &parts[..] { only.clone() } else { Tensor::cat(&parts, D::Minus1)? };
            let all = all.unsqueeze(2)?;
            for (level, modulation) in modulations.iter_mut().enumerate() {
                modulation.tensors.push(all.get(level)?);
            }
        }
        Ok(())
    })?;
    Ok(Prepared { branches, modulations, ..Prepared::default() })
}

/// An executor that tries a model out leaves out blocks like the one before: theirs are copies of that one's, so that all
/// of `block`'s come in their places.
fn repeat_left_out(
    modulations: &mut [Modulation],
    block: usize,
    layers: impl Fn(usize) -> Modulators,
) -> Result<()> {
    let before = (1..block).map(|block| layers(block).len()).sum();
    for Modulation { tensors, .. } in modulations {
        while tensors.len() < before {
            tensors.push(tensors[tensors.len() - layers(block - 1).len()].copy()?);
        }
    }
    Ok(())
}

/// `vec`: noise level, guidance and pooled prompt as one, `[noise levels, branches, dim]`.
fn embed(
    w: &Weights,
    branches: &[Conditioning],
    times: &[f32],
    guidance: Option<f32>,
    store: &WeightStore,
) -> Result<Tensor> {
    let mlp = |name: &str, x: &Tensor| {
        let h = silu(&w.linear(&format!("time_text_embed.{name}.linear_1"), x)?)?;
        w.linear(&format!("time_text_embed.{name}.linear_2"), &h)
    };
    let embedded = |numbers: &[f32]| frequencies(numbers, store.device())?.to_dtype(store.dtype());
    let mut vec = mlp("timestep_embedder", &embedded(times)?)?;
    if let Some(guidance) = guidance {
        vec = vec.broadcast_add(&mlp("guidance_embedder", &embedded(&[guidance])?)?)?;
    }
    let pooled: Vec<&Tensor> = branches.iter().filter_map(|branch| branch.pooled.as_ref()).collect();
    let pooled = mlp("text_embedder", &Tensor::stack(&pooled, 0)?)?;
    vec.unsqueeze(1)?.broadcast_add(&pooled.unsqueeze(0)?)
}
