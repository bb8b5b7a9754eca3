//! Folders of photos, read with a progress bar and messages.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rehearsal_data::{
    Progress,
    photos::{ScanOptions, find},
    printable,
};
use rehearsal_model::{Features, FolderNotice, FolderReader, Input, Model};

use crate::printer::{Bar, message};

/// Calls `read` with a reader that prints notices and shows progress; if quiet, it names only photos
/// that cannot be read.
pub fn with_reader<T>(follow_links: bool, skip_bad: bool, quiet: bool, read: impl FnOnce(&mut FolderReader) -> T) -> T {
    let bar: Box<dyn Progress> = if quiet { Box::new(()) } else { Box::new(Bar::default()) };
    let mut notice = |notice: &FolderNotice| {
        if !quiet || matches!(notice, FolderNotice::Unreadable { .. }) {
            notice.to_string().lines().for_each(|line| message(&printable(line)));
        }
    };
    read(&mut FolderReader { follow_links, skip_bad, progress: &*bar, notice: &mut notice })
}

/// The features of all photos below a folder, for a change that needs photos which the model no longer
/// remembers.
pub fn given(model: &Model, folder: Option<&Path>) -> Result<Features> {
    folder.map_or_else(|| Ok(Features::new()), |folder| features(model, &[folder.into()]))
}

/// The features of photos, by their digests, as the current version of a model reads them.
pub fn features(model: &Model, paths: &[PathBuf]) -> Result<Features> {
    let reader = Model::open_version(model.path(), None)?.1.reader()?;
    let (files, _) = find(paths, &ScanOptions { follow_links_outside: false })?;
    let seen = with_reader(false, false, false, |with| with.read(&files, &reader))?;
    let feature = |seen: rehearsal_model::Seen| match seen.input {
        Input::Features(feature) => Some((seen.digest, feature)),
        Input::Pixels(_) => None,
    };
    Ok(seen.into_iter().flatten().filter_map(feature).collect())
}
