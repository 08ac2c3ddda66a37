//! The names of tensors in the authors' files.

use super::{KERNEL, PLACES};
use crate::{
    checkpoint::StoredName,
    models::joint::{Row, stored_name},
};

const BLOCK_NAMES: [Row; 26] = [
    ("norm1.linear", "x_block.adaLN_modulation.1", 0..1, 1),
    ("norm1_context.linear", "context_block.adaLN_modulation.1", 0..1, 1),
    ("norm1_context.shift", "context_block.adaLN_modulation.1", 0..1, 2),
    ("norm1_context.scale", "context_block.adaLN_modulation.1", 1..2, 2),
    ("attn.to_q", "x_block.attn.qkv", 0..1, 3),
    ("attn.to_k", "x_block.attn.qkv", 1..2, 3),
    ("attn.to_v", "x_block.attn.qkv", 2..3, 3),
    ("attn.add_q_proj", "context_block.attn.qkv", 0..1, 3),
    ("attn.add_k_proj", "context_block.attn.qkv", 1..2, 3),
    ("attn.add_v_proj", "context_block.attn.qkv", 2..3, 3),
    ("attn2.to_q", "x_block.attn2.qkv", 0..1, 3),
    ("attn2.to_k", "x_block.attn2.qkv", 1..2, 3),
    ("attn2.to_v", "x_block.attn2.qkv", 2..3, 3),
    ("attn.norm_q", "x_block.attn.ln_q", 0..1, 1),
    ("attn.norm_k", "x_block.attn.ln_k", 0..1, 1),
    ("attn.norm_added_q", "context_block.attn.ln_q", 0..1, 1),
    ("attn.norm_added_k", "context_block.attn.ln_k", 0..1, 1),
    ("attn2.norm_q", "x_block.attn2.ln_q", 0..1, 1),
    ("attn2.norm_k", "x_block.attn2.ln_k", 0..1, 1),
    ("attn.to_out.0", "x_block.attn.proj", 0..1, 1),
    ("attn.to_add_out", "context_block.attn.proj", 0..1, 1),
    ("attn2.to_out.0", "x_block.attn2.proj", 0..1, 1),
    ("ff.net.0.proj", "x_block.mlp.fc1", 0..1, 1),
    ("ff.net.2", "x_block.mlp.fc2", 0..1, 1),
    ("ff_context.net.0.proj", "context_block.mlp.fc1", 0..1, 1),
    ("ff_context.net.2", "context_block.mlp.fc2", 0..1, 1),
];

const OTHER_NAMES: [Row; 8] = [
    (KERNEL, "x_embedder.proj", 0..1, 1),
    ("time_text_embed.timestep_embedder.linear_1", "t_embedder.mlp.0", 0..1, 1),
    ("time_text_embed.timestep_embedder.linear_2", "t_embedder.mlp.2", 0..1, 1),
    ("time_text_embed.text_embedder.linear_1", "y_embedder.mlp.0", 0..1, 1),
    ("time_text_embed.text_embedder.linear_2", "y_embedder.mlp.2", 0..1, 1),
    ("norm_out.shift", "final_layer.adaLN_modulation.1", 0..1, 2),
    ("norm_out.scale", "final_layer.adaLN_modulation.1", 1..2, 2),
    ("proj_out", "final_layer.linear", 0..1, 1),
];

/// The name of a tensor in the authors' files, which ComfyUI also uses.
pub(super) fn original_name(name: &str) -> StoredName {
    if name == PLACES {
        return StoredName::whole("pos_embed");
    }
    let (layer, parameter) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = layer.strip_prefix("transformer_blocks.").and_then(|rest| rest.split_once('.'));
    let stored = match numbered {
        Some((number, layer)) => {
            stored_name(&BLOCK_NAMES, &format!("joint_blocks.{number}."), layer, parameter)
        }
        None => stored_name(&OTHER_NAMES, "", layer, parameter),
    };
    stored.unwrap_or_else(|| StoredName::whole(name))
}

/// The name of a tensor in Stability's ControlNets, which have diffusers' names but for the layers of blocks.
pub(super) fn control_net_name(name: &str) -> StoredName {
    let StoredName { name: original, part } = original_name(name);
    match original.strip_prefix("joint_blocks.") {
        Some(block) => {
            StoredName { name: format!("transformer_blocks.{}", block.replacen("x_block.", "", 1)), part }
        }
        None => StoredName::whole(name),
    }
}

#[cfg(test)]
mod tests {
    use crate::models::joint::diffusers_name;

    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        let cases = [
            (
                "transformer_blocks.3.attn.to_k.weight",
                "joint_blocks.3.x_block.attn.qkv.weight",
                Some((1..2, 3)),
            ),
            (
                "transformer_blocks.0.attn2.to_v.bias",
                "joint_blocks.0.x_block.attn2.qkv.bias",
                Some((2..3, 3)),
            ),
            (
                "transformer_blocks.0.attn.norm_added_q.weight",
                "joint_blocks.0.context_block.attn.ln_q.weight",
                None,
            ),
            ("transformer_blocks.7.ff_context.net.2.bias", "joint_blocks.7.context_block.mlp.fc2.bias", None),
            (
                "transformer_blocks.23.norm1_context.scale.weight",
                "joint_blocks.23.context_block.adaLN_modulation.1.weight",
                Some((1..2, 2)),
            ),
            ("norm_out.shift.bias", "final_layer.adaLN_modulation.1.bias", Some((0..1, 2))),
            ("pos_embed.proj.weight", "x_embedder.proj.weight", None),
            ("pos_embed.pos_embed", "pos_embed", None),
            ("context_embedder.weight", "context_embedder.weight", None),
            ("time_text_embed.text_embedder.linear_2.bias", "y_embedder.mlp.2.bias", None),
        ];
        for (ours, name, part) in cases {
            assert_eq!(original_name(ours), StoredName { name: name.to_owned(), part }, "{ours}");
        }
        let cases = [
            ("transformer_blocks.3.attn.to_v.bias", "transformer_blocks.3.attn.qkv.bias", Some((2..3, 3))),
            ("transformer_blocks.0.attn.to_out.0.weight", "transformer_blocks.0.attn.proj.weight", None),
            ("transformer_blocks.18.ff.net.0.proj.bias", "transformer_blocks.18.mlp.fc1.bias", None),
            (
                "transformer_blocks.1.norm1.linear.weight",
                "transformer_blocks.1.adaLN_modulation.1.weight",
                None,
            ),
            (
                "time_text_embed.text_embedder.linear_2.bias",
                "time_text_embed.text_embedder.linear_2.bias",
                None,
            ),
            ("controlnet_blocks.7.weight", "controlnet_blocks.7.weight", None),
            ("pos_embed_input.proj.weight", "pos_embed_input.proj.weight", None),
        ];
        for (ours, name, part) in cases {
            assert_eq!(control_net_name(ours), StoredName { name: name.to_owned(), part }, "{ours}");
        }
        let scale = StoredName::part("transformer_blocks.23.norm1_context.linear.weight", 0..1, 2);
        assert_eq!(diffusers_name("transformer_blocks.23.norm1_context.scale.weight"), scale);
    }
}
