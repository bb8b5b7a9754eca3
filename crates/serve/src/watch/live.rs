//! What a run in this process replays: its observer says it, the page asks for it. Nothing of it is written.

use std::sync::{Arc, Mutex, PoisonError};

use base64::{Engine, prelude::BASE64_STANDARD};
use rehearsal_data::{Image, ImageShape};
use rehearsal_model::encode_png;
use serde::Serialize;

/// A run in this process, for its page.
#[derive(Clone)]
pub struct Live {
    /// The classes in order of appearance.
    pub classes: Arc<[String]>,
    /// Steps of the whole run.
    pub total_steps: u64,
    last: Arc<Mutex<Option<Replay>>>,
}

/// What a step replayed.
#[derive(Clone)]
pub struct Replay {
    /// The task that is learned, from 0.
    pub task: usize,
    /// The step, from 1.
    pub step: u64,
    /// Its loss, if it has one.
    pub loss: Option<f32>,
    /// What was replayed.
    pub photos: Vec<Replayed>,
}

/// A stored sample that was replayed.
#[derive(Clone)]
pub struct Replayed {
    /// Why it was chosen, if that was by its change of loss.
    pub side: Option<ReplayedFor>,
    /// How much the coming update would change its loss, if that was asked.
    pub loss_change: Option<f32>,
    /// Its class, from 0 in order of appearance.
    pub class: usize,
    /// The task that it came with, from 0.
    pub task: usize,
    /// Its pixels; none if features are learned.
    pub pixels: Option<(Image, ImageShape)>,
}

/// Why a sample was chosen by its change of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayedFor {
    /// The coming update would raise its loss: replaying it protects what was learned.
    Conflicting,
    /// It would lower its loss.
    Aligned,
}

/// A step's replay, as the page gets it.
#[derive(Serialize)]
pub(super) struct Shown {
    task: usize,
    step: u64,
    total_steps: u64,
    loss: Option<f32>,
    photos: Vec<ShownPhoto>,
}

/// A photo that is replayed, as the page gets it.
#[derive(Serialize)]
pub(super) struct ShownPhoto {
    side: Option<ReplayedFor>,
    loss_change: Option<f32>,
    class: String,
    task: usize,
    /// A `data:` URL, or null.
    picture: Option<String>,
}

impl Live {
    /// A run of these classes and so many steps.
    pub fn new(classes: &[String], total_steps: u64) -> Self {
        Self { classes: classes.into(), total_steps, last: Arc::default() }
    }

    /// Shows what the last step replayed, instead of the step before.
    pub fn show(&self, replay: Replay) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(replay);
    }

    pub(super) fn shown(&self) -> Option<Shown> {
        // The run must not wait for the pictures.
        let Replay { task, step, loss, photos } = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let picture = |(pixels, shape): &(Image, ImageShape)| {
            let png = encode_png(pixels, *shape).ok()?;
            Some(format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png)))
        };
        let photo = |photo: &Replayed| ShownPhoto {
            side: photo.side,
            loss_change: photo.loss_change,
            class: self.classes.get(photo.class).cloned().unwrap_or_else(|| format!("class {}", photo.class + 1)),
            task: photo.task,
            picture: photo.pixels.as_ref().and_then(picture),
        };
        Some(Shown { task, step, total_steps: self.total_steps, loss, photos: photos.iter().map(photo).collect() })
    }
}
