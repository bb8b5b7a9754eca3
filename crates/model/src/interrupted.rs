//! `learning.safetensors`: how far a visit is that is being learned, so that it goes on where it was.

use rehearsal::{Learner, learner::Extra};
use serde::{Deserialize, Serialize};

use crate::{Model, ModelError};

/// A visit that was interrupted.
pub(crate) struct Interrupted {
    /// The version that it was going to be.
    pub version: u32,
    /// What it has learned.
    pub learner: Learner,
    /// The loss of its last step.
    pub loss: Option<f32>,
    key: String,
}

/// What stands in the file beside the learner.
#[derive(Serialize, Deserialize)]
struct Header {
    /// What is learned, from where and how: another visit does not go on here.
    visit: String,
    version: u32,
    loss: Option<f32>,
}

impl Model {
    /// Writes down how far the learning is.
    pub(crate) fn write_down(&self, learner: &Learner, key: &str, loss: Option<f32>) -> Result<(), ModelError> {
        let header = Header { visit: key.to_owned(), version: self.next(), loss };
        let header = serde_json::to_value(header).expect("a header is plain data");
        learner.save_with_extra(self.learning_path(), &Extra { header, ..Extra::default() })?;
        Ok(())
    }

    /// What was written down last; none if there is nothing, or nothing whole.
    pub(crate) fn interrupted(&self) -> Option<Interrupted> {
        let loaded = Learner::load_with_extra(self.learning_path(), self.threads()).ok()?;
        let Header { visit, version, loss } = serde_json::from_value(loaded.extra?.header).ok()?;
        Some(Interrupted { version, learner: loaded.learner, loss, key: visit })
    }

    /// Where this very visit was written down last; none if that was another visit, or cannot be used.
    pub(crate) fn underway(&self, key: &str) -> Option<Interrupted> {
        self.interrupted().filter(|visit| visit.key == key && visit.version == self.next())
    }
}
