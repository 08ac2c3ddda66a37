//! Rows written as columns: the transposition behind the panels of matrix products.

use super::simd::Tile;

/// The most rows that are written together.
pub(super) const MOST: usize = 16;

/// Writes rows of equal length as columns of `out`, whose rows are `stride` long: as many of them as a vector has lanes.
pub(super) fn columns_of(rows: &[&[u32]; MOST], out: &mut [u32], stride: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use pulp::{Simd, x86::Arch};

        use crate::instructions::arch;

        match arch() {
            Arch::V4(simd) => return Simd::vectorize(simd, x86::Sixteen { simd, rows, out, stride }),
            Arch::V3(simd) => return Simd::vectorize(simd, x86::Eight { simd, rows, out, stride }),
            _ => {}
        }
    }
    one_by_one(rows, 0, out, stride, Tile::detect().lanes);
}

/// The same from a place of the rows on, for some of them.
#[inline(always)]
fn one_by_one(rows: &[&[u32]; MOST], first: usize, out: &mut [u32], stride: usize, count: usize) {
    for (place, out) in out.chunks_mut(stride).enumerate().take(rows[0].len()).skip(first) {
        for (out, row) in out.iter_mut().zip(rows).take(count) {
            *out = row[place];
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
mod x86 {
    use std::arch::x86_64::{__m256, __m512, __m512d};

    use pulp::{
        Simd, WithSimd, cast,
        x86::{V3, V4},
    };

    use super::{MOST, one_by_one};

    /// Sixteen rows, in squares of sixteen values.
    pub struct Sixteen<'a> {
        pub simd: V4,
        pub rows: &'a [&'a [u32]; MOST],
        pub out: &'a mut [u32],
        pub stride: usize,
    }

    impl WithSimd for Sixteen<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self { simd, rows, out, stride } = self;
            let avx = simd.avx512f;
            let zero: __m512 = cast([0_u32; 16]);
            let whole = rows[0].len() / 16 * 16;
            for place in (0..whole).step_by(16) {
                let (mut a, mut b) = ([zero; 16], [zero; 16]);
                for row in 0..16 {
                    let mut values = [0_u32; 16];
                    values.copy_from_slice(&rows[row][place..place + 16]);
                    a[row] = cast(values);
                }
                for pair in 0..8 {
                    let [low, high] = [a[2 * pair], a[2 * pair + 1]];
                    b[2 * pair] = avx._mm512_unpacklo_ps(low, high);
                    b[2 * pair + 1] = avx._mm512_unpackhi_ps(low, high);
                }
                for four in [0, 4, 8, 12] {
                    let [c, d, e, f] = [0, 1, 2, 3].map(|one| -> __m512d { cast(b[four + one]) });
                    a[four] = cast(avx._mm512_unpacklo_pd(c, e));
                    a[four + 1] = cast(avx._mm512_unpackhi_pd(c, e));
                    a[four + 2] = cast(avx._mm512_unpacklo_pd(d, f));
                    a[four + 3] = cast(avx._mm512_unpackhi_pd(d, f));
                }
                for half in [0, 8] {
                    for one in half..half + 4 {
                        b[one] = avx._mm512_shuffle_f32x4::<0x88>(a[one], a[one + 4]);
                        b[one + 4] = avx._mm512_shuffle_f32x4::<0xdd>(a[one], a[one + 4]);
                    }
                }
                for one in 0..8 {
                    a[one] = avx._mm512_shuffle_f32x4::<0x88>(b[one], b[one + 8]);
                    a[one + 8] = avx._mm512_shuffle_f32x4::<0xdd>(b[one], b[one + 8]);
                }
                for row in 0..16 {
                    let values: [u32; 16] = cast(a[row]);
                    out[(place + row) * stride..][..16].copy_from_slice(&values);
                }
            }
            one_by_one(rows, whole, out, stride, 16);
        }
    }

    /// Eight rows, in squares of eight values.
    pub struct Eight<'a> {
        pub simd: V3,
        pub rows: &'a [&'a [u32]; MOST],
        pub out: &'a mut [u32],
        pub stride: usize,
    }

    impl WithSimd for Eight<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self { simd, rows, out, stride } = self;
            let avx = simd.avx;
            let zero: __m256 = cast([0_u32; 8]);
            let whole = rows[0].len() / 8 * 8;
            for place in (0..whole).step_by(8) {
                let (mut a, mut b) = ([zero; 8], [zero; 8]);
                for row in 0..8 {
                    let mut values = [0_u32; 8];
                    values.copy_from_slice(&rows[row][place..place + 8]);
                    a[row] = cast(values);
                }
                for pair in 0..4 {
                    let [low, high] = [a[2 * pair], a[2 * pair + 1]];
                    b[2 * pair] = avx._mm256_unpacklo_ps(low, high);
                    b[2 * pair + 1] = avx._mm256_unpackhi_ps(low, high);
                }
                for four in [0, 4] {
                    let [c, d, e, f] = [0, 1, 2, 3].map(|one| b[four + one]);
                    a[four] = avx._mm256_shuffle_ps::<0x44>(c, e);
                    a[four + 1] = avx._mm256_shuffle_ps::<0xee>(c, e);
                    a[four + 2] = avx._mm256_shuffle_ps::<0x44>(d, f);
                    a[four + 3] = avx._mm256_shuffle_ps::<0xee>(d, f);
                }
                for one in 0..4 {
                    b[one] = avx._mm256_permute2f128_ps::<0x20>(a[one], a[one + 4]);
                    b[one + 4] = avx._mm256_permute2f128_ps::<0x31>(a[one], a[one + 4]);
                }
                for row in 0..8 {
                    let values: [u32; 8] = cast(b[row]);
                    out[(place + row) * stride..][..8].copy_from_slice(&values);
                }
            }
            one_by_one(rows, whole, out, stride, 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen rows of distinct values, and the first `count` of them as columns of rows of `stride`.
    fn case(length: usize, count: usize, stride: usize) -> (Vec<u32>, Vec<u32>) {
        let rows: Vec<u32> = (0..(MOST * length) as u32).collect();
        let mut out = vec![u32::MAX; length * stride];
        for (place, out) in out.chunks_mut(stride).enumerate() {
            out[..count].iter_mut().enumerate().for_each(|(row, out)| *out = rows[row * length + place]);
        }
        (rows, out)
    }

    fn split(rows: &[u32], length: usize) -> [&[u32]; MOST] {
        std::array::from_fn(|row| &rows[row * length..][..length])
    }

    #[test]
    fn rows_become_columns() {
        let lanes = Tile::detect().lanes;
        for length in [1, 7, 8, 16, 17, 31, 48, 100] {
            for stride in [lanes, 3 * lanes, 40] {
                let (rows, want) = case(length, lanes, stride);
                let mut out = vec![u32::MAX; length * stride];
                columns_of(&split(&rows, length), &mut out, stride);
                assert_eq!(out, want);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn eight_rows_become_columns() {
        use pulp::{Simd, x86::V3};

        let Some(simd) = V3::try_new() else { return };
        for length in [1, 8, 17, 48] {
            let (rows, want) = case(length, 8, 24);
            let mut out = vec![u32::MAX; length * 24];
            let rows = split(&rows, length);
            Simd::vectorize(simd, x86::Eight { simd, rows: &rows, out: &mut out, stride: 24 });
            assert_eq!(out, want);
        }
    }
}
