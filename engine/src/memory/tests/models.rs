//! Models that look like published ones, as far as blocks, bytes and operations go.

use super::*;

fn part(role: Role, blocks: Vec<(BlockFootprint, BlockWork)>, carried: u64) -> (PartFootprint, Vec<Work>) {
    let (blocks, works) = blocks.into_iter().unzip();
    let way = Work { tile: None, carried, blocks: works };
    let footprint = PartFootprint {
        name: role.id().to_owned(),
        role,
        architecture: "transformer".to_owned(),
        blocks,
        published: PublishedBlocks::default(),
        errors: Errors::new(),
    };
    (footprint, vec![way])
}

/// An encoder of 36 blocks, a denoiser given block by block, and an autoencoder that can be tiled.
fn model(denoiser: Vec<(u64, f64)>, steps: u32) -> (Footprint, Workload) {
    let encoder =
        (0..36).map(|index| (block(&format!("layer {index}"), 200 * MIB, 7), work(1, 1e11, 40 * MIB, 1)));
    let encoder = part(Role::TextEncoder, encoder.collect(), 20 * MIB);
    let stem = (block("caption embedder", 20 * MIB, 2), work(1, 1e10, 20 * MIB, 1));
    let blocks = denoiser.into_iter().enumerate().map(|(index, (bytes, operations))| {
        (block(&format!("block {index}"), bytes, 8), work(steps, operations, 600 * MIB, 2))
    });
    let denoiser = part(Role::Denoiser, [stem].into_iter().chain(blocks).collect(), 100 * MIB);
    let levels = (0..5).map(|index| (block(&format!("up {index}"), 30 * MIB, 4), work(1, 1e12, 3 * GIB, 1)));
    let mut autoencoder = part(Role::Autoencoder, levels.collect(), 200 * MIB);
    for side in [64u32, 32] {
        let mut way = autoencoder.1[0].clone();
        way.tile = Some(side);
        way.blocks.iter_mut().for_each(|block| {
            block.activations = block.activations * u64::from(side) / 256;
            block.operations *= 1.2;
        });
        autoencoder.1.push(way);
    }
    let (parts, works): (Vec<_>, Vec<_>) = [encoder, denoiser, autoencoder].into_iter().unzip();
    let kinds = [StageKind::EncodePrompt, StageKind::Denoise, StageKind::Decode];
    let stages = kinds.into_iter().zip(works).enumerate();
    let stages =
        stages.map(|(part, (kind, ways))| StageWork::new(kind, vec![PartUse { part, ways }])).collect();
    (
        Footprint { model: "example".to_owned(), dtype: ComputeDtype::Bf16, parts },
        Workload { images: 1, steps, stages, attention: AttentionBytes::default() },
    )
}

/// 30 equal blocks of 380 MiB.
pub(super) fn even(steps: u32) -> (Footprint, Workload) {
    model(vec![(380 * MIB, 1.2e12); 30], steps)
}

/// 19 blocks with 2.4 times the bytes of the 38 that follow, for the same computation.
pub(super) fn two_kinds(steps: u32) -> (Footprint, Workload) {
    let kinds = [vec![(648 * MIB, 1e12); 19], vec![(270 * MIB, 1e12); 38]];
    model(kinds.concat(), steps)
}
