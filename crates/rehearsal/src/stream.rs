//! A data set becomes a stream: class order → tasks → shuffled batches.

use std::sync::Arc;

use thiserror::Error;

use crate::{
    chance::{Chance, Decides},
    choice::choice,
    datasets::{DataError, Source, Split},
    sample::{Class, ImageShape, Sample, TaskId},
};

/// In which order the classes appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassOrder {
    /// As the data set numbers them.
    Natural,
    /// Shuffled by the seed.
    Seeded,
}
choice!(ClassOrder, "class order", Natural = "natural", Seeded = "seeded");

/// How to cut a data set into a stream.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many tasks; the classes must divide by it.
    pub tasks: usize,
    /// Use the data set's first so many classes only.
    pub classes: Option<usize>,
    /// In which order they appear.
    pub class_order: ClassOrder,
    /// Use at most the first so many training images of each class.
    pub train_per_class: Option<usize>,
    /// Use at most the first so many test images of each class.
    pub test_per_class: Option<usize>,
    /// Samples per batch.
    pub batch: usize,
    /// The experiment's seed.
    pub seed: u64,
}

/// Why a data set cannot be cut as planned.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum StreamError {
    /// More classes than there are, or none.
    #[error("the data set has {available} classes: `--classes {asked}` cannot be used")]
    Classes {
        /// As asked.
        asked: usize,
        /// As there are.
        available: usize,
    },
    /// A remainder.
    #[error("{classes} classes do not divide into {tasks} tasks of equal size: choose `--tasks` from {}", divisors(*classes))]
    Uneven {
        /// Classes to share out.
        classes: usize,
        /// Tasks to share them among.
        tasks: usize,
    },
    /// A class has no image in a split.
    #[error("class `{class}` has no {split} images")]
    Empty {
        /// Its name.
        class: String,
        /// Train or test.
        split: &'static str,
    },
    /// Not one whole batch in a task.
    #[error("a batch of {batch} is larger than task {}, which has {samples} training images", task.0 + 1)]
    Batch {
        /// Samples per batch.
        batch: usize,
        /// The task.
        task: TaskId,
        /// Its training images.
        samples: usize,
    },
}

fn divisors(number: usize) -> String {
    let all: Vec<String> = (1..=number).filter(|d| number.is_multiple_of(*d)).map(|d| d.to_string()).collect();
    all.join(", ")
}

/// An image of the source and the class it has in the stream.
#[derive(Clone, Copy, Debug)]
struct Entry {
    index: usize,
    label: Class,
}

#[derive(Debug, Default)]
struct Task {
    train: Vec<Entry>,
    test: Vec<Entry>,
}

/// A sequence of tasks over one source. Classes are renumbered in order of appearance.
pub struct Stream {
    source: Arc<dyn Source>,
    tasks: Vec<Task>,
    class_names: Vec<String>,
    batch: usize,
    seed: u64,
}

impl Stream {
    /// Cuts a source into tasks.
    ///
    /// # Errors
    /// The plan does not fit the data: see [`StreamError`].
    pub fn new(source: Arc<dyn Source>, plan: &Plan) -> Result<Self, StreamError> {
        let available = source.class_names().len();
        let classes = plan.classes.unwrap_or(available);
        if classes == 0 || classes > available {
            return Err(StreamError::Classes { asked: classes, available });
        }
        if plan.tasks == 0 || !classes.is_multiple_of(plan.tasks) {
            return Err(StreamError::Uneven { classes, tasks: plan.tasks });
        }
        let mut order: Vec<usize> = (0..classes).collect();
        if plan.class_order == ClassOrder::Seeded {
            Chance::new(plan.seed, Decides::ClassOrder, &[]).shuffle(&mut order);
        }
        let class_names: Vec<String> = order.iter().map(|&class| source.class_names()[class].clone()).collect();
        let mut train = per_class(&*source, Split::Train, &order, plan.train_per_class)?.into_iter();
        let mut test = per_class(&*source, Split::Test, &order, plan.test_per_class)?.into_iter();
        let per_task = classes / plan.tasks;
        let tasks: Vec<Task> = (0..plan.tasks)
            .map(|_| Task {
                train: train.by_ref().take(per_task).flatten().collect(),
                test: test.by_ref().take(per_task).flatten().collect(),
            })
            .collect();
        if let Some((task, short)) = tasks.iter().enumerate().find(|(_, task)| task.train.len() < plan.batch) {
            let task = TaskId(task as u16);
            return Err(StreamError::Batch { batch: plan.batch, task, samples: short.train.len() });
        }
        Ok(Self { source, tasks, class_names, batch: plan.batch, seed: plan.seed })
    }

    /// Height, width and channels of the images.
    pub fn shape(&self) -> ImageShape {
        self.source.shape()
    }

    /// The tasks, in order.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = TaskId> + use<> {
        (0..self.tasks.len()).map(|task| TaskId(task as u16))
    }

    /// What the classes are called, in order of appearance.
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }

    /// How many classes have appeared once `task` has begun: they are `0..seen`.
    pub fn seen(&self, task: TaskId) -> usize {
        (task.index() + 1) * self.class_names.len() / self.tasks.len()
    }

    /// Whole batches in one epoch of a task; a last partial one is dropped.
    pub fn batches(&self, task: TaskId) -> usize {
        self.tasks[task.index()].train.len() / self.batch
    }

    /// One epoch of a task: its batches, in an order of its own that depends on nothing but seed, task and epoch.
    pub fn epoch(&self, task: TaskId, epoch: usize) -> Epoch<'_> {
        let mut order = self.tasks[task.index()].train.clone();
        Chance::new(self.seed, Decides::Shuffling, &[u64::from(task.0), epoch as u64]).shuffle(&mut order);
        Epoch { stream: self, task, order }
    }

    /// The test images of a task: class by class in order of appearance, each class in the source's order.
    ///
    /// # Errors
    /// An image cannot be read.
    pub fn test(&self, task: TaskId) -> Result<Vec<Sample>, DataError> {
        self.load(Split::Test, task, &self.tasks[task.index()].test)
    }

    fn load(&self, split: Split, task: TaskId, entries: &[Entry]) -> Result<Vec<Sample>, DataError> {
        let load =
            |entry: &Entry| Ok(Sample { image: self.source.image(split, entry.index)?, label: entry.label, task });
        entries.iter().map(load).collect()
    }
}

/// One pass over a task.
pub struct Epoch<'a> {
    stream: &'a Stream,
    task: TaskId,
    order: Vec<Entry>,
}

impl Epoch<'_> {
    /// Batch `number`, below [`Stream::batches`].
    ///
    /// # Errors
    /// An image cannot be read.
    pub fn batch(&self, number: usize) -> Result<Vec<Sample>, DataError> {
        let size = self.stream.batch;
        self.stream.load(Split::Train, self.task, &self.order[number * size..(number + 1) * size])
    }
}

/// The images of each class of `order`, renumbered by their place in it.
fn per_class(
    source: &dyn Source,
    split: Split,
    order: &[usize],
    cap: Option<usize>,
) -> Result<Vec<Vec<Entry>>, StreamError> {
    let mut place = vec![None; source.class_names().len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = Some(new);
    }
    let mut entries = vec![Vec::new(); order.len()];
    for (index, &old) in source.labels(split).iter().enumerate() {
        if let Some(new) = place[usize::from(old)]
            && entries[new].len() < cap.unwrap_or(usize::MAX)
        {
            entries[new].push(Entry { index, label: Class(new as u16) });
        }
    }
    match entries.iter().position(Vec::is_empty) {
        None => Ok(entries),
        Some(new) => {
            let class = source.class_names()[order[new]].clone();
            Err(StreamError::Empty { class, split: if split == Split::Train { "training" } else { "test" } })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::Dataset;

    fn plan() -> Plan {
        let cap = None;
        Plan {
            tasks: 5,
            classes: None,
            class_order: ClassOrder::Seeded,
            train_per_class: cap,
            test_per_class: cap,
            batch: 10,
            seed: 1,
        }
    }

    fn stream(plan: &Plan) -> Result<Stream, StreamError> {
        Stream::new(Dataset::Embedded.open(None).unwrap(), plan)
    }

    #[test]
    fn classes_are_renumbered_in_order_of_appearance() {
        let stream = stream(&plan()).unwrap();
        assert_ne!(stream.class_names()[..2], ["t-shirt", "trouser"], "seed 1 shuffles");
        for task in stream.tasks() {
            let expected = [Class(2 * task.0), Class(2 * task.0 + 1)];
            assert!(stream.test(task).unwrap().iter().all(|s| expected.contains(&s.label) && s.task == task));
            let batch = stream.epoch(task, 0).batch(0).unwrap();
            assert!(batch.iter().all(|s| expected.contains(&s.label) && s.task == task));
            assert_eq!((stream.seen(task), stream.batches(task)), (2 * task.index() + 2, 50));
        }
    }

    #[test]
    fn an_epoch_shows_every_sample_once_and_the_next_in_another_order() {
        let stream = stream(&plan()).unwrap();
        let images = |epoch| -> Vec<_> {
            let epoch = stream.epoch(TaskId(2), epoch);
            (0..50).flat_map(|number| epoch.batch(number).unwrap()).map(|s| s.image).collect()
        };
        let (first, second) = (images(0), images(1));
        assert_eq!(first, images(0));
        assert_ne!(first, second);
        let sorted = |mut images: Vec<_>| {
            images.sort();
            images
        };
        assert_eq!(sorted(first), sorted(second));
    }

    #[test]
    fn natural_order_first_classes_and_caps() {
        let cut = Plan {
            classes: Some(4),
            tasks: 2,
            class_order: ClassOrder::Natural,
            train_per_class: Some(13),
            test_per_class: Some(7),
            ..plan()
        };
        let stream = stream(&cut).unwrap();
        assert_eq!(stream.class_names(), ["t-shirt", "trouser", "pullover", "dress"]);
        assert_eq!(stream.batches(TaskId(1)), 2, "26 images, the last 6 dropped");
        assert_eq!(stream.test(TaskId(0)).unwrap().len(), 14);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_a_reason() {
        let error = |plan: Plan| stream(&plan).err().unwrap().to_string();
        assert_eq!(
            error(Plan { tasks: 3, ..plan() }),
            "10 classes do not divide into 3 tasks of equal size: choose `--tasks` from 1, 2, 5, 10"
        );
        assert_eq!(
            error(Plan { classes: Some(11), ..plan() }),
            "the data set has 10 classes: `--classes 11` cannot be used"
        );
        assert_eq!(
            error(Plan { batch: 501, ..plan() }),
            "a batch of 501 is larger than task 1, which has 500 training images"
        );
        assert!(error(Plan { tasks: 0, ..plan() }).contains("0 tasks"));
        assert!(error(Plan { test_per_class: Some(0), ..plan() }).contains("has no test images"));
    }
}
