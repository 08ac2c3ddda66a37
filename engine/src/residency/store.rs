//! The weights of one component, block by block.

mod lease;
mod walks;

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use candle_core::{DType, Device, Tensor};

use super::{
    BlockWeights, CancelToken, RunError,
    buffer::Buffer,
    copies::{Copies, Place, Resident},
    device::DeviceMemory,
    weight_source::{Transfer, WeightSource},
};
use crate::{
    checkpoint::{Component, LowRankTerm, Values},
    hardware::{MemoryAccount, unmetered},
    memory::{BlockPlan, Placement, Tier, UsePlan},
    nn::computed::LowRank,
};

use self::lease::Kind;
pub use self::lease::Lease;

/// How often a waiting forward pass checks whether it was cancelled.
const PATIENCE: Duration = Duration::from_millis(20);

/// Leases the weights of a component's blocks under a plan, and prefetches them.
///
/// Each walk starts with [`begin_walk`](Self::begin_walk), followed by one [`lease`](Self::lease) for each
/// block of the range, in order.
#[derive(Debug)]
pub struct WeightStore {
    source: Arc<WeightSource>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    plan: Vec<BlockPlan>,
    /// For each block: the scopes that keep it on the device.
    scopes: Vec<u32>,
    slots: u32,
    resident: Vec<Option<Arc<OnDevice>>>,
    copies: Option<Copies>,
    /// Announced walks that are still to come.
    announced: usize,
    /// The range whose blocks are already being loaded although its walk has not begun.
    ahead: Option<Range<usize>>,
    measured: Vec<BlockTimings>,
    moved: u64,
    waited: Duration,
}

impl State {
    /// Where a block is loaded to: what the plan says, unless a scope keeps it on the device.
    fn placement(&self, block: usize) -> Placement {
        if self.scopes[block] > 0 { Placement::Resident } else { self.plan[block].placement }
    }

    /// Ends what is on its way, and frees the blocks that are no longer to stay on the device.
    fn place_again(&mut self) {
        self.copies = None;
        self.ahead = None;
        for block in 0..self.resident.len() {
            if self.placement(block) != Placement::Resident {
                self.resident[block] = None;
            }
        }
    }
}

/// Keeps blocks on the device until it is dropped: see [`WeightStore::keep_on_device`].
#[derive(Debug)]
#[must_use = "the scope ends when this is dropped"]
pub struct OnDeviceScope<'a> {
    store: &'a WeightStore,
    range: Range<usize>,
}

impl Drop for OnDeviceScope<'_> {
    fn drop(&mut self) {
        let mut state = self.store.state();
        state.scopes[self.range.clone()].iter_mut().for_each(|scopes| *scopes -= 1);
        state.place_again();
    }
}

/// A resident block.
#[derive(Debug)]
struct OnDevice {
    weights: BlockWeights,
    memory: Arc<Resident>,
}

/// Measurements of one block.
#[derive(Debug, Clone, Copy, Default)]
pub struct BlockTimings {
    /// Number of forward passes.
    pub passes: u32,
    /// Their total duration.
    pub compute: Duration,
    /// Bytes moved over the link for them, or read from disk where there is no link.
    pub bytes: u64,
    /// Total duration of that. Blocks that come over the link from disk are not counted: they wait for the disk.
    pub load: Duration,
}

impl WeightStore {
    /// A store that has read nothing yet. Until a plan says otherwise, blocks stay on the device once read.
    pub fn new(
        component: Component,
        dtype: DType,
        memory: Arc<dyn DeviceMemory>,
        account: Arc<MemoryAccount>,
    ) -> Self {
        Self::with_source(Arc::new(WeightSource::new(component, dtype, memory, account)))
    }

    fn with_source(source: Arc<WeightSource>) -> Self {
        let blocks = source.blocks();
        let state = State {
            plan: vec![BlockPlan { placement: Placement::Resident, home: Tier::Disk }; blocks],
            scopes: vec![0; blocks],
            slots: 0,
            resident: (0..blocks).map(|_| None).collect(),
            copies: None,
            announced: 0,
            ahead: None,
            measured: vec![BlockTimings::default(); blocks],
            moved: 0,
            waited: Duration::ZERO,
        };
        Self { source, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The component whose weights it leases.
    pub fn component(&self) -> &Component {
        &self.source.component
    }

    /// The dtype of the computation.
    pub fn dtype(&self) -> DType {
        self.source.dtype
    }

    /// The device it leases weights on.
    pub fn device(&self) -> &Device {
        self.source.memory.device()
    }

    /// The device's memory.
    pub fn memory(&self) -> &Arc<dyn DeviceMemory> {
        &self.source.memory
    }

    /// The account that its weights are charged to.
    pub fn account(&self) -> &Arc<MemoryAccount> {
        &self.source.account
    }

    /// For each block: its bytes as held, and those of its largest layer.
    pub fn held_bytes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.source.layouts.iter().map(|layout| (layout.bytes(), layout.largest_leaf()))
    }

    /// Follows `plan` from now on. Blocks that are already in place stay there.
    pub fn follow(&self, plan: &UsePlan) {
        let mut state = self.state();
        if state.plan == plan.blocks && state.slots == plan.slots {
            return;
        }
        state.plan.clone_from(&plan.blocks);
        state.slots = plan.slots;
        state.place_again();
        self.source.keep(plan.blocks.iter().map(|block| block.home == Tier::Host));
    }

    /// Keeps the blocks of `range` on the device from their next lease until the scope is dropped, whatever the plan
    /// says. Scopes may overlap. A lease fails if the memory for a block is refused.
    pub fn keep_on_device(&self, range: Range<usize>) -> OnDeviceScope<'_> {
        let mut state = self.state();
        state.scopes[range.clone()].iter_mut().for_each(|scopes| *scopes += 1);
        state.place_again();
        drop(state);
        OnDeviceScope { store: self, range }
    }

    /// The weights of block `index`; waits until they are loaded.
    ///
    /// # Errors
    /// Fails if the file became unreadable or shorter since it was opened, if the device is out of memory, or
    /// on `cancel`.
    pub fn lease(&self, index: usize, cancel: &CancelToken) -> Result<Lease, RunError> {
        let bytes = self.source.layouts[index].bytes();
        {
            let state = self.state();
            if let Some(block) = &state.resident[index] {
                let kind = Kind::Resident(Arc::clone(block));
                return Ok(Lease { kind, from: Tier::Device, load: Duration::ZERO, slot: None, bytes: 0 });
            }
            let placement = state.placement(index);
            if placement.is_by_tensor() {
                let shared = placement == Placement::SharedLeaves;
                let kind = Kind::Leaves(BlockWeights::one_by_one(Arc::clone(&self.source), index, shared));
                return Ok(Lease {
                    kind,
                    from: state.plan[index].home,
                    load: Duration::ZERO,
                    slot: None,
                    bytes: 0,
                });
            }
        }
        loop {
            if cancel.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let state = self.state();
            let arrival = state.copies.as_ref().and_then(|copies| copies.next(PATIENCE));
            let free = state.copies.as_ref().and_then(Copies::free);
            drop(state);
            let Some(arrival) = arrival else { continue };
            let (from, load) = (arrival.from, arrival.load);
            match arrival.place? {
                Place::Own(memory) => {
                    let weights = self.weights(arrival.block, &memory.buffer)?;
                    let block = Arc::new(OnDevice { weights, memory: Arc::new(memory) });
                    self.state().resident[arrival.block] = Some(Arc::clone(&block));
                    if arrival.block == index {
                        return Ok(Lease { kind: Kind::Resident(block), from, load, slot: None, bytes });
                    }
                }
                Place::Slot(mut slot) if arrival.block == index => {
                    // If the pass fails, nobody says when it ended.
                    slot.buffer.set_read_until(None);
                    let weights = self.weights(index, &slot.buffer)?;
                    let number = Some(slot.number);
                    let kind = Kind::Slot { weights, slot: Some(slot), free };
                    return Ok(Lease { kind, from, load, slot: number, bytes });
                }
                Place::Slot(_) => return Err(RunError::OutOfOrder { block: index }),
            }
        }
    }

    fn weights(&self, index: usize, buffer: &Buffer) -> Result<BlockWeights, RunError> {
        let mut tensors = HashMap::new();
        for place in &self.source.layouts[index].tensors {
            tensors.insert(place.name.clone(), buffer.weight(place)?);
        }
        let weights = BlockWeights::new(tensors, self.source.dtype, Arc::clone(&self.source.account));
        Ok(weights.with_terms(&self.source.component.blocks[index].terms))
    }

    /// Leases the weights of `component` from now on, which differs from the previous one only by its
    /// adapters. Blocks with the same tensors stay in place; the others are read again when needed. Returns
    /// whether anything changed.
    ///
    /// # Errors
    /// Fails if the weights of a resident block cannot be rebuilt.
    pub fn adapt(&mut self, component: Component) -> Result<bool, RunError> {
        self.rest();
        let terms = |component: &Component| -> Vec<Vec<LowRankTerm>> {
            component.blocks.iter().map(|block| block.terms.clone()).collect()
        };
        let (before, after) = (terms(&self.source.component), terms(&component));
        let (source, same) = self.source.adapted(component);
        self.source = Arc::new(source);
        let resident = std::mem::take(&mut self.state().resident);
        let resident = resident.into_iter().enumerate().map(|(index, block)| match block {
            Some(block) if same[index] && before[index] != after[index] => {
                let weights = self.weights(index, &block.memory.buffer)?;
                Ok(Some(Arc::new(OnDevice { weights, memory: Arc::clone(&block.memory) })))
            }
            block => Ok(block.filter(|_| same[index])),
        });
        let resident = resident.collect::<Result<Vec<_>, RunError>>()?;
        self.state().resident = resident;
        Ok(before != after || same.contains(&false))
    }

    /// Rows `[rows.len(), width]` of the table `name`, read from disk. Lookup tables are never loaded as a
    /// whole.
    ///
    /// # Errors
    /// Fails if there is no such table or row, or the file became unreadable.
    pub fn rows(&self, block: usize, name: &str, rows: &[u32]) -> Result<Tensor, RunError> {
        let own = &self.source.component.blocks[block];
        let stored = |name: &str| match own.tensors.iter().find(|(known, _)| known == name) {
            Some((_, stored)) => Ok(stored),
            None => Err(candle_core::Error::CannotFindTensor { path: name.to_owned() }),
        };
        let table = stored(name)?;
        let picked = Tensor::new(rows, &Device::Cpu)?;
        let mut values = if let Some(assigned) = self.source.assigned(block, name) {
            assigned.to_dtype(DType::F32)?.index_select(&picked, 0)?
        } else if table.is_changed() {
            table.load(&Device::Cpu)?.index_select(&picked, 0)?
        } else {
            let width = table.shape().get(1).copied().unwrap_or(1);
            let mut values = vec![0.0; rows.len() * width];
            let each = rows.iter().map(|row| table.row(*row as usize)).collect::<Result<Vec<_>, _>>()?;
            // All are asked for before the first one is waited for.
            each.iter().try_for_each(|row| row.in_file().expect())?;
            for (row, values) in each.iter().zip(values.chunks_mut(width.max(1))) {
                row.read_into(Values::F32(values))?;
            }
            Tensor::from_vec(values, (rows.len(), width), &Device::Cpu)?
        };
        for term in own.terms.iter().filter(|term| term.matrix == name) {
            let up = (&stored(&term.up)?.load(&Device::Cpu)?.index_select(&picked, 0)?).into();
            let down = (&stored(&term.down)?.load(&Device::Cpu)?).into();
            values = (values + LowRank { down, up, scale: term.scale }.product(DType::F32)?)?;
        }
        Ok(values.to_device(self.device())?.to_dtype(self.dtype())?)
    }

    /// Records the timings of a forward pass whose weights came from a tier.
    pub(super) fn note(&self, index: usize, wait: Duration, pass: BlockTimings, from: Tier) {
        let mut state = self.state();
        state.moved += pass.bytes;
        state.waited += wait;
        let measured = &mut state.measured[index];
        measured.passes += pass.passes;
        measured.compute += pass.compute;
        if from != Tier::Disk || self.memory().is_unified() {
            measured.bytes += pass.bytes;
            measured.load += pass.load;
        }
    }

    /// The measurements of each block since the last call.
    pub fn take_measured(&self) -> Vec<BlockTimings> {
        let mut state = self.state();
        let fresh = vec![BlockTimings::default(); state.measured.len()];
        std::mem::replace(&mut state.measured, fresh)
    }

    /// Whole blocks read from disk since the last call.
    pub fn take_read(&self) -> Transfer {
        self.source.take_read()
    }

    /// Bytes moved to the device since the store was created.
    pub fn moved_bytes(&self) -> u64 {
        self.state().moved
    }

    /// Microseconds that forward passes have waited for weights since the store was created.
    pub fn waited_micros(&self) -> u64 {
        self.state().waited.as_micros() as u64
    }

    /// A tensor of a block as it is stored, in f32 on the CPU, with what was assigned to it and without low-rank terms.
    /// Moves nothing to the device.
    ///
    /// # Errors
    /// Fails if the block has no such tensor, or the file became unreadable.
    pub fn stored(&self, block: usize, name: &str) -> Result<Tensor, RunError> {
        if let Some(assigned) = self.source.assigned(block, name) {
            return Ok(assigned.to_dtype(DType::F32)?);
        }
        let tensors = &self.source.component.blocks[block].tensors;
        let (_, stored) = tensors
            .iter()
            .find(|(known, _)| known == name)
            .ok_or_else(|| candle_core::Error::CannotFindTensor { path: name.to_owned() })?;
        Ok(unmetered(|| stored.load(&Device::Cpu))?)
    }

    /// Assigns `tensor` to a weight: to the stored copy, and thereby to every lease from now on. The file is not
    /// written; the assignment lasts as long as the store.
    ///
    /// # Errors
    /// Fails if the block has no such tensor, one of another shape, or one that is held in fewer bits.
    pub fn assign(&self, block: usize, name: &str, tensor: &Tensor) -> Result<(), RunError> {
        self.abandon_walk();
        self.source.assign(block, name, tensor)?;
        self.state().resident[block] = None;
        Ok(())
    }

    /// Frees all device memory, including the slots. Nothing is copied back: the host copies and the files
    /// hold the same weights.
    pub fn leave_device(&self) {
        let mut state = self.state();
        state.copies = None;
        state.ahead = None;
        state.announced = 0;
        unmetered(|| state.resident.fill_with(|| None));
    }

    /// Frees the slots and stops the threads that fill them; resident blocks stay.
    pub fn rest(&self) {
        let mut state = self.state();
        state.copies = None;
        state.ahead = None;
        state.announced = 0;
    }

    /// Frees all memory, on the device and on the host.
    pub fn leave_memory(&self) {
        self.leave_device();
        self.source.forget_copies();
    }

    /// Bytes of weights resident on the device.
    pub fn resident_bytes(&self) -> u64 {
        let state = self.state();
        let here = state.resident.iter().zip(&self.source.layouts).filter(|(block, _)| block.is_some());
        here.map(|(_, layout)| layout.bytes()).sum()
    }
}
