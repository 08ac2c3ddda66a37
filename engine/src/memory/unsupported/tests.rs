use super::*;
use crate::memory::{StageKind, Work, Workload};

fn model(id: &str) -> &'static UnsupportedModel {
    unsupported_models().iter().find(|model| model.id == id).unwrap()
}

fn parameters(id: &str, role: Role) -> Vec<u64> {
    let components = model(id).components.iter().filter(|component| component.role == role);
    components.map(|component| component.blocks.iter().map(|block| block.parameters).sum()).collect()
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
                assert!(!block.name.contains('{'), "{}: {}", model.id, block.name);
                for formula in [&block.operations, &block.carried, &block.values] {
                    assert!(formula.is_sound(), "{}: {}", model.id, block.name);
                }
            }
        }
        let shares = model.components.iter().filter(|component| component.role == Role::Denoiser);
        assert!((shares.map(|component| component.share).sum::<f64>() - 1.0).abs() < 1e-9, "{}", model.id);
    }
}

#[test]
fn numbers_of_weights_are_those_that_are_published() {
    use Role::{Autoencoder, Denoiser, TextEncoder};
    let published: [(&str, Role, &[f64]); 3] = [
        // 8.29 with the output head of 0.545, which no prompt needs.
        ("qwen-image", TextEncoder, &[7.747]),
        ("qwen-image", Denoiser, &[20.43]),
        ("qwen-image", Autoencoder, &[0.1269]),
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
fn more_of_anything_takes_no_less() {
    for model in unsupported_models() {
        let base = RequestShape { steps: 4, ..model.request() };
        let small = model.workload(&base, 2);
        let larger = [
            RequestShape { width: base.width * 2, ..base },
            RequestShape { height: base.height * 2, ..base },
            RequestShape { frames: base.frames + 16, ..base },
            RequestShape { images: 2, ..base },
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
    for model in unsupported_models() {
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
}
