//! Register tiles of products of whole numbers. A lane has two numbers of 16 bits or four of 8.
//!
//! Whole numbers add up to the same in any order, so vectors of 256 and of 512 bits give the same bits.

use super::cut::GROUP;

/// A row of the input.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// Its numbers.
    pub lanes: &'a [u32],
    /// What those of each group are multiples of.
    pub units: &'a [f32],
    /// What the sum of each group starts with; 0 where there is none.
    pub starts: &'a [i32],
}

/// Some outputs.
#[derive(Clone, Copy)]
pub struct Panel<'a> {
    /// Numbers, `[lane][output]`.
    pub lanes: &'a [u32],
    /// What those of each group are multiples of, `[group][output]`.
    pub units: &'a [f32],
    /// Outputs, in whole vectors.
    pub width: usize,
}

/// Vectors of 512 bits.
mod wide {
    pub use std::arch::x86_64::{
        __m512 as Floats, __m512i as Numbers, _mm512_cvtepi32_ps as converted,
        _mm512_dpbusd_epi32 as dot_bytes, _mm512_dpwssd_epi32 as dot_words, _mm512_fmadd_ps as scaled_sum,
        _mm512_mul_ps as product, _mm512_set1_epi32 as all, _mm512_set1_ps as all_floats,
        _mm512_setzero_ps as zeros,
    };

    pub const LANES: usize = 16;
}

/// Vectors of 256 bits.
mod narrow {
    pub use std::arch::x86_64::{
        __m256 as Floats, __m256i as Numbers, _mm256_cvtepi32_ps as converted,
        _mm256_dpbusd_avx_epi32 as dot_bytes, _mm256_dpwssd_avx_epi32 as dot_words,
        _mm256_fmadd_ps as scaled_sum, _mm256_mul_ps as product, _mm256_set1_epi32 as all,
        _mm256_set1_ps as all_floats, _mm256_setzero_ps as zeros,
    };
    use std::arch::x86_64::{_mm256_add_epi32, _mm256_madd_epi16};

    pub const LANES: usize = 8;

    /// What VNNI does in one instruction.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn dot_words_in_two(sums: Numbers, vector: Numbers, factor: Numbers) -> Numbers {
        _mm256_add_epi32(sums, _mm256_madd_epi16(vector, factor))
    }
}

/// A function that writes the products of rows and a panel of one to three vectors to `tile`, `[row][output]`: eight rows with
/// vectors of 512 bits, and six with those of 256, of which there are two at most. A lane has so many numbers.
macro_rules! multiply {
    ($name:ident, $features:literal, $vectors:ident, $dot:ident, $numbers:literal) => {
        #[target_feature(enable = $features)]
        #[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
        pub fn $name<const R: usize, const V: usize>(
            rows: &[Row<'_>; R],
            panel: Panel<'_>,
            tile: &mut [f32],
        ) {
            use $vectors::*;
            const LANES_OF_GROUP: usize = GROUP / $numbers;
            let mut totals = [[zeros(); V]; R];
            let vectors = panel.lanes.as_chunks::<LANES>().0.as_chunks::<V>().0;
            let units = panel.units.as_chunks::<LANES>().0.as_chunks::<V>().0;
            for (group, (vectors, units)) in vectors.chunks(LANES_OF_GROUP).zip(units).enumerate() {
                let lanes =
                    |row: usize| rows[row.min(R - 1)].lanes[group * LANES_OF_GROUP..][..vectors.len()].iter();
                // Zipping the rows avoids bounds checks. What is read of rows past the last one is not used.
                let low = lanes(0).zip(lanes(1)).zip(lanes(2).zip(lanes(3)));
                let high = lanes(4).zip(lanes(5)).zip(lanes(6).zip(lanes(7)));
                let mut sums = [[all(0); V]; R];
                for row in 0..R {
                    if let Some(start) = rows[row].starts.get(group) {
                        sums[row] = [all(*start); V];
                    }
                }
                for ((((a, b), (c, d)), ((e, f), (g, h))), vectors) in low.zip(high).zip(vectors) {
                    let vectors =
                        // SAFETY: as many lanes have the size of a vector, and every pattern of bits is a number.
                        vectors.map(|lanes| unsafe { std::mem::transmute::<[u32; LANES], Numbers>(lanes) });
                    let factors = [*a, *b, *c, *d, *e, *f, *g, *h];
                    for row in 0..R {
                        let factor = all(factors[row].cast_signed());
                        for vector in 0..V {
                            sums[row][vector] = $dot(sums[row][vector], vectors[vector], factor);
                        }
                    }
                }
                let units =
                    // SAFETY: as many floats have the size of a vector.
                    units.map(|units| unsafe { std::mem::transmute::<[f32; LANES], Floats>(units) });
                for row in 0..R {
                    let unit = all_floats(rows[row].units[group]);
                    for vector in 0..V {
                        let sum = product(converted(sums[row][vector]), units[vector]);
                        totals[row][vector] = scaled_sum(sum, unit, totals[row][vector]);
                    }
                }
            }
            for (tile, totals) in
                tile.as_chunks_mut::<LANES>().0.as_chunks_mut::<V>().0.iter_mut().zip(totals)
            {
                // SAFETY: as above.
                *tile = totals.map(|total| unsafe { std::mem::transmute::<Floats, [f32; LANES]>(total) });
            }
        }
    };
}

multiply!(words_512, "avx512f,avx512vnni", wide, dot_words, 2);
multiply!(words_256, "avx2,fma,avxvnni", narrow, dot_words, 2);
multiply!(words_in_two, "avx2,fma", narrow, dot_words_in_two, 2);
multiply!(bytes_512, "avx512f,avx512vnni", wide, dot_bytes, 4);
multiply!(bytes_256, "avx2,fma,avxvnni", narrow, dot_bytes, 4);

/// Whether this processor has VNNI with vectors of 256 bits.
pub fn has_vnni_of_256_bits() -> bool {
    is_x86_feature_detected!("avxvnni")
}
