//! What files of FLUX.1 and FLUX.2 have alike: names that are the authors' own, and shapes that tell the same.

use super::joint::{Row, stored_name};
use crate::checkpoint::{StoredName, TensorTable};

/// What the stacks of double and of single blocks are called here and in diffusers' files.
pub const STACKS: [&str; 2] = ["transformer_blocks", "single_transformer_blocks"];
/// What they are called in the authors' files.
pub const ORIGINAL_STACKS: [&str; 2] = ["double_blocks", "single_blocks"];

/// The attention of a double block in the authors' files.
pub const JOINT_ATTENTION: [Row; 12] = [
    ("attn.to_q", "img_attn.qkv", 0..1, 3),
    ("attn.to_k", "img_attn.qkv", 1..2, 3),
    ("attn.to_v", "img_attn.qkv", 2..3, 3),
    ("attn.add_q_proj", "txt_attn.qkv", 0..1, 3),
    ("attn.add_k_proj", "txt_attn.qkv", 1..2, 3),
    ("attn.add_v_proj", "txt_attn.qkv", 2..3, 3),
    ("attn.norm_q", "img_attn.norm.query_norm", 0..1, 1),
    ("attn.norm_k", "img_attn.norm.key_norm", 0..1, 1),
    ("attn.norm_added_q", "txt_attn.norm.query_norm", 0..1, 1),
    ("attn.norm_added_k", "txt_attn.norm.key_norm", 0..1, 1),
    ("attn.to_out.0", "img_attn.proj", 0..1, 1),
    ("attn.to_add_out", "txt_attn.proj", 0..1, 1),
];

/// The embedders of image and text, and the head, in the authors' files.
pub const ENDS: [Row; 5] = [
    ("x_embedder", "img_in", 0..1, 1),
    ("context_embedder", "txt_in", 0..1, 1),
    ("norm_out.shift", "final_layer.adaLN_modulation.1", 0..1, 2),
    ("norm_out.scale", "final_layer.adaLN_modulation.1", 1..2, 2),
    ("proj_out", "final_layer.linear", 0..1, 1),
];

/// The name of a tensor in a file that calls the stacks of blocks so. The tables are those of double blocks, of single blocks
/// and of what is around them; `scale` is what the weights of norms are called, if not as here.
pub fn name_in_file(
    name: &str,
    stacks: [&str; 2],
    tables: [&[&[Row]]; 3],
    scale: Option<&str>,
) -> StoredName {
    let (layer, parameter) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = |stack: &str| layer.strip_prefix(stack)?.strip_prefix('.')?.split_once('.');
    let [double, single, around] = tables;
    let (tables, block, layer) = if let Some((number, layer)) = numbered(STACKS[0]) {
        (double, format!("{}.{number}.", stacks[0]), layer)
    } else if let Some((number, layer)) = numbered(STACKS[1]) {
        (single, format!("{}.{number}.", stacks[1]), layer)
    } else {
        (around, String::new(), layer)
    };
    let parameter = scale.filter(|_| layer.starts_with("attn.norm_")).unwrap_or(parameter);
    let found = tables.iter().find_map(|rows| stored_name(rows, &block, layer, parameter));
    found.unwrap_or_else(|| StoredName::whole(name))
}

/// Widths that the shapes of tensors tell, under the names of the authors, whose norms have a `scale` or a `weight`, or under
/// those of diffusers.
pub struct Widths {
    /// Width of the residual streams.
    pub dim: usize,
    /// Number of values that a token of the image has.
    pub channels: usize,
    /// Width of a head.
    pub head: usize,
    /// Width of the prompt embeddings.
    pub prompt: usize,
}

impl Widths {
    /// Those of a network.
    pub fn of(tensors: &TensorTable) -> Option<Self> {
        let &[dim, channels] = &shape(tensors, &["img_in.weight", "x_embedder.weight"])?[..] else {
            return None;
        };
        let norms = [
            "double_blocks.0.img_attn.norm.query_norm.scale",
            "double_blocks.0.img_attn.norm.query_norm.weight",
            "transformer_blocks.0.attn.norm_q.weight",
        ];
        let head = *shape(tensors, &norms)?.first()?;
        let prompt = *shape(tensors, &["txt_in.weight", "context_embedder.weight"])?.get(1)?;
        Some(Self { dim, channels, head, prompt })
    }

    /// Number of attention heads.
    pub fn heads(&self) -> Option<usize> {
        self.dim.checked_div(self.head)
    }
}

/// The shape of a tensor under the first of these names that it has.
pub fn shape(tensors: &TensorTable, names: &[&str]) -> Option<Vec<usize>> {
    names.iter().find_map(|name| tensors.get(*name)).map(|tensor| tensor.shape().to_vec())
}

/// How many tensors have a name that ends in one of these ways.
pub fn count(tensors: &TensorTable, suffixes: [&str; 2]) -> usize {
    tensors.keys().filter(|name| suffixes.iter().any(|suffix| name.ends_with(suffix))).count()
}
