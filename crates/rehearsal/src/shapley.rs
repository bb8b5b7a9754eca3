//! KNN-Shapley values: how much each candidate adds to classifying a point by its nearest
//! neighbours (Shim et al., 2021). What the ASER retrieval and the ASER memory policy rank samples
//! by.

use rayon::prelude::*;
use rehearsal_data::choice;
use serde::{Deserialize, Serialize};

use crate::sample::{Class, Sample};

/// How a candidate's value to old samples (cooperative) and to new ones (adversarial) become one score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapleyScore {
    /// Mean cooperative value − mean adversarial value.
    Asvm,
    /// Highest cooperative value − lowest adversarial value.
    Asv,
    /// −Σ adversarial values.
    NegSv,
}
choice!(ShapleyScore, "Shapley score", Asvm = "asvm", Asv = "asv", NegSv = "neg-sv");

/// How values are computed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShapleyOptions {
    /// How the retrieval scores a candidate.
    #[serde(rename = "shapley-score")]
    pub score: ShapleyScore,
    /// k: how many nearest neighbours vote.
    #[serde(rename = "shapley-neighbours")]
    pub neighbours: usize,
}

/// How many stored samples of each class a draw of ASER looks at.
pub const PER_CLASS: usize = 2;

/// Labelled features.
#[derive(Clone, Debug)]
pub struct Points {
    features: Vec<Vec<f32>>,
    labels: Vec<Class>,
}

impl Points {
    /// The points of samples with these features, one row each.
    pub fn new(features: Vec<Vec<f32>>, samples: &[Sample]) -> Self {
        assert_eq!(features.len(), samples.len(), "one row of features per sample");
        Self { features, labels: samples.iter().map(|sample| sample.label).collect() }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

/// A row per evaluation point: the value of every candidate to it. Where there are at least k
/// candidates, a row sums to the share of its k nearest that have its label.
pub fn knn_shapley(candidates: &Points, evaluated: &Points, neighbours: usize) -> Vec<Vec<f64>> {
    let points: Vec<(&Vec<f32>, Class)> = evaluated.features.iter().zip(evaluated.labels.iter().copied()).collect();
    points.into_par_iter().map(|(point, label)| values(candidates, point, label, neighbours)).collect()
}

/// The value of every candidate to one point of class `label`.
fn values(candidates: &Points, point: &[f32], label: Class, neighbours: usize) -> Vec<f64> {
    let distances: Vec<f64> = candidates.features.iter().map(|features| squared_distance(features, point)).collect();
    let mut nearest: Vec<usize> = (0..candidates.len()).collect();
    nearest.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
    let agrees = |index: usize| f64::from(u8::from(candidates.labels[index] == label));
    let mut values = vec![0.0; candidates.len()];
    let (mut value, mut further) = (0.0, None);
    // From the farthest, whose place m is N, to the nearest, whose place is 1.
    for (place, &index) in nearest.iter().enumerate().rev().map(|(index, candidate)| (index + 1, candidate)) {
        value = match further {
            None => agrees(index) / candidates.len() as f64,
            Some(further) => {
                value + (agrees(index) - agrees(further)) * neighbours.min(place) as f64 / (neighbours * place) as f64
            }
        };
        values[index] = value;
        further = Some(index);
    }
    values
}

/// The indices of all scores, the highest first; equal ones by index.
pub(crate) fn descending(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}

fn squared_distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn points(features: &[f32], labels: &[u16]) -> Points {
        let features = features.iter().map(|&feature| vec![feature]).collect();
        Points { features, labels: labels.iter().copied().map(Class).collect() }
    }

    pub(crate) fn v3_candidates() -> Points {
        points(&[0.0, 1.0, 2.0, 4.0, 7.0], &[0, 1, 0, 1, 0])
    }

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn v3_values() {
        let rows = knn_shapley(&v3_candidates(), &points(&[0.4, 3.2, 0.1, 6.0, 2.4], &[1, 0, 0, 1, 0]), 2);
        close(&rows[0], &[-0.08333333, 0.41666667, -0.08333333, 0.25, 0.0]);
        close(&rows[1], &[0.2, -0.13333333, 0.36666667, -0.13333333, 0.2]);
        close(&rows[2], &[0.28333333, -0.21666667, 0.28333333, -0.05, 0.2]);
        close(&rows[3], &[0.0, 0.25, -0.08333333, 0.41666667, -0.08333333]);
        close(&rows[4], &[0.2, -0.13333333, 0.36666667, -0.13333333, 0.2]);
        for row in rows {
            close(&[row.iter().sum()], &[0.5]);
        }
    }

    #[test]
    fn v3_one_candidate_is_worth_whether_it_agrees() {
        let rows = knn_shapley(&points(&[5.0], &[1]), &points(&[0.0, 0.0], &[1, 0]), 3);
        assert_eq!(rows, [[1.0], [0.0]]);
    }

    #[test]
    fn more_neighbours_than_candidates_share_the_value() {
        let rows = knn_shapley(&points(&[1.0, 2.0], &[1, 0]), &points(&[0.0], &[1]), 3);
        // s(far) = 0/2; s(near) = 0 + (1 − 0)·min(3,1)/(3·1).
        close(&rows[0], &[1.0 / 3.0, 0.0]);
    }
}
