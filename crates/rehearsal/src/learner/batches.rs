//! The data loader order: which samples come in which batch, and where in it a learner is.

use std::ops::Range;

use rehearsal_data::DataError;
use serde::{Deserialize, Serialize};

use crate::{
    rng::{Rng, RngStream},
    sample::Sample,
};

/// Where a learner is: everything before this batch has been learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The task.
    pub task: usize,
    /// The epoch of the task.
    pub epoch: usize,
    /// The batch of the epoch.
    pub batch: usize,
    /// Steps taken, over all tasks.
    pub steps: u64,
}

impl Cursor {
    /// Whether a task has been begun and not ended.
    pub fn is_inside_task(self) -> bool {
        (self.epoch, self.batch) != (0, 0)
    }

    /// The first batch of the next epoch if this one has no more than `batches`.
    pub(super) fn in_epochs_of(self, batches: usize) -> Self {
        if self.batch < batches { self } else { Self { epoch: self.epoch.saturating_add(1), batch: 0, ..self } }
    }

    /// The first batch of the next task.
    pub(super) fn next_task(self) -> Self {
        Self { task: self.task.saturating_add(1), steps: self.steps, ..Self::default() }
    }
}

/// The training samples of a task.
pub trait Samples: Sync {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them, `index < len()`.
    ///
    /// # Errors
    /// It cannot be read.
    fn get(&self, index: usize) -> Result<Sample, DataError>;

    /// The names of their classes, in order of appearance. Empty: the learner knows them already.
    fn classes(&self) -> &[String] {
        &[]
    }
}

impl Samples for Vec<Sample> {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, index: usize) -> Result<Sample, DataError> {
        Ok(self[index].clone())
    }
}

/// The batches of a task, epoch by epoch. The order depends on nothing but seed, task and epoch.
pub(super) struct Batches<'a> {
    samples: &'a dyn Samples,
    size: usize,
    seed: u64,
    /// The order of the epoch that was last asked for.
    order: Option<(usize, Vec<usize>)>,
}

impl<'a> Batches<'a> {
    pub(super) fn new(samples: &'a dyn Samples, size: usize, seed: u64) -> Self {
        Self { samples, size, seed, order: None }
    }

    /// How many an epoch has. A last partial one is dropped, unless it is the only one.
    pub(super) fn per_epoch(&self) -> usize {
        (self.samples.len() / self.size).max(1)
    }

    /// The batch at a cursor.
    pub(super) fn at(&mut self, Cursor { task, epoch, batch, .. }: Cursor) -> Result<Vec<Sample>, DataError> {
        let order = match self.order.take() {
            Some((of, order)) if of == epoch => order,
            _ => self.order_of(task, epoch),
        };
        let samples = order[self.range(batch)].iter().map(|&index| self.samples.get(index)).collect();
        self.order = Some((epoch, order));
        samples
    }

    /// What the first epoch leaves out, because it fills no batch.
    pub(super) fn rest(&self, task: usize) -> Result<Vec<Sample>, DataError> {
        let start = self.range(self.per_epoch() - 1).end;
        self.order_of(task, 0)[start..].iter().map(|&index| self.samples.get(index)).collect()
    }

    fn range(&self, batch: usize) -> Range<usize> {
        let end = |batch: usize| batch.saturating_mul(self.size).min(self.samples.len());
        end(batch)..end(batch.saturating_add(1))
    }

    fn order_of(&self, task: usize, epoch: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.samples.len()).collect();
        Rng::new(self.seed, RngStream::Shuffling, &[task as u64, epoch as u64]).shuffle(&mut order);
        order
    }
}
