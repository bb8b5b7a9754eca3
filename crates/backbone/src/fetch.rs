//! Brings the weights of a backbone to this machine: downloaded, or from a file that was.

use std::path::{Path, PathBuf};

use rehearsal_data::{DataError, Progress, fetch::Timeouts};

use crate::{BackboneError, BackboneName, catalogue::directory};

/// How to fetch.
pub struct Fetch<'a> {
    /// The directory of all data.
    pub home: &'a Path,
    /// A file that was downloaded by other means.
    pub from: Option<&'a Path>,
    /// An address to use instead of the official one; a file below it has its official name.
    pub mirror: Option<&'a str>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// Is told the progress.
    pub progress: &'a dyn Progress,
}

impl Fetch<'_> {
    /// Fetches the weights, unless they are here, and returns where they are. They appear whole and
    /// checked, or not at all; an interrupted download is resumed.
    ///
    /// # Errors
    /// They are inside the program ([`BackboneError::Inside`]), cannot be fetched or written, or the
    /// given file is another ([`BackboneError::Wrong`]).
    pub fn backbone(&self, name: BackboneName) -> Result<PathBuf, BackboneError> {
        let path = name.path(self.home).ok_or(BackboneError::Inside(name))?;
        let (file, directory) = (name.card().file, directory(self.home));
        match self.from {
            Some(from) => file.copy(from, &directory, self.progress).map_err(|error| match error {
                DataError::Checksum { .. } | DataError::Length { .. } => wrong(name, from, &error),
                error => error.into(),
            })?,
            None => file.download(&directory, self.mirror, self.timeouts, self.progress)?,
        }
        Ok(path)
    }
}

fn wrong(name: BackboneName, from: &Path, error: &DataError) -> BackboneError {
    let why = match error {
        DataError::Length { expected, found, .. } => format!("it has {found} bytes, expected {expected}"),
        DataError::Checksum { expected, found, .. } => format!("its sha256 is {found}, expected {expected}"),
        error => error.to_string(),
    };
    BackboneError::Wrong { name, path: from.into(), why }
}
