//! Autoencoders.

use candle_core::{Result, Tensor};

use super::Tensors;

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

fn up_block(level: usize) -> String {
    format!("decoder.up_blocks.{level}.resnets.0.conv1.weight")
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

/// The decoder of a tiny autoencoder as in its author's files: alone, with numbers that count the function
/// before the first layer.
pub fn tiny_decoder(diffusers: &Tensors) -> Tensors {
    let layers = diffusers.iter().filter_map(|(name, tensor)| {
        let (number, rest) = name.strip_prefix("decoder.layers.")?.split_once('.')?;
        Some((format!("{}.{rest}", number.parse::<usize>().ok()? + 1), tensor.clone()))
    });
    layers.collect()
}
