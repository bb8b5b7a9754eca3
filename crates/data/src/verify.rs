//! Is every byte of a data set what it was, and every record what it should be?

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rehearsal_files::{regular, sha256::sha256, threads::on_threads};
use serde::Serialize;

use crate::{
    DataError, Dataset, Incomplete, Progress, Request, Split, Unit,
    catalogue::{Checksum, card},
    choice::Choice,
    decode::decode,
    fetch::{checksum_of, is_plain},
    files::{entries, lines},
    find::Found,
    home, pack,
    photos::{self, Ignored},
    told::{about_classes, about_listing},
    unpack::{MANIFEST, safe},
};

/// The largest file that an archive of any data set has, rounded up, in bytes.
const LARGEST_UNPACKED: u64 = 1 << 30;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Files whose bytes were compared with a checksum.
    pub files: usize,
    /// Images and records that were read.
    pub records: usize,
    /// Chunks of packed images that were compared with a checksum.
    pub packs: usize,
    /// What is wrong.
    pub bad: Vec<Bad>,
    /// What is missing, compared with what was published.
    pub incomplete: Option<Incomplete>,
    /// Files among the images that are not read.
    pub ignored: Vec<Ignored>,
    /// What could not be checked, and why; which classes have too few images.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether nothing is wrong and nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.bad.is_empty() && self.incomplete.is_none()
    }
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bad {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: String,
}

/// Checks every file and every record of a data set.
///
/// # Errors
/// It is not there.
pub fn verify(dataset: Dataset, request: &Request) -> Result<Report, DataError> {
    let mut report = Report::default();
    let home = match (dataset, request.directory) {
        (Dataset::Embedded, _) => PathBuf::new(),
        (_, Some(directory)) => directory.to_path_buf(),
        (_, None) => home::default_directory()?,
    };
    on_threads(request.threads, || {
        sums(dataset, &home, request.progress, &mut report)?;
        records(dataset, request, &mut report)?;
        let directories =
            request.packs.map_or_else(|| home::packs(dataset, request.directory), |packs| vec![packs.into()]);
        packs(dataset, &directories, &mut report)
    })??;
    Ok(report)
}

/// Compares files with the manifests that were written when they were unpacked, and plain files
/// with what was published.
fn sums(dataset: Dataset, home: &Path, progress: &dyn Progress, report: &mut Report) -> Result<(), DataError> {
    let own = home.join(dataset.name());
    for archive in card(dataset).archives {
        let part = own.join(archive.part);
        match (is_plain(&archive), archive.checksum) {
            (true, Some(expected)) if part.is_file() => {
                report.files += 1;
                let sum = checksum_of(&part, expected, archive.limits.archive_bytes(), progress)?;
                if !matches!(expected, Checksum::Md5(known) | Checksum::Sha256(known) if known == sum) {
                    report.bad.push(Bad { path: part, why: format!("is not the official file: its checksum is {sum}") });
                }
            }
            (true, Some(_)) => report.notes.push(format!(
                "{}: not fetched by `rehearsal data fetch`, so only its own checksum was compared",
                archive.file
            )),
            (true, None) => report.notes.push(format!("{}: no checksum is known", archive.file)),
            (false, _) if part.join(MANIFEST).exists() => manifest(&part, progress, report)?,
            (false, _) => report.notes.push(format!(
                "{}: it was not unpacked by `rehearsal data fetch`, so its bytes cannot be compared with anything, only read",
                archive.file
            )),
        }
    }
    Ok(())
}

/// Compares every file of a directory with its manifest.
fn manifest(directory: &Path, progress: &dyn Progress, report: &mut Report) -> Result<(), DataError> {
    let lines = lines(&directory.join(MANIFEST), "SHA-256 sums and paths")?;
    progress.begin("comparing files", Unit::Items, 0, Some(lines.len() as u64));
    let compare = |line: &String| {
        progress.advance(1);
        let Some((sum, name)) = line.split_once("  ") else {
            return Some(Bad { path: directory.join(MANIFEST), why: format!("has a line that is no sum: {line}") });
        };
        let Ok(name) = safe(name) else {
            return Some(Bad { path: directory.join(MANIFEST), why: format!("names what is elsewhere: {name}") });
        };
        let path = directory.join(name);
        let why = match regular::read(&path, LARGEST_UNPACKED) {
            Ok(bytes) if sha256(&bytes) == sum => return None,
            Ok(_) => "is not as it was unpacked".to_owned(),
            Err(error) => format!("cannot be read: {error}"),
        };
        Some(Bad { path, why })
    };
    report.files += lines.len();
    report.bad.extend(lines.par_iter().filter_map(compare).collect::<Vec<_>>());
    progress.end();
    Ok(())
}

/// Reads every record, and decodes every image file.
fn records(dataset: Dataset, request: &Request, report: &mut Report) -> Result<(), DataError> {
    let found = dataset.find(request);
    if let Ok(found) = &found {
        report.incomplete = Incomplete::compare(dataset, request.classes, found.count());
    }
    match found {
        Ok(Found::Source(source)) => {
            report.records += Split::BOTH.map(|split| source.labels(split).len()).iter().sum::<usize>();
        }
        Ok(Found::Files(listing, _)) => {
            about_listing(&listing, request.progress);
            if dataset == Dataset::Folder {
                report.notes.extend(about_classes(&listing));
            }
            report.ignored.clone_from(&listing.ignored);
            let all: Vec<&pack::Entry> = listing.train.iter().chain(&listing.test).collect();
            request.progress.begin("decoding images", Unit::Items, 0, Some(all.len() as u64));
            let check = |entry: &&pack::Entry| {
                request.progress.advance(1);
                let why = match photos::bytes(&entry.path) {
                    Ok(Ok(bytes)) => decode(&bytes).err().map(|why| format!("is no image that can be read: {why}")),
                    Ok(Err(why)) => Some(format!("is no image that can be read: {why}")),
                    Err(DataError::Unreadable { error, .. }) => Some(format!("cannot be read: {error}")),
                    Err(error) => Some(error.to_string()),
                };
                why.map(|why| Bad { path: entry.path.clone(), why })
            };
            report.records += all.len();
            report.bad.extend(all.par_iter().filter_map(check).collect::<Vec<_>>());
            request.progress.end();
        }
        Err(DataError::Malformed { path, offset, expected, found }) => {
            report.bad.push(Bad { path, why: format!("byte {offset}: expected {expected}, found {found}") });
        }
        Err(DataError::Unreadable { path, error }) => report.bad.push(Bad { path, why: error.to_string() }),
        Err(DataError::Missing { path, expected }) => {
            report.bad.push(Bad { path, why: format!("is missing: expected {expected}") });
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Compares the packs made from the data set with their own checksums.
fn packs(dataset: Dataset, directories: &[PathBuf], report: &mut Report) -> Result<(), DataError> {
    for directory in directories.iter().filter(|directory| directory.is_dir()) {
        for path in entries(directory)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ours = ["train", "test"].iter().any(|split| name.starts_with(&format!("{dataset}-{split}-")));
            if !ours || !name.ends_with(".pack") {
                continue;
            }
            let verified = pack::verify(&path);
            report.packs += usize::from(!matches!(verified, Ok(None)));
            match verified {
                Ok(None) => {}
                Ok(Some(bad)) => report.bad.extend(bad.into_iter().map(|images| Bad {
                    path: path.clone(),
                    why: format!(
                        "images {} to {} are damaged; remove the file, and it will be made again",
                        images.start, images.end
                    ),
                })),
                Err(error) => report.bad.push(Bad { path, why: error.to_string() }),
            }
        }
    }
    Ok(())
}
