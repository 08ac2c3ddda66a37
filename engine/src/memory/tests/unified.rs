//! Plans for GPUs that share the machine's memory.

use super::{models::*, *};
use crate::memory::{Bound, Placement, Plan, Tier, least_device_budget, plan, unified_machine};

/// A chip of Apple with 16 GiB, of which a run may take `budget`.
fn chip(budget: u64) -> Machine {
    unified_machine("Apple M2 Pro".to_owned(), 16 * GIB, budget, 2e14)
}

fn in_mode(mode: OffloadMode) -> MemoryPreferences {
    MemoryPreferences { mode, wish: Wish::Speed, ..MemoryPreferences::default() }
}

fn homes(plan: &Plan) -> impl Iterator<Item = Tier> {
    plan.uses().flat_map(|part| part.blocks.iter().map(|block| block.home))
}

#[test]
fn there_is_one_budget_within_the_memory_that_is_there() {
    let machine = chip(20 * GIB);
    assert!(machine.unified);
    assert_eq!((machine.device_total, machine.device_budget, machine.host_budget), (16 * GIB, 16 * GIB, 0));
    assert_eq!(chip(10 * GIB).device_budget, 10 * GIB);
}

#[test]
fn a_weight_is_in_memory_once() {
    let (footprint, workload) = even(20);
    let preferences = in_mode(OffloadMode::None);
    let least = least_device_budget(&footprint, &workload, &chip(16 * GIB), &preferences).unwrap();
    let machine = Machine { device_total: least, device_budget: least, ..chip(16 * GIB) };
    // What everything takes on the device is all that it takes.
    let plan = plan(&footprint, &workload, &machine, &preferences).unwrap();
    assert!((footprint.total()..=least).contains(&plan.peak_device()));
    assert_eq!(plan.peak_host(), 0);
    assert!(homes(&plan).all(|home| home == Tier::Disk));
}

#[test]
fn blocks_that_do_not_fit_come_from_disk_without_a_link() {
    let (footprint, workload) = even(20);
    let machine = chip(6 * GIB);
    let preferences = in_mode(OffloadMode::LayerStreaming);
    let streamed = plan(&footprint, &workload, &machine, &preferences).unwrap();
    let blocks = &streamed.stages[1].uses[0].blocks;
    assert!(blocks.iter().any(|block| block.placement == Placement::Streamed));
    assert_eq!(streamed.first_of(StageKind::Denoise).unwrap().bound, Bound::Disk);
    assert!(streamed.peak_device() <= machine.device_budget);
    assert_eq!(streamed.peak_host(), 0);
    assert!(homes(&streamed).all(|home| home == Tier::Disk));
    // What a link would do changes nothing.
    let slow = Link { bytes_per_second: 1.0, latency: 1.0 };
    let other = Machine { link: slow, ..machine };
    assert_eq!(plan(&footprint, &workload, &other, &preferences).unwrap(), streamed);
}
