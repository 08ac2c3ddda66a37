//! UNets and their ControlNets.

use super::Tensors;

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

/// The name in authors' files of a tensor of the network that embeds a map, from the parts of its name after that network's.
pub(super) fn map_embedder(parts: &[&str]) -> Option<String> {
    let (number, kind) = match *parts {
        ["conv_in", kind] => (0, kind),
        ["blocks", number, kind] => (2 * number.parse::<usize>().ok()? + 2, kind),
        ["conv_out", kind] => (14, kind),
        _ => return None,
    };
    Some(format!("input_hint_block.{number}.{kind}"))
}

/// The names of a ControlNet for a UNet in its authors' files.
pub fn control_net(diffusers: &Tensors) -> Tensors {
    let mut original = unet(diffusers);
    for (name, tensor) in diffusers {
        let parts: Vec<&str> = name.split('.').collect();
        let renamed = match parts[..] {
            ["controlnet_cond_embedding", ref layer @ ..] => match map_embedder(layer) {
                Some(renamed) => renamed,
                None => continue,
            },
            ["controlnet_mid_block", kind] => format!("middle_block_out.0.{kind}"),
            ["controlnet_down_blocks", number, kind] => format!("zero_convs.{number}.0.{kind}"),
            _ => continue,
        };
        original.insert(renamed, tensor.clone());
    }
    original
}
