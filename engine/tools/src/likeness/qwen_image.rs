//! The networks of Qwen-Image (Wu et al. 2025): its transformer, and Qwen2.5-VL (Bai et al. 2025), which reads the
//! prompt.

use serde::Deserialize;

use super::outline::Outline;
use crate::random::RandomTensor;

/// Values a timestep is embedded in.
const TIMESTEP: usize = 256;

/// Configuration of `QwenImageTransformer2DModel`.
#[derive(Debug, Deserialize)]
pub(super) struct QwenImageConfig {
    attention_head_dim: usize,
    in_channels: usize,
    joint_attention_dim: usize,
    num_attention_heads: usize,
    num_layers: usize,
    out_channels: usize,
    patch_size: usize,
}

impl QwenImageConfig {
    /// The tensors as diffusers names them.
    pub fn tensors(&self) -> Vec<RandomTensor> {
        let width = self.num_attention_heads * self.attention_head_dim;
        let mut outline = Outline::default();
        outline.linear("time_text_embed.timestep_embedder.linear_1", TIMESTEP, width);
        outline.linear("time_text_embed.timestep_embedder.linear_2", width, width);
        outline.norm("txt_norm", self.joint_attention_dim);
        outline.linear("img_in", self.in_channels, width);
        outline.linear("txt_in", self.joint_attention_dim, width);
        for layer in 0..self.num_layers {
            let block = format!("transformer_blocks.{layer}");
            for stream in ["img", "txt"] {
                outline.linear(&format!("{block}.{stream}_mod.1"), width, 6 * width);
                outline.linear(&format!("{block}.{stream}_mlp.net.0.proj"), width, 4 * width);
                outline.linear(&format!("{block}.{stream}_mlp.net.2"), 4 * width, width);
            }
            for norm in ["norm_q", "norm_k", "norm_added_q", "norm_added_k"] {
                outline.norm(&format!("{block}.attn.{norm}"), self.attention_head_dim);
            }
            let projections =
                ["to_q", "to_k", "to_v", "to_out.0", "add_q_proj", "add_k_proj", "add_v_proj", "to_add_out"];
            for projection in projections {
                outline.linear(&format!("{block}.attn.{projection}"), width, width);
            }
        }
        outline.linear("norm_out.linear", width, 2 * width);
        outline.linear("proj_out", width, self.patch_size * self.patch_size * self.out_channels);
        outline.into_tensors()
    }
}

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
    /// The tensors as published files name them, which transformers understands.
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
