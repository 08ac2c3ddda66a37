//! The tensors of one block, by name.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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

/// The weights of one block for the time of a forward pass, by their names inside the block.
///
/// Tensors that are taken out are views of memory that is filled again after the pass: they must not be kept.
#[derive(Debug)]
pub struct Weights {
    tensors: Tensors,
    terms: Vec<LowRankTerm>,
    dtype: DType,
}

#[derive(Debug)]
enum Tensors {
    /// On the device.
    There(HashMap<String, computed::Weight>, Arc<MemoryAccount>),
    /// Brought up when they are read.
    Leaves(Leaves),
    /// Shapes alone.
    Traced(Arc<TracedBlock>),
}

/// Tensors that are brought up when they are read.
#[derive(Debug)]
struct Leaves {
    source: Arc<WeightSource>,
    block: usize,
    state: Mutex<LeafState>,
}

#[derive(Debug, Default)]
struct LeafState {
    /// The layer that was read last.
    layer: String,
    /// Its weight and its bias; they go when the next one is read.
    held: HashMap<String, Leaf>,
    moved: u64,
    failure: Option<RunError>,
}

impl Weights {
    /// Weights that are on the device, for a computation in `dtype`.
    pub fn new(
        tensors: HashMap<String, computed::Weight>,
        dtype: DType,
        account: Arc<MemoryAccount>,
    ) -> Self {
        Self { tensors: Tensors::There(tensors, account), terms: Vec::new(), dtype }
    }

    /// The shapes of a block's weights, for a computation in `dtype`.
    pub(super) fn traced(block: Arc<TracedBlock>, dtype: DType) -> Self {
        let terms = block.terms().to_vec();
        Self { tensors: Tensors::Traced(block), terms, dtype }
    }

    /// The same weights with terms that are added where their matrices are multiplied.
    pub(super) fn with_terms(self, terms: &[LowRankTerm]) -> Self {
        Self { terms: terms.to_vec(), ..self }
    }

    /// Weights of which only one layer at a time is on the device.
    pub(super) fn one_by_one(source: Arc<WeightSource>, block: usize) -> Self {
        let dtype = source.dtype;
        let terms = source.component.blocks[block].terms.clone();
        let leaves = Leaves { source, block, state: Mutex::default() };
        Self { tensors: Tensors::Leaves(leaves), terms, dtype }
    }

    fn leaves(&self) -> Option<&Leaves> {
        match &self.tensors {
            Tensors::Leaves(leaves) => Some(leaves),
            Tensors::There(..) | Tensors::Traced(_) => None,
        }
    }

    /// Bytes that were brought up tensor by tensor.
    pub(super) fn moved_bytes(&self) -> u64 {
        self.leaves().map_or(0, |leaves| leaves.state().moved)
    }

    /// Why a tensor could not be brought up, if one could not.
    pub(super) fn take_failure(&self) -> Option<RunError> {
        self.leaves().and_then(|leaves| leaves.state().failure.take())
    }

    /// The tensor of this name, in the dtype of the computation.
    ///
    /// # Errors
    /// Names the tensor if the block has none of this name. Components are checked against their
    /// architecture when they are opened, so this is a mistake in a model file of ours.
    pub fn get(&self, name: &str) -> Result<Tensor> {
        self.find(name)?.ok_or_else(|| nn::Error::CannotFindTensor { path: name.to_owned() })
    }

    /// The tensor of this name, if the block has it, in the dtype of the computation, with all terms added to it.
    pub fn find(&self, name: &str) -> Result<Option<Tensor>> {
        let Some(weight) = self.held(name)? else { return Ok(None) };
        let mut tensor = weight.widened(self.dtype)?;
        for term in self.terms(name)? {
            tensor = (tensor + term.product(self.dtype)?)?;
        }
        Ok(Some(tensor))
    }

    /// What is added to the matrix of this name. A term of scale 0 adds nothing.
    fn terms(&self, name: &str) -> Result<Vec<LowRank>> {
        let of_matrix = self.terms.iter().filter(|term| term.matrix == name && term.scale != 0.0);
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
        match &self.tensors {
            Tensors::There(tensors, _) => tensors.contains_key(name),
            Tensors::Leaves(leaves) => leaves.place(name).is_some(),
            Tensors::Traced(block) => block.has(name),
        }
    }

    /// The tensor of this name as it is held: perhaps narrower than the computation.
    fn held(&self, name: &str) -> Result<Option<Weight>> {
        let available = |account: &MemoryAccount| {
            if account.has_refused() {
                nn::bail!("the device's memory is used up");
            }
            Ok(())
        };
        let held = match &self.tensors {
            Tensors::There(tensors, account) => {
                available(account)?;
                tensors.get(name).cloned()
            }
            Tensors::Leaves(leaves) => {
                available(&leaves.source.account)?;
                leaves.read(name)?
            }
            Tensors::Traced(block) => return Ok(block.read(name)),
        };
        Ok(held.map(Weight::from))
    }

    /// `x` through the linear layer `name`, with its bias if it has one.
    pub fn linear(&self, name: &str, x: &Tensor) -> Result<Tensor> {
        let full = format!("{name}.weight");
        let terms = self.terms(&full)?;
        let weight = self.held(&full)?.ok_or_else(|| nn::Error::CannotFindTensor { path: full })?;
        nn::linear_with(x, &weight, self.find(&format!("{name}.bias"))?.as_ref(), &terms)
    }

    /// `x` through the RMS norm `name`.
    pub fn rms_norm(&self, name: &str, x: &Tensor, eps: f64) -> Result<Tensor> {
        nn::rms_norm(x, &self.get(&format!("{name}.weight"))?, eps)
    }

    /// `x` through the RMS norm `name`, modulated by `scale`.
    pub fn rms_norm_modulated(&self, name: &str, x: &Tensor, eps: f64, scale: &Tensor) -> Result<Tensor> {
        nn::rms_norm_modulated(x, &self.get(&format!("{name}.weight"))?, eps, scale)
    }

    /// `x` through the layer norm `name`, which has scale and bias.
    pub fn layer_norm(&self, name: &str, x: &Tensor, eps: f64) -> Result<Tensor> {
        let (weight, bias) = self.norm(name)?;
        nn::layer_norm(x, Some((&weight, &bias)), eps)
    }

    /// `x` through the group norm `name`.
    pub fn group_norm(&self, name: &str, x: &Tensor, groups: usize, eps: f64) -> Result<Tensor> {
        let (weight, bias) = self.norm(name)?;
        nn::group_norm(x, groups, &weight, &bias, eps)
    }

    /// `x` through the group norm `name` and SiLU.
    pub fn group_norm_silu(&self, name: &str, x: &Tensor, groups: usize, eps: f64) -> Result<Tensor> {
        let (weight, bias) = self.norm(name)?;
        nn::group_norm_silu(x, groups, &weight, &bias, eps)
    }

    /// Scale and bias of a norm.
    fn norm(&self, name: &str) -> Result<(Tensor, Tensor)> {
        Ok((self.get(&format!("{name}.weight"))?, self.get(&format!("{name}.bias"))?))
    }

    /// `x` through the convolution `name`.
    pub fn conv2d(&self, name: &str, x: &Tensor, conv: nn::Conv2d) -> Result<Tensor> {
        let weight = self.get(&format!("{name}.weight"))?;
        nn::conv2d(x, &weight, self.find(&format!("{name}.bias"))?.as_ref(), conv)
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
                nn::bail!("{name} could not be brought up")
            }
        }
    }
}
