//! Linear classifiers that are computed from sums of features, without a gradient: references for
//! methods that learn step by step.

use crate::{Head, Sums, cholesky::Square, sums::row_start};

/// A raw coordinate of 1.
const ONE: f64 = 4096.0;

/// `W f + b`, with a row for each class in the order of their names. `f` is [`Feature::values`](crate::Feature::values).
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// `[class, dimensions]`.
    pub weights: Vec<f32>,
    /// `[class]`.
    pub biases: Vec<f32>,
}

impl Linear {
    /// The Gaussian head: half the negative distances of [`Head::distances`], but for what is the same for all
    /// classes.
    pub fn gaussian(sums: &Sums) -> Self {
        let (head, d) = (Head::new(sums), sums.dimensions());
        let row = |mean: &[f32]| {
            let mut row = vec![0.0; d];
            let mut start = 0;
            for (i, &value) in mean.iter().enumerate() {
                let whitening = &head.whitening()[start..][..=i];
                row.iter_mut().zip(whitening).for_each(|(sum, &w)| *sum += f64::from(w) * f64::from(value));
                start += i + 1;
            }
            row
        };
        let means = || head.means().chunks_exact(d.max(1));
        let bias = |mean: &[f32]| (-0.5 * squared(mean.iter().map(|&value| f64::from(value)))) as f32;
        Self::new(means().map(row), means().map(bias).collect())
    }

    /// The class whose mean is nearest.
    pub fn nearest_mean(sums: &Sums) -> Self {
        let means: Vec<Vec<f64>> =
            sums.classes().values().map(|class| scaled(&class.sum, class.count as f64)).collect();
        let biases = means.iter().map(|mean| (-0.5 * squared(mean.iter().copied())) as f32).collect();
        Self::new(means.into_iter(), biases)
    }

    /// Ridge regression to one-hot targets, without a bias. The penalty is `share` of the mean square of a
    /// coordinate, summed over the photos.
    pub fn ridge(sums: &Sums, share: f64) -> Self {
        let d = sums.dimensions();
        let mut gram = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                gram[i * d + j] = sums.products()[row_start(d, j) + i - j] as f64 / (ONE * ONE);
            }
        }
        let trace: f64 = (0..d).map(|i| gram[i * d + i]).sum();
        let penalty = (share * trace / d.max(1) as f64).max(f64::MIN_POSITIVE);
        (0..d).for_each(|i| gram[i * d + i] += penalty);
        let mut factor = Square { size: d, values: gram };
        factor.factor();
        let inverse = factor.inverse_of_lower();
        let row = |i: usize| &inverse.values[i * d..][..=i];
        let solved = sums.classes().values().map(|class| {
            let target = scaled(&class.sum, 1.0);
            let mut solved = vec![0.0; d];
            for i in 0..d {
                let y: f64 = row(i).iter().zip(&target).map(|(a, b)| a * b).sum();
                solved.iter_mut().zip(row(i)).for_each(|(sum, a)| *sum += a * y);
            }
            solved
        });
        Self::new(solved, vec![0.0; sums.classes().len()])
    }

    fn new(rows: impl Iterator<Item = Vec<f64>>, biases: Vec<f32>) -> Self {
        Self { weights: rows.flatten().map(|value| value as f32).collect(), biases }
    }
}

/// A sum of raw features, divided.
fn scaled(sum: &[i64], by: f64) -> Vec<f64> {
    sum.iter().map(|&value| value as f64 / (by * ONE)).collect()
}

fn squared(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Feature;

    fn photos() -> Vec<(&'static str, Feature)> {
        let photo = |class: &'static str, values: [f32; 3]| (class, Feature::new(&values).unwrap());
        vec![
            photo("a", [3.0, 1.0, 0.2]),
            photo("a", [2.5, 1.2, 0.1]),
            photo("a", [2.8, 0.7, 0.4]),
            photo("b", [0.3, 2.0, 1.0]),
            photo("b", [0.5, 1.7, 1.4]),
            photo("c", [0.1, 0.3, 2.0]),
        ]
    }

    fn sums() -> Sums {
        let mut sums = Sums::new(3);
        photos().iter().for_each(|(class, feature)| sums.add(class, std::slice::from_ref(feature)));
        sums
    }

    fn scores(linear: &Linear, feature: &Feature) -> Vec<f64> {
        let values: Vec<f32> = feature.values().collect();
        let rows = linear.weights.chunks_exact(3).zip(&linear.biases);
        let dot = |row: &[f32]| row.iter().zip(&values).map(|(a, b)| f64::from(a * b)).sum::<f64>();
        rows.map(|(row, bias)| dot(row) + f64::from(*bias)).collect()
    }

    #[test]
    fn the_gaussian_scores_differ_by_half_the_distances() {
        let (sums, head) = (sums(), Head::new(&sums()));
        for (_, feature) in photos() {
            let (scores, distances) = (scores(&Linear::gaussian(&sums), &feature), head.distances(&feature));
            for class in 1..3 {
                let expected = f64::from(distances[0] - distances[class]) / 2.0;
                assert!((scores[class] - scores[0] - expected).abs() < 1e-3 * (1.0 + expected.abs()));
            }
        }
    }

    #[test]
    fn the_nearest_mean_has_the_highest_score() {
        let linear = Linear::nearest_mean(&sums());
        for (class, feature) in photos() {
            let scores = scores(&linear, &feature);
            let best = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
            assert_eq!(["a", "b", "c"][best], class);
        }
    }

    /// Of ridge regression the gradient is zero: `Xᵀ (X w − y) + λ w`.
    #[test]
    fn ridge_regression_is_stationary() {
        let (linear, photos) = (Linear::ridge(&sums(), 0.1), photos());
        let rows: Vec<Vec<f64>> = photos.iter().map(|(_, f)| f.values().map(f64::from).collect()).collect();
        let penalty = 0.1 * rows.iter().flatten().map(|value| value * value).sum::<f64>() / 3.0;
        for (number, class) in ["a", "b", "c"].iter().enumerate() {
            let w: Vec<f64> = linear.weights[3 * number..][..3].iter().map(|&value| f64::from(value)).collect();
            for i in 0..3 {
                let error = |(row, (label, _)): (&Vec<f64>, &(&str, Feature))| {
                    let score: f64 = row.iter().zip(&w).map(|(a, b)| a * b).sum();
                    row[i] * (score - f64::from(u8::from(label == class)))
                };
                let gradient: f64 = rows.iter().zip(&photos).map(error).sum::<f64>() + penalty * w[i];
                assert!(gradient.abs() < 1e-4, "{gradient}");
            }
        }
    }
}
