//! Whether a data set is there.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{DEBIAN, card};
use crate::{Dataset, Incomplete, choice::Choice, home::Place, sources::mini_imagenet};

/// Whether a data set can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Everything is there.
    Ready,
    /// It can be used, but has fewer images than were published.
    Incomplete(Incomplete),
    /// It cannot be used: a download is not complete, or a file is missing or damaged.
    Partial,
    /// Nothing is there.
    Absent,
}

impl State {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Incomplete(_) => "part",
            Self::Partial => "partial",
            Self::Absent => "absent",
        }
    }
}

impl fmt::Display for State {
    /// `ready`, or `part: 30,000 of 50,000`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Incomplete(incomplete) => f.pad(&format!("part: {}", incomplete.short())),
            state => f.pad(state.name()),
        }
    }
}

/// Whether a data set can be used, and the directories of its files. Images are counted, not read.
pub fn state(dataset: Dataset, home: &Path) -> (State, Vec<PathBuf>) {
    let card = card(dataset);
    if dataset == Dataset::Embedded {
        return (State::Ready, Vec::new());
    }
    let place = Place::new(home, dataset.name());
    let own = home.join(dataset.name());
    let marks: Vec<Option<PathBuf>> = match dataset {
        Dataset::MiniImagenet => vec![mini_imagenet::find(home)],
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
            || archive.partial(home).exists()
    });
    let whole = !marks.is_empty() && marks.iter().all(Option::is_some);
    let found: Vec<PathBuf> = marks.into_iter().flatten().collect();
    let state = match (whole, begun || !found.is_empty()) {
        (true, _) => match dataset.count(home) {
            Ok(count) => Incomplete::compare(dataset, None, count).map_or(State::Ready, State::Incomplete),
            Err(_) => State::Partial,
        },
        (false, true) => State::Partial,
        (false, false) => State::Absent,
    };
    (state, found)
}
