//! Tensor names in the original authors' files, which ComfyUI also uses.

use std::collections::BTreeMap;

use candle_core::{Result, Tensor};

/// Tensors sorted by name.
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

/// The layers of a Mistral encoder of FLUX.2 that are read, as ComfyUI's files have them.
pub fn mistral(published: Tensors) -> Tensors {
    const PREFIX: &str = "language_model.model.";
    let number = |name: &str| name.strip_prefix("layers.")?.split_once('.')?.0.parse::<usize>().ok();
    let own = published.into_iter().filter_map(|(name, tensor)| {
        let name = name.strip_prefix(PREFIX)?.to_owned();
        (name != "norm.weight").then_some((name, tensor))
    });
    let own: Tensors = own.collect();
    let layers = own.keys().filter_map(|name| number(name)).max().map_or(0, |last| last + 1);
    let is_read = |(name, _): &(String, Tensor)| number(name).is_none_or(|number| number < layers * 3 / 4);
    own.into_iter().filter(is_read).map(|(name, tensor)| (format!("model.{name}"), tensor)).collect()
}

/// The language model of Ministral 3, as ComfyUI's files have it.
pub fn ministral(published: Tensors) -> Tensors {
    let own = published.into_iter();
    own.filter_map(|(name, tensor)| {
        Some((format!("model.{}", name.strip_prefix("language_model.model.")?), tensor))
    })
    .collect()
}

/// Queries or keys with heads of this width as llama.cpp stores them: the two halves of each head alternate.
pub fn alternating(tensor: &Tensor, head: usize) -> Result<Tensor> {
    let (rows, columns) = tensor.dims2()?;
    let halves = tensor.reshape((rows / head, 2, head / 2, columns))?;
    halves.transpose(1, 2)?.contiguous()?.reshape((rows, columns))
}

/// A FLUX.2 transformer under its original names.
pub fn flux2(diffusers: &Tensors) -> Result<Tensors> {
    of_two_streams(diffusers, &FLUX2, &FLUX_JOINED[..2])
}

/// FLUX.2's autoencoder under its original names: the convolutions around the latents are inside.
pub fn flux2_autoencoder(diffusers: &Tensors) -> Result<Tensors> {
    let inside = |name: String| match name.split('.').next() {
        Some("quant_conv") => format!("encoder.{name}"),
        Some("post_quant_conv") => format!("decoder.{name}"),
        _ => name,
    };
    Ok(autoencoder(diffusers)?.into_iter().map(|(name, tensor)| (inside(name), tensor)).collect())
}

/// A FLUX.1 transformer under its original names.
pub fn flux(diffusers: &Tensors) -> Result<Tensors> {
    of_two_streams(diffusers, &FLUX, &FLUX_JOINED)
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

/// Modules of a UNet that are not numbered: the original name and diffusers'.
const UNET: [(&str, &str); 10] = [
    ("input_blocks.0.0", "conv_in"),
    ("time_embed.0", "time_embedding.linear_1"),
    ("time_embed.2", "time_embedding.linear_2"),
    ("label_emb.0.0", "add_embedding.linear_1"),
    ("label_emb.0.2", "add_embedding.linear_2"),
    ("middle_block.0", "mid_block.resnets.0"),
    ("middle_block.1", "mid_block.attentions.0"),
    ("middle_block.2", "mid_block.resnets.1"),
    ("out.0", "conv_norm_out"),
    ("out.2", "conv_out"),
];

/// Layers of a residual block of a UNet: the original name and diffusers'.
const RESNET: [(&str, &str); 6] = [
    ("in_layers.0", "norm1"),
    ("in_layers.2", "conv1"),
    ("emb_layers.1", "time_emb_proj"),
    ("out_layers.0", "norm2"),
    ("out_layers.3", "conv2"),
    ("skip_connection", "conv_shortcut"),
];

/// A UNet under its original names. A level in diffusers is a sequence of numbered blocks there, each with a
/// residual block, and optionally a spatial transformer and an upsampler.
pub fn unet(diffusers: &Tensors) -> Tensors {
    let has = |module: &str| diffusers.keys().any(|name| name.starts_with(&format!("{module}.")));
    let mut modules: Vec<(String, String)> =
        UNET.iter().map(|(original, own)| ((*original).to_owned(), (*own).to_owned())).collect();
    for (stack, side, first) in [("input_blocks", "down_blocks", 1), ("output_blocks", "up_blocks", 0)] {
        let mut number = first;
        for level in (0..).map(|level| format!("{side}.{level}")).take_while(|level| has(level)) {
            let mut place = 0;
            for layer in (0..).take_while(|layer| has(&format!("{level}.resnets.{layer}"))) {
                for (index, kind) in ["resnets", "attentions"].iter().enumerate() {
                    let own = format!("{level}.{kind}.{layer}");
                    if has(&own) {
                        modules.push((format!("{stack}.{number}.{index}"), own));
                        place = index + 1;
                    }
                }
                number += 1;
            }
            if has(&format!("{level}.downsamplers")) {
                modules.push((format!("{stack}.{number}.0.op"), format!("{level}.downsamplers.0.conv")));
                number += 1;
            }
            let upsampler = format!("{stack}.{}.{place}.conv", number - 1);
            modules.push((upsampler, format!("{level}.upsamplers.0.conv")));
        }
    }
    let mut original = Tensors::new();
    for (name, tensor) in diffusers {
        for (theirs, own) in &modules {
            let Some(rest) = name.strip_prefix(&format!("{own}.")) else { continue };
            let layer = RESNET.iter().filter(|_| own.contains("resnets"));
            let renamed = layer.fold(rest.to_owned(), |rest, (theirs, own)| rest.replace(own, theirs));
            original.insert(format!("{theirs}.{renamed}"), tensor.clone());
        }
    }
    original
}

/// The names of a ControlNet for a UNet in its authors' files.
pub fn control_net(diffusers: &Tensors) -> Tensors {
    let mut original = unet(diffusers);
    for (name, tensor) in diffusers {
        let parts: Vec<&str> = name.split('.').collect();
        let renamed = match parts[..] {
            ["controlnet_mid_block", kind] => format!("middle_block_out.0.{kind}"),
            ["controlnet_down_blocks", number, kind] => format!("zero_convs.{number}.0.{kind}"),
            ["controlnet_cond_embedding", "conv_in", kind] => format!("input_hint_block.0.{kind}"),
            ["controlnet_cond_embedding", "blocks", number, kind] => {
                format!("input_hint_block.{}.{kind}", 2 * number.parse::<usize>().unwrap_or(0) + 2)
            }
            ["controlnet_cond_embedding", "conv_out", kind] => format!("input_hint_block.14.{kind}"),
            _ => continue,
        };
        original.insert(renamed, tensor.clone());
    }
    original
}

/// Layers of a CLIP text encoder: OpenCLIP's name and that of published folders.
const OPEN_CLIP: [(&str, &str); 10] = [
    ("transformer.resblocks.", "text_model.encoder.layers."),
    (".ln_1.", ".layer_norm1."),
    (".ln_2.", ".layer_norm2."),
    (".attn.out_proj.", ".self_attn.out_proj."),
    (".mlp.c_fc.", ".mlp.fc1."),
    (".mlp.c_proj.", ".mlp.fc2."),
    ("ln_final.", "text_model.final_layer_norm."),
    ("token_embedding.weight", "text_model.embeddings.token_embedding.weight"),
    ("positional_embedding", "text_model.embeddings.position_embedding.weight"),
    ("text_projection", "text_projection.weight"),
];

/// A CLIP text encoder under OpenCLIP's names: query, key and value are one matrix, and the projection is
/// transposed.
pub fn open_clip(published: &Tensors) -> Result<Tensors> {
    let mut original = Tensors::new();
    for (name, tensor) in published {
        let renamed = OPEN_CLIP.iter().fold(name.clone(), |name, (theirs, own)| name.replace(own, theirs));
        if let Some((block, parameter)) = renamed.split_once(".self_attn.q_proj.") {
            let parts: Vec<&Tensor> = ["q", "k", "v"]
                .iter()
                .map(|letter| &published[&name.replace("q_proj", &format!("{letter}_proj"))])
                .collect();
            original.insert(format!("{block}.attn.in_proj_{parameter}"), Tensor::cat(&parts, 0)?);
        } else if renamed == "text_projection" {
            original.insert(renamed, tensor.t()?.contiguous()?);
        } else if !renamed.contains(".self_attn.") {
            original.insert(renamed, tensor.clone());
        }
    }
    Ok(original)
}

/// An autoencoder under its original names: the decoder's levels are numbered from full resolution, and the
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

/// Layers of Wan's autoencoder: the original name and diffusers'.
const CAUSAL: [(&str, &str); 15] = [
    ("decoder.middle.0", "decoder.mid_block.resnets.0"),
    ("decoder.middle.1", "decoder.mid_block.attentions.0"),
    ("decoder.middle.2", "decoder.mid_block.resnets.1"),
    ("encoder.middle.0", "encoder.mid_block.resnets.0"),
    ("encoder.middle.1", "encoder.mid_block.attentions.0"),
    ("encoder.middle.2", "encoder.mid_block.resnets.1"),
    ("coder.conv1.", "coder.conv_in."),
    ("coder.head.0.", "coder.norm_out."),
    ("coder.head.2.", "coder.conv_out."),
    (".residual.0.", ".norm1."),
    (".residual.2.", ".conv1."),
    (".residual.3.", ".norm2."),
    (".residual.6.", ".conv2."),
    (".shortcut.", ".conv_shortcut."),
    ("encoder.downsamples.", "encoder.down_blocks."),
];

/// Wan's autoencoder under its original names: the decoder's blocks are numbered without levels.
pub fn causal_autoencoder(diffusers: &Tensors) -> Tensors {
    let has = |name: &str| diffusers.keys().any(|own| own.starts_with(name));
    let mut numbered: Vec<(String, String)> = Vec::new();
    for level in (0..).map(|level| format!("decoder.up_blocks.{level}.")).take_while(|level| has(level)) {
        let resnets = (0..).map(|layer| format!("{level}resnets.{layer}.")).take_while(|layer| has(layer));
        for own in resnets.chain([format!("{level}upsamplers.0.")]) {
            numbered.push((format!("decoder.upsamples.{}.", numbered.len()), own));
        }
    }
    let renamed = |name: &String| match name.split_once("quant_conv.") {
        Some(("post_", parameter)) => format!("conv2.{parameter}"),
        Some((_, parameter)) => format!("conv1.{parameter}"),
        None => {
            let name = numbered.iter().fold(name.clone(), |name, (theirs, own)| name.replace(own, theirs));
            let is_resnet =
                [".resnets.", "down_blocks.", "upsamples."].iter().any(|part| name.contains(part));
            let renamed = CAUSAL.iter().filter(|(theirs, _)| is_resnet || !theirs.starts_with(".residual"));
            renamed.fold(name, |name, (theirs, own)| name.replace(own, theirs))
        }
    };
    diffusers.iter().map(|(name, tensor)| (renamed(name), tensor.clone())).collect()
}

/// The autoencoder of Qwen-Image 2.1 as in ComfyUI's files: under the names of Wan 2.2's, with kernels that span one frame.
pub fn flat_autoencoder(diffusers: &Tensors) -> Result<Tensors> {
    let resnets = |side: &str| {
        let name = |layer: usize| format!("{side}.resnets.{layer}.conv1.weight");
        (0..).take_while(|layer| diffusers.contains_key(&name(*layer))).count()
    };
    let [down, up] = [resnets("encoder.down_blocks.0"), resnets("decoder.up_blocks.0")];
    let mut nested = Vec::new();
    for level in 0..diffusers.len() {
        let (encoder, decoder) = (
            format!("encoder.downsamples.{level}.downsamples."),
            format!("decoder.upsamples.{level}.upsamples."),
        );
        nested.push((format!("{encoder}{down}."), format!("encoder.down_blocks.{level}.downsampler.")));
        nested.push((encoder, format!("encoder.down_blocks.{level}.resnets.")));
        nested.push((format!("{decoder}{up}."), format!("decoder.up_blocks.{level}.upsampler.")));
        nested.push((decoder, format!("decoder.up_blocks.{level}.resnets.")));
    }
    let renamed = |name: &str| match name.split_once("quant_conv.") {
        Some(("post_", parameter)) => format!("conv2.{parameter}"),
        Some((_, parameter)) => format!("conv1.{parameter}"),
        None => {
            let is_resnet = name.contains(".resnets.");
            let levels = nested.iter().fold(name.to_owned(), |name, (theirs, own)| name.replace(own, theirs));
            let parts = CAUSAL.iter().filter(|(theirs, _)| is_resnet || !theirs.starts_with(".residual"));
            parts.fold(levels, |name, (theirs, own)| name.replace(own, theirs))
        }
    };
    let kernel = |name: &str, tensor: &Tensor| {
        // Attention and resampling have kernels of images there, too.
        let is_of_images = name.contains(".attentions.") || name.contains(".resample.");
        if tensor.rank() == 4 && name.ends_with(".weight") && !is_of_images {
            tensor.unsqueeze(2)
        } else {
            Ok(tensor.clone())
        }
    };
    diffusers.iter().map(|(name, tensor)| Ok((renamed(name), kernel(name, tensor)?))).collect()
}

/// Layers of LTX-Video's transformer: the original name and diffusers'.
const LTX: [(&str, &str); 4] = [
    ("patchify_proj.", "proj_in."),
    ("adaln_single.", "time_embed."),
    (".q_norm.", ".norm_q."),
    (".k_norm.", ".norm_k."),
];

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

/// LTX-Video's transformer under its original names.
pub fn ltx(diffusers: &Tensors) -> Tensors {
    let renamed =
        |name: &String| LTX.iter().fold(name.clone(), |name, (theirs, own)| name.replace(own, theirs));
    diffusers.iter().map(|(name, tensor)| (renamed(name), tensor.clone())).collect()
}

/// Blocks of LTX-Video's autoencoder up to 0.9.0: the original name and diffusers', as in its conversion script.
const LTX_090: [(&str, &str); 20] = [
    ("up_blocks.0.", "decoder.mid_block."),
    ("up_blocks.1.", "up_blocks.0."),
    ("up_blocks.2.", "up_blocks.1.upsamplers.0."),
    ("up_blocks.3.", "up_blocks.1."),
    ("up_blocks.4.", "up_blocks.2.conv_in."),
    ("up_blocks.5.", "up_blocks.2.upsamplers.0."),
    ("up_blocks.6.", "up_blocks.2."),
    ("up_blocks.7.", "up_blocks.3.conv_in."),
    ("up_blocks.8.", "up_blocks.3.upsamplers.0."),
    ("up_blocks.9.", "up_blocks.3."),
    ("down_blocks.1.", "down_blocks.0.downsamplers.0."),
    ("down_blocks.2.", "down_blocks.0.conv_out."),
    ("down_blocks.0.", "down_blocks.0."),
    ("down_blocks.4.", "down_blocks.1.downsamplers.0."),
    ("down_blocks.5.", "down_blocks.1.conv_out."),
    ("down_blocks.3.", "down_blocks.1."),
    ("down_blocks.7.", "down_blocks.2.downsamplers.0."),
    ("down_blocks.6.", "down_blocks.2."),
    ("down_blocks.8.", "down_blocks.3."),
    ("down_blocks.9.", "encoder.mid_block."),
];

/// The same from 0.9.5 on.
const LTX_095: [(&str, &str); 18] = [
    ("up_blocks.0.", "decoder.mid_block."),
    ("up_blocks.1.", "up_blocks.0.upsamplers.0."),
    ("up_blocks.2.", "up_blocks.0."),
    ("up_blocks.3.", "up_blocks.1.upsamplers.0."),
    ("up_blocks.4.", "up_blocks.1."),
    ("up_blocks.5.", "up_blocks.2.upsamplers.0."),
    ("up_blocks.6.", "up_blocks.2."),
    ("up_blocks.7.", "up_blocks.3.upsamplers.0."),
    ("up_blocks.8.", "up_blocks.3."),
    ("down_blocks.1.", "down_blocks.0.downsamplers.0."),
    ("down_blocks.0.", "down_blocks.0."),
    ("down_blocks.3.", "down_blocks.1.downsamplers.0."),
    ("down_blocks.2.", "down_blocks.1."),
    ("down_blocks.5.", "down_blocks.2.downsamplers.0."),
    ("down_blocks.4.", "down_blocks.2."),
    ("down_blocks.7.", "down_blocks.3.downsamplers.0."),
    ("down_blocks.6.", "down_blocks.3."),
    ("down_blocks.8.", "encoder.mid_block."),
];

/// Other parts of it, outside of the blocks and inside.
const LTX_LAYERS: [(&str, &str); 7] = [
    ("decoder.last_time_embedder.", "decoder.time_embedder."),
    ("decoder.last_scale_shift_table", "decoder.scale_shift_table"),
    ("per_channel_statistics.mean-of-means", "latents_mean"),
    ("per_channel_statistics.std-of-means", "latents_std"),
    (".res_blocks.", ".resnets."),
    (".conv_shortcut.", ".conv_shortcut.conv."),
    (".norm3.norm.", ".norm3."),
];

/// LTX-Video's autoencoder under its original names: blocks are numbered without levels.
pub fn ltx_autoencoder(diffusers: &Tensors) -> Tensors {
    let is_late = diffusers.contains_key("encoder.down_blocks.0.downsamplers.0.conv.conv.weight");
    let blocks: &[(&str, &str)] = if is_late { &LTX_095 } else { &LTX_090 };
    let renamed = |name: &String| {
        let block = blocks.iter().filter(|(_, own)| name.contains(own)).max_by_key(|(_, own)| own.len());
        let name = block.map_or_else(
            || name.clone(),
            |(theirs, own)| {
                let side = own.split_once("mid_block").map_or("", |(side, _)| side);
                name.replace(own, &format!("{side}{theirs}"))
            },
        );
        LTX_LAYERS.iter().fold(name, |name, (theirs, own)| name.replace(own, theirs))
    };
    diffusers.iter().map(|(name, tensor)| (renamed(name), tensor.clone())).collect()
}

fn up_block(level: usize) -> String {
    format!("decoder.up_blocks.{level}.resnets.0.conv1.weight")
}

/// The same tensors with `prefix` before every name.
pub fn prefixed(prefix: &str, tensors: Tensors) -> Tensors {
    tensors.into_iter().map(|(name, tensor)| (format!("{prefix}{name}"), tensor)).collect()
}

/// The decoder of a tiny autoencoder as in its author's files: alone, with numbers that count the function
/// before the first layer.
pub fn tiny_decoder(diffusers: &Tensors) -> Tensors {
    let layers = diffusers.iter().filter_map(|(name, tensor)| {
        let (number, rest) = name.strip_prefix("decoder.layers.")?.split_once('.')?;
        Some((format!("{}.{rest}", number.parse::<usize>().ok()? + 1), tensor.clone()))
    });
    layers.collect()
}
