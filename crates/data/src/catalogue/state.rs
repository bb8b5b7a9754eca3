//! Whether a data set is there.

use std::path::{Path, PathBuf};

use super::{DEBIAN, card};
use crate::{Dataset, choice::Choice, fetch, home::Place, sources::mini_imagenet};

/// Whether a data set can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Everything is there.
    Ready,
    /// Some of it is there: a download was broken off, or a part is missing.
    Partial,
    /// Nothing is there.
    Absent,
}

impl State {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Partial => "partial",
            Self::Absent => "absent",
        }
    }
}

/// Whether a data set can be used, and where its files are: the directories that were found.
pub fn state(dataset: Dataset, home: &Path) -> (State, Vec<PathBuf>) {
    let card = card(dataset);
    if dataset == Dataset::Embedded {
        return (State::Ready, Vec::new());
    }
    let place = Place::new(home, dataset.name());
    let own = home.join(dataset.name());
    let marks: Vec<Option<PathBuf>> = match dataset {
        Dataset::MiniImagenet => match mini_imagenet::find(home) {
            Some(found) => vec![Some(found)],
            None => vec![None],
        },
        Dataset::FashionMnist => {
            let debian = Path::new(DEBIAN);
            let found = place.find("fashion-mnist", "train-images-idx3-ubyte.gz");
            vec![found.or_else(|| debian.join("train-images-idx3-ubyte.gz").exists().then(|| debian.into()))]
        }
        _ => card.marks.iter().map(|(folder, marker)| place.find(folder, marker)).collect(),
    };
    let begun = card.archives.iter().any(|archive| {
        own.join(archive.part).exists()
            || own.join(archive.part).with_added_extension("unpacking").exists()
            || fetch::partial(home, archive).exists()
    });
    let whole = !marks.is_empty() && marks.iter().all(Option::is_some);
    let found: Vec<PathBuf> = marks.into_iter().flatten().collect();
    let state = match (whole, begun || !found.is_empty()) {
        (true, _) => State::Ready,
        (false, true) => State::Partial,
        (false, false) => State::Absent,
    };
    (state, found)
}
