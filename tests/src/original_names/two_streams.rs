//! Transformers with two streams, such as those of FLUX and Stable Diffusion 3.

use candle_core::{Result, Tensor};

use super::{Tensors, unet::map_embedder};

/// Layers of a FLUX.1 transformer that are only renamed: the original name and diffusers'.
const FLUX: [(&str, &str); 25] = [
    ("img_in", "x_embedder"),
    ("txt_in", "context_embedder"),
    ("time_in.in_layer", "time_text_embed.timestep_embedder.linear_1"),
    ("time_in.out_layer", "time_text_embed.timestep_embedder.linear_2"),
    ("vector_in.in_layer", "time_text_embed.text_embedder.linear_1"),
    ("vector_in.out_layer", "time_text_embed.text_embedder.linear_2"),
    ("guidance_in.in_layer", "time_text_embed.guidance_embedder.linear_1"),
    ("guidance_in.out_layer", "time_text_embed.guidance_embedder.linear_2"),
    ("final_layer.linear", "proj_out"),
    ("double_blocks.{}.img_mod.lin", "transformer_blocks.{}.norm1.linear"),
    ("double_blocks.{}.txt_mod.lin", "transformer_blocks.{}.norm1_context.linear"),
    ("double_blocks.{}.img_attn.norm.query_norm", "transformer_blocks.{}.attn.norm_q"),
    ("double_blocks.{}.img_attn.norm.key_norm", "transformer_blocks.{}.attn.norm_k"),
    ("double_blocks.{}.txt_attn.norm.query_norm", "transformer_blocks.{}.attn.norm_added_q"),
    ("double_blocks.{}.txt_attn.norm.key_norm", "transformer_blocks.{}.attn.norm_added_k"),
    ("double_blocks.{}.img_attn.proj", "transformer_blocks.{}.attn.to_out.0"),
    ("double_blocks.{}.txt_attn.proj", "transformer_blocks.{}.attn.to_add_out"),
    ("double_blocks.{}.img_mlp.0", "transformer_blocks.{}.ff.net.0.proj"),
    ("double_blocks.{}.img_mlp.2", "transformer_blocks.{}.ff.net.2"),
    ("double_blocks.{}.txt_mlp.0", "transformer_blocks.{}.ff_context.net.0.proj"),
    ("double_blocks.{}.txt_mlp.2", "transformer_blocks.{}.ff_context.net.2"),
    ("single_blocks.{}.modulation.lin", "single_transformer_blocks.{}.norm.linear"),
    ("single_blocks.{}.norm.query_norm", "single_transformer_blocks.{}.attn.norm_q"),
    ("single_blocks.{}.norm.key_norm", "single_transformer_blocks.{}.attn.norm_k"),
    ("single_blocks.{}.linear2", "single_transformer_blocks.{}.proj_out"),
];

/// A layer's original name, the prefix of diffusers' names, and their suffixes.
type Joined = (&'static str, &'static str, &'static [&'static str]);

/// Layers of a FLUX.1 transformer that are concatenated along their outputs: the original name and
/// diffusers'.
const FLUX_JOINED: [Joined; 3] = [
    ("double_blocks.{}.img_attn.qkv", "transformer_blocks.{}.attn", &["to_q", "to_k", "to_v"]),
    (
        "double_blocks.{}.txt_attn.qkv",
        "transformer_blocks.{}.attn",
        &["add_q_proj", "add_k_proj", "add_v_proj"],
    ),
    (
        "single_blocks.{}.linear1",
        "single_transformer_blocks.{}",
        &["attn.to_q", "attn.to_k", "attn.to_v", "proj_mlp"],
    ),
];

/// Layers of a Stable Diffusion 3 transformer that are only renamed: the original name and diffusers'.
const SD3: [(&str, &str); 22] = [
    ("x_embedder.proj", "pos_embed.proj"),
    ("context_embedder", "context_embedder"),
    ("t_embedder.mlp.0", "time_text_embed.timestep_embedder.linear_1"),
    ("t_embedder.mlp.2", "time_text_embed.timestep_embedder.linear_2"),
    ("y_embedder.mlp.0", "time_text_embed.text_embedder.linear_1"),
    ("y_embedder.mlp.2", "time_text_embed.text_embedder.linear_2"),
    ("final_layer.linear", "proj_out"),
    ("joint_blocks.{}.x_block.adaLN_modulation.1", "transformer_blocks.{}.norm1.linear"),
    ("joint_blocks.{}.context_block.adaLN_modulation.1", "transformer_blocks.{}.norm1_context.linear"),
    ("joint_blocks.{}.x_block.attn.ln_q", "transformer_blocks.{}.attn.norm_q"),
    ("joint_blocks.{}.x_block.attn.ln_k", "transformer_blocks.{}.attn.norm_k"),
    ("joint_blocks.{}.context_block.attn.ln_q", "transformer_blocks.{}.attn.norm_added_q"),
    ("joint_blocks.{}.context_block.attn.ln_k", "transformer_blocks.{}.attn.norm_added_k"),
    ("joint_blocks.{}.x_block.attn2.ln_q", "transformer_blocks.{}.attn2.norm_q"),
    ("joint_blocks.{}.x_block.attn2.ln_k", "transformer_blocks.{}.attn2.norm_k"),
    ("joint_blocks.{}.x_block.attn.proj", "transformer_blocks.{}.attn.to_out.0"),
    ("joint_blocks.{}.context_block.attn.proj", "transformer_blocks.{}.attn.to_add_out"),
    ("joint_blocks.{}.x_block.attn2.proj", "transformer_blocks.{}.attn2.to_out.0"),
    ("joint_blocks.{}.x_block.mlp.fc1", "transformer_blocks.{}.ff.net.0.proj"),
    ("joint_blocks.{}.x_block.mlp.fc2", "transformer_blocks.{}.ff.net.2"),
    ("joint_blocks.{}.context_block.mlp.fc1", "transformer_blocks.{}.ff_context.net.0.proj"),
    ("joint_blocks.{}.context_block.mlp.fc2", "transformer_blocks.{}.ff_context.net.2"),
];

/// Layers of a Stable Diffusion 3 transformer that are concatenated along their outputs.
const SD3_JOINED: [Joined; 3] = [
    ("joint_blocks.{}.x_block.attn.qkv", "transformer_blocks.{}.attn", &["to_q", "to_k", "to_v"]),
    (
        "joint_blocks.{}.context_block.attn.qkv",
        "transformer_blocks.{}.attn",
        &["add_q_proj", "add_k_proj", "add_v_proj"],
    ),
    ("joint_blocks.{}.x_block.attn2.qkv", "transformer_blocks.{}.attn2", &["to_q", "to_k", "to_v"]),
];

/// Layers of a FLUX.2 transformer that are only renamed: the original name and diffusers'.
const FLUX2: [(&str, &str); 24] = [
    ("img_in", "x_embedder"),
    ("txt_in", "context_embedder"),
    ("time_in.in_layer", "time_guidance_embed.timestep_embedder.linear_1"),
    ("time_in.out_layer", "time_guidance_embed.timestep_embedder.linear_2"),
    ("guidance_in.in_layer", "time_guidance_embed.guidance_embedder.linear_1"),
    ("guidance_in.out_layer", "time_guidance_embed.guidance_embedder.linear_2"),
    ("double_stream_modulation_img.lin", "double_stream_modulation_img.linear"),
    ("double_stream_modulation_txt.lin", "double_stream_modulation_txt.linear"),
    ("single_stream_modulation.lin", "single_stream_modulation.linear"),
    ("final_layer.linear", "proj_out"),
    ("double_blocks.{}.img_attn.norm.query_norm", "transformer_blocks.{}.attn.norm_q"),
    ("double_blocks.{}.img_attn.norm.key_norm", "transformer_blocks.{}.attn.norm_k"),
    ("double_blocks.{}.txt_attn.norm.query_norm", "transformer_blocks.{}.attn.norm_added_q"),
    ("double_blocks.{}.txt_attn.norm.key_norm", "transformer_blocks.{}.attn.norm_added_k"),
    ("double_blocks.{}.img_attn.proj", "transformer_blocks.{}.attn.to_out.0"),
    ("double_blocks.{}.txt_attn.proj", "transformer_blocks.{}.attn.to_add_out"),
    ("double_blocks.{}.img_mlp.0", "transformer_blocks.{}.ff.linear_in"),
    ("double_blocks.{}.img_mlp.2", "transformer_blocks.{}.ff.linear_out"),
    ("double_blocks.{}.txt_mlp.0", "transformer_blocks.{}.ff_context.linear_in"),
    ("double_blocks.{}.txt_mlp.2", "transformer_blocks.{}.ff_context.linear_out"),
    ("single_blocks.{}.linear1", "single_transformer_blocks.{}.attn.to_qkv_mlp_proj"),
    ("single_blocks.{}.linear2", "single_transformer_blocks.{}.attn.to_out"),
    ("single_blocks.{}.norm.query_norm", "single_transformer_blocks.{}.attn.norm_q"),
    ("single_blocks.{}.norm.key_norm", "single_transformer_blocks.{}.attn.norm_k"),
];

/// A FLUX.1 transformer under its original names.
pub fn flux(diffusers: &Tensors) -> Result<Tensors> {
    of_two_streams(diffusers, &FLUX, &FLUX_JOINED)
}

/// A Chroma transformer under its original names.
pub fn chroma(diffusers: &Tensors) -> Result<Tensors> {
    let mut original = flux(diffusers)?;
    for (name, tensor) in diffusers {
        if let Some(layer) = name.strip_prefix("distilled_guidance_layer") {
            let layer = layer.replace("linear_1", "in_layer").replace("linear_2", "out_layer");
            let is_norm = layer.starts_with(".norms");
            let layer = if is_norm { layer.replace("weight", "scale") } else { layer };
            original.insert(format!("distilled_guidance_layer{layer}"), tensor.clone());
        }
    }
    Ok(original)
}

/// A FLUX.2 transformer under its original names.
pub fn flux2(diffusers: &Tensors) -> Result<Tensors> {
    of_two_streams(diffusers, &FLUX2, &FLUX_JOINED[..2])
}

/// A LongCat-Image transformer under the names of ComfyUI's files: those of FLUX.1, but for norms, whose weights are called so.
pub fn longcat(diffusers: &Tensors) -> Result<Tensors> {
    let of_flux = |(name, tensor): (&String, &Tensor)| {
        (name.replace("time_embed.", "time_text_embed."), tensor.clone())
    };
    let original = flux(&diffusers.iter().map(of_flux).collect())?;
    let named = |(name, tensor): (String, Tensor)| (name.replace("_norm.scale", "_norm.weight"), tensor);
    Ok(original.into_iter().map(named).collect())
}

/// A Stable Diffusion 3 transformer under its original names. The text stream of the last block also has its
/// shift before its scale.
pub fn sd3(diffusers: &Tensors) -> Result<Tensors> {
    let mut original = of_two_streams(diffusers, &SD3, &SD3_JOINED)?;
    original.insert("pos_embed".to_owned(), diffusers["pos_embed.pos_embed"].clone());
    let number = |name: &String| name.strip_prefix("joint_blocks.")?.split('.').next()?.parse().ok();
    let last: usize = original.keys().filter_map(number).max().unwrap_or_default();
    for parameter in ["weight", "bias"] {
        let name = format!("joint_blocks.{last}.context_block.adaLN_modulation.1.{parameter}");
        let swapped = with_halves_swapped(&original[&name])?;
        original.insert(name, swapped);
    }
    Ok(original)
}

/// A ControlNet for FLUX.1 under XLabs' names.
pub fn xlabs_control_net(diffusers: &Tensors) -> Result<Tensors> {
    let mut original = flux(diffusers)?;
    for (name, tensor) in diffusers {
        let parts: Vec<&str> = name.split('.').collect();
        let renamed = match parts[..] {
            ["controlnet_blocks", ..] => Some(name.clone()),
            ["controlnet_x_embedder", kind] => Some(format!("pos_embed_input.{kind}")),
            ["input_hint_block", ref layer @ ..] => map_embedder(layer),
            _ => None,
        };
        if let Some(renamed) = renamed {
            original.insert(renamed, tensor.clone());
        }
    }
    Ok(original)
}

/// A ControlNet for Stable Diffusion 3.5 under Stability's names: diffusers' but for the layers of blocks.
pub fn stability_control_net(diffusers: &Tensors) -> Result<Tensors> {
    let layer = |(name, tensor): (String, Tensor)| {
        let layer = name.strip_prefix("joint_blocks.")?.replacen("x_block.", "", 1);
        Some((format!("transformer_blocks.{layer}"), tensor))
    };
    let mut original: Tensors =
        of_two_streams(diffusers, &SD3, &SD3_JOINED)?.into_iter().filter_map(layer).collect();
    let others = diffusers.iter().filter(|(name, _)| !name.starts_with("transformer_blocks."));
    original.extend(others.map(|(name, tensor)| (name.clone(), tensor.clone())));
    Ok(original)
}

/// A two-stream transformer under its original names: projections of the same input are one matrix, and the
/// last layer has its shift before its scale.
fn of_two_streams(diffusers: &Tensors, renamed: &[(&str, &str)], joined: &[Joined]) -> Result<Tensors> {
    let mut original = Tensors::new();
    for number in 0..diffusers.len() {
        let of_block = |name: &str| name.replace("{}", &number.to_string());
        for parameter in ["weight", "bias"] {
            for (theirs, ours) in renamed {
                if let Some(tensor) = diffusers.get(&format!("{}.{parameter}", of_block(ours))) {
                    let parameter = if theirs.ends_with("_norm") { "scale" } else { parameter };
                    original.insert(format!("{}.{parameter}", of_block(theirs)), tensor.clone());
                }
            }
            for (theirs, ours, parts) in joined {
                let part = |part: &&str| diffusers.get(&format!("{}.{part}.{parameter}", of_block(ours)));
                let parts: Option<Vec<&Tensor>> = parts.iter().map(part).collect();
                if let Some(parts) = parts {
                    original.insert(format!("{}.{parameter}", of_block(theirs)), Tensor::cat(&parts, 0)?);
                }
            }
        }
    }
    for parameter in ["weight", "bias"] {
        if let Some(tensor) = diffusers.get(&format!("norm_out.linear.{parameter}")) {
            let swapped = with_halves_swapped(tensor)?;
            original.insert(format!("final_layer.adaLN_modulation.1.{parameter}"), swapped);
        }
    }
    Ok(original)
}

fn with_halves_swapped(tensor: &Tensor) -> Result<Tensor> {
    let halves = tensor.chunk(2, 0)?;
    Tensor::cat(&[&halves[1], &halves[0]], 0)
}
