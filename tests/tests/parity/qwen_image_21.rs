//! Whole runs of Qwen-Image 2.1 against diffusers, through the session, stage by stage. diffusers has no pipelines of it for
//! image to image and inpainting.

use std::cell::Cell;

use sluice_engine::{models, request::Request};
use sluice_tests::{
    checkpoint::{Fixture, Layout, Stored, set_json},
    modes::{
        check_every_mode, check_every_mode_filled_in, check_forecasts, check_forecasts_of,
        check_half_precision,
    },
    parity::{check_case, check_layouts},
};

fn fixture() -> Fixture {
    Fixture::new("qwen_image_21", "default")
}

/// Also an empty prompt, and a reference that the text encoder and the transformer see.
#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("qwen_image_21", "default").unwrap();
}

/// Also two references, whose tokens stand between those of the prompt, and a vision tower that gives several layers of the
/// language model something to add.
#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("qwen_image_21", "salted").unwrap();
}

#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts(&fixture(), &fixture().run("guided").unwrap()).unwrap();
}

#[test]
fn every_layout_sees_the_same() {
    check_layouts(&fixture(), &fixture().run("one").unwrap()).unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.0.latents", "output"];
    check_half_precision(&fixture(), "guided", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for (case, run) in [("default", "guided"), ("default", "batch"), ("salted", "two")] {
        check_every_mode(&Fixture::new("qwen_image_21", case), run).unwrap();
    }
}

#[test]
fn every_mode_fills_in_the_same_bytes() {
    check_every_mode_filled_in(&fixture(), "guided").unwrap();
}

#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.1, 0.9..1.15).unwrap();
    // Prompts that were encoded before would leave out the vision tower.
    let prompts = Cell::new(0);
    let new_prompt = |request: Request| {
        prompts.set(prompts.get() + 1);
        Request { prompt: format!("{} {}", request.prompt, prompts.get()), ..request }
    };
    check_forecasts_of(&fixture(), "one", 0.95..1.25, 0.9..1.25, new_prompt).unwrap();
}

/// Published folders have the tokenizer in the folder of the processor.
#[test]
fn the_processor_has_the_tokenizer() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write_diffusers(folder.path()).unwrap();
    std::fs::rename(model.join("tokenizer"), model.join("processor")).unwrap();
    models::open(&model, &[]).unwrap();
}

/// Without its vision tower the text encoder only reads.
#[test]
fn a_model_without_a_vision_tower_takes_no_references() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write(folder.path(), Layout::Split, Stored::F32).unwrap();
    let most = || models::open(&model, &[]).unwrap().references().map(|takes| takes.most);
    assert_eq!(most(), Some(10));
    let file = model.join("text_encoders/qwen3vl_8b.safetensors");
    let mut tensors = sluice_tests::checkpoint::load(&file).unwrap();
    tensors.retain(|name, _| !name.starts_with("model.visual."));
    sluice_tests::checkpoint::save(&tensors, &file).unwrap();
    assert_eq!(most(), None);
}

#[test]
fn models_whose_prompts_are_noisy_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write_diffusers(folder.path()).unwrap();
    set_json(&model.join("transformer/config.json"), "causal_condition", false.into()).unwrap();
    let error = models::open(&model, &[]).unwrap_err().to_string();
    assert!(error.contains("causal_condition"), "{error}");
}
