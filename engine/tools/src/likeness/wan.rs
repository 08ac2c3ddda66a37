//! The networks of Wan 2.2 (Team Wan 2025): its transformer, and its text encoder UMT5 (Chung et al. 2023).

use serde::Deserialize;

use super::outline::Outline;
use crate::random::RandomTensor;

/// Configuration of `WanTransformer3DModel`.
#[derive(Debug, Deserialize)]
pub(super) struct WanConfig {
    attention_head_dim: usize,
    ffn_dim: usize,
    freq_dim: usize,
    in_channels: usize,
    num_attention_heads: usize,
    num_layers: usize,
    out_channels: usize,
    patch_size: [usize; 3],
    text_dim: usize,
}

impl WanConfig {
    /// The tensors under diffusers' names, for a model conditioned only on text.
    pub fn tensors(&self) -> Vec<RandomTensor> {
        let width = self.num_attention_heads * self.attention_head_dim;
        let mut outline = Outline::default();
        outline.tensor("scale_shift_table", &[1, 2, width]);
        outline.convolution("patch_embedding", self.in_channels, width, &self.patch_size);
        outline.linear("condition_embedder.time_embedder.linear_1", self.freq_dim, width);
        outline.linear("condition_embedder.time_embedder.linear_2", width, width);
        outline.linear("condition_embedder.time_proj", width, 6 * width);
        outline.linear("condition_embedder.text_embedder.linear_1", self.text_dim, width);
        outline.linear("condition_embedder.text_embedder.linear_2", width, width);
        for layer in 0..self.num_layers {
            let block = format!("blocks.{layer}");
            outline.tensor(format!("{block}.scale_shift_table"), &[1, 6, width]);
            for attention in ["attn1", "attn2"] {
                for projection in ["to_q", "to_k", "to_v", "to_out.0"] {
                    outline.linear(&format!("{block}.{attention}.{projection}"), width, width);
                }
                outline.norm(&format!("{block}.{attention}.norm_q"), width);
                outline.norm(&format!("{block}.{attention}.norm_k"), width);
            }
            outline.norm(&format!("{block}.norm2"), width);
            outline.tensor(format!("{block}.norm2.bias"), &[width]);
            outline.linear(&format!("{block}.ffn.net.0.proj"), width, self.ffn_dim);
            outline.linear(&format!("{block}.ffn.net.2"), self.ffn_dim, width);
        }
        let patch: usize = self.patch_size.iter().product();
        outline.linear("proj_out", width, patch * self.out_channels);
        outline.into_tensors()
    }
}

/// Configuration of `UMT5EncoderModel`.
#[derive(Debug, Deserialize)]
pub(super) struct Umt5Config {
    d_ff: usize,
    d_kv: usize,
    d_model: usize,
    num_heads: usize,
    num_layers: usize,
    relative_attention_num_buckets: usize,
    vocab_size: usize,
}

impl Umt5Config {
    /// The tensors under transformers' names: those of T5, with a relative position bias in every layer.
    pub fn tensors(&self) -> Vec<RandomTensor> {
        let (width, heads) = (self.d_model, self.num_heads * self.d_kv);
        let mut outline = Outline::default();
        outline.matrix("shared", width, self.vocab_size);
        for layer in 0..self.num_layers {
            let attention = format!("encoder.block.{layer}.layer.0");
            for projection in ["q", "k", "v"] {
                outline.matrix(&format!("{attention}.SelfAttention.{projection}"), width, heads);
            }
            outline.matrix(&format!("{attention}.SelfAttention.o"), heads, width);
            let bias = format!("{attention}.SelfAttention.relative_attention_bias");
            outline.matrix(&bias, self.num_heads, self.relative_attention_num_buckets);
            outline.norm(&format!("{attention}.layer_norm"), width);
            let inner = format!("encoder.block.{layer}.layer.1");
            outline.matrix(&format!("{inner}.DenseReluDense.wi_0"), width, self.d_ff);
            outline.matrix(&format!("{inner}.DenseReluDense.wi_1"), width, self.d_ff);
            outline.matrix(&format!("{inner}.DenseReluDense.wo"), self.d_ff, width);
            outline.norm(&format!("{inner}.layer_norm"), width);
        }
        outline.norm("encoder.final_layer_norm", width);
        outline.into_tensors()
    }
}
