//! Dense linear algebra in `f64`, in an order of operations that no processor changes: only
//! additions and multiplications, vectorised over elements that do not depend on each other.

/// Rows and columns of a tile whose sums stay in registers.
const TILE: usize = 4;

/// Hands `Σ_k a(i, k) · b(j, k)`, added in the order of `k`, to `put(i, j, sum)` for all `i < m` and
/// `j < n`.
pub(crate) fn product(
    m: usize,
    n: usize,
    depth: usize,
    a: impl Fn(usize, usize) -> f64,
    b: impl Fn(usize, usize) -> f64,
    mut put: impl FnMut(usize, usize, f64),
) {
    let (left, right) = (pack(m, depth, a), pack(n, depth, b));
    for (i, rows) in left.chunks_exact(depth.max(1)).enumerate() {
        for (j, columns) in right.chunks_exact(depth.max(1)).enumerate() {
            let sums = tile(rows, columns);
            for (r, row) in sums.iter().enumerate().take(m - i * TILE) {
                for (c, sum) in row.iter().enumerate().take(n - j * TILE) {
                    put(i * TILE + r, j * TILE + c, *sum);
                }
            }
        }
    }
}

/// `[rows / TILE][depth][TILE]`, with zeros beyond the last row.
fn pack(rows: usize, depth: usize, value: impl Fn(usize, usize) -> f64) -> Vec<[f64; TILE]> {
    let mut packed = Vec::with_capacity(rows.div_ceil(TILE) * depth);
    for first in (0..rows).step_by(TILE) {
        let lane = |r: usize, k: usize| if first + r < rows { value(first + r, k) } else { 0.0 };
        packed.extend((0..depth).map(|k| std::array::from_fn(|r| lane(r, k))));
    }
    packed
}

fn tile(rows: &[[f64; TILE]], columns: &[[f64; TILE]]) -> [[f64; TILE]; TILE] {
    let mut sums = [[0.0; TILE]; TILE];
    for (row, column) in rows.iter().zip(columns) {
        for r in 0..TILE {
            for c in 0..TILE {
                sums[r][c] += row[r] * column[c];
            }
        }
    }
    sums
}

/// `Σ a · b` in eight sums, which are added at the end.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (whole, rest) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (x, y) in whole.0.iter().zip(rest.0) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let tail: f32 = whole.1.iter().zip(rest.1).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + tail
}

/// `Σ (a − b)²` in eight sums, which are added at the end.
pub(crate) fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
    let (whole, rest) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (x, y) in whole.0.iter().zip(rest.0) {
        for lane in 0..8 {
            sums[lane] += (x[lane] - y[lane]) * (x[lane] - y[lane]);
        }
    }
    let tail: f32 = whole.1.iter().zip(rest.1).map(|(x, y)| (x - y) * (x - y)).sum();
    sums.iter().sum::<f32>() + tail
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "small integers are exact")]

    use super::*;

    #[test]
    fn a_product_is_the_sum_of_products() {
        for (m, n, depth) in [(1, 1, 1), (4, 4, 3), (5, 9, 7), (3, 2, 0)] {
            let (a, b) = (|i: usize, k: usize| (i * 7 + k) as f64, |j: usize, k: usize| (j + 3 * k) as f64 - 4.0);
            let mut seen = vec![f64::NAN; m * n];
            product(m, n, depth, a, b, |i, j, sum| seen[i * n + j] = sum);
            for i in 0..m {
                for j in 0..n {
                    let expected: f64 = (0..depth).map(|k| a(i, k) * b(j, k)).sum();
                    assert!(depth == 0 || seen[i * n + j] == expected, "{i}, {j} of {m}×{n}");
                }
            }
        }
    }

    #[test]
    fn vectors_are_multiplied_and_compared_with_their_tails() {
        let a: Vec<f32> = (0..19).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..19).map(|i| (i % 3) as f32).collect();
        assert_eq!(dot(&a, &b), a.iter().zip(&b).map(|(x, y)| x * y).sum::<f32>());
        assert_eq!(squared_distance(&a, &b), a.iter().zip(&b).map(|(x, y)| (x - y) * (x - y)).sum::<f32>());
    }
}
