//! The exam: images kept back and never trained on, which travel with the model.

use std::{collections::BTreeMap, sync::Arc};

use rehearsal::{
    Learner,
    learner::{Classes, LearnerError},
    sample::{Class, Image},
};
use serde::{Deserialize, Serialize};

use crate::{Digest, Photo};

/// An image kept back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The pixels.
    pub image: Image,
    /// What they show.
    pub class: Class,
    /// What tells it from others.
    pub digest: Digest,
    /// The path it came from.
    pub source: String,
}

/// The images kept back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exam {
    questions: Vec<Question>,
}

/// What a learner predicted for a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What the image shows.
    pub class: Class,
    /// What the learner saw.
    pub predicted: Arc<str>,
    /// How likely that is, it says.
    pub probability: f32,
    /// Whether it is so.
    pub right: bool,
}

/// How many were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// Right answers.
    pub right: usize,
    /// Questions.
    pub total: usize,
}

/// A class's part of an exam.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassScore {
    /// Its name.
    pub class: String,
    /// Right answers and questions.
    #[serde(flatten)]
    pub score: Score,
    /// Right answers to the same questions before the visit; none for a class that was new.
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

    /// As a share; none without questions.
    pub fn share(self) -> Option<f64> {
        (self.total > 0).then(|| self.right as f64 / self.total as f64)
    }
}

impl ClassScore {
    /// How many points (hundredths) were lost; negative where some were won.
    pub fn points_lost(&self) -> Option<f64> {
        let before = self.right_before.filter(|_| self.score.total > 0)?;
        Some(100.0 * (before as f64 - self.score.right as f64) / self.score.total as f64)
    }
}

impl Exam {
    /// As it was saved.
    pub(crate) fn new(questions: Vec<Question>) -> Self {
        Self { questions }
    }

    /// The images kept back.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// How many there are of each class.
    pub fn by_class(&self) -> BTreeMap<Class, usize> {
        self.questions.iter().fold(BTreeMap::new(), |mut counts, question| {
            *counts.entry(question.class).or_default() += 1;
            counts
        })
    }

    /// Keeps more images back; their classes must be known.
    pub(crate) fn add(&mut self, photos: Vec<(Digest, Photo)>, classes: &Classes) {
        for (digest, Photo { class, source, image }) in photos {
            let class = classes.find(&class).expect("the classes of a visit are known");
            self.questions.push(Question { image, class, digest, source });
        }
    }

    /// Drops the questions that `which` names; how many those were.
    pub(crate) fn remove(&mut self, mut which: impl FnMut(&Question) -> bool) -> usize {
        let before = self.questions.len();
        self.questions.retain(|question| !which(question));
        before - self.questions.len()
    }

    /// What a learner answers, question by question.
    ///
    /// # Errors
    /// It knows no class, or other images.
    pub fn take(&self, learner: &Learner) -> Result<Vec<Answer>, LearnerError> {
        if self.questions.is_empty() {
            return Ok(Vec::new());
        }
        let images: Vec<Image> = self.questions.iter().map(|question| question.image.clone()).collect();
        let classes = learner.classes();
        let answer = |(question, predicted): (&Question, rehearsal::learner::Prediction)| {
            let right = question.class.index() < classes.seen() && predicted.class == *classes.name(question.class);
            Answer { class: question.class, predicted: predicted.class, probability: predicted.probability, right }
        };
        Ok(self.questions.iter().zip(learner.predict(&images)?).map(answer).collect())
    }
}
