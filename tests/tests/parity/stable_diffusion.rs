//! Whole runs of Stable Diffusion 1, 2 and XL against diffusers, through the session, stage by stage.

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    models,
    sampling::{PredictionType, Training},
};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, load, save},
    modes::{check_every_mode, check_forecasts, check_half_precision, check_shared_branches},
    original_names::Tensors,
    parity::{check_case, check_layouts},
};

#[test]
fn stable_diffusion_1_gives_what_diffusers_gives() {
    check_case("stable_diffusion", "one").unwrap();
}

#[test]
fn stable_diffusion_2_gives_what_diffusers_gives() {
    check_case("stable_diffusion", "two").unwrap();
}

#[test]
fn stable_diffusion_xl_gives_what_diffusers_gives() {
    check_case("sdxl", "base").unwrap();
}

/// Inpainting networks with nine channels also take the mask and the masked image.
#[test]
fn networks_that_fill_in_give_what_diffusers_gives() {
    check_case("stable_diffusion", "fills_in").unwrap();
    check_case("sdxl", "fills_in").unwrap();
}

/// One text encoder, and an aesthetic score instead of the target size.
#[test]
fn the_refiner_gives_what_diffusers_gives() {
    check_case("sdxl", "refiner").unwrap();
}

/// v-prediction with a first level of pure noise.
#[test]
fn levels_up_to_noise_give_what_diffusers_gives() {
    check_case("sdxl", "to_noise").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("stable_diffusion", "salted").unwrap();
    check_case("sdxl", "salted").unwrap();
}

#[test]
fn epsilons_that_decide_give_what_diffusers_gives() {
    check_case("stable_diffusion", "faint").unwrap();
    check_case("sdxl", "faint").unwrap();
}

/// Without a configuration, everything is inferred from the shapes.
#[test]
fn every_layout_gives_the_same_bytes() {
    for (family, case, run) in [
        ("stable_diffusion", "one", "guided"),
        ("stable_diffusion", "fills_in", "anew"),
        ("sdxl", "base", "guided"),
        ("sdxl", "base", "zeros"),
        ("sdxl", "fills_in", "changed"),
        ("sdxl", "refiner", "drawn_over"),
    ] {
        let fixture = Fixture::new(family, case);
        check_layouts(&fixture, &fixture.run(run).unwrap()).unwrap();
    }
}

/// Files of Stable Diffusion 2 do not say whether their network predicts noise or v; a bias shows it. Their
/// text encoders have one unused layer.
#[test]
fn what_a_network_gives_is_told_by_a_bias() {
    let (fixture, folder) = (Fixture::new("stable_diffusion", "one"), tempfile::tempdir().unwrap());
    let model = fixture.write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let file = model.join("diffusion_models/tiny_unet.safetensors");
    let mut unet = load(&file).unwrap();
    for (name, tensor) in &mut unet {
        if name.contains("attn2.to_k") || name.contains("attn2.to_v") {
            *tensor = Tensor::zeros((tensor.dim(0).unwrap(), 1024), DType::F32, &Device::Cpu).unwrap();
        }
    }
    let text = model.join("text_encoders/clip_l.safetensors");
    save(&wide_clip(&load(&text).unwrap()), &text).unwrap();
    for (spread, expected) in [(0.05, PredictionType::Epsilon), (0.2, PredictionType::VPrediction)] {
        let name = "output_blocks.11.1.transformer_blocks.0.norm1.bias";
        let count = unet[name].elem_count();
        let values: Vec<f32> =
            (0..count).map(|place| if place % 2 == 0 { spread } else { -spread }).collect();
        unet.insert(name.to_owned(), Tensor::new(values.as_slice(), &Device::Cpu).unwrap());
        save(&unet, &file).unwrap();
        let opened = models::open(&model, &[]).unwrap();
        let denoising = opened.denoisers().next().unwrap().network;
        let Training::Discrete(training) = &denoising.training else { panic!("it is no flow") };
        assert_eq!(training.prediction(), expected, "{spread}");
        assert_eq!(opened.defaults.width, if spread > 0.1 { 768 } else { 512 });
        let blocks: Vec<&str> = opened
            .part("text_encoder")
            .unwrap()
            .component
            .blocks
            .iter()
            .map(|block| block.name.as_str())
            .collect();
        assert_eq!(blocks, ["embeddings", "encoder.layers.0", "head"]);
    }
}

/// A CLIP of width 1024 with one layer, under OpenCLIP's names, for the tokens of another.
fn wide_clip(other: &Tensors) -> Tensors {
    let tokens = other["text_model.embeddings.token_embedding.weight"].dim(0).unwrap();
    let shapes: [(&str, &[usize]); 16] = [
        ("token_embedding.weight", &[tokens, 1024]),
        ("positional_embedding", &[77, 1024]),
        ("transformer.resblocks.0.ln_1.weight", &[1024]),
        ("transformer.resblocks.0.ln_1.bias", &[1024]),
        ("transformer.resblocks.0.ln_2.weight", &[1024]),
        ("transformer.resblocks.0.ln_2.bias", &[1024]),
        ("transformer.resblocks.0.attn.in_proj_weight", &[3072, 1024]),
        ("transformer.resblocks.0.attn.in_proj_bias", &[3072]),
        ("transformer.resblocks.0.attn.out_proj.weight", &[1024, 1024]),
        ("transformer.resblocks.0.attn.out_proj.bias", &[1024]),
        ("transformer.resblocks.0.mlp.c_fc.weight", &[64, 1024]),
        ("transformer.resblocks.0.mlp.c_fc.bias", &[64]),
        ("transformer.resblocks.0.mlp.c_proj.weight", &[1024, 64]),
        ("transformer.resblocks.0.mlp.c_proj.bias", &[1024]),
        ("ln_final.weight", &[1024]),
        ("ln_final.bias", &[1024]),
    ];
    let zeros = |(name, shape): (&str, &[usize])| {
        (name.to_owned(), Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap())
    };
    shapes.into_iter().map(zeros).collect()
}

#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "unet.0.out.0", "step.2.latents"];
    check_half_precision(&Fixture::new("stable_diffusion", "one"), "guided", &names).unwrap();
    let names = ["encode_prompt.0.0.0", "encode_prompt.0.1.1", "unet.0.out.0", "step.2.latents"];
    check_half_precision(&Fixture::new("sdxl", "base"), "guided", &names).unwrap();
}

#[test]
fn forecasts_of_the_peak_come_true() {
    check_forecasts(&Fixture::new("stable_diffusion", "one"), "guided", 0.98..1.05, 0.9..1.15).unwrap();
    check_forecasts(&Fixture::new("sdxl", "base"), "guided", 0.98..1.05, 0.9..1.15).unwrap();
    check_forecasts(&Fixture::new("sdxl", "fills_in"), "anew", 0.98..1.05, 0.9..1.15).unwrap();
}

#[test]
fn guidance_branches_share_tensors() {
    let cases = [
        ("stable_diffusion", "one", "batch"),
        ("stable_diffusion", "salted", "batch"),
        ("stable_diffusion", "fills_in", "anew"),
        ("sdxl", "base", "guided"),
        ("sdxl", "fills_in", "changed"),
    ];
    let shares = |&(family, case, run): &(&str, &str, &str)| {
        check_shared_branches(&Fixture::new(family, case), run).unwrap()
    };
    let shared: Vec<_> = cases.iter().filter(|case| shares(case)).collect();
    assert!(shared.len() > 1, "{shared:?}");
}

/// Skip connections, and projections of the prompt needed only once.
#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    for (family, case, run) in [
        ("stable_diffusion", "one", "batch"),
        ("stable_diffusion", "salted", "batch"),
        ("stable_diffusion", "fills_in", "anew"),
        ("sdxl", "base", "guided"),
        ("sdxl", "salted", "empty"),
        ("sdxl", "fills_in", "changed"),
    ] {
        check_every_mode(&Fixture::new(family, case), run).unwrap();
    }
}
