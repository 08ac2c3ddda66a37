//! The blocks of a component as a forward pass sees them.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    ops::Range,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{
    BlockLayout, BlockWeights, Executor, RunError, WeightStore, Weights,
    branch_trace::{BranchTrace, Reads},
    buffer::{TensorPlace, layer_of},
};
use crate::{
    checkpoint::{Block, Component, LowRankTerm},
    memory::{BlockWork, SharedWork},
    nn::{self, DType, Device, Tensor, Trace, TracedWeight, Weight},
};

/// The blocks of a component, one after the other: with weights from a store, or with shapes only, for
/// tracing.
#[derive(Clone, Copy)]
pub struct Blocks<'a> {
    source: Source<'a>,
    /// Index in the component of the block that counts as the first.
    first: usize,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Stored(&'a Executor, &'a WeightStore),
    Traced(&'a TracedBlocks),
}

impl<'a> Blocks<'a> {
    /// The blocks of a store, in the order of an executor's walk.
    pub fn stored(executor: &'a Executor, store: &'a WeightStore) -> Self {
        Self { source: Source::Stored(executor, store), first: 0 }
    }

    /// The same, counted from a block on.
    pub fn from(self, block: usize) -> Self {
        Self { first: self.first + block, ..self }
    }

    /// Calls `forward(index, weights)` for each block of `range` in order. Everything that needs a block (all
    /// guidance branches, all images of a batch) runs within one call, so that each block is leased once per
    /// walk.
    pub fn walk(
        self,
        range: Range<usize>,
        mut forward: impl FnMut(usize, &Weights) -> nn::Result<()>,
    ) -> Result<(), RunError> {
        self.walk_parts(&[range], &mut forward)
    }

    /// The same for a walk of several parts, in which blocks may come more than once.
    pub fn walk_parts(
        self,
        parts: &[Range<usize>],
        mut forward: impl FnMut(usize, &Weights) -> nn::Result<()>,
    ) -> Result<(), RunError> {
        let first = self.first;
        let parts: Vec<_> = parts.iter().map(|part| first + part.start..first + part.end).collect();
        let mut forward = |index: usize, w: &Weights| forward(index - first, w);
        match self.source {
            Source::Stored(executor, store) => executor.walk_parts(store, &parts, forward),
            Source::Traced(blocks) => {
                parts.into_iter().flatten().try_for_each(|index| blocks.pass(index, &mut forward))
            }
        }
    }

    /// Returns `work(x)`. The cost of traced work depends only on the shape of `x`, so `work` is traced once
    /// per shape and its cost is reused.
    pub fn by_shape(
        self,
        x: &Tensor,
        work: impl FnOnce(&Tensor) -> Result<Tensor, RunError>,
    ) -> Result<Tensor, RunError> {
        match self.source {
            Source::Stored(..) => work(x),
            Source::Traced(blocks) => blocks.by_shape(x, work),
        }
    }

    /// Calls `work` with each number below `times`. The cost of traced work must not depend on the number: it is
    /// traced once.
    pub fn repeat(
        self,
        times: usize,
        mut work: impl FnMut(usize) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        match self.source {
            Source::Stored(..) => (0..times).try_for_each(work),
            Source::Traced(_) if times == 0 => Ok(()),
            Source::Traced(blocks) => blocks.repeat(times as u32, || work(0)),
        }
    }

    /// Rows `[rows.len(), width]` of the table `name` of a block. Tables are only looked up and never leased.
    pub fn rows(self, block: usize, name: &str, rows: &[u32]) -> Result<Tensor, RunError> {
        match self.source {
            Source::Stored(_, store) => Ok(store.rows(self.first + block, name, rows)?.into()),
            Source::Traced(blocks) => Ok(blocks.rows(self.first + block, name, rows.len())?),
        }
    }

    /// The dtype of the computation.
    pub fn dtype(self) -> DType {
        match self.source {
            Source::Stored(_, store) => store.dtype(),
            Source::Traced(blocks) => blocks.dtype,
        }
    }

    /// The device of the computation.
    pub fn device(self) -> Device {
        match self.source {
            Source::Stored(_, store) => store.device().clone().into(),
            Source::Traced(blocks) => blocks.trace.clone().into(),
        }
    }
}

/// The shapes of a component's weights, and the cost of the passes through its blocks so far.
#[derive(Debug)]
pub struct TracedBlocks {
    trace: Trace,
    dtype: DType,
    blocks: Vec<Arc<TracedBlock>>,
    passed: RefCell<Vec<BlockWork>>,
    /// Peak allocation since the last pass.
    gap: Cell<u64>,
    /// The cost of known work, by the shape of its input.
    known: RefCell<HashMap<Vec<usize>, Known>>,
}

/// The cost of work that is repeated for the same shape.
#[derive(Debug, Clone)]
struct Known {
    dims: Vec<usize>,
    dtype: DType,
    /// Activation bytes, beyond what was allocated before.
    passed: Vec<BlockWork>,
}

/// The shapes of a block's weights.
#[derive(Debug)]
pub(super) struct TracedBlock {
    name: String,
    trace: Trace,
    weights: HashMap<String, (TracedWeight, AtomicBool)>,
    terms: Vec<LowRankTerm>,
    /// How often each layer was read in the current pass.
    reads: Mutex<Reads>,
}

impl TracedBlocks {
    /// The blocks of `component` as they would be held for a computation in `dtype`.
    pub fn new(trace: &Trace, component: &Component, dtype: DType) -> Self {
        let block = |block: &Block| Arc::new(TracedBlock::new(trace, block, dtype));
        let blocks: Vec<Arc<TracedBlock>> = component.blocks.iter().map(block).collect();
        let passed = RefCell::new(vec![BlockWork::UNUSED; blocks.len()]);
        Self { trace: trace.clone(), dtype, blocks, passed, gap: Cell::new(0), known: RefCell::default() }
    }

    /// The blocks, ready for a walk.
    pub fn blocks(&self) -> Blocks<'_> {
        Blocks { source: Source::Traced(self), first: 0 }
    }

    /// The cost of the passes through each block since the last call. A block's activations are everything
    /// allocated while it ran. What is allocated between two passes counts towards the later one; after the
    /// last pass, towards the last block.
    pub fn take(&self) -> Vec<BlockWork> {
        self.end_gap();
        let mut passed = self.passed.replace(vec![BlockWork::UNUSED; self.blocks.len()]);
        if let Some(last) = passed.iter_mut().rfind(|block| block.passes > 0) {
            last.activations = last.activations.max(self.gap.take());
        }
        passed
    }

    /// The weights, as `block: name`, that have not been read yet.
    pub fn unread(&self) -> Vec<String> {
        let of_block = |block: &Arc<TracedBlock>| -> Vec<String> {
            let unread = block.weights.iter().filter(|(_, (_, was_read))| !was_read.load(Ordering::Relaxed));
            unread.map(|(name, _)| format!("{}: {name}", block.name)).collect()
        };
        let mut unread: Vec<String> = self.blocks.iter().flat_map(of_block).collect();
        unread.sort();
        unread
    }

    fn pass(
        &self,
        index: usize,
        forward: &mut impl FnMut(usize, &Weights) -> nn::Result<()>,
    ) -> Result<(), RunError> {
        self.end_gap();
        let block = &self.blocks[index];
        *block.reads() = Reads::default();
        forward(index, &BlockWeights::traced(Arc::clone(block), self.dtype).seen())?;
        let passed = self.trace.take();
        let (reads, shared) = {
            let mut reads = block.reads();
            (reads.layers.most(), reads.shared.take())
        };
        let activations = passed.peak.max(self.gap.take());
        let at_least =
            |shared: SharedWork| SharedWork { activations: shared.activations.max(activations), ..shared };
        let shared = shared.map(at_least);
        let pass = BlockWork { passes: 1, operations: passed.operations, activations, reads, shared };
        self.passed.borrow_mut()[index].join(&pass);
        Ok(())
    }

    fn by_shape(
        &self,
        x: &Tensor,
        work: impl FnOnce(&Tensor) -> Result<Tensor, RunError>,
    ) -> Result<Tensor, RunError> {
        self.end_gap();
        let before = self.trace.live();
        let known = self.known.borrow().get(x.dims()).cloned();
        if let Some(known) = known {
            let mut all = self.passed.borrow_mut();
            for (all, again) in all.iter_mut().zip(known.passed) {
                let before = if again.passes > 0 { before } else { 0 };
                all.join(&again.with_activations(|bytes| bytes + before));
            }
            return Ok(self.trace.tensor(&known.dims, known.dtype));
        }
        let outside = self.passed.replace(vec![BlockWork::UNUSED; self.blocks.len()]);
        let result = work(x)?;
        let mut passed = self.passed.replace(outside);
        for (all, block) in self.passed.borrow_mut().iter_mut().zip(&mut passed) {
            all.join(block);
            *block = block.with_activations(|bytes| bytes.saturating_sub(before));
        }
        let known = Known { dims: result.dims().to_vec(), dtype: result.dtype(), passed };
        self.known.borrow_mut().insert(x.dims().to_vec(), known);
        Ok(result)
    }

    fn repeat(&self, times: u32, work: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
        self.end_gap();
        let outside = self.passed.replace(vec![BlockWork::UNUSED; self.blocks.len()]);
        work()?;
        let once = self.passed.replace(outside);
        for (all, once) in self.passed.borrow_mut().iter_mut().zip(once) {
            all.join(&BlockWork { passes: once.passes * times, ..once });
        }
        Ok(())
    }

    fn end_gap(&self) {
        self.gap.set(self.gap.get().max(self.trace.take().peak));
    }

    fn rows(&self, block: usize, name: &str, rows: usize) -> nn::Result<Tensor> {
        let table = self.blocks[block].find(name)?;
        let width = table.dims.get(1).copied().unwrap_or(1);
        // Rows are read as f32.
        let wide = self.trace.tensor(&[rows, width], DType::F32);
        wide.to_dtype(self.dtype)
    }
}

impl TracedBlock {
    fn new(trace: &Trace, block: &Block, dtype: DType) -> Self {
        let weight = |place: TensorPlace| {
            let (packed, held) = (place.encoding(), place.dtype());
            let weight = TracedWeight { trace: trace.clone(), dims: place.shape, dtype: held, packed };
            (place.name, (weight, AtomicBool::new(false)))
        };
        let weights = BlockLayout::new(block, dtype).tensors.into_iter().map(weight).collect();
        let trace = trace.clone();
        Self { name: block.name.clone(), trace, weights, terms: block.terms.clone(), reads: Mutex::default() }
    }

    pub fn terms(&self) -> &[LowRankTerm] {
        &self.terms
    }

    fn reads(&self) -> MutexGuard<'_, Reads> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs all branches one after the other, and works out what they would take together.
    pub fn branches<T>(
        &self,
        branches: &mut [T],
        work: impl Fn(usize, &mut T) -> nn::Result<()>,
    ) -> nn::Result<()> {
        if branches.len() == 1 {
            return branches.iter_mut().try_for_each(|branch| work(0, branch));
        }
        let mut traces = Vec::with_capacity(branches.len());
        for (number, branch) in branches.iter_mut().enumerate() {
            self.reads().branch = Some(BranchTrace::new(&self.trace));
            work(number, branch)?;
            if let Some(mut trace) = self.reads().branch.take() {
                trace.end_section(&self.trace);
                traces.push(trace);
            }
        }
        self.reads().shared = BranchTrace::together(&traces);
        Ok(())
    }

    pub fn has(&self, name: &str) -> bool {
        self.weights.contains_key(name)
    }

    /// Returns a weight and records that it was read.
    pub fn read(&self, name: &str) -> Option<Weight> {
        let (weight, was_read) = self.weights.get(name)?;
        was_read.store(true, Ordering::Relaxed);
        let layer = layer_of(name);
        let mut reads = self.reads();
        reads.layers.add(layer);
        if let Some(branch) = &mut reads.branch {
            branch.read(layer, &self.trace);
        }
        Some(Weight::Traced(weight.clone()))
    }

    fn find(&self, name: &str) -> nn::Result<&TracedWeight> {
        let missing = || nn::Error::CannotFindTensor { path: format!("{}: {name}", self.name) };
        let (weight, was_read) = self.weights.get(name).ok_or_else(missing)?;
        was_read.store(true, Ordering::Relaxed);
        Ok(weight)
    }
}
