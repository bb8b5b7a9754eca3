//! The files that data sets are distributed in.

use std::path::{Path, PathBuf};

/// A published checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// In hexadecimal.
    Md5(&'static str),
    /// In hexadecimal.
    Sha256(&'static str),
}

/// A file that a data set is distributed in.
#[derive(Clone, Copy, Debug)]
pub struct Archive {
    /// Its name in the data set's directory, once unpacked.
    pub part: &'static str,
    /// The file's name.
    pub file: &'static str,
    /// The address of the directory that holds it; `None` if there is no official download.
    pub from: Option<&'static str>,
    /// The published checksum.
    pub checksum: Option<Checksum>,
    /// The kind of file.
    pub kind: Kind,
    /// The most that it may unpack to: the real numbers, rounded up.
    pub limits: Limits,
}

impl Archive {
    /// The official address of the file.
    pub fn url(&self) -> Option<String> {
        self.from.map(|from| format!("{from}/{}", self.file))
    }

    /// Where it is while it is downloaded.
    pub(crate) fn partial(&self, home: &Path) -> PathBuf {
        home.join("downloads").join(self.file).with_added_extension("partial")
    }
}

/// The kind of a downloaded file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Used as it is.
    Plain,
    /// A tar archive.
    Tar,
    /// A tar archive, compressed by gzip.
    TarGz,
    /// A zip archive.
    Zip,
}

/// The most that an archive may unpack to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all files together.
    pub bytes: u64,
    /// Files and directories.
    pub entries: u64,
}

impl Limits {
    /// The most bytes that the archive itself may have: names, headers and padding are at most 4,096
    /// bytes for each entry.
    #[cfg(feature = "fetch")]
    pub(crate) fn archive_bytes(self) -> u64 {
        let overhead = self.entries.saturating_mul(4096).saturating_add(1 << 20);
        self.bytes.saturating_add(overhead)
    }
}
