//! Learning a whole task: epochs, batches and where in them a learner is.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Learner, LearnerError, Step};
use crate::{
    clock::Phase,
    config::Offer,
    datasets::DataError,
    rng::{Rng, RngStream},
    sample::{Class, Image, Sample, TaskId},
};

/// Where a learner is: everything before this batch has been learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The task.
    pub task: usize,
    /// The epoch of the task.
    pub epoch: usize,
    /// The batch of the epoch.
    pub batch: usize,
    /// Steps taken, over all tasks.
    pub steps: u64,
}

/// The training samples of a task, wherever they are kept.
pub trait Samples {
    /// How many there are.
    fn len(&self) -> usize;

    /// There are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them, `index < len()`.
    ///
    /// # Errors
    /// It cannot be read.
    fn get(&self, index: usize) -> Result<Sample, DataError>;
}

impl Samples for Vec<Sample> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, index: usize) -> Result<Sample, DataError> {
        Ok(self[index].clone())
    }
}

/// A task while it is being learned: its samples, and the order of the epoch that was last asked
/// for.
pub struct Lesson<'a> {
    samples: &'a dyn Samples,
    batch: usize,
    order: Option<(usize, Vec<usize>)>,
}

impl<'a> Lesson<'a> {
    /// Of these samples, in batches of `batch`.
    fn new(samples: &'a dyn Samples, batch: usize) -> Self {
        Self { samples, batch, order: None }
    }

    /// Batches of an epoch. A last partial one is dropped, unless it is the only one.
    fn batches(&self) -> usize {
        (self.samples.len() / self.batch).max(1)
    }

    fn range(&self, batch: usize) -> Range<usize> {
        let end = |batch: usize| batch.saturating_mul(self.batch).min(self.samples.len());
        end(batch)..end(batch.saturating_add(1))
    }

    /// A batch of an epoch, whose order depends on nothing but seed, task and epoch.
    fn batch(&mut self, seed: u64, position: Position) -> Result<Vec<Sample>, DataError> {
        let Position { task, epoch, batch, .. } = position;
        if self.order.as_ref().is_none_or(|(of, _)| *of != epoch) {
            self.order = Some((epoch, self.order_of(seed, task, epoch)));
        }
        let order = self.order.as_ref().map_or(&[][..], |(_, order)| order);
        order[self.range(batch)].iter().map(|&index| self.samples.get(index)).collect()
    }

    fn order_of(&self, seed: u64, task: usize, epoch: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.samples.len()).collect();
        Rng::new(seed, RngStream::Shuffling, &[task as u64, epoch as u64]).shuffle(&mut order);
        order
    }

    /// What the first epoch leaves out, because it fills no batch.
    fn rest(&self, seed: u64, task: usize) -> Result<Vec<Sample>, DataError> {
        let start = self.range(self.batches() - 1).end;
        self.order_of(seed, task, 0)[start..].iter().map(|&index| self.samples.get(index)).collect()
    }
}

/// What learning a task came to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Learned {
    /// Steps taken.
    pub steps: u64,
    /// The loss of the last step; none where it only moved the running statistics.
    pub loss: Option<f32>,
}

impl Learner {
    /// Begins a task in which these classes are learned; those that are new get a row of their own.
    /// Going on with a task that was begun changes nothing.
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

    /// The task at this learner's position, from these samples.
    pub fn lesson<'a>(&self, samples: &'a dyn Samples) -> Lesson<'a> {
        Lesson::new(samples, self.config.batch)
    }

    /// Takes the next step of a task that was begun; none where its epochs are over. `mark` is told
    /// what has just ended.
    ///
    /// # Errors
    /// A sample cannot be read: nothing was learned.
    pub fn learn_next(&mut self, lesson: &mut Lesson, mark: &mut dyn FnMut(Phase)) -> Result<Option<Step>, DataError> {
        let (batches, epochs) = (lesson.batches(), self.config.epochs);
        // A position beyond these batches came with another task: its epoch is over.
        if self.position.batch >= batches {
            (self.position.epoch, self.position.batch) = (self.position.epoch.saturating_add(1), 0);
        }
        let Position { epoch, batch, .. } = self.position;
        if epoch >= epochs {
            return Ok(None);
        }
        let incoming = lesson.batch(self.config.seed, self.position)?;
        mark(Phase::Data);
        let progress = (epoch * batches + batch) as f64 / (epochs * batches) as f64;
        let step = self.step_at(&incoming, progress, mark);
        self.position.batch += 1;
        if self.position.batch == batches {
            (self.position.epoch, self.position.batch) = (epoch + 1, 0);
        }
        Ok(Some(step))
    }

    /// Offers the memory what the first epoch of the task has left out, because it fills no batch:
    /// where samples are offered in the first epoch only, these would never be. A method that keeps
    /// what a step computed of its samples has nothing to keep of these.
    ///
    /// # Errors
    /// A sample cannot be read.
    pub fn offer_rest(&mut self, lesson: &Lesson) -> Result<(), DataError> {
        let rest = lesson.rest(self.config.seed, self.position.task)?;
        if self.config.offer == Offer::FirstEpoch && self.memory.capacity() > 0 && !self.method.stores_logits() {
            let rng = &mut Rng::new(self.config.seed, RngStream::Rest, &[self.position.task as u64]);
            self.offer(&rest, None, rng);
        }
        Ok(())
    }

    /// Ends a task: the next one begins at its first batch.
    pub fn end_task(&mut self) {
        self.position =
            Position { task: self.position.task.saturating_add(1), steps: self.position.steps, ..Position::default() };
    }

    /// Learns a task: all its epochs, replaying from memory beside it. Labels are names, and new
    /// ones may come at any time.
    ///
    /// # Errors
    /// An image is of another size, or there are not as many labels as images. Nothing was learned
    /// then.
    pub fn learn_task<S: AsRef<str>>(&mut self, images: &[Image], labels: &[S]) -> Result<Learned, LearnerError> {
        let samples = self.samples(images, labels)?;
        let mut learned = Learned { steps: 0, loss: None };
        let mut lesson = self.lesson(&samples);
        while let Some(step) = self.learn_next(&mut lesson, &mut |_| {})? {
            learned = Learned { steps: learned.steps + 1, loss: step.loss };
        }
        self.end_task();
        Ok(learned)
    }

    /// Takes one step on a batch of the current task. Labels are names, and new ones may come at
    /// any time.
    ///
    /// # Errors
    /// An image is of another size, or there are not as many labels as images. Nothing was learned
    /// then.
    pub fn learn_batch<S: AsRef<str>>(&mut self, images: &[Image], labels: &[S]) -> Result<Step, LearnerError> {
        let samples = self.samples(images, labels)?;
        Ok(self.step(&samples))
    }

    /// Images and names as samples of the current task; names that are new become known.
    fn samples<S: AsRef<str>>(&mut self, images: &[Image], labels: &[S]) -> Result<Vec<Sample>, LearnerError> {
        if images.len() != labels.len() {
            return Err(LearnerError::Labels { images: images.len(), labels: labels.len() });
        }
        if images.is_empty() {
            return Err(LearnerError::NoImages);
        }
        self.check_images(images)?;
        self.begin_task(labels)?;
        let task = TaskId(u16::try_from(self.position.task).unwrap_or(u16::MAX));
        let sample = |(image, label): (&Image, &S)| {
            let label = self.classes.find(label.as_ref()).unwrap_or(Class(0));
            Sample { image: image.clone(), label, task }
        };
        Ok(images.iter().zip(labels).map(sample).collect())
    }
}
