//! Matrices stored transposed.

use std::sync::Arc;

use super::{Change, CheckpointError, StoredTensor};

/// Transposes a matrix on each read.
#[derive(Debug)]
struct Transposed;

impl Change for Transposed {
    fn apply(&self, shape: &[usize], values: &mut [f32]) -> Result<(), CheckpointError> {
        let &[rows, columns] = shape else { return Ok(()) };
        let stored = values.to_vec();
        for (index, value) in values.iter_mut().enumerate() {
            *value = stored[index % columns * rows + index / columns];
        }
        Ok(())
    }

    fn identity(&self) -> String {
        "transposed".to_owned()
    }
}

impl StoredTensor {
    /// The transposed matrix: `[outputs, inputs]`, stored as `[inputs, outputs]`. It is held in the dtype of
    /// the computation. Adapters apply to it after the transposition.
    pub fn transposed(self) -> Self {
        let shape: Vec<usize> = self.shape().iter().rev().copied().collect();
        self.with_shape(&shape).changed(Arc::new(Transposed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        let mut values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        Transposed.apply(&[3, 2], &mut values).unwrap();
        assert_eq!(values, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
