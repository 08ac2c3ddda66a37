//! What numbers of one width are made of, and how they are multiplied.

use pulp::Simd;

use super::{
    super::operands::Weights,
    cut::Width,
    tile::{Panel, Row},
};

/// Numbers of one width.
pub trait Numbers: Copy + Send + Sync {
    const WIDTH: Width;

    /// Writes values of the input as numbers, what the numbers of each group are multiples of, and what the sum of each group
    /// starts with, if there is room for it.
    fn write<S: Simd>(
        self,
        simd: S,
        values: &[f32],
        lanes: &mut [u32],
        units: &mut [f32],
        starts: &mut [i32],
    );

    /// Writes weights from a place on as numbers, and what those of each group are multiples of. `wide` has room for so many
    /// floats.
    fn take<S: Simd>(
        self,
        simd: S,
        weights: Weights<'_>,
        start: usize,
        wide: &mut [f32],
        lanes: &mut [u32],
        units: &mut [f32],
    );

    /// Writes the products of rows and a panel to `tile`, `[row][output]`.
    ///
    /// # Safety
    /// The processor has what [`can_multiply`](super::can_multiply) asks for, and there are eight rows with vectors of 512 bits and
    /// panels of one to three of them, or six with those of 256 and panels of one or two.
    unsafe fn multiply<const R: usize>(self, rows: &[Row<'_>; R], panel: Panel<'_>, tile: &mut [f32]);
}
