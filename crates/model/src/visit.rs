//! A visit: photos to learn from, and the settings given for it.

use std::time::Duration;

use rehearsal::{
    config::{LearnerConfig, PartialConfig},
    learner::{Defaults, Pace},
};
use rehearsal_data::ImageShape;
use serde_json::Value;

use crate::{MemorySize, ModelError, Photo};

/// Photos to learn from, and the settings given for it. What is not given has its default.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The photos, all of the model's size.
    pub photos: Vec<Photo>,
    /// How to learn, by the names of an experiment file. `epochs`, `lr` and `schedule` are
    /// of this visit; what makes the learner what it is cannot change when it lives.
    pub settings: PartialConfig,
    /// How much is remembered from now on.
    pub memory: Option<MemorySize>,
    /// How many images of each class the exam has at most, from now on.
    pub exam_per_class: Option<usize>,
    /// How many versions are kept from now on.
    pub keep: Option<usize>,
    /// The most points that the classes known before may lose for the version to be used.
    pub max_forgetting: Option<f64>,
    /// Whether the norm's statistics are re-estimated from the memory.
    pub recalibrate: bool,
    /// How often it is written down how far the learning is.
    pub checkpoint_every: Duration,
}

impl Visit {
    /// With nothing given.
    pub fn new(photos: Vec<Photo>) -> Self {
        Self {
            photos,
            settings: PartialConfig::default(),
            memory: None,
            exam_per_class: None,
            keep: None,
            max_forgetting: None,
            recalibrate: true,
            checkpoint_every: Duration::from_secs(20),
        }
    }

    /// Height, width and channels of the photos: the model's, or squares in colour.
    pub(crate) fn shape(&self, living: Option<ImageShape>) -> Result<ImageShape, ModelError> {
        let first = self.photos.first().ok_or(ModelError::NoImages)?;
        let side = (first.image.len() as f64 / 3.0).sqrt().round() as usize;
        let shape = living.unwrap_or(ImageShape { height: side, width: side, channels: 3 });
        match self.photos.iter().find(|photo| photo.image.len() != shape.bytes() || photo.image.is_empty()) {
            None => Ok(shape),
            Some(other) => {
                let ImageShape { height, width, .. } = shape;
                Err(ModelError::Refused(format!("{} is not of the model's size, {height}×{width}", other.source)))
            }
        }
    }

    /// How much is to be remembered.
    pub(crate) fn memory(&self) -> Option<MemorySize> {
        self.memory.or(self.settings.memory.map(MemorySize::Images))
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

    /// Refuses settings that are none of a learner's, or that a living one has otherwise.
    pub(crate) fn check(&self, living: Option<&LearnerConfig>) -> Result<(), ModelError> {
        if let Some(points) = self.max_forgetting.filter(|points| !(0.0..=100.0).contains(points)) {
            return Err(ModelError::Refused(format!("`max-forgetting` is {points}, not between 0 and 100 points")));
        }
        if self.keep == Some(0) {
            return Err(ModelError::Refused("`keep` must be at least 1: the version that is used stays".into()));
        }
        let given = serde_json::to_value(&self.settings).expect("settings are plain data");
        let complete = self.settings.learner().map_err(rehearsal::learner::LearnerError::from)?;
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
                None => return Err(ModelError::Refused(format!("`{name}` is no setting of a model"))),
                Some(_) => {}
            }
        }
        Ok(())
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
