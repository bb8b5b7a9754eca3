//! Checks where the symbolic links of a data set lead.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use crate::{
    DataError, Split,
    files::{entries, unreadable},
    pack::{Entry, Listing},
};

/// The directories that a data set's files must be in.
pub(crate) struct Bounds {
    /// Real paths: without links.
    roots: Vec<PathBuf>,
    /// Links may lead anywhere.
    anywhere: bool,
}

impl Bounds {
    /// Files must be below one of `roots`, which may be links themselves, unless `anywhere`.
    pub(crate) fn new(roots: &[PathBuf], anywhere: bool) -> Result<Self, DataError> {
        let real = |root: &PathBuf| root.canonicalize().map_err(unreadable(root));
        Ok(Self { roots: roots.iter().map(real).collect::<Result<_, _>>()?, anywhere })
    }

    /// The real path of `path`; an error if it is out of bounds.
    pub(crate) fn real(&self, path: &Path) -> Result<PathBuf, DataError> {
        let real = path.canonicalize().map_err(unreadable(path))?;
        if self.anywhere || self.roots.iter().any(|root| real.starts_with(root)) {
            return Ok(real);
        }
        Err(DataError::Link { path: path.into(), to: real })
    }

    /// Refuses links to files in `directory` itself that lead out of bounds. Links to directories
    /// may be other data sets.
    pub(crate) fn check_directory(&self, directory: &Path) -> Result<(), DataError> {
        let is_link = |path: &&PathBuf| path.is_symlink() && path.exists() && !path.is_dir();
        entries(directory)?.iter().filter(is_link).try_for_each(|path| self.real(path).map(drop))
    }

    /// Refuses a listing with a file that is out of bounds.
    pub(crate) fn check_listing(&self, listing: &Listing) -> Result<(), DataError> {
        if self.anywhere {
            return Ok(());
        }
        // A missing file is reported when it is read.
        let mut folders = BTreeSet::new();
        for Entry { path, .. } in Split::BOTH.iter().flat_map(|&split| listing.entries(split)) {
            if path.is_symlink() && path.exists() {
                self.real(path)?;
            }
            if let Some(folder) = path.parent().filter(|folder| folders.insert(folder.to_path_buf()) && folder.exists())
            {
                self.real(folder)?;
            }
        }
        Ok(())
    }
}
