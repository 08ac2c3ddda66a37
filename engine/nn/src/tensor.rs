//! The tensor type of all networks.

mod arithmetic;
mod making;
mod views;

use candle_core::{DType, Result, Shape, Tensor as Values, bail, shape::Dim};

use super::trace::{Trace, Traced};

/// A tensor: computed, with values on a device, or traced, with a shape and the memory it would take.
///
/// Networks do not know which. Run on computed tensors they give images; run on traced tensors they give the
/// predicted memory and time.
#[derive(Debug, Clone)]
pub struct Tensor(pub(super) Kind);

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Computed(Values),
    Traced(Traced),
}

/// Where tensors live: on a device, or in a trace.
#[derive(Debug, Clone)]
pub struct Device(Place);

#[derive(Debug, Clone)]
enum Place {
    Computed(candle_core::Device),
    Traced(Trace),
}

impl Device {
    /// The CPU.
    pub fn processor() -> Self {
        candle_core::Device::Cpu.into()
    }
}

impl From<candle_core::Device> for Device {
    fn from(device: candle_core::Device) -> Self {
        Self(Place::Computed(device))
    }
}

impl From<Trace> for Device {
    fn from(trace: Trace) -> Self {
        Self(Place::Traced(trace))
    }
}

impl From<Values> for Tensor {
    fn from(values: Values) -> Self {
        Self(Kind::Computed(values))
    }
}

impl From<Traced> for Tensor {
    fn from(traced: Traced) -> Self {
        Self(Kind::Traced(traced))
    }
}

impl AsRef<Self> for Tensor {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Tensor {
    /// The values.
    ///
    /// # Errors
    /// Fails if the tensor is traced.
    pub fn computed(&self) -> Result<&Values> {
        match &self.0 {
            Kind::Computed(values) => Ok(values),
            Kind::Traced(_) => bail!("a traced tensor has no values"),
        }
    }

    /// The values.
    ///
    /// # Errors
    /// Fails if the tensor is traced.
    pub fn into_computed(self) -> Result<Values> {
        match self.0 {
            Kind::Computed(values) => Ok(values),
            Kind::Traced(_) => bail!("a traced tensor has no values"),
        }
    }

    pub(super) fn traced(&self) -> Result<&Traced> {
        match &self.0 {
            Kind::Traced(traced) => Ok(traced),
            Kind::Computed(_) => bail!("a computed tensor among traced ones"),
        }
    }

    /// The length of each dimension.
    pub fn dims(&self) -> &[usize] {
        match &self.0 {
            Kind::Computed(values) => values.dims(),
            Kind::Traced(traced) => traced.dims(),
        }
    }

    /// The length of a dimension.
    pub fn dim(&self, dim: impl Dim) -> Result<usize> {
        Ok(self.dims()[self.dim_index(dim, "dim")?])
    }

    /// The lengths of its two dimensions.
    pub fn dims2(&self) -> Result<(usize, usize)> {
        Shape::from(self.dims()).dims2()
    }

    /// The lengths of its three dimensions.
    pub fn dims3(&self) -> Result<(usize, usize, usize)> {
        Shape::from(self.dims()).dims3()
    }

    /// The lengths of its four dimensions.
    pub fn dims4(&self) -> Result<(usize, usize, usize, usize)> {
        Shape::from(self.dims()).dims4()
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// The number of values.
    pub fn elem_count(&self) -> usize {
        self.dims().iter().product()
    }

    /// The dtype.
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Kind::Computed(values) => values.dtype(),
            Kind::Traced(traced) => traced.dtype,
        }
    }

    /// The device.
    pub fn device(&self) -> Device {
        match &self.0 {
            Kind::Computed(values) => values.device().clone().into(),
            Kind::Traced(traced) => traced.trace().clone().into(),
        }
    }

    /// Converts to another dtype; no copy if it already has it.
    pub fn to_dtype(&self, dtype: DType) -> Result<Self> {
        match &self.0 {
            Kind::Computed(values) => Ok(values.to_dtype(dtype)?.into()),
            Kind::Traced(traced) if traced.dtype == dtype => Ok(self.clone()),
            Kind::Traced(traced) => Ok(traced.copied(traced.dims(), dtype).into()),
        }
    }

    /// The same values in row-major order; no copy if they already are.
    pub fn contiguous(&self) -> Result<Self> {
        match &self.0 {
            Kind::Computed(values) => Ok(values.contiguous()?.into()),
            Kind::Traced(traced) => Ok(traced.contiguous().into()),
        }
    }

    /// Writes `part` over its own values, from `start` on along a dimension. Other tensors that share its memory change with it.
    pub fn overwrite(&self, part: &Self, dim: usize, start: usize) -> Result<()> {
        match (&self.0, &part.0) {
            (Kind::Computed(own), Kind::Computed(part)) => own.slice_set(&part.contiguous()?, dim, start),
            (Kind::Traced(own), Kind::Traced(part)) => {
                let fits = |(axis, (own, part)): (usize, (&usize, &usize))| match axis == dim {
                    true => start + part <= *own,
                    false => own == part,
                };
                if own.dims().len() != part.dims().len()
                    || !own.dims().iter().zip(part.dims()).enumerate().all(fits)
                {
                    bail!("{:?} cannot be written over {:?} from {start} on", part.dims(), own.dims());
                }
                part.contiguous();
                Ok(())
            }
            _ => bail!("a computed tensor among traced ones"),
        }
    }

    /// The rows of the first dimension with these indices.
    pub fn index_select(&self, rows: &[u32]) -> Result<Self> {
        self.selected(rows.len(), |device| Values::new(rows, device))
    }

    /// So many rows of the first dimension, with the indices that `rows` makes; zeros where one is [`u32::MAX`]. A traced
    /// tensor has no values, so `rows` is not called for it.
    pub fn index_select_by(&self, count: usize, rows: impl FnOnce() -> Vec<u32>) -> Result<Self> {
        self.selected(count, |device| Values::from_vec(rows(), count, device))
    }

    fn selected(
        &self,
        count: usize,
        rows: impl FnOnce(&candle_core::Device) -> Result<Values>,
    ) -> Result<Self> {
        match &self.0 {
            Kind::Computed(values) => Ok(values.index_select(&rows(values.device())?, 0)?.into()),
            Kind::Traced(traced) => {
                let _indices = traced.trace().tensor(&[count], DType::U32);
                let mut dims = traced.dims().to_vec();
                dims[0] = count;
                Ok(traced.copied(&dims, traced.dtype).into())
            }
        }
    }

    /// Pads a dimension with zeros before and after.
    pub fn pad_with_zeros(&self, dim: usize, before: usize, after: usize) -> Result<Self> {
        if before == 0 && after == 0 {
            return Ok(self.clone());
        }
        let zeros = |length: usize| {
            let mut dims = self.dims().to_vec();
            dims[dim] = length;
            Self::zeros(dims, self.dtype(), &self.device())
        };
        let mut parts = vec![self.clone()];
        if before > 0 {
            parts.insert(0, zeros(before)?);
        }
        if after > 0 {
            parts.push(zeros(after)?);
        }
        Self::cat(&parts, dim)
    }

    fn dim_index(&self, dim: impl Dim, op: &'static str) -> Result<usize> {
        dim.to_index(&Shape::from(self.dims()), op)
    }
}
