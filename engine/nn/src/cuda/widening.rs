//! Launch parameters for dequantizing packed weights.

use std::num::NonZeroUsize;

use candle_core::{DType, Result, Tensor, bail};

use crate::precision::{Encoding, Zeros};

use super::{Argument, Launch, Launches, Source, name_of};

/// Dequantizes a weight of `shape` from `bytes`, a U8 tensor of values, scales and zero points.
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
    let scales = encoding.scales(elements) * size_of::<f32>();
    let floats = |first: usize| bytes.narrow(0, values + first, scales);
    let zeros = encoding.zeros.map(|_| floats(scales)).transpose()?;
    let added = encoding.zeros == Some(Zeros::Added);
    let scales = (scales > 0).then(|| floats(0)).transpose()?;
    let rotation = encoding.rotation.map_or(0, NonZeroUsize::get);
    let start = if rotation > 0 { "turn" } else { "widen" };
    let launch = Launch {
        source: Source::Widen,
        kernel: format!("{start}_{}_{name}", encoding.format.name().to_lowercase()),
        grid: [elements.div_ceil(THREADS * RUN), 1, 1],
        block: [THREADS, 1, 1],
        shared: 0,
        arguments: vec![
            Argument::Input(bytes),
            Argument::optional(scales),
            Argument::optional(zeros),
            Argument::Result(0),
            Argument::long(elements)?,
            Argument::long(encoding.group.map_or(0, NonZeroUsize::get))?,
            Argument::Whole(added.into()),
            Argument::whole(rotation)?,
        ],
    };
    Ok(Some(Launches { results: vec![(shape.to_vec(), dtype)], launches: vec![launch] }))
}
