//! Whole runs of Anima against diffusers, through the session, stage by stage. diffusers has no pipeline of it that inpaints.

use sluice_engine::request::Request;
use sluice_tests::{
    checkpoint::{Fixture, set_json},
    modes::{check_every_mode, check_every_mode_filled_in, check_forecasts, check_half_precision},
    original_names::Tensors,
    parity::{check_case, check_layouts_of},
    runner::Runner,
};

fn fixture() -> Fixture {
    Fixture::new("anima", "default")
}

#[test]
fn the_published_constants_give_what_diffusers_gives() {
    check_case("anima", "default").unwrap();
}

#[test]
fn other_sizes_constants_and_weights_give_what_diffusers_gives() {
    check_case("anima", "salted").unwrap();
}

/// In split files and in a file with everything, the conditioner is among the tensors of the transformer, and prompts are
/// as long as published.
#[test]
fn every_layout_gives_the_same_bytes() {
    check_layouts_of(&fixture(), &fixture().run("guided").unwrap(), |folder| {
        set_json(&folder.join("text_conditioner/config.json"), "min_sequence_length", 512.into())
    })
    .unwrap();
}

/// 16-bit activations have 8 (bf16) or 11 (f16) bits of precision.
#[test]
fn computing_in_half_precision_stays_near() {
    let names = ["encode_prompt.0.0.0", "transformer.0.out.0.0", "step.2.latents", "output"];
    check_half_precision(&fixture(), "guided", &names).unwrap();
}

#[test]
fn every_mode_gives_the_same_bytes() {
    for (case, run) in [("default", "guided"), ("default", "drawn_over"), ("salted", "mixed")] {
        check_every_mode(&Fixture::new("anima", case), run).unwrap();
    }
}

#[test]
fn every_mode_fills_in_the_same_bytes() {
    check_every_mode_filled_in(&fixture(), "guided").unwrap();
}

#[test]
fn peaks_are_as_predicted() {
    check_forecasts(&fixture(), "guided", 0.95..1.1, 0.9..1.15).unwrap();
}

/// Weights multiply what the conditioner makes of T5's tokens. Qwen3 reads the words alone.
#[test]
fn brackets_weigh_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let model = fixture().write_diffusers(folder.path()).unwrap();
    let run = fixture().run("cut").unwrap();
    let mut runner = Runner::start().unwrap();
    let mut dump = |prompt: &str| -> Tensors {
        let request = Request { prompt: prompt.to_owned(), ..run.request(&model) };
        runner.dump(request, Some(&run.latents().unwrap())).unwrap().1
    };
    let (plain, weighted) = (dump("a red cube"), dump("a (red:1.5) cube"));
    let ids =
        |dump: &Tensors| dump["text_encoder.0.input_ids"].flatten_all().unwrap().to_vec1::<i64>().unwrap();
    assert_eq!(ids(&plain), ids(&weighted));
    let states = |dump: &Tensors| dump["encode_prompt.0.0.0"].to_vec2::<f32>().unwrap();
    let (plain, weighted) = (states(&plain), states(&weighted));
    assert_eq!(plain.len(), weighted.len());
    assert_ne!(plain, weighted);
    // The network sees as many tokens of any prompt.
    assert_eq!(plain.len(), 40);
}
