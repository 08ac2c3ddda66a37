//! The names of Wan's autoencoder in its authors' files, which ComfyUI also uses.

use crate::checkpoint::StoredName;

/// Layers of a residual block: diffusers' name and the original one.
const RESNET: [(&str, &str); 5] = [
    (".norm1.", ".residual.0."),
    (".conv1.", ".residual.2."),
    (".norm2.", ".residual.3."),
    (".conv2.", ".residual.6."),
    (".conv_shortcut.", ".shortcut."),
];

/// Everything else that is not numbered.
const OTHERS: [(&str, &str); 8] = [
    ("post_quant_conv.", "conv2."),
    ("quant_conv.", "conv1."),
    ("coder.conv_in.", "coder.conv1."),
    ("coder.norm_out.", "coder.head.0."),
    ("coder.conv_out.", "coder.head.2."),
    ("mid_block.resnets.0.", "middle.0."),
    ("mid_block.attentions.0.", "middle.1."),
    ("mid_block.resnets.1.", "middle.2."),
];

/// The original name of a tensor, in an autoencoder whose encoder has this many residual blocks per level, with or
/// without shortcuts around its levels. Without them, the residual blocks and the resampling of all levels are numbered
/// in one sequence.
pub fn original_name(name: &str, resnets: usize, has_shortcuts: bool) -> StoredName {
    let renamed = |name: &str, table: &[(&str, &str)]| {
        table.iter().fold(name.to_owned(), |name, (own, original)| name.replace(own, original))
    };
    // In levels with shortcuts, layers are numbered within their level.
    for (side, stack) in [("encoder.down_blocks.", "downsamples"), ("decoder.up_blocks.", "upsamples")] {
        let Some((level, rest)) = name.strip_prefix(side).and_then(|rest| rest.split_once('.')) else {
            continue;
        };
        let half = &side[..8];
        let blocks = if stack == "upsamples" { resnets + 1 } else { resnets };
        if let Some(rest) = rest.strip_prefix("downsampler.").or_else(|| rest.strip_prefix("upsampler.")) {
            return StoredName::whole(format!("{half}{stack}.{level}.{stack}.{blocks}.{rest}"));
        }
        if has_shortcuts && let Some(rest) = rest.strip_prefix("resnets.") {
            return StoredName::whole(renamed(&format!("{half}{stack}.{level}.{stack}.{rest}"), &RESNET));
        }
    }
    if let Some(rest) = name.strip_prefix("encoder.down_blocks.") {
        return StoredName::whole(renamed(&format!("encoder.downsamples.{rest}"), &RESNET));
    }
    let numbered = name.strip_prefix("decoder.up_blocks.").and_then(|rest| {
        let (level, rest) = rest.split_once('.')?;
        let (kind, rest) = rest.split_once('.')?;
        let (place, rest) = rest.split_once('.')?;
        let place = if kind == "upsamplers" { resnets + 1 } else { place.parse().ok()? };
        let number = level.parse::<usize>().ok()? * (resnets + 2) + place;
        Some(renamed(&format!("decoder.upsamples.{number}.{rest}"), &RESNET))
    });
    let in_the_middle = name.contains(".mid_block.resnets.");
    StoredName::whole(numbered.unwrap_or_else(|| {
        let name = renamed(name, &OTHERS);
        if in_the_middle { renamed(&name, &RESNET) } else { name }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        let cases = [
            ("quant_conv.weight", "conv1.weight"),
            ("post_quant_conv.bias", "conv2.bias"),
            ("encoder.conv_in.weight", "encoder.conv1.weight"),
            ("encoder.down_blocks.3.norm1.gamma", "encoder.downsamples.3.residual.0.gamma"),
            ("encoder.down_blocks.3.conv_shortcut.weight", "encoder.downsamples.3.shortcut.weight"),
            ("encoder.down_blocks.5.time_conv.bias", "encoder.downsamples.5.time_conv.bias"),
            ("encoder.down_blocks.2.resample.1.weight", "encoder.downsamples.2.resample.1.weight"),
            ("encoder.mid_block.resnets.1.conv2.weight", "encoder.middle.2.residual.6.weight"),
            ("decoder.mid_block.attentions.0.to_qkv.bias", "decoder.middle.1.to_qkv.bias"),
            ("decoder.conv_in.bias", "decoder.conv1.bias"),
            ("decoder.up_blocks.0.resnets.2.conv1.weight", "decoder.upsamples.2.residual.2.weight"),
            ("decoder.up_blocks.1.resnets.0.conv_shortcut.bias", "decoder.upsamples.4.shortcut.bias"),
            ("decoder.up_blocks.1.upsamplers.0.time_conv.weight", "decoder.upsamples.7.time_conv.weight"),
            ("decoder.up_blocks.3.resnets.2.norm2.gamma", "decoder.upsamples.14.residual.3.gamma"),
            ("decoder.norm_out.gamma", "decoder.head.0.gamma"),
            ("decoder.conv_out.weight", "decoder.head.2.weight"),
        ];
        for (ours, theirs) in cases {
            assert_eq!(original_name(ours, 2, false).name, theirs);
        }
        // Of Wan 2.2 5B.
        let cases = [
            (
                "encoder.down_blocks.1.resnets.0.conv1.weight",
                "encoder.downsamples.1.downsamples.0.residual.2.weight",
            ),
            (
                "encoder.down_blocks.1.resnets.0.conv_shortcut.bias",
                "encoder.downsamples.1.downsamples.0.shortcut.bias",
            ),
            (
                "encoder.down_blocks.1.downsampler.time_conv.bias",
                "encoder.downsamples.1.downsamples.2.time_conv.bias",
            ),
            ("decoder.up_blocks.0.resnets.2.norm2.gamma", "decoder.upsamples.0.upsamples.2.residual.3.gamma"),
            (
                "decoder.up_blocks.0.upsampler.resample.1.weight",
                "decoder.upsamples.0.upsamples.3.resample.1.weight",
            ),
            ("decoder.mid_block.resnets.0.conv1.weight", "decoder.middle.0.residual.2.weight"),
        ];
        for (ours, theirs) in cases {
            assert_eq!(original_name(ours, 2, true).name, theirs);
        }
    }
}
