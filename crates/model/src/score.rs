//! Answers to the photos of a holdout set, and how many are right.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Digest, Example, Prediction};

/// What a version predicted for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The photo.
    pub digest: Digest,
    /// Its class.
    pub class: Arc<str>,
    /// The predicted class.
    pub predicted: Arc<str>,
    /// Its probability, by the version.
    pub probability: f32,
}

/// How many were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Correct predictions.
    pub right: usize,
    /// Examples.
    pub total: usize,
}

/// The holdout accuracy of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassScore {
    /// Its name.
    pub class: String,
    /// After the session.
    #[serde(flatten)]
    pub score: Score,
    /// Correct predictions on the same examples before the session; none for a new class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub right_before: Option<usize>,
}

impl Answer {
    /// Whether the prediction is the class of the photo.
    pub fn is_right(&self) -> bool {
        self.class == self.predicted
    }
}

/// Predictions for examples as answers.
pub(crate) fn answers(examples: &[Example], predictions: Vec<Prediction>) -> Vec<Answer> {
    let answer = |(example, predicted): (&Example, Prediction)| Answer {
        digest: example.digest,
        class: Arc::clone(&example.class),
        predicted: predicted.class,
        probability: predicted.probability,
    };
    examples.iter().zip(predictions).map(answer).collect()
}

impl Score {
    /// Of these answers.
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Self {
        answers.into_iter().fold(Self::default(), |score, answer| Self {
            right: score.right + usize::from(answer.is_right()),
            total: score.total + 1,
        })
    }

    /// As a share; none without examples.
    pub fn share(self) -> Option<f64> {
        (self.total > 0).then(|| self.right as f64 / self.total as f64)
    }

    /// Between which shares the accuracy lies, at 95 % confidence (Wilson); none without examples.
    pub fn interval(self) -> Option<(f64, f64)> {
        const Z: f64 = 1.959_963_984_540_054;
        let (share, n) = (self.share()?, self.total as f64);
        let scale = 1.0 / (1.0 + Z * Z / n);
        let centre = scale * (share + Z * Z / (2.0 * n));
        let half = scale * Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        Some(((centre - half).max(0.0), (centre + half).min(1.0)))
    }
}

impl ClassScore {
    /// Percentage points lost; negative if the accuracy rose.
    pub fn points_lost(&self) -> Option<f64> {
        let before = self.right_before.filter(|_| self.score.total > 0)?;
        Some(100.0 * (before as f64 - self.score.right as f64) / self.score.total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_a_share_with_an_interval_and_a_class_loses_percentage_points() {
        assert_eq!((Score::default().share(), Score::default().interval()), (None, None));
        let score = Score { right: 3, total: 4 };
        assert_eq!(score.share(), Some(0.75));
        // R's prop.test(81, 263, correct = FALSE).
        let (low, high) = Score { right: 81, total: 263 }.interval().unwrap();
        assert!((low - 0.255_3).abs() < 1e-4 && (high - 0.366_2).abs() < 1e-4, "{low} {high}");
        assert_eq!(Score { right: 4, total: 4 }.interval().map(|(_, high)| high), Some(1.0));
        let class = |right_before| ClassScore { class: "a".into(), score, right_before };
        assert_eq!((class(Some(4)).points_lost(), class(None).points_lost()), (Some(25.0), None));
    }
}
