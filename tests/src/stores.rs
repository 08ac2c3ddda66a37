//! Stores for tests of parts: on the processor, with every block in the same place.

use std::sync::Arc;

use candle_core::DType;
use sluice_engine::{
    checkpoint::Component,
    hardware::MemoryAccount,
    memory::{BlockPlan, Placement, Tier, UsePlan},
    residency::{CpuMemory, DeviceMemory, WeightStore},
};

/// A store on the processor, in f32.
pub fn on_processor(component: Component, placement: Placement) -> WeightStore {
    store(component, Arc::new(CpuMemory), placement, Tier::Disk, 2)
}

/// A store whose blocks all come in the same way, in f32.
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

/// A plan for blocks in these places.
pub fn plan(blocks: Vec<BlockPlan>, slots: u32) -> UsePlan {
    UsePlan { part: 0, blocks, slots, slot_bytes: 0, way: 0, tile: None }
}
