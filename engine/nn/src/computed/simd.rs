//! The register tile behind every matrix product of this module.
//!
//! A product is cut into tiles of a few rows by two or three vectors of columns that stay in registers while
//! the sum runs (Goto and van de Geijn 2008). Each entry is summed in one fixed order, so results depend
//! neither on how tiles are scheduled nor on the number of threads.

use std::borrow::Borrow;

use pulp::{Simd, WithSimd};

use crate::instructions::arch;

/// Whether the sums of a register tile have only sixteen registers, together with what is added to them.
#[inline(always)]
const fn is_narrow<S: Simd>() -> bool {
    S::REGISTER_COUNT <= 16
}

/// Rows and vectors of a register tile.
const NARROW: [usize; 2] = [6, 2];
const WIDE: [usize; 2] = [8, 3];

/// Size of the register tile on this CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    /// Rows.
    pub rows: usize,
    /// Vectors of columns.
    pub vectors: usize,
    /// Columns per vector.
    pub lanes: usize,
}

impl Tile {
    /// Detects the tile size of this CPU.
    pub fn detect() -> Self {
        struct Detect;
        impl WithSimd for Detect {
            type Output = Tile;
            #[inline(always)]
            fn with_simd<S: Simd>(self, _: S) -> Tile {
                let [rows, vectors] = if is_narrow::<S>() { NARROW } else { WIDE };
                Tile { rows, vectors, lanes: S::F32_LANES }
            }
        }
        arch().dispatch(Detect)
    }

    /// Columns of a full tile.
    pub fn columns(self) -> usize {
        self.vectors * self.lanes
    }
}

/// Work on register tiles of `R` rows and `V` vectors, compiled once for each instruction set.
pub(super) trait Tiled {
    /// Does the work. It must be inlined, and so must the vector functions it calls.
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S);
}

/// Runs `work` with the vector instructions of this CPU.
pub(super) fn run(work: impl Tiled) {
    struct Run<T>(T);
    impl<T: Tiled> WithSimd for Run<T> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            if is_narrow::<S>() {
                self.0.run::<S, { NARROW[0] }, { NARROW[1] }>(simd)
            } else {
                self.0.run::<S, { WIDE[0] }, { WIDE[1] }>(simd)
            }
        }
    }
    arch().dispatch(Run(work));
}

/// The destination of the rows of a product.
pub(super) trait Rows<S: Simd> {
    /// Takes one row. It must be `#[inline(always)]`, and how long its loops are must follow from `V`, or the product does not
    /// stay in registers.
    fn take<const V: usize>(&mut self, simd: S, row: usize, values: &[S::f32s; V]);
}

/// Multiplies `columns`, the columns of an `R`-row matrix, with the rows of `panel`, each `vectors` vectors
/// wide.
#[inline(always)]
pub(super) fn product<S: Simd, const R: usize, const V: usize>(
    simd: S,
    columns: impl Iterator<Item: Borrow<[f32; R]>>,
    (panel, vectors): (&[f32], usize),
    mut out: impl Rows<S>,
) {
    match vectors {
        1 => hand_out(simd, &sum::<S, 1, R>(simd, columns, panel), &mut out),
        2 => hand_out(simd, &sum::<S, 2, R>(simd, columns, panel), &mut out),
        _ => hand_out(simd, &sum::<S, V, R>(simd, columns, panel), &mut out),
    }
}

#[inline(always)]
fn hand_out<S: Simd, const V: usize, const R: usize>(
    simd: S,
    tile: &[[S::f32s; V]; R],
    out: &mut impl Rows<S>,
) {
    // Not a loop: a variable index would spill the whole tile to memory.
    out.take(simd, 0, &tile[0]);
    out.take(simd, 1, &tile[1]);
    out.take(simd, 2, &tile[2]);
    out.take(simd, 3, &tile[3]);
    out.take(simd, 4, &tile[4]);
    out.take(simd, 5, &tile[5]);
    if R == 8 {
        out.take(simd, 6, &tile[6 % R]);
        out.take(simd, 7, &tile[7 % R]);
    }
}

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
fn sum<S: Simd, const V: usize, const R: usize>(
    simd: S,
    columns: impl Iterator<Item: Borrow<[f32; R]>>,
    panel: &[f32],
) -> [[S::f32s; V]; R] {
    let mut sums = [[simd.splat_f32s(0.0); V]; R];
    for (column, vectors) in columns.zip(S::as_simd_f32s(panel).0.as_chunks::<V>().0) {
        for row in 0..R {
            let factor = simd.splat_f32s(column.borrow()[row]);
            for vector in 0..V {
                sums[row][vector] = simd.mul_add_e_f32s(factor, vectors[vector], sums[row][vector]);
            }
        }
    }
    sums
}

/// The first `vectors` vectors of `values`.
#[inline(always)]
pub(super) fn vectors_of<S: Simd>(values: &[f32], vectors: usize) -> &[S::f32s] {
    S::as_simd_f32s(&values[..vectors * S::F32_LANES]).0
}

/// The first `vectors` vectors of `values`.
#[inline(always)]
pub(super) fn vectors_of_mut<S: Simd>(values: &mut [f32], vectors: usize) -> &mut [S::f32s] {
    S::as_mut_simd_f32s(&mut values[..vectors * S::F32_LANES]).0
}

/// Stores a product in existing rows `stride` apart.
pub(super) struct Store<'a> {
    pub out: &'a mut [f32],
    pub stride: usize,
    pub rows: usize,
}

impl<S: Simd> Rows<S> for Store<'_> {
    #[inline(always)]
    fn take<const V: usize>(&mut self, _: S, row: usize, values: &[S::f32s; V]) {
        if row < self.rows {
            vectors_of_mut::<S>(&mut self.out[row * self.stride..], V).copy_from_slice(values);
        }
    }
}

/// [`product`] with a left-hand side of `R` rows of equal length.
#[inline(always)]
pub(super) fn product_of_rows<S: Simd, const R: usize, const V: usize>(
    simd: S,
    rows: [&[f32]; R],
    (panel, vectors): (&[f32], usize),
    mut out: impl Rows<S>,
) {
    match vectors {
        1 => hand_out(simd, &sum_of_rows::<S, 1, R>(simd, rows, panel), &mut out),
        2 => hand_out(simd, &sum_of_rows::<S, 2, R>(simd, rows, panel), &mut out),
        _ => hand_out(simd, &sum_of_rows::<S, V, R>(simd, rows, panel), &mut out),
    }
}

/// [`sum`] of rows. It is a loop of its own because the factors, as an array that an iterator returns, would pass through
/// memory.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
fn sum_of_rows<S: Simd, const V: usize, const R: usize>(
    simd: S,
    rows: [&[f32]; R],
    panel: &[f32],
) -> [[S::f32s; V]; R] {
    // Zipping the rows avoids bounds checks. What is read of rows past the last one is not used.
    let row = |row: usize| rows[row.min(R - 1)].iter();
    let low = row(0).zip(row(1)).zip(row(2).zip(row(3)));
    let high = row(4).zip(row(5)).zip(row(6).zip(row(7)));
    let columns = low.zip(high).zip(S::as_simd_f32s(panel).0.as_chunks::<V>().0);
    let mut sums = [[simd.splat_f32s(0.0); V]; R];
    for ((((a, b), (c, d)), ((e, f), (g, h))), vectors) in columns {
        let factors = [*a, *b, *c, *d, *e, *f, *g, *h];
        for row in 0..R {
            let factor = simd.splat_f32s(factors[row]);
            for vector in 0..V {
                sums[row][vector] = simd.mul_add_e_f32s(factor, vectors[vector], sums[row][vector]);
            }
        }
    }
    sums
}

/// `R` rows of `length` values, `stride` apart in `values`. Rows past the end repeat the last row.
#[inline(always)]
pub(super) fn rows_of<const R: usize>(values: &[f32], stride: usize, length: usize) -> [&[f32]; R] {
    let last = (values.len() - length) / stride;
    std::array::from_fn(|row| &values[row.min(last) * stride..][..length])
}

/// Coefficients, highest power first, of the polynomial nearest to `2^x` from -1/2 to 1/2 that is exact at
/// zero.
const EXP2: [f32; 7] =
    [1.535_336_2e-4, 1.339_887_5e-3, 9.618_437e-3, 0.055_503_324, 0.240_226_48, std::f32::consts::LN_2, 1.0];

/// `2^x` for `x` up to 127, and zero below -127; the relative error is below 2e-7.
#[inline(always)]
pub(super) fn exp2<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    // Adding this to a number leaves its nearest integer in the lowest bits of the mantissa.
    let magic = simd.splat_f32s(12_582_912.0);
    let x = simd.max_f32s(simd.splat_f32s(-127.0), x);
    let shifted = simd.add_f32s(x, magic);
    let rest = simd.sub_f32s(x, simd.sub_f32s(shifted, magic));
    let mut power = simd.splat_f32s(EXP2[0]);
    for coefficient in &EXP2[1..] {
        power = simd.mul_add_e_f32s(power, rest, simd.splat_f32s(*coefficient));
    }
    let exponent = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(23));
    simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(power), exponent))
}
