//! The bootstrap: how much a mean varies if its values are drawn again, with replacement.

/// How many samples are drawn, each of the size of the data.
const DRAWS: usize = 10_000;
/// Always the same, so that an interval is the same every time.
const SEED: u64 = 20_250_601;
/// Both tails together.
const ALPHA: f64 = 0.05;

/// The 95 % percentile interval of the mean of some values.
///
/// It assumes no distribution, but knows only values that were seen: with few values it is too narrow.
pub(crate) fn interval(values: &[f64]) -> [f64; 2] {
    let mut draws = Draws(SEED);
    let mut mean = || (0..values.len()).map(|_| values[draws.below(values.len())]).sum::<f64>() / values.len() as f64;
    let mut means: Vec<f64> = (0..DRAWS).map(|_| mean()).collect();
    means.sort_by(f64::total_cmp);
    [quantile(&means, ALPHA / 2.0), quantile(&means, 1.0 - ALPHA / 2.0)]
}

/// A quantile of sorted values, interpolated between the two nearest.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// Random numbers by Steele, Lea and Flood's `SplitMix64`, which is a few lines in any language.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_lies_about_the_mean_and_within_the_values() {
        let values = [0.5, 1.0, 2.5, -0.5, 1.5, 1.0];
        let [low, high] = interval(&values);
        assert!(-0.5 < low && low < 1.0 && 1.0 < high && high < 2.5, "{low} {high}");
        assert_eq!(Some(interval(&values)), Some([low, high]), "the same every time");
        assert_eq!(Some(interval(&[3.0, 3.0])), Some([3.0, 3.0]));
    }
}
