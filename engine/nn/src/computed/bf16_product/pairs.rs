//! Products by the instruction of AVX-512 that multiplies pairs of values and adds in f32.

use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _mm512_add_ps, _mm512_dpbf16_ps, _mm512_loadu_ps, _mm512_set1_epi32,
    _mm512_setzero_ps, _mm512_storeu_ps,
};

use super::{GAP, LANES};

/// Rows of a register tile.
pub const ROWS: usize = 8;

/// Adds the products of rows of weights, `stride` apart, and a panel of one to three vectors to sums in rows of `width`.
#[target_feature(enable = "avx512f,avx512bf16")]
pub fn add(weights: &[u32], stride: usize, panel: &[u32], sums: &mut [f32], width: usize) {
    let depth = stride - GAP;
    let vectors = panel.len() / depth / LANES;
    for strip in (0..weights.len() / stride).step_by(ROWS) {
        let rows = std::array::from_fn(|row| &weights[(strip + row) * stride..][..depth]);
        let sums = &mut sums[strip * width..];
        match vectors {
            1 => add_vectors::<1>(rows, panel, sums, width),
            2 => add_vectors::<2>(rows, panel, sums, width),
            _ => add_vectors::<3>(rows, panel, sums, width),
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn add_vectors<const V: usize>(rows: [&[u32]; ROWS], panel: &[u32], sums: &mut [f32], width: usize) {
    let tile = product::<_, V>(rows, panel.as_chunks::<LANES>().0.as_chunks::<V>().0, |pair| pair);
    for (sums, products) in sums.chunks_mut(width).zip(&tile) {
        for (sums, products) in sums.as_chunks_mut::<LANES>().0.iter_mut().zip(products) {
            // SAFETY: the sums are sixteen floats.
            unsafe {
                let sum = _mm512_add_ps(_mm512_loadu_ps(sums.as_ptr()), *products);
                _mm512_storeu_ps(sums.as_mut_ptr(), sum);
            }
        }
    }
}

/// The products of some rows and a panel `[pair][vector]`; `joint` makes a pair of what a row holds.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
#[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
pub fn product<P: Copy, const V: usize>(
    [a, b, c, d, e, f, g, h]: [&[P]; ROWS],
    panel: &[[[u32; LANES]; V]],
    joint: impl Fn(P) -> u32,
) -> [[__m512; V]; ROWS] {
    let mut sums = [[_mm512_setzero_ps(); V]; ROWS];
    // Zipping the rows avoids bounds checks.
    let low = a.iter().zip(b).zip(c.iter().zip(d));
    let high = e.iter().zip(f).zip(g.iter().zip(h));
    for ((((a, b), (c, d)), ((e, f), (g, h))), vectors) in low.zip(high).zip(panel) {
        // SAFETY: sixteen pairs have the size of a vector, and every pattern of bits is a number.
        let vectors = vectors.map(|pairs| unsafe { std::mem::transmute::<[u32; LANES], __m512bh>(pairs) });
        let factors = [*a, *b, *c, *d, *e, *f, *g, *h];
        for row in 0..ROWS {
            let factors = _mm512_set1_epi32(joint(factors[row]).cast_signed());
            // SAFETY: as above.
            let factors = unsafe { std::mem::transmute::<__m512i, __m512bh>(factors) };
            for vector in 0..V {
                sums[row][vector] = _mm512_dpbf16_ps(sums[row][vector], factors, vectors[vector]);
            }
        }
    }
    sums
}
