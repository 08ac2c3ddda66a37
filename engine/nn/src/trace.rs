//! Forward passes on shapes: what they allocate and how much they compute, without any values.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use candle_core::{DType, Layout, Result, Tensor as Values};

use super::{
    Tensor,
    cost::{Computes, Cost, Costs},
    dryrun::DryRun,
};

use crate::AttentionBytes;

/// The record of a traced run. Traced tensors allocate in it and free when they are dropped.
#[derive(Clone)]
pub struct Trace(Arc<Books>);

struct Books {
    computes: Computes,
    counts: Mutex<Counts>,
    /// Measures functions instead of using their formulas.
    dry_run: Option<Mutex<DryRun>>,
}

#[derive(Debug, Default)]
struct Counts {
    live: u64,
    peak: u64,
    /// Peak since the last section began.
    section: u64,
    operations: f64,
    /// The part of operations that counts, if not all of them.
    share: Option<f64>,
    attention: AttentionBytes,
}

/// The cost of a section of a traced run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Passed {
    /// Peak allocation in bytes.
    pub peak: u64,
    /// Floating-point operations.
    pub operations: f64,
}

impl Trace {
    /// A trace that takes costs from formulas.
    pub fn new(computes: Computes) -> Self {
        Self(Arc::new(Books { computes, counts: Mutex::default(), dry_run: None }))
    }

    /// A trace that takes costs from running functions in `dry_run`.
    pub fn dry(computes: Computes, dry_run: DryRun) -> Self {
        Self(Arc::new(Books { computes, counts: Mutex::default(), dry_run: Some(Mutex::new(dry_run)) }))
    }

    /// The processor that computes: CPU or GPU.
    pub fn computes(&self) -> Computes {
        self.0.computes
    }

    /// Bytes allocated now.
    pub fn live(&self) -> u64 {
        self.counts().live
    }

    /// What was used since the last call. The next peak starts at what is allocated now.
    pub fn take(&self) -> Passed {
        let mut counts = self.counts();
        let passed = Passed { peak: counts.peak, operations: counts.operations };
        counts.peak = counts.live;
        counts.operations = 0.0;
        passed
    }

    /// Ends a section; returns its peak allocation in bytes. Sections are independent of [`take`](Self::take).
    pub fn end_section(&self) -> u64 {
        let mut counts = self.counts();
        let live = counts.live;
        std::mem::replace(&mut counts.section, live)
    }

    /// Calls `work`, of whose operations only this part counts.
    pub(super) fn at_share<T>(&self, share: f64, work: impl FnOnce() -> T) -> T {
        let before = self.counts().share.replace(share);
        let result = work();
        self.counts().share = before;
        result
    }

    /// What the largest attention so far takes.
    pub fn attention(&self) -> AttentionBytes {
        self.counts().attention
    }

    pub(super) fn add_attention(&self, bytes: &AttentionBytes) {
        self.counts().attention.join(bytes);
    }

    /// Floating-point operations per second over all measured functions, each weighted by its calls. `None`
    /// without a dry run.
    pub fn tried_rate(&self) -> Option<f64> {
        self.dry_run().and_then(|dry_run| dry_run.rate())
    }

    /// Allocates a tensor of this shape.
    pub fn tensor(&self, dims: &[usize], dtype: DType) -> Tensor {
        let bytes = (dims.iter().product::<usize>() * dtype.size_in_bytes()) as u64;
        self.run(Cost { peak: bytes, result: bytes, operations: 0.0 }, dims, dtype).into()
    }

    /// Costs of functions over values of this dtype.
    pub(super) fn costs(&self, dtype: DType) -> Costs {
        Costs {
            value_bytes: dtype.size_in_bytes(),
            computes: self.0.computes,
            widens: false,
            in_bf16: false,
            in_8_bits: false,
            is_rotated: false,
            is_biased: false,
        }
    }

    /// Charges `cost` and returns a tensor of this shape.
    pub(super) fn run(&self, cost: Cost, dims: &[usize], dtype: DType) -> Traced {
        let mut counts = self.counts();
        let reached = counts.live + cost.peak.max(cost.result);
        counts.peak = counts.peak.max(reached);
        counts.section = counts.section.max(reached);
        counts.live += cost.result;
        counts.operations += cost.operations * counts.share.unwrap_or(1.0);
        drop(counts);
        let memory = Arc::new(Allocation { bytes: cost.result, trace: self.clone() });
        Traced { layout: Layout::contiguous(dims), dtype, memory }
    }

    /// Charges a function over `inputs` and returns a tensor of this shape. In a dry run the cost is measured
    /// with `compute`, otherwise it is `cost`.
    pub(super) fn call(
        &self,
        name: &'static str,
        inputs: &[&Traced],
        cost: Cost,
        (dims, dtype): (&[usize], DType),
        compute: impl Fn(&[Values]) -> Result<Values>,
    ) -> Result<Traced> {
        let cost = match self.dry_run() {
            Some(mut dry_run) => {
                let shapes: Vec<_> = inputs.iter().map(|input| (input.dims(), input.dtype)).collect();
                dry_run.cost(name, &shapes, cost, &compute)?
            }
            None => cost,
        };
        Ok(self.run(cost, dims, dtype))
    }

    fn dry_run(&self) -> Option<MutexGuard<'_, DryRun>> {
        self.0.dry_run.as_ref().map(|dry_run| dry_run.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("computes", &self.0.computes).field("counts", &*self.counts()).finish()
    }
}

/// The shape of a tensor, and the memory it would take.
#[derive(Debug, Clone)]
pub(super) struct Traced {
    pub layout: Layout,
    pub dtype: DType,
    memory: Arc<Allocation>,
}

#[derive(Debug)]
struct Allocation {
    bytes: u64,
    trace: Trace,
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.trace.counts().live -= self.bytes;
    }
}

impl Traced {
    /// The shape of a weight, whose memory is counted elsewhere.
    pub fn weight(trace: &Trace, dims: &[usize], dtype: DType) -> Self {
        let memory = Arc::new(Allocation { bytes: 0, trace: trace.clone() });
        Self { layout: Layout::contiguous(dims), dtype, memory }
    }

    pub fn trace(&self) -> &Trace {
        &self.memory.trace
    }

    pub fn dims(&self) -> &[usize] {
        self.layout.dims()
    }

    pub fn elements(&self) -> usize {
        self.dims().iter().product()
    }

    /// A view of the same memory.
    pub fn view(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }

    /// A copy by the tensor library, in `dtype`.
    pub fn copied(&self, dims: &[usize], dtype: DType) -> Self {
        self.trace().run(self.trace().costs(dtype).copy(dims.iter().product()), dims, dtype)
    }

    pub fn contiguous(&self) -> Self {
        if self.layout.is_contiguous() { self.clone() } else { self.copied(self.dims(), self.dtype) }
    }

    /// Bytes a CPU function takes to make it contiguous, beyond those for widening.
    pub fn reordering(&self) -> u64 {
        let ordered = self.layout.is_contiguous() || self.dtype != DType::F32;
        if ordered { 0 } else { (self.elements() * self.dtype.size_in_bytes()) as u64 }
    }

    /// The same in 16 bits, for functions that do not widen it.
    pub fn narrow_reordering(&self) -> u64 {
        let ordered = self.layout.is_contiguous() || self.dtype == DType::F32;
        if ordered { 0 } else { (self.elements() * self.dtype.size_in_bytes()) as u64 }
    }
}
