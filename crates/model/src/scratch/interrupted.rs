//! `learning.safetensors`: the checkpoint of a running session.

use rehearsal::{Learner, learner::Extra};
use serde::{Deserialize, Serialize};

use crate::{Model, ModelError};

/// An interrupted session.
pub(crate) struct Interrupted {
    /// The number of the version that it makes.
    pub version: u32,
    /// The learner at the last checkpoint.
    pub learner: Learner,
    /// The loss of its last step.
    pub loss: Option<f32>,
    key: String,
}

/// What the file holds besides the learner.
#[derive(Serialize, Deserialize)]
struct Header {
    /// Identifies the session: another session does not continue from here.
    session: String,
    version: u32,
    loss: Option<f32>,
}

impl Model {
    /// Writes a checkpoint.
    pub(crate) fn save_checkpoint(&self, learner: &Learner, key: &str, loss: Option<f32>) -> Result<(), ModelError> {
        let header = Header { session: key.to_owned(), version: self.next(), loss };
        let header = serde_json::to_value(header).expect("a header is plain data");
        learner.save_with_extra(self.learning_path(), &Extra { header, ..Extra::default() })?;
        Ok(())
    }

    /// The last checkpoint; none if there is no complete one.
    pub(crate) fn interrupted(&self) -> Option<Interrupted> {
        let loaded = Learner::load_with_extra(self.learning_path(), self.threads()).ok()?;
        let Header { session, version, loss } = serde_json::from_value(loaded.extra?.header).ok()?;
        Some(Interrupted { version, learner: loaded.learner, loss, key: session })
    }

    /// The last checkpoint of this session; none if it belongs to another session.
    pub(crate) fn underway(&self, key: &str) -> Option<Interrupted> {
        self.interrupted().filter(|session| session.key == key && session.version == self.next())
    }
}
