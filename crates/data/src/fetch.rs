//! Fetches data sets: archives from their official address, a mirror or local files, checked before
//! they are unpacked.

mod checksum;
mod effort;
mod file;
mod http;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

pub(crate) use checksum::check;
use rehearsal_files::lock::{LockError, lock};

use crate::{
    DataError, Dataset, Incomplete, Progress, Request,
    catalogue::{Archive, card},
    choice::Choice,
    files::unwritable,
    sources::places100,
    unpack::{MANIFEST, Unpacking, remove},
};

/// How long to wait for a server, and how often to retry.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Failed attempts in a row before giving up.
    pub tries: u32,
    /// The wait before the second attempt; it doubles with each attempt.
    pub wait: Duration,
    /// A connection without data for this long has failed.
    pub silence: Duration,
    /// The time in which at least `slowest` bytes must arrive.
    pub window: Duration,
    /// The fewest bytes in a `window`.
    pub slowest: u64,
}

impl Default for Timeouts {
    /// At least a kilobyte a second: slower, 100 MB would take more than a day.
    fn default() -> Self {
        Self {
            tries: 6,
            wait: Duration::from_secs(1),
            silence: Duration::from_mins(1),
            window: Duration::from_mins(1),
            slowest: 60_000,
        }
    }
}

/// How to fetch.
pub struct Fetch<'a> {
    /// The directory of all data sets.
    pub home: &'a Path,
    /// A URL to use instead of the official one; files below it have their official names.
    pub mirror: Option<&'a str>,
    /// Archives that were downloaded by other means.
    pub from: &'a [PathBuf],
    /// Accept files of a mirror and local files whose checksum is unknown or differs.
    pub trust: bool,
    /// Keep archives after they are unpacked.
    pub keep: bool,
    /// Accept a data set that has fewer images than were published.
    pub part: bool,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// Is told the progress.
    pub progress: &'a dyn Progress,
}

impl Fetch<'_> {
    /// Fetches the missing parts of a data set, and returns its directory.
    ///
    /// # Errors
    /// It cannot be fetched, is not what was published, or must not be unpacked.
    pub fn dataset(&self, dataset: Dataset) -> Result<PathBuf, DataError> {
        let card = card(dataset);
        if card.archives.is_empty() {
            return Err(DataError::NothingToFetch(dataset));
        }
        if let Some(path) = self.from.iter().find(|from| !card.archives.iter().any(|archive| is(archive, from))) {
            let expected = card.archives.iter().map(|archive| archive.file).collect();
            return Err(DataError::UnknownFile { path: path.clone(), dataset, expected });
        }
        let directory = self.home.join(dataset.name());
        let _lock = lock_directory(&directory)?;
        let mut brought = Vec::new();
        for archive in card.archives {
            let wanted = places100::wanted(dataset, archive, &directory)?;
            let wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(name));
            let part = directory.join(archive.part);
            if !is_there(&part) {
                remove(&part)?;
                brought.extend(self.archive(dataset, archive, &part, &wanted)?);
            }
        }
        let all_there = card.archives.iter().all(|archive| is_there(&directory.join(archive.part)));
        if all_there && !brought.iter().all(|brought| brought.official) {
            self.check_whole(dataset).inspect_err(|_| {
                let unknown = card.archives.iter().filter(|archive| archive.checksum.is_none());
                let unknown = unknown.map(|archive| directory.join(archive.part));
                let fetched = brought.into_iter().flat_map(|brought| [Some(brought.part), brought.download]);
                // An error while removing says less than the one that led here.
                unknown.chain(fetched.flatten()).for_each(|path| drop(remove(&path)));
            })?;
        }
        Ok(directory)
    }

    /// Refuses a data set that has fewer images than were published, or that cannot be read.
    fn check_whole(&self, dataset: Dataset) -> Result<(), DataError> {
        let request = Request { directory: Some(self.home), follow_links_outside: true, ..Request::default() };
        let found = dataset.find(&request);
        let found = found.map_err(|error| DataError::FetchedBad { dataset, why: error.to_string() })?;
        match Incomplete::compare(dataset, None, found.count()) {
            Some(part) if !self.part => Err(DataError::FetchedPart(part)),
            _ => Ok(()),
        }
    }

    /// Fetches and unpacks one archive to `part`; `None` if local files are used and it is not among
    /// them.
    fn archive(
        &self,
        dataset: Dataset,
        archive: &Archive,
        part: &Path,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Brought>, DataError> {
        let local = self.from.iter().find(|from| is(archive, from));
        let (file, official) = match local {
            Some(file) => (file.clone(), self.check(archive, file)?),
            None if !self.from.is_empty() => {
                let place = archive.url().map(|url| format!(", from {url}")).unwrap_or_default();
                self.progress.say(&format!("still missing: {}{place}", archive.file));
                return Ok(None);
            }
            None => self.downloaded(dataset, archive)?,
        };
        let unpacked = Unpacking {
            archive: &file,
            kind: archive.kind,
            limits: archive.limits,
            to: part,
            wanted,
            progress: self.progress,
        }
        .run();
        // A download is not needed any more, unless it could not be unpacked for lack of space.
        let used = unpacked.is_ok() && !self.keep;
        let useless = unpacked.as_ref().is_err_and(|error| !matches!(error, DataError::Unwritable { .. }));
        if local.is_none() && (used || useless) {
            remove(&file)?;
        }
        unpacked?;
        Ok(Some(Brought { part: part.into(), download: local.is_none().then_some(file), official }))
    }

    /// The archive, downloaded and checked, and whether it is the official one.
    fn downloaded(&self, dataset: Dataset, archive: &Archive) -> Result<(PathBuf, bool), DataError> {
        let url = match (self.mirror, archive.url()) {
            (Some(mirror), _) if mirror.ends_with(archive.file) => mirror.to_owned(),
            (Some(mirror), _) => format!("{}/{}", mirror.trim_end_matches('/'), archive.file),
            (None, Some(url)) => url,
            (None, None) => return Err(DataError::ByHand(dataset)),
        };
        if archive.checksum.is_none() && !self.trust {
            return Err(DataError::Untrusted { url });
        }
        let whole = archive.partial(self.home).with_extension("");
        let to = file::Target {
            url: &url,
            to: &whole,
            limit: archive.limits.bytes,
            timeouts: self.timeouts,
            progress: self.progress,
        };
        let official = to.fetch(|file| self.check(archive, file))?;
        Ok((whole, official))
    }

    /// Compares a file with the published checksum; false if it differs but is trusted.
    fn check(&self, archive: &Archive, file: &Path) -> Result<bool, DataError> {
        let Some(expected) = archive.checksum else { return Ok(false) };
        let checked = check(file, expected, archive.limits.archive_bytes(), self.progress);
        match checked {
            Err(error @ DataError::Checksum { .. })
                if self.trust && (self.mirror.is_some() || !self.from.is_empty()) =>
            {
                self.progress.say(&format!("{error}; accepted, because it is trusted"));
                Ok(false)
            }
            checked => checked.map(|()| true),
        }
    }
}

/// Makes a directory, and keeps other processes from fetching into it.
fn lock_directory(directory: &Path) -> Result<fs::File, DataError> {
    fs::create_dir_all(directory).map_err(unwritable(directory))?;
    let path = directory.join(".lock");
    lock(&path, Duration::ZERO).map_err(|error| match error {
        LockError::Busy => DataError::Refused(format!("another process is fetching into {}", directory.display())),
        error => unwritable(&path)(error.into()),
    })
}

/// A part of a data set that was just fetched.
struct Brought {
    /// What it became.
    part: PathBuf,
    /// What was downloaded, if it was.
    download: Option<PathBuf>,
    /// It has the published checksum.
    official: bool,
}

/// Whether an archive has been unpacked: not to an empty file, or to a directory without files.
fn is_there(part: &Path) -> bool {
    match part.metadata() {
        Ok(found) if found.is_dir() => part.join(MANIFEST).metadata().map_or(true, |manifest| manifest.len() > 0),
        Ok(found) => found.len() > 0,
        Err(_) => false,
    }
}

/// Whether a local file is that archive, by its name.
fn is(archive: &Archive, file: &Path) -> bool {
    file.file_name().is_some_and(|name| name == archive.file)
}
