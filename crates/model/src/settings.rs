//! `model.toml`: the current version, and the versions that are kept. It is sealed by a checksum and
//! replaced atomically: that is the moment at which a model changes.

use std::{collections::BTreeSet, io, path::Path};

use rehearsal_files::{
    atomic, regular,
    seal::{self, UNSEALED},
    sha256::sha256,
};
use serde::{Deserialize, Serialize};

use crate::{Digest, ModelError};

/// 1 had no checksums of versions, 2 identified images by their pixels.
const FORMAT: u32 = 3;
/// Larger than any such file, in bytes.
const LARGEST: u64 = 256 << 20;
const INTRODUCTION: &str =
    "# A model of Rehearsal, sealed by its checksum: change it with `rehearsal learn` and `use`.\n";
const BEFORE: &str = "sha256 = \"";

/// The content of `model.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ModelSettings {
    pub(crate) sha256: String,
    pub(crate) format: u32,
    /// The current version.
    pub current: u32,
    /// The highest number that a version has had.
    pub last: u32,
    /// How many versions are kept.
    pub keep: usize,
    /// The most holdout images of a class.
    pub holdout_per_class: usize,
    /// The size of the memory, as it was given.
    pub memory: String,
    /// How long `history.jsonl` was when this was written: what comes after does not count.
    pub(crate) history_bytes: u64,
    /// The checksum of so much of it.
    pub(crate) history_sha256: String,
    /// The photos of a removal that is under way: a killed one is finished by the next.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) removing: BTreeSet<Digest>,
    /// The versions that are kept, in order.
    pub(crate) versions: Vec<KeptVersion>,
}

/// A version that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct KeptVersion {
    pub number: u32,
    /// The checksum of its file; two while one file takes the other's place.
    pub sha256: Vec<String>,
    /// Whether it was rejected and never used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rejected: bool,
}

impl ModelSettings {
    /// Before the first version.
    pub(crate) fn new() -> Self {
        Self {
            sha256: UNSEALED.into(),
            format: FORMAT,
            current: 0,
            last: 0,
            keep: 5,
            holdout_per_class: 50,
            memory: crate::MemorySize::DEFAULT.to_string(),
            history_bytes: 0,
            history_sha256: sha256(&[]),
            removing: BTreeSet::new(),
            versions: Vec::new(),
        }
    }

    /// The numbers of the versions that are kept, in order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.versions.iter().map(|kept| kept.number)
    }

    /// Keeps a version, whose file has this checksum and no other.
    pub(crate) fn vouch_for(&mut self, number: u32, sha256: &str) {
        let rejected = self.versions.iter().any(|kept| kept.number == number && kept.rejected);
        self.versions.retain(|kept| kept.number != number);
        self.versions.push(KeptVersion { number, sha256: vec![sha256.into()], rejected });
        self.versions.sort_by_key(|kept| kept.number);
    }

    /// Says whether a kept version is a rejected one.
    pub(crate) fn set_rejected(&mut self, number: u32, rejected: bool) {
        self.versions.iter_mut().filter(|kept| kept.number == number).for_each(|kept| kept.rejected = rejected);
    }

    /// The rejected version whose file has this checksum.
    pub(crate) fn rejected_with(&self, sha256: &str) -> Option<u32> {
        let has = |kept: &&KeptVersion| kept.rejected && kept.sha256.iter().any(|known| known == sha256);
        self.versions.iter().find(has).map(|kept| kept.number)
    }

    /// Keeps a version, whose file may have this checksum, too.
    pub(crate) fn vouch_also_for(&mut self, number: u32, sha256: &str) {
        for kept in self.versions.iter_mut().filter(|kept| kept.number == number) {
            if !kept.sha256.iter().any(|known| known == sha256) {
                kept.sha256.push(sha256.into());
            }
        }
    }

    /// Whether a version's file may have this checksum.
    pub(crate) fn vouches_for(&self, number: u32, sha256: &str) -> bool {
        self.versions.iter().any(|kept| kept.number == number && kept.sha256.iter().any(|known| known == sha256))
    }

    /// Whether a file may be on its way to another's place.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.versions.iter().any(|kept| kept.sha256.len() > 1)
    }

    /// Keeps no more versions than are wanted, and no more rejected ones; the one that is used stays.
    pub(crate) fn drop_old(&mut self) {
        for rejected in [false, true] {
            let of_kind = self.versions.iter().filter(|kept| kept.rejected == rejected).map(|kept| kept.number);
            let of_kind: Vec<u32> = of_kind.collect();
            let old = &of_kind[..of_kind.len().saturating_sub(self.keep)];
            self.versions.retain(|kept| kept.number == self.current || !old.contains(&kept.number));
        }
    }

    /// Reads the file; none where there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, ModelError> {
        let damaged = |why: &str| ModelError::Damaged { path: path.into(), why: why.into() };
        let bytes = match regular::read(path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if is_absent(error.kind()) => return Ok(None),
            Err(error) => return Err(ModelError::Unreadable { path: path.into(), error }),
        };
        let text = String::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
        let table: toml::Table = toml::from_str(&text).map_err(|_| damaged("it cannot be read"))?;
        match table.get("format").and_then(toml::Value::as_integer) {
            Some(format) if format == i64::from(FORMAT) => {}
            Some(found) => return Err(ModelError::Format { path: path.into(), found, expected: FORMAT }),
            None => return Err(ModelError::Foreign { path: path.into() }),
        }
        let settings: Self = toml::from_str(&text).map_err(|_| damaged("it cannot be read"))?;
        if !checksum_place(&text).is_some_and(|at| seal::is_whole(&text, at)) {
            return Err(damaged("its checksum is not that of its content"));
        }
        if settings.can_be() { Ok(Some(settings)) } else { Err(damaged("its versions are not in order")) }
    }

    /// Whether its numbers are those of a model: anybody can compute a checksum, and a version that
    /// `last` does not count would be written over.
    fn can_be(&self) -> bool {
        let rises = self.versions.is_sorted_by(|before, after| before.number < after.number);
        let counted = self.versions.iter().all(|kept| (1..=self.last).contains(&kept.number));
        rises && counted && self.current <= self.last && self.last < u32::MAX
    }

    /// Replaces the file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), ModelError> {
        let settings = Self { sha256: UNSEALED.into(), ..self.clone() };
        let text = toml::to_string(&settings).expect("settings are plain data");
        let text = format!("{INTRODUCTION}{text}");
        let at = checksum_place(&text).expect("settings begin with their checksum");
        let sealed = seal::seal(text, at);
        let written = atomic::write(path, sealed.as_bytes());
        written.map_err(|error| ModelError::Unwritable { path: path.into(), error })
    }
}

/// Where the checksum stands: it is the first of several.
fn checksum_place(text: &str) -> Option<usize> {
    text.find(BEFORE).map(|before| before + BEFORE.len())
}

fn is_absent(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn settings_come_back_and_a_flipped_bit_is_seen() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("model.toml");
        assert_eq!(ModelSettings::read(&path).unwrap(), None);
        let mut settings = ModelSettings { current: 2, last: 3, memory: "64MB".into(), ..ModelSettings::new() };
        [2, 3].iter().for_each(|number| settings.vouch_for(*number, &sha256(&[*number as u8])));
        settings.write(&path).unwrap();
        let read = ModelSettings::read(&path).unwrap().unwrap();
        assert_eq!((read.current, read.last, read.memory.as_str()), (2, 3, "64MB"));
        assert_eq!(read.versions, settings.versions);
        let bytes = fs::read(&path).unwrap();
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << (index % 8);
            fs::write(&path, &damaged).unwrap();
            assert!(ModelSettings::read(&path).is_err(), "byte {index} was believed");
        }
        fs::write(&path, "format = 7\n").unwrap();
        let error = ModelSettings::read(&path).unwrap_err().to_string();
        assert!(error.contains("has format 7; this program reads format 3"), "{error}");
        fs::write(&path, "seed = 7\n").unwrap();
        assert!(matches!(ModelSettings::read(&path).unwrap_err(), ModelError::Foreign { .. }));
    }

    #[test]
    fn numbers_that_no_model_has_are_refused_also_with_the_right_checksum() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("model.toml");
        let mut settings = ModelSettings { current: 2, last: 2, ..ModelSettings::new() };
        (1..=2).for_each(|number| settings.vouch_for(number, "a"));
        let read = |settings: &ModelSettings| {
            settings.write(&path).unwrap();
            ModelSettings::read(&path).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(read(&settings), Ok(()));
        let mut twice = settings.clone();
        twice.versions.push(twice.versions[0].clone());
        for forged in [
            ModelSettings { last: 1, current: 1, ..settings.clone() },
            ModelSettings { current: 3, ..settings.clone() },
            ModelSettings { last: u32::MAX, ..settings.clone() },
            twice,
        ] {
            let error = read(&forged).unwrap_err();
            assert!(error.contains("its versions are not in order"), "{error}");
        }
    }

    #[test]
    fn the_newest_are_kept_and_the_one_that_is_used() {
        let mut settings = ModelSettings { current: 1, keep: 2, ..ModelSettings::new() };
        (1..=4).for_each(|number| settings.vouch_for(number, "a"));
        settings.vouch_also_for(4, "b");
        settings.drop_old();
        assert_eq!(settings.versions.iter().map(|kept| kept.number).collect::<Vec<_>>(), [1, 3, 4]);
        assert!(settings.is_unsettled() && settings.vouches_for(4, "a") && settings.vouches_for(4, "b"));
        assert!(!settings.vouches_for(3, "b") && !settings.vouches_for(2, "a"));
        settings.vouch_for(4, "b");
        assert!(!settings.is_unsettled() && !settings.vouches_for(4, "a"));
    }

    #[test]
    fn rejected_versions_have_a_limit_of_their_own() {
        let mut settings = ModelSettings { current: 1, keep: 2, ..ModelSettings::new() };
        for number in 1..=6 {
            settings.vouch_for(number, &number.to_string());
            settings.set_rejected(number, number > 2);
        }
        settings.drop_old();
        let kept = |settings: &ModelSettings| settings.versions.iter().map(|kept| kept.number).collect::<Vec<_>>();
        assert_eq!(kept(&settings), [1, 2, 5, 6]);
        assert_eq!(
            (settings.rejected_with("6"), settings.rejected_with("2"), settings.rejected_with("4")),
            (Some(6), None, None)
        );
        settings.vouch_for(6, "rewritten");
        assert_eq!(settings.rejected_with("rewritten"), Some(6));
        settings.set_rejected(6, false);
        settings.drop_old();
        assert_eq!(kept(&settings), [1, 2, 5, 6], "the current one stays");
        settings.current = 6;
        settings.drop_old();
        assert_eq!(kept(&settings), [2, 5, 6]);
    }
}
