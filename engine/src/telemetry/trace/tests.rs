use std::{collections::BTreeMap, fs, path::PathBuf};

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    memory::{Placement, StageKind},
    telemetry::samples::{any_event, memory, plan, record, streamed},
};

fn in_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.json");
    (folder, path)
}

fn read(path: &Path) -> Vec<Value> {
    let trace: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    trace["traceEvents"].as_array().unwrap().clone()
}

fn trace_of(events: &[TelemetryEvent]) -> Vec<Value> {
    let (_folder, path) = in_folder();
    let mut writer = TraceWriter::create(&path).unwrap();
    writer.write(events).unwrap();
    writer.finish().unwrap();
    read(&path)
}

fn slices(trace: &[Value], track: u32) -> Vec<(String, u64, u64)> {
    trace
        .iter()
        .filter(|event| event["ph"] == "X" && event["tid"] == track)
        .map(|event| {
            let name = event["name"].as_str().unwrap().to_owned();
            (name, event["ts"].as_u64().unwrap(), event["dur"].as_u64().unwrap())
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_events_make_valid_json_after_every_batch(batches in vec(vec(any_event(), 0..12), 0..5)) {
        let (_folder, path) = in_folder();
        let mut writer = TraceWriter::create(&path).unwrap();
        read(&path);
        for batch in &batches {
            writer.write(batch).unwrap();
            read(&path);
        }
        writer.finish().unwrap();
        let trace = read(&path);

        let blocks =
            batches.iter().flatten().filter(|event| matches!(event, TelemetryEvent::Block(_))).count();
        prop_assert_eq!(slices(&trace, COMPUTE).len(), blocks);
        let mut filled = BTreeMap::<u64, u64>::new();
        for event in trace.iter().filter(|event| event["ph"] == "X") {
            let (start, dur) = (event["ts"].as_u64().unwrap(), event["dur"].as_u64().unwrap());
            let before = filled.insert(event["tid"].as_u64().unwrap(), start + dur);
            prop_assert!(before.is_none_or(|before| before <= start), "slices overlap");
        }
    }
}

#[test]
fn every_track_has_a_name() {
    let trace = trace_of(&[TelemetryEvent::Block(streamed(50, 0, 0, 3))]);
    let names: BTreeMap<_, _> = trace
        .iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| (event["tid"].as_u64().unwrap() as u32, event["args"]["name"].as_str().unwrap()))
        .collect();
    assert_eq!(names[&COMPUTE], "compute");
    assert_eq!(names[&(SLOTS + 3)], "slot 3");
    assert_eq!(names.len(), TRACKS.len() + 1);
}

#[test]
fn a_block_that_waited_has_its_copy_and_wait_before_its_computation() {
    let waited = BlockRecord { wait: 6, ..streamed(100, 1, 0, 0) };
    let trace = trace_of(&[
        TelemetryEvent::Plan(plan(&[Placement::Resident, Placement::Streamed])),
        TelemetryEvent::Block(record(80, 0, 0)),
        TelemetryEvent::Block(waited),
    ]);
    assert_eq!(slices(&trace, COMPUTE), [("layers.0".to_owned(), 80, 10), ("layers.1".to_owned(), 106, 10)]);
    assert_eq!(slices(&trace, WAITING), [("layers.1".to_owned(), 100, 6)]);
    assert_eq!(slices(&trace, SLOTS), [("layers.1".to_owned(), 98, 8)]);
    assert_eq!(slices(&trace, COPIES), []);
}

#[test]
fn a_copy_that_nobody_waited_for_begins_when_link_and_slot_are_free() {
    let trace = trace_of(&[
        TelemetryEvent::Block(BlockRecord { wait: 8, ..streamed(0, 0, 0, 0) }),
        TelemetryEvent::Block(streamed(30, 1, 0, 1)),
        TelemetryEvent::Block(streamed(60, 2, 0, 0)),
    ]);
    assert_eq!(slices(&trace, SLOTS), [("block 0".to_owned(), 0, 8), ("block 2".to_owned(), 18, 8)]);
    assert_eq!(slices(&trace, SLOTS + 1), [("block 1".to_owned(), 8, 8)]);
}

#[test]
fn a_cancelled_stage_ends_with_the_last_thing_seen() {
    let started = TelemetryEvent::StageStarted { at: 10, stage: Stage::new(1, StageKind::Denoise) };
    let trace = trace_of(&[started, TelemetryEvent::Block(record(20, 0, 0))]);
    assert_eq!(slices(&trace, STAGES), [("denoise".to_owned(), 10, 20)]);
}

#[test]
fn steps_stages_and_notes_are_drawn_where_they_were() {
    let step = StepRecord { at: 90, step: 2, steps: 4, took: 40, wait: 1, bytes: 2, reused: 0 };
    let trace = trace_of(&[
        TelemetryEvent::Plan(plan(&[])),
        TelemetryEvent::StageStarted { at: 10, stage: Stage::new(1, StageKind::Denoise) },
        TelemetryEvent::Step(step),
        TelemetryEvent::Note { at: 95, text: "smaller tiles".to_owned() },
        TelemetryEvent::StageFinished { at: 100, stage: Stage::new(1, StageKind::Denoise) },
    ]);
    assert_eq!(slices(&trace, STEPS), [("step 2".to_owned(), 50, 40)]);
    assert_eq!(slices(&trace, STAGES), [("denoise".to_owned(), 10, 90)]);
    let note = trace.iter().find(|event| event["name"] == "smaller tiles").unwrap();
    assert_eq!((&note["ph"], &note["ts"]), (&json!("i"), &json!(95)));
    let predicted: Vec<_> =
        trace.iter().filter(|event| event["name"] == "predicted peak").map(|e| &e["args"]["bytes"]).collect();
    assert_eq!(predicted, [6000, 0]);
}

#[test]
fn counters_are_written_when_they_change() {
    let trace = trace_of(&[memory(1, 5, 6), memory(2, 5, 6), memory(3, 7, 6)]);
    let count = |name: &str| trace.iter().filter(|event| event["name"] == name).count();
    assert_eq!((count("device memory"), count("host memory"), count("process memory")), (2, 1, 1));
}
