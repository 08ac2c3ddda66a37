//! Upscalers against spandrel's networks: under all names of their tensors, in odd sizes, and tile by tile.

use candle_core::Tensor;
use sluice_engine::{
    checkpoint::{Checkpoint, CheckpointError},
    memory::Placement,
    models::{OpenedModels, open_upscaler},
    request::{Enlarger, Hires, ModelSource, Request, Upscale},
    upscale::is_upscaler,
};
use sluice_tests::{
    checkpoint::save,
    golden::distance,
    original_names::Tensors,
    upscalers::{Opened, check_upscalers, weights},
};

#[test]
fn upscalers_give_what_spandrel_gives() {
    check_upscalers(&[Placement::Resident, Placement::Streamed]).unwrap();
}

/// Where what is around a tile covers all that the network sees, tiles are those of the whole image up to the
/// order of a few sums at borders.
#[test]
fn tiles_that_see_enough_are_those_of_the_whole_image() {
    for (name, height, width, side) in [
        ("compact_x4", 61, 77, 32),
        ("compact_x1", 40, 33, 16),
        ("esrgan_x4", 41, 67, 32),
        ("esrgan_numbered_x2", 45, 39, 16),
        ("span_x2", 39, 71, 32),
        // Whole windows: nothing is mirrored.
        ("swinir_x4", 72, 88, 16),
        ("swinir_squares_x2", 64, 96, 32),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let opened = Opened::new(&weights(name).unwrap(), folder.path(), Placement::Resident).unwrap();
        let values = sluice_tests::hash_weights::noise(name, 3 * height * width);
        let image = Tensor::from_vec(values, (1, 3, height, width), &candle_core::Device::Cpu)
            .unwrap()
            .abs()
            .unwrap();
        let (whole, tiled) = (opened.upscale(&image).unwrap(), opened.in_tiles(&image, side).unwrap());
        let distance = distance(name, &whole, &tiled, 2e-6).unwrap();
        println!("{name} in tiles of {side}: {distance:.1e}");
    }
}

/// Opened as what they look like, these would make other images.
#[test]
fn transformers_with_parts_that_are_not_supported_say_which() {
    let folder = tempfile::tempdir().unwrap();
    let reason = |name: &str, changed: &str, shape: &[usize]| {
        let mut tensors = weights(name).unwrap();
        let values = Tensor::zeros(shape, candle_core::DType::F32, &candle_core::Device::Cpu).unwrap();
        tensors.insert(changed.to_owned(), values);
        let opened = Opened::new(&tensors, folder.path(), Placement::Resident);
        opened.map(|_| ()).unwrap_err().downcast::<CheckpointError>().unwrap().to_string()
    };
    let own = "layers.0.residual_group.blocks.0.attn.relative_position_bias_table";
    let around = "layers.0.residual_group.overlap_attn.relative_position_bias_table";
    for (name, changed, shape, said) in [
        ("swinir_x4", "conv_first.weight", vec![12, 1, 3, 3], "reads 1 channels"),
        ("swinir_x4", "absolute_pos_embed", vec![1, 256, 12], "images of one size"),
        ("swinir_x4", own, vec![50, 2], "not square"),
        ("swinir_x4", own, vec![49, 5], "5 heads do not fit"),
        ("swinir_squares_x2", "conv_first.1.weight", vec![12, 27, 3, 3], "its factor is 4/3"),
        ("hat_x4", "conv_first.weight", vec![12, 12, 3, 3], "reads 12 channels"),
        ("hat_x4", around, vec![64, 2], "do not fit"),
    ] {
        let found = reason(name, changed, &shape);
        assert!(found.contains(said), "{name} with another {changed}: {found}");
    }
}

#[test]
fn files_that_cannot_be_used_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let reason = |tensors: &Tensors| {
        let opened = Opened::new(tensors, folder.path(), Placement::Resident);
        let error = opened.map(|_| ()).unwrap_err().downcast::<CheckpointError>().unwrap();
        format!("{error}. {}", error.advice())
    };
    let mut tensors = weights("esrgan_x4").unwrap();
    tensors.remove("body.0.rdb2.conv3.bias").unwrap();
    assert!(reason(&tensors).contains("body.0.rdb2.conv3.bias"));
    let one = weights("compact_x4").unwrap().pop_first().unwrap();
    let gray = Tensor::zeros((16, 1, 3, 3), candle_core::DType::F32, &candle_core::Device::Cpu).unwrap();
    let mut tensors = weights("compact_x4").unwrap();
    tensors.insert("body.0.weight".to_owned(), gray);
    assert!(reason(&tensors).contains("reads 1 channels"), "{}", reason(&tensors));
    tensors.insert("body.0.weight".to_owned(), weights("compact_x4").unwrap()["body.0.weight"].clone());
    tensors.retain(|name, _| !["body.1.weight", "body.3.weight", "body.5.weight"].contains(&name.as_str()));
    assert!(reason(&tensors).contains("slopes"), "{}", reason(&tensors));
    let other: Tensors = [("layers.0.residual_group.blocks.0.norm1.weight".to_owned(), one.1)].into();
    assert!(reason(&other).contains("a relative of SwinIR and HAT"), "{}", reason(&other));
    let mut tensors = weights("swinir_x4").unwrap();
    for name in tensors.keys().cloned().collect::<Vec<_>>() {
        let Some(attention) = name.strip_suffix("relative_position_bias_table") else { continue };
        let one = tensors.remove(&name).unwrap();
        for own in ["logit_scale", "cpb_mlp.0.weight", "cpb_mlp.0.bias", "cpb_mlp.2.weight"] {
            tensors.insert(format!("{attention}{own}"), one.clone());
        }
    }
    assert!(reason(&tensors).contains("it is a Swin2SR"), "{}", reason(&tensors));
    let file = folder.path().join("swin2sr.safetensors");
    save(&tensors, &file).unwrap();
    assert!(!is_upscaler(&Checkpoint::of_file(&file).unwrap()));
    let advice = reason(&other);
    assert!(advice.contains("Real-ESRGAN Compact"), "{advice}");
    for name in ["x4.pth", "x4.pt"] {
        let pickle = folder.path().join(name);
        std::fs::write(&pickle, b"PK\x03\x04").unwrap();
        let error = open_upscaler(&pickle).map(|_| ()).unwrap_err();
        assert!(matches!(error, CheckpointError::PickledUpscaler { .. }), "{error}");
        assert!(error.advice().contains("convert"), "{}", error.advice());
    }
}

/// What is no weight file, and what is another one, for each of the ways in which a request names an upscaler.
#[test]
fn other_files_are_named_and_what_an_upscaler_is_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let [notes, lora] = ["notes.safetensors", "lora.safetensors"].map(|name| folder.path().join(name));
    std::fs::write(&notes, "These are words and no weights.").unwrap();
    let down = Tensor::zeros((4, 8), candle_core::DType::F32, &candle_core::Device::Cpu).unwrap();
    let name = "lora_unet_down_blocks_0_attentions_0_proj_in.lora_down.weight";
    save(&Tensors::from([(name.to_owned(), down)]), &lora).unwrap();
    let models = OpenedModels::default();
    for (file, what) in [
        (notes, "it is not a safetensors file"),
        (lora, "it is no upscaler, but something else: LoRA for Stable Diffusion, 1 matrix, rank 4"),
    ] {
        let model = ModelSource::Path(file);
        let enlarger = Enlarger::Upscaler(model.clone());
        for request in [
            Request {
                model,
                upscale: Some(Upscale { path: "photo.png".into(), scale: 2.0 }),
                ..Request::default()
            },
            Request { hires: Some(Hires { enlarger, ..Hires::default() }), ..Request::default() },
        ] {
            let error = models.of(&request).map(|_| ()).unwrap_err();
            let said = format!("{error}. {}", error.advice());
            assert!(said.contains(&format!("cannot enlarge images: {what}")), "{said}");
            assert!(said.contains("Choose a .safetensors file of ESRGAN"), "{said}");
        }
    }
}
