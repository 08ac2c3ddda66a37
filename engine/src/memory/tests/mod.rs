//! Models, requests and machines for the tests of this room.

mod forecasts;
mod models;
mod pipeline;
mod plans;
mod unified;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    BlockFootprint, BlockWork, Footprint, Held, Link, Machine, MemoryPreferences, OffloadMode, PartFootprint,
    PartUse, PublishedBlocks, Residence, SharedWork, StageKind, StageWork, Wish, Work, Workload, part_names,
};
use crate::{
    checkpoint::{Errors, Role},
    memory::AttentionBytes,
    precision::Storage,
    request::ComputeDtype,
};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

fn block(name: &str, bytes: u64, tensors: u64) -> BlockFootprint {
    let (weights, largest) = (bytes / 2 / 10 * 9, bytes.div_ceil(tensors.max(1)));
    let held = |storage: Storage| {
        let share = if storage.bits() == Some(8) { 2 } else { 4 };
        let (bytes, largest_tensor) = (bytes - 2 * weights + 2 * weights / share, largest / share);
        let format = storage.encoding(1, 4096).map(|encoding| (encoding.format, weights));
        (
            storage,
            Held { bytes, by_dtype: [bytes, 0, 0, 0], largest_tensor, encoded: format.into_iter().collect() },
        )
    };
    BlockFootprint {
        name: name.to_owned(),
        bytes,
        by_dtype: [bytes, 0, 0, 0],
        largest_tensor: largest,
        file_bytes: bytes,
        parameters: bytes / 2,
        encoded: BTreeMap::new(),
        smaller: Storage::smaller().map(held).collect(),
    }
}

fn work(passes: u32, operations: f64, activations: u64, reads: u32) -> BlockWork {
    let shared = SharedWork { activations: activations + activations / 2, reads: 1 };
    BlockWork { passes, operations, activations, reads, shared: (reads > 1).then_some(shared) }
}

fn card(device_budget: u64, host_budget: u64, gigabytes_per_second: f64) -> Machine {
    Machine {
        device: "RTX 3060".to_owned(),
        unified: false,
        device_total: 12 * GIB,
        device_budget,
        host_budget,
        link: Link { bytes_per_second: gigabytes_per_second * 1e9, latency: 1e-5 },
        disk: Link { bytes_per_second: 2e9, latency: 1e-4 },
        disk_is_measured: false,
        operations_per_second: 2e13,
        block_latency: 1e-4,
        own_speeds: BTreeMap::new(),
    }
}

fn any_part(role: Role) -> impl Strategy<Value = (PartFootprint, Vec<Work>)> {
    let blocks = prop::collection::vec((0..5u64, 0..4u32, 0..4u64, 1..5u64), 0..7);
    (blocks, 1..5u32, 1..4usize, 1..3u32).prop_map(move |(parts, walks, ways, reads)| {
        let blocks = parts.iter().enumerate();
        let footprints =
            blocks.map(|(index, &(size, _, _, tensors))| block(&index.to_string(), size * 7 * MIB, tensors));
        let ways = if role == Role::Autoencoder { ways } else { 1 };
        let way = |index: usize| Work {
            tile: (index > 0).then_some(64 >> index),
            carried: (5 * MIB) >> index,
            blocks: parts
                .iter()
                .map(|&(_, kind, heavy, _)| {
                    let passes = [0, 1, walks, walks][kind as usize] << if walks > 1 { index } else { 0 };
                    work(passes, heavy as f64 * 4e9, (heavy * 3 * MIB) >> index, reads)
                })
                .collect(),
        };
        let part = PartFootprint {
            name: role.id().to_owned(),
            role,
            architecture: "random".to_owned(),
            blocks: footprints.collect(),
            published: PublishedBlocks::default(),
            errors: Errors::new(),
        };
        (part, (0..ways).map(way).collect())
    })
}

/// Up to two text encoders, one or two denoisers that take turns, one or two autoencoders; stages that use parts again,
/// for a share of their blocks.
fn any_model() -> impl Strategy<Value = (Footprint, Workload)> {
    use StageKind::{
        Decode, Denoise, Detect, EncodeImage, EncodePrompt, Interpolate, Preprocess, Upscale, Write,
    };
    let parts = (
        prop::collection::vec(any_part(Role::TextEncoder), 0..3),
        prop::collection::vec(any_part(Role::Denoiser), 1..3),
        prop::collection::vec(any_part(Role::Autoencoder), 1..3),
    );
    let further = prop::collection::vec((any::<prop::sample::Index>(), 1..4usize), 0..3);
    (parts, 1..4u32, further).prop_map(|((text, denoisers, autoencoders), steps, further)| {
        let all: Vec<_> = text.into_iter().chain(denoisers).chain(autoencoders).collect();
        let (mut parts, works): (Vec<PartFootprint>, Vec<Vec<Work>>) = all.into_iter().unzip();
        let names = part_names(parts.iter().map(|part| part.role));
        parts.iter_mut().zip(names).for_each(|(part, name)| part.name = name);
        let mut stages: Vec<StageWork> = Vec::new();
        for (part, ways) in works.iter().cloned().enumerate() {
            let part_use = PartUse { part, ways };
            match (parts[part].role, stages.last_mut()) {
                (Role::TextEncoder, Some(stage)) => stage.uses.push(part_use),
                (Role::TextEncoder, None) => stages.push(StageWork::new(EncodePrompt, vec![part_use])),
                (Role::Denoiser, _) => stages.push(StageWork::new(Denoise, vec![part_use])),
                (Role::Autoencoder, _) => stages.push(StageWork::new(Decode, vec![part_use])),
                (Role::Upscaler, _) => stages.push(StageWork::new(Upscale, vec![part_use])),
                (Role::Interpolator, _) => stages.push(StageWork::new(Interpolate, vec![part_use])),
                (Role::LanguageModel, _) => stages.push(StageWork::new(Write, vec![part_use])),
                (Role::Preprocessor | Role::Segmenter, _) => {
                    stages.push(StageWork::new(Preprocess, vec![part_use]))
                }
                (Role::Detector, _) => stages.push(StageWork::new(Detect, vec![part_use])),
            }
        }
        for (part, nth) in further {
            let part = part.index(parts.len());
            let mut ways = works[part].clone();
            let blocks = ways.iter_mut().flat_map(|way| way.blocks.iter_mut().step_by(nth));
            blocks.for_each(|block| block.passes = 0);
            let kind = match parts[part].role {
                Role::TextEncoder => EncodePrompt,
                Role::Denoiser => Denoise,
                Role::Autoencoder => EncodeImage,
                Role::Upscaler => Upscale,
                Role::Interpolator => Interpolate,
                Role::Preprocessor | Role::Segmenter => Preprocess,
                Role::Detector => Detect,
                Role::LanguageModel => Write,
            };
            stages.push(StageWork::new(kind, vec![PartUse { part, ways }]));
        }
        let footprint = Footprint { model: "random".to_owned(), dtype: ComputeDtype::Bf16, parts };
        (footprint, Workload { images: 1, steps, stages, attention: AttentionBytes::default() })
    })
}

fn any_machine() -> impl Strategy<Value = Machine> {
    let budgets = (0..200 * MIB, prop_oneof![Just(GIB), 0..100 * MIB]);
    (budgets, prop::bool::weighted(0.2), 1..20u32, 1..10u32, 1..20u32).prop_map(
        |((device_budget, host_budget), unified, link, disk, speed)| Machine {
            unified,
            disk: Link { bytes_per_second: f64::from(disk) * 3e8, latency: 1e-4 },
            operations_per_second: f64::from(speed) * 1e12,
            ..card(device_budget, host_budget, f64::from(link))
        },
    )
}

fn any_question() -> impl Strategy<Value = (Footprint, Workload, Machine, MemoryPreferences)> {
    let parts = (any_model(), any_machine(), any_preferences());
    parts
        .prop_map(|((footprint, workload), machine, preferences)| (footprint, workload, machine, preferences))
}

fn any_residence() -> impl Strategy<Value = Option<Residence>> {
    prop::option::weighted(0.2, prop::sample::select(Residence::ALL))
}

fn any_preferences() -> impl Strategy<Value = MemoryPreferences> {
    let choices = (prop::sample::select(OffloadMode::ALL), prop::sample::select(Wish::ALL));
    let tile = prop::option::weighted(0.1, prop::sample::select(&[8u32, 16, 32, 64][..]));
    let residences = (any_residence(), any_residence(), any_residence());
    (choices, residences, prop::option::weighted(0.2, 0..5u32), tile).prop_map(
        |((mode, wish), (text_encoder, denoiser, autoencoder), prefetch, tile)| MemoryPreferences {
            mode,
            wish,
            text_encoder,
            denoiser,
            autoencoder,
            prefetch,
            tile,
            ..MemoryPreferences::default()
        },
    )
}
