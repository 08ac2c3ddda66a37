//! The names of tensors in files of diffusers and of the authors.

use std::ops::Range;

use super::Flux2Config;
use crate::{
    checkpoint::StoredName,
    models::{
        flux_files::{ENDS, JOINT_ATTENTION, ORIGINAL_STACKS, STACKS, name_in_file},
        joint::Row,
    },
};

impl Flux2Config {
    /// The name of a tensor in the authors' files, which ComfyUI also uses. `scale` is what the weights of norms are called
    /// there.
    pub(super) fn original_name(&self, name: &str, scale: &str) -> StoredName {
        let single = single_names(self.mlp_ratio(), true);
        let tables: [&[&[Row]]; 3] =
            [&[&JOINT_ATTENTION, &ORIGINAL_FEED_FORWARD], &[&single], &[&ENDS, &ORIGINAL_MODULATION]];
        name_in_file(name, ORIGINAL_STACKS, tables, Some(scale))
    }

    /// The name of a tensor in diffusers' files.
    pub fn diffusers_name(&self, name: &str) -> StoredName {
        let single = single_names(self.mlp_ratio(), false);
        name_in_file(name, STACKS, [&[&FEED_FORWARD], &[&single], &[&HEAD]], None)
    }
}

const FEED_FORWARD: [Row; 4] = [
    ("ff.gate", "ff.linear_in", 0..1, 2),
    ("ff.up", "ff.linear_in", 1..2, 2),
    ("ff_context.gate", "ff_context.linear_in", 0..1, 2),
    ("ff_context.up", "ff_context.linear_in", 1..2, 2),
];

const ORIGINAL_FEED_FORWARD: [Row; 6] = [
    ("ff.gate", "img_mlp.0", 0..1, 2),
    ("ff.up", "img_mlp.0", 1..2, 2),
    ("ff.linear_out", "img_mlp.2", 0..1, 1),
    ("ff_context.gate", "txt_mlp.0", 0..1, 2),
    ("ff_context.up", "txt_mlp.0", 1..2, 2),
    ("ff_context.linear_out", "txt_mlp.2", 0..1, 1),
];

const HEAD: [Row; 2] =
    [("norm_out.scale", "norm_out.linear", 0..1, 2), ("norm_out.shift", "norm_out.linear", 1..2, 2)];

const ORIGINAL_MODULATION: [Row; 7] = [
    ("time_guidance_embed.timestep_embedder.linear_1", "time_in.in_layer", 0..1, 1),
    ("time_guidance_embed.timestep_embedder.linear_2", "time_in.out_layer", 0..1, 1),
    ("time_guidance_embed.guidance_embedder.linear_1", "guidance_in.in_layer", 0..1, 1),
    ("time_guidance_embed.guidance_embedder.linear_2", "guidance_in.out_layer", 0..1, 1),
    ("double_stream_modulation_img.linear", "double_stream_modulation_img.lin", 0..1, 1),
    ("double_stream_modulation_txt.linear", "double_stream_modulation_txt.lin", 0..1, 1),
    ("single_stream_modulation.linear", "single_stream_modulation.lin", 0..1, 1),
];

/// The names of a single block, of which one matrix has everything that reads the stream.
fn single_names(ratio: usize, original: bool) -> [Row; 8] {
    let (inputs, output, norms) = match original {
        true => ("linear1", "linear2", ["norm.query_norm", "norm.key_norm"]),
        false => ("attn.to_qkv_mlp_proj", "attn.to_out", ["attn.norm_q", "attn.norm_k"]),
    };
    let part = |own, parts: Range<usize>| (own, inputs, parts, 3 + 2 * ratio);
    [
        part("attn.to_q", 0..1),
        part("attn.to_k", 1..2),
        part("attn.to_v", 2..3),
        part("attn.gate", 3..3 + ratio),
        part("attn.up", 3 + ratio..3 + 2 * ratio),
        ("attn.to_out", output, 0..1, 1),
        ("attn.norm_q", norms[0], 0..1, 1),
        ("attn.norm_k", norms[1], 0..1, 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_those_of_files() {
        let config = Flux2Config::default();
        let cases = [
            ("transformer_blocks.3.attn.to_k.weight", "double_blocks.3.img_attn.qkv.weight", Some((1..2, 3))),
            (
                "transformer_blocks.0.ff_context.up.weight",
                "double_blocks.0.txt_mlp.0.weight",
                Some((1..2, 2)),
            ),
            (
                "single_transformer_blocks.37.attn.gate.weight",
                "single_blocks.37.linear1.weight",
                Some((3..6, 9)),
            ),
            ("single_transformer_blocks.1.attn.norm_k.weight", "single_blocks.1.norm.key_norm.scale", None),
            ("norm_out.scale.weight", "final_layer.adaLN_modulation.1.weight", Some((1..2, 2))),
        ];
        for (ours, name, part) in cases {
            let original = config.original_name(ours, "scale");
            assert_eq!(original, StoredName { name: name.to_owned(), part }, "{ours}");
        }
        let cases = [
            ("single_transformer_blocks.2.attn.up.weight", "attn.to_qkv_mlp_proj.weight", Some((6..9, 9))),
            ("single_transformer_blocks.2.attn.to_out.weight", "attn.to_out.weight", None),
        ];
        for (ours, name, part) in cases {
            let name = format!("single_transformer_blocks.2.{name}");
            assert_eq!(config.diffusers_name(ours), StoredName { name, part }, "{ours}");
        }
    }
}
