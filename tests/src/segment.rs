//! Tiny segmenters, whose weights come from the names of their authors; `reference/segment.py` has the same.

use std::path::Path;

use anyhow::Result;
use candle_core::{Device, Tensor};

use crate::{checkpoint::save, hash_weights::weight, original_names::Tensors};

/// Width of the image encoder of Segment Anything, with two heads and two layers: one of windows, one that sees all.
const WIDTH: usize = 32;
const REACH: [usize; 2] = [27, 127];
/// The same of a wide one, and the width of its heads.
const WIDE: usize = 640;
const WIDE_REACH: [usize; 6] = [27, 27, 27, 27, 27, 127];
const WIDE_HEAD: usize = 64;
const CHANNELS: usize = 256;
/// Widths, layers, heads and windows of the stages of MobileSAM's.
const STAGES: [[usize; 4]; 4] = [[8, 1, 1, 7], [16, 1, 2, 7], [24, 2, 3, 14], [32, 1, 4, 7]];

/// The names and shapes of tensors, and what comes before a name when its weights are made.
#[derive(Default)]
struct Made {
    tensors: Vec<(&'static str, String, Vec<usize>)>,
    prefix: &'static str,
}

impl Made {
    fn add(&mut self, name: &str, shape: &[usize]) {
        self.tensors.push((self.prefix, name.to_owned(), shape.to_vec()));
    }

    fn weights(self) -> Result<Tensors> {
        let made = |(prefix, name, shape): (&str, String, Vec<usize>)| {
            let values = weight(&format!("segment.{prefix}{name}"), &shape, 1.0);
            Ok((name, Tensor::from_vec(values, shape, &Device::Cpu)?))
        };
        self.tensors.into_iter().map(made).collect()
    }

    fn with_bias(&mut self, name: &str, shape: &[usize]) {
        self.add(&format!("{name}.weight"), shape);
        self.add(&format!("{name}.bias"), &shape[..1]);
    }

    fn conv_norm(&mut self, name: &str, shape: [usize; 4]) {
        self.add(&format!("{name}.c.weight"), &shape);
        for end in ["weight", "bias", "running_mean", "running_var"] {
            self.add(&format!("{name}.bn.{end}"), &shape[..1]);
        }
    }

    /// An image encoder with layers of such a reach.
    fn vit(&mut self, width: usize, head: usize, reach: &[usize]) {
        self.add("image_encoder.pos_embed", &[1, 64, 64, width]);
        self.with_bias("image_encoder.patch_embed.proj", &[width, 3, 16, 16]);
        for (layer, reach) in reach.iter().enumerate() {
            let name = |name: &str| format!("image_encoder.blocks.{layer}.{name}");
            self.with_bias(&name("norm1"), &[width]);
            self.with_bias(&name("norm2"), &[width]);
            self.with_bias(&name("attn.qkv"), &[3 * width, width]);
            self.with_bias(&name("attn.proj"), &[width, width]);
            self.add(&name("attn.rel_pos_h"), &[*reach, head]);
            self.add(&name("attn.rel_pos_w"), &[*reach, head]);
            self.with_bias(&name("mlp.lin1"), &[4 * width, width]);
            self.with_bias(&name("mlp.lin2"), &[width, 4 * width]);
        }
        self.neck(width);
    }

    fn neck(&mut self, width: usize) {
        self.add("image_encoder.neck.0.weight", &[CHANNELS, width, 1, 1]);
        self.add("image_encoder.neck.2.weight", &[CHANNELS, CHANNELS, 3, 3]);
        self.with_bias("image_encoder.neck.1", &[CHANNELS]);
        self.with_bias("image_encoder.neck.3", &[CHANNELS]);
    }

    fn decoder(&mut self) {
        self.add("prompt_encoder.pe_layer.positional_encoding_gaussian_matrix", &[2, CHANNELS / 2]);
        for number in 0..4 {
            self.add(&format!("prompt_encoder.point_embeddings.{number}.weight"), &[1, CHANNELS]);
        }
        self.add("prompt_encoder.not_a_point_embed.weight", &[1, CHANNELS]);
        self.add("prompt_encoder.no_mask_embed.weight", &[1, CHANNELS]);
        for (layer, shape) in
            [(0, &[4, 1, 2, 2][..]), (1, &[4]), (3, &[16, 4, 2, 2]), (4, &[16]), (6, &[CHANNELS, 16, 1, 1])]
        {
            self.with_bias(&format!("prompt_encoder.mask_downscaling.{layer}"), shape);
        }
        self.add("mask_decoder.iou_token.weight", &[1, CHANNELS]);
        self.add("mask_decoder.mask_tokens.weight", &[4, CHANNELS]);
        let transformer = "mask_decoder.transformer";
        for (name, width) in [
            ("layers.0.self_attn", CHANNELS),
            ("layers.0.cross_attn_token_to_image", CHANNELS / 2),
            ("layers.0.cross_attn_image_to_token", CHANNELS / 2),
            ("layers.1.self_attn", CHANNELS),
            ("layers.1.cross_attn_token_to_image", CHANNELS / 2),
            ("layers.1.cross_attn_image_to_token", CHANNELS / 2),
            ("final_attn_token_to_image", CHANNELS / 2),
        ] {
            for part in ["q_proj", "k_proj", "v_proj"] {
                self.with_bias(&format!("{transformer}.{name}.{part}"), &[width, CHANNELS]);
            }
            self.with_bias(&format!("{transformer}.{name}.out_proj"), &[CHANNELS, width]);
        }
        for layer in 0..2 {
            for norm in 1..5 {
                self.with_bias(&format!("{transformer}.layers.{layer}.norm{norm}"), &[CHANNELS]);
            }
            self.with_bias(&format!("{transformer}.layers.{layer}.mlp.lin1"), &[2048, CHANNELS]);
            self.with_bias(&format!("{transformer}.layers.{layer}.mlp.lin2"), &[CHANNELS, 2048]);
        }
        self.with_bias(&format!("{transformer}.norm_final_attn"), &[CHANNELS]);
        for (layer, [inputs, outputs]) in [(0, [CHANNELS, 64]), (3, [64, 32])] {
            self.add(&format!("mask_decoder.output_upscaling.{layer}.weight"), &[inputs, outputs, 2, 2]);
            self.add(&format!("mask_decoder.output_upscaling.{layer}.bias"), &[outputs]);
        }
        self.with_bias("mask_decoder.output_upscaling.1", &[64]);
        let mut small = |name: &str, outputs: usize| {
            for (layer, outputs) in [(0, CHANNELS), (1, CHANNELS), (2, outputs)] {
                self.with_bias(&format!("mask_decoder.{name}.layers.{layer}"), &[outputs, CHANNELS]);
            }
        };
        for number in 0..4 {
            small(&format!("output_hypernetworks_mlps.{number}"), 32);
        }
        small("iou_prediction_head", 4);
    }
}

/// The weights of a tiny Segment Anything, under the names of its authors.
pub fn weights() -> Result<Tensors> {
    let mut made = Made::default();
    made.vit(WIDTH, WIDTH / 2, &REACH);
    made.decoder();
    made.weights()
}

/// The weights of a Segment Anything whose image encoder has more weights than activations.
fn wide() -> Result<Tensors> {
    let mut made = Made { prefix: "wide.", ..Made::default() };
    made.vit(WIDE, WIDE_HEAD, &WIDE_REACH);
    made.prefix = "";
    made.decoder();
    made.weights()
}

/// The weights of a tiny MobileSAM.
pub fn mobile() -> Result<Tensors> {
    let mut made = Made { prefix: "mobile.", ..Made::default() };
    let encoder = "image_encoder";
    let [[first, ..], ..] = STAGES;
    made.conv_norm(&format!("{encoder}.patch_embed.seq.0"), [first / 2, 3, 3, 3]);
    made.conv_norm(&format!("{encoder}.patch_embed.seq.2"), [first, first / 2, 3, 3]);
    for (number, [width, layers, heads, window]) in STAGES.into_iter().enumerate() {
        for layer in 0..layers {
            let name = |name: &str| format!("{encoder}.layers.{number}.blocks.{layer}.{name}");
            if number == 0 {
                made.conv_norm(&name("conv1"), [4 * width, width, 1, 1]);
                made.conv_norm(&name("conv2"), [4 * width, 1, 3, 3]);
                made.conv_norm(&name("conv3"), [width, 4 * width, 1, 1]);
                continue;
            }
            made.with_bias(&name("attn.norm"), &[width]);
            made.with_bias(&name("attn.qkv"), &[3 * width, width]);
            made.with_bias(&name("attn.proj"), &[width, width]);
            made.add(&name("attn.attention_biases"), &[heads, window * window]);
            made.conv_norm(&name("local_conv"), [width, 1, 3, 3]);
            made.with_bias(&name("mlp.norm"), &[width]);
            made.with_bias(&name("mlp.fc1"), &[4 * width, width]);
            made.with_bias(&name("mlp.fc2"), &[width, 4 * width]);
        }
        if let Some([next, ..]) = STAGES.get(number + 1).copied() {
            let merging = format!("{encoder}.layers.{number}.downsample");
            made.conv_norm(&format!("{merging}.conv1"), [next, width, 1, 1]);
            made.conv_norm(&format!("{merging}.conv2"), [next, 1, 3, 3]);
            made.conv_norm(&format!("{merging}.conv3"), [next, next, 1, 1]);
        }
    }
    let [.., [last, ..]] = STAGES;
    made.neck(last);
    made.prefix = "";
    made.decoder();
    made.weights()
}

/// The weights of [`weights`] under the names of transformers.
pub fn published(tensors: &Tensors) -> Tensors {
    tensors.iter().map(|(name, tensor)| (published_name(name), tensor.clone())).collect()
}

fn published_name(name: &str) -> String {
    if name.ends_with("positional_encoding_gaussian_matrix") {
        return "shared_image_embedding.positional_embedding".to_owned();
    }
    if name.starts_with("image_encoder.neck.") {
        return [
            ("neck.0", "conv1"),
            ("neck.1", "layer_norm1"),
            ("neck.2", "conv2"),
            ("neck.3", "layer_norm2"),
        ]
        .into_iter()
        .fold(name.replace("image_encoder", "vision_encoder"), |name, (own, other)| {
            name.replace(own, &format!("neck.{other}"))
        });
    }
    if name.contains("hypernetworks") || name.contains("iou_prediction") {
        return name
            .replace("layers.0", "proj_in")
            .replace("layers.1", "layers.0")
            .replace("layers.2", "proj_out");
    }
    if name.starts_with("mask_decoder.output_upscaling") {
        return name
            .replace("output_upscaling.0", "upscale_conv1")
            .replace("output_upscaling.1", "upscale_layer_norm")
            .replace("output_upscaling.3", "upscale_conv2");
    }
    if name.starts_with("prompt_encoder.mask_downscaling") {
        return name
            .replace("mask_downscaling.0", "mask_embed.conv1")
            .replace("mask_downscaling.1", "mask_embed.layer_norm1")
            .replace("mask_downscaling.3", "mask_embed.conv2")
            .replace("mask_downscaling.4", "mask_embed.layer_norm2")
            .replace("mask_downscaling.6", "mask_embed.conv3");
    }
    name.replace("image_encoder.blocks", "vision_encoder.layers")
        .replace("image_encoder.patch_embed.proj", "vision_encoder.patch_embed.projection")
        .replace("image_encoder", "vision_encoder")
        .replace("point_embeddings", "point_embed")
        .replace(".norm", ".layer_norm")
}

/// Writes the tiny Segment Anything to a file.
pub fn write(file: &Path) -> Result<()> {
    save(&weights()?, file)
}

/// Writes the Segment Anything with a wide image encoder to a file.
pub fn write_wide(file: &Path) -> Result<()> {
    save(&wide()?, file)
}

/// Writes the tiny MobileSAM to a file.
pub fn write_mobile(file: &Path) -> Result<()> {
    save(&mobile()?, file)
}
