//! What may change between two tasks: how long and how fast the next one is learned, how much is
//! remembered, what classes are called and which of them are still wanted.

use super::{Learner, LearnerError};
use crate::{
    memory::Memorized,
    optimizer::Schedule,
    rng::{Rng, RngStream},
    sample::Class,
};

/// How the coming tasks are learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Epochs of each task; none: by the number of its images.
    pub epochs: Option<usize>,
    /// The learning rate that a task begins with.
    pub lr: f64,
    /// How it changes in a task.
    pub schedule: Schedule,
}

impl Learner {
    /// Learns the coming tasks at another pace.
    ///
    /// # Errors
    /// A number is out of its range, or a task has been begun: nothing has changed then.
    pub fn set_pace(&mut self, pace: Pace) -> Result<(), LearnerError> {
        let mut config = self.config.clone();
        (config.epochs, config.optimizer.lr, config.optimizer.schedule) = (pace.epochs, pace.lr, pace.schedule);
        config.check()?;
        if self.cursor.is_inside_task() {
            return Err(LearnerError::InsideTask);
        }
        self.config = config;
        Ok(())
    }

    /// Stores at most this many samples from now on. If more are stored, samples of the largest class are dropped.
    ///
    /// # Errors
    /// It is out of its range: nothing has changed then.
    pub fn set_memory(&mut self, samples: usize) -> Result<(), LearnerError> {
        let mut config = self.config.clone();
        config.replay.memory = samples;
        config.check()?;
        let rng = &mut Rng::new(config.seed, RngStream::Shrinking, &[self.cursor.steps]);
        self.memory.resize(samples, rng);
        self.config = config;
        Ok(())
    }

    /// Forgets the stored samples that `which` names; what was learned from them stays learned.
    pub fn forget(&mut self, mut which: impl FnMut(&Memorized) -> bool) -> usize {
        let before = self.memory.len();
        self.memory.retain(|stored| !which(stored));
        before - self.memory.len()
    }

    /// Calls a class something else.
    ///
    /// # Errors
    /// There is no such class, or another has that name.
    pub fn rename_class(&mut self, from: &str, to: &str) -> Result<(), LearnerError> {
        let class = self.class(from)?;
        if self.classes.rename(class, to) { Ok(()) } else { Err(LearnerError::TakenName(to.to_owned())) }
    }

    /// Predicts a class no more and forgets its stored samples. When it comes again, it is learned again.
    ///
    /// # Errors
    /// There is no such class.
    pub fn retire_class(&mut self, name: &str) -> Result<(), LearnerError> {
        let class = self.class(name)?;
        self.classes.retire(class);
        self.forget(|stored| stored.sample.label == class);
        Ok(())
    }

    fn class(&self, name: &str) -> Result<Class, LearnerError> {
        let known = self.classes.find(name).filter(|class| !self.classes.is_retired(*class));
        known.ok_or_else(|| LearnerError::NoSuchClass(name.to_owned()))
    }
}
