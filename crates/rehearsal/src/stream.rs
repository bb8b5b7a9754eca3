//! A data set becomes a stream: class order → tasks. The learner shuffles each of them into batches.

mod cut;
mod error;

use std::{collections::BTreeSet, sync::Arc};

pub use error::StreamError;

use crate::{
    learner::Samples,
    sample::{Class, InputShape, Sample, TaskId},
};
use cut::{Entry, Task, cut};
use rehearsal_data::{DataError, Source, Split, choice};

/// How tasks differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamKind {
    /// Each task brings new classes.
    #[default]
    ClassIncremental,
    /// Each task brings all classes, in a new domain.
    DomainIncremental,
    /// Each task brings new classes, but a share of its samples comes from other tasks.
    Blurry,
}
choice!(
    StreamKind,
    "stream",
    ClassIncremental = "class-incremental",
    DomainIncremental = "domain-incremental",
    Blurry = "blurry",
);

impl StreamKind {
    /// Whether it is the one that a run has unless told otherwise.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

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
    /// How tasks differ.
    pub kind: StreamKind,
    /// Of a blurry stream: the share of each task's samples that comes from other tasks.
    pub blur: f64,
    /// The classes of each task, by name, if the user lists them; tasks may then be uneven.
    pub task_classes: Option<Vec<Vec<String>>>,
    /// How many tasks; the classes (or domains) must divide by it.
    pub tasks: usize,
    /// Use only this many classes, the first of the data set.
    pub classes: Option<usize>,
    /// In which order they appear.
    pub class_order: ClassOrder,
    /// The most training images of each class.
    pub train_per_class: Option<usize>,
    /// The most test images of each class.
    pub test_per_class: Option<usize>,
    /// Samples per batch.
    pub batch: usize,
    /// The experiment's seed.
    pub seed: u64,
}

/// A sequence of tasks over one source. Classes are renumbered in order of appearance.
pub struct Stream {
    source: Arc<dyn Source>,
    tasks: Vec<Task>,
    class_names: Vec<String>,
    batch: usize,
}

impl Stream {
    /// Cuts a source into tasks.
    ///
    /// # Errors
    /// The plan does not fit the data: see [`StreamError`].
    pub fn new(source: Arc<dyn Source>, plan: &Plan) -> Result<Self, StreamError> {
        let (tasks, order) = cut(&*source, plan)?;
        let class_names = distinct(order.iter().map(|&class| source.class_names()[class].as_str()));
        if let Some((task, short)) = tasks.iter().enumerate().find(|(_, task)| task.train.len() < plan.batch) {
            let task = TaskId(task as u16);
            return Err(StreamError::Batch { batch: plan.batch, task, samples: short.train.len() });
        }
        Ok(Self { source, tasks, class_names, batch: plan.batch })
    }

    /// What its samples are.
    pub fn input(&self) -> InputShape {
        self.source.input()
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
        self.tasks[task.index()].seen
    }

    /// Whole batches in one epoch of a task; a last partial one is dropped.
    pub fn batches(&self, task: TaskId) -> usize {
        self.tasks[task.index()].train.len() / self.batch
    }

    /// The training samples of a task.
    pub fn samples(&self, task: TaskId) -> TaskSamples<'_> {
        TaskSamples { stream: self, task }
    }

    /// The test images of a task: class by class in order of appearance, each class in the source's order.
    ///
    /// # Errors
    /// An image cannot be read.
    pub fn test(&self, task: TaskId) -> Result<Vec<Sample>, DataError> {
        self.tasks[task.index()].test.iter().map(|entry| self.load(Split::Test, task, *entry)).collect()
    }

    /// How many classes the test images of a task have, and how many images there are.
    pub(crate) fn tested(&self, task: TaskId) -> (usize, usize) {
        (self.tested_classes(task).len(), self.tasks[task.index()].test.len())
    }

    /// The classes that the test images of a task have.
    pub(crate) fn tested_classes(&self, task: TaskId) -> BTreeSet<Class> {
        self.tasks[task.index()].test.iter().map(|entry| entry.label).collect()
    }

    fn load(&self, split: Split, task: TaskId, entry: Entry) -> Result<Sample, DataError> {
        Ok(Sample { image: self.source.image(split, entry.index)?, label: entry.label, task })
    }
}

/// Names of which no two are equal: data sets in a chain may have a name in common, and a learner knows its
/// classes by name. The second of a name is called `name (2)`.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !distinct.contains(name));
        distinct.extend(free);
    }
    distinct
}

/// The training samples of a task, read when they are asked for.
pub struct TaskSamples<'a> {
    stream: &'a Stream,
    task: TaskId,
}

impl Samples for TaskSamples<'_> {
    fn len(&self) -> usize {
        self.stream.tasks[self.task.index()].train.len()
    }

    fn get(&self, index: usize) -> Result<Sample, DataError> {
        self.stream.load(Split::Train, self.task, self.stream.tasks[self.task.index()].train[index])
    }

    fn classes(&self) -> &[String] {
        &self.stream.class_names[..self.stream.seen(self.task)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Class;
    use rehearsal_data::{Dataset, Request};

    fn plan() -> Plan {
        let cap = None;
        Plan {
            kind: StreamKind::ClassIncremental,
            blur: 0.0,
            task_classes: None,
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
        Stream::new(Dataset::Embedded.open(&Request::default()).unwrap(), plan)
    }

    #[test]
    fn classes_are_renumbered_in_order_of_appearance() {
        let stream = stream(&plan()).unwrap();
        assert_ne!(stream.class_names()[..2], ["t-shirt", "trouser"], "seed 1 shuffles");
        for task in stream.tasks() {
            let expected = [Class(2 * task.0), Class(2 * task.0 + 1)];
            assert!(stream.test(task).unwrap().iter().all(|s| expected.contains(&s.label) && s.task == task));
            let samples = stream.samples(task);
            let all: Vec<Sample> = (0..samples.len()).map(|index| samples.get(index).unwrap()).collect();
            assert!(all.iter().all(|s| expected.contains(&s.label) && s.task == task));
            assert_eq!((stream.seen(task), stream.batches(task)), (2 * task.index() + 2, 50));
        }
    }

    #[test]
    fn no_two_classes_have_one_name() {
        let names = distinct(["cat", "dog", "cat", "cat (2)", "cat"].into_iter());
        assert_eq!(names, ["cat", "dog", "cat (2)", "cat (2) (2)", "cat (3)"]);
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
            "10 classes do not divide into 3 tasks of equal size: choose `tasks` from 1, 2, 5, 10"
        );
        assert_eq!(
            error(Plan { classes: Some(11), ..plan() }),
            "the data set has 10 classes: `classes = 11` cannot be used"
        );
        assert_eq!(
            error(Plan { batch: 501, ..plan() }),
            "a batch of 501 is larger than task 1, which has 500 training images"
        );
        assert!(error(Plan { tasks: 0, ..plan() }).contains("0 tasks"));
        assert!(error(Plan { test_per_class: Some(0), ..plan() }).contains("has no test images"));
    }
}
