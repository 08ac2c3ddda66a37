//! Whole runs of Stable Cascade against diffusers, through the session, stage by stage: the prior, and the decoder that sees
//! its result.

use std::{collections::HashMap, path::Path};

use candle_core::{Device, Tensor};
use sluice_engine::{models, request::Request};
use sluice_tests::{
    checkpoint::Fixture,
    modes::{check_every_mode, check_forecasts, check_half_precision},
    parity::check_case,
    runner::Runner,
};

fn fixture() -> Fixture {
    Fixture::new("stable_cascade", "default")
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("stable_cascade", "default").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("stable_cascade", "salted").unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "unet.0.out.0", "step.0.latents"];
    check_half_precision(&fixture(), "guided", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for (case, run) in [("default", "guided"), ("salted", "batch")] {
        check_every_mode(&Fixture::new("stable_cascade", case), run).unwrap();
    }
}

#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.1, 0.9..1.15).unwrap();
}

/// As they are published: the prior in a folder beside that of the decoder, each with an index of its own.
#[test]
fn the_prior_is_found_beside_the_decoder_and_the_decoder_beside_the_prior() {
    let folder = tempfile::tempdir().unwrap();
    let [decoder, prior] = ["stable-cascade", "stable-cascade-prior"].map(|name| folder.path().join(name));
    std::fs::create_dir_all(&decoder).unwrap();
    std::fs::create_dir_all(&prior).unwrap();
    fixture().write_diffusers(&decoder).unwrap();
    fixture().write_diffusers(&prior).unwrap();
    for unused in [decoder.join("prior"), prior.join("decoder"), prior.join("vqgan")] {
        std::fs::remove_dir_all(unused).unwrap();
    }
    let index = decoder.join("model_index.json");
    let own = std::fs::read_to_string(&index).unwrap();
    let mut own: serde_json::Value = serde_json::from_str(&own).unwrap();
    let mut other = own.clone();
    for name in ["prior", "resolution_multiple"] {
        own.as_object_mut().unwrap().remove(name);
    }
    other["_class_name"] = "StableCascadePriorPipeline".into();
    for name in ["decoder", "vqgan", "latent_dim_scale"] {
        other.as_object_mut().unwrap().remove(name);
    }
    std::fs::write(&index, own.to_string()).unwrap();
    std::fs::write(prior.join("model_index.json"), other.to_string()).unwrap();
    let run = fixture().run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let dumps = [&decoder, &prior].map(|model| runner.repeat(&run, model).unwrap().0);
    let [one, two] = dumps.map(|images| images.into_iter().map(|image| image.media).collect::<Vec<_>>());
    assert!(one == two && one.len() == 1);
    std::fs::remove_dir_all(&prior).unwrap();
    let error = models::open(&decoder, &[]).unwrap_err().to_string();
    assert!(error.contains("stage C"), "{error}");
}

/// The authors' names: one matrix for query, key and value, and another name for the decoder's only prompt.
fn original(path: &Path, is_decoder: bool) -> HashMap<String, Tensor> {
    let own = candle_core::safetensors::load(path, &Device::Cpu).unwrap();
    let mut original = HashMap::new();
    for (name, tensor) in &own {
        if let Some((layer, kind)) = name.split_once(".attention.to_q.") {
            let all = ["q", "k", "v"].map(|letter| &own[&format!("{layer}.attention.to_{letter}.{kind}")]);
            original.insert(format!("{layer}.attention.attn.in_proj_{kind}"), Tensor::cat(&all, 0).unwrap());
        } else if !name.contains(".attention.to_k.") && !name.contains(".attention.to_v.") {
            let name = name.replace("attention.to_out.0", "attention.attn.out_proj");
            let name = if is_decoder { name.replace("clip_txt_pooled_mapper", "clip_mapper") } else { name };
            original.insert(name, tensor.clone());
        }
    }
    original
}

#[test]
fn the_authors_files_open_whichever_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fixture().write_diffusers(root).unwrap();
    let weights = |part: &str| root.join(part).join("diffusion_pytorch_model.safetensors");
    let files = root.join("diffusion_models");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::create_dir_all(root.join("vae")).unwrap();
    for (part, name) in [("prior", "stage_c_bf16"), ("decoder", "stage_b_bf16")] {
        let tensors = original(&weights(part), part == "decoder");
        candle_core::safetensors::save(&tensors, files.join(format!("{name}.safetensors"))).unwrap();
    }
    std::fs::rename(weights("vqgan"), root.join("vae/stage_a.safetensors")).unwrap();
    std::fs::remove_file(root.join("model_index.json")).unwrap();
    let names = ["stage_c_bf16", "stage_b_bf16"].map(|name| files.join(format!("{name}.safetensors")));
    let models = names.each_ref().map(|path| models::open(path, &[]).unwrap());
    for model in &models {
        assert_eq!(model.family.id(), "stable_cascade");
        assert_eq!(model.size_multiple(), 128);
    }
    assert_eq!(models[0].identity(), models[1].identity());
    let request = Request {
        width: 128,
        height: 128,
        steps: 1,
        ..fixture().run("unguided").unwrap().request(&names[0])
    };
    let (images, _) = Runner::start().unwrap().dump(request, None).unwrap();
    assert_eq!(images.len(), 1);
    std::fs::remove_file(&names[1]).unwrap();
    let error = models::open(&names[0], &[]).unwrap_err().to_string();
    assert!(error.contains("stage B"), "{error}");
}
