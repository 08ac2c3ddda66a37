//! Infers the shape of a network from its tensors.

use super::{Addition, Level, UnetConfig};
use crate::checkpoint::TensorTable;

impl UnetConfig {
    /// Infers the shape from tensors with their original or diffusers names, for files without a
    /// configuration. All published networks have 32 groups. Those that project tokens with matrices have
    /// heads of width 64; those that project pixels have 8 heads.
    pub fn from_shapes(tensors: &TensorTable) -> Option<Self> {
        let names = Names::find(tensors)?;
        let shape = |name: String| tensors.get(&name).map(|tensor| tensor.shape().to_vec());
        let depth = |place: &Place| (0..).take_while(|index| place.block(*index, tensors)).count();
        let attentions = || names.down.iter().chain(&names.up).flatten().map(|place| &place.attention);
        let first = attentions().find(|name| tensors.contains_key(&format!("{name}.proj_in.weight")));
        let has_wide_heads = match first {
            Some(name) => shape(format!("{name}.proj_in.weight"))?.len() == 2,
            None => true,
        };
        let width_of =
            |place: &Place| shape(format!("{}.{}.weight", place.resnet, names.conv))?.first().copied();
        let mut levels = Vec::new();
        for (level, places) in names.down.iter().enumerate() {
            let width = width_of(places.first()?)?;
            levels.push(Level {
                width,
                heads: if has_wide_heads { (width / 64).max(1) } else { 8 },
                down: places.iter().map(depth).collect(),
                up: names.up.iter().rev().nth(level)?.iter().map(depth).collect(),
            });
        }
        let addition = shape(format!("{}.weight", names.addition));
        let cross = first.and_then(|name| shape(format!("{name}.transformer_blocks.0.attn2.to_k.weight")));
        Some(Self {
            in_channels: *shape(format!("{}.weight", names.input))?.get(1)?,
            out_channels: *shape(format!("{}.weight", names.output))?.first()?,
            middle: tensors
                .contains_key(&format!("{}.{}.weight", names.middle.resnet, names.conv))
                .then(|| depth(&names.middle)),
            cross_attention_dim: cross.and_then(|shape| shape.get(1).copied()).unwrap_or(0),
            addition: addition.and_then(|shape| Some(Addition { time_dim: 256, inputs: *shape.get(1)? })),
            levels,
            ..Self::default()
        })
    }
}

/// A residual block and the attention after it.
struct Place {
    resnet: String,
    attention: String,
}

impl Place {
    /// Whether the attention has a transformer block with this index.
    fn block(&self, index: usize, tensors: &TensorTable) -> bool {
        tensors.contains_key(&format!("{}.transformer_blocks.{index}.norm1.weight", self.attention))
    }
}

/// Names of modules in a file.
struct Names {
    input: &'static str,
    output: &'static str,
    addition: &'static str,
    conv: &'static str,
    /// By level, from the full resolution.
    down: Vec<Vec<Place>>,
    middle: Place,
    /// By level, from the smallest resolution.
    up: Vec<Vec<Place>>,
}

impl Names {
    fn find(tensors: &TensorTable) -> Option<Self> {
        if tensors.contains_key("input_blocks.0.0.weight") {
            Self::original(tensors)
        } else {
            Self::diffusers(tensors)
        }
    }

    fn original(tensors: &TensorTable) -> Option<Self> {
        let place = |stack: &str, number: usize| Place {
            resnet: format!("{stack}.{number}.0"),
            attention: format!("{stack}.{number}.1"),
        };
        let mut down = vec![Vec::new()];
        for number in 1.. {
            let here = place("input_blocks", number);
            if tensors.contains_key(&format!("{}.op.weight", here.resnet)) {
                down.push(Vec::new());
            } else if tensors.contains_key(&format!("{}.in_layers.2.weight", here.resnet)) {
                down.last_mut()?.push(here);
            } else {
                break;
            }
        }
        let mut number = 0;
        let up = down.iter().rev().map(|level| {
            let first = number;
            number += level.len() + 1;
            (first..number).map(|number| place("output_blocks", number)).collect()
        });
        Some(Self {
            input: "input_blocks.0.0",
            output: "out.2",
            addition: "label_emb.0.0",
            conv: "in_layers.2",
            up: up.collect(),
            down,
            middle: Place { resnet: "middle_block.0".to_owned(), attention: "middle_block.1".to_owned() },
        })
    }

    fn diffusers(tensors: &TensorTable) -> Option<Self> {
        let place = |block: &str, layer: usize| Place {
            resnet: format!("{block}.resnets.{layer}"),
            attention: format!("{block}.attentions.{layer}"),
        };
        let there = |place: &Place| tensors.contains_key(&format!("{}.conv1.weight", place.resnet));
        let stack = |side: &str| -> Vec<Vec<Place>> {
            let level = |level: usize| {
                let layer = |layer| place(&format!("{side}.{level}"), layer);
                (0..).map(layer).take_while(there).collect::<Vec<_>>()
            };
            (0..).map(level).take_while(|level| !level.is_empty()).collect()
        };
        Some(Self {
            input: "conv_in",
            output: "conv_out",
            addition: "add_embedding.linear_1",
            conv: "conv1",
            down: stack("down_blocks"),
            middle: place("mid_block", 0),
            up: stack("up_blocks"),
        })
    }
}
