//! The names that tensors have in the original authors' files, which ComfyUI uses too.

use std::collections::BTreeMap;

use candle_core::{Result, Tensor};

/// Tensors by name, in order.
pub type Tensors = BTreeMap<String, Tensor>;

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

/// An autoencoder under its original names: the decoder's levels are counted from the outside, and the
/// linear layers of its attention are convolutions.
pub fn autoencoder(diffusers: &Tensors) -> Result<Tensors> {
    let levels = (0..).find(|level| !diffusers.contains_key(&up_block(*level))).unwrap_or_default();
    let mut original = Tensors::new();
    for (name, tensor) in diffusers {
        let mut renamed = name.clone();
        for level in 0..levels {
            let down = format!("encoder.down.{level}");
            let up = format!("decoder.up.{}", levels - 1 - level);
            renamed = renamed
                .replace(&format!("encoder.down_blocks.{level}.resnets"), &format!("{down}.block"))
                .replace(
                    &format!("encoder.down_blocks.{level}.downsamplers.0"),
                    &format!("{down}.downsample"),
                )
                .replace(&format!("decoder.up_blocks.{level}.resnets"), &format!("{up}.block"))
                .replace(&format!("decoder.up_blocks.{level}.upsamplers.0"), &format!("{up}.upsample"));
        }
        renamed = renamed
            .replace("mid_block.resnets.0.", "mid.block_1.")
            .replace("mid_block.resnets.1.", "mid.block_2.")
            .replace("mid_block.attentions.0.group_norm.", "mid.attn_1.norm.")
            .replace("mid_block.attentions.0.to_out.0.", "mid.attn_1.proj_out.")
            .replace("mid_block.attentions.0.to_", "mid.attn_1.")
            .replace("conv_norm_out.", "norm_out.")
            .replace("conv_shortcut.", "nin_shortcut.");
        let is_attention_matrix = name.contains(".attentions.") && tensor.rank() == 2;
        let tensor = if is_attention_matrix { tensor.unsqueeze(2)?.unsqueeze(3)? } else { tensor.clone() };
        original.insert(renamed, tensor);
    }
    Ok(original)
}

fn up_block(level: usize) -> String {
    format!("decoder.up_blocks.{level}.resnets.0.conv1.weight")
}

/// The same tensors with `prefix` before every name.
pub fn prefixed(prefix: &str, tensors: Tensors) -> Tensors {
    tensors.into_iter().map(|(name, tensor)| (format!("{prefix}{name}"), tensor)).collect()
}
