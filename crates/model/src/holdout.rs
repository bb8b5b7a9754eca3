//! The holdout set: images that are never trained on, kept in every version.

use std::{collections::BTreeMap, sync::Arc};

use rehearsal::{
    Learner,
    learner::{Classes, LearnerError},
    sample::{Class, Image},
};
use serde::{Deserialize, Serialize};

use crate::{Digest, Photo};

/// An image of the holdout set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The pixels.
    pub image: Image,
    /// Its class.
    pub class: Class,
    /// Its identity.
    pub digest: Digest,
    /// The path it came from.
    pub source: String,
}

/// The holdout set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holdout {
    examples: Vec<Example>,
}

/// What a learner predicted for an example.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The class of the image.
    pub class: Class,
    /// The predicted class.
    pub predicted: Arc<str>,
    /// Its probability, by the learner.
    pub probability: f32,
    /// Whether it is the class of the image.
    pub right: bool,
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

impl Score {
    /// Of these answers.
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Self {
        answers.into_iter().fold(Self::default(), |score, answer| Self {
            right: score.right + usize::from(answer.right),
            total: score.total + 1,
        })
    }

    /// As a share; none without examples.
    pub fn share(self) -> Option<f64> {
        (self.total > 0).then(|| self.right as f64 / self.total as f64)
    }
}

impl ClassScore {
    /// Percentage points lost; negative if the accuracy rose.
    pub fn points_lost(&self) -> Option<f64> {
        let before = self.right_before.filter(|_| self.score.total > 0)?;
        Some(100.0 * (before as f64 - self.score.right as f64) / self.score.total as f64)
    }
}

impl Holdout {
    /// Of these examples.
    pub(crate) fn new(examples: Vec<Example>) -> Self {
        Self { examples }
    }

    /// Its examples.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }

    /// How many there are of each class.
    pub fn by_class(&self) -> BTreeMap<Class, usize> {
        self.examples.iter().fold(BTreeMap::new(), |mut counts, example| {
            *counts.entry(example.class).or_default() += 1;
            counts
        })
    }

    /// Adds images; their classes must be known.
    pub(crate) fn add(&mut self, photos: Vec<Photo>, classes: &Classes) {
        for Photo { class, source, image, digest } in photos {
            let class = classes.find(&class).expect("the classes of a session are known");
            self.examples.push(Example { image, class, digest, source });
        }
    }

    /// Removes the examples that `which` selects; returns how many.
    pub(crate) fn remove(&mut self, mut which: impl FnMut(&Example) -> bool) -> usize {
        let before = self.examples.len();
        self.examples.retain(|example| !which(example));
        before - self.examples.len()
    }

    /// The predictions of a learner, example by example.
    ///
    /// # Errors
    /// It knows no class, or takes images of another shape.
    pub fn predict(&self, learner: &Learner) -> Result<Vec<Answer>, LearnerError> {
        if self.examples.is_empty() {
            return Ok(Vec::new());
        }
        let images: Vec<Image> = self.examples.iter().map(|example| example.image.clone()).collect();
        let classes = learner.classes();
        let answer = |(example, predicted): (&Example, rehearsal::learner::Prediction)| {
            let right = example.class.index() < classes.seen() && predicted.class == *classes.name(example.class);
            Answer { class: example.class, predicted: predicted.class, probability: predicted.probability, right }
        };
        Ok(self.examples.iter().zip(learner.predict(&images)?).map(answer).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_photos::learn;

    #[test]
    fn examples_are_predicted_in_order_and_removed_by_class() {
        let place = tempfile::tempdir().unwrap();
        let mut version = learn(place.path(), &["a", "b"], 10).current().unwrap();
        let answers = version.holdout.predict(&version.learner).unwrap();
        assert_eq!(answers.len(), version.holdout.examples().len());
        for (answer, example) in answers.iter().zip(version.holdout.examples()) {
            let predicted = version.learner.predict(std::slice::from_ref(&example.image)).unwrap();
            let name = version.learner.classes().name(example.class);
            assert_eq!((answer.class, &answer.predicted), (example.class, &predicted[0].class));
            assert_eq!(answer.right, predicted[0].class == *name);
            assert!(!version.has_learned(example.digest), "never trained on");
        }
        let before = version.holdout.by_class();
        assert!(before.values().all(|count| (1..=2).contains(count)), "{before:?}");
        assert_eq!(version.holdout.remove(|example| example.class == Class(0)), before[&Class(0)]);
        assert_eq!(version.holdout.by_class().keys().collect::<Vec<_>>(), [&Class(1)]);
        assert_eq!(Holdout::default().predict(&version.learner).unwrap(), []);
    }

    #[test]
    fn a_score_is_a_share_and_a_class_loses_percentage_points() {
        assert_eq!(Score::default().share(), None);
        let score = Score { right: 3, total: 4 };
        assert_eq!(score.share(), Some(0.75));
        let class = |right_before| ClassScore { class: "a".into(), score, right_before };
        assert_eq!((class(Some(4)).points_lost(), class(None).points_lost()), (Some(25.0), None));
    }
}
