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
    /// Of the pass that is under way.
    pub loss: PassLoss,
    key: String,
}

/// What stands in the file beside the learner.
#[derive(Serialize, Deserialize)]
struct Header {
    /// What is learned, from where and how: another visit does not go on here.
    visit: String,
    version: u32,
    loss: PassLoss,
}

/// The losses of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PassLoss {
    pass: usize,
    sum: f64,
    steps: u64,
}

impl PassLoss {
    pub fn add(&mut self, pass: usize, loss: Option<f32>) {
        if pass != self.pass {
            *self = Self { pass, ..Self::default() };
        }
        if let Some(loss) = loss {
            (self.sum, self.steps) = (self.sum + f64::from(loss), self.steps + 1);
        }
    }

    pub fn mean(self) -> Option<f32> {
        (self.steps > 0).then(|| (self.sum / self.steps as f64) as f32)
    }
}

impl Model {
    /// Writes down how far the learning is.
    pub(crate) fn write_down(&self, learner: &Learner, key: &str, loss: PassLoss) -> Result<(), ModelError> {
        let header = Header { visit: key.to_owned(), version: self.next(), loss };
        let header = serde_json::to_value(header).expect("a header is plain data");
        learner.save_with_extra(self.learning_path(), &Extra { header, ..Extra::default() })?;
        Ok(())
    }

    /// What was written down last; none where there is nothing, or nothing whole.
    pub(crate) fn interrupted(&self) -> Option<Interrupted> {
        let loaded = Learner::load_with_extra(self.learning_path(), self.threads()).ok()?;
        let Header { visit, version, loss } = serde_json::from_value(loaded.extra?.header).ok()?;
        Some(Interrupted { version, learner: loaded.learner, loss, key: visit })
    }

    /// Where this very visit was written down last. What is of another visit, or cannot be used, is
    /// begun anew.
    pub(crate) fn underway(&self, key: &str) -> Option<(Learner, PassLoss)> {
        let visit = self.interrupted()?;
        (visit.key == key && visit.version == self.next()).then_some((visit.learner, visit.loss))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_of_a_pass_is_a_mean_that_begins_anew() {
        let mut loss = PassLoss::default();
        for (pass, value) in [(1, Some(4.0)), (1, None), (1, Some(2.0))] {
            loss.add(pass, value);
        }
        assert_eq!(loss.mean(), Some(3.0));
        loss.add(2, Some(1.0));
        assert_eq!(loss.mean(), Some(1.0));
        loss.add(3, None);
        assert_eq!(loss.mean(), None);
    }
}
