//! Whole runs of Stable Cascade against diffusers, through the session, stage by stage: the prior, and the decoder that sees
//! its result.

use sluice_engine::models;
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
