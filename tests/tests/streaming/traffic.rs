//! Which weights are moved, how often, and which are not.

use std::collections::{BTreeMap, BTreeSet};

use candle_core::{Device, Tensor};
use sluice_engine::{
    memory::{Keep, MemoryPreferences, OffloadMode, PartChoice, Residence, Tier},
    models,
    precision::Storage,
    request::Request,
    telemetry::BlockRecord,
};
use sluice_tests::{
    checkpoint::{Fixture, load, save},
    runner::Runner,
};

use super::support::{
    Ran, SMALL, Tiny, attempt, card, forecast, half_streamed, mode, passing_through, run, starter,
};

const TEXT: u8 = 0;
const DENOISER: u8 = 1;

/// Bytes moved for the denoiser.
fn moved(ran: &Ran) -> u64 {
    ran.blocks().iter().filter(|block| block.component == DENOISER).map(|block| block.bytes).sum()
}

#[test]
fn a_block_moves_once_a_step_for_all_branches_and_pictures() {
    let small = starter(SMALL, 3);
    let mut runner = Runner::start().unwrap();
    let one = Request { batch: 1, guidance: 0.0, ..small.clone() };
    let eight = Request { batch: 4, guidance: 3.0, ..small.clone() };
    let memory = passing_through();
    let (one, eight) = (run(&mut runner, &one, &memory), run(&mut runner, &eight, &memory));
    assert!(moved(&one) > 0);
    assert_eq!(moved(&one), moved(&eight), "four pictures of two branches each move what one moves");
}

#[test]
fn what_depends_on_prompt_and_timestep_alone_moves_once_a_run() {
    let small = starter(SMALL, 3);
    let mut runner = Runner::start().unwrap();
    let memory = passing_through();
    let ran = run(&mut runner, &small, &memory);
    let mut uses: BTreeMap<u16, u32> = BTreeMap::new();
    for block in ran.blocks().iter().filter(|block| block.component == DENOISER) {
        *uses.entry(block.block).or_default() += 1;
    }
    // The caption embedder, the refiners and the modulations come first, then the blocks of every step.
    let once = uses.values().take_while(|&&count| count == 1).count();
    assert!(once >= 3, "{uses:?}");
    assert!(uses.values().skip(once).all(|&count| count == small.steps), "{uses:?}");
    assert!(uses.len() > once + 3, "{uses:?}");
}

/// Prompt and negative prompt go through an expert while it is there.
#[test]
fn experts_are_read_once_and_only_those_that_tokens_are_routed_to() {
    let fixture = Fixture::new("lens", "default");
    let folder = tempfile::tempdir().unwrap();
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let file = model.join("text_encoder/model.safetensors");
    let mut tensors = load(&file).unwrap();
    let router = tensors.get_mut("model.layers.1.mlp.router.bias").unwrap();
    *router = Tensor::new(&[0.0f32, 0.0, 0.0, 0.0, 0.0, -1e6], &Device::Cpu).unwrap();
    save(&tensors, &file).unwrap();
    let request = fixture.run("guided").unwrap().request(&model);
    let ran = run(&mut Runner::start().unwrap(), &request, &passing_through());
    let opened = models::open(&model, &[]).unwrap();
    let names: Vec<&str> = opened.parts[0].component.blocks.iter().map(|block| block.name.as_str()).collect();
    let mut read: BTreeMap<&str, u32> = BTreeMap::new();
    for block in ran.blocks().iter().filter(|block| block.component == TEXT) {
        *read.entry(names[usize::from(block.block)]).or_default() += 1;
    }
    assert!(read.values().all(|count| *count == 1), "{read:?}");
    assert!(read.contains_key("layers.0.mlp.experts.5") && read.contains_key("layers.1.mlp.experts.4"));
    assert!(!read.contains_key("layers.1.mlp.experts.5"), "{read:?}");
}

#[test]
fn an_unchanged_prompt_needs_no_encoder() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let encoder = |ran: &Ran| ran.blocks().iter().filter(|block| block.component == TEXT).count();
    let memory = mode(OffloadMode::Aggressive);
    assert!(encoder(&run(&mut runner, &tiny.request, &memory)) > 0);
    let other_seed = Request { seed: 99, ..tiny.request.clone() };
    assert_eq!(encoder(&run(&mut runner, &other_seed, &memory)), 0);
    let other_prompt = Request { prompt: "another".to_owned(), ..tiny.request.clone() };
    assert!(encoder(&run(&mut runner, &other_prompt, &memory)) > 0);
}

#[test]
fn what_stays_for_the_next_job_is_what_was_asked_for() {
    let tiny = Tiny::new();
    let from = |ran: &Ran, tier: Tier| {
        let is = |block: &&BlockRecord| block.component == DENOISER && block.walk == 0 && block.tier == tier;
        ran.blocks().iter().filter(is).count()
    };
    for (keep, first) in [(Keep::None, Tier::Disk), (Keep::Auto, Tier::Host), (Keep::All, Tier::Device)] {
        let mut runner = Runner::start().unwrap();
        let memory = MemoryPreferences { keep, ..mode(OffloadMode::CondDiffusion) };
        let before = run(&mut runner, &tiny.request, &memory);
        assert!(from(&before, Tier::Disk) > 0);
        let after = run(&mut runner, &tiny.request, &memory);
        let blocks =
            after.blocks().iter().filter(|block| block.component == DENOISER && block.walk == 0).count();
        assert_eq!(from(&after, first), blocks, "with {}", keep.name());
    }
}

#[test]
fn what_stays_can_be_chosen_for_single_parts() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let kept = |keep| PartChoice { keep: Some(keep), residence: None };
    let parts = [("text_encoders", kept(Keep::None)), ("denoiser", kept(Keep::All))];
    let parts = parts.map(|(name, choice)| (name.to_owned(), choice)).into();
    let memory = MemoryPreferences { parts, ..mode(OffloadMode::CondDiffusion) };
    run(&mut runner, &tiny.request, &memory);
    let other_prompt = Request { prompt: "another".to_owned(), ..tiny.request.clone() };
    let after = run(&mut runner, &other_prompt, &memory);
    let tiers = |component: u8| -> BTreeSet<Tier> {
        let blocks = after.blocks().into_iter().filter(|block| block.walk == 0);
        blocks.filter(|block| block.component == component).map(|block| block.tier).collect()
    };
    assert_eq!(tiers(TEXT), BTreeSet::from([Tier::Disk]));
    assert_eq!(tiers(DENOISER), BTreeSet::from([Tier::Device]));
}

#[test]
fn streamed_blocks_come_from_the_hosts_copy_after_the_first_step() {
    let small = starter(SMALL, 3);
    let mut runner = Runner::start().unwrap();
    let memory = half_streamed(&runner, &small);
    let ran = run(&mut runner, &small, &memory);
    let blocks = ran.blocks();
    let streamed = blocks.iter().filter(|block| block.component == DENOISER && block.slot.is_some());
    let mut seen = BTreeSet::new();
    let mut copies = 0;
    for block in streamed {
        let expected = if seen.insert(block.block) { Tier::Disk } else { Tier::Host };
        assert_eq!(block.tier, expected, "{block:?}");
        copies += u32::from(expected == Tier::Host);
    }
    assert!(copies > 0);
}

/// The RAM holds all weights.
#[test]
fn only_the_first_of_several_prompts_reads_from_disk() {
    let tiny = Tiny::new();
    let streaming = half_streamed(&Runner::start().unwrap(), &tiny.request);
    for memory in [streaming, mode(OffloadMode::LayerStreaming), mode(OffloadMode::Aggressive)] {
        let mut runner = Runner::start().unwrap();
        for number in 1..=3 {
            let request = Request { prompt: format!("prompt {number}"), ..tiny.request.clone() };
            let ran = run(&mut runner, &request, &memory);
            let from_disk = ran.blocks().into_iter().filter(|block| block.tier == Tier::Disk);
            let read: u64 = from_disk.map(|block| block.bytes).sum();
            assert_eq!(read > 0, number == 1, "prompt {number} read {read} bytes with {memory:?}");
        }
    }
}

/// Other copies are of use to the next run alone.
#[test]
fn a_run_that_keeps_nothing_copies_only_what_comes_again() {
    let tiny = Tiny::new();
    let runner = Runner::start().unwrap();
    let host = |keep, offload| {
        let memory = MemoryPreferences { keep, ..mode(offload) };
        forecast(&runner, &tiny.request, &memory).plan.unwrap().peak_host()
    };
    assert_eq!(host(Keep::None, OffloadMode::Aggressive), 0);
    assert!(host(Keep::Auto, OffloadMode::Aggressive) > 0);
}

#[test]
fn everything_that_is_kept_is_in_the_forecast_but_not_beside_the_only_part_in_use() {
    let tiny = Tiny::new();
    for offload in [OffloadMode::CondDiffusion, OffloadMode::LayerStreaming, OffloadMode::Aggressive] {
        let mut runner = Runner::start().unwrap();
        let memory = MemoryPreferences { keep: Keep::All, ..mode(offload) };
        for number in 1..=2 {
            let request = Request { prompt: format!("prompt {number}"), ..tiny.request.clone() };
            let outcome = run(&mut runner, &request, &memory).outcome;
            let (predicted, measured) = (outcome.predicted_device, outcome.measured_device);
            assert!(measured <= predicted, "{measured} of {predicted} with {offload:?}, prompt {number}");
        }
    }
    let runner = Runner::start().unwrap();
    let kept = |offload| {
        let memory = MemoryPreferences { keep: Keep::All, ..mode(offload) };
        let plan = forecast(&runner, &tiny.request, &memory).plan.unwrap();
        plan.stages.iter().map(|stage| stage.kept).max().unwrap()
    };
    assert!(kept(OffloadMode::CondDiffusion) > 0);
    assert_eq!(kept(OffloadMode::Aggressive), 0);
}

/// Copies of encoded blocks that stay would be of use to the next run alone.
#[test]
fn weights_in_8_bits_are_not_copied_either_if_nothing_is_kept() {
    let tiny = Tiny::new();
    let runner = Runner::start().unwrap();
    let half = half_streamed(&runner, &tiny.request).with_precision(Storage::Int8);
    let host = |keep| {
        let memory = MemoryPreferences { keep, ..half.clone() };
        forecast(&runner, &tiny.request, &memory).plan.unwrap().peak_host()
    };
    let (kept, single) = (host(Keep::Auto), host(Keep::None));
    assert!(single < kept, "{single} and {kept} bytes");
}

/// Only in 8 bits does it fit, so the run holds its weights in 8 bits if that is allowed.
#[test]
fn a_run_uses_8_bits_where_nothing_else_fits_and_they_are_allowed() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    let whole = MemoryPreferences {
        text_encoder: Some(Residence::Resident),
        denoiser: Some(Residence::Resident),
        autoencoder: Some(Residence::Resident),
        ..card()
    };
    let least = |memory: &MemoryPreferences| forecast(&runner, &tiny.request, memory).least_device.unwrap();
    let (stored, small) = (least(&whole), least(&whole.with_precision(Storage::Int8)));
    assert!(small < stored, "{small} and {stored} bytes");
    let tight = MemoryPreferences { vram_budget: Some((small + stored) / 2), ..whole };
    assert!(attempt(&mut runner, &tiny.request, &tight).failure().is_ok());
    let allowed = MemoryPreferences { may_use_8_bit: true, ..tight };
    let ran = run(&mut runner, &tiny.request, &allowed);
    assert!(ran.outcome.measured_device <= (small + stored) / 2);
    assert_ne!(ran.outcome.run.unwrap().precisions, [Storage::Stored; 2]);
}
