//! The same values in other shapes.

use candle_core::{
    Layout, Result, Shape, Tensor as Values, bail,
    shape::{Dim, ShapeWithOneHole},
};

use super::{Kind, Tensor};

impl Tensor {
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
}
