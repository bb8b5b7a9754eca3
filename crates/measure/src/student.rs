//! Student's t: how wide the interval of a mean is, and which differences a test can find.

use std::f64::consts::{FRAC_2_PI, SQRT_2};

/// Both tails of an interval or a test together.
const ALPHA: f64 = 0.05;
/// How often the test should find a difference: 4 times in 5.
const POWER: f64 = 0.8;
/// Steps of Simpson's rule.
const STEPS: u32 = 2000;

/// How far from 0, in standard errors, 95 % of the means of `freedom + 1` values lie.
pub(crate) fn quantile(freedom: usize) -> f64 {
    root(|t| inside(t, freedom) - (1.0 - ALPHA))
}

/// The smallest mean difference, in standard deviations of single differences, that a two-sided
/// paired t test at 5 % finds 4 times in 5.
pub(crate) fn detectable(pairs: usize) -> f64 {
    let (critical, spreads) = (quantile(pairs - 1), spreads(pairs - 1));
    root(|shift| power(shift, critical, &spreads) - POWER) / (pairs as f64).sqrt()
}

/// The probability that |t| is at most `t`. For whole degrees of freedom it is a finite sum
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn inside(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // Of cosines to the powers 1, 3, …, or 0, 2, …, below `freedom - 1`.
    let (mut term, mut sum, mut power) = if odd { (cosine, 0.0, 1) } else { (1.0, 0.0, 0) };
    while power + 2 <= freedom {
        sum += term;
        power += 2;
        term *= cosine * cosine * (power - 1) as f64 / power as f64;
    }
    if odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

/// The probability that |t| is above `critical` if the mean is `shift` standard errors from 0: the
/// noncentral t distribution, summed over possible measured spreads.
fn power(shift: f64, critical: f64, spreads: &[(f64, f64)]) -> f64 {
    let beyond = |spread: f64| normal_tail(critical * spread - shift) + normal_tail(critical * spread + shift);
    spreads.iter().map(|&(spread, probability)| probability * beyond(spread)).sum()
}

/// Possible ratios of the measured to the true spread, and their probabilities: the nodes and weights
/// of Simpson's rule.
fn spreads(freedom: usize) -> Vec<(f64, f64)> {
    let nu = freedom as f64;
    let scale = 2_f64.ln() + nu / 2.0 * (nu / 2.0).ln() - libm::lgamma(nu / 2.0);
    let density = |spread: f64| match (spread > 0.0, freedom) {
        (false, 1) => scale.exp(),
        (false, _) => 0.0,
        (true, _) => (scale + (nu - 1.0) * spread.ln() - nu * spread * spread / 2.0).exp(),
    };
    // The ratio is about 1, and its standard deviation about 1 / √(2ν).
    let width = 10.0 / (2.0 * nu).sqrt();
    let (from, to) = ((1.0 - width).max(0.0), 1.0 + width);
    let step = (to - from) / f64::from(STEPS);
    let weight = |i: u32| match i {
        0 | STEPS => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let node = |i: u32| {
        let spread = from + f64::from(i) * step;
        (spread, weight(i) * density(spread) * step / 3.0)
    };
    (0..=STEPS).map(node).collect()
}

/// The probability that a normal number is above `z`.
fn normal_tail(z: f64) -> f64 {
    libm::erfc(z / SQRT_2) / 2.0
}

/// Where a rising function that is below 0 at 0 crosses 0.
fn root(rising: impl Fn(f64) -> f64) -> f64 {
    let mut high = 1.0;
    while rising(high) < 0.0 {
        high *= 2.0;
    }
    let mut low = 0.0;
    while high - low > 1e-13 * high {
        let middle = f64::midpoint(low, high);
        if rising(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
