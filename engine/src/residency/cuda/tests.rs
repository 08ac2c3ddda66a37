//! Tests of GPU memory, on a GPU or on a fake driver (`packaging/cuda/test-without-card`).

use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use candle_core::{DType, Tensor};

use super::*;
use crate::{
    checkpoint::{BlockSpec, Component, Role, StoredName, read_header},
    hardware::MemoryAccount,
    memory::{BlockPlan, Placement, Tier, UsePlan},
    residency::{Executor, WeightStore},
};

fn card() -> Arc<CudaMemory> {
    CudaMemory::of_card(0).unwrap()
}

/// A host buffer with values of each dtype derived from `seed`.
fn filled(buffer: Buffer, sizes: &Sizes, seed: usize) -> Buffer {
    let sized = |bytes: usize| (0..bytes).map(|index| ((index * 31 + seed * 7) % 119) as u8);
    let values = Buffer::new(sizes, &Device::Cpu).unwrap();
    for (to, _, _) in values.pairs(&buffer, sizes) {
        let fresh =
            Tensor::from_vec(sized(to.elem_count()).collect::<Vec<u8>>(), to.elem_count(), &Device::Cpu);
        to.slice_set(&fresh.unwrap().to_dtype(to.dtype()).unwrap(), 0, 0).unwrap();
    }
    assert!(buffer.copy_from(&values, sizes, usize::MAX, |_| true).unwrap());
    buffer
}

fn assert_same(there: &Buffer, here: &Buffer, sizes: &Sizes) {
    let mut parts = 0;
    for (there, here, size) in there.pairs(here, sizes) {
        let read = |tensor: &Tensor| -> Vec<f32> {
            let tensor = tensor.to_device(&Device::Cpu).unwrap().narrow(0, 0, size).unwrap();
            tensor.to_dtype(DType::F32).unwrap().to_vec1().unwrap()
        };
        assert!(read(there) == read(here), "values of {:?} differ", there.dtype());
        parts += 1;
    }
    assert_eq!(parts, sizes.iter().filter(|&&size| size > 0).count());
}

const ODD: Sizes = [1_000_003, 77, 20_000_001, 33_554_433];

#[test]
fn what_is_uploaded_arrives_from_pinned_and_from_other_memory() {
    let card = card();
    let there = card.allocate(&ODD).unwrap();
    let pinned = filled(card.allocate_host(&ODD).unwrap(), &ODD, 1);
    assert!(pinned.is_pinned());
    assert!(card.upload(&pinned, &there, &ODD, &|| true).unwrap().is_some());
    assert_same(&there, &pinned, &ODD);
    let other = filled(Buffer::new(&ODD, &Device::Cpu).unwrap(), &ODD, 2);
    assert!(!other.is_pinned());
    assert!(card.upload(&other, &there, &ODD, &|| true).unwrap().is_some());
    assert_same(&there, &other, &ODD);
}

#[test]
fn an_upload_that_is_called_off_leaves_nothing_under_way() {
    let card = card();
    let there = card.allocate(&ODD).unwrap();
    let pinned = filled(card.allocate_host(&ODD).unwrap(), &ODD, 3);
    assert!(card.upload(&pinned, &there, &ODD, &|| false).unwrap().is_none());
}

#[test]
fn a_slot_is_filled_again_when_its_reader_is_through() {
    let card = card();
    let sizes = [1 << 20, 0, 0, 0];
    let mut slot = card.allocate(&sizes).unwrap();
    let part = slot.parts().next().unwrap().clone();
    let hosts: Vec<Buffer> =
        (0..2).map(|seed| filled(card.allocate_host(&sizes).unwrap(), &sizes, seed)).collect();
    let mut readers = Vec::new();
    for turn in 0..8 {
        assert!(card.upload(&hosts[turn % 2], &slot, &sizes, &|| true).unwrap().is_some());
        // Queues reads of the slot; the CPU does not wait for them before the slot is refilled.
        readers.push(part.copy().unwrap());
        slot.set_read_until((turn % 3 > 0).then(|| Arc::new(card.moment().unwrap())));
    }
    for (turn, reader) in readers.iter().enumerate() {
        let read: Vec<f32> = reader.to_device(&Device::Cpu).unwrap().to_vec1().unwrap();
        let wanted: Vec<f32> = hosts[turn % 2].parts().next().unwrap().to_vec1().unwrap();
        assert!(read == wanted, "turn {turn} read the values of a later turn");
    }
}

#[test]
fn the_pool_counts_what_is_in_use_and_the_most_that_was() {
    let card = card();
    let pool = card.pool().unwrap();
    pool.take_most();
    let before = pool.used();
    let sizes = [4 << 20, 0, 0, 0];
    let held = card.allocate(&sizes).unwrap();
    // Other tests allocate and free memory meanwhile, but none as much.
    assert!(pool.used() + (32 << 20) >= before + (16 << 20));
    drop(held);
    card.synchronize().unwrap();
    assert!(pool.take_most() >= 16 << 20);
    assert!(pool.available() > 0);
}

#[test]
fn moments_come_in_their_order() {
    let card = card();
    let before = card.moment().unwrap();
    let tensor = Tensor::zeros(1 << 20, DType::F32, card.device()).unwrap();
    let copies: Vec<Tensor> = (0..4).map(|_| tensor.copy().unwrap()).collect();
    let after = card.moment().unwrap();
    assert!(after.since(&before).unwrap() > Duration::ZERO);
    assert!(after.has_come() && before.has_come());
    drop(copies);
}

const BLOCKS: usize = 5;

fn component(folder: &Path) -> Component {
    let path = folder.join("weights.safetensors");
    let tensors: HashMap<String, Tensor> = (0..BLOCKS)
        .flat_map(|index| {
            let weight = Tensor::rand(-1f32, 1f32, (300, 500), &Device::Cpu).unwrap();
            let half = weight.to_dtype(DType::BF16).unwrap();
            let bias = Tensor::rand(-1f32, 1f32, 300, &Device::Cpu).unwrap();
            [
                (format!("{index}.one.weight"), weight),
                (format!("{index}.two.weight"), half),
                (format!("{index}.one.bias"), bias),
            ]
        })
        .collect();
    candle_core::safetensors::save(&tensors, &path).unwrap();
    let specs: Vec<_> = (0..BLOCKS)
        .map(|index| BlockSpec::new(index.to_string()).linear("one", 300, 500).matrix("two", 300, 500))
        .collect();
    let table = read_header(&path).unwrap();
    Component::bind(Role::Denoiser, "test", &specs, &table, |name| StoredName::whole(name), &path).unwrap()
}

/// Every tensor of three walks, in order.
fn walked(store: &WeightStore) -> Vec<Vec<f32>> {
    let mut seen = Vec::new();
    store.announce(2);
    for _ in 0..3 {
        Executor::default()
            .walk(store, 0..BLOCKS, |_, weights| {
                for name in ["one.weight", "one.bias"] {
                    let tensor = weights.get(name)?.flatten_all()?;
                    seen.push(tensor.computed()?.copy()?.to_device(&Device::Cpu)?.to_vec1()?);
                }
                Ok(())
            })
            .unwrap();
    }
    seen
}

#[test]
fn weights_are_the_same_wherever_they_are_and_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let component = component(folder.path());
    let store = |memory: Arc<dyn DeviceMemory>| {
        WeightStore::new(component.clone(), DType::F32, memory, MemoryAccount::new())
    };
    let wanted = walked(&store(Arc::new(crate::residency::CpuMemory)));
    for placement in [Placement::Resident, Placement::Streamed, Placement::Leaves] {
        for home in [Tier::Host, Tier::Disk] {
            let store = store(card());
            store.follow(&UsePlan {
                part: 0,
                way: 0,
                tile: None,
                slots: 2,
                slot_bytes: 0,
                blocks: vec![BlockPlan { placement, home }; BLOCKS],
            });
            assert!(walked(&store) == wanted, "{placement:?} from {home:?}");
        }
    }
}
