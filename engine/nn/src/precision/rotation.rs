//! The rotation of ConvRot (arXiv:2512.03673, as in comfy-kitchen): a product with the Kronecker power of a 4×4
//! Hadamard matrix without a column of ones. The matrix is symmetric, and its own inverse once it is divided by
//! its size.

/// Rows of the Hadamard matrix.
const FOUR: [[f32; 4]; 4] =
    [[1.0, 1.0, 1.0, -1.0], [1.0, 1.0, -1.0, 1.0], [1.0, -1.0, 1.0, 1.0], [-1.0, 1.0, 1.0, 1.0]];

/// Rows of its second power.
const SIXTEEN: [[f32; 16]; 16] = {
    let mut rows = [[0.0; 16]; 16];
    let mut place = 0;
    while place < 256 {
        let (row, column) = (place / 16, place % 16);
        rows[row][column] = FOUR[row / 4][column / 4] * FOUR[row % 4][column % 4];
        place += 1;
    }
    rows
};

/// The number at a place of the power of the matrix, 1 or -1.
pub fn sign(row: usize, column: usize) -> f32 {
    let (mut sign, mut row, mut column) = (1.0, row, column);
    while row > 0 || column > 0 {
        sign *= FOUR[row % 4][column % 4];
        (row, column) = (row / 4, column / 4);
    }
    sign
}

/// Multiplies the values by the power of the matrix of their size, which is a power of four. Sums of integers are
/// exact as long as they are below 2²⁴.
#[inline(always)]
pub fn rotate(values: &mut [f32]) {
    // Sixteen neighbours at a time, as a vector: each step of four alone would shuffle them.
    let (runs, few) = values.as_chunks_mut::<16>();
    for run in runs {
        let mut sums = [0.0; 16];
        for (value, row) in run.iter().zip(&SIXTEEN) {
            for (sum, sign) in sums.iter_mut().zip(row) {
                *sum += value * sign;
            }
        }
        *run = sums;
    }
    let mut step = if few.is_empty() { 16 } else { 1 };
    while step < values.len() {
        for run in values.chunks_exact_mut(4 * step) {
            let (low, high) = run.split_at_mut(2 * step);
            let ((first, second), (third, fourth)) = (low.split_at_mut(step), high.split_at_mut(step));
            for (((first, second), third), fourth) in first.iter_mut().zip(second).zip(third).zip(fourth) {
                let [a, b, c, d] = [*first, *second, *third, *fourth];
                [*first, *second, *third, *fourth] =
                    [a + b + c - d, a + b - c + d, a - b + c + d, b + c + d - a];
            }
        }
        step *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_its_own_inverse() {
        for size in [4, 16, 64, 256, 1024] {
            let values: Vec<f32> = (0..size).map(|index| ((index * 37 + 11) % 255) as f32 - 127.0).collect();
            let mut turned = values.clone();
            rotate(&mut turned);
            for (row, value) in turned.iter().enumerate() {
                let product = |(column, value): (usize, &f32)| sign(row, column) * value;
                let sum: f32 = values.iter().enumerate().map(product).sum();
                assert_eq!(*value, sum, "{size}, {row}");
            }
            assert_ne!(turned, values);
            rotate(&mut turned);
            turned.iter_mut().for_each(|value| *value /= size as f32);
            assert_eq!(turned, values);
        }
    }

    #[test]
    fn four_values_are_multiplied_by_the_matrix() {
        let mut values = [1.0, 10.0, 100.0, 1000.0];
        rotate(&mut values);
        assert_eq!(values, [-889.0, 911.0, 1091.0, 1109.0]);
    }
}
