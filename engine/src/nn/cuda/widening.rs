//! Launch parameters for dequantizing packed weights.

use candle_core::{DType, Result, Tensor, bail};

use crate::precision::Encoding;

use super::{Argument, Launch, Launches, Source, name_of};

/// Dequantizes a weight of `shape` from `bytes`, a U8 tensor of values followed by scales.
pub fn widen(bytes: &Tensor, encoding: Encoding, shape: &[usize], dtype: DType) -> Result<Option<Launches>> {
    const THREADS: usize = 256;
    /// Values per thread.
    const RUN: usize = 8;
    let Some(name) = name_of(dtype).filter(|_| !encoding.format.is_wide()) else { return Ok(None) };
    let bytes = bytes.flatten_all()?.contiguous()?;
    let elements: usize = shape.iter().product();
    if encoding.bytes(elements) > bytes.elem_count() {
        bail!("a weight of shape {shape:?} has {} bytes", bytes.elem_count());
    }
    let values = encoding.format.bytes(elements);
    let scales = match encoding.scales(elements) {
        0 => None,
        scales => Some(bytes.narrow(0, values, scales * size_of::<f32>())?),
    };
    let launch = Launch {
        source: Source::Widen,
        kernel: format!("widen_{}_{name}", encoding.format.name().to_lowercase()),
        grid: [elements.div_ceil(THREADS * RUN), 1, 1],
        block: [THREADS, 1, 1],
        shared: 0,
        arguments: vec![
            Argument::Input(bytes),
            Argument::optional(scales),
            Argument::Result(0),
            Argument::long(elements)?,
            Argument::long(encoding.group.map_or(0, std::num::NonZeroUsize::get))?,
        ],
    };
    Ok(Some(Launches { results: vec![(shape.to_vec(), dtype)], launches: vec![launch] }))
}
