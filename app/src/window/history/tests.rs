use proptest::{collection::vec, prelude::*};

use sluice_engine::{
    memory::{Placement, StageKind},
    telemetry::MemorySample,
};

use super::{
    samples::{any_event, memory, plan, record, streamed},
    *,
};

fn history(events: &[TelemetryEvent]) -> History {
    let mut history = History::new();
    history.extend(events);
    history
}

fn started(at: u64, stage: Stage) -> TelemetryEvent {
    TelemetryEvent::StageStarted { at, stage }
}

fn finished(at: u64, stage: Stage) -> TelemetryEvent {
    TelemetryEvent::StageFinished { at, stage }
}

fn step(at: u64, step: u32) -> TelemetryEvent {
    TelemetryEvent::Step(StepRecord { at, step, steps: 9, took: 10, wait: 0, bytes: 0, reused: 0 })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn any_events_leave_a_history_that_can_be_drawn(events in vec(any_event(), 0..60)) {
        let history = history(&events);
        let components = history.plan().map_or(0, |plan| plan.components.len());
        for component in 0..=components {
            prop_assert_eq!(history.states(component).len(), history.blocks(component).len());
        }
        prop_assert!((0.0..=1.0).contains(&history.totals().stall()));
        prop_assert!(history.link_bytes_per_second() >= 0.0);
        let uses = events.iter().filter(|event| matches!(event, TelemetryEvent::Block(_))).count();
        prop_assert_eq!(history.totals().uses, uses as u64);
    }

    #[test]
    fn decimation_keeps_peaks_and_order(weights in vec(0..1000u64, 1..10_000), host in 1..50u64) {
        let events: Vec<_> = weights
            .iter()
            .enumerate()
            .map(|(at, &weights)| memory(at as u64, weights, weights * host % 997))
            .collect();
        let history = history(&events);
        let points = history.memory();
        prop_assert!(points.len() <= MEMORY_POINTS);
        let (highest, lowest) = (weights.iter().max(), weights.iter().min());
        prop_assert_eq!(points.iter().map(|point| &point.peak.weights).max(), highest);
        prop_assert_eq!(points.iter().map(|point| &point.least_device).min(), lowest);
        prop_assert_eq!(points.iter().map(|point| point.peak.host).max(), Some(history.peaks().host));
        prop_assert!(points.is_sorted_by(|a, b| a.to < b.from));
        prop_assert!(points.iter().all(|point| (point.from..=point.to).contains(&point.peak.at)));
        prop_assert_eq!((points[0].from, points[points.len() - 1].to), (0, weights.len() as u64 - 1));
    }
}

#[test]
fn ten_million_samples_stay_bounded_and_their_one_peak_is_seen() {
    let mut history = History::new();
    history.push(&started(0, Stage::new(1, StageKind::Denoise)));
    for at in 0..10_000_000 {
        history.push(&memory(at, if at == 7_654_321 { 900 } else { 100 + at % 7 }, 50));
    }
    let points = history.memory();
    assert!((MEMORY_POINTS / 2..=MEMORY_POINTS).contains(&points.len()));
    assert_eq!(history.samples_a_point(), 4096);
    let peak = points.iter().max_by_key(|point| point.peak.weights).unwrap();
    assert_eq!((peak.peak.at, peak.peak.weights, peak.least_device), (7_654_321, 900, 100));
    assert_eq!(history.peaks().device, 900);
    assert_eq!(history.stages().next().unwrap().peaks.device, 900);
}

#[test]
fn steps_stages_and_notes_stay_bounded() {
    let mut history = History::new();
    for number in 0..10_000 {
        history.push(&started(number, Stage::new(2, StageKind::Decode)));
        history.push(&finished(number, Stage::new(2, StageKind::Decode)));
        history.push(&step(number, number as u32));
        history.push(&TelemetryEvent::Note { at: number, text: String::new() });
    }
    assert!(history.steps().len() <= STEP_POINTS);
    assert_eq!((history.stages().len(), history.notes().len()), (STAGE_BANDS, NOTES));
    assert_eq!(history.last_step().unwrap().step, 9999);
    assert_eq!(history.notes().next_back().unwrap().at, 9999);
}

#[test]
fn a_stage_has_a_band_with_its_own_peaks() {
    let history = history(&[
        started(0, Stage::new(0, StageKind::EncodePrompt)),
        memory(1, 50, 0),
        finished(2, Stage::new(0, StageKind::EncodePrompt)),
        started(2, Stage::new(1, StageKind::Denoise)),
        memory(3, 40, 0),
    ]);
    let bands: Vec<_> = history
        .stages()
        .map(|band| (band.stage.clone(), band.start, band.finish, band.peaks.device))
        .collect();
    assert_eq!(
        bands,
        [
            (Stage::new(0, StageKind::EncodePrompt), 0, Some(2), 50),
            (Stage::new(1, StageKind::Denoise), 2, None, 40)
        ]
    );
    assert_eq!(history.stage(), Some(&Stage::new(1, StageKind::Denoise)));
    assert_eq!(history.latest(), 3);
}

#[test]
fn stalls_are_told_apart_by_step_and_run() {
    let waited = |at, wait| {
        let used = BlockRecord { wait, ..streamed(at, 1, 0, 0) };
        TelemetryEvent::Block(used)
    };
    let mut history = history(&[
        TelemetryEvent::Plan(plan(&[Placement::Resident, Placement::Streamed])),
        waited(0, 1000),
        started(1010, Stage::new(1, StageKind::Denoise)),
        waited(1010, 30),
        step(1050, 1),
    ]);
    assert_eq!(history.step_totals().stall(), 0.75);
    assert_eq!(history.totals().wait, 1030);
    history.extend(&[waited(1050, 0), step(1060, 2)]);
    assert_eq!(history.step_totals().stall(), 0.0);
    let block = &history.blocks(0)[1];
    assert_eq!((block.totals.uses, block.totals.wait, block.totals.bytes), (3, 1030, 300));
    assert_eq!(block.latest.unwrap().at, 1050);
}

#[test]
fn the_strip_shows_the_component_of_the_stage_that_goes_on() {
    let mut history = history(&[
        TelemetryEvent::Plan(plan(&[Placement::Resident, Placement::Streamed])),
        started(0, Stage::new(1, StageKind::Denoise)),
        TelemetryEvent::Block(record(0, 0, 0)),
    ]);
    assert_eq!(history.component_in_use(), Some(0));
    assert_eq!(history.denoiser(), Some(0));
    assert_eq!(history.states(0), [BlockState::Resident, BlockState::Computing]);
    history.push(&finished(20, Stage::new(1, StageKind::Denoise)));
    assert_eq!(history.states(0), [BlockState::Idle, BlockState::Idle]);
}

#[test]
fn another_plan_for_the_same_blocks_keeps_what_is_known_of_them() {
    let mut history = history(&[
        TelemetryEvent::Plan(plan(&[Placement::Resident, Placement::Streamed])),
        TelemetryEvent::Block(record(0, 0, 0)),
        TelemetryEvent::Plan(plan(&[Placement::Streamed, Placement::Streamed])),
    ]);
    assert_eq!(history.blocks(0)[0].totals.uses, 1);
    assert_eq!(history.plan().unwrap().components[0].blocks[0].placement, Placement::Streamed);

    history.push(&TelemetryEvent::Plan(plan(&[Placement::Streamed])));
    assert_eq!(history.blocks(0), [BlockHistory::default()]);
}

#[test]
fn blocks_that_no_plan_names_count_in_the_run_alone() {
    let history = history(&[TelemetryEvent::Block(record(0, 9, 0))]);
    assert_eq!(history.totals().compute, 10);
    assert!(history.blocks(0).is_empty() && history.states(0).is_empty());
}

#[test]
fn peaks_tell_what_is_ours_from_what_others_hold() {
    let sample =
        MemorySample { at: 1, weights: 5, activations: 2, others: 9, host: 3, pinned: 1, process: 8 };
    let peaks = history(&[TelemetryEvent::Memory(sample)]).peaks();
    assert_eq!((peaks.device, peaks.device_total), (7, 16));
    assert_eq!((peaks.weights, peaks.activations), (5, 2));
    assert_eq!((peaks.host, peaks.pinned, peaks.process), (3, 1, 8));
}
