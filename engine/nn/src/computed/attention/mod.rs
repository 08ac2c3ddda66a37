//! Scaled dot-product attention.

mod grid;
mod in_bf16;
mod tiled;

use std::ops::Range;

use candle_core::{DType, Result, Storage, Tensor, bail};
use half::bf16;

use super::{
    bf16_product::Instruction,
    cpu::{by_processor, rounded, values, zeros},
};
use crate::cuda;
use grid::Grid;

pub use grid::attention_with_grid_bias;

/// Which keys a query attends to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// All keys.
    None,
    /// The keys at the query's own position and before it.
    Causal,
}

/// Attention of `q` `[batch, tokens, heads, head_dim]` over `k` and `v` `[batch, keys, kv_heads, head_dim]`,
/// scaled by `1 / sqrt(head_dim)`. The result has the shape of `q`. `heads` is a multiple of `kv_heads`:
/// neighbouring query heads share a key head (grouped-query attention).
///
/// The full score matrix is never materialized.
pub fn attention(q: &Tensor, k: &Tensor, v: &Tensor, mask: Mask) -> Result<Tensor> {
    check(q, k, v)?;
    let divisor = (q.dim(3)? as f64).sqrt();
    if by_processor(q) {
        let are_bf16 = [q, k, v].iter().all(|x| x.dtype() == DType::BF16);
        if let Some(instruction) = in_bf16(q.dim(3)?).filter(|_| are_bf16) {
            return fused_in_bf16(instruction, [q, k, v], mask == Mask::Causal);
        }
        fused(q, k, v, Scores { causal: mask == Mask::Causal, ..Scores::new(divisor) })
    } else {
        let causal = mask == Mask::Causal;
        let added = if causal { Added::Causal } else { Added::Nothing };
        let work = || cuda::attention(q, k, v, causal);
        cuda::attend_or_plain(q, work, || plain([q, k, v], divisor, added, Most::USUAL))
    }
}

/// Unmasked attention with scores `q · k + bias`, unscaled, as in T5 (Raffel et al. 2020). `bias`, f32
/// `[heads, tokens + keys − 1]`, is indexed by key position minus query position, from `1 − tokens` to
/// `keys − 1`.
pub fn attention_with_bias(q: &Tensor, k: &Tensor, v: &Tensor, bias: &Tensor) -> Result<Tensor> {
    check(q, k, v)?;
    let (_, tokens, heads, _) = q.dims4()?;
    let keys = k.dim(1)?;
    if bias.dims() != [heads, tokens + keys - 1] {
        bail!("a bias of shape {:?} for {tokens} queries and {keys} keys of {heads} heads", bias.dims());
    }
    if by_processor(q) {
        let bias = super::cpu::contiguous(bias)?;
        let held = bias.storage_and_layout();
        let bias = Bias::by_distance(values(&held)?, [tokens, keys]);
        return fused(q, k, v, Scores { bias: Some(bias), ..Scores::new(1.0) });
    }
    let work = || cuda::attention_with_bias(q, k, v, bias);
    cuda::attend_or_plain(q, work, || plain([q, k, v], 1.0, Added::Bias(bias), Most::USUAL))
}

/// Unmasked [`attention`] to whose scores a bias is added, `[heads, tokens, keys]`.
pub fn attention_with_pair_bias(q: &Tensor, k: &Tensor, v: &Tensor, bias: &Tensor) -> Result<Tensor> {
    check(q, k, v)?;
    let (_, tokens, heads, width) = q.dims4()?;
    let keys = k.dim(1)?;
    if bias.dims() != [heads, tokens, keys] {
        bail!("a bias of shape {:?} for {tokens} queries and {keys} keys of {heads} heads", bias.dims());
    }
    let divisor = (width as f64).sqrt();
    if by_processor(q) {
        // The queries of a key are next to each other, as its scores are.
        let bias = super::cpu::contiguous(&bias.transpose(1, 2)?.contiguous()?)?;
        let held = bias.storage_and_layout();
        let bias = Bias::of_pairs(values(&held)?, [tokens, keys]);
        return fused(q, k, v, Scores { bias: Some(bias), ..Scores::new(divisor) });
    }
    plain([q, k, v], divisor, Added::PairBias(bias), Most::USUAL)
}

/// Causal [`attention`] in which each query also attends to a sink: a score of its head, f32 `[heads]`, that has no value
/// (Xiao et al. 2023, arXiv:2309.17453). With a `window`, a query attends to so many keys at most, its own and those before it.
pub fn attention_with_sinks(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    sinks: &Tensor,
    window: Option<usize>,
) -> Result<Tensor> {
    check(q, k, v)?;
    let (_, _, heads, width) = q.dims4()?;
    if sinks.dims() != [heads] || window == Some(0) {
        bail!("{heads} heads with sinks of shape {:?} and a window of {window:?} keys", sinks.dims());
    }
    let divisor = (width as f64).sqrt();
    if by_processor(q) {
        let sinks = super::cpu::contiguous(&sinks.to_dtype(DType::F32)?)?;
        let held = sinks.storage_and_layout();
        let sinks = Some(values(&held)?);
        return fused(q, k, v, Scores { causal: true, sinks, window, ..Scores::new(divisor) });
    }
    plain([q, k, v], divisor, Added::Sinks { sinks, window }, Most::USUAL)
}

/// How to get scores from the products of queries and keys.
#[derive(Clone, Copy)]
struct Scores<'a> {
    divisor: f64,
    causal: bool,
    bias: Option<Bias<'a>>,
    grid: Option<Grid<'a>>,
    /// `[heads]`.
    sinks: Option<&'a [f32]>,
    /// How many keys a query attends to at most, its own and those before it.
    window: Option<usize>,
}

impl Scores<'_> {
    /// Those of all keys, divided by a number.
    fn new(divisor: f64) -> Self {
        Self { divisor, causal: false, bias: None, grid: None, sinks: None, window: None }
    }
}

/// What is added to the scores of queries and keys. In each head, the value for a key and the first query stands at
/// `first + key_step · key`, and those for the next queries after it, or before it.
#[derive(Clone, Copy)]
struct Bias<'a> {
    values: &'a [f32],
    /// Values of each head.
    of_head: usize,
    first: usize,
    key_step: usize,
    is_backwards: bool,
}

impl<'a> Bias<'a> {
    /// By relative position: `[heads, tokens + keys − 1]`.
    fn by_distance(values: &'a [f32], [tokens, keys]: [usize; 2]) -> Self {
        // That for the first query comes after the values for keys before it.
        Self { values, of_head: tokens + keys - 1, first: tokens - 1, key_step: 1, is_backwards: true }
    }

    /// For each pair: `[heads, keys, tokens]`.
    fn of_pairs(values: &'a [f32], [tokens, keys]: [usize; 2]) -> Self {
        Self { values, of_head: tokens * keys, first: 0, key_step: tokens, is_backwards: false }
    }

    /// That of one head.
    fn head(self, head: usize) -> Self {
        Self { values: &self.values[head * self.of_head..][..self.of_head], ..self }
    }

    /// Adds the values of some queries and a key of this head to their scores, for a softmax with base 2.
    #[inline(always)]
    fn add_to(self, scores: &mut [f32], queries: &Range<usize>, key: usize) {
        let of_key = self.first + self.key_step * key;
        let lowest = if self.is_backwards { of_key + 1 - queries.end } else { of_key + queries.start };
        let values = &self.values[lowest..][..queries.len()];
        let add = |(score, value): (&mut f32, &f32)| *score += value * std::f32::consts::LOG2_E;
        if self.is_backwards {
            scores.iter_mut().zip(values.iter().rev()).for_each(add);
        } else {
            scores.iter_mut().zip(values).for_each(add);
        }
    }
}

fn check(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<()> {
    let (batch, _, heads, width) = q.dims4()?;
    let (key_batch, keys, kv_heads, key_width) = k.dims4()?;
    if k.dims() != v.dims() || (key_batch, key_width) != (batch, width) || kv_heads == 0 || keys == 0 {
        bail!("attention of {:?} over keys {:?} and values {:?}", q.dims(), k.dims(), v.dims());
    }
    if heads % kv_heads != 0 {
        bail!("attention with {heads} heads over {kv_heads} key heads");
    }
    Ok(())
}

/// What the plain path adds to the scores.
#[derive(Clone, Copy)]
enum Added<'a> {
    Nothing,
    /// The causal mask: `-inf` for keys after the query.
    Causal,
    /// A bias by relative position, `[heads, tokens + keys − 1]`.
    Bias(&'a Tensor),
    /// A bias for each pair, `[heads, tokens, keys]`.
    PairBias(&'a Tensor),
    /// Biases by the rows and the columns of keys, `[batch, tokens, heads, rows]` and `[batch, tokens, heads, columns]`.
    Grid([&'a Tensor; 2]),
    /// The causal mask, perhaps with a window, and the score of a key without a value, `[heads]`.
    Sinks {
        sinks: &'a Tensor,
        window: Option<usize>,
    },
}

impl Added<'_> {
    /// Adds it to scores `[…, queries, keys]` of a range of queries.
    fn to(self, scores: Tensor, queries: Range<usize>, tokens: usize) -> Result<Tensor> {
        let keys = scores.dim(3)?;
        let mask = |window: usize| {
            let is_seen = move |query: usize, key: usize| key <= query && query - key < window;
            let added = move |query| {
                (0..keys).map(move |key| if is_seen(query, key) { 0.0 } else { f32::NEG_INFINITY })
            };
            let values: Vec<f32> = queries.clone().flat_map(added).collect();
            Tensor::from_vec(values, (queries.len(), keys), scores.device())
        };
        let added = match self {
            Self::Nothing => return Ok(scores),
            Self::Causal => mask(usize::MAX)?,
            Self::Grid(biases) => return grid::add_to_all(scores, biases, &queries),
            Self::Sinks { sinks, window } => {
                let mask = mask(window.unwrap_or(usize::MAX))?.to_dtype(scores.dtype())?;
                let (batch, heads, rows, _) = scores.dims4()?;
                let shown = scores.broadcast_add(&mask)?;
                drop(scores);
                let sinks = sinks.to_dtype(shown.dtype())?.reshape((1, heads, 1, 1))?;
                let sinks = sinks.broadcast_as((batch, heads, rows, 1))?.contiguous()?;
                return Tensor::cat(&[shown, sinks], 3);
            }
            Self::Bias(bias) => {
                let rows = queries.map(|query| bias.narrow(1, tokens - 1 - query, keys));
                Tensor::stack(&rows.collect::<Result<Vec<_>>>()?, 1)?
            }
            Self::PairBias(bias) => bias.narrow(1, queries.start, queries.len())?,
        };
        scores.broadcast_add(&added.to_dtype(scores.dtype())?)
    }
}

/// How much the plain path computes at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    /// Scores of a chunk of queries. A function on them needs the same amount again for its result.
    pub scores: usize,
    /// Values of the keys of the heads that are computed together. They are copied in f32, and so are the values.
    pub keys: usize,
}

impl Most {
    /// That of every run.
    pub const USUAL: Self = Self { scores: 32 << 20, keys: 16 << 20 };

    /// How many key heads are computed together, of `kv_heads` that serve `heads` query heads.
    pub fn kv_heads(self, [batch, keys, width]: [usize; 3], heads: usize, kv_heads: usize) -> usize {
        let of_head = batch * keys * width * (heads / kv_heads.max(1));
        (self.keys / of_head.max(1)).clamp(1, kv_heads.max(1))
    }
}

/// Attention by its definition, in f32 or wider, for some heads at a time.
fn plain([q, k, v]: [&Tensor; 3], divisor: f64, added: Added<'_>, most: Most) -> Result<Tensor> {
    let (batch, _, heads, width) = q.dims4()?;
    let (_, keys, kv_heads, _) = k.dims4()?;
    let together = most.kv_heads([batch, keys, width], heads, kv_heads);
    if together == kv_heads {
        return plain_heads([q, k, v], divisor, added, most.scores);
    }
    let served = heads / kv_heads;
    let attend = |first: usize| {
        let count = together.min(kv_heads - first);
        let (q, k, v) = (
            q.narrow(2, first * served, count * served)?,
            k.narrow(2, first, count)?,
            v.narrow(2, first, count)?,
        );
        let own = |of_heads: &Tensor, dim: usize| of_heads.narrow(dim, first * served, count * served);
        let own = match added {
            Added::Bias(of_heads) | Added::PairBias(of_heads) | Added::Sinks { sinks: of_heads, .. } => {
                vec![own(of_heads, 0)?]
            }
            Added::Grid([rows, columns]) => vec![own(rows, 2)?, own(columns, 2)?],
            Added::Nothing | Added::Causal => Vec::new(),
        };
        let added = match (added, &own[..]) {
            (Added::Bias(_), [bias]) => Added::Bias(bias),
            (Added::PairBias(_), [bias]) => Added::PairBias(bias),
            (Added::Grid(_), [rows, columns]) => Added::Grid([rows, columns]),
            (Added::Sinks { window, .. }, [sinks]) => Added::Sinks { sinks, window },
            _ => added,
        };
        plain_heads([&q, &k, &v], divisor, added, most.scores)
    };
    let parts = (0..kv_heads).step_by(together).map(attend).collect::<Result<Vec<_>>>()?;
    Tensor::cat(&parts, 2)
}

/// Attention by its definition over chunks of queries with at most `most` scores each.
fn plain_heads([q, k, v]: [&Tensor; 3], divisor: f64, added: Added<'_>, most: usize) -> Result<Tensor> {
    let dtype = if q.dtype() == DType::F64 { DType::F64 } else { DType::F32 };
    let (batch, tokens, heads, width) = q.dims4()?;
    let (_, keys, kv_heads, _) = k.dims4()?;
    let spread = |x: &Tensor| -> Result<Tensor> {
        let x = x.to_dtype(dtype)?.transpose(1, 2)?;
        if kv_heads == heads {
            return x.contiguous();
        }
        let shape = (batch, kv_heads, heads / kv_heads, keys, width);
        x.unsqueeze(2)?.broadcast_as(shape)?.reshape((batch, heads, keys, width))
    };
    let (k, v) = (spread(k)?.transpose(2, 3)?, spread(v)?);
    // The sink is a key without a value.
    let v = if let Added::Sinks { .. } = added { v.pad_with_zeros(2, 0, 1)? } else { v };
    let together = (most / (batch * heads * keys).max(1)).min(tokens).max(1);
    let attend = |first: usize| -> Result<Tensor> {
        let queries = first..tokens.min(first + together);
        let part = q.narrow(1, first, queries.len())?.to_dtype(dtype)?.transpose(1, 2)?.contiguous()?;
        let scores = (part.matmul(&k)? / divisor)?;
        let weights = candle_nn::ops::softmax_last_dim(&added.to(scores, queries, tokens)?)?;
        weights.matmul(&v)?.transpose(1, 2)?.contiguous()?.to_dtype(q.dtype())
    };
    let parts = (0..tokens.max(1)).step_by(together).map(attend).collect::<Result<Vec<_>>>()?;
    if let [whole] = &parts[..] { Ok(whole.clone()) } else { Tensor::cat(&parts, 1) }
}

/// The memory layout of the heads: `[batch, tokens, heads, head_dim]` with any strides except the last, which
/// is 1.
#[derive(Clone, Copy)]
struct Heads<'a, T> {
    values: &'a [T],
    batch: usize,
    token: usize,
    head: usize,
}

impl<'a, T> Heads<'a, T> {
    /// Takes the strides of `x`. `values` begins at the first value of `x`.
    fn new(values: &'a [T], x: &Tensor) -> Self {
        let stride = x.stride();
        Self { values, batch: stride[0], token: stride[1], head: stride[2] }
    }

    fn from(self, batch: usize, head: usize) -> &'a [T] {
        &self.values[batch * self.batch + head * self.head..]
    }
}

/// The processor's instruction by which attention of bf16 values is computed, with heads of this width.
pub(crate) fn in_bf16(width: usize) -> Option<Instruction> {
    Instruction::detect().filter(|_| width > 0 && width.is_multiple_of(2))
}

/// Work items that `[batch, tokens, heads, width]` queries are divided into.
pub(crate) fn pieces(q: [usize; 4], keys: usize, by: Option<Instruction>) -> usize {
    match by {
        Some(instruction) => in_bf16::pieces(q, instruction),
        None => tiled::pieces(q, keys),
    }
}

/// Scratch bytes of attention, without its inputs and its result.
pub(crate) fn scratch_bytes(q: [usize; 4], keys: usize, threads: usize, by: Option<Instruction>) -> usize {
    match by {
        Some(instruction) => in_bf16::scratch_bytes(q, keys, threads, instruction),
        None => tiled::scratch_bytes(q, keys, threads),
    }
}

fn fused_in_bf16(instruction: Instruction, inputs: [&Tensor; 3], causal: bool) -> Result<Tensor> {
    let lined_up = |x: &Tensor| if x.stride()[3] == 1 { Ok(x.clone()) } else { x.contiguous() };
    let [q, k, v] = inputs;
    let [queries, keys, spread] = [lined_up(q)?, lined_up(k)?, lined_up(v)?];
    let held = [&queries, &keys, &spread].map(|x| x.storage_and_layout());
    let mut out = vec![bf16::ZERO; q.elem_count()];
    if !out.is_empty() {
        let heads = |place: usize, x| match &*held[place].0 {
            Storage::Cpu(storage) => {
                Ok(Heads::new(&storage.as_slice::<bf16>()?[held[place].1.start_offset()..], x))
            }
            _ => bail!("the tensor is not on the CPU"),
        };
        let heads = [heads(0, &queries)?, heads(1, &keys)?, heads(2, &spread)?];
        in_bf16::attend(instruction, heads, causal, q.dims4()?, k.dims4()?, &mut out);
    }
    Tensor::from_vec(out, q.dims(), q.device())
}

fn fused(q: &Tensor, k: &Tensor, v: &Tensor, scores: Scores) -> Result<Tensor> {
    let wide = |x: &Tensor| -> Result<Tensor> {
        let x = x.to_dtype(DType::F32)?;
        if x.stride()[3] == 1 || x.dim(3)? == 1 { Ok(x) } else { x.contiguous() }
    };
    let (queries, keys, spread) = (wide(q)?, wide(k)?, wide(v)?);
    let held = (queries.storage_and_layout(), keys.storage_and_layout(), spread.storage_and_layout());
    let mut out = zeros(q.elem_count());
    if !out.is_empty() {
        let queries = Heads::new(values(&held.0)?, &queries);
        let keys = Heads::new(values(&held.1)?, &keys);
        let spread = Heads::new(values(&held.2)?, &spread);
        tiled::attend(queries, keys, spread, scores, q.dims4()?, k.dims4()?, &mut out);
    }
    drop(held);
    drop((queries, keys, spread));
    rounded(out, q.dims(), q.dtype())
}

#[cfg(test)]
mod tests;
