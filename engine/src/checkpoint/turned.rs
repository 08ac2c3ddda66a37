//! Matrices that a file has the other way round.

use std::sync::Arc;

use super::{Change, CheckpointError, StoredTensor};

/// Turns a matrix whenever it is read.
#[derive(Debug)]
struct Turned;

impl Change for Turned {
    fn apply(&self, shape: &[usize], values: &mut [f32]) -> Result<(), CheckpointError> {
        let &[rows, columns] = shape else { return Ok(()) };
        let stored = values.to_vec();
        for (index, value) in values.iter_mut().enumerate() {
            *value = stored[index % columns * rows + index / columns];
        }
        Ok(())
    }

    fn identity(&self) -> String {
        "turned".to_owned()
    }
}

impl StoredTensor {
    /// The same matrix the other way round: `[outputs, inputs]` of what is stored `[inputs, outputs]`. It is held in the
    /// dtype of the computation, and what adapters do to it is done to it as it is given.
    pub fn turned(self) -> Self {
        let shape: Vec<usize> = self.shape().iter().rev().copied().collect();
        self.with_shape(&shape).changed(Arc::new(Turned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_rows() {
        let mut values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        Turned.apply(&[3, 2], &mut values).unwrap();
        assert_eq!(values, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
