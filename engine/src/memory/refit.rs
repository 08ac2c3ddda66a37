//! Which blocks of a part stay on the device, given the bytes for its weights.
//!
//! Decided by simulating the pipeline of copies and compute, never by a fixed prefix: blocks that pass
//! through are spread between those that stay, so that each copy has computation to hide behind.

use std::rc::Rc;

use super::{
    BlockCost, Candidate, HostRoom, Machine, Placement, Technique, UsePlan,
    candidate::{Layout, used},
    pareto::placements,
    part::Part,
};

/// The least part of a walk's time that must be gained for blocks to change places during a run.
const WORTHWHILE: f64 = 0.03;

/// The fastest placement that takes at most `weights` bytes of the device beside the activations: the least time of a walk,
/// then the fewest bytes to move, then the most evenly spread. `None` if not even tensor by tensor fits.
pub fn place(
    costs: &[BlockCost],
    machine: &Machine,
    technique: Technique,
    room: HostRoom,
    weights: u64,
) -> Option<Candidate> {
    let front = placements(&Part::new(costs, machine, true), technique, room);
    front.into_iter().rfind(|candidate| candidate.device() <= weights).map(Rc::unwrap_or_clone)
}

/// The placement of others, to be compared with: the first blocks stay, as many as fit beside the slots, and
/// the rest pass through.
pub fn leading_prefix(
    costs: &[BlockCost],
    machine: &Machine,
    slots: u32,
    room: HostRoom,
    weights: u64,
) -> Option<Candidate> {
    let part = Part::new(costs, machine, true);
    let mut prefixes = (0..=costs.len()).rev().map(|count| {
        let placement = |(index, cost): (usize, &BlockCost)| {
            used(cost, if index < count { Placement::Resident } else { Placement::Streamed })
        };
        let placements = costs.iter().enumerate().map(placement);
        Layout::through(&part, placements, room.copies, true)
    });
    let fitting = prefixes.find(|prefix| prefix.weights(slots) <= weights && prefix.fits_host(slots, room));
    fitting.map(|prefix| prefix.played(&part, slots))
}

/// What a run has measured of a part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured<'a> {
    /// Seconds that one pass of each block computed; predictions are kept where there is none.
    pub seconds: &'a [f64],
    /// Bytes a second over the link, or from disk on a unified device.
    pub bytes_per_second: f64,
}

/// Places a part's blocks anew by what was measured, within the bytes that the current placement takes
/// on the device, of copies in the host's memory and of buffers. `None` unless a walk is predicted to gain 3
/// %.
pub fn refit(
    costs: &[BlockCost],
    machine: &Machine,
    technique: Technique,
    current: &UsePlan,
    measured: Measured<'_>,
) -> Option<UsePlan> {
    let mut costs = costs.to_vec();
    for (cost, &seconds) in costs.iter_mut().zip(measured.seconds) {
        if seconds.is_finite() && seconds > 0.0 {
            cost.seconds = seconds;
        }
    }
    let mut machine = machine.clone();
    if measured.bytes_per_second.is_finite() && measured.bytes_per_second > 0.0 {
        let way = if machine.unified { &mut machine.disk } else { &mut machine.link };
        way.bytes_per_second = measured.bytes_per_second;
    }
    let now = as_candidate(&costs, &machine, current)?;
    let room = HostRoom { copies: now.copies, staging: now.staging };
    let best = place(&costs, &machine, technique, room, now.weights)?;
    let worthwhile = best.simulation.steady <= now.simulation.steady * (1.0 - WORTHWHILE);
    worthwhile.then(|| UsePlan {
        blocks: best.blocks,
        slots: best.slots,
        slot_bytes: best.slot_bytes,
        ..current.clone()
    })
}

/// What a part's plan takes by these costs; `None` if it is not a plan for them.
pub fn as_candidate(costs: &[BlockCost], machine: &Machine, plan: &UsePlan) -> Option<Candidate> {
    if plan.blocks.len() != costs.len() {
        return None;
    }
    let part = Part::new(costs, machine, true);
    Some(Layout::at(&part, plan.blocks.clone()).played(&part, plan.slots))
}
