//! Well-known models are planned without files, by their families.

use sluice_engine::{
    checkpoint::Role,
    memory::{Footprint, MemoryPreferences, PartFootprint, StageKind, Work, Workload},
    nn::{Balance, Computes, Kernels},
    precision::Storage,
    request::Request,
};
use sluice_tests::known::{request, sizes, sizes_on};

fn way(workload: &Workload, kind: StageKind) -> &Work {
    &workload.stages_of(kind).next().expect("the stage").uses[0].ways[0]
}

#[test]
fn modulations_of_flux_are_a_quarter_of_its_weights_and_run_once() {
    let (footprint, workload) = sizes("flux.1-dev", &request("flux.1-dev").unwrap()).unwrap();
    let transformer = footprint.parts.iter().find(|part| part.role == Role::Denoiser).unwrap();
    assert!((23.7e9..23.9e9).contains(&(transformer.bytes() as f64)));
    let is_modulation = |name: &str| name.contains("transformer_blocks.") && name.ends_with(".modulation");
    let modulations = transformer.blocks.iter().filter(|block| is_modulation(&block.name));
    let bytes: u64 = modulations.clone().map(|block| block.bytes).sum();
    assert_eq!(modulations.count(), 57);
    assert!((6.3e9..6.5e9).contains(&(bytes as f64)), "{bytes}");
    for (block, work) in transformer.blocks.iter().zip(&way(&workload, StageKind::Denoise).blocks) {
        if is_modulation(&block.name) {
            assert_eq!(work.passes, 1, "{}", block.name);
        } else if block.name.contains("transformer_blocks.") {
            assert_eq!(work.passes, 28, "{}", block.name);
        }
    }
}

#[test]
fn fp8_halves_a_unet_with_its_convolutions() {
    for (model, most) in [("sd1.5", 0.55), ("sdxl", 0.55), ("flux.1-dev", 0.65)] {
        let (footprint, _) = sizes(model, &request(model).unwrap()).unwrap();
        let denoiser = |footprint: &Footprint| {
            let part = footprint.parts.iter().find(|part| part.role == Role::Denoiser);
            part.map_or(0, PartFootprint::bytes) as f64
        };
        let preferences =
            MemoryPreferences { denoiser_precision: Storage::Fp8, ..MemoryPreferences::default() };
        let share = denoiser(&footprint.held_as(&preferences)) / denoiser(&footprint);
        assert!((0.5..most).contains(&share), "{model}: {share}");
    }
}

#[test]
fn a_block_of_the_published_network_has_its_modulation() {
    let (footprint, _) = sizes("flux.1-dev", &request("flux.1-dev").unwrap()).unwrap();
    let transformer = footprint.parts.iter().find(|part| part.role == Role::Denoiser).unwrap();
    let group = transformer.published.largest_group(1).unwrap() * transformer.bytes() as f64;
    // For image and text each, a double block has 4 matrices of 3072×3072 for attention, 8 for the MLP and 6 for modulation.
    let block = 2.0 * 3072.0_f64.powi(2) * (2.0 * 12.0 + 12.0);
    // In no block are the projections of latents and text, the embedders of timestep, guidance and text, and the last norm.
    let embedders = 2.0 * (256.0 + 3072.0) + 768.0 + 3072.0;
    let outside = 2.0 * 3072.0 * (64.0 + 4096.0 + embedders + 2.0 * 3072.0 + 64.0);
    assert!((group - block - outside).abs() < 0.01 * block, "{group} instead of {}", block + outside);
    assert!(group > footprint.largest_block() as f64);
}

#[test]
fn a_block_of_flux_computes_what_its_matrices_and_tokens_say() {
    // With a memory that takes no time.
    let computes = Computes::Card(Kernels::NONE, Balance::of(0.0, 1.0));
    let (footprint, workload) = sizes_on("flux.1-dev", &request("flux.1-dev").unwrap(), computes).unwrap();
    let transformer = footprint.parts.iter().find(|part| part.role == Role::Denoiser).unwrap();
    let index =
        transformer.blocks.iter().position(|block| block.name == "single_transformer_blocks.0").unwrap();
    let tokens = f64::from(64 * 64 + 512);
    let (width, inner) = (3072.0, 4.0 * 3072.0);
    let weights = width * (3.0 * width + inner) + (width + inner) * width;
    let expected = 2.0 * weights * tokens + 4.0 * tokens * tokens * width;
    let work = way(&workload, StageKind::Denoise);
    assert!(
        (work.blocks[index].operations / expected - 1.0).abs() < 0.01,
        "{}",
        work.blocks[index].operations
    );
    let passes = work.blocks.iter().filter(|block| block.passes > 1);
    let step: f64 = passes.map(|block| block.operations).sum();
    assert!((73e12..76e12).contains(&step), "{step} operations a step");
}

#[test]
fn the_decoder_of_flux_holds_its_widest_level_as_columns_and_two_tensors() {
    let (_, workload) = sizes("flux.1-dev", &request("flux.1-dev").unwrap()).unwrap();
    let widest = 256 * 1024 * 1024 * 2;
    let peak = way(&workload, StageKind::Decode).peak_activations();
    assert!((11 * widest..13 * widest).contains(&peak), "{peak}");
}

/// Images of a batch are decoded one after the other.
#[test]
fn a_batch_takes_no_more_memory_to_decode() {
    let one = request("sdxl").unwrap();
    let peak = |batch| {
        let (_, workload) = sizes("sdxl", &Request { batch, ..one.clone() }).unwrap();
        way(&workload, StageKind::Decode).peak_activations()
    };
    assert!(peak(4) < peak(1) * 101 / 100, "{} and {}", peak(4), peak(1));
}

#[test]
fn guidance_takes_a_second_branch_where_the_network_has_no_input_for_it() {
    for (id, guidance, branches) in
        [("flux.1-dev", 3.5, 1), ("sdxl", 5.0, 2), ("sdxl", 1.0, 1), ("z-image", 0.0, 1), ("z-image", 0.5, 2)]
    {
        let (_, workload) = sizes(id, &Request { guidance, ..request(id).unwrap() }).unwrap();
        let blocks = &way(&workload, StageKind::Denoise).blocks;
        let reads = blocks.iter().filter(|block| block.passes > 1).map(|block| block.reads).max();
        assert_eq!(reads, Some(branches), "{id} with guidance {guidance}");
    }
}
