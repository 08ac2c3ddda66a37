//! Weight stores for tests: on the CPU, with the same placement for all blocks.

use std::sync::Arc;

use candle_core::DType;
use sluice_engine::{
    checkpoint::Component,
    hardware::MemoryAccount,
    memory::{BlockPlan, Placement, Tier, UsePlan},
    residency::{CpuMemory, DeviceMemory, WeightStore},
};

/// A store on the CPU, in f32.
pub fn on_processor(component: Component, placement: Placement) -> WeightStore {
    store(component, Arc::new(CpuMemory), placement, Tier::Disk, 2)
}

/// A store with the same placement for all blocks, in f32.
pub fn store(
    component: Component,
    memory: Arc<dyn DeviceMemory>,
    placement: Placement,
    home: Tier,
    slots: u32,
) -> WeightStore {
    let blocks = vec![BlockPlan { placement, home }; component.blocks.len()];
    let store = WeightStore::new(component, DType::F32, memory, MemoryAccount::new());
    store.follow(&plan(blocks, slots));
    store
}

/// A plan with these placements.
pub fn plan(blocks: Vec<BlockPlan>, slots: u32) -> UsePlan {
    UsePlan { part: 0, blocks, slots, slot_bytes: 0, way: 0, tile: None }
}
