//! Plans for whole models.

use super::{models::*, *};
use crate::memory::{
    Bound, PartChoice, PartUse, Placement, Plan, PlanError, Residents, Tier, least_device_budget, plan,
    step_down,
};

fn wishing(wish: Wish) -> MemoryPreferences {
    MemoryPreferences { wish, ..MemoryPreferences::default() }
}

fn in_mode(mode: OffloadMode) -> MemoryPreferences {
    MemoryPreferences { mode, ..MemoryPreferences::default() }
}

#[test]
fn none_is_refused_with_the_bytes_that_it_needs() {
    let (footprint, workload) = even(20);
    let machine = card(12 * GIB, 64 * GIB, 12.0);
    let preferences = in_mode(OffloadMode::None);
    let error = plan(&footprint, &workload, &machine, &preferences).unwrap_err();
    let least = least_device_budget(&footprint, &workload, &machine, &preferences).unwrap();
    assert!(matches!(&error, PlanError::Device { needed, .. } if *needed == least), "{error}");
    assert!(least > footprint.total());
}

#[test]
fn a_denoiser_that_does_not_fit_streams_behind_its_computation() {
    let (footprint, workload) = even(20);
    let machine = card(8 * GIB, 64 * GIB, 12.0);
    let plan = plan(&footprint, &workload, &machine, &wishing(Wish::Speed)).unwrap();
    let denoiser = &plan.stages[1].uses[0];
    assert_eq!(plan.parts[1].residence, Residence::Streamed);
    let resident = denoiser.blocks.iter().filter(|block| block.placement == Placement::Resident).count();
    assert!(resident > 10 && resident < 20, "{resident}");
    assert_eq!(plan.first_of(StageKind::Denoise).unwrap().bound, Bound::Compute);
    let compute = 30.0 * (1.2e12 / machine.operations_per_second + machine.block_latency);
    assert!((plan.seconds_per_step - compute).abs() < 1e-6, "{} and {compute}", plan.seconds_per_step);
}

#[test]
fn the_first_blocks_stay_where_that_is_asked_for() {
    let (footprint, workload) = even(20);
    let machine = card(8 * GIB, 64 * GIB, 3.0);
    let best = in_mode(OffloadMode::LayerStreaming);
    let first = MemoryPreferences { residents: Residents::First, ..best.clone() };
    let [best, first] =
        [best, first].map(|preferences| plan(&footprint, &workload, &machine, &preferences).unwrap());
    let stays = |plan: &Plan| -> Vec<bool> {
        plan.stages[1].uses[0].blocks.iter().map(|block| block.placement == Placement::Resident).collect()
    };
    let count = stays(&first).iter().filter(|stays| **stays).count();
    assert!(count > 10 && count < 20, "{count}");
    assert!(stays(&first)[..count].iter().all(|stays| *stays), "{:?}", stays(&first));
    assert!(stays(&best).iter().skip_while(|stays| **stays).any(|stays| *stays), "{:?}", stays(&best));
    assert!(first.peak_device() <= machine.device_budget);
    assert!(first.seconds_per_step > 1.1 * best.seconds_per_step, "{first:?}");
}

#[test]
fn a_machine_with_room_for_everything_keeps_everything() {
    let (footprint, workload) = two_kinds(20);
    let machine = card(80 * GIB, 64 * GIB, 12.0);
    for mode in [OffloadMode::Auto, OffloadMode::LayerStreaming] {
        for &wish in Wish::ALL.iter().filter(|wish| **wish != Wish::Memory) {
            let plan =
                plan(&footprint, &workload, &machine, &MemoryPreferences { wish, ..in_mode(mode) }).unwrap();
            let all = plan.parts.iter().all(|part| part.residence == Residence::Resident);
            assert!(all, "{mode:?} {wish:?}");
            assert_eq!(plan.stages[2].uses[0].tile, None);
        }
    }
}

#[test]
fn balanced_leaves_a_fifth_free_where_it_can() {
    let (footprint, workload) = even(20);
    let machine = card(10 * GIB, 64 * GIB, 12.0);
    let plan = plan(&footprint, &workload, &machine, &wishing(Wish::Balanced)).unwrap();
    assert!(plan.peak_device() <= 8 * GIB);
    assert_eq!(plan.stages[2].uses[0].tile, None);
}

#[test]
fn memory_takes_hardly_more_than_the_least_there_is() {
    let (footprint, workload) = even(20);
    let machine = card(10 * GIB, 64 * GIB, 12.0);
    let preferences = wishing(Wish::Memory);
    let plan = plan(&footprint, &workload, &machine, &preferences).unwrap();
    let least = least_device_budget(&footprint, &workload, &machine, &preferences).unwrap();
    assert!(plan.peak_device() <= least + least / 16, "{} of {least}", plan.peak_device());
    let exact = Machine { device_budget: least, ..machine };
    let exact = crate::memory::plan(&footprint, &workload, &exact, &preferences).unwrap();
    assert!(plan.seconds_per_step <= exact.seconds_per_step);
}

#[test]
fn blocks_without_room_in_the_host_come_from_disk() {
    let (footprint, workload) = even(20);
    let machine = card(6 * GIB, 4 * GIB, 12.0);
    let plan = plan(&footprint, &workload, &machine, &wishing(Wish::Speed)).unwrap();
    assert!(plan.peak_host() <= 4 * GIB);
    let homes = |tier| plan.stages[1].uses[0].blocks.iter().filter(|block| block.home == tier).count();
    assert!(homes(Tier::Disk) > 0 && homes(Tier::Host) > 0);
    assert_eq!(plan.first_of(StageKind::Denoise).unwrap().bound, Bound::Disk);
}

#[test]
fn without_memory_for_buffers_the_host_is_named() {
    let (footprint, workload) = even(20);
    let machine = card(4 * GIB, MIB, 12.0);
    let error = plan(&footprint, &workload, &machine, &in_mode(OffloadMode::LayerStreaming)).unwrap_err();
    assert!(matches!(error, PlanError::Host { budget: MIB, .. }), "{error}");
}

#[test]
fn overrides_win_over_modes() {
    let (footprint, workload) = even(20);
    let machine = card(80 * GIB, 64 * GIB, 12.0);
    for &mode in OffloadMode::ALL {
        for &residence in Residence::ALL {
            let preferences = MemoryPreferences { text_encoder: Some(residence), ..in_mode(mode) };
            let plan = plan(&footprint, &workload, &machine, &preferences).unwrap();
            assert_eq!(plan.parts[0].residence, residence, "{mode:?}");
        }
    }
}

#[test]
fn a_single_part_is_placed_as_chosen() {
    let (mut footprint, mut workload) = even(20);
    let second = PartFootprint {
        name: "text_encoder_2".to_owned(),
        architecture: "T5 encoder".to_owned(),
        ..footprint.parts[0].clone()
    };
    footprint.parts.push(second);
    let also = PartUse { part: 3, ..workload.stages[0].uses[0].clone() };
    workload.stages[0].uses.push(also);
    let machine = card(80 * GIB, 64 * GIB, 12.0);
    let on_demand = PartChoice { residence: Some(Residence::OnDemand), keep: None };
    for &mode in OffloadMode::ALL {
        let preferences = MemoryPreferences {
            text_encoder: Some(Residence::Resident),
            parts: [("t5".to_owned(), on_demand)].into(),
            ..in_mode(mode)
        };
        let plan = plan(&footprint, &workload, &machine, &preferences).unwrap();
        let residences = [plan.parts[0].residence, plan.parts[3].residence];
        assert_eq!(residences, [Residence::Resident, Residence::OnDemand], "{mode:?}");
    }
}

#[test]
fn experts_that_take_turns_are_on_the_device_one_at_a_time() {
    let (mut footprint, mut workload) = even(20);
    footprint.parts.push(PartFootprint { name: "denoiser_2".to_owned(), ..footprint.parts[1].clone() });
    let mut low_noise = workload.stages[1].clone();
    low_noise.uses[0].part = 3;
    workload.stages.insert(2, low_noise);
    let machine = card(24 * GIB, 64 * GIB, 12.0);
    let plan = |mode| plan(&footprint, &workload, &machine, &in_mode(mode));
    let staged = plan(OffloadMode::Aggressive).unwrap();
    let kinds: Vec<StageKind> = staged.stages.iter().map(|stage| stage.stage.kind).collect();
    let (encode, denoise) = (StageKind::EncodePrompt, StageKind::Denoise);
    assert_eq!(kinds, [encode, denoise, denoise, StageKind::Decode]);
    for (stage, part) in [(1, 1), (2, 3)] {
        assert_eq!(staged.stages[stage].weights, footprint.parts[part].bytes());
        assert_eq!(staged.stages[stage].uses[0].part, part);
    }
    assert!(matches!(plan(OffloadMode::None), Err(PlanError::Device { .. })), "both at once do not fit");
}

#[test]
fn a_part_that_stays_is_counted_once_however_many_stages_use_it() {
    let (footprint, mut workload) = even(20);
    let again = workload.stages[1].clone();
    workload.stages.insert(2, again);
    let mut other_half = workload.stages[3].clone();
    for way in &mut other_half.uses[0].ways {
        way.blocks[0].passes = 0;
    }
    workload.stages.insert(0, other_half);
    let machine = card(80 * GIB, 64 * GIB, 12.0);
    let plan = plan(&footprint, &workload, &machine, &in_mode(OffloadMode::None)).unwrap();
    assert_eq!(plan.stages.len(), 5);
    for stage in &plan.stages {
        assert_eq!(stage.weights, footprint.total(), "{:?}", stage.stage);
    }
    // What one stage has no use for stays for the other.
    assert_eq!(plan.stages[0].uses[0].blocks, plan.stages[4].uses[0].blocks);
}

fn check(
    plan: &Plan,
    footprint: &Footprint,
    workload: &Workload,
    machine: &Machine,
) -> Result<(), TestCaseError> {
    prop_assert!(plan.peak_device() <= machine.device_budget);
    prop_assert!(machine.unified || plan.peak_host() <= machine.host_budget);
    prop_assert!(!machine.unified || plan.peak_host() == 0);
    prop_assert!((plan.seconds - plan.stages.iter().map(|stage| stage.seconds).sum::<f64>()).abs() < 1e-9);
    prop_assert_eq!(plan.parts.len(), footprint.parts.len());
    prop_assert_eq!(plan.stages.len(), workload.stages.len());
    // Bytes of a part that stays: those of all blocks that any stage has use for.
    let kept = |part: usize| -> u64 {
        let uses = || plan.uses().zip(workload.uses()).filter(|(_, work)| work.part == part);
        let used = |block: usize| uses().any(|(plan, work)| work.ways[plan.way].blocks[block].passes > 0);
        let blocks = footprint.parts[part].blocks.iter().enumerate();
        blocks.filter(|(index, _)| used(*index)).map(|(_, block)| block.bytes).sum()
    };
    let stays = |part: usize| plan.parts[part].residence == Residence::Resident;
    let held: u64 = (0..plan.parts.len()).filter(|&part| stays(part)).map(kept).sum();
    for (number, (stage, work)) in plan.stages.iter().zip(&workload.stages).enumerate() {
        prop_assert_eq!(stage.stage.number, number);
        prop_assert_eq!(stage.uses.len(), work.uses.len());
        let mut passing = 0;
        let (mut activations, mut device) = (0, 0);
        for (plan, work) in stage.uses.iter().zip(&work.uses) {
            prop_assert_eq!(plan.part, work.part);
            let way = &work.ways[plan.way];
            activations = activations.max(way.peak_activations());
            let of = |wanted: Placement| {
                let blocks = footprint.parts[plan.part].blocks.iter().zip(&way.blocks).zip(&plan.blocks);
                let used = blocks.filter(|((_, work), _)| work.passes > 0);
                used.filter(move |(_, plan)| plan.placement == wanted).map(|((block, _), _)| block)
            };
            let resident: u64 = of(Placement::Resident).map(|block| block.bytes).sum();
            let leaves = of(Placement::Leaves).chain(of(Placement::SharedLeaves));
            let leaf = leaves.map(|block| block.largest_tensor).max();
            let shares = way.blocks.iter().zip(&plan.blocks);
            let shares = shares.filter(|(_, plan)| plan.placement == Placement::SharedLeaves);
            let shared = shares.filter_map(|(work, _)| Some(way.carried + work.shared?.activations)).max();
            let beyond = shared.unwrap_or(0).saturating_sub(way.peak_activations());
            let largest = of(Placement::Streamed).map(|block| block.bytes).max();
            prop_assert_eq!(plan.slot_bytes, largest.unwrap_or(0));
            prop_assert_eq!(plan.slots > 0, largest.is_some());
            if !stays(plan.part) {
                let own = resident + u64::from(plan.slots) * plan.slot_bytes + leaf.unwrap_or(0);
                passing = passing.max(own);
                device = device.max(own + beyond);
            }
        }
        prop_assert_eq!(stage.weights, held + passing);
        prop_assert_eq!(stage.activations, activations + device - passing);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn plans_keep_to_their_budgets_and_add_up((footprint, workload, machine, preferences) in any_question()) {
        match plan(&footprint, &workload, &machine, &preferences) {
            Ok(plan) => check(&plan, &footprint, &workload, &machine)?,
            Err(PlanError::Device { needed, budget, .. }) => prop_assert!(needed > budget),
            Err(PlanError::Host { needed, budget }) => prop_assert!(needed > budget),
        }
    }

    #[test]
    fn the_least_budget_is_exact((footprint, workload, machine, preferences) in any_question()) {
        let with = |device_budget| {
            plan(&footprint, &workload, &Machine { device_budget, ..machine.clone() }, &preferences)
        };
        match least_device_budget(&footprint, &workload, &machine, &preferences) {
            Some(least) => {
                let plan = with(least);
                prop_assert!(plan.is_ok());
                prop_assert_eq!(plan.unwrap().peak_device(), least);
                prop_assert!(with(least + 3 * MIB).is_ok());
                prop_assert!(least == 0 || with(least - 1).is_err());
            }
            None => prop_assert!(with(u64::MAX).is_err()),
        }
    }

    #[test]
    fn more_memory_is_never_slower(
        (footprint, workload, machine, preferences) in any_question(),
        more in 0..100 * MIB,
    ) {
        let preferences = MemoryPreferences { mode: OffloadMode::Auto, wish: Wish::Speed, ..preferences };
        let larger = Machine { device_budget: machine.device_budget + more, ..machine.clone() };
        if let Ok(small) = plan(&footprint, &workload, &machine, &preferences) {
            let large = plan(&footprint, &workload, &larger, &preferences).unwrap();
            prop_assert!(large.seconds <= small.seconds + 1e-7, "{} and {}", large.seconds, small.seconds);
            prop_assert!(large.seconds_per_step <= small.seconds_per_step + 1e-7);
        }
    }

    #[test]
    fn larger_pictures_never_need_less(
        (footprint, workload, machine, preferences) in any_question(),
        more in 0..20 * MIB,
    ) {
        let mut larger = workload.clone();
        for way in larger.uses_mut().flat_map(|part_use| &mut part_use.ways) {
            way.carried += more;
            way.blocks.iter_mut().for_each(|block| block.activations += more / 2);
        }
        let least = |workload| least_device_budget(&footprint, workload, &machine, &preferences);
        prop_assert!(least(&larger) >= least(&workload));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn stepping_down_gives_what_is_short(
        (footprint, workload, machine, preferences) in any_question(),
        part in 0.0..1.0f64,
        stage in 0..8usize,
    ) {
        let Ok(current) = plan(&footprint, &workload, &machine, &preferences) else { return Ok(()) };
        let device = current.stages.get(stage).map_or(0, |stage| stage.device());
        let short_by = (device as f64 * part) as u64;
        if let Some(new) = step_down(&footprint, &workload, &machine, &current, stage, short_by) {
            prop_assert!(new.stages[stage].device() + short_by <= device);
            check(&new, &footprint, &workload, &machine)?;
        } else if device > 0 && machine.host_budget == GIB {
            let block_by_block = MemoryPreferences {
                mode: OffloadMode::LayerStreaming,
                prefetch: Some(0),
                ..MemoryPreferences::default()
            };
            let least = least_device_budget(&footprint, &workload, &machine, &block_by_block);
            prop_assert!(least.is_none_or(|least| least > device - short_by));
        }
    }
}

#[test]
fn stepping_down_ends_when_there_is_nothing_left_to_give() {
    let (footprint, workload) = even(4);
    let machine = card(10 * GIB, 64 * GIB, 12.0);
    for stage in 0..3 {
        let mut current = plan(&footprint, &workload, &machine, &wishing(Wish::Speed)).unwrap();
        let mut count = 0;
        while let Some(next) = step_down(&footprint, &workload, &machine, &current, stage, 300 * MIB) {
            assert!(next.stages[stage].device() + 300 * MIB <= current.stages[stage].device());
            current = next;
            count += 1;
        }
        assert!(count > 1, "{stage:?} {count}");
        assert!(current.stages[stage].device() < 2 * GIB, "{stage:?}");
    }
}
