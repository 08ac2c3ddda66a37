//! The tensor type of all networks.

use std::ops::{Add, Div, Mul, Sub};

use candle_core::{
    DType, Layout, Result, Shape, Tensor as Values, WithDType, bail,
    shape::{Dim, ShapeWithOneHole},
};

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

    /// The same values in another shape, of which one dimension may be `()`.
    pub fn reshape(&self, shape: impl ShapeWithOneHole) -> Result<Self> {
        match &self.0 {
            Kind::Computed(values) => Ok(values.reshape(shape)?.into()),
            Kind::Traced(traced) => {
                let shape = shape.into_shape(self.elem_count())?;
                if shape.elem_count() != self.elem_count() {
                    bail!("{:?} cannot be reshaped to {:?}", self.dims(), shape.dims());
                }
                Ok(if traced.layout.is_contiguous() {
                    traced.view(Layout::contiguous(shape)).into()
                } else {
                    traced.copied(shape.dims(), traced.dtype).into()
                })
            }
        }
    }

    /// Flattens all dimensions into one.
    pub fn flatten_all(&self) -> Result<Self> {
        self.reshape(self.elem_count())
    }

    /// Flattens the dimensions from `first` on into one.
    pub fn flatten_from(&self, first: usize) -> Result<Self> {
        let dims = self.dims();
        if first + 1 >= dims.len() {
            return Ok(self.clone());
        }
        let (kept, joined) = dims.split_at(first);
        self.reshape([kept, &[joined.iter().product()]].concat())
    }

    /// `length` entries of a dimension, starting at `start`.
    pub fn narrow(&self, dim: impl Dim, start: usize, length: usize) -> Result<Self> {
        let dim = self.dim_index(dim, "narrow")?;
        self.look(
            |values| values.narrow(dim, start, length),
            |layout| {
                if layout.dims()[dim] == length && start == 0 {
                    Ok(layout.clone())
                } else {
                    layout.narrow(dim, start, length)
                }
            },
        )
    }

    /// Entry `index` of the first dimension.
    pub fn get(&self, index: usize) -> Result<Self> {
        self.narrow(0, index, 1)?.squeeze(0)
    }

    /// Splits into equal parts along a dimension.
    pub fn chunk(&self, parts: usize, dim: impl Dim) -> Result<Vec<Self>> {
        let dim = self.dim_index(dim, "chunk")?;
        let length = self.dims()[dim];
        if parts == 0 || !length.is_multiple_of(parts) {
            bail!("{length} cannot be split into {parts} equal parts");
        }
        (0..parts).map(|part| self.narrow(dim, part * (length / parts), length / parts)).collect()
    }

    /// Swaps two dimensions.
    pub fn transpose(&self, one: usize, other: usize) -> Result<Self> {
        self.look(|values| values.transpose(one, other), |layout| layout.transpose(one, other))
    }

    /// Reorders the dimensions.
    pub fn permute<const N: usize>(&self, order: [usize; N]) -> Result<Self> {
        self.look(|values| values.permute(order.to_vec()), |layout| layout.permute(&order))
    }

    /// Inserts a dimension of length 1 before `dim`.
    pub fn unsqueeze(&self, dim: usize) -> Result<Self> {
        self.look(
            |values| values.unsqueeze(dim),
            |layout| {
                let (mut dims, mut strides) = (layout.dims().to_vec(), layout.stride().to_vec());
                let stride = strides.get(dim).copied().unwrap_or(1);
                dims.insert(dim, 1);
                strides.insert(dim, stride);
                Ok(Layout::new(dims.into(), strides, layout.start_offset()))
            },
        )
    }

    /// Removes the dimension `dim` if it has length 1.
    pub fn squeeze(&self, dim: usize) -> Result<Self> {
        self.look(
            |values| values.squeeze(dim),
            |layout| {
                let (mut dims, mut strides) = (layout.dims().to_vec(), layout.stride().to_vec());
                if dims[dim] == 1 {
                    dims.remove(dim);
                    strides.remove(dim);
                }
                Ok(Layout::new(dims.into(), strides, layout.start_offset()))
            },
        )
    }

    /// Broadcasts dimensions of length 1 to a shape, without a copy.
    pub fn broadcast_as(&self, shape: impl Into<Shape>) -> Result<Self> {
        let shape = shape.into();
        self.look(|values| values.broadcast_as(shape.clone()), |layout| layout.broadcast_as(shape.clone()))
    }

    /// A view, without a copy.
    fn look(
        &self,
        values: impl FnOnce(&Values) -> Result<Values>,
        layout: impl FnOnce(&Layout) -> Result<Layout>,
    ) -> Result<Self> {
        match &self.0 {
            Kind::Computed(computed) => Ok(values(computed)?.into()),
            Kind::Traced(traced) => Ok(traced.view(layout(&traced.layout)?).into()),
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
        match &self.0 {
            Kind::Computed(values) => {
                let picked = Values::new(rows, values.device())?;
                Ok(values.index_select(&picked, 0)?.into())
            }
            Kind::Traced(traced) => {
                let mut dims = traced.dims().to_vec();
                dims[0] = rows.len();
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

    /// Negates each value.
    pub fn neg(&self) -> Result<Self> {
        self.each(Values::neg)
    }

    /// The hyperbolic tangent of each value.
    pub fn tanh(&self) -> Result<Self> {
        self.each(Values::tanh)
    }

    /// The square root of each value.
    pub fn sqrt(&self) -> Result<Self> {
        self.each(Values::sqrt)
    }

    /// Sets negative values to 0.
    pub fn relu(&self) -> Result<Self> {
        self.each(Values::relu)
    }

    /// Limits values to `least..=most`.
    pub fn clamp(&self, least: f32, most: f32) -> Result<Self> {
        // The library does this in two steps.
        self.each(|values| values.maximum(least))?.each(|values| values.minimum(most))
    }

    /// `self · factor + offset`.
    pub fn affine(&self, factor: f64, offset: f64) -> Result<Self> {
        self.each(|values| values.affine(factor, offset))
    }

    fn each(&self, work: impl FnOnce(&Values) -> Result<Values>) -> Result<Self> {
        match &self.0 {
            Kind::Computed(values) => Ok(work(values)?.into()),
            Kind::Traced(traced) => Ok(traced.copied(traced.dims(), traced.dtype).into()),
        }
    }

    /// `self + other`; dimensions of length 1 are broadcast.
    pub fn broadcast_add(&self, other: &Self) -> Result<Self> {
        self.spread(other, Values::broadcast_add)
    }

    /// `self · other`; dimensions of length 1 are broadcast.
    pub fn broadcast_mul(&self, other: &Self) -> Result<Self> {
        self.spread(other, Values::broadcast_mul)
    }

    fn spread(&self, other: &Self, work: fn(&Values, &Values) -> Result<Values>) -> Result<Self> {
        match &self.0 {
            Kind::Computed(values) => Ok(work(values, other.computed()?)?.into()),
            Kind::Traced(traced) => {
                let (one, other) = (Shape::from(self.dims()), Shape::from(other.traced()?.dims()));
                let shape = one.broadcast_shape_binary_op(&other, "broadcast")?;
                Ok(traced.copied(shape.dims(), traced.dtype).into())
            }
        }
    }

    /// An elementwise function of two tensors of the same shape.
    fn both(&self, other: &Self, work: fn(&Values, &Values) -> Result<Values>) -> Result<Self> {
        match &self.0 {
            Kind::Computed(values) => Ok(work(values, other.computed()?)?.into()),
            Kind::Traced(traced) => {
                if self.dims() != other.traced()?.dims() {
                    bail!(
                        "values of shape {:?} do not match values of shape {:?}",
                        self.dims(),
                        other.dims()
                    );
                }
                Ok(traced.copied(traced.dims(), traced.dtype).into())
            }
        }
    }

    fn dim_index(&self, dim: impl Dim, op: &'static str) -> Result<usize> {
        dim.to_index(&Shape::from(self.dims()), op)
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

macro_rules! operators {
    ($($trait:ident $method:ident $work:expr, $scalar:expr;)*) => {$(
        impl $trait<&Tensor> for &Tensor {
            type Output = Result<Tensor>;
            fn $method(self, other: &Tensor) -> Result<Tensor> {
                self.both(other, $work)
            }
        }
        impl $trait<Tensor> for &Tensor {
            type Output = Result<Tensor>;
            fn $method(self, other: Tensor) -> Result<Tensor> {
                self.both(&other, $work)
            }
        }
        impl $trait<&Tensor> for Tensor {
            type Output = Result<Tensor>;
            fn $method(self, other: &Tensor) -> Result<Tensor> {
                self.both(other, $work)
            }
        }
        impl $trait<Tensor> for Tensor {
            type Output = Result<Tensor>;
            fn $method(self, other: Tensor) -> Result<Tensor> {
                self.both(&other, $work)
            }
        }
        impl $trait<f64> for &Tensor {
            type Output = Result<Tensor>;
            fn $method(self, scalar: f64) -> Result<Tensor> {
                let work: fn(&Values, f64) -> Result<Values> = $scalar;
                self.each(|values| work(values, scalar))
            }
        }
        impl $trait<f64> for Tensor {
            type Output = Result<Tensor>;
            fn $method(self, scalar: f64) -> Result<Tensor> {
                (&self).$method(scalar)
            }
        }
    )*};
}

operators! {
    Add add Values::add, |values, scalar| values + scalar;
    Sub sub Values::sub, |values, scalar| values - scalar;
    Mul mul Values::mul, |values, scalar| values * scalar;
    Div div Values::div, |values, scalar| values / scalar;
}
