//! Whole runs of Wuerstchen against diffusers, through the session: the prior, and the decoder that sees its result. Each has
//! a text encoder of its own.

use sluice_engine::{models, request::Request};
use sluice_tests::{
    checkpoint::Fixture,
    modes::{check_every_mode, check_forecasts_of, check_half_precision},
    parity::check_case,
    runner::Runner,
};

fn fixture() -> Fixture {
    Fixture::new("wuerstchen", "default")
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("wuerstchen", "default").unwrap();
}

/// Both text encoders have the same width there.
#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("wuerstchen", "salted").unwrap();
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
        check_every_mode(&Fixture::new("wuerstchen", case), run).unwrap();
    }
}

#[test]
fn peaks_are_as_predicted() {
    // Its latents are so small that images of other tests would take less than a thread does besides.
    let large = |own: Request| {
        let batch = if own.batch > 1 { 3 } else { 1 };
        Request { width: 512, height: 384, batch, ..own }
    };
    check_forecasts_of(&fixture(), "guided", 0.95..1.1, 0.9..1.15, large).unwrap();
}

/// As they are published: two folders beside each other, each with a text encoder and a tokenizer of its own.
#[test]
fn the_prior_is_found_beside_the_decoder_and_the_decoder_beside_the_prior() {
    let folder = tempfile::tempdir().unwrap();
    let [decoder, prior, both] =
        ["wuerstchen", "wuerstchen-prior", "both"].map(|name| folder.path().join(name));
    for own in [&decoder, &prior, &both] {
        std::fs::create_dir_all(own).unwrap();
    }
    fixture().write_diffusers(&both).unwrap();
    let index = std::fs::read_to_string(both.join("model_index.json")).unwrap();
    let all: serde_json::Value = serde_json::from_str(&index).unwrap();
    let parts = [
        (
            &decoder,
            "WuerstchenDecoderPipeline",
            [("decoder", "decoder"), ("text_encoder", "text_encoder"), ("tokenizer", "tokenizer")],
        ),
        (
            &prior,
            "WuerstchenPriorPipeline",
            [
                ("prior", "prior_prior"),
                ("text_encoder", "prior_text_encoder"),
                ("tokenizer", "prior_tokenizer"),
            ],
        ),
    ];
    for (own, kind, names) in parts {
        let mut index = serde_json::json!({"_class_name": kind});
        for (name, before) in names {
            std::fs::rename(both.join(before), own.join(name)).unwrap();
            index[name] = all[before].clone();
        }
        for name in ["resolution_multiple", "latent_dim_scale"] {
            index[name] = all[name].clone();
        }
        std::fs::write(own.join("model_index.json"), index.to_string()).unwrap();
    }
    std::fs::rename(both.join("vqgan"), decoder.join("vqgan")).unwrap();
    std::fs::remove_dir_all(&both).unwrap();
    let run = fixture().run("guided").unwrap();
    let mut runner = Runner::start().unwrap();
    let images = [&decoder, &prior].map(|model| {
        let (images, _) = runner.repeat(&run, model).unwrap();
        images.into_iter().map(|image| image.media).collect::<Vec<_>>()
    });
    assert!(images[0] == images[1] && images[0].len() == 1);
    std::fs::remove_dir_all(&prior).unwrap();
    let error = models::open(&decoder, &[]).unwrap_err().to_string();
    assert!(error.contains("no prior of Wuerstchen"), "{error}");
}
