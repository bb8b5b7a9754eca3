//! Why a data set cannot be cut as planned.

use thiserror::Error;

use crate::sample::TaskId;

/// Why a data set cannot be cut as planned.
#[derive(Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum StreamError {
    /// More classes than there are, or none.
    #[error("the data set has {available} classes: `classes = {asked}` cannot be used")]
    Classes { asked: usize, available: usize },
    /// A remainder.
    #[error("{classes} classes do not divide into {tasks} tasks of equal size: choose `tasks` from {}", divisors(*classes))]
    Uneven { classes: usize, tasks: usize },
    /// A class has no image in a split.
    #[error("class `{class}` has no {split} images")]
    Empty { class: String, split: &'static str },
    /// A class of `task-classes` that is not there.
    #[error("`task-classes` names the class `{class}`, which the data set does not have")]
    Unknown { class: String },
    /// A class of `task-classes` that is there twice, or a task without any.
    #[error("`task-classes` must name at least one class for each task, and each class at most once{}", twice.as_ref().map(|class| format!(": `{class}` is there twice")).unwrap_or_default())]
    Listed { twice: Option<String> },
    /// The data set was recorded under one condition.
    #[error("this data set has no domains: a domain-incremental stream needs one that has, such as core50")]
    NoDomains,
    /// A remainder.
    #[error("{domains} domains do not divide into {tasks} tasks of equal size: choose `tasks` from {}", divisors(*domains))]
    Domains { domains: usize, tasks: usize },
    /// Nothing can come from other tasks where there are none.
    #[error("a blurry stream needs at least two tasks")]
    Alone,
    /// Not one whole batch in a task.
    #[error("a batch of {batch} is larger than task {}, which has {samples} training images", task.0 + 1)]
    Batch { batch: usize, task: TaskId, samples: usize },
}

fn divisors(number: usize) -> String {
    let all: Vec<String> = (1..=number).filter(|d| number.is_multiple_of(*d)).map(|d| d.to_string()).collect();
    all.join(", ")
}
