//! Shape and blocks of HiDream-I1's transformer.

use serde::Deserialize;

use crate::{
    checkpoint::{BlockSpec, CheckpointError, Part, TensorTable},
    models::{
        joint::{DOUBLE_MODULATION, Heads},
        modulated::FREQUENCY_WIDTH,
        patches::wrong_axes,
    },
};

/// The hidden width of feed-forward layers is a multiple of this.
const HIDDEN_MULTIPLE: usize = 256;
/// Modulations of the head: shift and scale.
const HEAD_MODULATION: usize = 2;
/// The layer that modulates a block, or below `final_layer` the head.
pub const MODULATOR: &str = "adaLN_modulation.1";
/// The prefix of the head's layers.
const HEAD: &str = "final_layer.";

/// Shape of the transformer, as in its `config.json`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct HiDreamConfig {
    /// Side of a patch of latents.
    pub patch_size: usize,
    /// Number of latent channels.
    pub in_channels: usize,
    /// Number of output channels, if different.
    pub out_channels: Option<usize>,
    /// Number of double blocks.
    pub num_layers: usize,
    /// Number of single blocks.
    pub num_single_layers: usize,
    /// Width of a head.
    pub attention_head_dim: usize,
    /// Number of attention heads.
    pub num_attention_heads: usize,
    /// Widths of the states of T5 and of Llama.
    pub caption_channels: [usize; 2],
    /// Width of the pooled prompt embedding.
    pub text_emb_dim: usize,
    /// Number of experts of which each token chooses some.
    pub num_routed_experts: usize,
    /// Number of experts that a token chooses.
    pub num_activated_experts: usize,
    /// Widths of the parts of a head that are rotated by text, row and column.
    pub axes_dims_rope: Vec<usize>,
    /// Rows and columns of the largest image in training, in latents.
    pub max_resolution: [usize; 2],
    /// For each block, the layer of Llama, from 0, whose states it reads. Without this, as many first blocks as Llama has
    /// layers read them in order, and the others the last one.
    pub llama_layers: Option<Vec<usize>>,
}

impl Default for HiDreamConfig {
    fn default() -> Self {
        Self {
            patch_size: 2,
            in_channels: 16,
            out_channels: None,
            num_layers: 16,
            num_single_layers: 32,
            attention_head_dim: 128,
            num_attention_heads: 20,
            caption_channels: [4096, 4096],
            text_emb_dim: 2048,
            num_routed_experts: 4,
            num_activated_experts: 2,
            axes_dims_rope: vec![64, 32, 32],
            max_resolution: [128, 128],
            llama_layers: None,
        }
    }
}

/// What a block that is needed once per run computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparation {
    /// Embeds the noise level and the pooled prompt.
    Levels,
    /// Projects the states that a block reads, or after the last block those of T5.
    Caption(usize),
    /// Modulates a block or the head.
    Modulation,
}

impl HiDreamConfig {
    /// Infers the shape from the tensors, for files without a configuration. The width of a head and the number of experts
    /// that a token chooses, which shapes do not show, are those of all published models.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let shape = |name: &str| tensors.get(name).map(|tensor| tensor.shape().to_vec());
        let count = |prefix: &str, suffix: &str| {
            let is_one = |name: &&String| name.starts_with(prefix) && name.ends_with(suffix);
            tensors.keys().filter(is_one).count()
        };
        let published = Self::default();
        let patch = published.patch_size;
        let embedder = shape("x_embedder.proj.weight")?;
        let layers = count("double_stream_blocks.", ".attn1.to_q.weight");
        let single = count("single_stream_blocks.", ".attn1.to_q.weight");
        let captions = |number: usize| shape(&format!("caption_projection.{number}.linear.weight"));
        Some(Self {
            in_channels: embedder.get(1)? / (patch * patch),
            out_channels: Some(shape("final_layer.linear.weight")?.first()? / (patch * patch)),
            num_layers: layers,
            num_single_layers: single,
            num_attention_heads: embedder.first()?.checked_div(published.attention_head_dim)?,
            caption_channels: [*captions(layers + single)?.get(1)?, *captions(0)?.get(1)?],
            text_emb_dim: *shape("p_embedder.pooled_embedder.linear_1.weight")?.get(1)?,
            num_routed_experts: *shape("double_stream_blocks.0.block.ff_i.gate.weight")?.first()?,
            ..published
        })
    }

    pub(super) fn check(&self, part: &Part) -> Result<(), CheckpointError> {
        let counts = [
            ("patch_size", self.patch_size),
            ("in_channels", self.in_channels),
            ("num_layers", self.num_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("num_routed_experts", self.num_routed_experts),
            ("num_activated_experts", self.num_activated_experts),
        ];
        if let Some((field, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return part.refuse(field, 0, "it must be at least 1");
        }
        if self.num_activated_experts > self.num_routed_experts {
            let reason = format!("there are only {} experts", self.num_routed_experts);
            return part.refuse("num_activated_experts", self.num_activated_experts, reason);
        }
        if let Some(channels) = self.out_channels.filter(|&channels| channels != self.in_channels) {
            let reason = format!("it must be {}, the number of latent channels", self.in_channels);
            return part.refuse("out_channels", channels, reason);
        }
        if let Some(reason) = wrong_axes(&self.axes_dims_rope, 3, self.attention_head_dim) {
            return part.refuse("axes_dims_rope", format!("{:?}", self.axes_dims_rope), reason);
        }
        Ok(())
    }

    /// The same with the layers of a Llama that has this many.
    ///
    /// # Errors
    /// When a block reads a layer that is not there, or there is not one for each block.
    pub(super) fn reading(self, llama: usize, part: &Part) -> Result<Self, CheckpointError> {
        let blocks = self.blocks();
        let layers = match self.llama_layers {
            Some(layers) => layers,
            None => (0..blocks).map(|block| block.min(llama.saturating_sub(1))).collect(),
        };
        if layers.len() != blocks {
            let reason = format!("it must be one layer for each of {blocks} blocks");
            return part.refuse("llama_layers", format!("{layers:?}"), reason);
        }
        if let Some(layer) = layers.iter().find(|&&layer| layer >= llama) {
            let reason = format!("Llama has only {llama} layers, counted from 0");
            return part.refuse("llama_layers", layer, reason);
        }
        Ok(Self { llama_layers: Some(layers), ..self })
    }

    /// The layers of Llama whose states are read, ascending.
    pub(super) fn layers_read(&self) -> Vec<usize> {
        let mut layers = self.llama_layers.clone().unwrap_or_default();
        layers.sort_unstable();
        layers.dedup();
        layers
    }

    pub(super) fn heads(&self) -> Heads {
        Heads { count: self.num_attention_heads, width: self.attention_head_dim, are_normed: false }
    }

    /// Number of double and single blocks.
    pub(super) fn blocks(&self) -> usize {
        self.num_layers + self.num_single_layers
    }

    /// Index of the block with the image embedder. All blocks before it are needed once per run.
    pub(super) fn embedders(&self) -> usize {
        2 * (self.blocks() + 1) + 1
    }

    /// What a block before [`embedders`](Self::embedders) computes.
    pub(super) fn preparation(&self, index: usize) -> Preparation {
        match index.checked_sub(1) {
            None => Preparation::Levels,
            Some(caption) if caption <= self.blocks() => Preparation::Caption(caption),
            Some(_) => Preparation::Modulation,
        }
    }

    /// The layer that modulates in a block before [`embedders`](Self::embedders).
    pub(super) fn modulator(&self, index: usize) -> String {
        if index + 1 == self.embedders() { format!("{HEAD}{MODULATOR}") } else { MODULATOR.to_owned() }
    }

    /// The blocks. Those that depend only on prompt and noise level come first and are needed once per run.
    pub fn blueprint(&self) -> Vec<BlockSpec> {
        let dim = self.heads().dim();
        let values = self.in_channels * self.patch_size * self.patch_size;
        let block = |number: usize, what: &str| {
            let (stack, own) = match number.checked_sub(self.num_layers) {
                None => ("double", number),
                Some(single) => ("single", single),
            };
            let name = format!("{stack}_stream_blocks.{own}");
            BlockSpec { prefix: format!("{name}.block."), ..BlockSpec::new(format!("{name}{what}")) }
        };
        let is_double = |number: usize| number < self.num_layers;
        let time = "t_embedder.timestep_embedder";
        let pooled = "p_embedder.pooled_embedder";
        let mut blocks = vec![
            BlockSpec::stem("conditioning")
                .linear(&format!("{time}.linear_1"), dim, FREQUENCY_WIDTH)
                .linear(&format!("{time}.linear_2"), dim, dim)
                .linear(&format!("{pooled}.linear_1"), dim, self.text_emb_dim)
                .linear(&format!("{pooled}.linear_2"), dim, dim),
        ];
        blocks.extend((0..=self.blocks()).map(|number| {
            let name = format!("caption_projection.{number}");
            let [of_t5, of_llama] = self.caption_channels;
            let width = if number < self.blocks() { of_llama } else { of_t5 };
            BlockSpec::stem(&name).matrix(&format!("{name}.linear"), dim, width)
        }));
        blocks.extend((0..self.blocks()).map(|number| {
            let streams = if is_double(number) { 2 } else { 1 };
            block(number, ".modulation").linear(MODULATOR, streams * DOUBLE_MODULATION * dim, dim)
        }));
        let head = BlockSpec::stem("head.modulation");
        blocks.push(head.linear(&format!("{HEAD}{MODULATOR}"), HEAD_MODULATION * dim, dim));
        blocks.push(BlockSpec::stem("embedders").linear("x_embedder.proj", dim, values));
        blocks.extend((0..self.blocks()).map(|number| {
            let spec = self.attention(block(number, ""), "");
            let spec = if is_double(number) { self.attention(spec, "_t") } else { spec };
            let spec = self.experts(spec);
            if is_double(number) { feed_forward(spec, "ff_t", dim, 4 * dim) } else { spec }
        }));
        blocks.push(BlockSpec::stem("head").linear(&format!("{HEAD}linear"), values, dim));
        blocks
    }

    /// Adds the layers of attention whose names end this way.
    fn attention(&self, spec: BlockSpec, end: &str) -> BlockSpec {
        let dim = self.heads().dim();
        let layers = ["to_q", "to_k", "to_v", "to_out"];
        let spec =
            layers.iter().fold(spec, |spec, name| spec.linear(&format!("attn1.{name}{end}"), dim, dim));
        let norms = ["q_rms_norm", "k_rms_norm"];
        norms.iter().fold(spec, |spec, name| spec.scale(&format!("attn1.{name}{end}"), dim))
    }

    /// Adds the experts, and the one that all tokens go through.
    fn experts(&self, spec: BlockSpec) -> BlockSpec {
        let dim = self.heads().dim();
        let spec = feed_forward(spec, "ff_i.shared_experts", dim, 2 * dim);
        let spec = spec.matrix("ff_i.gate", self.num_routed_experts, dim);
        (0..self.num_routed_experts)
            .fold(spec, |spec, expert| feed_forward(spec, &format!("ff_i.experts.{expert}"), dim, 4 * dim))
    }
}

/// Adds a feed-forward, two thirds as wide as `hidden`, rounded up.
fn feed_forward(spec: BlockSpec, name: &str, dim: usize, hidden: usize) -> BlockSpec {
    let hidden = (2 * hidden / 3).next_multiple_of(HIDDEN_MULTIPLE);
    spec.matrix(&format!("{name}.w1"), hidden, dim).matrix(&format!("{name}.w3"), hidden, dim).matrix(
        &format!("{name}.w2"),
        dim,
        hidden,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_blocks_read_the_last_layer() {
        let config = HiDreamConfig { num_layers: 2, num_single_layers: 3, ..HiDreamConfig::default() };
        let part = || Part {
            role: crate::checkpoint::Role::Denoiser,
            path: "transformer".into(),
            config: None,
            tensors: TensorTable::new(),
            loose: std::sync::Arc::default(),
        };
        let read = config.clone().reading(3, &part()).unwrap();
        assert_eq!(read.llama_layers.as_deref(), Some(&[0, 1, 2, 2, 2][..]));
        assert_eq!(read.layers_read(), [0, 1, 2]);
        assert!(read.clone().reading(2, &part()).unwrap_err().to_string().contains("only 2 layers"));
        let few = HiDreamConfig { llama_layers: Some(vec![0]), ..config };
        assert!(few.reading(3, &part()).unwrap_err().to_string().contains("5 blocks"));
    }

    #[test]
    fn published_models_have_17_billion_weights() {
        let blocks = HiDreamConfig::default().blueprint();
        let tensors = blocks.iter().flat_map(|block| &block.tensors);
        let weights: usize = tensors.map(|(_, shape)| shape.iter().product::<usize>()).sum();
        assert_eq!(weights / 10_000_000, 1710);
    }
}
