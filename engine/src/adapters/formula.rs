//! Matrices, and the products that adapters use. All sums are in f32, in index order.

/// A row-major matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// `rows · columns` values.
    pub values: Vec<f32>,
}

impl Matrix {
    /// Builds a matrix from values of any shape; the first dimension gives the rows.
    pub fn new(shape: &[usize], values: Vec<f32>) -> Self {
        let rows = shape.first().copied().unwrap_or(1);
        Self { rows, columns: values.len().checked_div(rows).unwrap_or(0), values }
    }

    fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// `self · other`.
    pub fn times(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows, other.columns);
        for (row, out) in product.values.chunks_mut(other.columns.max(1)).enumerate() {
            let factors = &self.values[row * self.columns..][..self.columns];
            for (factor, line) in factors.iter().zip(other.values.chunks(other.columns.max(1))) {
                out.iter_mut().zip(line).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        product
    }

    /// Elementwise product.
    pub fn times_each(mut self, other: &Self) -> Self {
        self.values.iter_mut().zip(&other.values).for_each(|(value, other)| *value *= other);
        self
    }

    /// The transposed matrix.
    pub fn transposed(&self) -> Self {
        let values = (0..self.columns).flat_map(|column| self.column(column)).collect();
        Self { rows: self.columns, columns: self.rows, values }
    }

    fn column(&self, column: usize) -> impl Iterator<Item = f32> {
        (0..self.rows).map(move |row| self.values[row * self.columns + column])
    }

    /// The Kronecker product. Kernels of a convolution, which are columns of `other`, stay together.
    pub fn kronecker(&self, other: &Self) -> Self {
        let mut product = Self::zeros(self.rows * other.rows, self.columns * other.columns);
        let columns = product.columns.max(1);
        for (row, out) in product.values.chunks_mut(columns).enumerate() {
            let (first, second) = (row / other.rows, row % other.rows);
            let factors = &self.values[first * self.columns..][..self.columns];
            let line = &other.values[second * other.columns..][..other.columns];
            for (factor, out) in factors.iter().zip(out.chunks_mut(other.columns.max(1))) {
                out.iter_mut().zip(line).for_each(|(out, value)| *out = factor * value);
            }
        }
        product
    }

    /// A range of rows.
    pub fn rows(&self, rows: std::ops::Range<usize>) -> &[f32] {
        &self.values[rows.start * self.columns..rows.end * self.columns]
    }
}

/// Multiplies a core `[i, j, inner]` from both sides:
/// `out[p, r, inner] = Σ core[i, j, inner] · left[p, i] · right[j, r]`.
pub fn tucker(core: &Matrix, left: &Matrix, right: &Matrix) -> Matrix {
    let inner = core.columns.checked_div(right.rows).unwrap_or(0);
    // First over `i`, whose slices are rows of the core, then over `j`.
    let outer = left.times(core);
    let mut product = Matrix::zeros(left.rows, right.columns * inner);
    for (row, out) in product.values.chunks_mut((right.columns * inner).max(1)).enumerate() {
        let slices = outer.values[row * outer.columns..][..outer.columns].chunks(inner.max(1));
        for (slice, line) in slices.zip(right.values.chunks(right.columns.max(1))) {
            for (factor, out) in line.iter().zip(out.chunks_mut(inner.max(1))) {
                out.iter_mut().zip(slice).for_each(|(sum, value)| *sum += factor * value);
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, values: &[f32]) -> Matrix {
        Matrix::new(&[rows], values.to_vec())
    }

    #[test]
    fn products_are_those_of_the_textbook() {
        let (a, b) = (matrix(2, &[1.0, 2.0, 3.0, 4.0]), matrix(2, &[0.0, 5.0, 6.0, 7.0]));
        assert_eq!(a.times(&b), matrix(2, &[12.0, 19.0, 24.0, 43.0]));
        assert_eq!(a.clone().times_each(&b), matrix(2, &[0.0, 10.0, 18.0, 28.0]));
        assert_eq!(a.transposed(), matrix(2, &[1.0, 3.0, 2.0, 4.0]));
        let expected = [
            0.0, 5.0, 0.0, 10.0, //
            6.0, 7.0, 12.0, 14.0, //
            0.0, 15.0, 0.0, 20.0, //
            18.0, 21.0, 24.0, 28.0,
        ];
        assert_eq!(a.kronecker(&b), matrix(4, &expected));
        assert_eq!(a.rows(1..2), [3.0, 4.0]);
    }

    #[test]
    fn a_core_is_multiplied_on_both_sides() {
        // i = 2, j = 1, inner = 2.
        let core = matrix(2, &[1.0, 2.0, 3.0, 4.0]);
        let (left, right) = (matrix(1, &[10.0, 1.0]), matrix(1, &[1.0, -1.0, 2.0]));
        assert_eq!(tucker(&core, &left, &right), matrix(1, &[13.0, 24.0, -13.0, -24.0, 26.0, 48.0]));
    }
}
