//! Functions that no processor has an instruction for.

use crate::simd::Simd;

/// Numerator and denominator of `erf(x) / x` in `x²`, the highest power first: from Eigen, for |x| ≤ 4.
const NUMERATOR: [f32; 7] = [
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
];
const DENOMINATOR: [f32; 5] =
    [-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03, -1.42647390514189e-02];

#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, x: S::V, coefficients: [f32; N]) -> S::V {
    let mut sum = simd.splat(coefficients[0]);
    for coefficient in &coefficients[1..] {
        sum = simd.mul_add(sum, x, simd.splat(*coefficient));
    }
    sum
}

/// `x/2 · (1 + erf(x / √2))`: the exact GELU, to a few units of the last place of x.
#[inline(always)]
pub(crate) fn gelu<S: Simd>(simd: S, x: S::V) -> S::V {
    let limited = simd.mul(x, simd.splat(std::f32::consts::FRAC_1_SQRT_2));
    let limited = simd.min(simd.max(limited, simd.splat(-4.0)), simd.splat(4.0));
    let square = simd.mul(limited, limited);
    let erf = simd.div(polynomial(simd, square, NUMERATOR), polynomial(simd, square, DENOMINATOR));
    let half = simd.mul(x, simd.splat(0.5));
    simd.mul_add(half, simd.mul(limited, erf), half)
}

/// `eˣ` for x ≤ 0, to a few units of the last place; 0 below −87. Without a branch, so that loops of it
/// become vector instructions.
#[inline(always)]
pub(crate) fn exp_of_negative(x: f32) -> f32 {
    /// Adding it rounds to an integer, whose value is then in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    const LN2_HIGH: f32 = 0.693_359_375;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let limited = x.max(-87.0);
    let shifted = limited * std::f32::consts::LOG2_E + ROUND;
    let power = shifted - ROUND;
    let rest = limited - power * LN2_HIGH - power * LN2_LOW;
    let mut sum = 1.987_569_1e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5, 1.0, 1.0] {
        sum = sum * rest + coefficient;
    }
    let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    let value = sum * scale;
    if x < -87.0 { 0.0 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::portable::Portable;

    /// The series, in double precision.
    fn erf(x: f64) -> f64 {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        if x.abs() > 4.0 { x.signum() } else { sum * 2.0 / std::f64::consts::PI.sqrt() }
    }

    #[test]
    fn gelu_is_exact() {
        for i in -4000..=4000 {
            let x = i as f32 / 400.0;
            let exact = f64::from(x) / 2.0 * (1.0 + erf(f64::from(x) / std::f64::consts::SQRT_2));
            let found = f64::from(gelu(Portable, Portable.splat(x))[0]);
            assert!((found - exact).abs() < 2e-7 * (1.0 + f64::from(x.abs())), "{found} for {exact} at {x}");
        }
    }

    #[test]
    fn the_exponential_is_exact() {
        for i in 0..=8700 {
            let x = -(i as f32) / 100.0;
            let (found, exact) = (f64::from(exp_of_negative(x)), f64::from(x).exp());
            assert!((found - exact).abs() <= 3e-7 * exact, "{found} for {exact} at {x}");
        }
        assert_eq!((exp_of_negative(-88.0), exp_of_negative(f32::NEG_INFINITY)), (0.0, 0.0));
    }
}
