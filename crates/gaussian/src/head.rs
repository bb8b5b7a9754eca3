//! What predicts: class means and photos in coordinates in which the shared covariance is the
//! identity.

use crate::{
    Feature, Sums,
    cholesky::Square,
    dense::{dot, product, squared_distance},
    sums::{row_start, triangle},
};

/// How far the covariance is shrunk to a multiple of the identity. Half is at or above a linear probe
/// on all sets that were tried; estimators of the Ledoit-Wolf type choose too little.
const SHRINKAGE: f64 = 0.5;
/// A raw coordinate of 1.
const ONE: f64 = 4096.0;

/// A head, computed from [`Sums`]: a function of them alone, the same bits on every processor.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    dimensions: usize,
    names: Vec<String>,
    /// The lower triangle of the matrix that whitens a feature, row by row.
    whitening: Vec<f32>,
    /// `[class, dimensions]`.
    means: Vec<f32>,
}

impl Head {
    /// The head of these sums. Classes are in the order of their names.
    pub fn new(sums: &Sums) -> Self {
        let d = sums.dimensions();
        let whitening = whitening(sums);
        let names = sums.classes().keys().cloned().collect();
        let means = sums.classes().values().flat_map(|class| {
            let scale = 1.0 / (class.count as f64 * ONE);
            let mean: Vec<f64> = class.sum.iter().map(|&sum| sum as f64 * scale).collect();
            let row = |i: usize| -> f64 { whitening.row(i).iter().zip(&mean).map(|(a, b)| a * b).sum() };
            (0..d).map(|i| row(i) as f32).collect::<Vec<f32>>()
        });
        let means = means.collect();
        let whitening = (0..d).flat_map(|i| whitening.row(i)).map(|&value| value as f32).collect();
        Self { dimensions: d, names, whitening, means }
    }

    /// As it was kept. None if the parts do not fit together or are not finite.
    pub fn from_parts(dimensions: usize, names: Vec<String>, whitening: Vec<f32>, means: Vec<f32>) -> Option<Self> {
        let fits = whitening.len() == triangle(dimensions) && Some(means.len()) == names.len().checked_mul(dimensions);
        let finite = whitening.iter().chain(&means).all(|value| value.is_finite());
        (fits && finite).then_some(Self { dimensions, names, whitening, means })
    }

    /// Coordinates of a feature.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The classes, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The lower triangle of the whitening matrix, row by row.
    pub fn whitening(&self) -> &[f32] {
        &self.whitening
    }

    /// The whitened class means, `[class, dimensions]`.
    pub fn means(&self) -> &[f32] {
        &self.means
    }

    /// The squared Mahalanobis distance of a photo to each class mean. The log-probability of a class
    /// is, but for a constant, half of it with the sign changed: see [`Head::probabilities`].
    ///
    /// # Panics
    /// If the feature has another number of coordinates.
    pub fn distances(&self, feature: &Feature) -> Vec<f32> {
        assert_eq!(feature.dimensions(), self.dimensions, "features of one network");
        let values: Vec<f32> = feature.values().collect();
        let mut start = 0;
        let white = (0..self.dimensions).map(|row| {
            let of_row = &self.whitening[start..][..=row];
            start += row + 1;
            dot(of_row, &values[..=row])
        });
        let white: Vec<f32> = white.collect();
        self.means.chunks_exact(self.dimensions.max(1)).map(|mean| squared_distance(&white, mean)).collect()
    }

    /// The distances of a photo that was learned as class `own`, as a head would have them that has not learned it,
    /// but for a factor that all have in common. `of_class` and `all` count the photos of its class and of all
    /// classes. None for the only photo of a class.
    ///
    /// The class mean and the covariance without one photo follow by formulas of rank one; that the multiple of the
    /// identity changes a little is left out.
    pub fn distances_without(&self, feature: &Feature, own: usize, of_class: usize, all: usize) -> Option<Vec<f64>> {
        let classes = self.names.len();
        if of_class < 2 || all <= classes {
            return None;
        }
        let distances: Vec<f64> = self.distances(feature).into_iter().map(f64::from).collect();
        let mean = |class: usize| &self.means[class * self.dimensions..][..self.dimensions];
        // The photo's share of the covariance is `share` times the square of its difference to the class mean.
        let n = of_class as f64;
        let share = (1.0 - SHRINKAGE) * n / ((n - 1.0) * (all - classes) as f64);
        let rest = 1.0 - share * distances[own];
        if rest <= 0.0 {
            return None;
        }
        let without = |class: usize| {
            if class == own {
                return (n / (n - 1.0)).powi(2) * distances[own] / rest;
            }
            let between = f64::from(squared_distance(mean(own), mean(class)));
            let inner = (distances[class] + distances[own] - between) / 2.0;
            distances[class] + share * inner * inner / rest
        };
        Some((0..classes).map(without).collect())
    }

    /// Probabilities of the classes at a temperature: 1 as the model has them, more for less certain
    /// ones.
    pub fn probabilities(distances: &[f32], temperature: f64) -> Vec<f64> {
        let smallest = distances.iter().copied().fold(f32::INFINITY, f32::min);
        let weight = |&distance: &f32| (f64::from(smallest - distance) / (2.0 * temperature)).exp();
        let weights: Vec<f64> = distances.iter().map(weight).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }
}

/// The inverse of the factor of the shrunk covariance.
fn whitening(sums: &Sums) -> Lower {
    let (d, classes) = (sums.dimensions(), sums.classes());
    // `Σ_c s_c · s_cᵀ / n_c`, which is what the class means explain of the products.
    let scaled: Vec<(f64, &[i64])> = classes.values().map(|class| (1.0 / class.count as f64, &class.sum[..])).collect();
    let mut covariance = vec![0.0; d * d];
    let put = |i: usize, j: usize, sum: f64| {
        if j <= i {
            covariance[i * d + j] = sums.products()[row_start(d, j) + i - j] as f64 - sum;
        }
    };
    product(d, d, scaled.len(), |i, c| scaled[c].0 * scaled[c].1[i] as f64, |j, c| scaled[c].1[j] as f64, put);
    let freedom = sums.count().saturating_sub(classes.len() as u64) as f64;
    let trace: f64 = (0..d).map(|i| covariance[i * d + i]).sum();
    // With one photo of each class nothing varies: then all directions count alike.
    let (scale, ridge) = if freedom > 0.0 && trace > 0.0 {
        let scale = 1.0 / (freedom * ONE * ONE);
        ((1.0 - SHRINKAGE) * scale, SHRINKAGE * trace * scale / d as f64)
    } else {
        (0.0, 1.0)
    };
    for i in 0..d {
        covariance[i * d..][..=i].iter_mut().for_each(|value| *value *= scale);
        covariance[i * d + i] += ridge;
    }
    let mut factor = Square { size: d, values: covariance };
    factor.factor();
    Lower(factor.inverse_of_lower())
}

/// A lower triangular matrix.
struct Lower(Square);

impl Lower {
    fn row(&self, i: usize) -> &[f64] {
        &self.0.values[i * self.0.size..][..=i]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["a", "b", "c"];

    /// Pseudo-random, around another corner for each class.
    fn photo(class: usize, number: usize) -> Feature {
        let value = |i: usize| ((class * 31 + number * 17 + i * 7) * 2_654_435_761 % 1009) as f32 / 1009.0;
        let values: Vec<f32> = (0..6).map(|i| value(i) + if i == class { 1.5 } else { 0.0 }).collect();
        Feature::new(&values).unwrap()
    }

    #[test]
    fn the_distances_without_a_photo_are_those_of_a_head_that_never_saw_it() {
        let mut sums = Sums::new(6);
        for (class, name) in NAMES.iter().enumerate() {
            sums.add(name, &(0..8).map(|number| photo(class, number)).collect::<Vec<_>>());
        }
        let head = Head::new(&sums);
        let ratios =
            |distances: &[f64], own: usize| -> Vec<f64> { distances.iter().map(|d| d / distances[own]).collect() };
        for (own, name) in NAMES.iter().enumerate() {
            for number in 0..8 {
                let photo = photo(own, number);
                let mut without = sums.clone();
                without.remove(name, std::slice::from_ref(&photo));
                let expected: Vec<f64> = Head::new(&without).distances(&photo).into_iter().map(f64::from).collect();
                let found = head.distances_without(&photo, own, 8, 24).unwrap();
                let with: Vec<f64> = head.distances(&photo).into_iter().map(f64::from).collect();
                for class in 0..3 {
                    let [expected, found, with] =
                        [&expected, &found, &with].map(|distances| ratios(distances, own)[class]);
                    assert!((found / expected - 1.0).abs() < 0.03, "{name} {number}: {found} {expected}");
                    assert!((found - expected).abs() <= (with - expected).abs() + 1e-9, "nearer than with the photo");
                }
            }
        }
        assert_eq!(head.distances_without(&photo(0, 0), 0, 1, 24), None, "the only one of its class");
    }
}
