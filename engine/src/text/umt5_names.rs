//! The names of UMT5's tensors in Wan's files.

/// Layers of a block: transformers' name and the original one.
const LAYERS: [(&str, &str); 7] = [
    (".layer.0.SelfAttention.relative_attention_bias.", ".pos_embedding.embedding."),
    (".layer.0.SelfAttention.", ".attn."),
    (".layer.0.layer_norm.", ".norm1."),
    (".layer.1.layer_norm.", ".norm2."),
    (".layer.1.DenseReluDense.wi_0.", ".ffn.gate.0."),
    (".layer.1.DenseReluDense.wi_1.", ".ffn.fc1."),
    (".layer.1.DenseReluDense.wo.", ".ffn.fc2."),
];

/// The original name of a tensor.
pub fn original_name(name: &str) -> String {
    let name = name
        .replace("shared.", "token_embedding.")
        .replace("encoder.final_layer_norm.", "norm.")
        .replace("encoder.block.", "blocks.");
    LAYERS.iter().fold(name, |name, (own, original)| name.replace(own, original))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        for (ours, theirs) in [
            ("shared.weight", "token_embedding.weight"),
            ("encoder.final_layer_norm.weight", "norm.weight"),
            ("encoder.block.3.layer.0.SelfAttention.q.weight", "blocks.3.attn.q.weight"),
            (
                "encoder.block.23.layer.0.SelfAttention.relative_attention_bias.weight",
                "blocks.23.pos_embedding.embedding.weight",
            ),
            ("encoder.block.0.layer.1.DenseReluDense.wi_0.weight", "blocks.0.ffn.gate.0.weight"),
            ("encoder.block.0.layer.1.layer_norm.weight", "blocks.0.norm2.weight"),
        ] {
            assert_eq!(original_name(ours), theirs);
        }
    }
}
