//! The functions of `nn` against PyTorch.

use std::collections::BTreeMap;

use candle_core::{Device, Tensor};
use sluice_engine::nn::{
    Conv2d, Mask,
    computed::{self as nn, Rope},
};
use sluice_tests::{
    checkpoint::{fixtures, load},
    golden::{MODULE, distance},
    original_names::Tensors,
};

/// The examples by function, each with its inputs and `out`.
fn examples() -> BTreeMap<String, Tensors> {
    let mut examples: BTreeMap<String, Tensors> = BTreeMap::new();
    for (name, tensor) in load(&fixtures().join("functions.safetensors")).unwrap() {
        let (function, part) = name.split_once('.').unwrap();
        examples.entry(function.to_owned()).or_default().insert(part.to_owned(), tensor);
    }
    examples
}

fn rope(angles: &Tensor) -> Rope {
    let (tokens, pairs) = angles.dims2().unwrap();
    let angles: Vec<f32> = angles.flatten_all().unwrap().to_vec1().unwrap();
    Rope::from_angles(&angles, tokens, pairs, &Device::Cpu).unwrap()
}

fn apply(function: &str, t: &Tensors) -> candle_core::Result<Tensor> {
    match function {
        "rms_norm" | "rms_norm_small" => nn::rms_norm(&t["x"], &t["weight"], 1e-5),
        "layer_norm" => nn::layer_norm(&t["x"], Some(&t["weight"]), Some(&t["bias"]), 1e-6),
        "layer_norm_bare" => nn::layer_norm(&t["x"], None, None, 1e-6),
        "group_norm" | "group_norm_small" => nn::group_norm(&t["x"], 4, &t["weight"], &t["bias"], 1e-6),
        "group_norm_silu" => nn::group_norm_silu(&t["x"], 4, &t["weight"], &t["bias"], 1e-6),
        "linear" => nn::linear(&t["x"], &t["weight"], Some(&t["bias"])),
        "silu_mul" => nn::silu_mul(&t["gate"], &t["up"]),
        "conv_3x3" => nn::conv2d(&t["x"], &t["weight"], Some(&t["bias"]), Conv2d::SAME_3X3),
        "conv_1x1" => nn::conv2d(&t["x"], &t["weight"], Some(&t["bias"]), Conv2d::POINTWISE),
        "conv_stride" => {
            nn::conv2d(&t["x"], &t["weight"], Some(&t["bias"]), Conv2d { padding: 0, ..Conv2d::HALVE_3X3 })
        }
        "conv_halve" => nn::conv2d(&t["x"], &t["weight"], Some(&t["bias"]), Conv2d::HALVE_3X3),
        "downsample" => nn::conv2d(&t["x"], &t["weight"], None, Conv2d::HALVE_3X3_TRAILING),
        "upsample" => nn::upsample_nearest_2x(&t["x"]),
        "rope_half" => nn::rope_half(&t["x"], &rope(&t["angles"])),
        "rope_interleaved" => nn::rope_interleaved(&t["x"], &rope(&t["angles"])),
        "attention" => nn::attention(&t["q"], &t["k"], &t["v"], Mask::None),
        "attention_causal" => nn::attention(&t["q"], &t["k"], &t["v"], Mask::Causal),
        other => panic!("no function for {other}"),
    }
}

#[test]
fn functions_give_what_pytorch_gives() {
    let examples = examples();
    assert_eq!(examples.len(), 19);
    for (function, tensors) in examples {
        let found = apply(&function, &tensors).unwrap();
        let distance = distance(&function, &tensors["out"], &found, MODULE).unwrap();
        println!("{function}: {distance:.1e}");
    }
}

/// Views have other strides than copies.
#[test]
fn views_give_what_copies_give() {
    for (function, tensors) in examples() {
        let views: Tensors = tensors
            .iter()
            .map(|(name, tensor)| {
                let last = tensor.rank() - 1;
                let view = if last == 0 {
                    tensor.clone()
                } else {
                    tensor.transpose(0, last).unwrap().contiguous().unwrap().transpose(0, last).unwrap()
                };
                (name.clone(), view)
            })
            .collect();
        let found = apply(&function, &views).unwrap();
        distance(&function, &tensors["out"], &found, MODULE).unwrap();
    }
}
