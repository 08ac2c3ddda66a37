//! Makes tensors of values and of other tensors.

use candle_core::{DType, Layout, Result, Shape, Tensor as Values, WithDType, bail, shape::Dim};

use super::{Device, Kind, Place, Tensor};
use crate::trace::Traced;

impl Tensor {
    /// Builds a tensor from values in row-major order.
    pub fn from_vec<T: WithDType>(values: Vec<T>, shape: impl Into<Shape>, device: &Device) -> Result<Self> {
        let shape = shape.into();
        match &device.0 {
            Place::Computed(device) => Ok(Values::from_vec(values, shape, device)?.into()),
            Place::Traced(trace) => Ok(trace.tensor(shape.dims(), T::DTYPE)),
        }
    }

    /// A tensor of the values that `values` makes. A traced tensor has none, so `values` is not called for it.
    pub fn from_fn<T: WithDType>(
        values: impl FnOnce() -> Vec<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Self> {
        match &device.0 {
            Place::Computed(device) => Ok(Values::from_vec(values(), shape, device)?.into()),
            Place::Traced(trace) => Ok(trace.tensor(shape.into().dims(), T::DTYPE)),
        }
    }

    /// A tensor of zeros.
    pub fn zeros(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Result<Self> {
        let shape = shape.into();
        match &device.0 {
            Place::Computed(device) => Ok(Values::zeros(shape, dtype, device)?.into()),
            Place::Traced(trace) => Ok(trace.tensor(shape.dims(), dtype)),
        }
    }

    /// A tensor of ones.
    pub fn ones(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Result<Self> {
        let shape = shape.into();
        match &device.0 {
            Place::Computed(device) => Ok(Values::ones(shape, dtype, device)?.into()),
            Place::Traced(trace) => Ok(trace.tensor(shape.dims(), dtype)),
        }
    }

    /// Zeros of the same shape.
    pub fn zeros_like(&self) -> Result<Self> {
        Self::zeros(self.dims(), self.dtype(), &self.device())
    }

    /// Concatenates tensors along a dimension.
    pub fn cat<T: AsRef<Self>>(tensors: &[T], dim: impl Dim) -> Result<Self> {
        let [first, ..] = tensors else { bail!("no tensors to concatenate") };
        let first = first.as_ref();
        if tensors.len() == 1 {
            return Ok(first.clone());
        }
        let dim = first.dim_index(dim, "cat")?;
        match &first.0 {
            Kind::Computed(_) => {
                let values = tensors.iter().map(|tensor| tensor.as_ref().computed());
                Ok(Values::cat(&values.collect::<Result<Vec<_>>>()?, dim)?.into())
            }
            Kind::Traced(shape) => {
                let parts = tensors.iter().map(|tensor| tensor.as_ref().traced());
                Ok(joined(shape, &parts.collect::<Result<Vec<_>>>()?, dim)?.into())
            }
        }
    }

    /// Stacks tensors of the same shape along a new dimension.
    pub fn stack<T: AsRef<Self>>(tensors: &[T], dim: usize) -> Result<Self> {
        let wider = tensors.iter().map(|tensor| tensor.as_ref().unsqueeze(dim));
        Self::cat(&wider.collect::<Result<Vec<_>>>()?, dim)
    }
}

/// Concatenates as the tensor library does: parts that it cannot copy row by row give a transposed layout.
fn joined(first: &Traced, parts: &[&Traced], dim: usize) -> Result<Traced> {
    let mut dims = first.dims().to_vec();
    for part in parts {
        let fits = |(index, (one, other)): (usize, (&usize, &usize))| index == dim || one == other;
        if part.dims().len() != dims.len() || !dims.iter().zip(part.dims()).enumerate().all(fits) {
            bail!("{:?} cannot be concatenated with {:?}", part.dims(), first.dims());
        }
    }
    dims[dim] = parts.iter().map(|part| part.dims()[dim]).sum();
    let all = first.copied(&dims, first.dtype);
    if dim == 0 || parts.iter().all(|part| in_rows(&part.layout, dim)) {
        return Ok(all);
    }
    let mut turned = dims;
    turned.swap(0, dim);
    Ok(all.view(Layout::contiguous(turned).transpose(0, dim)?))
}

/// Whether the tensor library can copy the tensor row by row along a dimension.
fn in_rows(layout: &Layout, dim: usize) -> bool {
    if layout.is_contiguous() {
        return true;
    }
    let (dims, strides) = (layout.dims(), layout.stride());
    let runs_on = |range: std::ops::Range<usize>, mut expected: usize| {
        range.rev().all(|index| {
            let fits = strides[index] == expected;
            expected *= dims[index];
            fits
        })
    };
    runs_on(dim..dims.len(), 1) && (dim == 0 || runs_on(0..dim, strides[dim - 1]))
}
