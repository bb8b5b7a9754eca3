//! Bringing a data set: its archives from their official place (or a mirror, or files fetched by hand), checked before they are unpacked.

mod checksum;
mod http;

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

pub(crate) use checksum::found as checksum_of;

use crate::{
    DataError, Dataset, Progress,
    catalogue::{Archive, card},
    choice::Choice,
    files::unwritable,
    sources::places100,
    unpack::{Kind, Unpacking},
};

/// How long to wait for a server, and how often to try again.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Tries in a row that bring nothing.
    pub tries: u32,
    /// The wait before the second try; it doubles from try to try.
    pub wait: Duration,
    /// Silence after which a connection counts as dead.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tries: 6, wait: Duration::from_secs(1), silence: Duration::from_mins(1) }
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
    /// Take a mirror's or a hand-fetched file as it is, where no checksum is known or it is another.
    pub trust: bool,
    /// Keep archives when they are unpacked.
    pub keep: bool,
    /// How long to wait.
    pub patience: Patience,
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
        let _lock = lock(&directory)?;
        for archive in &card.archives {
            let wanted = places100::wanted(dataset, archive, &directory)?;
            let wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(name));
            if !directory.join(archive.part).exists() {
                self.archive(archive, &directory, &wanted, card.by_hand)?;
            }
        }
        Ok(directory)
    }

    /// Fetches and unpacks one archive into `directory`.
    fn archive(
        &self,
        archive: &Archive,
        directory: &Path,
        wanted: &dyn Fn(&str) -> bool,
        by_hand: Option<&str>,
    ) -> Result<(), DataError> {
        let local = self.from.iter().find(|from| given(&[*archive], from).is_some());
        let file = match local {
            Some(file) => {
                self.check(archive, file)?;
                file.clone()
            }
            None if !self.from.is_empty() => {
                let place = archive.url.map(|url| format!(", from {url}")).unwrap_or_default();
                self.progress.say(&format!("still missing: {}{place}", archive.file));
                return Ok(());
            }
            None => self.downloaded(archive, by_hand)?,
        };
        Unpacking {
            archive: &file,
            kind: archive.kind,
            limits: archive.limits,
            to: &directory.join(archive.part),
            wanted,
            progress: self.progress,
        }
        .run()?;
        if local.is_none() && !self.keep {
            fs::remove_file(&file).map_err(unwritable(&file))?;
        }
        Ok(())
    }

    /// The archive, downloaded and checked.
    fn downloaded(&self, archive: &Archive, by_hand: Option<&str>) -> Result<PathBuf, DataError> {
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
                Ok(()) => return Ok(whole),
                Err(_) => fs::remove_file(&whole).map_err(unwritable(&whole))?,
            }
        }
        fs::create_dir_all(self.home.join("downloads")).map_err(unwritable(&partial))?;
        let download = http::Download {
            url: &url,
            to: &partial,
            limit: archive.limits.bytes,
            patience: self.patience,
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
        if let Err(error) = checked {
            http::forget(&partial)?;
            return Err(error);
        }
        fs::rename(&partial, &whole).map_err(unwritable(&whole))?;
        http::forget(&partial)?;
        Ok(whole)
    }

    /// Checks a file against what was published.
    fn check(&self, archive: &Archive, file: &Path) -> Result<(), DataError> {
        let Some(expected) = archive.checksum else { return Ok(()) };
        let checked = checksum::check(file, expected, archive.limits.archive_bytes(), self.progress);
        match checked {
            Err(error @ DataError::Checksum { .. })
                if self.trust && (self.mirror.is_some() || !self.from.is_empty()) =>
            {
                self.progress.say(&format!("{error}; taken all the same, because of --trust"));
                Ok(())
            }
            checked => checked,
        }
    }
}

/// The archive that a file fetched by hand is, by its name.
fn given<'a>(archives: &'a [Archive], file: &Path) -> Option<&'a Archive> {
    let name = file.file_name()?.to_str()?;
    archives.iter().find(|archive| archive.file == name)
}

/// A lock against other processes that fetch the same data set; it is held while the file is.
fn lock(directory: &Path) -> Result<File, DataError> {
    let path = directory.join(".lock");
    let file = File::create(&path).map_err(unwritable(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            Err(DataError::Refused(format!("another process is fetching into {}", directory.display())))
        }
        Err(fs::TryLockError::Error(error)) => Err(unwritable(&path)(error)),
    }
}

/// Whether a kind is used without unpacking.
pub(crate) fn is_plain(archive: &Archive) -> bool {
    archive.kind == Kind::Plain
}
