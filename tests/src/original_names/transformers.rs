//! The transformers of Z-Image, Wan, LTX-Video, Cosmos Predict 2, Krea 2 and Qwen-Image 2.1.

use candle_core::{Result, Tensor};

use super::Tensors;

/// A Z-Image transformer under its original names: query, key and value are one matrix.
pub fn z_image(diffusers: &Tensors) -> Result<Tensors> {
    let mut original = Tensors::new();
    for (name, tensor) in diffusers {
        if let Some((block, projection)) = name.split_once(".attention.to_")
            && let Some("q") = projection.strip_suffix(".weight")
        {
            let part = |letter: &str| &diffusers[&format!("{block}.attention.to_{letter}.weight")];
            let joined = Tensor::cat(&[part("q"), part("k"), part("v")], 0)?;
            original.insert(format!("{block}.attention.qkv.weight"), joined);
        } else if !name.ends_with(".to_k.weight") && !name.ends_with(".to_v.weight") {
            let renamed = name
                .replace(".attention.to_out.0.", ".attention.out.")
                .replace(".attention.norm_q.", ".attention.q_norm.")
                .replace(".attention.norm_k.", ".attention.k_norm.")
                .replace("all_final_layer.2-1.", "final_layer.")
                .replace("all_x_embedder.2-1.", "x_embedder.");
            original.insert(renamed, tensor.clone());
        }
    }
    Ok(original)
}

/// Layers of a Wan transformer: the original name and diffusers'.
const WAN: [(&str, &str); 18] = [
    (".before_proj.", ".proj_in."),
    (".after_proj.", ".proj_out."),
    ("time_embedding.0.", "condition_embedder.time_embedder.linear_1."),
    ("time_embedding.2.", "condition_embedder.time_embedder.linear_2."),
    ("text_embedding.0.", "condition_embedder.text_embedder.linear_1."),
    ("text_embedding.2.", "condition_embedder.text_embedder.linear_2."),
    ("time_projection.1.", "condition_embedder.time_proj."),
    ("head.head.", "proj_out."),
    ("self_attn.", "attn1."),
    ("cross_attn.", "attn2."),
    (".o.", ".to_out.0."),
    (".q.", ".to_q."),
    (".k.", ".to_k."),
    (".v.", ".to_v."),
    ("ffn.0.", "ffn.net.0.proj."),
    ("ffn.2.", "ffn.net.2."),
    // The norm between the attentions is the third one there.
    (".norm3.", ".norm2."),
    (".modulation", ".scale_shift_table"),
];

/// A Wan transformer under its original names.
pub fn wan(diffusers: &Tensors) -> Tensors {
    let renamed = |name: &String| match name.as_str() {
        "scale_shift_table" => "head.modulation".to_owned(),
        name => WAN.iter().fold(name.to_owned(), |name, (theirs, own)| name.replace(own, theirs)),
    };
    diffusers.iter().map(|(name, tensor)| (renamed(name), tensor.clone())).collect()
}

/// Layers of LTX-Video's transformer: the original name and diffusers'.
const LTX: [(&str, &str); 4] = [
    ("patchify_proj.", "proj_in."),
    ("adaln_single.", "time_embed."),
    (".q_norm.", ".norm_q."),
    (".k_norm.", ".norm_k."),
];

/// LTX-Video's transformer under its original names.
pub fn ltx(diffusers: &Tensors) -> Tensors {
    let renamed =
        |name: &String| LTX.iter().fold(name.clone(), |name, (theirs, own)| name.replace(own, theirs));
    diffusers.iter().map(|(name, tensor)| (renamed(name), tensor.clone())).collect()
}

/// Parts of the names of Cosmos Predict 2's transformer: the original one and diffusers'. Earlier rows come first.
const COSMOS: [(&str, &str); 23] = [
    ("t_embedder.1.", "time_embed.t_embedder."),
    ("t_embedding_norm.", "time_embed.norm."),
    ("x_embedder.proj.1.", "patch_embed.proj."),
    ("final_layer.adaln_modulation.1.", "norm_out.linear_1."),
    ("final_layer.adaln_modulation.2.", "norm_out.linear_2."),
    ("final_layer.linear.", "proj_out."),
    ("blocks.", "transformer_blocks."),
    ("adaln_modulation_self_attn.1.", "norm1.linear_1."),
    ("adaln_modulation_self_attn.2.", "norm1.linear_2."),
    ("adaln_modulation_cross_attn.1.", "norm2.linear_1."),
    ("adaln_modulation_cross_attn.2.", "norm2.linear_2."),
    ("adaln_modulation_mlp.1.", "norm3.linear_1."),
    ("adaln_modulation_mlp.2.", "norm3.linear_2."),
    ("self_attn.", "attn1."),
    ("cross_attn.", "attn2."),
    ("output_proj.", "to_out.0."),
    ("q_proj.", "to_q."),
    ("k_proj.", "to_k."),
    ("v_proj.", "to_v."),
    ("q_norm.", "norm_q."),
    ("k_norm.", "norm_k."),
    ("mlp.layer1.", "ff.net.0.proj."),
    ("mlp.layer2.", "ff.net.2."),
];

/// Cosmos Predict 2's transformer under its original names.
pub fn cosmos(diffusers: &Tensors) -> Tensors {
    let renamed =
        |name: &String| COSMOS.iter().fold(name.clone(), |name, (theirs, own)| name.replace(own, theirs));
    diffusers.iter().map(|(name, tensor)| (renamed(name), tensor.clone())).collect()
}

/// Parts of the names of Krea 2's transformer: the original one and diffusers'.
const KREA2: [(&str, &str); 21] = [
    ("first.", "img_in."),
    ("tmlp.0.", "time_embed.linear_1."),
    ("tmlp.2.", "time_embed.linear_2."),
    ("tproj.1.", "time_mod_proj."),
    ("txtmlp.0.scale", "txt_in.norm.weight"),
    ("txtmlp.1.", "txt_in.linear_1."),
    ("txtmlp.3.", "txt_in.linear_2."),
    ("txtfusion.", "text_fusion."),
    ("blocks.", "transformer_blocks."),
    ("last.linear.", "final_layer.linear."),
    ("last.norm.scale", "final_layer.norm.weight"),
    ("last.modulation.lin", "final_layer.scale_shift_table"),
    ("attn.wq.", "attn.to_q."),
    ("attn.wk.", "attn.to_k."),
    ("attn.wv.", "attn.to_v."),
    ("attn.wo.", "attn.to_out.0."),
    ("attn.gate.", "attn.to_gate."),
    ("attn.qknorm.qnorm.scale", "attn.norm_q.weight"),
    ("attn.qknorm.knorm.scale", "attn.norm_k.weight"),
    (".prenorm.scale", ".norm1.weight"),
    (".postnorm.scale", ".norm2.weight"),
];

/// Krea 2's transformer under its original names. The tables of its blocks are vectors there.
pub fn krea2(diffusers: &Tensors) -> Result<Tensors> {
    let mut original = Tensors::new();
    for (name, tensor) in diffusers {
        let name = KREA2.iter().fold(name.clone(), |name, (theirs, own)| name.replace(own, theirs));
        let name = name.replace(".ff.", ".mlp.");
        match name.strip_suffix(".scale_shift_table") {
            Some(block) => original.insert(format!("{block}.mod.lin"), tensor.flatten_all()?),
            None => original.insert(name, tensor.clone()),
        };
    }
    Ok(original)
}

/// Qwen-Image 2.1's transformer as in ComfyUI's files: both halves of the feed-forward layers are one.
pub fn qwen_image_21(diffusers: &Tensors) -> Result<Tensors> {
    let mut original = Tensors::new();
    for (name, tensor) in diffusers {
        if let Some(block) = name.strip_suffix("img_mlp.gate_layer.weight") {
            let other = &diffusers[&format!("{block}img_mlp.proj.weight")];
            original.insert(format!("{block}img_mlp.gate_up.weight"), Tensor::cat(&[tensor, other], 0)?);
        } else if !name.ends_with("img_mlp.proj.weight") {
            original.insert(name.clone(), tensor.clone());
        }
    }
    Ok(original)
}
