//! Models with the same values, stored in different ways.

use std::path::Path;

use anyhow::{Result, ensure};
use candle_core::{DType, Tensor};

use crate::{checkpoint::Run, runner::Runner};

/// The bits of a tensor's values in f32.
pub fn bits(tensor: &Tensor) -> Vec<u32> {
    let values = tensor.to_dtype(DType::F32).and_then(|tensor| tensor.flatten_all()?.to_vec1::<f32>());
    values.unwrap_or_default().into_iter().map(f32::to_bits).collect()
}

/// Repeats a run with both; all tensors and images must be bit-identical.
pub fn check_twins(name: &str, run: &Run, packed: &Path, wide: &Path) -> Result<()> {
    let mut runner = Runner::start()?;
    let (pictures, dump) = runner.repeat(run, packed)?;
    let (others, expected) = runner.repeat(run, wide)?;
    ensure!(dump.len() == expected.len(), "{name}: other tensors");
    for (tensor, want) in &expected {
        let same = dump[tensor].dims() == want.dims() && bits(&dump[tensor]) == bits(want);
        ensure!(same, "{name}: {tensor} differs");
    }
    ensure!(pictures.iter().zip(&others).all(|(a, b)| a.media == b.media), "{name}: other pixels");
    Ok(())
}
