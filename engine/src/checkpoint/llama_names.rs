//! Maps llama.cpp's tensor names of text encoders to those of their authors.

/// Replacements for language models, in order.
const LANGUAGE_MODEL: [(&str, &str); 15] = [
    ("blk.", "model.layers."),
    ("attn_norm.", "input_layernorm."),
    ("attn_q_norm.", "self_attn.q_norm."),
    ("attn_k_norm.", "self_attn.k_norm."),
    ("attn_q.", "self_attn.q_proj."),
    ("attn_k.", "self_attn.k_proj."),
    ("attn_v.", "self_attn.v_proj."),
    ("attn_output.", "self_attn.o_proj."),
    ("ffn_up.", "mlp.up_proj."),
    ("ffn_down.", "mlp.down_proj."),
    ("ffn_gate.", "mlp.gate_proj."),
    ("ffn_norm.", "post_attention_layernorm."),
    ("token_embd.", "model.embed_tokens."),
    ("output_norm.", "model.norm."),
    ("output.weight", "lm_head.weight"),
];

/// Replacements for models that llama.cpp stores with the two values of queries and keys that are rotated together next to
/// each other, in order.
const INTERLEAVED: [(&str, &str); 2] =
    [("attn_q.", "self_attn.q_proj_interleaved."), ("attn_k.", "self_attn.k_proj_interleaved.")];

/// Replacements for T5 encoders, in order.
const T5: [(&str, &str); 14] = [
    ("enc.", "encoder."),
    (".blk.", ".block."),
    ("token_embd.", "shared."),
    ("output_norm.", "final_layer_norm."),
    ("attn_q.", "layer.0.SelfAttention.q."),
    ("attn_k.", "layer.0.SelfAttention.k."),
    ("attn_v.", "layer.0.SelfAttention.v."),
    ("attn_o.", "layer.0.SelfAttention.o."),
    ("attn_norm.", "layer.0.layer_norm."),
    ("attn_rel_b.", "layer.0.SelfAttention.relative_attention_bias."),
    ("ffn_up.", "layer.1.DenseReluDense.wi_1."),
    ("ffn_down.", "layer.1.DenseReluDense.wo."),
    ("ffn_gate.", "layer.1.DenseReluDense.wi_0."),
    ("ffn_norm.", "layer.1.layer_norm."),
];

/// The authors' name of a tensor in a file of this architecture, if llama.cpp's name differs.
pub fn renamed(architecture: &str, name: &str) -> Option<String> {
    let tables: [&[(&str, &str)]; 2] = match architecture {
        "qwen2" | "qwen2vl" | "qwen3" | "qwen3vl" => [&LANGUAGE_MODEL, &[]],
        "llama" | "mistral3" => [&INTERLEAVED, &LANGUAGE_MODEL],
        "t5" | "t5encoder" => [&T5, &[]],
        _ => return None,
    };
    Some(tables.into_iter().flatten().fold(name.to_owned(), |name, (from, to)| {
        // Replacements match at the start of a name or of a part of it: `attn_output.` does not contain
        // `output.`.
        match name.find(from) {
            Some(0) => name.replacen(from, to, 1),
            Some(at) if name.as_bytes()[at - 1] == b'.' || from.starts_with('.') => {
                name.replacen(from, to, 1)
            }
            _ => name,
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authors_names_are_found() {
        for (name, want) in [
            ("blk.3.attn_output.weight", "model.layers.3.self_attn.o_proj.weight"),
            ("blk.11.attn_q_norm.weight", "model.layers.11.self_attn.q_norm.weight"),
            ("blk.0.ffn_norm.weight", "model.layers.0.post_attention_layernorm.weight"),
            ("token_embd.weight", "model.embed_tokens.weight"),
            ("output_norm.weight", "model.norm.weight"),
            ("output.weight", "lm_head.weight"),
        ] {
            assert_eq!(renamed("qwen3", name).as_deref(), Some(want));
        }
        for (name, want) in [
            (
                "enc.blk.0.attn_rel_b.weight",
                "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
            ),
            ("enc.blk.5.ffn_gate.weight", "encoder.block.5.layer.1.DenseReluDense.wi_0.weight"),
            ("enc.output_norm.weight", "encoder.final_layer_norm.weight"),
            ("token_embd.weight", "shared.weight"),
        ] {
            assert_eq!(renamed("t5encoder", name).as_deref(), Some(want));
        }
        assert_eq!(
            renamed("llama", "blk.3.attn_q.weight").as_deref(),
            Some("model.layers.3.self_attn.q_proj_interleaved.weight")
        );
        assert_eq!(renamed("flux", "blk.0"), None);
    }
}
