//! The batches that every learner of the comparison learns: the tasks of a stream one after another,
//! first as many as fill the memory, then those that are measured.

use anyhow::Result;
use rehearsal::{
    Learner,
    config::{Config, PartialConfig},
    learner::{Parts, Samples},
    rng::{Rng, RngStream},
    sample::{ImageShape, Sample, TaskId},
    stream::Stream,
};

/// Steps that the memory is full for before anything is measured.
const SETTLING: usize = 10;

/// See the module.
pub struct Batches {
    all: Vec<(TaskId, Vec<Sample>)>,
    /// How many come before those that are measured.
    before: usize,
    names: Vec<String>,
    /// How many classes have appeared, by task.
    seen: Vec<usize>,
    shape: ImageShape,
}

impl Batches {
    /// Those of a stream with these settings, `measured` of them beyond what fills the memory.
    ///
    /// # Errors
    /// There are no such data, or they cannot be read.
    pub fn new(settings: &PartialConfig, measured: usize) -> Result<Self> {
        let config = settings.resolve()?;
        let stream = Stream::new(config.dataset.open(&config.request())?, &config.plan())?;
        let before = config.learner.memory.div_ceil(config.learner.batch) + SETTLING;
        let tasks = stream.tasks().len();
        let mut all = Vec::new();
        for task in stream.tasks() {
            let steps = (before + measured) * (task.index() + 1) / tasks - all.len();
            of_task(&stream, task, steps, &config, &mut all)?;
        }
        let seen = stream.tasks().map(|task| stream.seen(task)).collect();
        Ok(Self { all, before, names: stream.class_names().to_vec(), seen, shape: stream.shape() })
    }

    /// How many steps are measured.
    pub fn measured(&self) -> usize {
        self.all.len() - self.before
    }

    /// Of the images.
    pub fn shape(&self) -> ImageShape {
        self.shape
    }

    /// A learner of these settings, before its first batch.
    ///
    /// # Errors
    /// They make no sense, or this machine has not enough memory.
    pub fn learner(&self, settings: &PartialConfig) -> Result<Learner> {
        let config = settings.learner()?;
        Ok(Learner::new(config, self.shape, &self.names, Parts::new())?)
    }

    /// Every batch, whether it is measured, and the classes that have appeared with it where it is
    /// the first of its task.
    pub fn iter(&self) -> impl Iterator<Item = Batch<'_>> {
        let mut last = None;
        self.all.iter().enumerate().map(move |(index, (task, samples))| {
            let begins = last.replace(*task) != Some(*task);
            let classes = begins.then(|| &self.names[..self.seen[task.index()]]);
            Batch { samples, classes, is_measured: index >= self.before }
        })
    }
}

/// New samples of one step.
pub struct Batch<'a> {
    pub samples: &'a [Sample],
    /// Those seen so far, where a task begins.
    pub classes: Option<&'a [String]>,
    pub is_measured: bool,
}

impl Batch<'_> {
    /// Where a task begins with it, ends the one before and begins this one.
    ///
    /// # Errors
    /// There are too many classes.
    pub fn begin(&self, learner: &mut Learner) -> Result<()> {
        if let Some(classes) = self.classes {
            if learner.cursor().steps > 0 {
                learner.end_task();
            }
            learner.begin_task(classes)?;
        }
        Ok(())
    }
}

/// Adds the batches of a task: as many passes over its samples as `steps` take.
fn of_task(
    stream: &Stream,
    task: TaskId,
    steps: usize,
    config: &Config,
    batches: &mut Vec<(TaskId, Vec<Sample>)>,
) -> Result<()> {
    let samples = stream.samples(task);
    let (end, size) = (batches.len() + steps, config.learner.batch);
    for epoch in 0.. {
        let mut order: Vec<usize> = (0..samples.len()).collect();
        Rng::new(config.learner.seed, RngStream::Shuffling, &[task.index() as u64, epoch]).shuffle(&mut order);
        for batch in order.chunks_exact(size) {
            if batches.len() == end {
                return Ok(());
            }
            let batch: Result<Vec<Sample>, _> = batch.iter().map(|&index| samples.get(index)).collect();
            batches.push((task, batch?));
        }
    }
    Ok(())
}
