//! GPT-OSS (OpenAI 2025, arXiv:2508.10925) as a text encoder: a mixture of experts whose attention has sinks. Every other layer
//! sees a window of tokens.
//!
//! An expert is a block of its own. They are read in turn, and only those that a token of a prompt is routed to.

mod config;

use std::ops::Range;

use super::{Encoded, Extent, Given, GptOssTokenizer, Sequence, TextEncoder, Tokens, language_model::Layers};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{D, Result, Rope, Routes, Share, Tensor, attention_with_sinks, rope_half, silu_mul},
    residency::{Blocks, RunError, Weights},
};

pub use config::GptOssConfig;
use config::{APART, DOWN, EMBEDDINGS, JOINED, apart};

/// What the model is told before a prompt. The chat template of the published model has today's date; here it is always
/// the same, so that a prompt has the same states every day.
const BEFORE: &str = "<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: \
    2024-06\nCurrent date: 2026-05-26\n\nReasoning: medium\n\n# Valid channels: analysis, commentary, final. Channel must be \
    included for every message.<|end|><|start|>developer<|message|># Instructions\n\nDescribe the image by detailing the color, \
    shape, size, texture, quantity, text, spatial relationships of the objects and background.\n\n<|end|><|start|>user<|message|>";
/// How its answer begins.
const AFTER: &str = "<|end|><|start|>assistant<|channel|>analysis<|message|>Need to generate one image according to the \
    description.<|end|><|start|>assistant<|channel|>final<|message|>";
/// The most tokens that are read, with all that it is told.
const LONGEST: usize = 512;
/// The layers read the same rotations of all three places of a token.
const PLACES: Layers = Layers::Mistral { is_interleaved: false };

/// A GPT-OSS model that describes images. States of some of its layers are taken.
#[derive(Debug)]
pub struct GptOss {
    tokenizer: GptOssTokenizer,
    config: GptOssConfig,
    are_joined: bool,
    /// The number of tokens before a prompt, whose states are left out.
    left_out: usize,
    /// Numbers of layers, ascending, after each of which the states are taken.
    taken: Vec<usize>,
}

/// A prompt on its way through the layers.
struct Stream {
    rope: Rope,
    x: Tensor,
    /// What its tokens are routed by, in the layer that computes.
    mixture: Option<Mixture>,
    kept: Vec<Tensor>,
}

/// The tokens of a prompt that experts add to.
struct Mixture {
    /// Their normalized values `[tokens, width]`.
    x: Tensor,
    routes: Routes,
    sum: Tensor,
}

impl GptOss {
    /// Width of the model in `tensors`, if there is one.
    pub fn width_of(tensors: &TensorTable) -> Option<usize> {
        let is_it = ["layers.0.self_attn.sinks", "layers.0.mlp.router.weight"]
            .iter()
            .all(|name| tensors.contains_key(*name));
        tensors.get("embed_tokens.weight")?.shape().get(1).copied().filter(|_| is_it)
    }

    /// Number of layers of the model in `part`.
    ///
    /// # Errors
    /// When its configuration is wrong.
    pub fn layers_of(part: &Part) -> std::result::Result<usize, CheckpointError> {
        let config = part.config(|_| GptOssConfig::from_shapes(&apart(&part.tensors)))?;
        Ok(config.model.num_hidden_layers)
    }

    /// Finds every tensor of the model in `part`, and its tokenizer. The states are taken after these numbers of layers,
    /// ascending and at least 1.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing or has the wrong shape, there is no tokenizer, or the model does
    /// not have these layers.
    pub fn open(
        checkpoint: &Checkpoint,
        part: &Part,
        taken: &[usize],
    ) -> std::result::Result<(Self, Component), CheckpointError> {
        let tensors = apart(&part.tensors);
        let config = part.config(|_| GptOssConfig::from_shapes(&tensors))?;
        config.check(part)?;
        let layers = config.model.num_hidden_layers;
        let is_ascending = taken.is_sorted_by(|one, other| one < other);
        if taken.is_empty() || !is_ascending || !taken.iter().all(|layer| (1..=layers).contains(layer)) {
            let reason = format!("the text encoder has {layers} layers, which must be in ascending order");
            return part.refuse("selected_layer_index", format!("{taken:?}"), reason);
        }
        let are_joined = !tensors.keys().any(|name| name.ends_with(&format!(".{}.weight", APART[0])));
        let component = Component::bind(
            Role::TextEncoder,
            "GPT-OSS",
            // What comes after the last layer that is read is not needed.
            &config.blueprint(are_joined)[..config.first_of(taken.last().copied().unwrap_or(layers))],
            &tensors,
            |name| StoredName::whole(name),
            &part.path,
        )?;
        let tokenizer = GptOssTokenizer::find(checkpoint, part, config.model.vocab_size)?;
        let left_out = tokenizer.encode(BEFORE)?.len();
        Ok((Self { tokenizer, config, are_joined, left_out, taken: taken.to_vec() }, component))
    }

    /// For each prompt, the states `[tokens, layers · width]` after the layers that are taken, side by side.
    fn states(&self, blocks: Blocks<'_>, prompts: &[&[u32]]) -> std::result::Result<Vec<Tensor>, RunError> {
        let mut streams = Vec::new();
        for ids in prompts {
            let x = blocks.rows(EMBEDDINGS, "weight", ids)?;
            let places: Vec<[usize; 3]> = (0..ids.len()).map(|place| [place; 3]).collect();
            let rope = self.config.model.rope(PLACES, &places, &x)?;
            streams.push(Stream { rope, x: x.unsqueeze(0)?, mixture: None, kept: Vec::new() });
        }
        for layer in 0..self.taken.last().copied().unwrap_or(0) {
            let first = self.config.first_of(layer);
            blocks.walk(first..first + 1, |_, w| {
                w.branches(&mut streams, |w, _, stream| self.attend(w, layer, stream))
            })?;
            let is_routed = |expert: &usize| {
                streams.iter().filter_map(|stream| stream.mixture.as_ref()).any(|own| own.routes.has(*expert))
            };
            let routed: Vec<usize> = (0..self.config.num_local_experts).filter(is_routed).collect();
            blocks.walk_parts(&runs(&routed, first + 1), |index, w| {
                w.branches(&mut streams, |w, _, stream| self.add_expert(w, index - first - 1, stream))
            })?;
            for stream in &mut streams {
                if let Some(Mixture { sum, .. }) = stream.mixture.take() {
                    stream.x = (&stream.x + sum.unsqueeze(0)?)?;
                }
                if self.taken.contains(&(layer + 1)) {
                    stream.kept.push(stream.x.clone());
                }
            }
        }
        let taken = streams.into_iter().map(|Stream { kept, .. }| Tensor::cat(&kept, D::Minus1)?.squeeze(0));
        Ok(taken.collect::<Result<_>>()?)
    }

    /// The attention of a layer, and the experts that the tokens are routed to.
    fn attend(&self, w: &Weights, layer: usize, stream: &mut Stream) -> Result<()> {
        let (eps, head) = (self.config.model.rms_norm_eps, self.config.model.head());
        let (_, tokens, width) = stream.x.dims3()?;
        let h = w.rms_norm("input_layernorm", &stream.x, eps)?;
        let heads = |name: &str| w.linear(name, &h)?.reshape((1, tokens, (), head));
        let q = rope_half(&heads("self_attn.q_proj")?, &stream.rope)?;
        let k = rope_half(&heads("self_attn.k_proj")?, &stream.rope)?;
        let v = heads("self_attn.v_proj")?;
        drop(h);
        let attended =
            attention_with_sinks(&q, &k, &v, &w.get("self_attn.sinks")?, self.config.window(layer))?;
        drop((q, k, v));
        stream.x = (&stream.x + w.linear("self_attn.o_proj", &attended.flatten_from(2)?)?)?;
        drop(attended);
        let x = w.rms_norm("post_attention_layernorm", &stream.x, eps)?.reshape((tokens, width))?;
        let logits = w.linear("mlp.router", &x)?;
        let routes = Routes::new(&logits, self.config.num_experts_per_tok, Share::OfChosen)?;
        let sum = Tensor::zeros((tokens, width), x.dtype(), &x.device())?;
        stream.mixture = Some(Mixture { x, routes, sum });
        Ok(())
    }

    /// Adds what an expert makes of the tokens that are routed to it, if any are.
    fn add_expert(&self, w: &Weights, expert: usize, stream: &mut Stream) -> Result<()> {
        if let Some(own) = stream.mixture.as_mut().filter(|own| own.routes.has(expert)) {
            let sum = own.sum.clone();
            own.sum = own.routes.add(expert, &own.x, sum, |x| self.feed_forward(w, x))?;
        }
        Ok(())
    }

    /// The layers of an expert. Its gates multiply values to which 1 is added.
    fn feed_forward(&self, w: &Weights, x: Tensor) -> Result<Tensor> {
        let (gate, up) = if self.are_joined {
            let both = w.linear(JOINED, &x)?;
            let both = both.reshape((both.dim(0)?, (), 2))?;
            let part = |index: usize| both.narrow(2, index, 1)?.squeeze(2)?.contiguous();
            (part(0)?, part(1)?)
        } else {
            (w.linear(APART[0], &x)?, w.linear(APART[1], &x)?)
        };
        drop(x);
        let (limit, alpha) = (self.config.swiglu_limit as f32, self.config.swiglu_alpha);
        // x · sigmoid(αx) is a part of αx · sigmoid(αx).
        let gate = gate.clamp(f32::MIN, limit)?.affine(alpha, 0.0)?;
        let up = up.clamp(-limit, limit)?.affine(1.0 / alpha, 1.0 / alpha)?;
        let h = silu_mul(&gate, &up)?;
        drop((gate, up));
        w.linear(DOWN, &h)
    }
}

/// Ranges of blocks from `first` on, for ascending numbers.
fn runs(numbers: &[usize], first: usize) -> Vec<Range<usize>> {
    let chunks = numbers.chunk_by(|one, next| one + 1 == *next);
    chunks.map(|run| first + run[0]..first + run[0] + run.len()).collect()
}

impl TextEncoder for GptOss {
    fn width(&self) -> usize {
        self.taken.len() * self.config.model.hidden_size
    }

    /// Nothing in the prompt is syntax. The tokens before the prompt do not count towards `longest`, those after it do.
    fn tokenize(&self, prompt: &str, longest: usize) -> std::result::Result<Tokens, CheckpointError> {
        let mut ids = self.tokenizer.encode(&format!("{BEFORE}{prompt}{AFTER}"))?;
        let all = LONGEST.min(longest.saturating_add(self.left_out));
        let extent = Extent::whole(ids.len() - self.left_out, all.saturating_sub(self.left_out));
        ids.truncate(all);
        Ok(Tokens::single(Sequence::plain(ids), extent))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        sequences: &[&[u32]],
        _: Given<'_>,
    ) -> std::result::Result<Vec<Encoded>, RunError> {
        let states = self.states(blocks, sequences)?;
        states.into_iter().map(|states| Encoded::without_first(states, self.left_out)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_tokens_before_a_prompt_are_as_many_as_published() {
        let tokenizer = GptOssTokenizer::published().unwrap();
        assert_eq!(tokenizer.encode(BEFORE).unwrap().len(), 97);
    }

    #[test]
    fn experts_next_to_each_other_are_one_run() {
        assert_eq!(runs(&[0, 1, 4, 6, 7], 10), [10..12, 14..15, 16..18]);
        assert!(runs(&[], 10).is_empty());
    }
}
