//! The names of a Depth Anything network's tensors, in files of its authors and of transformers.

use crate::checkpoint::{BlockSpec, StoredName, TensorTable};

/// Who named the tensors of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// The authors: `pretrained.blocks.0.attn.qkv.weight`.
    Authors,
    /// transformers until version 4: `backbone.encoder.layer.0.attention.attention.query.weight`.
    Transformers,
    /// transformers from version 5 on: `backbone.encoder.layer.0.attention.q_proj.weight`.
    NewTransformers,
}

/// What all names of the vision transformer begin with; the others are of the head.
const VISION: &str = "backbone.";

/// The tensors of a layer of the vision transformer: name of the authors, then the names of transformers.
const LAYER: [(&str, &str, &str); 12] = [
    ("norm1.weight", "norm1.weight", "norm1.weight"),
    ("norm1.bias", "norm1.bias", "norm1.bias"),
    ("attn.proj.weight", "attention.output.dense.weight", "attention.o_proj.weight"),
    ("attn.proj.bias", "attention.output.dense.bias", "attention.o_proj.bias"),
    ("ls1.gamma", "layer_scale1.lambda1", "layer_scale1.lambda1"),
    ("norm2.weight", "norm2.weight", "norm2.weight"),
    ("norm2.bias", "norm2.bias", "norm2.bias"),
    ("mlp.fc1.weight", "mlp.fc1.weight", "mlp.fc1.weight"),
    ("mlp.fc1.bias", "mlp.fc1.bias", "mlp.fc1.bias"),
    ("mlp.fc2.weight", "mlp.fc2.weight", "mlp.fc2.weight"),
    ("mlp.fc2.bias", "mlp.fc2.bias", "mlp.fc2.bias"),
    ("ls2.gamma", "layer_scale2.lambda1", "layer_scale2.lambda1"),
];
/// Queries, keys and values: one matrix of the authors, and three in transformers.
const HEADS: [(&str, &str, &str); 3] = [
    ("q", "attention.attention.query", "attention.q_proj"),
    ("k", "attention.attention.key", "attention.k_proj"),
    ("v", "attention.attention.value", "attention.v_proj"),
];
/// The tensors around the layers: name of the authors, name of transformers.
const AROUND: [(&str, &str); 6] = [
    ("cls_token", "embeddings.cls_token"),
    ("pos_embed", "embeddings.position_embeddings"),
    ("patch_embed.proj.weight", "embeddings.patch_embeddings.projection.weight"),
    ("patch_embed.proj.bias", "embeddings.patch_embeddings.projection.bias"),
    ("norm.weight", "layernorm.weight"),
    ("norm.bias", "layernorm.bias"),
];

impl Naming {
    /// Who named these tensors, if they are a Depth Anything network.
    pub fn of(tensors: &TensorTable) -> Option<Self> {
        let has = |name: &str| tensors.contains_key(name);
        if has("pretrained.cls_token") && has("depth_head.projects.0.weight") {
            Some(Self::Authors)
        } else if !(has("backbone.embeddings.cls_token")
            && has("neck.reassemble_stage.layers.0.projection.weight"))
        {
            None
        } else if has("backbone.encoder.layer.0.attention.attention.query.weight") {
            Some(Self::Transformers)
        } else {
            Some(Self::NewTransformers)
        }
    }

    /// The name in the file of a tensor of the blueprint.
    pub fn stored(self, name: &str) -> StoredName {
        match name.strip_prefix(VISION) {
            Some(name) => self.of_vision(name),
            None => StoredName::whole(self.of_head(name)),
        }
    }

    /// The name in the file of a tensor of the vision transformer.
    fn of_vision(self, name: &str) -> StoredName {
        if let Some((place, (_, old, new), end)) = of_heads(name) {
            let layer = name.split('.').nth(1).unwrap_or_default();
            return match self {
                Self::Authors => {
                    StoredName::part(format!("pretrained.blocks.{layer}.attn.qkv.{end}"), place..place + 1, 3)
                }
                Self::Transformers => {
                    StoredName::whole(format!("backbone.encoder.layer.{layer}.{old}.{end}"))
                }
                Self::NewTransformers => {
                    StoredName::whole(format!("backbone.encoder.layer.{layer}.{new}.{end}"))
                }
            };
        }
        if self == Self::Authors {
            return StoredName::whole(format!("pretrained.{name}"));
        }
        if let Some((_, other)) = AROUND.iter().find(|(own, _)| *own == name) {
            return StoredName::whole(format!("backbone.{other}"));
        }
        let (layer, inner) =
            name.strip_prefix("blocks.").and_then(|rest| rest.split_once('.')).unwrap_or_default();
        let known = LAYER.iter().find(|(own, ..)| *own == inner);
        let other = known.map_or(inner, |(_, old, new)| if self == Self::Transformers { old } else { new });
        StoredName::whole(format!("backbone.encoder.layer.{layer}.{other}"))
    }

    /// The name in the file of a tensor of the head, which has the names of its authors.
    pub fn of_head(self, name: &str) -> String {
        if self == Self::Authors {
            return format!("depth_head.{name}");
        }
        let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
        let number = |prefix: &str| {
            stem.strip_prefix(prefix).and_then(|rest| rest.split('.').next()?.parse::<usize>().ok())
        };
        if let Some(layer) = number("projects.") {
            return format!("neck.reassemble_stage.layers.{layer}.projection.{end}");
        }
        if let Some(layer) = number("resize_layers.") {
            return format!("neck.reassemble_stage.layers.{layer}.resize.{end}");
        }
        // The authors count layers and fusions from 1, and transformers fusions from the last one.
        if let Some(layer) = number("scratch.refinenet") {
            let fusion = format!("neck.fusion_stage.layers.{}", 4_usize.saturating_sub(layer));
            let inner = stem.split_once(&format!("refinenet{layer}.")).map_or("", |(_, inner)| inner);
            let inner = inner
                .replace("out_conv", "projection")
                .replace("resConfUnit", "residual_layer")
                .replace(".conv", ".convolution");
            return format!("{fusion}.{inner}.{end}");
        }
        let head = match stem {
            "scratch.output_conv1" => "head.conv1",
            "scratch.output_conv2.0" => "head.conv2",
            "scratch.output_conv2.2" => "head.conv3",
            _ => {
                let layer = stem.strip_prefix("scratch.layer").and_then(|rest| rest.strip_suffix("_rn"));
                let layer = layer.and_then(|layer| layer.parse::<usize>().ok()).unwrap_or(1);
                return format!("neck.convs.{}.{end}", layer.saturating_sub(1));
            }
        };
        format!("{head}.{end}")
    }

    /// The start of the names of a layer of the vision transformer in the file.
    pub fn layer(self, number: usize) -> String {
        match self {
            Self::Authors => format!("pretrained.blocks.{number}."),
            Self::Transformers | Self::NewTransformers => format!("backbone.encoder.layer.{number}."),
        }
    }
}

/// Which of queries, keys and values a tensor is of, and whether it is a weight or a bias.
fn of_heads(name: &str) -> Option<(usize, (&'static str, &'static str, &'static str), &str)> {
    let (_, rest) = name.split_once(".attn.")?;
    let (head, end) = rest.split_once('.')?;
    let place = HEADS.iter().position(|(own, ..)| *own == head)?;
    Some((place, HEADS[place], end))
}

/// The vision transformer, without its last norm: the embeddings, and a block for each layer.
pub(super) fn vision(layers: usize, width: usize, side: usize, patch: usize) -> Vec<BlockSpec> {
    let embeddings = BlockSpec { prefix: VISION.to_owned(), ..BlockSpec::stem("embeddings") };
    let mut specs = vec![
        embeddings
            .tensor("cls_token", &[1, 1, width])
            .tensor("pos_embed", &[1, 1 + side * side, width])
            .conv("patch_embed.proj", width, 3, patch),
    ];
    specs.extend((0..layers).map(|layer| {
        BlockSpec::new(format!("{VISION}blocks.{layer}"))
            .norm("norm1", width)
            .linear("attn.q", width, width)
            .linear("attn.k", width, width)
            .linear("attn.v", width, width)
            .linear("attn.proj", width, width)
            .tensor("ls1.gamma", &[width])
            .norm("norm2", width)
            .linear("mlp.fc1", 4 * width, width)
            .linear("mlp.fc2", width, 4 * width)
            .tensor("ls2.gamma", &[width])
    }));
    specs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_each_program() {
        for (name, authors, old, new) in [
            (
                "backbone.cls_token",
                "pretrained.cls_token",
                "backbone.embeddings.cls_token",
                "backbone.embeddings.cls_token",
            ),
            (
                "backbone.blocks.3.attn.k.bias",
                "pretrained.blocks.3.attn.qkv.bias",
                "backbone.encoder.layer.3.attention.attention.key.bias",
                "backbone.encoder.layer.3.attention.k_proj.bias",
            ),
            (
                "backbone.blocks.11.attn.proj.weight",
                "pretrained.blocks.11.attn.proj.weight",
                "backbone.encoder.layer.11.attention.output.dense.weight",
                "backbone.encoder.layer.11.attention.o_proj.weight",
            ),
            (
                "scratch.refinenet4.resConfUnit2.conv1.bias",
                "depth_head.scratch.refinenet4.resConfUnit2.conv1.bias",
                "neck.fusion_stage.layers.0.residual_layer2.convolution1.bias",
                "neck.fusion_stage.layers.0.residual_layer2.convolution1.bias",
            ),
            (
                "scratch.refinenet1.out_conv.weight",
                "depth_head.scratch.refinenet1.out_conv.weight",
                "neck.fusion_stage.layers.3.projection.weight",
                "neck.fusion_stage.layers.3.projection.weight",
            ),
            (
                "scratch.layer2_rn.weight",
                "depth_head.scratch.layer2_rn.weight",
                "neck.convs.1.weight",
                "neck.convs.1.weight",
            ),
            (
                "scratch.output_conv2.2.bias",
                "depth_head.scratch.output_conv2.2.bias",
                "head.conv3.bias",
                "head.conv3.bias",
            ),
        ] {
            assert_eq!(Naming::Authors.stored(name).name, authors);
            assert_eq!(Naming::Transformers.stored(name).name, old);
            assert_eq!(Naming::NewTransformers.stored(name).name, new);
        }
        let key = Naming::Authors.stored("backbone.blocks.3.attn.k.bias");
        assert_eq!(key.part, Some((1..2, 3)));
    }
}
