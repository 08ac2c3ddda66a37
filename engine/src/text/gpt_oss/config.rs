//! Shape and blocks of GPT-OSS, and the names of its tensors in files.

use serde::Deserialize;

use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, StoredTensor, TensorTable},
    text::{LongTexts, RopeParameters, Yarn, language_model::LanguageModelConfig},
};

/// Index of the block with the embedding table.
pub const EMBEDDINGS: usize = 0;
/// What the names of experts have before their numbers.
const EXPERTS: &str = ".mlp.experts.";
/// The layer of an expert that gives gates and values in turns, as transformers stores it.
pub const JOINED: &str = "gate_up_proj";
/// The same in two layers, as llama.cpp stores it.
pub const APART: [&str; 2] = ["gate_proj", "up_proj"];
/// The layer of an expert that makes its result.
pub const DOWN: &str = "down_proj";

/// The shape of the model, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GptOssConfig {
    /// What it has in common with other language models. Its intermediate size is that of an expert.
    #[serde(flatten)]
    pub model: LanguageModelConfig,
    /// Number of experts of a layer.
    #[serde(default = "published::experts")]
    pub num_local_experts: usize,
    /// Number of experts that a token is routed to.
    #[serde(default = "published::chosen")]
    pub num_experts_per_tok: usize,
    /// Tokens that a token sees in every other layer, beginning with the first: itself and those before it.
    #[serde(default = "published::window")]
    pub sliding_window: usize,
    /// The kind of attention of each layer, if it does not alternate.
    #[serde(default)]
    pub layer_types: Option<Vec<String>>,
    /// Gates are no larger, and values are within as much of 0.
    #[serde(default = "published::limit")]
    pub swiglu_limit: f64,
    /// What multiplies a gate in the sigmoid.
    #[serde(default = "published::alpha")]
    pub swiglu_alpha: f64,
}

/// The constants of the published models.
mod published {
    use super::{LongTexts, RopeParameters, Yarn};

    pub fn experts() -> usize {
        32
    }

    pub fn chosen() -> usize {
        4
    }

    pub fn window() -> usize {
        128
    }

    pub fn limit() -> f64 {
        7.0
    }

    pub fn alpha() -> f64 {
        1.702
    }

    pub fn rope() -> RopeParameters {
        let yarn = Yarn { factor: 32.0, truncate: false, ..Yarn::default() };
        RopeParameters { rope_theta: 1.5e5, mrope_section: None, long_texts: Some(LongTexts::Yarn(yarn)) }
    }
}

impl Default for GptOssConfig {
    /// The shape of GPT-OSS 20B.
    fn default() -> Self {
        Self {
            model: LanguageModelConfig {
                vocab_size: 201_088,
                hidden_size: 2880,
                intermediate_size: 2880,
                num_hidden_layers: 24,
                num_attention_heads: 64,
                num_key_value_heads: 8,
                head_dim: Some(64),
                rms_norm_eps: 1e-5,
                rope_theta: 1.5e5,
                rope_parameters: Some(published::rope()),
                rope_scaling: None,
            },
            num_local_experts: published::experts(),
            num_experts_per_tok: published::chosen(),
            sliding_window: published::window(),
            layer_types: None,
            swiglu_limit: published::limit(),
            swiglu_alpha: published::alpha(),
        }
    }
}

impl GptOssConfig {
    /// Infers the shape from the tensors, for files without a configuration. What shapes do not show is that of the published
    /// models.
    pub(super) fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let [vocab_size, hidden_size] = shape("embed_tokens.weight")?[..] else { return None };
        let heads = *shape("layers.0.self_attn.sinks")?.first()?;
        let rows = |name: &str| shape(&format!("layers.0.{name}"))?.first().copied();
        let head = rows("self_attn.q_proj.weight")?.checked_div(heads)?;
        let published = Self::default();
        Some(Self {
            model: LanguageModelConfig {
                vocab_size,
                hidden_size,
                intermediate_size: *shape(&format!("layers.0{EXPERTS}0.{DOWN}.weight"))?.get(1)?,
                num_hidden_layers: tensors.keys().filter(|name| name.ends_with(".self_attn.sinks")).count(),
                num_attention_heads: heads,
                num_key_value_heads: rows("self_attn.k_proj.weight")?.checked_div(head)?,
                head_dim: Some(head),
                ..published.model
            },
            num_local_experts: rows("mlp.router.weight")?,
            ..published
        })
    }

    pub(super) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        self.model.check(part)?;
        let (experts, chosen) = (self.num_local_experts, self.num_experts_per_tok);
        if chosen == 0 || chosen > experts {
            return part.refuse("num_experts_per_tok", chosen, format!("it must be 1 to {experts}"));
        }
        if self.sliding_window == 0 {
            return part.refuse("sliding_window", 0, "it must be at least 1");
        }
        let layers = self.model.num_hidden_layers;
        if let Some(kinds) = self.layer_types.as_ref().filter(|kinds| kinds.len() != layers) {
            return part.refuse(
                "layer_types",
                kinds.len(),
                format!("it must be one for each of {layers} layers"),
            );
        }
        Ok(())
    }

    /// How many tokens a token sees in a layer, if not all before it.
    pub(super) fn window(&self, layer: usize) -> Option<usize> {
        let slides = match self.layer_types.as_ref().and_then(|kinds| kinds.get(layer)) {
            Some(kind) => kind == "sliding_attention",
            None => layer.is_multiple_of(2),
        };
        slides.then_some(self.sliding_window)
    }

    /// Index of the first block of a layer: its attention. Its experts follow.
    pub(super) fn first_of(&self, layer: usize) -> usize {
        EMBEDDINGS + 1 + layer * (1 + self.num_local_experts)
    }

    /// The blocks: embeddings, for each layer its attention and its experts, final norm. Gates and values of experts are joined
    /// in one layer or apart.
    pub fn blueprint(&self, are_joined: bool) -> Vec<BlockSpec> {
        let (width, inner, head) = (self.model.hidden_size, self.model.intermediate_size, self.model.head());
        let (heads, shared) = (self.model.num_attention_heads, self.model.num_key_value_heads);
        let mut blocks =
            vec![BlockSpec::new("embed_tokens").tensor("weight", &[self.model.vocab_size, width])];
        for layer in 0..self.model.num_hidden_layers {
            let name = format!("layers.{layer}");
            blocks.push(
                BlockSpec::new(&name)
                    .scale("input_layernorm", width)
                    .linear("self_attn.q_proj", heads * head, width)
                    .linear("self_attn.k_proj", shared * head, width)
                    .linear("self_attn.v_proj", shared * head, width)
                    .tensor("self_attn.sinks", &[heads])
                    .linear("self_attn.o_proj", width, heads * head)
                    .scale("post_attention_layernorm", width)
                    .linear("mlp.router", self.num_local_experts, width),
            );
            blocks.extend((0..self.num_local_experts).map(|expert| {
                let spec = BlockSpec::new(format!("{name}{EXPERTS}{expert}"));
                let spec = match are_joined {
                    true => spec.linear(JOINED, 2 * inner, width),
                    false => APART.iter().fold(spec, |spec, layer| spec.linear(layer, inner, width)),
                };
                spec.linear(DOWN, width, inner)
            }));
        }
        blocks.push(BlockSpec::new("norm").tensor("weight", &[width]));
        blocks
    }

    /// Names and shapes of the tensors in transformers' files in 16 bits: all experts of a layer are in one, `[experts, inputs,
    /// outputs]`.
    pub fn published_tensors(&self) -> Vec<(String, Vec<usize>)> {
        let mut tensors = Vec::new();
        for spec in self.blueprint(true) {
            for (name, shape) in &spec.tensors {
                let full = format!("model.{}{name}", spec.prefix);
                let Some((before, own)) = full.split_once(EXPERTS) else {
                    tensors.push((full, shape.clone()));
                    continue;
                };
                let Some(own) = own.strip_prefix("0.") else { continue };
                let sides = std::iter::once(self.num_local_experts).chain(shape.iter().rev().copied());
                let name = own.strip_suffix(".weight").map_or_else(|| own.replace('.', "_"), str::to_owned);
                tensors.push((format!("{before}{EXPERTS}{name}"), sides.collect()));
            }
        }
        tensors.push(("lm_head.weight".to_owned(), vec![self.model.vocab_size, self.model.hidden_size]));
        tensors
    }

    /// The name and the shape of such a tensor in the files of published models, if it is in MXFP4 there.
    pub fn packed(name: &str, shape: &[usize]) -> Option<(String, Vec<usize>)> {
        let &[experts, inputs, outputs] = shape else { return None };
        name.contains(EXPERTS).then(|| (format!("{name}.weight"), vec![experts, outputs, inputs]))
    }
}

/// The tensors with those of all experts of a layer, which files have in one, taken apart. transformers stores matrices of 16
/// bits as `[experts, inputs, outputs]`; all others are `[experts, outputs, inputs]`.
pub(super) fn apart(tensors: &TensorTable) -> TensorTable {
    let mut all = TensorTable::new();
    for (name, tensor) in tensors {
        let stack =
            name.split_once(EXPERTS).filter(|(_, layer)| !layer.starts_with(|c: char| c.is_ascii_digit()));
        let Some((before, layer)) = stack else {
            all.insert(name.clone(), tensor.clone());
            continue;
        };
        let experts = tensor.shape().first().copied().unwrap_or(0);
        let (layer, parameter, is_transposed) = match layer.rsplit_once(['.', '_']) {
            Some((layer, parameter @ ("weight" | "bias"))) => (layer, parameter, false),
            _ => (layer, "weight", true),
        };
        for expert in 0..experts {
            let part: StoredTensor = tensor.parts(expert..expert + 1, experts);
            let shape = part.shape()[1..].to_vec();
            let part = part.with_shape(&shape);
            let part = if is_transposed { part.transposed() } else { part };
            all.insert(format!("{before}{EXPERTS}{expert}.{layer}.{parameter}"), part);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_layer_sees_a_window() {
        let config = GptOssConfig::default();
        assert_eq!([0, 1, 2].map(|layer| config.window(layer)), [Some(128), None, Some(128)]);
        let kinds = ["full_attention", "sliding_attention"].map(str::to_owned).to_vec();
        let other = GptOssConfig { layer_types: Some(kinds), ..config };
        assert_eq!([0, 1].map(|layer| other.window(layer)), [None, Some(128)]);
    }

    #[test]
    fn the_published_model_has_21_billion_weights() {
        let blocks = GptOssConfig::default().blueprint(true);
        let tensors = blocks.iter().flat_map(|block| &block.tensors);
        let weights: usize = tensors.map(|(_, shape)| shape.iter().product::<usize>()).sum();
        // Without the head, which no prompt needs.
        assert_eq!(weights / 10_000_000, 2033);
    }
}
