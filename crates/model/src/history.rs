//! `history.jsonl`: every session with its result, and every other change of the model. A line counts
//! once `model.toml` has its checksum.

use std::{
    io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use rehearsal_files::{atomic, regular, sha256::sha256};
use serde::{Deserialize, Serialize};

use crate::{Change, ClassScore, ModelError, ModelSettings, Relabel, Score, Share};

/// More than any history has.
const LARGEST: u64 = 1 << 30;

/// The result of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The number of the version.
    pub version: u32,
    /// The version that it was made from; none for the first.
    pub parent: Option<u32>,
    /// Whether it became the current version; a rejected version is kept.
    pub accepted: bool,
    /// How much accuracy the classes known before were allowed to lose, if a limit was given.
    pub max_forgetting: Option<Share>,
    /// Classes that can be predicted.
    pub classes: usize,
    /// Those that were new.
    pub new_classes: Vec<String>,
    /// Images that were learned.
    pub images: usize,
    /// New images that were held out.
    pub held_out: usize,
    /// Images of earlier sessions, not learned again.
    pub seen_before: usize,
    /// Images of earlier sessions that were moved to another class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relabelled: Vec<Relabel>,
    /// The holdout accuracy over all classes.
    pub holdout: Score,
    /// Holdout photos that are left out, because they are near-duplicates of photos in memory.
    #[serde(default)]
    pub near_duplicates: usize,
    /// The classes known before, before and after.
    pub old: Option<Change>,
    /// The classes that were new.
    pub new: Option<Score>,
    /// Every class.
    pub by_class: Vec<ClassScore>,
    /// Below which probability an answer is unsure.
    pub threshold: Option<f64>,
    /// Images in memory.
    pub memory: usize,
    /// Images that fit.
    pub memory_capacity: usize,
    /// Bytes of the version's file.
    pub bytes: u64,
    /// How it was trained, if by gradients.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub training: Option<Training>,
}

/// How a network was trained from scratch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Epochs.
    pub epochs: usize,
    /// Steps taken.
    pub steps: u64,
    /// The loss of the last step.
    pub loss: Option<f32>,
    /// Whether the `BatchNorm` running statistics were recalibrated from the memory.
    pub recalibrated: bool,
}

/// What changed a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A training session.
    Learned(Box<Report>),
    /// Another version became the current one.
    Used {
        /// Which.
        version: u32,
    },
    /// A class was given another name, which made a version.
    Renamed {
        /// The version.
        version: u32,
        /// Its old name.
        from: String,
        /// Its new name.
        to: String,
    },
    /// A class was retired, which made a version.
    Retired {
        /// The version.
        version: u32,
        /// Which.
        class: String,
    },
    /// The photos of a class were given to another, which made a version.
    Merged {
        /// The version.
        version: u32,
        /// The class that is gone.
        from: String,
        /// The class that has its photos now.
        to: String,
    },
    /// Photos were given to another class, which made a version.
    Moved {
        /// The version.
        version: u32,
        /// How many.
        images: usize,
        /// The class that has them now.
        to: String,
    },
    /// Images were removed from every version.
    Removed {
        /// How many different ones.
        images: usize,
        /// The holdout accuracy of every kept version afterwards.
        #[serde(default)]
        holdout: Vec<Rescored>,
    },
}

/// The holdout accuracy of a version after a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rescored {
    /// The version.
    pub version: u32,
    /// Its accuracy.
    pub score: Score,
}

/// The holdout accuracy of a version after the last removal; none if there was none since it was made.
pub fn rescored(history: &[Entry], version: u32) -> Option<Score> {
    history.iter().rev().find_map(|entry| match &entry.event {
        Event::Removed { holdout, .. } => holdout.iter().find(|now| now.version == version).map(|now| now.score),
        _ => None,
    })
}

/// A line of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When, in universal time: `2026-11-17T19:22:51Z`.
    pub when: String,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// The lines that `settings` vouch for.
pub(crate) fn read(path: &Path, settings: &ModelSettings) -> Result<Vec<Entry>, ModelError> {
    let bytes = vouched(path, settings)?;
    let damaged = || ModelError::Damaged { path: path.into(), why: "a line of it cannot be read".into() };
    let text = String::from_utf8(bytes).map_err(|_| damaged())?;
    text.lines().map(|line| serde_json::from_str(line).map_err(|_| damaged())).collect()
}

/// Adds a line; it counts once the changed `settings` are written.
pub(crate) fn add(path: &Path, settings: &mut ModelSettings, event: Event) -> Result<(), ModelError> {
    let mut bytes = vouched(path, settings)?;
    // A clock before 1970 has no such text.
    let when = humantime::format_rfc3339_seconds(SystemTime::now().max(UNIX_EPOCH)).to_string();
    let entry = Entry { when, event };
    bytes.extend(serde_json::to_vec(&entry).expect("an entry is plain data"));
    bytes.push(b'\n');
    atomic::write(path, &bytes).map_err(|error| ModelError::Unwritable { path: path.into(), error })?;
    (settings.history_bytes, settings.history_sha256) = (bytes.len() as u64, sha256(&bytes));
    Ok(())
}

/// The bytes that `settings` vouch for: what was added without them is cut off.
fn vouched(path: &Path, settings: &ModelSettings) -> Result<Vec<u8>, ModelError> {
    let mut bytes = match regular::read(path, LARGEST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|error| ModelError::Unreadable { path: path.into(), error })?,
    };
    bytes.truncate(usize::try_from(settings.history_bytes).unwrap_or(usize::MAX));
    if bytes.len() as u64 == settings.history_bytes && sha256(&bytes) == settings.history_sha256 {
        return Ok(bytes);
    }
    Err(ModelError::Damaged { path: path.into(), why: "its checksum is not that of its content".into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_the_settings_vouch_for_count() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("history.jsonl");
        let mut settings = ModelSettings::new();
        assert_eq!(read(&path, &settings).unwrap(), [], "no file, no lines");
        let events = [Event::Used { version: 2 }, Event::Removed { images: 3, holdout: Vec::new() }];
        events.iter().for_each(|event| add(&path, &mut settings, event.clone()).unwrap());
        let before = settings.clone();
        let lines = |settings: &ModelSettings| {
            read(&path, settings).map(|entries| entries.into_iter().map(|entry| entry.event).collect::<Vec<_>>())
        };
        assert_eq!(lines(&settings).unwrap(), events);
        add(&path, &mut settings, Event::Used { version: 1 }).unwrap();
        assert_eq!(lines(&before).unwrap(), events, "a line of a killed process does not count");
        add(&path, &mut before.clone(), Event::Used { version: 5 }).unwrap();
        assert!(matches!(lines(&settings), Err(ModelError::Damaged { .. })), "another line in its place");
        std::fs::write(&path, "{}\n").unwrap();
        assert!(matches!(lines(&before), Err(ModelError::Damaged { .. })));
    }
}
