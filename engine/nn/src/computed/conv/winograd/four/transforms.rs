//! The transforms of F(4×4, 3×3) in one dimension, for the points 0, ±1, ±2 and infinity (Lavin and Gray 2016). In two
//! dimensions they are applied to columns, then to rows.

use pulp::Simd;

use super::{PIXELS, SIDE};

/// `G g`, of the values of a kernel.
#[inline(always)]
pub(super) fn kernel<S: Simd>(simd: S, [a, b, c]: [S::f32s; 3]) -> [S::f32s; SIDE] {
    let sixth = simd.splat_f32s(1.0 / 6.0);
    let (ends, middle) = (simd.mul_f32s(sixth, simd.add_f32s(a, c)), simd.mul_f32s(sixth, b));
    let even = simd.mul_add_e_f32s(simd.splat_f32s(1.0 / 24.0), a, simd.mul_f32s(sixth, c));
    let odd = simd.mul_f32s(simd.splat_f32s(1.0 / 12.0), b);
    [
        simd.mul_f32s(simd.splat_f32s(0.25), a),
        simd.neg_f32s(simd.add_f32s(ends, middle)),
        simd.sub_f32s(middle, ends),
        simd.add_f32s(even, odd),
        simd.sub_f32s(even, odd),
        c,
    ]
}

/// `Bᵀ d`, of the pixels of a tile and one on each side.
#[inline(always)]
pub(super) fn input<S: Simd>(simd: S, [a, b, c, d, e, f]: [S::f32s; SIDE]) -> [S::f32s; SIDE] {
    let (two, four) = (simd.splat_f32s(2.0), simd.splat_f32s(4.0));
    let (minus_two, minus_four) = (simd.splat_f32s(-2.0), simd.splat_f32s(-4.0));
    let minus_five = simd.splat_f32s(-5.0);
    let (even, odd) = (simd.mul_add_e_f32s(minus_four, c, e), simd.mul_add_e_f32s(minus_four, b, d));
    let (outer, inner) = (simd.sub_f32s(e, c), simd.sub_f32s(d, b));
    [
        simd.mul_add_e_f32s(four, a, simd.mul_add_e_f32s(minus_five, c, e)),
        simd.add_f32s(even, odd),
        simd.sub_f32s(even, odd),
        simd.mul_add_e_f32s(two, inner, outer),
        simd.mul_add_e_f32s(minus_two, inner, outer),
        simd.mul_add_e_f32s(four, b, simd.mul_add_e_f32s(minus_five, d, f)),
    ]
}

/// `Aᵀ m`, which makes pixels of sums of products.
#[inline(always)]
pub(super) fn pixels<S: Simd>(simd: S, [a, b, c, d, e, f]: [S::f32s; SIDE]) -> [S::f32s; PIXELS] {
    let (two, four, eight) = (simd.splat_f32s(2.0), simd.splat_f32s(4.0), simd.splat_f32s(8.0));
    let (near, far) = (simd.add_f32s(b, c), simd.add_f32s(d, e));
    let (near_odd, far_odd) = (simd.sub_f32s(b, c), simd.sub_f32s(d, e));
    [
        simd.add_f32s(simd.add_f32s(a, near), far),
        simd.mul_add_e_f32s(two, far_odd, near_odd),
        simd.mul_add_e_f32s(four, far, near),
        simd.add_f32s(simd.mul_add_e_f32s(eight, far_odd, near_odd), f),
    ]
}

/// A row of a tile that is held in columns.
#[inline(always)]
pub(super) fn row_of<T: Copy, const ROWS: usize>(columns: &[[T; ROWS]; SIDE], row: usize) -> [T; SIDE] {
    let [a, b, c, d, e, f] = columns;
    [a[row], b[row], c[row], d[row], e[row], f[row]]
}
