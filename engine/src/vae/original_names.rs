//! Tensor names of the latent diffusion authors (CompVis), used by ComfyUI and FLUX.1's `ae.safetensors`.

use crate::checkpoint::StoredName;

/// The original name of a tensor of an autoencoder with this many levels. The original decoder numbers its
/// levels from full resolution, diffusers from the smallest. FLUX.2's has the convolutions around the latents inside.
pub fn original_name(name: &str, levels: usize) -> StoredName {
    for (outside, inside) in [("quant_conv.", "encoder."), ("post_quant_conv.", "decoder.")] {
        if name.starts_with(outside) {
            return StoredName::whole(format!("{inside}{name}"));
        }
    }
    let mut words: Vec<String> = name.split('.').map(str::to_owned).collect();
    for index in 0..words.len() {
        let number = |words: &[String]| words.get(index + 1).and_then(|word| word.parse::<usize>().ok());
        match (words[index].as_str(), number(&words)) {
            ("down_blocks", Some(_)) => "down".clone_into(&mut words[index]),
            ("up_blocks", Some(level)) => {
                "up".clone_into(&mut words[index]);
                words[index + 1] = (levels - 1 - level).to_string();
            }
            ("mid_block", _) => "mid".clone_into(&mut words[index]),
            ("resnets", Some(layer)) if index > 0 && words[index - 1] == "mid" => {
                words[index] = format!("block_{}", layer + 1);
                words[index + 1].clear();
            }
            ("resnets", Some(_)) => "block".clone_into(&mut words[index]),
            ("attentions", Some(_)) => {
                "attn_1".clone_into(&mut words[index]);
                words[index + 1].clear();
            }
            ("downsamplers", Some(_)) => {
                "downsample".clone_into(&mut words[index]);
                words[index + 1].clear();
            }
            ("upsamplers", Some(_)) => {
                "upsample".clone_into(&mut words[index]);
                words[index + 1].clear();
            }
            ("to_out", Some(_)) => {
                "proj_out".clone_into(&mut words[index]);
                words[index + 1].clear();
            }
            ("conv_shortcut", _) => "nin_shortcut".clone_into(&mut words[index]),
            ("conv_norm_out", _) => "norm_out".clone_into(&mut words[index]),
            ("group_norm", _) => "norm".clone_into(&mut words[index]),
            ("to_q", _) => "q".clone_into(&mut words[index]),
            ("to_k", _) => "k".clone_into(&mut words[index]),
            ("to_v", _) => "v".clone_into(&mut words[index]),
            _ => {}
        }
    }
    words.retain(|word| !word.is_empty());
    StoredName::whole(words.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_authors_own() {
        let cases = [
            ("decoder.up_blocks.0.resnets.2.conv1.weight", "decoder.up.3.block.2.conv1.weight"),
            ("decoder.up_blocks.3.resnets.0.conv_shortcut.bias", "decoder.up.0.block.0.nin_shortcut.bias"),
            ("decoder.up_blocks.1.upsamplers.0.conv.weight", "decoder.up.2.upsample.conv.weight"),
            ("encoder.down_blocks.1.downsamplers.0.conv.bias", "encoder.down.1.downsample.conv.bias"),
            ("encoder.mid_block.resnets.1.norm2.weight", "encoder.mid.block_2.norm2.weight"),
            ("encoder.mid_block.attentions.0.to_out.0.weight", "encoder.mid.attn_1.proj_out.weight"),
            ("encoder.mid_block.attentions.0.group_norm.bias", "encoder.mid.attn_1.norm.bias"),
            ("decoder.conv_norm_out.weight", "decoder.norm_out.weight"),
            ("quant_conv.weight", "encoder.quant_conv.weight"),
            ("post_quant_conv.bias", "decoder.post_quant_conv.bias"),
        ];
        for (ours, theirs) in cases {
            assert_eq!(original_name(ours, 4).name, theirs);
        }
    }
}
