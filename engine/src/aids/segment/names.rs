//! The names of Segment Anything's tensors, in files of its authors and of transformers.

use crate::checkpoint::TensorTable;

/// Who named the tensors of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// The authors, also those of MobileSAM: `image_encoder.blocks.0.norm1.weight`.
    Authors,
    /// transformers: `vision_encoder.layers.0.layer_norm1.weight`.
    Transformers,
}

/// A tensor of every file, by which it is known.
const KNOWN: [(&str, Naming); 2] = [
    ("mask_decoder.output_upscaling.0.weight", Naming::Authors),
    ("mask_decoder.upscale_conv1.weight", Naming::Transformers),
];
/// What tensors are called: the start of their names, the authors' words, those of transformers.
const WORDS: [(&str, &str, &str); 18] = [
    ("image_encoder.patch_embed.", "patch_embed.proj", "patch_embed.projection"),
    ("image_encoder.neck.", "neck.0", "neck.conv1"),
    ("image_encoder.neck.", "neck.1", "neck.layer_norm1"),
    ("image_encoder.neck.", "neck.2", "neck.conv2"),
    ("image_encoder.neck.", "neck.3", "neck.layer_norm2"),
    ("image_encoder.blocks.", ".norm", ".layer_norm"),
    ("image_encoder.", "image_encoder.blocks.", "image_encoder.layers."),
    ("image_encoder.", "image_encoder.", "vision_encoder."),
    ("prompt_encoder.point_embeddings.", "point_embeddings.", "point_embed."),
    ("prompt_encoder.mask_downscaling.", "mask_downscaling.0", "mask_embed.conv1"),
    ("prompt_encoder.mask_downscaling.", "mask_downscaling.1", "mask_embed.layer_norm1"),
    ("prompt_encoder.mask_downscaling.", "mask_downscaling.3", "mask_embed.conv2"),
    ("prompt_encoder.mask_downscaling.", "mask_downscaling.4", "mask_embed.layer_norm2"),
    ("prompt_encoder.mask_downscaling.", "mask_downscaling.6", "mask_embed.conv3"),
    ("mask_decoder.transformer.", ".norm", ".layer_norm"),
    ("mask_decoder.output_upscaling.", "output_upscaling.0", "upscale_conv1"),
    ("mask_decoder.output_upscaling.", "output_upscaling.1", "upscale_layer_norm"),
    ("mask_decoder.output_upscaling.", "output_upscaling.3", "upscale_conv2"),
];
/// The layers of a small network of the mask decoder.
const LAYERS: [(&str, &str); 3] =
    [(".layers.0.", ".proj_in."), (".layers.1.", ".layers.0."), (".layers.2.", ".proj_out.")];
/// The frequencies of places.
pub(super) const FREQUENCIES: &str = "prompt_encoder.pe_layer.positional_encoding_gaussian_matrix";
/// The names that they have in transformers, of which a file may have only one.
const SHARED: [&str; 2] =
    ["shared_image_embedding.positional_embedding", "prompt_encoder.shared_embedding.positional_embedding"];

impl Naming {
    /// Who named these tensors, if they are of Segment Anything.
    pub fn of(tensors: &TensorTable) -> Option<Self> {
        let known = KNOWN.iter().find(|(name, _)| tensors.contains_key(*name));
        known.map(|(_, naming)| *naming).filter(|naming| {
            let [patches, convolution] =
                ["image_encoder.patch_embed.proj.weight", "image_encoder.patch_embed.seq.0.c.weight"];
            let has = |name: &str| tensors.contains_key(&naming.stored(name, tensors));
            has(patches) || has(convolution)
        })
    }

    /// The name in a file of a tensor that its authors call `name`.
    pub fn stored(self, name: &str, tensors: &TensorTable) -> String {
        if self == Self::Authors {
            return name.to_owned();
        }
        if name == FREQUENCIES {
            let there = SHARED.iter().find(|shared| tensors.contains_key(**shared));
            return (*there.unwrap_or(&SHARED[0])).to_owned();
        }
        let mut stored = name.to_owned();
        for (_, own, other) in WORDS.iter().filter(|(start, ..)| name.starts_with(start)) {
            stored = stored.replace(own, other);
        }
        let of_layers = ["mask_decoder.output_hypernetworks_mlps.", "mask_decoder.iou_prediction_head."];
        if of_layers.iter().any(|start| name.starts_with(start))
            && let Some((own, other)) = LAYERS.iter().find(|(own, _)| name.contains(own))
        {
            stored = stored.replace(own, other);
        }
        stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_transformers() {
        for (authors, transformers) in [
            ("image_encoder.pos_embed", "vision_encoder.pos_embed"),
            ("image_encoder.patch_embed.proj.bias", "vision_encoder.patch_embed.projection.bias"),
            ("image_encoder.blocks.11.norm2.weight", "vision_encoder.layers.11.layer_norm2.weight"),
            ("image_encoder.blocks.3.attn.rel_pos_h", "vision_encoder.layers.3.attn.rel_pos_h"),
            ("image_encoder.neck.3.bias", "vision_encoder.neck.layer_norm2.bias"),
            (FREQUENCIES, "shared_image_embedding.positional_embedding"),
            ("prompt_encoder.point_embeddings.2.weight", "prompt_encoder.point_embed.2.weight"),
            ("prompt_encoder.mask_downscaling.6.bias", "prompt_encoder.mask_embed.conv3.bias"),
            ("mask_decoder.mask_tokens.weight", "mask_decoder.mask_tokens.weight"),
            (
                "mask_decoder.transformer.layers.1.norm4.bias",
                "mask_decoder.transformer.layers.1.layer_norm4.bias",
            ),
            (
                "mask_decoder.transformer.norm_final_attn.weight",
                "mask_decoder.transformer.layer_norm_final_attn.weight",
            ),
            ("mask_decoder.output_upscaling.1.weight", "mask_decoder.upscale_layer_norm.weight"),
            (
                "mask_decoder.output_hypernetworks_mlps.3.layers.1.weight",
                "mask_decoder.output_hypernetworks_mlps.3.layers.0.weight",
            ),
            (
                "mask_decoder.iou_prediction_head.layers.2.bias",
                "mask_decoder.iou_prediction_head.proj_out.bias",
            ),
        ] {
            let none = TensorTable::new();
            assert_eq!(Naming::Transformers.stored(authors, &none), transformers);
            assert_eq!(Naming::Authors.stored(authors, &none), authors);
        }
    }
}
