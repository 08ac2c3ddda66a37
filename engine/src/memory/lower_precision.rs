//! Weights in 8 bits, where the user allows them and they serve the wish.

use super::{
    Footprint, Machine, MemoryPreferences, OffloadMode, Placement, Plan, Wish, Workload, plan, planner::SPARE,
};
use crate::precision::Storage;

/// Weights in 8 bits are worth it if they take less than this part of a time or a peak.
const NOTABLE: f64 = 0.9;

/// The storages of 8 bits that are chosen from.
const EIGHT_BITS: [Storage; 2] = [Storage::Int8, Storage::Fp8];

/// The preferences with the storage of weights that a run is to use.
///
/// That is the chosen storage, unless weights in 8 bits are [allowed](MemoryPreferences::may_use_8_bit), none is
/// chosen and the mode is automatic. Then weights in 8 bits are used where nothing else fits, where they make a
/// balanced or fast run notably faster, and where they make the smallest one notably smaller, or faster in the same
/// memory. The text encoders alone are
/// tried first. The best quality uses them only where nothing else fits.
pub fn with_allowed_precision(
    footprint: &Footprint,
    workload: &Workload,
    machine: &Machine,
    preferences: &MemoryPreferences,
) -> MemoryPreferences {
    let is_open = preferences.may_use_8_bit
        && preferences.mode == OffloadMode::Auto
        && preferences.precisions() == [Storage::Stored; 2];
    if !is_open {
        return preferences.clone();
    }
    let planned = |preferences: &MemoryPreferences| plan(footprint, workload, machine, preferences).ok();
    let stored = planned(preferences);
    let storage = nearest(footprint);
    let text = MemoryPreferences { text_precision: storage, ..preferences.clone() };
    let smaller = [text, preferences.with_precision(storage)].into_iter();
    let mut plans = smaller.filter_map(|smaller| Some((planned(&smaller)?, smaller)));
    let chosen = match (&stored, preferences.wish) {
        (None, _) => plans.next(),
        (Some(_), Wish::Quality) => None,
        (Some(stored), Wish::Memory) => plans.find(|(plan, _)| {
            let (now, before) = (plan.peak_device(), stored.peak_device());
            (now as f64) < NOTABLE * before as f64 || (now <= before && is_faster(plan, stored))
        }),
        (Some(stored), Wish::Speed | Wish::Balanced) if !streams(stored) => None,
        (Some(stored), wish) => plans.find(|(plan, _)| {
            let comfortable = machine.device_budget - machine.device_budget.div_ceil(SPARE);
            let has_room = wish == Wish::Speed || plan.peak_device() <= comfortable;
            has_room && is_faster(plan, stored)
        }),
    };
    chosen.map_or_else(|| preferences.clone(), |(_, smaller)| smaller)
}

/// The storage of 8 bits with the smallest measured error; the first if nothing was measured.
fn nearest(footprint: &Footprint) -> Storage {
    let error = |storage: Storage| {
        let errors = footprint.parts.iter().filter(|part| !part.role.stays_as_stored());
        errors.filter_map(|part| part.errors.get(&storage)).copied().fold(0.0, f64::max)
    };
    let [first, second] = EIGHT_BITS;
    if error(second) < error(first) { second } else { first }
}

/// Whether a step is notably faster.
fn is_faster(plan: &Plan, stored: &Plan) -> bool {
    plan.seconds_per_step < NOTABLE * stored.seconds_per_step
}

/// Whether any blocks pass through the device.
fn streams(plan: &Plan) -> bool {
    let mut blocks = plan.uses().filter(|part_use| part_use.slots > 0).flat_map(|part_use| &part_use.blocks);
    blocks.any(|block| block.placement != Placement::Resident)
}
