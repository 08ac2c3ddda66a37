//! Clips whose frames are made one at a time, so that memory does not grow with their number.

use crate::nn::{DType, Result, Tensor};

/// A clip to encode.
#[derive(Clone, Copy)]
pub struct Reel<'a> {
    /// Number of frames.
    pub count: usize,
    /// Rows of pixels.
    pub height: usize,
    /// Columns of pixels.
    pub width: usize,
    /// Makes a frame `[1, 3, height, width]` in −1…1, on the device of the computation.
    pub frame: &'a dyn Fn(usize) -> Result<Tensor>,
}

impl Reel<'_> {
    /// All pixels of a frame.
    pub fn whole(&self) -> Area {
        Area { top: 0, left: 0, height: self.height, width: self.width }
    }

    /// An area of a frame.
    pub fn part(&self, index: usize, area: Area, dtype: DType) -> Result<Tensor> {
        area.of(&(self.frame)(index)?)?.to_dtype(dtype)
    }

    /// All frames, `[1, 3, frames, height, width]`.
    pub fn clip(&self) -> Result<Tensor> {
        let frames = (0..self.count).map(self.frame).collect::<Result<Vec<_>>>()?;
        Tensor::stack(&frames, 2)
    }
}

/// A rectangle of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Its first row.
    pub top: usize,
    /// Its first column.
    pub left: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Area {
    /// The area of `x`, whose last dimensions are height and width.
    pub fn of(self, x: &Tensor) -> Result<Tensor> {
        let (rows_at, columns_at) = (x.rank() - 2, x.rank() - 1);
        if self.height == x.dim(rows_at)? && self.width == x.dim(columns_at)? {
            return Ok(x.clone());
        }
        let rows = x.narrow(rows_at, self.top, self.height)?;
        rows.narrow(columns_at, self.left, self.width)?.contiguous()
    }
}
