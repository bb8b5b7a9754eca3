//! Learning a task: the one training loop.

use rehearsal_data::DataError;

use super::{Batches, Cursor, Defaults, Learner, LearnerError, Recalibration, Samples, Step, on_learner_threads};
use crate::{
    clock::{Clock, Phase},
    config::Insertion,
    observer::{Observer, StepEvent},
    rng::{Rng, RngStream},
    sample::{Image, Sample},
};

/// What [`Learner::fit`] does after the last step of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FitOptions {
    /// Whether it inserts into the memory what fills no batch, if samples are inserted in the first
    /// epoch only. A method that stores logits has none of these samples and inserts nothing.
    pub insert_rest: bool,
    /// Whether it recalibrates: see [`Learner::recalibrate`].
    pub recalibrate: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { insert_rest: true, recalibrate: true }
    }
}

/// What learning a task came to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// Steps that this call took.
    pub steps: u64,
    /// The loss of its last step; none if that only moved the running statistics.
    pub loss: Option<f32>,
    /// Whether the observer stopped it: the task has not ended, and `fit` continues it.
    pub is_stopped: bool,
    /// What became of recalibrating, if that was asked for.
    pub recalibration: Option<Recalibration>,
}

impl Learner {
    /// Learns a task: all its epochs, replaying from memory beside it. A task that was stopped is
    /// continued where it was, to the same bits, by the same samples.
    ///
    /// ```
    /// use rehearsal::prelude::*;
    /// use std::ops::ControlFlow;
    ///
    /// struct FirstSteps(u64);
    ///
    /// impl Observer for FirstSteps {
    ///     fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
    ///         println!("step {} of {}: loss {:?}", event.task_step, event.task_steps, event.loss);
    ///         if event.task_step == self.0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let images = [10, 240].map(|grey| Image::from(vec![grey; 8 * 8 * 3]));
    /// let mut learner = Learner::builder().size(8).backbone(BackboneKind::Tiny).build()?;
    /// let samples = learner.samples(&images, &["dark", "bright"])?;
    /// assert!(learner.fit(&samples, FitOptions::default(), &mut FirstSteps(3))?.is_stopped);
    /// assert!(!learner.fit(&samples, FitOptions::default(), &mut ())?.is_stopped);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A sample cannot be read or does not fit this learner, or the loss diverges. The learner is as
    /// it was before the call then.
    pub fn fit(
        &mut self,
        samples: &dyn Samples,
        options: FitOptions,
        observer: &mut dyn Observer,
    ) -> Result<Fit, LearnerError> {
        let before = self.clone();
        let fit = on_learner_threads(self.config.threads, || self.fit_task(samples, options, observer)).flatten();
        if fit.is_err() {
            *self = before;
        }
        fit
    }

    fn fit_task(
        &mut self,
        samples: &dyn Samples,
        options: FitOptions,
        observer: &mut dyn Observer,
    ) -> Result<Fit, LearnerError> {
        if samples.is_empty() {
            return Err(LearnerError::NoImages);
        }
        self.begin_task(samples.classes())?;
        let mut batches = Batches::new(samples, self.config.batch, self.config.seed);
        let (per_epoch, epochs) = (batches.per_epoch(), self.epochs(samples.len()));
        let task_steps = epochs as u64 * per_epoch as u64;
        let mut fit = Fit { steps: 0, loss: None, is_stopped: false, recalibration: None };
        loop {
            // A cursor beyond these batches came with another task: its epoch is over.
            self.cursor = self.cursor.in_epochs_of(per_epoch);
            let Cursor { task, epoch, batch, .. } = self.cursor;
            if epoch >= epochs {
                break;
            }
            observer.before_step(self);
            let mut clock = Clock::start();
            let incoming = batches.at(self.cursor)?;
            self.check_samples(&incoming)?;
            clock.mark(Phase::Data);
            let taken = epoch as u64 * per_epoch as u64 + batch as u64;
            let step = self.step_at(&incoming, taken as f64 / task_steps as f64, &mut clock);
            self.cursor = Cursor { batch: batch + 1, ..self.cursor }.in_epochs_of(per_epoch);
            (fit.steps, fit.loss) = (fit.steps + 1, step.loss);
            self.check_loss(step.loss.unwrap_or(0.0))?;
            let event = StepEvent {
                task,
                epoch,
                epochs,
                task_step: taken + 1,
                task_steps,
                step: self.cursor.steps,
                loss: step.loss,
                phases: clock.phases(),
                taken: &step,
                learner: &*self,
            };
            if observer.step(&event).is_break() {
                return Ok(Fit { is_stopped: true, ..fit });
            }
        }
        self.method.end_task();
        self.check_finite()?;
        if options.insert_rest {
            self.insert_rest(&batches)?;
        }
        self.end_task();
        if options.recalibrate {
            fit.recalibration = Some(self.recalibrate());
            self.check_finite()?;
        }
        Ok(fit)
    }

    /// Epochs of a task of that many images: as configured, else by their number.
    pub fn epochs(&self, images: usize) -> usize {
        self.config.epochs.unwrap_or_else(|| Defaults::epochs(images))
    }

    /// An error if a number that it learns or predicts with is not finite.
    ///
    /// # Errors
    /// It has diverged.
    pub fn check_finite(&self) -> Result<(), LearnerError> {
        self.check_loss(if self.is_finite() { 0.0 } else { f32::NAN })
    }

    fn check_loss(&self, loss: f32) -> Result<(), LearnerError> {
        // Between two tasks, the last step was in the one before.
        let Cursor { task, steps, .. } = self.cursor;
        let task = task + usize::from(self.cursor.is_inside_task());
        if loss.is_finite() { Ok(()) } else { Err(LearnerError::Diverged { loss, step: steps, task }) }
    }

    fn insert_rest(&mut self, batches: &Batches) -> Result<(), LearnerError> {
        if self.config.replay.insertion == Insertion::FirstEpoch
            && self.memory.capacity() > 0
            && !self.method.stores_logits()
        {
            let rest = batches.rest(self.cursor.task)?;
            self.check_samples(&rest)?;
            let rng = &mut Rng::new(self.config.seed, RngStream::Rest, &[self.cursor.task as u64]);
            self.insert(&rest, None, rng);
        }
        Ok(())
    }

    /// Begins a task in which these classes are learned; each new one gets its own row. If the task
    /// was begun with them before, nothing changes.
    ///
    /// # Errors
    /// There are too many classes.
    pub fn begin_task<S: AsRef<str>>(&mut self, names: &[S]) -> Result<(), LearnerError> {
        let mut classes = self.classes.clone();
        for name in names {
            classes.appear(name.as_ref()).ok_or(LearnerError::TooManyClasses)?;
        }
        self.classes = classes;
        self.grow();
        Ok(())
    }

    /// Ends a task: the next one begins at its first batch.
    pub fn end_task(&mut self) {
        self.cursor = self.cursor.next_task();
    }

    /// Learns a task. Labels are names; new ones may come at any time. It is [`Learner::fit`] with
    /// the default options and without an observer.
    ///
    /// # Errors
    /// An image is of another size, there are not as many labels as images, or the loss diverges. The
    /// learner is as it was then.
    pub fn learn_task<S: AsRef<str>>(&mut self, images: &[Image], labels: &[S]) -> Result<Fit, LearnerError> {
        let samples = self.samples(images, labels)?;
        self.fit(&samples, FitOptions::default(), &mut ())
    }

    /// Takes one step on a batch of the current task. Labels are names; new ones may come at any time.
    ///
    /// # Errors
    /// An image is of another size, or there are not as many labels as images. The learner is as it was then.
    pub fn learn_batch<S: AsRef<str>>(&mut self, images: &[Image], labels: &[S]) -> Result<Step, LearnerError> {
        let labelled = self.samples(images, labels)?;
        self.begin_task(&labelled.classes)?;
        self.step(&labelled.samples)
    }

    /// Images and the names of their classes as samples of the current task.
    ///
    /// # Errors
    /// An image is of another size, or there are not as many labels as images.
    pub fn samples<S: AsRef<str>>(&self, images: &[Image], labels: &[S]) -> Result<Labelled, LearnerError> {
        if images.len() != labels.len() {
            return Err(LearnerError::Labels { images: images.len(), labels: labels.len() });
        }
        if images.is_empty() {
            return Err(LearnerError::NoImages);
        }
        self.check_images(images.iter())?;
        let (mut classes, task) = (self.classes.clone(), self.task());
        let mut labelled = Labelled { samples: Vec::with_capacity(images.len()), classes: Vec::new() };
        for (image, name) in images.iter().zip(labels.iter().map(AsRef::as_ref)) {
            let is_new = classes.find(name).is_none_or(|class| classes.is_retired(class));
            let label = classes.appear(name).ok_or(LearnerError::TooManyClasses)?;
            labelled.samples.push(Sample { image: image.clone(), label, task });
            if is_new {
                labelled.classes.push(name.to_owned());
            }
        }
        Ok(labelled)
    }
}

/// Samples whose labels were names, made by [`Learner::samples`].
#[derive(Clone, Debug)]
pub struct Labelled {
    samples: Vec<Sample>,
    /// The names of those classes that the learner did not know.
    classes: Vec<String>,
}

impl Samples for Labelled {
    fn len(&self) -> usize {
        self.samples.len()
    }

    fn get(&self, index: usize) -> Result<Sample, DataError> {
        Ok(self.samples[index].clone())
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }
}
