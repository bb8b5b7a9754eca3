//! Data sets with fewer images than were published.

use std::fmt;

use rehearsal_files::text::thousands;
use serde::{Deserialize, Serialize};

use crate::{Dataset, catalogue::card};

/// How many images a split has, and how many were published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Images that were found.
    pub found: usize,
    /// Images that the catalogue says there are.
    pub published: usize,
}

impl fmt::Display for Count {
    /// `30,000 of 50,000`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} of {}", thousands(self.found), thousands(self.published))
    }
}

/// A data set with fewer images than were published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incomplete {
    /// Which one.
    pub dataset: Dataset,
    /// Its training images.
    pub train: Count,
    /// Its test images.
    pub test: Count,
}

impl Incomplete {
    /// Compares the number of training and test images with the catalogue; `classes` is how many were
    /// asked for. `None` if nothing is missing, or nothing is known.
    pub(crate) fn compare(dataset: Dataset, classes: Option<usize>, found: (usize, usize)) -> Option<Self> {
        let card = card(dataset);
        let times = match (classes, card.classes) {
            (Some(asked), Some(default)) if dataset == Dataset::TinyImagenet && asked > default => 2,
            _ => 1,
        };
        let published = card.images.map(|(train, test)| (times * train, times * test))?;
        let fewest = card.fewest_images.unwrap_or(published);
        (found.0 < fewest.0 || found.1 < fewest.1).then_some(Self {
            dataset,
            train: Count { found: found.0, published: published.0 },
            test: Count { found: found.1, published: published.1 },
        })
    }

    /// For a table: `30,000 of 50,000`, or `5,000 of 10,000 test` if only those are missing.
    pub fn short(&self) -> String {
        if self.train.found < self.train.published { self.train.to_string() } else { format!("{} test", self.test) }
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} training images and {} test images of {}", self.train, self.test, self.dataset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_compared_with_the_catalogue() {
        let compare = |dataset, classes, found| Incomplete::compare(dataset, classes, found);
        assert_eq!(compare(Dataset::Cifar100, None, (50_000, 10_000)), None);
        assert_eq!(compare(Dataset::Folder, None, (1, 0)), None, "the number is not known");
        let part = compare(Dataset::Cifar100, None, (30_000, 10_000)).unwrap();
        assert_eq!(part.short(), "30,000 of 50,000");
        let text = "30,000 of 50,000 training images and 10,000 of 10,000 test images of cifar100";
        assert_eq!(part.to_string(), text);
        assert_eq!(compare(Dataset::Cifar10, None, (50_000, 7)).unwrap().short(), "7 of 10,000 test");
        assert_eq!(compare(Dataset::TinyImagenet, Some(50), (50_000, 5_000)), None);
        assert!(compare(Dataset::TinyImagenet, Some(101), (50_000, 5_000)).is_some());
        assert_eq!(compare(Dataset::TinyImagenet, Some(200), (100_000, 10_000)), None);
        assert_eq!(compare(Dataset::Core50, None, (39_900, 10_000)), None, "some of its films lack frames");
        assert!(compare(Dataset::Core50, None, (20_000, 10_000)).is_some());
    }
}
