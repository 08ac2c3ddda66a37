//! The simulation, and placements of one component.

use super::{models::even, *};
use crate::memory::{
    BlockCost, BlockPlan, HostRoom, Measured, Placement, SharedCost, Technique, Tier, UsePlan, block_costs,
    leading_prefix, part::Part, place, refit, simulate, simulate::floor, trace,
};

const ROOM: HostRoom = HostRoom { copies: u64::MAX, staging: u64::MAX };

fn cost(seconds: f64, bytes: u64, passes: u32) -> BlockCost {
    BlockCost {
        seconds,
        bytes,
        by_dtype: [bytes, 0, 0, 0],
        largest_tensor: bytes / 4,
        file_bytes: bytes,
        encoding: 0.0,
        passes,
        reads: 2,
        shared: None,
    }
}

fn streamed(count: usize) -> Vec<BlockPlan> {
    vec![BlockPlan { placement: Placement::Streamed, home: Tier::Host }; count]
}

#[test]
fn two_slots_hide_the_shorter_of_copies_and_compute() {
    for gigabytes_per_second in [1.0, 3.0, 10.0, 30.0] {
        let machine = card(0, 0, gigabytes_per_second);
        let costs = vec![cost(0.05, 200_000_000, 20); 30];
        let copy = machine.link.seconds(200_000_000);
        let times = simulate(&costs, &streamed(30), 2, &machine);
        let bound = 30.0 * copy.max(0.05);
        assert!((times.steady - bound).abs() < 1e-9, "{} and {bound}", times.steady);
        let synchronous = simulate(&costs, &streamed(30), 1, &machine);
        assert!((synchronous.steady - 30.0 * (copy + 0.05)).abs() < 1e-9);
    }
}

#[test]
fn the_first_walk_waits_for_the_disk() {
    let machine = card(0, 0, 10.0);
    let costs = vec![cost(0.001, 200_000_000, 2); 10];
    let times = simulate(&costs, &streamed(10), 2, &machine);
    let disk = 10.0 * machine.disk.seconds(200_000_000);
    let link = 10.0 * machine.link.seconds(200_000_000);
    assert!(times.seconds > disk + link && times.seconds < disk + link + 0.05, "{times:?}");
    assert_eq!(times.disk_bytes, 2_000_000_000);
    assert_eq!(times.link_bytes, 4_000_000_000);
}

#[test]
fn leaves_overlap_with_nothing() {
    let machine = card(0, 0, 10.0);
    let costs = vec![cost(0.02, 200_000_000, 5); 4];
    let leaves = vec![BlockPlan { placement: Placement::Leaves, home: Tier::Host }; 4];
    let times = simulate(&costs, &leaves, 0, &machine);
    let block = 2.0 * (0.2e9 / 10e9 + 4.0 * 1e-5) + 0.02;
    assert!((times.steady - 4.0 * block).abs() < 1e-9);
}

#[test]
fn blocks_that_cost_most_bytes_for_their_compute_stay_first() {
    let machine = card(0, 0, 6.0);
    let mut costs = vec![cost(0.05, 648 * MIB, 20); 19];
    costs.extend(vec![cost(0.05, 270 * MIB, 20); 38]);
    let placed = place(&costs, &machine, Technique::new(None), ROOM, 14 * GIB).unwrap();
    let resident = |range: std::ops::Range<usize>| {
        placed.blocks[range].iter().filter(|block| block.placement == Placement::Resident).count()
    };
    assert_eq!(resident(0..19), 19, "{} of the light ones", resident(19..57));
    let prefix = leading_prefix(&costs, &machine, 2, ROOM, 14 * GIB).unwrap();
    assert!(placed.simulation.steady <= prefix.simulation.steady);
}

#[test]
fn blocks_that_pass_through_are_spread_between_those_that_stay() {
    let machine = card(0, 0, 2.5);
    let costs = vec![cost(0.05, 380 * MIB, 20); 30];
    let weights = 22 * 380 * MIB;
    let placed = place(&costs, &machine, Technique::new(Some(1)), ROOM, weights).unwrap();
    let prefix = leading_prefix(&costs, &machine, 2, ROOM, weights).unwrap();
    assert_eq!(placed.moved, prefix.moved);
    assert!(
        placed.simulation.steady < 0.95 * prefix.simulation.steady,
        "{} and {}",
        placed.simulation.steady,
        prefix.simulation.steady
    );
}

#[test]
fn blocks_without_use_take_nothing() {
    let costs = vec![cost(0.1, GIB, 0), cost(0.1, MIB, 3)];
    let placed = place(&costs, &card(0, 0, 10.0), Technique::new(None), ROOM, MIB).unwrap();
    assert_eq!((placed.weights, placed.slots, placed.copies), (MIB, 0, MIB));
    assert_eq!(placed.blocks[0].placement, Placement::Streamed);
}

#[test]
fn a_link_that_turns_out_slow_changes_which_blocks_stay() {
    let machine = card(0, 0, 30.0);
    let mut costs = vec![cost(0.05, 380 * MIB, 20); 20];
    costs.extend(vec![cost(0.01, 380 * MIB, 20); 10]);
    let all_alike: Vec<BlockCost> = costs.iter().map(|cost| BlockCost { seconds: 0.05, ..*cost }).collect();
    let placed = place(&all_alike, &machine, Technique::new(Some(1)), ROOM, 15 * 380 * MIB).unwrap();
    let plan = use_plan(&placed.blocks, placed.slots, placed.slot_bytes);
    let seconds: Vec<f64> = costs.iter().map(|cost| cost.seconds).collect();
    let measured = Measured { seconds: &seconds, bytes_per_second: 9e9 };
    let new = refit(&all_alike, &machine, Technique::new(Some(1)), &plan, measured).unwrap();
    let quick_ones = |plan: &UsePlan| {
        plan.blocks[20..].iter().filter(|block| block.placement == Placement::Resident).count()
    };
    assert!(quick_ones(&new) > quick_ones(&plan), "{} and {}", quick_ones(&new), quick_ones(&plan));
}

#[test]
fn what_was_measured_changes_nothing_where_nothing_can_be_gained() {
    let machine = card(0, 0, 10.0);
    let costs = vec![cost(0.05, 380 * MIB, 20); 30];
    let placed = place(&costs, &machine, Technique::new(None), ROOM, 8 * GIB).unwrap();
    let plan = use_plan(&placed.blocks, placed.slots, placed.slot_bytes);
    let measured = Measured { seconds: &[], bytes_per_second: 10e9 };
    assert_eq!(refit(&costs, &machine, Technique::new(None), &plan, measured), None);
}

fn use_plan(blocks: &[BlockPlan], slots: u32, slot_bytes: u64) -> UsePlan {
    UsePlan { part: 0, blocks: blocks.to_vec(), slots, slot_bytes, way: 0, tile: None }
}

fn any_costs() -> impl Strategy<Value = Vec<BlockCost>> {
    let kind = (0..5u32, 0..6u64, 0..3u32).prop_map(|(heavy, size, passes)| BlockCost {
        seconds: f64::from(heavy) * 0.01,
        bytes: size * 40 * MIB,
        by_dtype: std::array::from_fn(|dtype| if dtype as u32 == heavy % 4 { size * 40 * MIB } else { 0 }),
        largest_tensor: size * 10 * MIB,
        file_bytes: size * 40 * MIB,
        encoding: 0.0,
        passes: [1, 12, 12][passes as usize],
        reads: 1 + heavy % 2,
        shared: (heavy % 2 > 0).then(|| SharedCost { reads: 1, beyond: u64::from(heavy) * 9 * MIB }),
    });
    prop::collection::vec(kind, 1..10)
}

fn device(costs: &[BlockCost], plan: &UsePlan) -> u64 {
    let placed = |wanted| costs.iter().zip(&plan.blocks).filter(move |(_, block)| block.placement == wanted);
    let resident: u64 = placed(Placement::Resident).map(|(cost, _)| cost.bytes).sum();
    let leaves = || placed(Placement::Leaves).chain(placed(Placement::SharedLeaves));
    let leaf = leaves().map(|(cost, _)| cost.largest_tensor).max();
    let beyond = placed(Placement::SharedLeaves).filter_map(|(cost, _)| Some(cost.shared?.beyond)).max();
    resident + u64::from(plan.slots) * plan.slot_bytes + leaf.unwrap_or(0) + beyond.unwrap_or(0)
}

fn copies(costs: &[BlockCost], plan: &UsePlan) -> u64 {
    let hosted = costs.iter().zip(&plan.blocks).filter(|(_, block)| block.home == Tier::Host);
    hosted.map(|(cost, _)| cost.bytes).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_walk_takes_no_less_than_its_parts(
        costs in any_costs(),
        slots in 1..5u32,
        kinds in prop::collection::vec((0..5usize, any::<bool>()), 10),
        machine in any_machine(),
    ) {
        use Placement::{Leaves, Resident, SharedLeaves, Streamed};
        let kinds = kinds.iter().map(|&(kind, disk)| BlockPlan {
            placement: [Resident, Streamed, Streamed, Leaves, SharedLeaves][kind],
            home: if machine.unified || disk { Tier::Disk } else { Tier::Host },
        });
        let blocks: Vec<BlockPlan> = kinds.take(costs.len()).collect();
        let times = simulate(&costs, &blocks, slots, &machine);
        let uses = trace(&costs, &blocks, slots, &machine);
        let last = uses.last().map_or(0.0, |last| last.finish);
        prop_assert!((times.seconds - last).abs() < 1e-7 * (1.0 + last), "{} and {last}", times.seconds);
        let single = costs.iter().all(|cost| cost.passes == 1);
        let walked = || costs.iter().zip(&blocks).filter(|(cost, _)| single || cost.passes > 1);
        let compute: f64 = walked().map(|(cost, _)| cost.seconds).sum();
        let streamed = walked().filter(|(_, block)| block.placement == Streamed);
        let bytes: u64 = streamed.map(|(cost, _)| cost.bytes).sum();
        let way = if machine.unified { machine.disk } else { machine.link };
        prop_assert!(times.steady >= compute - 1e-9);
        prop_assert!(times.steady >= bytes as f64 / way.bytes_per_second - 1e-9);
        prop_assert!(uses.windows(2).all(|pair| pair[0].finish <= pair[1].start));
        prop_assert!((times.compute + times.stall - times.seconds).abs() < 1e-9 * (1.0 + times.seconds));
        let floor = floor(&Part::new(&costs, &machine, true), &blocks);
        prop_assert!(times.steady >= floor.steady);
        prop_assert!(times.seconds >= floor.seconds - 1e-9 * (1.0 + last), "{times:?} {floor:?}");
    }

    #[test]
    fn more_bytes_are_never_slower(
        costs in any_costs(),
        machine in any_machine(),
        (low, more) in (0..1000u64, 0..400u64),
        prefetch in prop::option::of(0..4u32),
    ) {
        let technique = Technique::new(prefetch);
        let small = place(&costs, &machine, technique, ROOM, low * MIB);
        let large = place(&costs, &machine, technique, ROOM, (low + more) * MIB);
        if let Some(small) = small {
            let large = large.unwrap();
            prop_assert!(small.device() <= low * MIB);
            prop_assert!(large.simulation.steady <= small.simulation.steady + 2e-9);
            prop_assert!(large.simulation.seconds <= small.simulation.seconds + 2e-9);
        }
    }

    #[test]
    fn refitting_takes_no_more_and_gains(
        costs in any_costs(),
        machine in any_machine(),
        (weights, host) in (0..1000u64, 0..2000u64),
        measured in prop::collection::vec(0.0..0.2f64, 10),
        speed in 1e8..3e10f64,
    ) {
        let technique = Technique::new(None);
        let room = HostRoom { copies: host * MIB, staging: 4000 * MIB };
        let Some(placed) = place(&costs, &machine, technique, room, weights * MIB) else { return Ok(()) };
        let plan = use_plan(&placed.blocks, placed.slots, placed.slot_bytes);
        let measured = Measured { seconds: &measured, bytes_per_second: speed };
        if let Some(new) = refit(&costs, &machine, technique, &plan, measured) {
            prop_assert!(device(&costs, &new) <= device(&costs, &plan));
            prop_assert!(copies(&costs, &new) <= copies(&costs, &plan));
        }
    }
}

#[test]
fn the_first_reading_encodes_at_the_pace_of_the_format() {
    let (footprint, workload) = even(4);
    let (machine, work) = (card(80 * GIB, 64 * GIB, 12.0), &workload.stages[1].uses[0].ways[0]);
    let resident = vec![BlockPlan { placement: Placement::Resident, home: Tier::Disk }; work.blocks.len()];
    let disk = |storage: Storage| {
        let held = footprint.held_as(&MemoryPreferences::default().with_precision(storage));
        simulate(&block_costs(&held.parts[1], work, &machine), &resident, 0, &machine).disk_busy
    };
    // The file is the same for all, so that only the encoding makes a difference.
    let weights = footprint.parts[1].blocks.iter().map(|block| block.parameters).sum::<u64>() as f64 * 0.9;
    for (storage, per_second) in [(Storage::Fp8, 7e8), (Storage::Nf4, 4e8), (Storage::Q4K, 3.5e8)] {
        let (took, expected) = (disk(storage) - disk(Storage::Stored), weights / per_second);
        assert!((took / expected - 1.0).abs() < 1e-3, "{storage:?}: {took} s instead of {expected}");
    }
}
