//! The tensor names of the latent diffusion authors (CompVis) and Stability, as in single files and ComfyUI.

use super::{Kind, Node};
use crate::checkpoint::StoredName;

/// Modules by their diffusers names, with their original names.
#[derive(Debug, Clone)]
pub struct OriginalNames(Vec<(String, String)>);

const OTHER: [(&str, &str); 7] = [
    ("conv_in", "input_blocks.0.0"),
    ("time_embedding.linear_1", "time_embed.0"),
    ("time_embedding.linear_2", "time_embed.2"),
    ("add_embedding.linear_1", "label_emb.0.0"),
    ("add_embedding.linear_2", "label_emb.0.2"),
    ("conv_norm_out", "out.0"),
    ("conv_out", "out.2"),
];
const RESNET: [(&str, &str); 6] = [
    ("norm1", "in_layers.0"),
    ("conv1", "in_layers.2"),
    ("time_emb_proj", "emb_layers.1"),
    ("norm2", "out_layers.0"),
    ("conv2", "out_layers.3"),
    ("conv_shortcut", "skip_connection"),
];

impl OriginalNames {
    /// The names for a network. The original counts residual blocks and downsamplers together; what follows a
    /// residual block has its number.
    pub fn new(nodes: &[Node]) -> Self {
        let mut names: Vec<(String, String)> =
            OTHER.iter().map(|(own, original)| ((*own).to_owned(), (*original).to_owned())).collect();
        // Counters on the way down, in the middle, and on the way up.
        let (mut down, mut middle, mut up) = (0, 0, 0);
        let mut attends = false;
        for node in nodes {
            let side = node.name.split('_').next().unwrap_or_default();
            match node.kind {
                Kind::Resnet { .. } => {
                    let original = match side {
                        "down" => {
                            down += 1;
                            format!("input_blocks.{down}.0")
                        }
                        "mid" => {
                            middle += 2;
                            format!("middle_block.{}", middle - 2)
                        }
                        _ => {
                            up += 1;
                            format!("output_blocks.{}.0", up - 1)
                        }
                    };
                    for (own, theirs) in RESNET {
                        names.push((format!("{}.{own}", node.name), format!("{original}.{theirs}")));
                    }
                    attends = false;
                }
                Kind::Transformer { is_first, .. } => {
                    attends = true;
                    let attention = node.name.split_once(".transformer_blocks.").filter(|_| is_first);
                    let original = match side {
                        "down" => format!("input_blocks.{down}.1"),
                        "mid" => "middle_block.1".to_owned(),
                        _ => format!("output_blocks.{}.1", up - 1),
                    };
                    names.extend(attention.map(|(own, _)| (own.to_owned(), original)));
                }
                Kind::Down { .. } => {
                    down += 1;
                    names.push((format!("{}.conv", node.name), format!("input_blocks.{down}.0.op")));
                }
                Kind::Up { .. } => {
                    let place = if attends { 2 } else { 1 };
                    let original = format!("output_blocks.{}.{place}.conv", up - 1);
                    names.push((format!("{}.conv", node.name), original));
                }
                Kind::Tap { .. } => {
                    let original = match node.name.strip_prefix("controlnet_down_blocks.") {
                        Some(number) => format!("zero_convs.{number}.0"),
                        None => "middle_block_out.0".to_owned(),
                    };
                    names.push((node.name.clone(), original));
                }
                Kind::Input { .. } | Kind::Output { .. } => {}
            }
        }
        Self(names)
    }

    /// The original name of a tensor.
    pub fn of(&self, name: &str) -> StoredName {
        let renamed = self.0.iter().find_map(|(own, original)| {
            let rest = name.strip_prefix(own.as_str())?;
            rest.starts_with('.').then(|| format!("{original}{rest}"))
        });
        StoredName::whole(renamed.unwrap_or_else(|| name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{UnetConfig, nodes},
        *,
    };

    #[test]
    fn names_become_the_authors_own() {
        let names = OriginalNames::new(&nodes(&UnetConfig::default()));
        for (own, original) in [
            ("conv_in.weight", "input_blocks.0.0.weight"),
            ("time_embedding.linear_2.bias", "time_embed.2.bias"),
            ("down_blocks.0.resnets.1.conv1.weight", "input_blocks.2.0.in_layers.2.weight"),
            ("down_blocks.0.downsamplers.0.conv.weight", "input_blocks.3.0.op.weight"),
            ("down_blocks.1.resnets.0.conv_shortcut.bias", "input_blocks.4.0.skip_connection.bias"),
            (
                "down_blocks.2.attentions.1.transformer_blocks.0.attn2.to_k.weight",
                "input_blocks.8.1.transformer_blocks.0.attn2.to_k.weight",
            ),
            ("down_blocks.3.resnets.1.time_emb_proj.weight", "input_blocks.11.0.emb_layers.1.weight"),
            ("mid_block.attentions.0.proj_in.weight", "middle_block.1.proj_in.weight"),
            ("mid_block.resnets.1.norm2.weight", "middle_block.2.out_layers.0.weight"),
            ("up_blocks.0.resnets.2.conv2.bias", "output_blocks.2.0.out_layers.3.bias"),
            ("up_blocks.0.upsamplers.0.conv.weight", "output_blocks.2.1.conv.weight"),
            ("up_blocks.1.upsamplers.0.conv.weight", "output_blocks.5.2.conv.weight"),
            ("up_blocks.3.attentions.2.norm.weight", "output_blocks.11.1.norm.weight"),
            ("conv_norm_out.bias", "out.0.bias"),
            ("conv_out.weight", "out.2.weight"),
        ] {
            assert_eq!(names.of(own), StoredName::whole(original), "{own}");
        }
    }
}
