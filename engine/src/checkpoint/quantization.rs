//! Which weights are quantized and which keep their precision. The same rule applies to converted files and
//! to models held in fewer bits than stored.
//!
//! Matrices of the repeating blocks are quantized. Norms, biases, embeddings, modulations, and the first and
//! last projections keep their precision: they are small, and their errors reach everything. diffusers'
//! layerwise casting skips what it calls `norm`, `pos_embed`, `patch_embed`, the outermost `proj_in` and
//! `proj_out`, and layers named by each model (`t_embedder`, `cap_embedder`, `x_embedder`,
//! `condition_embedder`, `img_in` …). All of that is kept here, and additionally every embedder and every
//! modulation.

use super::StoredTensor;
use crate::precision::{Encoding, Storage};

/// Name parts of matrices that are kept, as in diffusers, transformers and the original files.
const KEPT: [&str; 22] = [
    "embed",
    "label_emb",
    "emb_layers",
    "time_emb_proj",
    "norm",
    "modulation",
    "adaLN",
    "adaln",
    "_mod.",
    "scale_shift_table",
    "pad_token",
    "time_in",
    "vector_in",
    "guidance_in",
    "img_in",
    "txt_in",
    "final_layer",
    "shared.",
    "relative_attention_bias",
    "text_projection",
    "pooler",
    "lm_head",
];

/// The outermost projections of diffusers' transformers. Projections inside blocks have a prefix.
const OUTERMOST: [&str; 2] = ["proj_in.", "proj_out."];

/// Whether the tensor with this full name keeps its precision.
pub fn keeps_precision(name: &str) -> bool {
    !name.ends_with("weight")
        || KEPT.iter().any(|part| name.contains(part))
        || OUTERMOST.iter().any(|start| name.starts_with(start))
}

/// The encoding under `storage` of the tensor with this full name; `None` if it is not converted.
pub fn encoding_of(storage: Storage, name: &str, tensor: &StoredTensor) -> Option<Encoding> {
    let &[rows, columns] = tensor.shape() else { return None };
    if rows < 2 || !tensor.is_stored_as_matrix() || keeps_precision(name) {
        return None;
    }
    storage.encoding(rows, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_weight_in_different_files_are_judged_alike() {
        for (kept, names) in [
            (true, ["time_text_embed.timestep_embedder.linear_1.weight", "time_in.in_layer.weight"]),
            (true, ["context_embedder.weight", "txt_in.weight"]),
            (true, ["x_embedder.weight", "img_in.weight"]),
            (true, ["proj_out.weight", "final_layer.linear.weight"]),
            (true, ["norm_out.linear.weight", "final_layer.adaLN_modulation.1.weight"]),
            (true, ["transformer_blocks.3.norm1.linear.weight", "double_blocks.3.img_mod.lin.weight"]),
            (
                true,
                ["single_transformer_blocks.3.norm.linear.weight", "single_blocks.3.modulation.lin.weight"],
            ),
            (false, ["transformer_blocks.3.attn.to_q.weight", "double_blocks.3.img_attn.qkv.weight"]),
            (false, ["single_transformer_blocks.3.proj_out.weight", "single_blocks.3.linear2.weight"]),
            (false, ["layers.0.attention.to_out.0.weight", "layers.0.attention.out.weight"]),
            (true, ["time_embedding.linear_1.weight", "time_embed.0.weight"]),
            (true, ["add_embedding.linear_1.weight", "label_emb.0.0.weight"]),
            (true, ["mid_block.resnets.0.time_emb_proj.weight", "middle_block.0.emb_layers.1.weight"]),
            (false, ["mid_block.attentions.0.proj_in.weight", "middle_block.1.proj_in.weight"]),
            (true, ["text_model.embeddings.token_embedding.weight", "token_embedding.weight"]),
            (true, ["shared.weight", "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]),
        ] {
            for name in names {
                assert_eq!(keeps_precision(name), kept, "{name}");
            }
        }
    }
}
