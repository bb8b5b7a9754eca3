//! A symmetric positive definite matrix `A = L · Lᵀ`, and `L⁻¹`.

use crate::dense::product;

/// Rows and columns of a block.
const BLOCK: usize = 64;

/// A square matrix, row by row.
pub(crate) struct Square {
    pub size: usize,
    pub values: Vec<f64>,
}

impl Square {
    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] += value;
    }

    /// Replaces a symmetric positive definite matrix, of which the lower triangle is read, by its
    /// factor `L`. What stands above the diagonal is left alone.
    pub fn factor(&mut self) {
        let d = self.size;
        for first in (0..d).step_by(BLOCK) {
            let end = (first + BLOCK).min(d);
            // What the columns before contribute, row block by row block.
            for top in (first..d).step_by(BLOCK) {
                let rows = BLOCK.min(d - top);
                let mut update = vec![0.0; rows * (end - first)];
                if first > 0 {
                    let value = |row: usize| move |i: usize, k: usize| (row + i, k);
                    let (left, right) = (value(top), value(first));
                    let read = |(row, column): (usize, usize)| self.at(row, column);
                    let width = end - first;
                    let put = |i: usize, j: usize, sum: f64| update[i * width + j] = sum;
                    product(rows, width, first, |i, k| read(left(i, k)), |j, k| read(right(j, k)), put);
                }
                for (i, row) in update.chunks_exact(end - first).enumerate() {
                    row.iter().enumerate().for_each(|(j, sum)| self.add(top + i, first + j, -sum));
                }
            }
            for row in first..d {
                for column in first..end.min(row + 1) {
                    let sum: f64 = (first..column).map(|k| self.at(row, k) * self.at(column, k)).sum();
                    let left = self.at(row, column) - sum;
                    let value = if row == column { left.sqrt() } else { left / self.at(column, column) };
                    self.values[row * d + column] = value;
                }
            }
        }
    }

    /// The inverse of a lower triangular matrix, with zeros above the diagonal.
    pub fn inverse_of_lower(&self) -> Self {
        let d = self.size;
        let mut inverse = Self { size: d, values: vec![0.0; d * d] };
        for first in (0..d).step_by(BLOCK) {
            let end = (first + BLOCK).min(d);
            // Rows `first .. end` of −L · inverse, for the columns that are known.
            let mut known = vec![0.0; (end - first) * first];
            let put = |i: usize, j: usize, sum: f64| known[i * first + j] = -sum;
            product(end - first, first, first, |i, k| self.at(first + i, k), |j, k| inverse.at(k, j), put);
            for row in first..end {
                let scale = 1.0 / self.at(row, row);
                let mut sums = vec![0.0; row + 1];
                sums[..first].copy_from_slice(&known[(row - first) * first..][..first]);
                sums[row] = 1.0;
                for k in first..row {
                    let factor = self.at(row, k);
                    let above = &inverse.values[k * d..][..=k];
                    sums.iter_mut().zip(above).for_each(|(sum, value)| *sum -= factor * value);
                }
                let to = &mut inverse.values[row * d..][..=row];
                to.iter_mut().zip(&sums).for_each(|(to, sum)| *to = sum * scale);
            }
        }
        inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix that looks random.
    fn matrix(size: usize) -> Square {
        let value = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 / 23.0 - 0.5;
        let mut values = vec![0.0; size * size];
        for i in 0..size {
            for j in 0..size {
                values[i * size + j] = (0..size).map(|k| value(i, k) * value(j, k)).sum::<f64>() / size as f64;
            }
            values[i * size + i] += 1.0;
        }
        Square { size, values }
    }

    #[test]
    fn the_factor_and_its_inverse_give_the_matrix_back() {
        for size in [1, 5, 64, 65, 150] {
            let whole = matrix(size);
            let mut factor = Square { size, values: whole.values.clone() };
            factor.factor();
            for i in 0..size {
                for j in 0..=i {
                    let sum: f64 = (0..=j).map(|k| factor.at(i, k) * factor.at(j, k)).sum();
                    assert!((sum - whole.at(i, j)).abs() < 1e-12, "{i}, {j} of {size}");
                }
            }
            let inverse = factor.inverse_of_lower();
            for i in 0..size {
                for j in 0..size {
                    let sum: f64 = (j..=i).map(|k| factor.at(i, k) * inverse.at(k, j)).sum();
                    assert!((sum - f64::from(u8::from(i == j))).abs() < 1e-12, "{i}, {j} of {size}");
                }
            }
        }
    }
}
