//! What a version says of a photo, and how far to trust it.

use std::sync::Arc;

use crate::{Digest, Version};

/// What a version says of a photo.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The most likely class.
    pub class: Arc<str>,
    /// Its probability.
    pub probability: f32,
    /// The other classes, the most likely first.
    pub others: Vec<(Arc<str>, f32)>,
    /// How far the photo is from the nearest class, if the version can tell.
    pub distance: Option<f32>,
}

/// How far to trust a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Of such answers on the holdout set, at least 19 of 20 are right.
    Sure,
    /// It may be the second class, too.
    Unsure,
    /// It is probably none of the classes: further from all of them than 19 of 20 holdout photos.
    Unknown,
}

/// Why every answer of a version is unsure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllUnsure {
    /// The holdout set has too few photos to tell.
    SmallHoldout,
    /// No threshold makes 19 of 20 holdout answers right.
    NoThreshold,
}

/// A remembered photo that is like another.
#[derive(Clone, Debug, PartialEq)]
pub struct Similar {
    /// Its identity.
    pub digest: Digest,
    /// Its class.
    pub class: Arc<str>,
    /// The path that it came from.
    pub source: String,
    /// Cosine of the angle between the features: 1 for the same photo.
    pub similarity: f64,
}

/// How near a photo that is held is to another class than its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// Its identity.
    pub digest: Digest,
    /// The nearest other class.
    pub nearest: Arc<str>,
    /// The distance to its own class, without the photo, divided by that to the nearest other one: from 1 on,
    /// its class is doubtful.
    pub ratio: f64,
}

impl Verdict {
    /// As one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Unsure => "unsure",
            Self::Unknown => "unknown",
        }
    }
}

impl AllUnsure {
    /// As a sentence part.
    pub fn text(self) -> &'static str {
        match self {
            Self::SmallHoldout => "the holdout set is too small",
            Self::NoThreshold => "no threshold makes 19 of 20 holdout answers right",
        }
    }
}

impl Version {
    /// Why every answer is unsure, if so.
    pub fn all_unsure(&self) -> Option<AllUnsure> {
        let is_small = self.holdout().len() < Self::SMALLEST_HOLDOUT;
        let why = if is_small { AllUnsure::SmallHoldout } else { AllUnsure::NoThreshold };
        self.threshold().is_none().then_some(why)
    }
}
