//! Events for tests.

use proptest::{collection::vec, option, prelude::*};

use super::{
    BlockMark, BlockRecord, ComponentMark, MemorySample, PlanMark, StageMark, StepRecord, TelemetryEvent,
};
use crate::{
    checkpoint::Role,
    memory::{Placement, Stage, StageKind, Tier},
};

/// A denoiser with these placements, in blocks of 100 bytes.
pub fn plan(placements: &[Placement]) -> PlanMark {
    let block = |(index, placement): (usize, &Placement)| BlockMark {
        name: format!("layers.{index}"),
        bytes: 100,
        placement: *placement,
    };
    PlanMark {
        at: 0,
        device: "a GPU".to_owned(),
        device_total: 8000,
        device_budget: 7000,
        stages: vec![StageMark { stage: Stage::new(1, StageKind::Denoise), predicted: 6000 }],
        components: vec![ComponentMark {
            part: "denoiser".to_owned(),
            role: Role::Denoiser,
            stage: Stage::new(1, StageKind::Denoise),
            blocks: placements.iter().enumerate().map(block).collect(),
        }],
    }
}

/// The use of a resident block of the first component.
pub fn record(at: u64, block: u16, walk: u32) -> BlockRecord {
    BlockRecord {
        at,
        component: 0,
        block,
        walk,
        wait: 0,
        load: 0,
        compute: 10,
        evict: 0,
        bytes: 0,
        tier: Tier::Device,
        slot: None,
    }
}

/// The use of a streamed block.
pub fn streamed(at: u64, block: u16, walk: u32, slot: u8) -> BlockRecord {
    BlockRecord { load: 8, bytes: 100, tier: Tier::Host, slot: Some(slot), ..record(at, block, walk) }
}

/// Memory in use: weights on the device and copies on the host.
pub fn memory(at: u64, weights: u64, host: u64) -> TelemetryEvent {
    TelemetryEvent::Memory(MemorySample { at, weights, host, ..MemorySample::default() })
}

/// A name that JSON has to escape.
fn text() -> impl Strategy<Value = String> {
    "[a-z\"\\\\\n\t\u{1}ä€😀]{0,12}"
}

fn stage() -> impl Strategy<Value = Stage> {
    let kind = prop_oneof![
        Just(StageKind::EncodePrompt),
        Just(StageKind::EncodeImage),
        Just(StageKind::Denoise),
        Just(StageKind::Decode)
    ];
    (0..5usize, kind, text()).prop_map(|(number, kind, name)| Stage { number, kind, name })
}

fn tier() -> impl Strategy<Value = Tier> {
    prop_oneof![Just(Tier::Disk), Just(Tier::Host), Just(Tier::Device)]
}

fn block_mark() -> impl Strategy<Value = BlockMark> {
    let placement = prop_oneof![
        Just(Placement::Resident),
        Just(Placement::Streamed),
        Just(Placement::Leaves),
        Just(Placement::SharedLeaves)
    ];
    (text(), any::<u64>(), placement).prop_map(|(name, bytes, placement)| BlockMark {
        name,
        bytes,
        placement,
    })
}

fn plan_mark() -> impl Strategy<Value = PlanMark> {
    let role = prop_oneof![Just(Role::TextEncoder), Just(Role::Denoiser), Just(Role::Autoencoder)];
    let component = (text(), role, stage(), vec(block_mark(), 0..4))
        .prop_map(|(part, role, stage, blocks)| ComponentMark { part, role, stage, blocks });
    let stages = (stage(), any::<u64>()).prop_map(|(stage, predicted)| StageMark { stage, predicted });
    (any::<u64>(), text(), any::<u64>(), any::<u64>(), vec(stages, 0..4), vec(component, 0..4)).prop_map(
        |(at, device, device_total, device_budget, stages, components)| PlanMark {
            at,
            device,
            device_total,
            device_budget,
            stages,
            components,
        },
    )
}

/// Any use of any block: times overlap and overflow, and indices may not exist.
pub fn any_record() -> impl Strategy<Value = BlockRecord> {
    let numbers = (0..4u8, 0..6u16, 0..3u32);
    let small_or_any = || prop_oneof![3 => 0..1000u64, 1 => any::<u64>()];
    let times = (small_or_any(), small_or_any(), small_or_any(), small_or_any(), small_or_any());
    (numbers, times, small_or_any(), tier(), option::of(any::<u8>())).prop_map(
        |((component, block, walk), (at, wait, load, compute, evict), bytes, tier, slot)| BlockRecord {
            at,
            component,
            block,
            walk,
            wait,
            load,
            compute,
            evict,
            bytes,
            tier,
            slot,
        },
    )
}

/// Any event, whether or not it makes sense.
pub fn any_event() -> impl Strategy<Value = TelemetryEvent> {
    let step = (any::<[u32; 3]>(), any::<[u64; 4]>()).prop_map(
        |([step, steps, reused], [at, took, wait, bytes])| StepRecord {
            at,
            step,
            steps,
            took,
            wait,
            bytes,
            reused,
        },
    );
    let memory = (any::<u64>(), any::<[u64; 6]>()).prop_map(
        |(at, [weights, activations, others, host, pinned, process])| MemorySample {
            at,
            weights,
            activations,
            others,
            host,
            pinned,
            process,
        },
    );
    prop_oneof![
        1 => plan_mark().prop_map(TelemetryEvent::Plan),
        1 => (any::<u64>(), stage()).prop_map(|(at, stage)| TelemetryEvent::StageStarted { at, stage }),
        1 => (any::<u64>(), stage()).prop_map(|(at, stage)| TelemetryEvent::StageFinished { at, stage }),
        1 => step.prop_map(TelemetryEvent::Step),
        4 => any_record().prop_map(TelemetryEvent::Block),
        1 => memory.prop_map(TelemetryEvent::Memory),
        1 => (any::<u64>(), text()).prop_map(|(at, text)| TelemetryEvent::Note { at, text }),
    ]
}
