//! The tensors of one block, by name.

use std::{
    cell::RefCell,
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use corosensei::{CoroutineResult, ScopedCoroutine, Yielder};

use super::{
    RunError,
    blocks::TracedBlock,
    buffer::layer_of,
    weight_source::{Leaf, WeightSource},
};
use crate::{
    checkpoint::LowRankTerm,
    hardware::MemoryAccount,
    nn::{self, DType, LowRank, Result, Tensor, Weight, computed},
};

/// The weights of one block as they are held.
#[derive(Debug)]
pub(super) struct BlockWeights {
    tensors: Tensors,
    terms: Vec<LowRankTerm>,
    dtype: DType,
}

#[derive(Debug)]
enum Tensors {
    /// On the device.
    There(HashMap<String, computed::Weight>, Arc<MemoryAccount>),
    /// Loaded when they are read.
    Leaves(Leaves),
    /// Shapes only.
    Traced(Arc<TracedBlock>),
}

/// The weights of one block for the duration of a forward pass, by their names within the block.
///
/// Tensors read from it are views of memory that is refilled after the pass, so they must not outlive it.
#[derive(Debug)]
pub struct Weights<'a> {
    block: &'a BlockWeights,
    /// In one of several guidance branches that go through the layers together.
    turn: Option<Turn<'a>>,
}

/// A guidance branch that lets the others compute with a layer before it goes on to the next one.
struct Turn<'a> {
    yielder: &'a Yielder<(), ()>,
    /// The layer that it read last.
    layer: RefCell<String>,
}

/// Tensors that are loaded when they are read.
#[derive(Debug)]
struct Leaves {
    source: Arc<WeightSource>,
    block: usize,
    /// Whether guidance branches go through the layers together.
    shared: bool,
    state: Mutex<LeafState>,
}

#[derive(Debug, Default)]
struct LeafState {
    /// The layer read last.
    layer: String,
    /// Its weight and bias; freed when the next layer is read.
    held: HashMap<String, Leaf>,
    moved: u64,
    failure: Option<RunError>,
}

impl BlockWeights {
    /// Weights on the device, for a computation in `dtype`.
    pub fn new(
        tensors: HashMap<String, computed::Weight>,
        dtype: DType,
        account: Arc<MemoryAccount>,
    ) -> Self {
        Self { tensors: Tensors::There(tensors, account), terms: Vec::new(), dtype }
    }

    /// The shapes of a block's weights, for a computation in `dtype`.
    pub fn traced(block: Arc<TracedBlock>, dtype: DType) -> Self {
        let terms = block.terms().to_vec();
        Self { tensors: Tensors::Traced(block), terms, dtype }
    }

    /// The same weights with low-rank terms, which are added when their matrices are multiplied.
    pub fn with_terms(self, terms: &[LowRankTerm]) -> Self {
        Self { terms: terms.to_vec(), ..self }
    }

    /// Weights of which only one layer at a time is on the device. If `shared`, guidance branches go through the layers
    /// [together](Weights::branches).
    pub fn one_by_one(source: Arc<WeightSource>, block: usize, shared: bool) -> Self {
        let dtype = source.dtype;
        let terms = source.component.blocks[block].terms.clone();
        let leaves = Leaves { source, block, shared, state: Mutex::default() };
        Self { tensors: Tensors::Leaves(leaves), terms, dtype }
    }

    /// The weights as a forward pass sees them.
    pub fn seen(&self) -> Weights<'_> {
        Weights { block: self, turn: None }
    }

    /// Bytes loaded tensor by tensor.
    pub fn moved_bytes(&self) -> u64 {
        self.leaves().map_or(0, |leaves| leaves.state().moved)
    }

    /// The error of the first tensor that failed to load, if any.
    pub fn take_failure(&self) -> Option<RunError> {
        self.leaves().and_then(|leaves| leaves.state().failure.take())
    }

    fn leaves(&self) -> Option<&Leaves> {
        match &self.tensors {
            Tensors::Leaves(leaves) => Some(leaves),
            Tensors::There(..) | Tensors::Traced(_) => None,
        }
    }
}

impl<'a> Weights<'a> {
    /// Calls `work(weights, number, branch)` for each guidance branch, one after the other.
    ///
    /// Where the weights come layer by layer and are shared, the branches take turns instead: each one computes with
    /// a layer while it is on the device, so that it is loaded once. Only one branch computes at a time, with the
    /// same operations in the same order, so the results are the same; but the activations of all branches are in
    /// memory.
    ///
    /// # Errors
    /// The first branch's error, in the order of the branches.
    pub fn branches<T>(
        &self,
        branches: &mut [T],
        work: impl Fn(&Weights<'_>, usize, &mut T) -> Result<()>,
    ) -> Result<()> {
        match &self.block.tensors {
            Tensors::Leaves(leaves) if leaves.shared && branches.len() > 1 => {
                take_turns(self.block, branches, 0, &work, &mut || false)
            }
            Tensors::Traced(block) => block.branches(branches, |number, branch| work(self, number, branch)),
            _ => branches.iter_mut().enumerate().try_for_each(|(number, branch)| work(self, number, branch)),
        }
    }

    /// The tensor of this name, in the dtype of the computation.
    ///
    /// # Errors
    /// Names the tensor if the block has none of this name. Components are checked against their architecture
    /// when they are opened, so this is a bug in a model file of Sluice.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        self.find(name)?.ok_or_else(|| nn::Error::CannotFindTensor { path: name.to_owned() })
    }

    /// The tensor of this name in the dtype of the computation, with all low-rank terms added; `None` if the
    /// block does not have it.
    pub fn find(&self, name: &str) -> Result<Option<Tensor>> {
        let Some(weight) = self.held(name)? else { return Ok(None) };
        let mut tensor = weight.widened(self.block.dtype)?;
        for term in self.terms(name)? {
            tensor = (tensor + term.product(self.block.dtype)?)?;
        }
        Ok(Some(tensor))
    }

    /// The low-rank terms of the matrix of this name, without those of scale 0.
    fn terms(&self, name: &str) -> Result<Vec<LowRank>> {
        let of_matrix = self.block.terms.iter().filter(|term| term.matrix == name && term.scale != 0.0);
        of_matrix
            .map(|term| {
                let factor = |name: &str| {
                    let missing = || nn::Error::CannotFindTensor { path: name.to_owned() };
                    self.held(name)?.ok_or_else(missing)
                };
                Ok(LowRank { down: factor(&term.down)?, up: factor(&term.up)?, scale: term.scale })
            })
            .collect()
    }

    /// Whether the block has a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        match &self.block.tensors {
            Tensors::There(tensors, _) => tensors.contains_key(name),
            Tensors::Leaves(leaves) => leaves.place(name).is_some(),
            Tensors::Traced(block) => block.has(name),
        }
    }

    /// The tensor of this name as it is held, possibly narrower than the dtype of the computation.
    fn held(&self, name: &str) -> Result<Option<Weight>> {
        let available = |account: &MemoryAccount| {
            if account.has_refused() {
                nn::bail!("the device is out of memory");
            }
            Ok(())
        };
        let held = match &self.block.tensors {
            Tensors::There(tensors, account) => {
                available(account)?;
                tensors.get(name).cloned()
            }
            Tensors::Leaves(leaves) => {
                if let Some(turn) = &self.turn {
                    turn.come_to(name);
                }
                available(&leaves.source.account)?;
                leaves.read(name)?
            }
            Tensors::Traced(block) => return Ok(block.read(name)),
        };
        Ok(held.map(Weight::from))
    }

    /// Applies the linear layer `name` to `x`, with its bias if it has one.
    pub fn linear(&self, name: &str, x: &Tensor) -> Result<Tensor> {
        let full = format!("{name}.weight");
        let terms = self.terms(&full)?;
        let weight = self.held(&full)?.ok_or_else(|| nn::Error::CannotFindTensor { path: full })?;
        nn::linear_with(x, &weight, self.find(&format!("{name}.bias"))?.as_ref(), &terms)
    }

    /// Applies the RMS norm `name` to `x`.
    pub fn rms_norm(&self, name: &str, x: &Tensor, eps: f64) -> Result<Tensor> {
        nn::rms_norm(x, &self.get(&format!("{name}.weight"))?, eps)
    }

    /// Applies the RMS norm `name` to `x`, modulated by `scale`.
    pub fn rms_norm_modulated(&self, name: &str, x: &Tensor, eps: f64, scale: &Tensor) -> Result<Tensor> {
        nn::rms_norm_modulated(x, &self.get(&format!("{name}.weight"))?, eps, scale)
    }

    /// Applies the layer norm `name`, which has weight and bias, to `x`.
    pub fn layer_norm(&self, name: &str, x: &Tensor, eps: f64) -> Result<Tensor> {
        let (weight, bias) = self.norm(name)?;
        nn::layer_norm(x, Some((&weight, &bias)), eps)
    }

    /// Applies the group norm `name` to `x`.
    pub fn group_norm(&self, name: &str, x: &Tensor, groups: usize, eps: f64) -> Result<Tensor> {
        let (weight, bias) = self.norm(name)?;
        nn::group_norm(x, groups, &weight, &bias, eps)
    }

    /// Applies the group norm `name` and SiLU to `x`.
    pub fn group_norm_silu(&self, name: &str, x: &Tensor, groups: usize, eps: f64) -> Result<Tensor> {
        let (weight, bias) = self.norm(name)?;
        nn::group_norm_silu(x, groups, &weight, &bias, eps)
    }

    /// Weight and bias of a norm.
    fn norm(&self, name: &str) -> Result<(Tensor, Tensor)> {
        Ok((self.get(&format!("{name}.weight"))?, self.get(&format!("{name}.bias"))?))
    }

    /// Applies the convolution `name` to `x`, with its bias if it has one.
    pub fn conv2d(&self, name: &str, x: &Tensor, conv: nn::Conv2d) -> Result<Tensor> {
        self.conv2d_with(name, x, self.find(&format!("{name}.bias"))?.as_ref(), conv)
    }

    /// Applies the convolution `name` to `x`, with this bias.
    pub fn conv2d_with(
        &self,
        name: &str,
        x: &Tensor,
        bias: Option<&Tensor>,
        conv: nn::Conv2d,
    ) -> Result<Tensor> {
        nn::conv2d(x, self.kernel(name)?, bias, conv)
    }

    /// The kernel of the convolution `name`, with all low-rank terms added.
    fn kernel(&self, name: &str) -> Result<Weight> {
        let full = format!("{name}.weight");
        if self.terms(&full)?.is_empty() {
            return self.held(&full)?.ok_or_else(|| nn::Error::CannotFindTensor { path: full });
        }
        Ok(Weight::from(&self.get(&full)?))
    }

    /// Kernel and bias of the convolution `name` and of the batch norm `norm` after it, with its statistics, as one.
    pub fn with_batch_norm(&self, name: &str, norm: &str, eps: f64) -> Result<(Tensor, Tensor)> {
        let of_norm = |end: &str| self.get(&format!("{norm}.{end}"));
        let scale = (of_norm("weight")? / of_norm("running_var")?.affine(1.0, eps)?.sqrt()?)?;
        let mut mean = of_norm("running_mean")?;
        if let Some(bias) = self.find(&format!("{name}.bias"))? {
            mean = (mean - bias)?;
        }
        let bias = (of_norm("bias")? - (mean * &scale)?)?;
        let kernel = self.get(&format!("{name}.weight"))?;
        let mut dims = vec![1; kernel.dims().len()];
        dims[0] = scale.elem_count();
        Ok((kernel.broadcast_mul(&scale.reshape(dims)?)?, bias))
    }

    /// Applies the convolution over time `name`, with its bias, to the last of `frames`; see [`nn::conv3d`].
    pub fn conv3d(&self, name: &str, frames: &[&Tensor], conv: nn::Conv2d) -> Result<Tensor> {
        nn::conv3d(frames, &self.kernel(name)?, self.find(&format!("{name}.bias"))?.as_ref(), conv)
    }

    /// Applies the convolution `name`, whose kernel covers its stride, to patches `[batch, patches, values]`: a
    /// linear layer over the values of a kernel in their order.
    pub fn patches(&self, name: &str, x: &Tensor) -> Result<Tensor> {
        let weight = self.kernel(name)?;
        let outputs = weight.dims().first().copied().unwrap_or_default();
        let matrix = weight.reshaped(&[outputs, x.dim(nn::D::Minus1)?])?;
        nn::linear_with(x, &matrix, self.find(&format!("{name}.bias"))?.as_ref(), &[])
    }

    /// Applies the norm over channels `name`, and SiLU if asked for, to `x`.
    pub fn channel_norm(&self, name: &str, x: &Tensor, silu: bool) -> Result<Tensor> {
        nn::channel_norm(x, &self.get(&format!("{name}.gamma"))?, silu)
    }
}

/// Starts the branches from `number` on. `others` lets each of those before compute up to its next layer, and returns
/// whether any has more to do.
fn take_turns<T>(
    block: &BlockWeights,
    branches: &mut [T],
    number: usize,
    work: &impl Fn(&Weights<'_>, usize, &mut T) -> Result<()>,
    others: &mut dyn FnMut() -> bool,
) -> Result<()> {
    let Some((branch, rest)) = branches.split_first_mut() else {
        while others() {}
        return Ok(());
    };
    let routine = ScopedCoroutine::new(|yielder: &Yielder<(), ()>, ()| {
        let turn = Turn { yielder, layer: RefCell::default() };
        work(&Weights { block, turn: Some(turn) }, number, branch)
    });
    routine.scope(|mut routine| {
        let mut outcome = None;
        let after = take_turns(block, rest, number + 1, work, &mut || {
            let others = others();
            if outcome.is_none()
                && let CoroutineResult::Return(result) = routine.as_mut().resume(())
            {
                outcome = Some(result);
            }
            others || outcome.is_none()
        });
        outcome.unwrap_or(Ok(())).and(after)
    })
}

impl Turn<'_> {
    /// Lets the other branches come up to the layer of the tensor `name` if this branch is the first.
    fn come_to(&self, name: &str) {
        let layer = layer_of(name);
        if self.layer.borrow().is_empty() {
            layer.clone_into(&mut self.layer.borrow_mut());
        } else if *self.layer.borrow() != layer {
            self.yielder.suspend(());
            layer.clone_into(&mut self.layer.borrow_mut());
        }
    }
}

impl fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("layer", &self.layer).finish_non_exhaustive()
    }
}

impl Leaves {
    fn state(&self) -> MutexGuard<'_, LeafState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.source.layouts[self.block].tensors.iter().position(|place| place.name == name)
    }

    fn read(&self, name: &str) -> Result<Option<computed::Weight>> {
        let Some(place) = self.place(name) else { return Ok(None) };
        let layer = layer_of(name);
        let mut state = self.state();
        if state.layer != layer {
            state.held.clear();
            layer.clone_into(&mut state.layer);
        }
        if let Some(leaf) = state.held.get(name) {
            return Ok(Some(leaf.weight.clone()));
        }
        match self.source.bring_leaf(self.block, place) {
            Ok(leaf) => {
                state.moved += leaf.bytes;
                let weight = leaf.weight.clone();
                state.held.insert(name.to_owned(), leaf);
                Ok(Some(weight))
            }
            Err(error) => {
                state.failure = Some(error);
                nn::bail!("{name} could not be loaded")
            }
        }
    }
}
