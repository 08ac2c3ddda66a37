//! Masks of objects on the command line, and changes of masks.

use std::path::Path;

use super::{adapter::write, assert_fails, assert_fine, draw, run, stderr, stdout};

/// Widths of the image encoder and of the mask decoder.
const WIDTH: usize = 32;
const CHANNELS: usize = 256;

/// A Segment Anything with one narrow layer and weights of zero, so that nothing is in its masks.
fn segmenter(path: &Path) {
    let shape = |name: &str, shape: &[usize]| (name.to_owned(), shape.to_vec());
    let mut tensors = vec![
        shape("image_encoder.pos_embed", &[1, 64, 64, WIDTH]),
        shape("image_encoder.blocks.0.attn.rel_pos_h", &[27, WIDTH / 2]),
        shape("image_encoder.blocks.0.attn.rel_pos_w", &[27, WIDTH / 2]),
        shape("image_encoder.neck.0.weight", &[CHANNELS, WIDTH, 1, 1]),
        shape("image_encoder.neck.2.weight", &[CHANNELS, CHANNELS, 3, 3]),
        shape("prompt_encoder.pe_layer.positional_encoding_gaussian_matrix", &[2, CHANNELS / 2]),
        shape("prompt_encoder.not_a_point_embed.weight", &[1, CHANNELS]),
        shape("prompt_encoder.no_mask_embed.weight", &[1, CHANNELS]),
        shape("mask_decoder.iou_token.weight", &[1, CHANNELS]),
        shape("mask_decoder.mask_tokens.weight", &[4, CHANNELS]),
        shape("mask_decoder.output_upscaling.0.weight", &[CHANNELS, 64, 2, 2]),
        shape("mask_decoder.output_upscaling.0.bias", &[64]),
        shape("mask_decoder.output_upscaling.3.weight", &[64, 32, 2, 2]),
        shape("mask_decoder.output_upscaling.3.bias", &[32]),
    ];
    let points = (0..4).map(|number| format!("prompt_encoder.point_embeddings.{number}.weight"));
    tensors.extend(points.map(|name| (name, vec![1, CHANNELS])));
    for (name, shape) in with_bias() {
        tensors.push((format!("{name}.bias"), shape[..1].to_vec()));
        tensors.push((format!("{name}.weight"), shape));
    }
    let tensors: Vec<_> = tensors.iter().map(|(name, shape)| (name.as_str(), shape.clone())).collect();
    write(path, &tensors);
}

/// Those of its layers whose biases have a value for each of their outputs.
fn with_bias() -> Vec<(String, Vec<usize>)> {
    let encoder = [
        ("patch_embed.proj", vec![WIDTH, 3, 16, 16]),
        ("blocks.0.norm1", vec![WIDTH]),
        ("blocks.0.norm2", vec![WIDTH]),
        ("blocks.0.attn.qkv", vec![3 * WIDTH, WIDTH]),
        ("blocks.0.attn.proj", vec![WIDTH, WIDTH]),
        ("blocks.0.mlp.lin1", vec![4 * WIDTH, WIDTH]),
        ("blocks.0.mlp.lin2", vec![WIDTH, 4 * WIDTH]),
        ("neck.1", vec![CHANNELS]),
        ("neck.3", vec![CHANNELS]),
    ];
    let mut layers: Vec<_> =
        encoder.into_iter().map(|(name, shape)| (format!("image_encoder.{name}"), shape)).collect();
    let given = [vec![4, 1, 2, 2], vec![4], vec![16, 4, 2, 2], vec![16], vec![CHANNELS, 16, 1, 1]];
    let given = [0, 1, 3, 4, 6].into_iter().zip(given);
    layers.extend(given.map(|(layer, shape)| (format!("prompt_encoder.mask_downscaling.{layer}"), shape)));
    let mut add = |name: String, shape: Vec<usize>| layers.push((format!("mask_decoder.{name}"), shape));
    let mut attention = |name: &str, width: usize| {
        for part in ["q_proj", "k_proj", "v_proj"] {
            add(format!("transformer.{name}.{part}"), vec![width, CHANNELS]);
        }
        add(format!("transformer.{name}.out_proj"), vec![CHANNELS, width]);
    };
    for layer in 0..2 {
        attention(&format!("layers.{layer}.self_attn"), CHANNELS);
        for across in ["cross_attn_token_to_image", "cross_attn_image_to_token"] {
            attention(&format!("layers.{layer}.{across}"), CHANNELS / 2);
        }
    }
    attention("final_attn_token_to_image", CHANNELS / 2);
    for layer in 0..2 {
        for norm in 1..5 {
            add(format!("transformer.layers.{layer}.norm{norm}"), vec![CHANNELS]);
        }
        add(format!("transformer.layers.{layer}.mlp.lin1"), vec![2048, CHANNELS]);
        add(format!("transformer.layers.{layer}.mlp.lin2"), vec![CHANNELS, 2048]);
    }
    add("transformer.norm_final_attn".to_owned(), vec![CHANNELS]);
    add("output_upscaling.1".to_owned(), vec![64]);
    let hypernetworks = (0..4).map(|number| (format!("output_hypernetworks_mlps.{number}"), 32));
    for (name, outputs) in hypernetworks.chain([("iou_prediction_head".to_owned(), 4)]) {
        for (layer, outputs) in [CHANNELS, CHANNELS, outputs].into_iter().enumerate() {
            add(format!("{name}.layers.{layer}"), vec![outputs, CHANNELS]);
        }
    }
    layers
}

#[test]
fn a_mask_is_written_beside_its_image() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::new(40, 30).save(folder.path().join("a.png")).unwrap();
    segmenter(&folder.path().join("sam.safetensors"));
    let mask = ["mask", "a.png", "--model", "sam.safetensors", "--point", "20,10"];
    let planned = run(folder.path(), &[&mask[..], &["--plan"]].concat());
    assert_fine(&planned);
    assert!(stdout(&planned).contains("mask of 40×30"), "{}", stdout(&planned));
    let made = run(folder.path(), &mask);
    assert_fine(&made);
    assert_eq!(stdout(&made), "a-mask.png\n");
    let pixels = image::open(folder.path().join("a-mask.png")).unwrap().into_rgb8();
    assert_eq!(pixels.dimensions(), (40, 30));
    assert!(pixels.pixels().all(|pixel| pixel.0 == [0; 3]));
    let more = ["--box", "2,2,30,20", "--not", "3,3", "--output", "fox.png"];
    let named = run(folder.path(), &[&mask[..], &more].concat());
    assert_fine(&named);
    assert_eq!(stdout(&named), "fox.png\n");
}

#[test]
fn a_mask_is_inverted_and_grows_before_it_is_used() {
    let folder = tempfile::tempdir().unwrap();
    assert_fine(&draw(folder.path(), &["--output", "circle.png"]));
    for (name, white) in [("left.png", 0_u32..32), ("more.png", 0..40), ("right.png", 32..64)] {
        let shade = |x: u32, _: u32| image::Luma([if white.contains(&x) { u8::MAX } else { 0 }]);
        image::GrayImage::from_fn(64, 64, shade).save(folder.path().join(name)).unwrap();
    }
    let inpainted = |mask: &str, more: &[&str]| {
        let input = ["--init-image", "circle.png", "--mask", mask, "--output", "out.png"];
        assert_fine(&draw(folder.path(), &[&input[..], more].concat()));
        image::open(folder.path().join("out.png")).unwrap().into_rgb8()
    };
    let [left, more] = [inpainted("left.png", &[]), inpainted("more.png", &[])];
    assert!(left != more, "the mask counts");
    assert!(inpainted("right.png", &["--mask-invert"]) == left);
    assert!(inpainted("right.png", &["--mask-invert", "--mask-grow", "8"]) == more);
    assert!(inpainted("more.png", &["--mask-grow", "-8"]) == left);
    let missing = ["--init-image", "circle.png", "--mask", "no.png", "--mask-invert"];
    assert_fails(&draw(folder.path(), &missing), "the image no.png cannot be read", "Choose a file");
    let alone = draw(folder.path(), &["--mask-invert"]);
    assert_eq!(alone.status.code(), Some(2), "{}", stderr(&alone));
}

#[test]
fn what_makes_no_mask_is_said() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::new(20, 12).save(folder.path().join("a.png")).unwrap();
    write(&folder.path().join("other.safetensors"), &[("image_encoder.pos_embed", [1, 384])]);
    let with = |more: &[&str]| run(folder.path(), &[&["mask", "a.png"], more].concat());
    let model = ["--model", "other.safetensors"];
    let point = ["--point", "3,3"];
    assert_fails(
        &with(&[model, point].concat()),
        "other.safetensors cannot make masks: it is no Segment Anything network",
        "Choose a .safetensors file of Segment",
    );
    for (wrong, what) in [
        (&["--point", "3"][..], "give 2 whole numbers"),
        (&["--box", "1,2,3"], "give 4 whole numbers"),
        (&[], "--point"),
    ] {
        let output = with(&[&model[..], wrong].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(what), "{}", stderr(&output));
    }
}
