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

/// Replacements for GPT-OSS, in order.
const EXPERTS: [(&str, &str); 6] = [
    ("attn_sinks.weight", "self_attn.sinks"),
    ("post_attention_norm.", "post_attention_layernorm."),
    ("ffn_gate_inp.", "mlp.router."),
    ("ffn_gate_exps.", "mlp.experts.gate_proj."),
    ("ffn_up_exps.", "mlp.experts.up_proj."),
    ("ffn_down_exps.", "mlp.experts.down_proj."),
];

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

/// Replacements for the vision towers of Qwen's models, in order. The kernel of each of the two frames of a patch is a tensor
/// of its own.
const VISION: [(&str, &str); 11] = [
    ("v.patch_embd.weight.1", "visual.patch_embed.proj.1.weight"),
    ("v.patch_embd.", "visual.patch_embed.proj."),
    ("v.position_embd.", "visual.pos_embed."),
    ("v.deepstack.", "visual.deepstack."),
    ("v.blk.", "visual.blocks."),
    ("attn_qkv.", "attn.qkv."),
    ("attn_q.", "attn.q."),
    ("attn_k.", "attn.k."),
    ("attn_v.", "attn.v."),
    ("attn_out.", "attn.proj."),
    ("ln1.", "norm1."),
];

/// The same for those of Qwen2.5-VL, whose feed-forward layers are gated.
const GATED_VISION: [(&str, &str); 7] = [
    ("ln2.", "norm2."),
    ("ffn_gate.", "mlp.gate_proj."),
    ("ffn_up.", "mlp.up_proj."),
    ("ffn_down.", "mlp.down_proj."),
    ("v.post_ln.", "visual.merger.ln_q."),
    ("mm.0.", "visual.merger.mlp.0."),
    ("mm.2.", "visual.merger.mlp.2."),
];

/// The same for those of Qwen3-VL.
const PLAIN_VISION: [(&str, &str); 8] = [
    ("ln2.", "norm2."),
    ("ffn_up.", "mlp.linear_fc1."),
    ("ffn_down.", "mlp.linear_fc2."),
    ("v.post_ln.", "visual.merger.norm."),
    ("mm.0.", "visual.merger.linear_fc1."),
    ("mm.2.", "visual.merger.linear_fc2."),
    (".fc1.", ".linear_fc1."),
    (".fc2.", ".linear_fc2."),
];

/// Part of the names of gated feed-forward layers.
pub const GATE: &str = ".ffn_gate.";

/// The authors' name of a tensor in a file of this architecture, if llama.cpp's name differs. `is_gated` says whether a
/// vision tower has [gates](GATE).
pub fn renamed(architecture: &str, is_gated: bool, name: &str) -> Option<String> {
    let tables: [&[(&str, &str)]; 2] = match architecture {
        "qwen2" | "qwen2vl" | "qwen3" | "qwen3vl" => [&LANGUAGE_MODEL, &[]],
        "llama" | "mistral3" => [&INTERLEAVED, &LANGUAGE_MODEL],
        "gpt-oss" => [&EXPERTS, &LANGUAGE_MODEL],
        "t5" | "t5encoder" => [&T5, &[]],
        "clip" if is_gated => [&VISION, &GATED_VISION],
        "clip" => [&VISION, &PLAIN_VISION],
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
            assert_eq!(renamed("qwen3", true, name).as_deref(), Some(want));
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
            assert_eq!(renamed("t5encoder", true, name).as_deref(), Some(want));
        }
        assert_eq!(
            renamed("llama", true, "blk.3.attn_q.weight").as_deref(),
            Some("model.layers.3.self_attn.q_proj_interleaved.weight")
        );
        for (name, want) in [
            ("blk.7.attn_sinks.weight", "model.layers.7.self_attn.sinks"),
            ("blk.7.attn_output.bias", "model.layers.7.self_attn.o_proj.bias"),
            ("blk.7.post_attention_norm.weight", "model.layers.7.post_attention_layernorm.weight"),
            ("blk.7.ffn_gate_inp.weight", "model.layers.7.mlp.router.weight"),
            ("blk.7.ffn_down_exps.bias", "model.layers.7.mlp.experts.down_proj.bias"),
        ] {
            assert_eq!(renamed("gpt-oss", true, name).as_deref(), Some(want));
        }
        assert_eq!(renamed("flux", false, "blk.0"), None);
        for (is_gated, name, want) in [
            (true, "v.patch_embd.weight", "visual.patch_embed.proj.weight"),
            (true, "v.patch_embd.weight.1", "visual.patch_embed.proj.1.weight"),
            (true, "v.blk.7.ffn_up.bias", "visual.blocks.7.mlp.up_proj.bias"),
            (true, "v.blk.7.attn_out.weight", "visual.blocks.7.attn.proj.weight"),
            (true, "v.post_ln.weight", "visual.merger.ln_q.weight"),
            (true, "mm.2.bias", "visual.merger.mlp.2.bias"),
            (false, "v.patch_embd.bias", "visual.patch_embed.proj.bias"),
            (false, "v.position_embd.weight", "visual.pos_embed.weight"),
            (false, "v.blk.0.ffn_down.weight", "visual.blocks.0.mlp.linear_fc2.weight"),
            (false, "v.blk.0.ln2.bias", "visual.blocks.0.norm2.bias"),
            (false, "v.deepstack.16.fc1.weight", "visual.deepstack.16.linear_fc1.weight"),
            (false, "v.deepstack.16.norm.bias", "visual.deepstack.16.norm.bias"),
            (false, "mm.0.weight", "visual.merger.linear_fc1.weight"),
        ] {
            assert_eq!(renamed("clip", is_gated, name).as_deref(), Some(want));
        }
    }
}
