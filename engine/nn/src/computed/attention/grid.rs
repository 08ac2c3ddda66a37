//! Attention to the places of a grid, with a bias for each of its rows and each of its columns.

use std::ops::Range;

use candle_core::{DType, Result, Tensor, bail};

use super::{
    super::cpu::{by_processor, contiguous, values},
    Added, Most, Scores, check, fused, plain,
};

/// Unmasked [`attention`](super::attention) over the places of a grid, row by row, to whose scores two biases are added: that
/// of the query and the key's row, `rows` `[batch, tokens, heads, rows of keys]`, and that of the query and the key's column,
/// `columns` `[batch, tokens, heads, columns of keys]`.
pub fn attention_with_grid_bias(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    rows: &Tensor,
    columns: &Tensor,
) -> Result<Tensor> {
    check(q, k, v)?;
    let (batch, tokens, heads, width) = q.dims4()?;
    let keys = k.dim(1)?;
    let sides = [rows.dim(3)?, columns.dim(3)?];
    let fits = |(bias, side): (&Tensor, usize)| bias.dims() == [batch, tokens, heads, side];
    if sides[0] * sides[1] != keys || ![(rows, sides[0]), (columns, sides[1])].into_iter().all(fits) {
        bail!(
            "biases of shapes {:?} and {:?} for {tokens} queries and {keys} keys of {heads} heads",
            rows.dims(),
            columns.dims()
        );
    }
    let divisor = (width as f64).sqrt();
    if by_processor(q) {
        // The queries of a key are next to each other, as its scores are.
        let turned = |bias: &Tensor| contiguous(&bias.to_dtype(DType::F32)?.permute((0, 2, 3, 1))?);
        let (rows, columns) = (turned(rows)?, turned(columns)?);
        let held = (rows.storage_and_layout(), columns.storage_and_layout());
        let grid = Grid { rows: values(&held.0)?, columns: values(&held.1)?, sides, tokens };
        return fused(q, k, v, Scores { grid: Some(grid), ..Scores::new(divisor) });
    }
    plain([q, k, v], divisor, Added::Grid([rows, columns]), Most::USUAL)
}

/// Scores `[batch, heads, queries, keys]` of a range of queries with the biases of a grid.
pub(super) fn add_to_all(
    scores: Tensor,
    [rows, columns]: [&Tensor; 2],
    queries: &Range<usize>,
) -> Result<Tensor> {
    let (batch, heads, count, keys) = scores.dims4()?;
    let part = |bias: &Tensor| -> Result<Tensor> {
        bias.narrow(1, queries.start, queries.len())?.to_dtype(scores.dtype())?.transpose(1, 2)
    };
    let (rows, columns) = (part(rows)?.unsqueeze(4)?, part(columns)?.unsqueeze(3)?);
    let places = (batch, heads, count, rows.dim(3)?, columns.dim(4)?);
    let half = scores.reshape(places)?.broadcast_add(&rows)?;
    drop(scores);
    half.broadcast_add(&columns)?.reshape((batch, heads, count, keys))
}

/// The biases of queries for the rows and the columns of a grid of keys.
#[derive(Clone, Copy)]
pub(super) struct Grid<'a> {
    /// `[batch, heads, rows, tokens]`.
    rows: &'a [f32],
    /// `[batch, heads, columns, tokens]`.
    columns: &'a [f32],
    /// The number of rows and of columns.
    sides: [usize; 2],
    tokens: usize,
}

impl<'a> Grid<'a> {
    /// Those of one head, counted over the batch.
    pub fn head(self, head: usize) -> Self {
        let of_head = |values: &'a [f32], side: usize| {
            let length = side * self.tokens;
            &values[head * length..][..length]
        };
        let [rows, columns] = self.sides;
        Self { rows: of_head(self.rows, rows), columns: of_head(self.columns, columns), ..self }
    }

    /// Adds the biases of some queries and keys of this head to their scores, for a softmax with base 2. Each key has `width`
    /// scores, of which the first ones are those of the queries.
    #[inline(always)]
    pub fn add_to(self, scores: &mut [f32], width: usize, keys: Range<usize>, queries: &Range<usize>) {
        let of = |values: &'a [f32], place: usize| &values[place * self.tokens..][queries.clone()];
        let across = self.sides[1];
        let (mut row, mut column) = (keys.start / across, keys.start % across);
        for scores in scores.chunks_exact_mut(width).take(keys.len()) {
            let biases = of(self.rows, row).iter().zip(of(self.columns, column));
            for (score, (of_row, of_column)) in scores.iter_mut().zip(biases) {
                *score += (of_row + of_column) * std::f32::consts::LOG2_E;
            }
            column += 1;
            if column == across {
                (row, column) = (row + 1, 0);
            }
        }
    }
}
