//! The transforms on registers of independent channels.
//!
//! The two-dimensional transforms never hold all 36 points: they compute two rows of points (or
//! outputs) at a time from the input's columns and finish those rows at once. Some inputs are read
//! twice, but no register is spilled, which would cost more.

use crate::simd::Simd;

/// A pair of the six points; both points share their sums.
#[derive(Clone, Copy)]
pub(super) enum Pair {
    /// The points 0 and ∞.
    Ends,
    /// The points ±1.
    Near,
    /// The points ±2.
    Far,
}

impl Pair {
    pub(super) const ALL: [Self; 3] = [Self::Ends, Self::Near, Self::Far];

    /// The rows of the 6×6 that the pair stands for.
    #[inline(always)]
    pub(super) fn rows(self) -> [usize; 2] {
        match self {
            Self::Ends => [0, 5],
            Self::Near => [1, 2],
            Self::Far => [3, 4],
        }
    }
}

/// Two points of `Bᵀ d`, from six inputs.
#[inline(always)]
fn input_pair<S: Simd>(s: S, pair: Pair, d: [S::V; 6]) -> [S::V; 2] {
    match pair {
        Pair::Ends => {
            let (four, five) = (s.splat(4.0), s.splat(5.0));
            [
                s.mul_add(four, d[0], s.neg_mul_add(five, d[2], d[4])),
                s.mul_add(four, d[1], s.neg_mul_add(five, d[3], d[5])),
            ]
        }
        Pair::Near => {
            let four = s.splat(4.0);
            let (even, odd) = (s.neg_mul_add(four, d[2], d[4]), s.neg_mul_add(four, d[1], d[3]));
            [s.add(even, odd), s.sub(even, odd)]
        }
        Pair::Far => {
            let two = s.splat(2.0);
            let (even, odd) = (s.sub(d[4], d[2]), s.sub(d[3], d[1]));
            [s.mul_add(two, odd, even), s.neg_mul_add(two, odd, even)]
        }
    }
}

/// `Bᵀ d`: six inputs to six points.
#[inline(always)]
fn input<S: Simd>(s: S, d: [S::V; 6]) -> [S::V; 6] {
    let [p0, p5] = input_pair(s, Pair::Ends, d);
    let [p1, p2] = input_pair(s, Pair::Near, d);
    let [p3, p4] = input_pair(s, Pair::Far, d);
    [p0, p1, p2, p3, p4, p5]
}

/// Writes `Bᵀ d B` of the 6×6 pixels at `from`, rows `row` and columns `column` floats apart, to 36
/// places `point` floats apart.
///
/// # Safety
/// A register must be readable at every pixel and writable at every place.
#[inline(always)]
pub(super) unsafe fn input_tile<S: Simd>(
    s: S,
    from: *const f32,
    row: usize,
    column: usize,
    to: *mut f32,
    point: usize,
) {
    for pair in Pair::ALL {
        let mut rows = [[s.zero(); 6]; 2];
        for j in 0..6 {
            let mut d = [s.zero(); 6];
            for i in 0..6 {
                // SAFETY: the caller guarantees the pixels. Those a pair does not use are not
                // loaded.
                d[i] = unsafe { s.load(from.add(i * row + j * column)) };
            }
            [rows[0][j], rows[1][j]] = input_pair(s, pair, d);
        }
        for (i, row) in pair.rows().into_iter().zip(rows) {
            let v = input(s, row);
            for j in 0..6 {
                // SAFETY: the caller guarantees the places.
                unsafe { s.store(to.add((6 * i + j) * point), v[j]) };
            }
        }
    }
}

/// `Aᵀ m`: six points to four outputs.
#[inline(always)]
fn output<S: Simd>(s: S, m: [S::V; 6]) -> [S::V; 4] {
    let [o0, o2] = output_even(s, [m[0], m[1], m[2], m[3], m[4]]);
    let [o1, o3] = output_odd(s, [m[1], m[2], m[3], m[4], m[5]]);
    [o0, o1, o2, o3]
}

/// Outputs 0 and 2, from the points 0 to 4.
#[inline(always)]
fn output_even<S: Simd>(s: S, m: [S::V; 5]) -> [S::V; 2] {
    let (near, far) = (s.add(m[1], m[2]), s.add(m[3], m[4]));
    [s.add(s.add(m[0], near), far), s.mul_add(s.splat(4.0), far, near)]
}

/// Outputs 1 and 3, from the points 1 to 5.
#[inline(always)]
fn output_odd<S: Simd>(s: S, m: [S::V; 5]) -> [S::V; 2] {
    let (near, far) = (s.sub(m[0], m[1]), s.sub(m[2], m[3]));
    [s.mul_add(s.splat(2.0), far, near), s.add(s.mul_add(s.splat(8.0), far, near), m[4])]
}

/// Rows `parity` and `parity + 2` of `Aᵀ m A`, from 36 points `point` floats apart.
///
/// # Safety
/// A register must be readable at every point.
#[inline(always)]
pub(super) unsafe fn output_rows<S: Simd>(s: S, parity: usize, from: *const f32, point: usize) -> [[S::V; 4]; 2] {
    let mut rows = [[s.zero(); 6]; 2];
    for j in 0..6 {
        let mut m = [s.zero(); 5];
        for i in 0..5 {
            // SAFETY: the caller guarantees the points.
            m[i] = unsafe { s.load(from.add((6 * (i + parity) + j) * point)) };
        }
        [rows[0][j], rows[1][j]] = if parity == 0 { output_even(s, m) } else { output_odd(s, m) };
    }
    [output(s, rows[0]), output(s, rows[1])]
}

/// `G g`: three weights to six points.
#[inline(always)]
pub(super) fn weight<S: Simd>(s: S, g: [S::V; 3]) -> [S::V; 6] {
    let (quarter, sixth) = (s.splat(0.25), s.splat(1.0 / 6.0));
    let (twelfth, twenty_fourth) = (s.splat(1.0 / 12.0), s.splat(1.0 / 24.0));
    let even = s.mul(s.add(g[0], g[2]), sixth);
    let odd = s.mul(g[1], sixth);
    let far_even = s.mul_add(g[0], twenty_fourth, s.mul(g[2], sixth));
    let far_odd = s.mul(g[1], twelfth);
    let minus_even = s.sub(s.zero(), even);
    [
        s.mul(g[0], quarter),
        s.sub(minus_even, odd),
        s.add(minus_even, odd),
        s.add(far_even, far_odd),
        s.sub(far_even, far_odd),
        g[2],
    ]
}

/// Two points of `A y`, from four output gradients.
#[inline(always)]
fn output_gradient_pair<S: Simd>(s: S, pair: Pair, y: [S::V; 4]) -> [S::V; 2] {
    let (two, four) = (s.splat(2.0), s.splat(4.0));
    let (even, odd) = match pair {
        Pair::Ends => return [y[0], y[3]],
        Pair::Near => (s.add(y[0], y[2]), s.add(y[1], y[3])),
        Pair::Far => (s.mul_add(four, y[2], y[0]), s.mul(two, s.mul_add(four, y[3], y[1]))),
    };
    [s.add(even, odd), s.sub(even, odd)]
}

/// Writes `A y Aᵀ` of the 4×4 pixels at `from`, rows `row` and columns `column` floats apart, to 36
/// places `point` floats apart.
///
/// # Safety
/// A register must be readable at every pixel and writable at every place.
#[inline(always)]
pub(super) unsafe fn output_gradient_tile<S: Simd>(
    s: S,
    from: *const f32,
    row: usize,
    column: usize,
    to: *mut f32,
    point: usize,
) {
    for pair in Pair::ALL {
        let mut rows = [[s.zero(); 4]; 2];
        for j in 0..4 {
            let mut y = [s.zero(); 4];
            for i in 0..4 {
                // SAFETY: the caller guarantees the pixels. Those a pair does not use are not
                // loaded.
                y[i] = unsafe { s.load(from.add(i * row + j * column)) };
            }
            [rows[0][j], rows[1][j]] = output_gradient_pair(s, pair, y);
        }
        for (i, row) in pair.rows().into_iter().zip(rows) {
            for pair in Pair::ALL {
                for (j, v) in pair.rows().into_iter().zip(output_gradient_pair(s, pair, row)) {
                    // SAFETY: the caller guarantees the places.
                    unsafe { s.store(to.add((6 * i + j) * point), v) };
                }
            }
        }
    }
}

/// `Gᵀ u`: six points to three weight gradients.
#[inline(always)]
pub(super) fn weight_gradient<S: Simd>(s: S, u: [S::V; 6]) -> [S::V; 3] {
    let (quarter, sixth) = (s.splat(0.25), s.splat(1.0 / 6.0));
    let (twelfth, twenty_fourth) = (s.splat(1.0 / 12.0), s.splat(1.0 / 24.0));
    let (sum, difference) = (s.add(u[1], u[2]), s.sub(u[2], u[1]));
    let (far_sum, far_difference) = (s.add(u[3], u[4]), s.sub(u[3], u[4]));
    let middle = s.neg_mul_add(sixth, sum, s.mul(far_sum, twenty_fourth));
    [
        s.mul_add(quarter, u[0], middle),
        s.mul_add(sixth, difference, s.mul(far_difference, twelfth)),
        s.add(s.mul(sixth, s.sub(far_sum, sum)), u[5]),
    ]
}
