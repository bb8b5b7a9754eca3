//! Why a data set cannot be cut as planned.

use thiserror::Error;

use crate::sample::TaskId;

/// Why a data set cannot be cut as planned.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum StreamError {
    /// More classes than there are, or none.
    #[error("the data set has {available} classes: `classes = {asked}` cannot be used")]
    Classes {
        /// As asked.
        asked: usize,
        /// As there are.
        available: usize,
    },
    /// A remainder.
    #[error("{classes} classes do not divide into {tasks} tasks of equal size: choose `tasks` from {}", divisors(*classes))]
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
    /// A class of `task-classes` that is not there.
    #[error("`task-classes` names the class `{class}`, which the data set does not have")]
    Unknown {
        /// As it was named.
        class: String,
    },
    /// A class of `task-classes` that is there twice, or a task without any.
    #[error("`task-classes` must name at least one class for each task, and each class at most once{}", twice.as_ref().map(|class| format!(": `{class}` is there twice")).unwrap_or_default())]
    Listed {
        /// The class that is named twice.
        twice: Option<String>,
    },
    /// The data set was recorded under one condition.
    #[error("this data set has no domains: a domain-incremental stream needs one that has, such as core50")]
    NoDomains,
    /// A remainder.
    #[error("{domains} domains do not divide into {tasks} tasks of equal size: choose `tasks` from {}", divisors(*domains))]
    Domains {
        /// Domains to share out.
        domains: usize,
        /// Tasks to share them among.
        tasks: usize,
    },
    /// Nothing can come from other tasks where there are none.
    #[error("a blurry stream needs at least two tasks")]
    Alone,
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
