//! The store of weights as a cache: what is onloaded is what is stored, wherever it was in between.

use std::{fs, path::Path, sync::Arc};

use candle_core::{DType, Device, Tensor};
use sluice_engine::{
    checkpoint::{BlockSpec, Component, Role, StoredName, read_header},
    memory::{BlockPlan, Placement, Tier},
    nn,
    residency::{CancelToken, CpuMemory, DeviceMemory, Executor, RunError, SimulatedCard, WeightStore},
};
use sluice_tests::{
    checkpoint::save,
    hash_weights::weight,
    original_names::Tensors,
    stores::{plan, store},
};

const BLOCKS: usize = 4;
const ROWS: usize = 40;
const WIDTH: usize = 300;
/// Bytes of a block: a matrix and a norm.
const BLOCK: u64 = 4 * (ROWS * WIDTH + WIDTH) as u64;

fn names() -> impl Iterator<Item = (String, [usize; 2])> {
    (0..BLOCKS).flat_map(|block| {
        [
            (format!("blocks.{block}.layer.weight"), [ROWS, WIDTH]),
            (format!("blocks.{block}.norm.weight"), [1, WIDTH]),
        ]
    })
}

/// Random values in a file.
fn component(folder: &Path) -> Component {
    let path = folder.join("weights.safetensors");
    let tensors: Tensors = names()
        .map(|(name, shape)| {
            let values = weight(&name, &shape, 1.0);
            (name, Tensor::from_vec(values, &shape[..], &Device::Cpu).unwrap())
        })
        .collect();
    save(&tensors, &path).unwrap();
    let specs: Vec<BlockSpec> = (0..BLOCKS)
        .map(|block| {
            BlockSpec::new(format!("blocks.{block}"))
                .matrix("layer", ROWS, WIDTH)
                .tensor("norm.weight", &[1, WIDTH])
        })
        .collect();
    let table = read_header(&path).unwrap();
    Component::bind(Role::Denoiser, "test", &specs, &table, |name| StoredName::whole(name), &path).unwrap()
}

fn card() -> Arc<dyn DeviceMemory> {
    Arc::new(SimulatedCard::new(1e9, 1e-6))
}

fn streamed(folder: &Path) -> WeightStore {
    store(component(folder), card(), Placement::Streamed, Tier::Host, 2)
}

/// Stores on both kinds of devices, with every placement and every home of the offloaded weights.
fn everywhere(folder: &Path) -> Vec<(String, WeightStore)> {
    let mut stores = Vec::new();
    for placement in [Placement::Resident, Placement::Streamed, Placement::Leaves, Placement::SharedLeaves] {
        for home in [Tier::Host, Tier::Disk] {
            for (name, memory) in [("CPU", Arc::new(CpuMemory) as Arc<dyn DeviceMemory>), ("GPU", card())] {
                let made = store(component(folder), memory, placement, home, 2);
                stores.push((format!("{name}, {placement:?}, {home:?}"), made));
            }
        }
    }
    stores
}

type Values = Vec<Vec<u32>>;
type Offload = fn(&WeightStore);

fn bits(tensor: &Tensor) -> Vec<u32> {
    tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
}

/// The bits of every tensor as a forward pass gets them.
fn onloaded(store: &WeightStore) -> Result<Values, RunError> {
    let mut values = Vec::new();
    Executor::default().walk(store, 0..BLOCKS, |_, weights| {
        for name in ["layer.weight", "norm.weight"] {
            values.push(bits(weights.get(name)?.computed()?));
        }
        Ok(())
    })?;
    Ok(values)
}

/// The bits of every tensor as it is stored.
fn stored(store: &WeightStore) -> Values {
    let names = (0..BLOCKS).flat_map(|block| ["layer.weight", "norm.weight"].map(|name| (block, name)));
    names.map(|(block, name)| bits(&store.stored(block, name).unwrap())).collect()
}

fn in_the_file() -> Values {
    names().map(|(name, shape)| weight(&name, &shape, 1.0).into_iter().map(f32::to_bits).collect()).collect()
}

#[test]
fn offloading_is_the_inverse_of_onloading() {
    let folder = tempfile::tempdir().unwrap();
    let offload: [(&str, Offload); 4] = [
        ("nothing", |_| ()),
        ("rest", WeightStore::rest),
        ("leave_device", WeightStore::leave_device),
        ("leave_memory", WeightStore::leave_memory),
    ];
    for (place, store) in everywhere(folder.path()) {
        for (how, offload) in offload {
            assert!(onloaded(&store).unwrap() == in_the_file(), "{place}, before {how}");
            offload(&store);
            assert!(stored(&store) == in_the_file(), "{place}, stored after {how}");
        }
        let held = store.account().holdings();
        assert_eq!((held.weights, held.host), (0, 0), "{place}: nothing is left anywhere");
    }
}

#[test]
fn in_the_scope_blocks_are_onloaded_once() {
    let folder = tempfile::tempdir().unwrap();
    for (place, store) in everywhere(folder.path()) {
        let always = store.resident_bytes();
        {
            let scope = store.keep_on_device(0..BLOCKS);
            assert!(onloaded(&store).unwrap() == in_the_file(), "{place}");
            assert_eq!(store.resident_bytes(), BLOCKS as u64 * BLOCK, "{place}");
            let moved = store.moved_bytes();
            for _ in 0..3 {
                assert!(onloaded(&store).unwrap() == in_the_file(), "{place}");
            }
            assert_eq!(store.moved_bytes(), moved, "{place}: nothing moves again");
            drop(scope);
        }
        let resident = place.contains("Resident");
        assert_eq!(store.resident_bytes(), if resident { BLOCKS as u64 * BLOCK } else { always }, "{place}");
        assert!(onloaded(&store).unwrap() == in_the_file(), "{place}, after the scope");
    }
}

#[test]
fn scopes_nest_and_outlive_plans() {
    let folder = tempfile::tempdir().unwrap();
    let store = streamed(folder.path());
    let outer = store.keep_on_device(0..2);
    let inner = store.keep_on_device(1..3);
    onloaded(&store).unwrap();
    assert_eq!(store.resident_bytes(), 3 * BLOCK);
    drop(outer);
    assert_eq!(store.resident_bytes(), 2 * BLOCK, "blocks 1 and 2 are still in a scope");
    let blocks = vec![BlockPlan { placement: Placement::Leaves, home: Tier::Disk }; BLOCKS];
    store.follow(&plan(blocks, 0));
    assert!(onloaded(&store).unwrap() == in_the_file());
    assert_eq!(store.resident_bytes(), 2 * BLOCK, "a plan does not end a scope");
    store.leave_device();
    assert_eq!(store.resident_bytes(), 0, "but leaving the device frees everything");
    onloaded(&store).unwrap();
    assert_eq!(store.resident_bytes(), 2 * BLOCK);
    drop(inner);
    assert_eq!(store.resident_bytes(), 0);
    assert!(onloaded(&store).unwrap() == in_the_file());
}

#[test]
fn a_scope_takes_effect_in_the_middle_of_announced_walks() {
    let folder = tempfile::tempdir().unwrap();
    let store = streamed(folder.path());
    store.announce(4);
    onloaded(&store).unwrap();
    let scope = store.keep_on_device(1..3);
    for _ in 0..2 {
        assert!(onloaded(&store).unwrap() == in_the_file());
    }
    drop(scope);
    for _ in 0..2 {
        assert!(onloaded(&store).unwrap() == in_the_file());
    }
}

#[test]
fn a_scope_does_not_go_beyond_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let store = streamed(folder.path());
    store.account().set_budget(Some(3 * BLOCK));
    let scope = store.keep_on_device(0..BLOCKS);
    assert!(matches!(onloaded(&store), Err(RunError::OutOfMemory(_))));
    drop(scope);
    store.account().set_budget(Some(3 * BLOCK));
    assert!(onloaded(&store).unwrap() == in_the_file(), "without the scope, two slots are enough");
}

#[test]
fn assignment_reaches_the_stored_copy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("weights.safetensors");
    let new =
        Tensor::arange(0f32, (ROWS * WIDTH) as f32, &Device::Cpu).unwrap().reshape((ROWS, WIDTH)).unwrap();
    for (place, store) in everywhere(folder.path()) {
        let bytes = fs::read(&file).unwrap();
        let mut want = in_the_file();
        want[2] = bits(&new);
        onloaded(&store).unwrap();
        let scope = store.keep_on_device(1..2);
        onloaded(&store).unwrap();
        store.assign(1, "layer.weight", &new).unwrap();
        assert!(onloaded(&store).unwrap() == want, "{place}, onloaded");
        drop(scope);
        for offload in [WeightStore::rest, WeightStore::leave_device, WeightStore::leave_memory] {
            assert!(stored(&store) == want, "{place}, stored");
            offload(&store);
            assert!(onloaded(&store).unwrap() == want, "{place}, onloaded again");
        }
        let row = store.rows(1, "layer.weight", &[7]).unwrap();
        assert_eq!(bits(&row), bits(&new.narrow(0, 7, 1).unwrap()), "{place}, as a lookup table");
        assert!(fs::read(&file).unwrap() == bytes, "the file is not written");
        assert!(
            store.assign(1, "layer.bias", &new).is_err() && store.assign(1, "norm.weight", &new).is_err()
        );
        assert!(onloaded(&store).unwrap() == want, "{place}: a refused assignment changes nothing");
    }
}

/// What guidance branches compute in all blocks, and the bytes that this moves.
fn computed(placement: Placement, home: Tier, branches: usize, folder: &Path) -> (Values, u64) {
    let store = store(component(folder), card(), placement, home, 2);
    let mut inputs: Vec<nn::Tensor> = (0..branches)
        .map(|branch| {
            let values = weight(&format!("branch {branch}"), &[3, WIDTH], 1.0);
            Tensor::from_vec(values, (3, WIDTH), &Device::Cpu).unwrap().into()
        })
        .collect();
    let mut rows = Vec::new();
    Executor::default()
        .walk(&store, 0..BLOCKS, |_, weights| {
            let mut seen = vec![Vec::new(); branches];
            let mut both: Vec<_> = inputs.iter_mut().zip(&mut seen).collect();
            weights.branches(&mut both, |weights, _, (x, seen)| {
                let once = x.broadcast_add(&weights.get("norm.weight")?)?;
                seen.push(bits(weights.linear("layer", &once)?.computed()?));
                **x = once.broadcast_add(&weights.get("norm.weight")?)?;
                Ok(())
            })?;
            rows.extend(seen.into_iter().flatten());
            Ok(())
        })
        .unwrap();
    rows.extend(inputs.iter().map(|x| bits(x.computed().unwrap())));
    (rows, store.moved_bytes())
}

#[test]
fn guidance_branches_compute_the_same_together_with_each_tensor_once() {
    let folder = tempfile::tempdir().unwrap();
    let norm = 4 * WIDTH as u64;
    for home in [Tier::Host, Tier::Disk] {
        for branches in 1..=3 {
            let [stay, apart, together] = [Placement::Resident, Placement::Leaves, Placement::SharedLeaves]
                .map(|placement| computed(placement, home, branches, folder.path()));
            assert!(apart.0 == stay.0 && together.0 == stay.0, "{branches} branches, {home:?}");
            // The norm is read before the layer and after it; the next branch begins where the last one ended.
            let blocks = BLOCKS as u64;
            let again = branches as u64 * (BLOCK - norm) + (branches as u64 + 1) * norm;
            assert_eq!(apart.1, blocks * again, "{branches} branches, {home:?}");
            assert_eq!(together.1, blocks * (BLOCK + norm), "{branches} branches, {home:?}");
        }
    }
}

#[test]
fn a_branch_that_fails_ends_the_pass_and_leaves_nothing_on_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(component(folder.path()), card(), Placement::SharedLeaves, Tier::Host, 0);
    for failing in 0..3 {
        let mut reached = [0; 3];
        let walked = Executor::default().walk(&store, 0..1, |_, weights| {
            weights.branches(&mut reached, |weights, number, reached| {
                weights.get("norm.weight")?;
                if number == failing {
                    weights.get("no such tensor")?;
                }
                weights.get("layer.weight")?;
                *reached += 1;
                Ok(())
            })
        });
        let message = walked.unwrap_err().to_string();
        assert!(message.contains("no such tensor"), "{message}");
        assert_eq!(reached[failing], 0);
        assert_eq!(store.account().holdings().weights, 0);
    }
    assert!(onloaded(&store).unwrap() == in_the_file());
}

#[test]
fn tensors_move_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    for home in [Tier::Host, Tier::Disk] {
        let store = store(component(folder.path()), card(), Placement::Leaves, home, 0);
        store.account().take_peaks();
        store.begin_walk(0..1).unwrap();
        let lease = store.lease(0, &CancelToken::default()).unwrap();
        assert_eq!(
            (lease.moved_bytes(), store.account().holdings().weights),
            (0, 0),
            "a lease moves nothing"
        );
        lease.weights().get("norm.weight").unwrap();
        assert_eq!(lease.moved_bytes(), 4 * WIDTH as u64, "only the tensor that is read moves");
        drop(lease);
        assert_eq!(store.account().holdings().weights, 0);
        store.account().take_peaks();
        assert!(onloaded(&store).unwrap() == in_the_file());
        assert_eq!(
            store.account().take_peaks().device,
            (4 * ROWS * WIDTH) as u64,
            "the largest layer, no more"
        );
    }
}

#[test]
fn weights_on_disk_take_no_memory_and_those_in_ram_take_theirs() {
    let folder = tempfile::tempdir().unwrap();
    for (home, host) in [(Tier::Host, BLOCKS as u64 * BLOCK), (Tier::Disk, 0)] {
        let store = store(component(folder.path()), card(), Placement::Streamed, home, 1);
        for _ in 0..2 {
            assert!(onloaded(&store).unwrap() == in_the_file());
            store.leave_device();
            let held = store.account().holdings();
            assert_eq!((held.weights, held.host), (0, host), "{home:?}");
        }
    }
}

#[test]
fn each_device_has_its_own_store() {
    let folder = tempfile::tempdir().unwrap();
    let one = streamed(folder.path());
    let other = store(component(folder.path()), Arc::new(CpuMemory), Placement::Resident, Tier::Disk, 0);
    let new = Tensor::zeros((ROWS, WIDTH), DType::F32, &Device::Cpu).unwrap();
    assert!(onloaded(&one).unwrap() == onloaded(&other).unwrap());
    one.assign(0, "layer.weight", &new).unwrap();
    assert!(onloaded(&other).unwrap() == in_the_file(), "what is assigned to one is not seen by the other");
    assert!(onloaded(&one).unwrap()[0] == bits(&new));
    other.leave_memory();
    assert!(one.account().holdings().host > 0 && other.account().holdings().weights == 0);
}
