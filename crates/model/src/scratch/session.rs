//! A training session: photos and settings.

use std::time::Duration;

use rehearsal::{
    config::{LearnerConfig, PartialConfig},
    learner::{Defaults, Pace},
    methods::MethodKind,
};
use rehearsal_data::ImageShape;
use serde_json::Value;

use super::Photo;
use crate::{MemorySize, ModelError, SessionOptions};

/// A training session. What is not given has its default.
#[derive(Clone, Debug)]
pub struct Session {
    /// The photos.
    pub photos: Vec<Photo>,
    /// The shape of all photos: the model's, if it has one.
    pub shape: ImageShape,
    /// The settings of an experiment file. `epochs`, `lr`, `schedule` and `memory` may change from
    /// session to session, the others are fixed by the first.
    pub settings: PartialConfig,
    /// Memory, holdout set, acceptance check.
    pub options: SessionOptions,
    /// Learns once more what the memory holds, instead of photos.
    pub again: bool,
    /// Whether the `BatchNorm` running statistics are recalibrated from the memory.
    pub recalibrate: bool,
    /// The time between checkpoints.
    pub checkpoint_every: Duration,
}

impl Session {
    /// With all defaults.
    pub fn new(photos: Vec<Photo>, shape: ImageShape) -> Self {
        Self {
            photos,
            shape,
            settings: PartialConfig::default(),
            options: SessionOptions::default(),
            again: false,
            recalibrate: true,
            checkpoint_every: Duration::from_secs(20),
        }
    }

    /// Of no photos: once more what the memory holds.
    pub fn again(shape: ImageShape) -> Self {
        Self { again: true, ..Self::new(Vec::new(), shape) }
    }

    /// Refuses photos of another shape than the session's, or a session of another shape than the model's.
    pub(crate) fn check_shape(&self, living: Option<ImageShape>) -> Result<(), ModelError> {
        let text = |shape: ImageShape| format!("{}×{}×{}", shape.height, shape.width, shape.channels);
        if let Some(is) = living.filter(|shape| *shape != self.shape) {
            return Err(ModelError::Fixed { setting: "size".into(), is: text(is), asked: text(self.shape) });
        }
        match self.photos.iter().find(|photo| photo.image.len() != self.shape.bytes() || photo.image.is_empty()) {
            Some(other) => {
                Err(ModelError::Refused(format!("{} does not have the shape {}", other.source, text(self.shape))))
            }
            None if self.photos.is_empty() => Err(ModelError::NoImages),
            None => Ok(()),
        }
    }

    /// The options, with the memory of the settings if they have none.
    pub(crate) fn options(&self) -> SessionOptions {
        let memory = self.options.memory.or(self.settings.memory.map(MemorySize::Images));
        SessionOptions { memory, ..self.options }
    }

    /// Epochs, learning rate and schedule: as given, else their defaults.
    pub(crate) fn pace(&self) -> Pace {
        let given = &self.settings;
        Pace {
            epochs: given.epochs,
            lr: given.lr.unwrap_or(Defaults::LR),
            schedule: given.schedule.unwrap_or(Defaults::SCHEDULE),
        }
    }

    /// Refuses settings that are not a learner's, or that differ from those of the existing one.
    pub(crate) fn check(&self, living: Option<&LearnerConfig>) -> Result<(), ModelError> {
        self.options.check()?;
        let given = serde_json::to_value(&self.settings).expect("settings are plain data");
        let complete = self.settings.learner().map_err(rehearsal::learner::LearnerError::from)?;
        check_method(complete.method.kind)?;
        let learners = serde_json::to_value(living.unwrap_or(&complete)).expect("settings are plain data");
        let given = given.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        for (name, asked) in given {
            match learners.get(name) {
                _ if ["epochs", "lr", "schedule", "memory", "threads"].contains(&name.as_str()) => {}
                Some(is) if is == asked => {}
                Some(is) if living.is_some() => {
                    let (setting, is, asked) = (name.clone(), plain(is), plain(asked));
                    return Err(ModelError::Fixed { setting, is, asked });
                }
                None => return Err(ModelError::Refused(format!("`{name}` is not a setting of a model: leave it out"))),
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// Refuses methods that cannot train a network session by session.
fn check_method(method: MethodKind) -> Result<(), ModelError> {
    let why = if method.learns_jointly() {
        "needs all classes at once, and a session has some of them"
    } else if method.is_closed_form() {
        "computes a head from features and trains no network: choose a pre-trained backbone in place of `scratch`"
    } else {
        return Ok(());
    };
    Err(ModelError::Refused(format!("method {method} {why}")))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
