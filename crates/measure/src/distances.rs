//! How far apart embeddings and class proxies are, and how far proxies move.
//!
//! Sets of vectors are row-major slices: `[n, dimension]`. Sums run in `f64`: the differences of
//! nearby `f32` vectors are small, and those of a step are averaged over thousands of steps.

use serde::{Deserialize, Serialize};

/// A Euclidean distance, or a mean of distances, with and without the lengths of the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// Between the vectors as they are.
    pub raw: f64,
    /// Between the vectors scaled to length 1; a vector of zeros stays zero.
    pub normalised: f64,
}

impl Distance {
    fn between(a: &[f32], b: &[f32]) -> Self {
        let scaled = |scale_a: f64, scale_b: f64| {
            a.iter()
                .zip(b)
                .map(|(&a, &b)| (f64::from(a) / scale_a - f64::from(b) / scale_b).powi(2))
                .sum::<f64>()
                .sqrt()
        };
        Self { raw: scaled(1.0, 1.0), normalised: scaled(length_or_one(a), length_or_one(b)) }
    }

    fn mean(distances: impl Iterator<Item = Self>) -> Option<Self> {
        let start = (Self { raw: 0.0, normalised: 0.0 }, 0_usize);
        let (sum, count) = distances.fold(start, |(sum, count), one| {
            (Self { raw: sum.raw + one.raw, normalised: sum.normalised + one.normalised }, count + 1)
        });
        (count > 0).then(|| Self { raw: sum.raw / count as f64, normalised: sum.normalised / count as f64 })
    }
}

/// Mean distance over all pairs of a set of embeddings: how spread out they are. `None` for fewer than
/// two embeddings.
///
/// # Panics
///
/// If `embeddings` are not whole rows of `dimension`.
pub fn inner_distance(embeddings: &[f32], dimension: usize) -> Option<Distance> {
    let rows: Vec<_> = rows(embeddings, dimension).collect();
    let pairs = rows.iter().enumerate().flat_map(|(i, a)| rows[i + 1..].iter().map(move |b| (a, b)));
    Distance::mean(pairs.map(|(a, b)| Distance::between(a, b)))
}

/// Mean distance of embeddings to the proxies of their own classes. `None` without embeddings.
///
/// # Panics
///
/// If `embeddings` or `proxies` are not whole rows of `dimension`, there is not one label per
/// embedding, or a label has no proxy.
pub fn distance_to_proxies(
    embeddings: &[f32],
    labels: &[usize],
    proxies: &[f32],
    dimension: usize,
) -> Option<Distance> {
    let proxies: Vec<_> = rows(proxies, dimension).collect();
    let embeddings = rows(embeddings, dimension);
    assert_eq!(embeddings.len(), labels.len(), "one label per embedding");
    Distance::mean(embeddings.zip(labels).map(|(embedding, &label)| Distance::between(embedding, proxies[label])))
}

/// How far each class's proxy moved from `before` a task to `after` it: one distance per class.
///
/// # Panics
///
/// If `before` or `after` are not whole rows of `dimension`, or differ in the number of classes.
pub fn proxy_drift(before: &[f32], after: &[f32], dimension: usize) -> Vec<Distance> {
    assert_eq!(before.len(), after.len(), "the same classes before and after");
    rows(before, dimension)
        .zip(rows(after, dimension))
        .map(|(before, after)| Distance::between(before, after))
        .collect()
}

fn rows(vectors: &[f32], dimension: usize) -> std::slice::ChunksExact<'_, f32> {
    assert!(
        dimension > 0 && vectors.len().is_multiple_of(dimension),
        "whole rows of {dimension}, not {}",
        vectors.len()
    );
    vectors.chunks_exact(dimension)
}

fn length_or_one(vector: &[f32]) -> f64 {
    let length = vector.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
    if length == 0.0 { 1.0 } else { length }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::SQRT_2;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    // The reference vectors, V11: computed in float64, printed to 8 decimals.
    const EMBEDDINGS: [f32; 6] = [3.0, 4.0, 0.0, 2.0, 1.0, 0.0];
    const LABELS: [usize; 3] = [0, 1, 0];
    const PROXIES: [f32; 4] = [1.0, 0.0, 0.0, 1.0];

    #[track_caller]
    fn assert_near(found: Distance, raw: f64, normalised: f64) {
        let near = (found.raw - raw).abs() < 1e-8 && (found.normalised - normalised).abs() < 1e-8;
        assert!(near, "{found:?} is not {raw}, {normalised}");
    }

    #[test]
    fn v11_distances() {
        assert_near(inner_distance(&EMBEDDINGS, 2).unwrap(), 3.437_918_40, 0.980_365_43);
        assert_near(distance_to_proxies(&EMBEDDINGS, &LABELS, &PROXIES, 2).unwrap(), 1.824_045_32, 0.298_142_40);
    }

    #[test]
    fn v11_drift() {
        let drift = proxy_drift(&[3.0, 4.0, 3.0, 4.0], &[4.0, 3.0, 6.0, 8.0], 2);
        assert_eq!(drift.len(), 2);
        assert_near(drift[0], SQRT_2, 0.282_842_71);
        assert_near(drift[1], 5.0, 0.0);
    }

    #[test]
    fn there_is_no_distance_without_a_pair() {
        assert_eq!(inner_distance(&[3.0, 4.0], 2), None);
        assert_eq!(distance_to_proxies(&[], &[], &PROXIES, 2), None);
        assert_eq!(proxy_drift(&[], &[], 2), []);
    }

    #[test]
    fn a_vector_of_zeros_has_no_direction() {
        assert_near(proxy_drift(&[0.0, 0.0], &[3.0, 4.0], 2)[0], 5.0, 1.0);
    }

    #[test]
    #[should_panic(expected = "whole rows of 2, not 3")]
    fn a_broken_row_is_a_bug() {
        inner_distance(&[1.0, 2.0, 3.0], 2);
    }

    proptest! {
        #[test]
        fn scaling_changes_only_the_raw_distance(vectors in vec(-9.0_f32..9.0, 12)) {
            let scaled: Vec<f32> = vectors.iter().map(|x| x * 4.0).collect(); // a power of two: exact
            let (one, four) = (inner_distance(&vectors, 3).unwrap(), inner_distance(&scaled, 3).unwrap());
            prop_assert_eq!(four, Distance { raw: one.raw * 4.0, normalised: one.normalised });
            prop_assert!((0.0..=2.0).contains(&one.normalised));
        }
    }
}
