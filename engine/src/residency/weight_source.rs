//! Where a component's weights come from when they are not on the device.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use candle_core::{DType, Device, Tensor};

use super::{
    RunError,
    buffer::{BlockLayout, Buffer, Sizes, TensorPlace, bytes, held_values, replace},
    device::DeviceMemory,
    pieces::Pieces,
};
use crate::{
    checkpoint::Component,
    hardware::{MemoryAccount, Reservation, unmetered},
    memory::Tier,
    nn::computed::Weight,
};

/// A copy of a block's weights in host memory, or a buffer for one.
#[derive(Debug)]
pub struct HostCopy {
    /// Its memory.
    pub buffer: Buffer,
    _reserved: Reservation,
}

/// The files, the copies in host memory, and the patches that replace stored weights.
#[derive(Debug)]
pub struct WeightSource {
    /// The component.
    pub component: Component,
    /// The layout of each block.
    pub layouts: Vec<BlockLayout>,
    /// The dtype of the computation.
    pub dtype: DType,
    /// The memory of the device that computes.
    pub memory: Arc<dyn DeviceMemory>,
    /// The memory account.
    pub account: Arc<MemoryAccount>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Whether each block's copy stays in host memory.
    kept: Vec<bool>,
    host: Vec<Option<Arc<HostCopy>>>,
    patches: HashMap<(usize, String), Tensor>,
    read: Transfer,
}

/// Bytes moved, and how long it took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Transfer {
    /// Bytes.
    pub bytes: u64,
    /// Time.
    pub time: Duration,
}

impl WeightSource {
    /// A source with all blocks on disk.
    pub fn new(
        component: Component,
        dtype: DType,
        memory: Arc<dyn DeviceMemory>,
        account: Arc<MemoryAccount>,
    ) -> Self {
        let layouts: Vec<_> = component.blocks.iter().map(|block| BlockLayout::new(block, dtype)).collect();
        let state = Mutex::new(State {
            kept: vec![false; layouts.len()],
            host: layouts.iter().map(|_| None).collect(),
            patches: HashMap::new(),
            read: Transfer::default(),
        });
        Self { component, layouts, dtype, memory, account, state }
    }

    /// The same weights with other adapters: `component` differs in the tensors and low-rank terms of some
    /// blocks. Keeps the copies of unchanged blocks. Also returns, per block, whether its tensors are
    /// unchanged.
    pub fn adapted(&self, component: Component) -> (Self, Vec<bool>) {
        let same: Vec<bool> =
            self.component.blocks.iter().zip(&component.blocks).map(|(old, new)| old.holds(new)).collect();
        let layouts = component.blocks.iter().map(|block| BlockLayout::new(block, self.dtype)).collect();
        let mut state = self.state();
        let copies = state.host.iter_mut().zip(&same);
        let host = copies.map(|(copy, same)| copy.take().filter(|_| *same)).collect();
        let (patches, read) = (std::mem::take(&mut state.patches), state.read);
        let state = State { kept: state.kept.clone(), host, patches, read };
        let dtype = self.dtype;
        let (memory, account) = (Arc::clone(&self.memory), Arc::clone(&self.account));
        (Self { component, layouts, dtype, memory, account, state: Mutex::new(state) }, same)
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.layouts.len()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Decides which blocks keep a copy in host memory, and frees the other copies.
    pub fn keep(&self, kept: impl IntoIterator<Item = bool>) {
        let mut state = self.state();
        state.kept = kept.into_iter().map(|kept| kept && !self.memory.is_unified()).collect();
        state.kept.resize(self.blocks(), false);
        let State { kept, host, .. } = &mut *state;
        for (copy, kept) in host.iter_mut().zip(kept) {
            if !*kept {
                *copy = None;
            }
        }
    }

    /// Frees all copies.
    pub fn forget_copies(&self) {
        self.state().host.fill_with(|| None);
    }

    /// Whether a block that streams through a slot is read from disk each time, through a staging buffer in
    /// host memory.
    pub fn is_staged(&self, block: usize) -> bool {
        !self.memory.is_unified() && !self.state().kept[block]
    }

    /// Whether a block has a copy in host memory.
    pub fn has_copy(&self, block: usize) -> bool {
        self.state().host[block].is_some()
    }

    /// Replaces a stored weight by `tensor` for the lifetime of the source.
    pub fn assign(&self, block: usize, name: &str, tensor: &Tensor) -> Result<(), RunError> {
        let place = self.layouts[block].tensors.iter().find(|place| place.name == name).ok_or_else(|| {
            candle_core::Error::CannotFindTensor {
                path: format!("{}.{name}", self.component.blocks[block].name),
            }
        })?;
        let held = unmetered(|| held_values(tensor, place))?;
        let mut state = self.state();
        if let Some(copy) = &state.host[block] {
            replace(&copy.buffer, place, &held)?;
        }
        state.patches.insert((block, name.to_owned()), held);
        Ok(())
    }

    /// What was assigned to a weight, in the dtype in which it is held.
    pub fn assigned(&self, block: usize, name: &str) -> Option<Tensor> {
        self.state().patches.get(&(block, name.to_owned())).cloned()
    }

    /// Allocates a buffer in host memory.
    pub fn host_buffer(&self, sizes: &Sizes) -> Result<HostCopy, RunError> {
        let reserved = self.account.reserve_host(bytes(sizes), !self.memory.is_unified());
        Ok(HostCopy { buffer: unmetered(|| self.memory.allocate_host(sizes))?, _reserved: reserved })
    }

    /// Reads a block from disk into a buffer; returns `false` if stopped.
    pub fn read(&self, block: usize, to: &Buffer, go_on: &dyn Fn() -> bool) -> Result<bool, RunError> {
        let (layout, own) = (&self.layouts[block], &self.component.blocks[block]);
        let started = Instant::now();
        let finished = to.read(own, layout, go_on)?;
        let mut state = self.state();
        // Quantizing takes time of its own.
        if finished && own.encoded().is_empty() {
            state.read.bytes += own.stored_bytes();
            state.read.time += started.elapsed();
        }
        for place in &layout.tensors {
            if let Some(tensor) = state.patches.get(&(block, place.name.clone())) {
                replace(to, place, tensor)?;
            }
        }
        Ok(finished)
    }

    /// Whole blocks read from disk since the last call.
    pub fn take_read(&self) -> Transfer {
        std::mem::take(&mut self.state().read)
    }

    /// Loads a block to the device from the nearest tier, and returns that tier, with the time of the link if
    /// the block passed over it in one go. A block without a copy in host memory passes through it one tensor
    /// at a time.
    pub fn bring(
        &self,
        block: usize,
        to: &Buffer,
        go_on: &dyn Fn() -> bool,
    ) -> (Result<Option<Duration>, RunError>, Tier) {
        if self.memory.is_unified() {
            let free = self.memory.await_readers(to).map_err(RunError::from);
            return (free.and_then(|()| self.read(block, to, go_on)).map(|_| None), Tier::Disk);
        }
        if !self.state().kept[block] {
            return (self.bring_by_tensor(block, to, go_on).map(|_| None), Tier::Disk);
        }
        let sizes = &self.layouts[block].sizes;
        match self.copy(block, go_on) {
            Ok(Some((copy, from))) => {
                (self.memory.upload(&copy.buffer, to, sizes, go_on).map_err(RunError::from), from)
            }
            Ok(None) => (Ok(None), Tier::Disk),
            Err(error) => (Err(error), Tier::Disk),
        }
    }

    fn bring_by_tensor(&self, block: usize, to: &Buffer, go_on: &dyn Fn() -> bool) -> Result<bool, RunError> {
        let mut pieces = Pieces::default();
        for (index, place) in self.layouts[block].tensors.iter().enumerate() {
            if !go_on() {
                return Ok(false);
            }
            self.bring_tensor(block, index, &to.view(place)?, &mut pieces)?;
        }
        Ok(true)
    }

    /// A block's copy in host memory, read from disk if necessary, and the tier it came from; `None` if
    /// stopped.
    fn copy(
        &self,
        block: usize,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Option<(Arc<HostCopy>, Tier)>, RunError> {
        if let Some(copy) = &self.state().host[block] {
            return Ok(Some((Arc::clone(copy), Tier::Host)));
        }
        let copy = Arc::new(self.host_buffer(&self.layouts[block].sizes)?);
        if !self.read(block, &copy.buffer, go_on)? {
            return Ok(None);
        }
        let mut state = self.state();
        if state.kept[block] {
            state.host[block] = Some(Arc::clone(&copy));
        }
        Ok(Some((copy, Tier::Disk)))
    }

    /// Loads one tensor to the device, into its own memory.
    pub fn bring_leaf(&self, block: usize, tensor: usize) -> Result<Leaf, RunError> {
        let place = self.layouts[block].tensors[tensor].alone();
        let reserved = self.account.reserve_weights(place.bytes())?;
        let to = unmetered(|| self.memory.allocate(&place.sizes()))?;
        // A thread that computes loads it: what it takes to convert or change weights is no activation.
        unmetered(|| self.bring_tensor(block, tensor, &to, &mut Pieces::default()))?;
        Ok(Leaf { weight: to.weight(&place)?, bytes: place.bytes(), _reserved: reserved })
    }

    /// Loads one tensor into a device buffer of its size.
    fn bring_tensor(
        &self,
        block: usize,
        tensor: usize,
        to: &Buffer,
        pieces: &mut Pieces,
    ) -> Result<(), RunError> {
        let place = &self.layouts[block].tensors[tensor];
        let sizes = place.sizes();
        if self.memory.is_unified() {
            return self.read_tensor(block, tensor, to);
        }
        let kept = self.state().kept[block];
        if kept && let Some((copy, _)) = self.copy(block, &|| true)? {
            self.memory.upload(&copy.buffer.view(place)?, to, &sizes, &|| true)?;
            return Ok(());
        }
        self.bring_in_pieces(block, tensor, to, pieces)
    }

    /// Loads a tensor from disk to a GPU.
    fn bring_in_pieces(
        &self,
        block: usize,
        tensor: usize,
        to: &Buffer,
        pieces: &mut Pieces,
    ) -> Result<(), RunError> {
        let place = self.layouts[block].tensors[tensor].alone();
        let stored = &self.component.blocks[block].tensors[tensor].1;
        let mut patch = self.state().patches.get(&(block, place.name.clone())).cloned();
        if patch.is_none() && stored.is_changed() {
            // A patch applies to the whole tensor at once.
            patch =
                Some(unmetered(|| held_values(&stored.load(&Device::Cpu)?, &place).map_err(RunError::from))?);
        }
        let read = |first: usize, piece: &TensorPlace, buffer: &Buffer| -> Result<(), RunError> {
            match &patch {
                Some(patch) => {
                    let values = patch.flatten_all()?.narrow(0, first, piece.elements())?;
                    Ok(replace(buffer, piece, &values)?)
                }
                None => {
                    let mut outcome = Ok(());
                    buffer.fill(piece, |values| outcome = stored.read_from(first, values))?;
                    Ok(outcome?)
                }
            }
        };
        pieces.bring(&*self.memory, &place, to, read)
    }

    fn read_tensor(&self, block: usize, tensor: usize, to: &Buffer) -> Result<(), RunError> {
        let place = self.layouts[block].tensors[tensor].alone();
        let mut outcome = Ok(());
        to.fill(&place, |values| {
            outcome = self.component.blocks[block].tensors[tensor].1.read_into(values);
        })?;
        outcome?;
        let patch = self.state().patches.get(&(block, place.name.clone())).cloned();
        match patch {
            Some(patch) => Ok(replace(to, &place, &patch)?),
            None => Ok(()),
        }
    }
}

/// One tensor on the device.
#[derive(Debug)]
pub struct Leaf {
    /// The weight.
    pub weight: Weight,
    /// Its size in bytes.
    pub bytes: u64,
    _reserved: Reservation,
}
