//! `model.toml`: which version is used, and what is kept. It is sealed by a checksum over every
//! byte, and replaced whole or not at all: this is the moment at which a model changes.

use std::{fs, io, path::Path};

use rehearsal_runs::atomic;
use serde::{Deserialize, Serialize};

use crate::{ModelError, digest::sha256};

const FORMAT: u32 = 1;
const INTRODUCTION: &str =
    "# A model of Rehearsal, sealed by its checksum: change it with `rehearsal learn` and `use`.\n";
const BEFORE: &str = "sha256 = \"";
const UNSEALED: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What `model.toml` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ModelSettings {
    pub(crate) sha256: String,
    pub(crate) format: u32,
    /// The version that is used.
    pub current: u32,
    /// The highest number that a version has had.
    pub last: u32,
    /// How many versions are kept.
    pub keep: usize,
    /// How many images of each class the exam has at most.
    pub exam_per_class: usize,
    /// How much is remembered, as it was said.
    pub memory: String,
    /// How long `history.jsonl` was when this was written: what comes after does not count.
    pub(crate) history_bytes: u64,
    /// The checksum of so much of it.
    pub(crate) history_sha256: String,
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
            exam_per_class: 50,
            memory: crate::MemorySize::DEFAULT.to_string(),
            history_bytes: 0,
            history_sha256: sha256(&[]),
        }
    }

    /// Reads the file; none where there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, ModelError> {
        let damaged = |why: &str| ModelError::Damaged { path: path.into(), why: why.into() };
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
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
        let unsealed = text.replacen(&settings.sha256, UNSEALED, 1);
        let whole = settings.sha256.len() == UNSEALED.len() && sha256(unsealed.as_bytes()) == settings.sha256;
        if whole { Ok(Some(settings)) } else { Err(damaged("its checksum is not that of its content")) }
    }

    /// Replaces the file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), ModelError> {
        let settings = Self { sha256: UNSEALED.into(), ..self.clone() };
        let text = toml::to_string(&settings).expect("settings are plain data");
        let text = format!("{INTRODUCTION}{text}");
        let sealed = text.replacen(&format!("{BEFORE}{UNSEALED}"), &format!("{BEFORE}{}", sha256(text.as_bytes())), 1);
        let written = atomic::write(path, sealed.as_bytes());
        written.map_err(|error| ModelError::Unwritable { path: path.into(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_come_back_and_a_flipped_bit_is_seen() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("model.toml");
        assert_eq!(ModelSettings::read(&path).unwrap(), None);
        let settings = ModelSettings { current: 2, last: 3, memory: "64MB".into(), ..ModelSettings::new() };
        settings.write(&path).unwrap();
        let read = ModelSettings::read(&path).unwrap().unwrap();
        assert_eq!((read.current, read.last, read.memory.as_str()), (2, 3, "64MB"));
        let bytes = fs::read(&path).unwrap();
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << (index % 8);
            fs::write(&path, &damaged).unwrap();
            assert!(ModelSettings::read(&path).is_err(), "byte {index} was believed");
        }
        fs::write(&path, "format = 7\n").unwrap();
        let error = ModelSettings::read(&path).unwrap_err().to_string();
        assert!(error.contains("has format 7; this program reads format 1"), "{error}");
        fs::write(&path, "seed = 7\n").unwrap();
        assert!(matches!(ModelSettings::read(&path).unwrap_err(), ModelError::Foreign { .. }));
    }
}
