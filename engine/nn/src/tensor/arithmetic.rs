//! Computes with each value.

use std::ops::{Add, Div, Mul, Sub};

use candle_core::{Result, Shape, Tensor as Values, bail};

use super::{Kind, Tensor};

impl Tensor {
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
