//! Models, requests and machines for the tests of this room.

mod forecasts;
mod models;
mod pipeline;
mod plans;

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    BlockFootprint, BlockWork, ComponentFootprint, ComponentWork, Footprint, Held, Link, Machine,
    MemoryPreferences, OffloadMode, Residence, Stage, Wish, Work, Workload,
};
use crate::{
    checkpoint::{Errors, Role},
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
        (storage, Held { bytes, largest_tensor, encoded: format.into_iter().collect() })
    };
    BlockFootprint {
        name: name.to_owned(),
        bytes,
        largest_tensor: largest,
        file_bytes: bytes,
        parameters: bytes / 2,
        encoded: BTreeMap::new(),
        smaller: Storage::smaller().map(held).collect(),
    }
}

fn work(passes: u32, operations: f64, activations: u64, reads: u32) -> BlockWork {
    BlockWork { passes, operations, activations, reads }
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
        operations_per_second: 2e13,
        block_latency: 1e-4,
    }
}

fn any_component(role: Role, stage: Stage) -> impl Strategy<Value = (ComponentFootprint, ComponentWork)> {
    let blocks = prop::collection::vec((0..5u64, 0..4u32, 0..4u64, 1..5u64), 0..7);
    (blocks, 1..5u32, 1..4usize, 1..3u32).prop_map(move |(parts, walks, ways, reads)| {
        let blocks = parts.iter().enumerate();
        let footprints =
            blocks.map(|(index, &(size, _, _, tensors))| block(&index.to_string(), size * 7 * MIB, tensors));
        let ways = if stage == Stage::Decode { ways } else { 1 };
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
        let component = ComponentFootprint {
            role,
            architecture: "random".to_owned(),
            blocks: footprints.collect(),
            errors: Errors::new(),
        };
        (component, ComponentWork { stage, also: None, ways: (0..ways).map(way).collect() })
    })
}

fn any_model() -> impl Strategy<Value = (Footprint, Workload)> {
    let parts = (
        prop::collection::vec(any_component(Role::TextEncoder, Stage::Encode), 0..3),
        any_component(Role::Denoiser, Stage::Denoise),
        any_component(Role::Autoencoder, Stage::Decode),
    );
    (parts, 1..4u32).prop_map(|((mut parts, denoiser, autoencoder), steps)| {
        parts.extend([denoiser, autoencoder]);
        let (components, works) = parts.into_iter().unzip();
        let footprint = Footprint { model: "random".to_owned(), dtype: ComputeDtype::Bf16, components };
        (footprint, Workload { pictures: 1, steps, components: works })
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
