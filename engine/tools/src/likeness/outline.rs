//! Names and shapes of the tensors of networks that Sluice writes but does not run.

use crate::random::RandomTensor;

/// Collects a network's tensors in the order of its file.
#[derive(Debug, Default)]
pub(super) struct Outline {
    tensors: Vec<RandomTensor>,
}

impl Outline {
    /// Adds one tensor.
    pub fn tensor(&mut self, name: impl Into<String>, shape: &[usize]) {
        self.tensors.push(RandomTensor { name: name.into(), shape: shape.to_vec() });
    }

    /// Adds `NAME.weight` of a norm over `width` values.
    pub fn norm(&mut self, name: &str, width: usize) {
        self.tensor(format!("{name}.weight"), &[width]);
    }

    /// Adds `NAME.weight`, from `inputs` to `outputs` values.
    pub fn matrix(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.tensor(format!("{name}.weight"), &[outputs, inputs]);
    }

    /// Adds `NAME.weight` and `NAME.bias`, from `inputs` to `outputs` values.
    pub fn linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.convolution(name, inputs, outputs, &[]);
    }

    /// Adds `NAME.weight` and `NAME.bias` of a convolution, from `inputs` to `outputs` channels.
    pub fn convolution(&mut self, name: &str, inputs: usize, outputs: usize, kernel: &[usize]) {
        self.tensor(format!("{name}.weight"), &[&[outputs, inputs], kernel].concat());
        self.tensor(format!("{name}.bias"), &[outputs]);
    }

    /// All collected tensors.
    pub fn into_tensors(self) -> Vec<RandomTensor> {
        self.tensors
    }
}
