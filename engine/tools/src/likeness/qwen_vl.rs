//! Qwen2.5-VL (Bai et al. 2025), the text encoder of Qwen-Image.

use serde::Deserialize;

use super::outline::Outline;
use crate::random::RandomTensor;

/// Configuration of `Qwen2_5_VLForConditionalGeneration`.
#[derive(Debug, Deserialize)]
pub(super) struct Qwen25VlConfig {
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    num_key_value_heads: usize,
    vision_config: VisionConfig,
    vocab_size: usize,
}

#[derive(Debug, Deserialize)]
struct VisionConfig {
    depth: usize,
    hidden_size: usize,
    in_channels: usize,
    intermediate_size: usize,
    out_hidden_size: usize,
    patch_size: usize,
    spatial_merge_size: usize,
    temporal_patch_size: usize,
}

impl Qwen25VlConfig {
    /// The tensors under the names of published files, which transformers reads.
    pub fn tensors(&self) -> Vec<RandomTensor> {
        let mut outline = Outline::default();
        self.vision_config.collect(&mut outline);
        let (width, inner) = (self.hidden_size, self.intermediate_size);
        let keys = width / self.num_attention_heads * self.num_key_value_heads;
        outline.matrix("model.embed_tokens", width, self.vocab_size);
        for layer in 0..self.num_hidden_layers {
            let block = format!("model.layers.{layer}");
            for (name, outputs) in [("q_proj", width), ("k_proj", keys), ("v_proj", keys)] {
                outline.linear(&format!("{block}.self_attn.{name}"), width, outputs);
            }
            outline.matrix(&format!("{block}.self_attn.o_proj"), width, width);
            outline.matrix(&format!("{block}.mlp.gate_proj"), width, inner);
            outline.matrix(&format!("{block}.mlp.up_proj"), width, inner);
            outline.matrix(&format!("{block}.mlp.down_proj"), inner, width);
            outline.norm(&format!("{block}.input_layernorm"), width);
            outline.norm(&format!("{block}.post_attention_layernorm"), width);
        }
        outline.norm("model.norm", width);
        outline.matrix("lm_head", width, self.vocab_size);
        outline.into_tensors()
    }
}

impl VisionConfig {
    fn collect(&self, outline: &mut Outline) {
        let (width, side) = (self.hidden_size, self.patch_size);
        let patch = [width, self.in_channels, self.temporal_patch_size, side, side];
        outline.tensor("visual.patch_embed.proj.weight", &patch);
        for layer in 0..self.depth {
            let block = format!("visual.blocks.{layer}");
            outline.norm(&format!("{block}.norm1"), width);
            outline.norm(&format!("{block}.norm2"), width);
            outline.linear(&format!("{block}.attn.qkv"), width, 3 * width);
            outline.linear(&format!("{block}.attn.proj"), width, width);
            outline.linear(&format!("{block}.mlp.gate_proj"), width, self.intermediate_size);
            outline.linear(&format!("{block}.mlp.up_proj"), width, self.intermediate_size);
            outline.linear(&format!("{block}.mlp.down_proj"), self.intermediate_size, width);
        }
        let merged = width * self.spatial_merge_size * self.spatial_merge_size;
        outline.norm("visual.merger.ln_q", width);
        outline.linear("visual.merger.mlp.0", merged, merged);
        outline.linear("visual.merger.mlp.2", merged, self.out_hidden_size);
    }
}
