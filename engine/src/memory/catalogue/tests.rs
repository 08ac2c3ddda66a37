use super::*;
use crate::memory::{StageKind, Work, Workload};

fn model(id: &str) -> &'static KnownModel {
    known_model(id).unwrap()
}

fn parameters(id: &str, role: Role) -> Vec<u64> {
    let components = model(id).components.iter().filter(|component| component.role == role);
    components.map(KnownComponent::parameters).collect()
}

fn denoising(workload: &Workload) -> impl Iterator<Item = &Work> {
    workload.stages_of(StageKind::Denoise).flat_map(|stage| &stage.uses).flat_map(|part_use| &part_use.ways)
}

fn operations(work: &Work) -> f64 {
    work.blocks.iter().map(|block| f64::from(block.passes) * block.operations).sum()
}

#[test]
fn the_file_is_sound() {
    let models = read(include_str!("../../../../presets/models.json")).unwrap();
    for model in &models {
        assert!(model.components.len() >= 3, "{}", model.id);
        assert!(model.components.iter().map(|component| component.role).is_sorted(), "{}", model.id);
        for component in &model.components {
            assert_eq!(component.tokens.is_some(), component.role == Role::TextEncoder, "{}", model.id);
            for block in &component.blocks {
                assert!(block.matrix_parameters <= block.parameters, "{}: {}", model.id, block.name);
                assert!(block.largest_tensor <= block.parameters, "{}: {}", model.id, block.name);
                assert!(block.tensors > 0 && !block.name.contains('{'), "{}: {}", model.id, block.name);
                for formula in [&block.operations, &block.carried, &block.values] {
                    assert!(formula.is_sound(), "{}: {}", model.id, block.name);
                }
            }
        }
        let shares = model.components.iter().filter(|component| component.role == Role::Denoiser);
        assert!((shares.map(|component| component.share).sum::<f64>() - 1.0).abs() < 1e-9, "{}", model.id);
        let names = || models.iter().flat_map(|model| std::iter::once(&model.id).chain(&model.aliases));
        for name in std::iter::once(&model.id).chain(&model.aliases) {
            assert_eq!(names().filter(|other| other.eq_ignore_ascii_case(name)).count(), 1, "{name}");
        }
    }
}

#[test]
fn numbers_of_weights_are_those_that_are_published() {
    use Role::{Autoencoder, Denoiser, TextEncoder};
    let published: [(&str, Role, &[f64]); 21] = [
        ("flux.1-dev", TextEncoder, &[0.123, 4.762]),
        ("flux.1-dev", Denoiser, &[11.90]),
        ("flux.1-dev", Autoencoder, &[0.0838]),
        ("flux.1-schnell", Denoiser, &[11.89]),
        ("z-image", TextEncoder, &[4.022]),
        ("z-image", Denoiser, &[6.155]),
        // 8.29 with the output head of 0.545, which no prompt needs.
        ("qwen-image", TextEncoder, &[7.747]),
        ("qwen-image", Denoiser, &[20.43]),
        ("qwen-image", Autoencoder, &[0.1269]),
        ("sd3.5-large", TextEncoder, &[0.1237, 0.6947, 4.762]),
        // 8.06 with the table of positions, which is in the files too.
        ("sd3.5-large", Denoiser, &[8.057 + 0.0897]),
        ("sd3.5-medium", Denoiser, &[2.243 + 0.2265]),
        ("sdxl", Denoiser, &[2.567]),
        ("sdxl", Autoencoder, &[0.08365]),
        ("sd1.5", Denoiser, &[0.8595]),
        ("wan-2.2-5b", TextEncoder, &[5.681]),
        ("wan-2.2-5b", Denoiser, &[5.0]),
        ("wan-2.2-5b", Autoencoder, &[0.7047]),
        ("wan-2.2-14b", Denoiser, &[14.29, 14.29]),
        ("ltx-video", Denoiser, &[1.923]),
        ("ltx-video-13b", Denoiser, &[13.04]),
    ];
    for (id, role, billions) in published {
        let found = parameters(id, role);
        assert_eq!(found.len(), billions.len(), "{id}");
        for (found, billions) in found.into_iter().zip(billions) {
            assert!((found as f64 / 1e9 / billions - 1.0).abs() < 1e-3, "{id} {role}: {found}");
        }
    }
}

#[test]
fn models_are_found_by_identifier_and_alias() {
    for name in ["flux.1-dev", "FLUX.1-dev", "flux-dev", "flux1-dev"] {
        assert_eq!(model(name).id, "flux.1-dev");
    }
    assert_eq!(model("sd15").id, "sd1.5");
    assert!(known_model("flux.1-dew").is_none());
}

#[test]
fn modulations_of_flux_are_a_quarter_of_its_weights_and_run_once() {
    let footprint = model("flux.1-dev").footprint(2);
    let transformer = footprint.parts.iter().find(|part| part.role == Role::Denoiser).unwrap();
    let modulations = transformer.blocks.iter().filter(|block| block.name.ends_with(".modulation"));
    let bytes: u64 = modulations.clone().map(|block| block.bytes).sum();
    assert_eq!(modulations.count(), 57);
    assert!((6.3e9..6.5e9).contains(&(bytes as f64)), "{bytes}");
    assert!((23.7e9..23.9e9).contains(&(transformer.bytes() as f64)));
    assert_eq!(footprint.total(), footprint.parts.iter().map(PartFootprint::bytes).sum::<u64>());

    let workload = model("flux.1-dev").workload(&model("flux.1-dev").request(), 2);
    let work = denoising(&workload).next().unwrap();
    for (block, work) in transformer.blocks.iter().zip(&work.blocks) {
        let once = block.name.ends_with(".modulation") || block.name == "conditioning";
        assert_eq!(work.passes, if once { 1 } else { 28 }, "{}", block.name);
    }
}

#[test]
fn a_block_of_flux_computes_what_its_matrices_and_tokens_say() {
    let flux = model("flux.1-dev");
    let workload = flux.workload(&flux.request(), 2);
    let work = denoising(&workload).next().unwrap();
    let names = &flux.components.iter().find(|part| part.role == Role::Denoiser).unwrap().blocks;
    let index = names.iter().position(|block| block.name == "single_transformer_blocks.0").unwrap();
    let tokens = f64::from(64 * 64 + 512);
    let expected = 2.0 * names[index].matrix_parameters as f64 * tokens + 4.0 * tokens * tokens * 3072.0;
    assert!((work.blocks[index].operations / expected - 1.0).abs() < 1e-12);
    // 74 TFLOP a step.
    assert!((73e12..76e12).contains(&(operations(work) / 28.0)), "{}", operations(work));
}

#[test]
fn more_of_anything_takes_no_less() {
    for model in known_models() {
        let base = RequestShape { steps: 4, ..model.request() };
        let small = model.workload(&base, 2);
        let larger = [
            RequestShape { width: base.width * 2, ..base },
            RequestShape { height: base.height * 2, ..base },
            RequestShape { frames: base.frames + 16, ..base },
            RequestShape { pictures: 2, ..base },
            RequestShape { steps: 8, ..base },
            RequestShape { calls_per_step: 2, ..base },
            RequestShape { branches: base.branches + 1, ..base },
            RequestShape { prompt_tokens: 500, ..base },
        ];
        for shape in larger {
            let large = model.workload(&shape, 2);
            for (small, large) in small.uses().zip(large.uses()) {
                let (small, large) = (&small.ways[0], &large.ways[0]);
                assert!(operations(large) >= operations(small), "{} {shape:?}", model.id);
                assert!(large.peak_activations() >= small.peak_activations(), "{} {shape:?}", model.id);
            }
        }
        let wide = model.workload(&base, 4);
        assert!(denoising(&wide).zip(denoising(&small)).all(|(wide, small)| wide.carried > small.carried));
    }
}

#[test]
fn smaller_tiles_hold_less_and_compute_more() {
    for model in known_models() {
        let shape = RequestShape { width: 2048, height: 2048, ..model.request() };
        let workload = model.workload(&shape, 2);
        let ways = &workload.uses().last().unwrap().ways;
        assert!(ways.len() >= 5 && ways[0].tile.is_none(), "{}", model.id);
        for pair in ways.windows(2) {
            assert!(pair[1].tile < pair[0].tile || pair[0].tile.is_none(), "{}", model.id);
            assert!(pair[1].peak_activations() < pair[0].peak_activations(), "{}", model.id);
        }
        let passes = |way: &Work| way.blocks.iter().map(|block| block.passes).max().unwrap();
        assert_eq!(passes(&ways[0]), 1, "{}", model.id);
        assert!(ways.windows(2).all(|pair| passes(&pair[1]) >= passes(&pair[0])), "{}", model.id);
    }
    let flux = model("flux.1-dev").workload(&model("flux.1-dev").request(), 2);
    let tiles: Vec<_> = flux.uses().last().unwrap().ways.iter().map(|way| way.tile).collect();
    assert_eq!(tiles, [None, Some(96), Some(64), Some(48), Some(32)]);
}

#[test]
fn the_decoder_of_flux_holds_three_tensors_of_its_widest_level() {
    let flux = model("flux.1-dev");
    let workload = flux.workload(&flux.request(), 2);
    let work = &workload.uses().last().unwrap().ways[0];
    let widest = 256 * 1024 * 1024 * 2;
    assert!((3 * widest..4 * widest).contains(&work.peak_activations()), "{}", work.peak_activations());
}

#[test]
fn experts_share_the_steps() {
    let wan = model("wan-2.2-14b");
    let workload = wan.workload(&wan.request(), 2);
    let passes: Vec<u32> = denoising(&workload)
        .map(|work| work.blocks.iter().map(|block| block.passes).max().unwrap())
        .collect();
    assert_eq!(passes, [25, 15]);
    let one = wan.workload(&RequestShape { steps: 1, ..wan.request() }, 2);
    assert_eq!(denoising(&one).map(|work| work.blocks[1].passes).sum::<u32>(), 1);
}

#[test]
fn guidance_takes_a_second_branch_where_the_network_has_no_input_for_it() {
    assert_eq!(model("flux.1-dev").branches(3.5), 1);
    assert_eq!(model("sdxl").branches(5.0), 2);
    assert_eq!(model("sdxl").branches(1.0), 1);
    assert_eq!(model("z-image").branches(0.0), 1);
    assert_eq!(model("z-image").branches(0.5), 2);
}
