//! Weight stores alone: the weights of a lease, for every placement.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use candle_core::{Device, Tensor};
use sluice_engine::{
    checkpoint::{BlockSpec, Component, Role, StoredName, read_header},
    memory::{Placement, Tier},
    nn,
    residency::{
        CancelToken, CpuMemory, DeviceMemory, Executor, RunError, SimulatedCard, WeightStore, Weights,
    },
    telemetry::Recorder,
};
use sluice_tests::{checkpoint::save, original_names::Tensors, stores::store};

const BLOCKS: usize = 4;
const WIDTH: usize = 300;

/// Blocks of a matrix and a vector, whose values identify the block.
fn component(folder: &Path) -> Component {
    let path = folder.join("weights.safetensors");
    let mut tensors = Tensors::new();
    let specs: Vec<BlockSpec> = (0..BLOCKS)
        .map(|index| {
            let value = index as f32 + 1.0;
            let matrix = Tensor::full(value, (2, WIDTH), &Device::Cpu).unwrap();
            let vector = Tensor::full(-value, WIDTH, &Device::Cpu).unwrap();
            tensors.insert(format!("blocks.{index}.layer.weight"), matrix);
            tensors.insert(format!("blocks.{index}.norm.weight"), vector);
            BlockSpec::new(format!("blocks.{index}")).matrix("layer", 2, WIDTH).scale("norm", WIDTH)
        })
        .collect();
    save(&tensors, &path).unwrap();
    let table = read_header(&path).unwrap();
    Component::bind(Role::Denoiser, "test", &specs, &table, |name| StoredName::whole(name), &path).unwrap()
}

/// Stores with every placement and source of weights.
fn places(folder: &Path) -> Vec<(String, WeightStore)> {
    let memories: [(&str, Arc<dyn DeviceMemory>); 2] =
        [("processor", Arc::new(CpuMemory)), ("card", Arc::new(SimulatedCard::new(1e9, 1e-6)))];
    let mut places = Vec::new();
    for (name, memory) in memories {
        for placement in [Placement::Resident, Placement::Streamed, Placement::Leaves] {
            for home in [Tier::Host, Tier::Disk] {
                let made = store(component(folder), Arc::clone(&memory), placement, home, 2);
                places.push((format!("{name}, {placement:?}, {home:?}"), made));
            }
        }
    }
    places
}

/// The first value of each block's matrix and vector, read in one walk.
fn values(store: &WeightStore) -> Vec<(f32, f32)> {
    let mut values = Vec::new();
    let first = |tensor: nn::Tensor| tensor.computed()?.flatten_all()?.get(0)?.to_scalar::<f32>();
    Executor::default()
        .walk(store, 0..BLOCKS, |_, weights| {
            values.push((first(weights.get("layer.weight")?)?, first(weights.get("norm.weight")?)?));
            Ok(())
        })
        .unwrap();
    values
}

fn expected() -> Vec<(f32, f32)> {
    (1..=BLOCKS).map(|value| (value as f32, -(value as f32))).collect()
}

#[test]
fn only_weights_that_a_walk_would_read_from_files_are_read_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let block = (3 * WIDTH * size_of::<f32>()) as u64;
    for (name, store) in places(folder.path()) {
        let to_read = |range| store.to_read(range).iter().map(|part| part.length()).sum::<u64>();
        assert_eq!((to_read(0..BLOCKS), to_read(1..2)), (BLOCKS as u64 * block, block), "{name}");
        values(&store);
        let is_kept = name.contains("Resident") || name.contains("card") && name.contains("Host");
        let again = if is_kept { 0 } else { BLOCKS as u64 * block };
        assert_eq!(to_read(0..BLOCKS), again, "{name}");
    }
}

#[test]
fn weights_are_the_stored_ones_from_every_place_in_every_walk() {
    let folder = tempfile::tempdir().unwrap();
    for (name, store) in places(folder.path()) {
        store.announce(2);
        for walk in 0..3 {
            assert_eq!(values(&store), expected(), "{name}, walk {walk}");
        }
        store.leave_device();
        assert_eq!(store.account().holdings().weights, 0, "{name}");
        assert_eq!(values(&store), expected(), "{name}, after it left the device");
        store.leave_memory();
        assert_eq!(store.account().holdings().host, 0, "{name}");
        assert_eq!(values(&store), expected(), "{name}, after it left memory");
    }
}

#[test]
fn a_walk_that_is_abandoned_leaves_nothing_in_the_way_of_the_next() {
    let folder = tempfile::tempdir().unwrap();
    for (name, store) in places(folder.path()) {
        store.announce(5);
        for stop in 0..BLOCKS {
            let failed = Executor::default().walk(&store, 0..BLOCKS, |index, _| {
                if index == stop { Err(candle_core::Error::Msg("stop".to_owned())) } else { Ok(()) }
            });
            assert!(matches!(failed, Err(RunError::Compute(_))), "{name}: {failed:?}");
            assert_eq!(values(&store), expected(), "{name}, after a stop at {stop}");
        }
    }
}

#[test]
fn a_slower_device_takes_as_many_times_longer() {
    let folder = tempfile::tempdir().unwrap();
    let memory = Arc::new(SimulatedCard::new(1e9, 0.0).with_slowdown(4.0));
    let store = store(component(folder.path()), memory, Placement::Resident, Tier::Disk, 0);
    let pass = Duration::from_millis(5);
    let started = Instant::now();
    let slept = |_, _: &Weights<'_>| {
        thread::sleep(pass);
        Ok(())
    };
    Executor::default().walk(&store, 0..BLOCKS, slept).unwrap();
    assert!(started.elapsed() >= 4 * pass * BLOCKS as u32, "{:?}", started.elapsed());
}

#[test]
fn cancelling_does_not_wait_for_a_slow_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.safetensors");
    let large = Tensor::zeros(40_000_000, candle_core::DType::F32, &Device::Cpu).unwrap();
    save(&Tensors::from([("block.weight".to_owned(), large)]), &path).unwrap();
    let specs = [BlockSpec::new("block").tensor("weight", &[40_000_000])];
    let table = read_header(&path).unwrap();
    let component =
        Component::bind(Role::Denoiser, "test", &specs, &table, |name| StoredName::whole(name), &path)
            .unwrap();
    // 160 MB at 4 MB/s.
    let memory = Arc::new(SimulatedCard::new(4e6, 0.0));
    let store = store(component, memory, Placement::Streamed, Tier::Host, 1);
    let cancel = CancelToken::default();
    let from_elsewhere = cancel.clone();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        from_elsewhere.cancel();
    });
    let started = Instant::now();
    let executor = Executor::new(cancel, Recorder::disabled());
    let ended = executor.walk(&store, 0..1, |_, _| Ok(()));
    assert!(matches!(ended, Err(RunError::Cancelled)), "{ended:?}");
    drop(store);
    canceller.join().unwrap();
    // The whole copy would take forty seconds.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
