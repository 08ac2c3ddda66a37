//! Times steps whose weights stream over a simulated link: `cargo bench --workspace --bench streaming`.
//!
//! Computation is simulated by sleeping, so that its ratio to copying can be chosen. Each figure comes with
//! the lower bound (the larger of all computation and all bytes over the link), the planner's simulation, and
//! the same store with one slot (no overlap) and with the first blocks resident instead of the best ones.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    checkpoint::{BlockSpec, Component, Role, StoredName, read_header},
    hardware::MemoryAccount,
    memory::{
        BlockCost, BlockPlan, Candidate, HostRoom, Link, Machine, Placement, Technique, Tier, UsePlan,
        leading_prefix, place, simulate,
    },
    residency::{Executor, RunError, SimulatedCard, WeightStore},
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const STEPS: usize = 8;
/// Bytes per second of the link, and its latency in seconds.
const LINK: Link = Link { bytes_per_second: 1e9, latency: 20e-6 };

/// A model: the size of its blocks in kilobytes, and the computing time of each in milliseconds.
struct Case {
    name: &'static str,
    blocks: Vec<(usize, f64)>,
    /// The fraction of the weights that fits.
    room: f64,
}

fn main() -> Result<()> {
    let alike = |ratio: f64| vec![(4000, 4.0 * ratio); 20];
    let two_kinds = |double: f64, single: f64| [vec![(4800, double); 6], vec![(2000, single); 12]].concat();
    let cases = [
        Case { name: "20 alike, compute = link / 2, no room", blocks: alike(0.5), room: 0.0 },
        Case { name: "20 alike, compute = link, no room", blocks: alike(1.0), room: 0.0 },
        Case { name: "20 alike, compute = 2 link, no room", blocks: alike(2.0), room: 0.0 },
        Case { name: "20 alike, compute = link / 2, half room", blocks: alike(0.5), room: 0.5 },
        Case { name: "20 alike, compute = link, half room", blocks: alike(1.0), room: 0.5 },
        Case { name: "double and single blocks, a third", blocks: two_kinds(2.5, 2.5), room: 0.33 },
        Case { name: "double and single blocks, half", blocks: two_kinds(2.0, 1.5), room: 0.5 },
    ];
    println!("milliseconds a step; link {} GB/s", LINK.bytes_per_second / 1e9);
    println!(
        "{:42} {:>7} {:>7} {:>7} {:>9} {:>7} {:>12} {:>8}",
        "", "floor", "Sluice", "/floor", "predicted", "error", "synchronous", "prefix"
    );
    let folder = std::env::temp_dir().join(format!("sluice-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let result = cases.iter().try_for_each(|case| report(case, &folder));
    std::fs::remove_dir_all(&folder)?;
    result
}

fn report(case: &Case, folder: &Path) -> Result<()> {
    let machine = machine();
    let component = component(case, folder)?;
    let costs: Vec<BlockCost> = case
        .blocks
        .iter()
        .zip(&component.blocks)
        .map(|(&(_, milliseconds), block)| BlockCost {
            seconds: milliseconds / 1e3,
            bytes: block.stored_bytes(),
            by_dtype: [block.stored_bytes(), 0, 0, 0],
            largest_tensor: block.stored_bytes(),
            file_bytes: block.stored_bytes(),
            encoding: 0.0,
            passes: STEPS as u32,
            reads: 1,
            shared: None,
        })
        .collect();
    let all: u64 = costs.iter().map(|cost| cost.bytes).sum();
    let largest = costs.iter().map(|cost| cost.bytes).max().unwrap_or(0);
    let weights = ((all as f64 * case.room) as u64).max(2 * largest);
    let host = HostRoom { copies: all, staging: 0 };
    let technique = Technique { leaves: false, ..Technique::new(None) };
    let best = place(&costs, &machine, technique, host, weights).ok_or("there is no placement")?;
    let prefix = leading_prefix(&costs, &machine, 2, host, weights).ok_or("there is no placement")?;
    let alone = Candidate { slots: 1, ..all_streamed(&best) };

    let compute: f64 = costs.iter().map(|cost| cost.seconds).sum();
    let streamed: u64 = costs
        .iter()
        .zip(&best.blocks)
        .filter(|(_, block)| block.placement == Placement::Streamed)
        .map(|(cost, _)| cost.bytes)
        .sum();
    let floor = compute.max(streamed as f64 / LINK.bytes_per_second);
    let predicted = simulate(&costs, &best.blocks, best.slots, &machine).steady;
    let measured = step(&component, &best, case)?;
    let synchronous = step(&component, &alone, case)?;
    let leading = step(&component, &prefix, case)?;
    println!(
        "{:42} {:7.1} {:7.1} {:7.3} {:9.1} {:+6.1}% {:12.1} {:8.1}",
        case.name,
        floor * 1e3,
        measured * 1e3,
        measured / floor,
        predicted * 1e3,
        (predicted / measured - 1.0) * 1e2,
        synchronous * 1e3,
        leading * 1e3,
    );
    Ok(())
}

/// Streams every block.
fn all_streamed(candidate: &Candidate) -> Candidate {
    let blocks =
        candidate.blocks.iter().map(|_| BlockPlan { placement: Placement::Streamed, home: Tier::Host });
    Candidate { blocks: blocks.collect(), ..candidate.clone() }
}

/// Seconds of a step in steady state: the median of the measured ones.
fn step(component: &Component, candidate: &Candidate, case: &Case) -> Result<f64> {
    let memory = Arc::new(SimulatedCard::new(LINK.bytes_per_second, LINK.latency));
    let store = WeightStore::new(component.clone(), DType::F32, memory, MemoryAccount::new());
    store.follow(&UsePlan {
        part: 0,
        blocks: candidate.blocks.clone(),
        slots: candidate.slots,
        slot_bytes: candidate.slot_bytes,
        way: 0,
        tile: None,
    });
    let executor = Executor::default();
    store.announce(STEPS);
    let mut times = Vec::new();
    for _ in 0..STEPS {
        let started = Instant::now();
        walk(&executor, &store, case)?;
        times.push(started.elapsed().as_secs_f64());
    }
    times.drain(..2);
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn walk(executor: &Executor, store: &WeightStore, case: &Case) -> std::result::Result<(), RunError> {
    executor.walk(store, 0..case.blocks.len(), |index, weights| {
        weights.get("weight")?;
        sleep(Duration::from_secs_f64(case.blocks[index].1 / 1e3));
        Ok(())
    })
}

/// Sleeps with the accuracy of a computation.
fn sleep(duration: Duration) {
    let end = Instant::now() + duration;
    thread::sleep(duration.saturating_sub(Duration::from_micros(100)));
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

fn machine() -> Machine {
    Machine {
        device: "simulated card".to_owned(),
        unified: false,
        device_total: 0,
        device_budget: 0,
        host_budget: u64::MAX,
        link: LINK,
        disk: Link { bytes_per_second: 1e10, latency: 0.0 },
        disk_is_measured: false,
        operations_per_second: 1.0,
        block_latency: 0.0,
        own_speeds: BTreeMap::new(),
    }
}

fn component(case: &Case, folder: &Path) -> Result<Component> {
    let path = folder.join("weights.safetensors");
    let specs: Vec<BlockSpec> = case
        .blocks
        .iter()
        .enumerate()
        .map(|(index, &(kilobytes, _))| {
            BlockSpec::new(format!("blocks.{index}")).tensor("weight", &[kilobytes * 1000 / 4])
        })
        .collect();
    let mut tensors = HashMap::new();
    for spec in &specs {
        for (name, shape) in &spec.tensors {
            let name = format!("{}{name}", spec.prefix);
            tensors.insert(name, Tensor::zeros(shape.as_slice(), DType::F32, &Device::Cpu)?);
        }
    }
    candle_core::safetensors::save(&tensors, &path)?;
    let table = read_header(&path)?;
    let whole = |name: &str| StoredName::whole(name);
    Ok(Component::bind(Role::Denoiser, "benchmark", &specs, &table, whole, &path)?)
}
