//! The GPU presets hold: every model of a preset fits every GPU of its size.

use sluice_engine::{
    hardware::{CardProfile, cards},
    memory::{CardPreset, Plan, PresetModel, StageKind, card_presets, machine_of, plan},
    request::Request,
};
use sluice_tests::known::{request, sizes};

/// What a machine with 32 GB of RAM has left for weights.
const HOST_BUDGET: u64 = 24 << 30;

fn cards_of(preset: &CardPreset) -> Vec<&'static CardProfile> {
    cards().iter().filter(|card| card.vram == preset.vram).collect()
}

fn planned(preset: &CardPreset, model: &PresetModel, card: &CardProfile) -> Plan {
    let request = Request { width: model.width, height: model.height, ..request(&model.model).unwrap() };
    let machine = machine_of(card, HOST_BUDGET, preset.memory.min_free_vram);
    let (footprint, workload) = sizes(&model.model, &request).unwrap();
    plan(&footprint, &workload, &machine, &preset.memory)
        .unwrap_or_else(|error| panic!("{} with {} on {}: {error}", model.model, preset.name, card.name))
}

#[test]
fn every_preset_fits_its_cards() {
    for preset in card_presets() {
        let cards = cards_of(preset);
        assert!(!cards.is_empty(), "no card is known of the size of {}", preset.name);
        for (card, model) in
            cards.iter().flat_map(|card| preset.models.iter().map(move |model| (card, model)))
        {
            let plan = planned(preset, model, card);
            let taken = plan.peak_device() + preset.memory.min_free_vram;
            assert!(taken <= card.vram, "{} with {} on {}: {taken}", model.model, preset.name, card.name);
            assert!(plan.peak_host() <= HOST_BUDGET, "{} with {}", model.model, preset.name);
        }
    }
}

#[test]
fn streaming_flux_on_eight_gigabytes_is_almost_free() {
    let preset = card_presets().first().expect("there are presets");
    let flux = preset.models.iter().find(|model| model.model == "flux.1-dev").expect("it has FLUX.1");
    let card = cards().iter().find(|card| card.id == "rtx-4060").expect("the card is known");
    let (_, workload) = sizes("flux.1-dev", &request("flux.1-dev").unwrap()).unwrap();
    let denoiser = workload.stages_of(StageKind::Denoise).flat_map(|stage| &stage.uses).next();
    let blocks = &denoiser.expect("it has a denoiser").ways[0].blocks;
    let operations: f64 = blocks.iter().filter(|block| block.passes > 1).map(|block| block.operations).sum();
    let compute = operations / card.operations_per_second;
    let step = planned(preset, flux, card).seconds_per_step;
    assert!(step < 1.1 * compute, "{step} s a step, {compute} s of computing");
}
