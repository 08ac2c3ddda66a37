//! The names of tensors in the authors' files.

use crate::{
    checkpoint::StoredName,
    models::{
        flux_files::{ENDS, JOINT_ATTENTION, ORIGINAL_STACKS, name_in_file},
        joint::{MLP_RATIO, Row},
    },
};

const DOUBLE_NAMES: [Row; 6] = [
    ("norm1.linear", "img_mod.lin", 0..1, 1),
    ("norm1_context.linear", "txt_mod.lin", 0..1, 1),
    ("ff.net.0.proj", "img_mlp.0", 0..1, 1),
    ("ff.net.2", "img_mlp.2", 0..1, 1),
    ("ff_context.net.0.proj", "txt_mlp.0", 0..1, 1),
    ("ff_context.net.2", "txt_mlp.2", 0..1, 1),
];

const SINGLE_NAMES: [Row; 8] = [
    ("norm.linear", "modulation.lin", 0..1, 1),
    ("attn.to_q", "linear1", 0..1, 3 + MLP_RATIO),
    ("attn.to_k", "linear1", 1..2, 3 + MLP_RATIO),
    ("attn.to_v", "linear1", 2..3, 3 + MLP_RATIO),
    ("proj_mlp", "linear1", 3..3 + MLP_RATIO, 3 + MLP_RATIO),
    ("attn.norm_q", "norm.query_norm", 0..1, 1),
    ("attn.norm_k", "norm.key_norm", 0..1, 1),
    ("proj_out", "linear2", 0..1, 1),
];

const TIME_NAMES: [Row; 6] = [
    ("time_text_embed.timestep_embedder.linear_1", "time_in.in_layer", 0..1, 1),
    ("time_text_embed.timestep_embedder.linear_2", "time_in.out_layer", 0..1, 1),
    ("time_text_embed.guidance_embedder.linear_1", "guidance_in.in_layer", 0..1, 1),
    ("time_text_embed.guidance_embedder.linear_2", "guidance_in.out_layer", 0..1, 1),
    ("time_text_embed.text_embedder.linear_1", "vector_in.in_layer", 0..1, 1),
    ("time_text_embed.text_embedder.linear_2", "vector_in.out_layer", 0..1, 1),
];

/// The name of a tensor in the authors' files, which ComfyUI also uses.
pub fn original_name(name: &str) -> StoredName {
    let tables: [&[&[Row]]; 3] =
        [&[&JOINT_ATTENTION, &DOUBLE_NAMES], &[&SINGLE_NAMES], &[&ENDS, &TIME_NAMES]];
    name_in_file(name, ORIGINAL_STACKS, tables, Some("scale"))
}

#[cfg(test)]
mod tests {
    use crate::models::joint::diffusers_name;

    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        let cases = [
            ("transformer_blocks.3.attn.to_k.weight", "double_blocks.3.img_attn.qkv.weight", Some((1..2, 3))),
            (
                "transformer_blocks.0.attn.norm_added_q.weight",
                "double_blocks.0.txt_attn.norm.query_norm.scale",
                None,
            ),
            ("single_transformer_blocks.37.proj_mlp.bias", "single_blocks.37.linear1.bias", Some((3..7, 7))),
            ("single_transformer_blocks.1.proj_out.weight", "single_blocks.1.linear2.weight", None),
            ("proj_out.weight", "final_layer.linear.weight", None),
            ("norm_out.scale.bias", "final_layer.adaLN_modulation.1.bias", Some((1..2, 2))),
            ("time_text_embed.guidance_embedder.linear_2.bias", "guidance_in.out_layer.bias", None),
        ];
        for (ours, name, part) in cases {
            assert_eq!(original_name(ours), StoredName { name: name.to_owned(), part }, "{ours}");
        }
        let scale = StoredName::part("norm_out.linear.weight", 0..1, 2);
        assert_eq!(diffusers_name("norm_out.scale.weight"), scale);
    }
}
