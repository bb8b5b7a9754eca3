//! The seal of a finished run: `result.json` ends with the SHA-256 of the files that belong to it and
//! of its own text. Every program that reads the run checks them.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use rehearsal_files::{
    regular,
    seal::{self, UNSEALED},
    sha256::sha256,
};
use serde_json::Value;
use thiserror::Error;

use crate::files::{DIAGNOSTICS, PREDICTIONS, RECALIBRATED_PREDICTIONS};

/// The limit for a file of a run, in bytes.
const LARGEST: u64 = 1 << 30;
/// The text after the checksum.
const END: &str = "\"\n}\n";

/// The files that a result is sealed with, if they exist.
const FILES: [&str; 3] = [PREDICTIONS, RECALIBRATED_PREDICTIONS, DIAGNOSTICS];

/// The warning about a result without a seal.
pub const MISSING: &str = "result.json has no checksum: it may have been changed since it was written";

/// The text of a result was changed since it was written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("it is not as it was written: its checksum is another")]
pub struct BrokenSeal;

/// A file beside a result that is not as it was when the run was finished.
#[derive(Debug, Error)]
pub enum FileError {
    /// It was changed, or added after the run was finished.
    #[error("{path} is not what a run writes: {why}")]
    Changed {
        /// Which file.
        path: PathBuf,
        /// How that is known.
        why: &'static str,
    },
    /// It cannot be read.
    #[error("{path} cannot be read: {error}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The text of a table in JSON with a seal at its end. `files` are the checksums of the files that
/// belong to it.
pub fn seal(json: &str, files: &BTreeMap<&str, String>) -> String {
    let json = json.trim_end();
    let open = json.strip_suffix('}').unwrap_or(json).trim_end();
    let comma = if open == "{" { "" } else { "," };
    let files = serde_json::to_string(files).expect("names and digits");
    let text = format!("{open}{comma}\n  \"files\": {files},\n  \"sha256\": \"{UNSEALED}{END}");
    let at = text.len() - END.len() - UNSEALED.len();
    seal::seal(text, at)
}

/// The checksums of the files in a sealed text, after its own checksum is found right; `None` for a
/// text that an older version wrote without a seal.
///
/// # Errors
/// The text was changed since it was written.
pub fn fingerprints(json: &str) -> Result<Option<BTreeMap<String, String>>, BrokenSeal> {
    let table: Value = serde_json::from_str(json).map_err(|_| BrokenSeal)?;
    let sum = match (table.get("sha256"), table.get("files")) {
        (Some(sum), _) => sum,
        (None, Some(_)) => return Err(BrokenSeal),
        (None, None) => return Ok(None),
    };
    let sum = sum.as_str().filter(|sum| sum.len() == UNSEALED.len()).ok_or(BrokenSeal)?;
    let open = json.strip_suffix(END).and_then(|open| open.strip_suffix(sum)).ok_or(BrokenSeal)?;
    if !seal::is_whole(json, open.len()) {
        return Err(BrokenSeal);
    }
    let files = table.get("files").cloned().ok_or(BrokenSeal)?;
    serde_json::from_value(files).map(Some).map_err(|_| BrokenSeal)
}

/// Compares the files of a finished run with the checksums in its result.
///
/// # Errors
/// A file was changed, removed or added since, or cannot be read.
pub fn check_files(directory: &Path, sealed: &BTreeMap<String, String>) -> Result<(), FileError> {
    for name in FILES {
        let path = directory.join(name);
        if !sealed.contains_key(name) && is_there(&path) {
            return Err(FileError::Changed { path, why: "it was not there when the run was finished" });
        }
    }
    for (name, sum) in sealed {
        let path = directory.join(name);
        if !FILES.contains(&name.as_str()) {
            return Err(FileError::Changed { path, why: "no run seals a file of that name" });
        }
        let bytes =
            regular::read(&path, LARGEST).map_err(|error| FileError::Unreadable { path: path.clone(), error })?;
        if sha256(&bytes) != *sum {
            return Err(FileError::Changed { path, why: "its checksum is another than when the run was finished" });
        }
    }
    Ok(())
}

fn is_there(path: &Path) -> bool {
    fs::metadata(path).map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |about| !about.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_breaks_the_seal() {
        let sealed = seal("{\n  \"accuracy\": 0.5\n}\n", &[("predictions.bin", sha256(b"abc"))].into());
        // printf abc | sha256sum
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let files = fingerprints(&sealed).unwrap().unwrap();
        assert_eq!(files, [("predictions.bin".to_owned(), sum.to_owned())].into());
        for at in 0..sealed.len() {
            for bit in 0..7 {
                let mut bytes = sealed.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let text = String::from_utf8(bytes).unwrap();
                assert_eq!(fingerprints(&text), Err(BrokenSeal), "{text}");
            }
        }
        assert_eq!(fingerprints("{\n  \"accuracy\": 0.5\n}\n"), Ok(None));
    }

    #[test]
    fn a_seal_names_only_files_of_a_run() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("secret"), "abc").unwrap();
        fs::create_dir(place.path().join("run")).unwrap();
        let absolute = place.path().join("secret").to_str().unwrap().to_owned();
        for name in ["../secret".to_owned(), absolute, "result.json".to_owned()] {
            let sealed = [(name, sha256(b"abc"))].into();
            let error = check_files(&place.path().join("run"), &sealed).unwrap_err().to_string();
            assert!(error.ends_with("no run seals a file of that name"), "{error}");
        }
    }

    #[test]
    fn a_sealed_text_is_still_the_same_table() {
        let sealed = seal("{\"a\": {\"b\": 1}}\n", &BTreeMap::new());
        let table: Value = serde_json::from_str(&sealed).unwrap();
        assert_eq!(table["a"]["b"], 1);
        assert_eq!(fingerprints(&sealed), Ok(Some(BTreeMap::new())));
        assert_eq!(fingerprints(&seal("{}", &BTreeMap::new())), Ok(Some(BTreeMap::new())));
    }
}
