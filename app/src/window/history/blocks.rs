//! The layer strip: the estimated state of each block.

use sluice_engine::{
    memory::{Placement, StageKind},
    telemetry::{BlockRecord, ComponentMark},
};

/// Totals over a run or a part of it, in microseconds and bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Number of uses of blocks.
    pub uses: u64,
    /// How long forward passes waited for weights.
    pub wait: u64,
    /// Total time loading weights.
    pub load: u64,
    /// Total time of forward passes.
    pub compute: u64,
    /// Total time evicting weights.
    pub evict: u64,
    /// Bytes moved.
    pub bytes: u64,
}

impl Totals {
    pub(super) fn add(&mut self, record: &BlockRecord) {
        self.uses += 1;
        for (sum, amount) in [
            (&mut self.wait, record.wait),
            (&mut self.load, record.load),
            (&mut self.compute, record.compute),
            (&mut self.evict, record.evict),
            (&mut self.bytes, record.bytes),
        ] {
            *sum = sum.saturating_add(amount);
        }
    }

    /// The share of the time spent waiting for weights, 0…1.
    pub fn stall(&self) -> f64 {
        let (wait, compute) = (self.wait as f64, self.compute as f64);
        if wait > 0.0 { wait / (wait + compute) } else { 0.0 }
    }
}

/// The history of one block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockHistory {
    /// Its latest use.
    pub latest: Option<BlockRecord>,
    /// All of its uses.
    pub totals: Totals,
}

/// The estimated state of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// Its weights are on the device and stay there during the stage.
    Resident,
    /// Its weights are in a slot or being copied to one.
    InFlight,
    /// The forward pass is waiting for its weights.
    Waiting,
    /// The forward pass is using it.
    Computing,
    /// Its weights are not on the device.
    Idle,
}

/// The estimated states of the blocks of an active component at `now` microseconds.
///
/// Records come when a block is finished, so the states are reconstructed. `last` is the component's latest
/// record; the block after it is the active one. It is assumed to wait as long as the last time, and to
/// compute afterwards. The streamed blocks after it are in flight, as many as there are slots besides the
/// active one; the records show the number of slots. Walks follow each other during `Denoise`, or if they did
/// before. A block skipped by the latest walk (one that runs once, before the walks) is skipped.
pub fn block_states(
    component: &ComponentMark,
    blocks: &[BlockHistory],
    last: Option<&BlockRecord>,
    slots: usize,
    now: u64,
) -> Vec<BlockState> {
    let mark = |index: usize| component.blocks[index].placement;
    let mut states: Vec<_> = (0..component.blocks.len())
        .map(|index| match mark(index) {
            Placement::Resident if blocks.get(index).is_some_and(|block| block.latest.is_some()) => {
                BlockState::Resident
            }
            _ => BlockState::Idle,
        })
        .collect();
    let mut upcoming = upcoming(component, blocks, last);
    let Some(current) = upcoming.next() else { return states };
    let since = last.map_or(0, end);
    let waits = blocks.get(current).and_then(|block| block.latest).map_or(0, |record| record.wait);
    let elapsed = now.saturating_sub(since);
    states[current] = if elapsed < waits { BlockState::Waiting } else { BlockState::Computing };
    let ahead = match mark(current) {
        Placement::Streamed => slots.saturating_sub(1),
        _ => slots,
    };
    let streamed = upcoming.filter(|&index| index != current && mark(index) == Placement::Streamed);
    for index in streamed.take(ahead) {
        states[index] = BlockState::InFlight;
    }
    states
}

/// The end of a use.
pub(super) fn end(record: &BlockRecord) -> u64 {
    record.at.saturating_add(record.wait).saturating_add(record.compute)
}

/// The blocks after the last one used, in order, once around.
fn upcoming<'a>(
    component: &'a ComponentMark,
    blocks: &'a [BlockHistory],
    last: Option<&BlockRecord>,
) -> impl Iterator<Item = usize> + 'a {
    let count = component.blocks.len();
    let (after, walk) = last.map_or((0, 0), |last| (usize::from(last.block) + 1, last.walk));
    let again = component.stage.kind == StageKind::Denoise || walk > 0;
    let rest = (after.min(count)..count).map(move |index| (index, walk));
    let wrapped =
        (0..after.min(count)).filter(move |_| again).map(move |index| (index, walk.saturating_add(1)));
    rest.chain(wrapped)
        .filter(|&(index, walk)| {
            let latest = blocks.get(index).and_then(|block| block.latest);
            latest.is_none_or(|record| record.walk.saturating_add(1) >= walk)
        })
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use BlockState::{Computing, Idle, InFlight, Resident as Stays, Waiting};
    use Placement::{Resident, Streamed};

    use super::super::samples::{plan, record, streamed};
    use super::*;

    /// The states after these uses.
    fn after(placements: &[Placement], uses: &[BlockRecord], now: u64) -> Vec<BlockState> {
        let plan = plan(placements);
        let mut blocks = vec![BlockHistory::default(); placements.len()];
        for record in uses {
            blocks[usize::from(record.block)].latest = Some(*record);
        }
        let slots =
            uses.iter().filter_map(|record| record.slot).max().map_or(0, |slot| usize::from(slot) + 1);
        block_states(&plan.components[0], &blocks, uses.last(), slots, now)
    }

    #[test]
    fn before_the_first_record_the_first_block_is_at_work() {
        assert_eq!(after(&[Resident, Streamed], &[], 0), [Computing, Idle]);
        assert_eq!(after(&[], &[], 0), []);
    }

    #[test]
    fn the_next_block_computes_and_the_streamed_ones_after_it_are_in_flight() {
        let placements = [Resident, Streamed, Streamed, Streamed, Streamed];
        let uses = [record(0, 0, 0), streamed(10, 1, 0, 0), streamed(20, 2, 0, 1)];
        assert_eq!(after(&placements, &uses, 35), [Stays, Idle, Idle, Computing, InFlight]);
    }

    #[test]
    fn while_a_resident_block_computes_all_slots_fill() {
        let placements = [Streamed, Streamed, Resident, Streamed, Streamed];
        let uses = [streamed(0, 0, 0, 0), streamed(10, 1, 0, 1)];
        assert_eq!(after(&placements, &uses, 20), [Idle, Idle, Computing, InFlight, InFlight]);
    }

    #[test]
    fn a_block_waits_as_long_as_it_did_last_time() {
        let placements = [Resident, Streamed];
        let uses = [record(0, 0, 0), BlockRecord { wait: 5, ..streamed(10, 1, 0, 0) }, record(25, 0, 1)];
        assert_eq!(after(&placements, &uses, 37), [Stays, Waiting]);
        assert_eq!(after(&placements, &uses, 41), [Stays, Computing]);
    }

    #[test]
    fn the_walk_wraps_around_past_blocks_that_run_once() {
        let placements = [Resident, Streamed, Streamed, Streamed];
        let uses = [
            record(0, 0, 0),
            streamed(10, 1, 0, 0),
            streamed(20, 2, 0, 1),
            streamed(30, 3, 0, 0),
            streamed(40, 1, 1, 1),
            streamed(50, 2, 1, 0),
            streamed(60, 3, 1, 1),
        ];
        assert_eq!(after(&placements, &uses, 71), [Stays, Computing, InFlight, Idle]);
    }

    #[test]
    fn a_component_that_walks_once_does_not_wrap_around() {
        let mut plan = plan(&[Streamed]);
        plan.components[0].stage.kind = StageKind::EncodePrompt;
        let used = streamed(0, 0, 0, 0);
        let blocks = [BlockHistory { latest: Some(used), totals: Totals::default() }];
        assert_eq!(block_states(&plan.components[0], &blocks, Some(&used), 1, 20), [Idle]);
    }

    #[test]
    fn without_uses_nothing_stalls() {
        assert_eq!(Totals::default().stall(), 0.0);
        assert_eq!(Totals { wait: 1, compute: 3, ..Totals::default() }.stall(), 0.25);
    }
}
