//! Tensor names of OpenCLIP (Ilharco et al. 2021), as in single files of Stable Diffusion 2 and XL.

use crate::checkpoint::{StoredName, TensorTable};

/// The joint query, key and value matrix of the first layer.
const FIRST: &str = "transformer.resblocks.0.attn.in_proj_weight";

const LAYER: [(&str, &str); 5] = [
    ("layer_norm1", "ln_1"),
    ("layer_norm2", "ln_2"),
    ("self_attn.out_proj", "attn.out_proj"),
    ("mlp.fc1", "mlp.c_fc"),
    ("mlp.fc2", "mlp.c_proj"),
];
const OTHER: [(&str, &str); 5] = [
    ("embeddings.token_embedding.weight", "token_embedding.weight"),
    ("embeddings.position_embedding.weight", "positional_embedding"),
    ("final_layer_norm.weight", "ln_final.weight"),
    ("final_layer_norm.bias", "ln_final.bias"),
    ("text_projection.weight", "text_projection"),
];

/// Whether tensors have these names.
pub fn are_in(tensors: &TensorTable) -> bool {
    tensors.contains_key(FIRST)
}

/// The OpenCLIP name of a text encoder's tensor; queries, keys and values are one matrix there.
pub fn original_name(name: &str) -> StoredName {
    let layer = name.strip_prefix("encoder.layers.").and_then(|rest| rest.split_once('.'));
    let Some((number, inner)) = layer else {
        let known = OTHER.iter().find(|(own, _)| *own == name);
        return StoredName::whole(known.map_or(name, |(_, original)| original));
    };
    let block = format!("transformer.resblocks.{number}");
    for (part, letter) in ["q", "k", "v"].into_iter().enumerate() {
        if let Some(parameter) = inner.strip_prefix(&format!("self_attn.{letter}_proj.")) {
            let joined = format!("{block}.attn.in_proj_{parameter}");
            return StoredName::part(joined, part..part + 1, 3);
        }
    }
    let renamed = LAYER.iter().find_map(|(own, original)| {
        let parameter = inner.strip_prefix(own)?;
        Some(format!("{block}.{original}{parameter}"))
    });
    StoredName::whole(renamed.unwrap_or_else(|| name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        for (own, original) in [
            ("embeddings.position_embedding.weight", "positional_embedding"),
            ("encoder.layers.3.layer_norm2.bias", "transformer.resblocks.3.ln_2.bias"),
            ("encoder.layers.31.self_attn.out_proj.weight", "transformer.resblocks.31.attn.out_proj.weight"),
            ("encoder.layers.0.mlp.fc2.bias", "transformer.resblocks.0.mlp.c_proj.bias"),
            ("final_layer_norm.weight", "ln_final.weight"),
            ("text_projection.weight", "text_projection"),
        ] {
            assert_eq!(original_name(own), StoredName::whole(original), "{own}");
        }
        let bias = StoredName::part("transformer.resblocks.7.attn.in_proj_bias", 1..2, 3);
        assert_eq!(original_name("encoder.layers.7.self_attn.k_proj.bias"), bias);
    }
}
