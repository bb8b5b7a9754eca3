//! Bringing a data set: its archives from their official place (or a mirror, or files fetched by
//! hand), checked before they are unpacked.

mod checksum;
mod effort;
mod http;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

pub(crate) use checksum::found as checksum_of;
use rehearsal_files::{
    atomic,
    lock::{LockError, lock},
};

use crate::{
    DataError, Dataset, Incomplete, Progress, Request,
    catalogue::{Archive, card},
    choice::Choice,
    files::unwritable,
    sources::places100,
    unpack::{Kind, MANIFEST, Unpacking, remove},
};

/// How long to wait for a server, and how often to try again.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Tries in a row that bring nothing.
    pub tries: u32,
    /// The wait before the second try; it doubles from try to try.
    pub wait: Duration,
    /// Silence after which a connection counts as dead.
    pub silence: Duration,
    /// The time in which at least `slowest` bytes must come.
    pub window: Duration,
    /// Bytes of which fewer in a `window` are too few to wait for the rest.
    pub slowest: u64,
}

impl Default for Timeouts {
    /// A kilobyte a second over a minute: a data set of 100 MB would take more than a day.
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
    /// Another place than the official one: a URL below which files have their official names.
    pub mirror: Option<&'a str>,
    /// Archives that were fetched by hand.
    pub from: &'a [PathBuf],
    /// Take a mirror's or a hand-fetched file as it is, where no checksum is known or it is
    /// another.
    pub trust: bool,
    /// Keep archives when they are unpacked.
    pub keep: bool,
    /// Take a data set that has fewer images than were published, instead of refusing it.
    pub part: bool,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// Who hears how far it is.
    pub progress: &'a dyn Progress,
}

/// Where an archive is while it is fetched.
pub(crate) fn partial(home: &Path, archive: &Archive) -> PathBuf {
    home.join("downloads").join(archive.file).with_added_extension("partial")
}

impl Fetch<'_> {
    /// Fetches what is missing of a data set, and gives its directory.
    ///
    /// # Errors
    /// It cannot be fetched, is not what was published, or must not be unpacked.
    pub fn dataset(&self, dataset: Dataset) -> Result<PathBuf, DataError> {
        let card = card(dataset);
        if card.archives.is_empty() {
            return Err(DataError::Refused(match dataset {
                Dataset::Embedded => "embedded is inside the program: there is nothing to fetch".into(),
                _ => format!("{dataset} is your own: there is nothing to fetch. Say where it is with `--data DIR`"),
            }));
        }
        if let Some(stranger) = self.from.iter().find(|from| given(&card.archives, from).is_none()) {
            let files: Vec<&str> = card.archives.iter().map(|archive| archive.file).collect();
            let why = format!("{} is no file of {dataset}, which is in {}", stranger.display(), files.join(", "));
            return Err(DataError::Refused(why));
        }
        let directory = self.home.join(dataset.name());
        fs::create_dir_all(&directory).map_err(unwritable(&directory))?;
        let path = directory.join(".lock");
        let _lock = lock(&path, Duration::ZERO).map_err(|error| match error {
            LockError::Busy => DataError::Refused(format!("another process is fetching into {}", directory.display())),
            error => unwritable(&path)(error.into()),
        })?;
        let mut brought = Vec::new();
        for archive in &card.archives {
            let wanted = places100::wanted(dataset, archive, &directory)?;
            let wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(name));
            let part = directory.join(archive.part);
            if !is_there(&part) {
                remove(&part)?;
                brought.extend(self.archive(archive, &part, &wanted, card.by_hand)?);
            }
        }
        let all_there = card.archives.iter().all(|archive| is_there(&directory.join(archive.part)));
        if all_there && !brought.iter().all(|brought| brought.official) {
            self.check_whole(dataset).inspect_err(|_| {
                let unknown = card.archives.iter().filter(|archive| archive.checksum.is_none());
                let unknown = unknown.map(|archive| directory.join(archive.part));
                let fetched = brought.into_iter().flat_map(|brought| [Some(brought.part), brought.download]);
                // The error that led here says more than one of removing.
                unknown.chain(fetched.flatten()).for_each(|path| drop(remove(&path)));
            })?;
        }
        Ok(directory)
    }

    /// Refuses a data set that has fewer images than were published, or cannot be read at all.
    fn check_whole(&self, dataset: Dataset) -> Result<(), DataError> {
        let request = Request { directory: Some(self.home), follow_links_outside: true, ..Request::default() };
        let not_whole = |why: String| DataError::NotWhole { dataset, why };
        let found = dataset.find(&request).map_err(|error| not_whole(error.to_string()))?;
        match Incomplete::compare(dataset, None, found.count()) {
            Some(part) if !self.part => {
                Err(not_whole(format!("there are only {part}. `--part` takes it all the same")))
            }
            _ => Ok(()),
        }
    }

    /// Fetches and unpacks one archive to `part`; gives nothing where it is yet to be brought.
    fn archive(
        &self,
        archive: &Archive,
        part: &Path,
        wanted: &dyn Fn(&str) -> bool,
        by_hand: Option<&str>,
    ) -> Result<Option<Brought>, DataError> {
        let local = self.from.iter().find(|from| given(&[*archive], from).is_some());
        let (file, official) = match local {
            Some(file) => (file.clone(), self.check(archive, file)?),
            None if !self.from.is_empty() => {
                let place = archive.url.map(|url| format!(", from {url}")).unwrap_or_default();
                self.progress.say(&format!("still missing: {}{place}", archive.file));
                return Ok(None);
            }
            None => self.downloaded(archive, by_hand)?,
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
        // A download is of no more use, unless there was no room for what is in it.
        let used = unpacked.is_ok() && !self.keep;
        let useless = unpacked.as_ref().is_err_and(|error| !matches!(error, DataError::Unwritable { .. }));
        if local.is_none() && (used || useless) {
            remove(&file)?;
        }
        unpacked?;
        Ok(Some(Brought { part: part.into(), download: local.is_none().then_some(file), official }))
    }

    /// The archive, downloaded and checked, and whether it is the official one.
    fn downloaded(&self, archive: &Archive, by_hand: Option<&str>) -> Result<(PathBuf, bool), DataError> {
        let url = match (self.mirror, archive.url) {
            (Some(mirror), _) if mirror.ends_with(archive.file) => mirror.to_owned(),
            (Some(mirror), _) => format!("{}/{}", mirror.trim_end_matches('/'), archive.file),
            (None, Some(url)) => url.to_owned(),
            (None, None) => return Err(DataError::ByHand(by_hand.unwrap_or("there is no direct download").into())),
        };
        if archive.checksum.is_none() && !self.trust {
            return Err(DataError::Untrusted { url });
        }
        let partial = partial(self.home, archive);
        let whole = partial.with_extension("");
        if whole.exists() {
            match self.check(archive, &whole) {
                Ok(official) => return Ok((whole, official)),
                Err(_) => remove(&whole)?,
            }
        }
        fs::create_dir_all(self.home.join("downloads")).map_err(unwritable(&partial))?;
        let download = http::Download {
            url: &url,
            to: &partial,
            limit: archive.limits.bytes,
            timeouts: self.timeouts,
            progress: self.progress,
        };
        let resumed = download.run()?;
        let mut checked = self.check(archive, &partial);
        if checked.is_err() && resumed {
            self.progress.say("the halves of this download do not fit together: beginning anew");
            http::forget(&partial)?;
            download.run()?;
            checked = self.check(archive, &partial);
        }
        let official = match checked {
            Ok(official) => official,
            Err(error) => {
                http::forget(&partial)?;
                return Err(error);
            }
        };
        atomic::rename(&partial, &whole).map_err(unwritable(&whole))?;
        http::forget(&partial)?;
        Ok((whole, official))
    }

    /// Checks a file against what was published; true if it is that, false if it is only trusted.
    fn check(&self, archive: &Archive, file: &Path) -> Result<bool, DataError> {
        let Some(expected) = archive.checksum else { return Ok(false) };
        let checked = checksum::check(file, expected, archive.limits.archive_bytes(), self.progress);
        match checked {
            Err(error @ DataError::Checksum { .. })
                if self.trust && (self.mirror.is_some() || !self.from.is_empty()) =>
            {
                self.progress.say(&format!("{error}; taken all the same, because of --trust"));
                Ok(false)
            }
            checked => checked.map(|()| true),
        }
    }
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

/// Whether an archive has become something: no empty file, no unpacked directory without files.
fn is_there(part: &Path) -> bool {
    match part.metadata() {
        Ok(found) if found.is_dir() => part.join(MANIFEST).metadata().map_or(true, |manifest| manifest.len() > 0),
        Ok(found) => found.len() > 0,
        Err(_) => false,
    }
}

/// The archive that a file fetched by hand is, by its name.
fn given<'a>(archives: &'a [Archive], file: &Path) -> Option<&'a Archive> {
    let name = file.file_name()?.to_str()?;
    archives.iter().find(|archive| archive.file == name)
}

/// Whether a kind is used without unpacking.
pub(crate) fn is_plain(archive: &Archive) -> bool {
    archive.kind == Kind::Plain
}
