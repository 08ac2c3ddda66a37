//! The tensors of one block, by name.

use std::collections::HashMap;

use candle_core::{Result, Tensor};

use crate::nn;

/// The weights of one block in the dtype of the computation, by their names inside the block.
#[derive(Debug, Clone)]
pub struct Weights {
    tensors: HashMap<String, Tensor>,
}

impl Weights {
    /// From names and tensors.
    pub fn new(tensors: HashMap<String, Tensor>) -> Self {
        Self { tensors }
    }

    /// The tensor of this name.
    ///
    /// # Errors
    /// Names the tensor if the block has none of this name. Components are checked against their
    /// architecture when they are opened, so this is a mistake in a model file of ours.
    pub fn get(&self, name: &str) -> Result<&Tensor> {
        self.tensors.get(name).ok_or_else(|| candle_core::Error::CannotFindTensor { path: name.to_owned() })
    }

    /// The tensor of this name, if the block has it.
    pub fn find(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// `x` through the linear layer `name`, with its bias if it has one.
    pub fn linear(&self, name: &str, x: &Tensor) -> Result<Tensor> {
        nn::linear(x, self.get(&format!("{name}.weight"))?, self.find(&format!("{name}.bias")))
    }

    /// `x` through the RMS norm `name`.
    pub fn rms_norm(&self, name: &str, x: &Tensor, eps: f64) -> Result<Tensor> {
        nn::rms_norm(x, self.get(&format!("{name}.weight"))?, eps)
    }

    /// `x` through the convolution `name`.
    pub fn conv2d(&self, name: &str, x: &Tensor, conv: nn::Conv2d) -> Result<Tensor> {
        let bias = self.find(&format!("{name}.bias"));
        nn::conv2d(x, self.get(&format!("{name}.weight"))?, bias, conv)
    }

    /// Bytes that the tensors take.
    pub fn bytes(&self) -> u64 {
        self.tensors.values().map(|tensor| (tensor.elem_count() * tensor.dtype().size_in_bytes()) as u64).sum()
    }
}
