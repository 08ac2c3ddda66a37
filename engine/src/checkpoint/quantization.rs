//! Which weights are quantized and which keep their precision. The same rule applies to converted files and
//! to models held in fewer bits than stored.
//!
//! Matrices of the repeating blocks are quantized, and with formats that need no scales along rows also kernels of
//! convolutions. Norms, biases, embeddings, modulations, and the first and
//! last projections keep their precision: they are small, and their errors reach everything. diffusers'
//! layerwise casting skips what it calls `norm`, `pos_embed`, `patch_embed`, the outermost `proj_in` and
//! `proj_out`, and layers named by each model (`t_embedder`, `cap_embedder`, `x_embedder`,
//! `condition_embedder`, `img_in` …). All of that is kept here, and additionally every embedder and every
//! modulation.

use super::StoredTensor;
use crate::precision::{Encoding, Storage};

/// Name parts of matrices that are kept, as in diffusers, transformers and the original files.
const KEPT: [&str; 31] = [
    "embed",
    "label_emb",
    "emb_layers",
    "time_emb_proj",
    "norm",
    "modulation",
    "distilled_guidance",
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
    "time_mod_proj",
    "tmlp.",
    "tproj.",
    "txtmlp.",
    "final_layer",
    "time_projection",
    "head.head",
    "shared.",
    "relative_attention_bias",
    "text_projection",
    "pooler",
    "lm_head",
    "caption_projection",
    "ff_i.gate.",
];

/// Name parts of kernels that are kept besides: those of autoencoders, and the outermost of UNets.
const KEPT_KERNELS: [&str; 7] =
    ["encoder.", "decoder.", "quant_conv.", "conv_in.", "conv_out.", "input_blocks.0.0.", "model.out.2."];

/// The outermost projections of diffusers' transformers, and those of Krea 2's original files. Projections inside blocks
/// have a prefix.
const OUTERMOST: [&str; 4] = ["proj_in.", "proj_out.", "first.", "last."];

/// Whether the tensor with this full name keeps its precision.
pub fn keeps_precision(name: &str) -> bool {
    !name.ends_with("weight")
        || KEPT.iter().any(|part| name.contains(part))
        || OUTERMOST.iter().any(|start| name.starts_with(start))
}

/// The encoding under `storage` of the tensor with this full name; `None` if it is not converted.
pub fn encoding_of(storage: Storage, name: &str, tensor: &StoredTensor) -> Option<Encoding> {
    if keeps_precision(name) {
        return None;
    }
    match *tensor.shape() {
        [rows, columns] if rows > 1 && tensor.is_stored_as_matrix() => storage.encoding(rows, columns),
        [rows, .., _] if rows > 1 && storage.holds_kernels() && !is_kept_kernel(name) => {
            storage.encoding(rows, tensor.shape().iter().skip(1).product())
        }
        _ => None,
    }
}

fn is_kept_kernel(name: &str) -> bool {
    KEPT_KERNELS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_weight_in_different_files_are_judged_alike() {
        for (kept, names) in [
            (true, ["time_text_embed.timestep_embedder.linear_1.weight", "time_in.in_layer.weight"]),
            (true, ["context_embedder.weight", "txt_in.weight"]),
            (true, ["condition_embedder.time_proj.weight", "time_projection.1.weight"]),
            (true, ["proj_out.weight", "head.head.weight"]),
            (false, ["blocks.3.ffn.net.2.weight", "blocks.3.ffn.2.weight"]),
            (true, ["x_embedder.weight", "img_in.weight"]),
            (true, ["proj_out.weight", "final_layer.linear.weight"]),
            (true, ["img_in.weight", "first.weight"]),
            (true, ["caption_projection.3.linear.weight", "double_stream_blocks.3.block.ff_i.gate.weight"]),
            (false, ["double_stream_blocks.3.block.ff_i.experts.0.w1.weight", "blocks.0.ff.gate.weight"]),
            (true, ["time_mod_proj.weight", "tproj.1.weight"]),
            (true, ["txt_in.linear_1.weight", "txtmlp.1.weight"]),
            (true, ["patch_embed.proj.weight", "x_embedder.proj.1.weight"]),
            (
                true,
                [
                    "transformer_blocks.3.norm2.linear_1.weight",
                    "blocks.3.adaln_modulation_cross_attn.1.weight",
                ],
            ),
            (true, ["norm_out.linear.weight", "final_layer.adaLN_modulation.1.weight"]),
            (
                true,
                [
                    "distilled_guidance_layer.layers.0.linear_1.weight",
                    "distilled_guidance_layer.in_proj.weight",
                ],
            ),
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

    #[test]
    fn kernels_of_unets_are_quantized_and_those_of_autoencoders_are_not() {
        for (kept, names) in [
            (false, ["down_blocks.0.resnets.1.conv1.weight", "input_blocks.2.0.in_layers.2.weight"]),
            (true, ["conv_in.weight", "model.diffusion_model.input_blocks.0.0.weight"]),
            (true, ["conv_out.weight", "model.diffusion_model.out.2.weight"]),
            (
                true,
                ["decoder.up_blocks.0.resnets.0.conv1.weight", "first_stage_model.decoder.conv_in.weight"],
            ),
        ] {
            for name in names {
                assert_eq!(is_kept_kernel(name), kept, "{name}");
            }
        }
    }
}
