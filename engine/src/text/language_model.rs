//! The layers of decoder-only language models, which encode prompts in newer families.
//!
//! Qwen 2.5 (Qwen Team 2024, arXiv:2412.15115) has biases on queries, keys and values; Qwen 3 (Yang et al. 2025,
//! arXiv:2505.09388) normalizes queries and keys instead; Mistral and Llama 3 (Llama Team 2024, arXiv:2407.21783) do neither.
//! Everything else is the same, except that Llama 3.1 turns its slow rotations even slower.

mod config;

use std::ops::Range;

use super::seen::{Added, Placed, Seen, with_added, with_images};
use crate::{
    nn::{D, Mask, Result, Rope, Tensor, attention, rms_norm, rope_half, rope_interleaved, silu_mul},
    residency::{Blocks, RunError, Weights},
};

pub use self::config::{LanguageModelConfig, Layers, LongTexts, RopeParameters, RopeScaling, RopeStretch};

/// Index of the block with the embedding table.
pub(super) const EMBEDDINGS: usize = 0;

/// Which hidden states of a model are the encoding of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken<'a> {
    /// Those that enter the last layer (`hidden_states[-2]` in transformers). It is never run and its weights are never
    /// read.
    Penultimate,
    /// Those after the final norm (`hidden_states[-1]`).
    Last,
    /// Those after a quarter, a half and three quarters of the layers, side by side (`hidden_states[9]`, 18 and 27 of 36
    /// layers). The layers after them are never run and their weights are never read.
    Quarters,
    /// Those after each of these numbers of layers, ascending and at least 1, side by side; one more than there are layers
    /// means those after the final norm. The layers after them are never run.
    After(&'a [usize]),
}

impl Taken<'_> {
    /// Whether the states of several layers are kept.
    fn are_several(self) -> bool {
        matches!(self, Self::Quarters | Self::After(_))
    }

    /// The numbers of layers after which the states are kept, in a model of this many layers.
    fn after(self, layers: usize) -> Vec<usize> {
        match self {
            Self::Penultimate => vec![layers - 1],
            Self::Last => vec![layers],
            Self::Quarters => (1..=3).map(|quarter| (layers * quarter / 4).max(1)).collect(),
            Self::After(numbers) => numbers.to_vec(),
        }
    }
}

/// A language model. The weights come from a store.
#[derive(Debug, Clone)]
pub struct LanguageModel {
    config: LanguageModelConfig,
    layers: Layers,
    /// The token that prompts are padded with, if they are.
    padding: Option<Padding>,
}

#[derive(Debug, Clone, Copy)]
enum Padding {
    Before(u32),
    /// At this position, or else where it is.
    After(u32, Option<usize>),
}

impl LanguageModel {
    /// Builds the model from its shape.
    pub fn new(config: LanguageModelConfig, layers: Layers) -> Self {
        Self { config, layers, padding: None }
    }

    /// The same for prompts that are padded at their end with this token. Padding is not seen by any token.
    pub fn padded_with(self, token: u32) -> Self {
        Self { padding: Some(Padding::After(token, None)), ..self }
    }

    /// The same where all padding has this position.
    pub fn padded_at(self, position: usize, token: u32) -> Self {
        Self { padding: Some(Padding::After(token, Some(position))), ..self }
    }

    /// The same for prompts that are padded at their beginning. Padding is not seen by any token, and sees nothing.
    pub fn padded_before_with(self, token: u32) -> Self {
        Self { padding: Some(Padding::Before(token)), ..self }
    }

    /// Its shape.
    pub(super) fn config(&self) -> &LanguageModelConfig {
        &self.config
    }

    /// Width of the hidden states.
    pub fn width(&self) -> usize {
        self.config.hidden_size
    }

    /// For each prompt, the hidden states `[tokens, hidden_size]`, or those of several layers side by side. Every layer is
    /// leased once for all prompts.
    ///
    /// # Errors
    /// When the walk stops early.
    pub fn states(
        &self,
        blocks: Blocks<'_>,
        prompts: &[&[u32]],
        taken: Taken<'_>,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        self.states_seeing(blocks, prompts, taken, None)
    }

    /// The same for prompts with images, which are the same in all prompts.
    ///
    /// # Errors
    /// When the walk stops early, or a prompt has fewer images than it has tokens for.
    pub fn states_seeing(
        &self,
        blocks: Blocks<'_>,
        prompts: &[&[u32]],
        taken: Taken<'_>,
        seen: Option<Seen<'_>>,
    ) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut states = Vec::new();
        for ids in prompts {
            let x = blocks.rows(EMBEDDINGS, "weight", ids)?;
            let Placed { x, mut places, added } = match seen {
                Some(seen) => with_images(x, ids, seen)?,
                None => Placed::text(x)?,
            };
            let read = self.unpadded(ids);
            if let Some(Padding::After(_, Some(position))) = self.padding {
                places[read.end..].fill([position; 3]);
            }
            states.push(Stream {
                rope: self.config.rope(self.layers, &places, &x)?,
                read,
                x: x.unsqueeze(0)?,
                added,
            });
        }
        let norm = EMBEDDINGS + 1 + self.config.num_hidden_layers;
        let after = taken.after(self.config.num_hidden_layers);
        let end = match taken {
            Taken::Last => norm + 1,
            _ => EMBEDDINGS + 1 + after.iter().max().copied().unwrap_or(0),
        };
        let mut kept: Vec<Vec<Tensor>> = vec![Vec::new(); prompts.len()];
        blocks.walk(EMBEDDINGS + 1..end, |index, weights| {
            for (Stream { rope, read, x, added }, kept) in states.iter_mut().zip(&mut kept) {
                *x = if index == norm {
                    rms_norm(x, &weights.get("weight")?, self.config.rms_norm_eps)?
                } else {
                    let after = self.layer(weights, x, rope, |q, k, v| attend(&q, &k, v, read))?;
                    with_added(after, added, index - EMBEDDINGS - 1)?
                };
                if taken.are_several() {
                    let here = after.iter().filter(|layer| **layer == index - EMBEDDINGS);
                    kept.extend(here.map(|_| x.clone()));
                }
            }
            Ok(())
        })?;
        let taken = states.into_iter().zip(kept).map(|(Stream { x, .. }, kept)| match &kept[..] {
            [] => x.squeeze(0),
            kept => Tensor::cat(kept, D::Minus1)?.squeeze(0),
        });
        Ok(taken.collect::<Result<_>>()?)
    }

    /// The tokens without the padding.
    fn unpadded(&self, ids: &[u32]) -> Range<usize> {
        match self.padding {
            Some(Padding::Before(padding)) => {
                ids.iter().position(|id| *id != padding).unwrap_or(0)..ids.len()
            }
            Some(Padding::After(padding, _)) => {
                0..ids.iter().rposition(|id| *id != padding).map_or(ids.len(), |last| last + 1)
            }
            None => 0..ids.len(),
        }
    }

    /// A layer, in which `attend` decides what the queries see.
    pub(super) fn layer(
        &self,
        w: &Weights,
        x: &Tensor,
        rope: &Rope,
        attend: impl FnOnce(Tensor, Tensor, &Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let eps = self.config.rms_norm_eps;
        let (batch, tokens, _) = x.dims3()?;
        let heads = |y: Tensor| y.reshape((batch, tokens, (), self.config.head()));
        let normed = |y: Tensor, norm: &str| match self.layers {
            Layers::Qwen2 | Layers::Mistral { .. } => Ok(y),
            Layers::Qwen3 => w.rms_norm(norm, &y, eps),
        };

        let h = w.rms_norm("input_layernorm", x, eps)?;
        let q = normed(heads(w.linear(self.layers.queries(), &h)?)?, "self_attn.q_norm")?;
        let k = normed(heads(w.linear(self.layers.keys(), &h)?)?, "self_attn.k_norm")?;
        let v = heads(w.linear("self_attn.v_proj", &h)?)?;
        let rotated = if self.layers.is_interleaved() { rope_interleaved } else { rope_half };
        let attended = attend(rotated(&q, rope)?, rotated(&k, rope)?, &v)?;
        drop((h, q, k, v));
        let x = (x + w.linear("self_attn.o_proj", &attended.flatten_from(2)?)?)?;
        drop(attended);

        let h = w.rms_norm("post_attention_layernorm", &x, eps)?;
        let (gate, up) = (w.linear("mlp.gate_proj", &h)?, w.linear("mlp.up_proj", &h)?);
        let h = silu_mul(&gate, &up)?;
        drop((gate, up));
        x + w.linear("mlp.down_proj", &h)?
    }
}

/// Causal attention over the keys in `read`. What comes before them sees nothing, which gives zeros.
fn attend(q: &Tensor, k: &Tensor, v: &Tensor, read: &Range<usize>) -> Result<Tensor> {
    let tokens = q.dim(1)?;
    if *read == (0..tokens) {
        return attention(q, k, v, Mask::Causal);
    }
    let part = |x: &Tensor, range: Range<usize>| x.narrow(1, range.start, range.len());
    let (k, v) = (part(k, read.clone())?, part(v, read.clone())?);
    let mut parts = Vec::new();
    if read.start > 0 {
        parts.push(part(q, 0..read.start)?.zeros_like()?);
    }
    parts.push(attention(&part(q, read.clone())?, &k, &v, Mask::Causal)?);
    if read.end < tokens {
        parts.push(attention(&part(q, read.end..tokens)?, &k, &v, Mask::None)?);
    }
    Tensor::cat(&parts, 1)
}

/// A prompt on its way through the layers.
struct Stream {
    rope: Rope,
    /// The tokens that are seen.
    read: Range<usize>,
    x: Tensor,
    added: Vec<Added>,
}
