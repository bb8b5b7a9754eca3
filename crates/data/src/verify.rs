//! Checks the files and records of a data set.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rehearsal_files::{regular, sha256::sha256, threads::on_threads};
use serde::Serialize;

use crate::{
    DataError, Dataset, Incomplete, Progress, Request, Split, Unit,
    catalogue::{Kind, card},
    choice::Choice,
    decode::decode,
    fetch::check,
    files::{entries, lines},
    find::Found,
    home, pack,
    paths::safe,
    photos::{self, Ignored},
    told::{about_classes, about_listing},
    unpack::MANIFEST,
};

/// The largest file in an archive of any data set, rounded up, in bytes.
const LARGEST_UNPACKED: u64 = 1 << 30;

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Files that were compared with a checksum.
    pub files: usize,
    /// Images and records that were read.
    pub records: usize,
    /// Packs that were compared with their checksums.
    pub packs: usize,
    /// Files with errors.
    pub bad: Vec<Bad>,
    /// Missing images, compared with those that were published.
    pub incomplete: Option<Incomplete>,
    /// Files among the images that are not read.
    pub ignored: Vec<Ignored>,
    /// Files that could not be checked, and classes with too few images.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether there are no errors and no missing images.
    pub fn is_whole(&self) -> bool {
        self.bad.is_empty() && self.incomplete.is_none()
    }
}

/// A file with an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bad {
    /// The file.
    #[serde(flatten, serialize_with = "rehearsal_files::path_text::serialize")]
    pub path: PathBuf,
    /// The error.
    pub why: String,
}

/// Checks every file and every record of a data set.
///
/// # Errors
/// The data set was not found.
pub fn verify(dataset: Dataset, request: &Request) -> Result<Report, DataError> {
    let mut report = Report::default();
    // The embedded data set needs no directory.
    let home = if dataset == Dataset::Embedded { PathBuf::new() } else { home::directory(request.directory)? };
    on_threads(request.threads, || {
        sums(dataset, &home, request.progress, &mut report)?;
        records(dataset, request, &mut report)?;
        packs(dataset, &request.pack_directories(dataset), &mut report)
    })??;
    Ok(report)
}

/// Compares files with the manifests that were written when they were unpacked, and plain files with
/// the published checksums.
fn sums(dataset: Dataset, home: &Path, progress: &dyn Progress, report: &mut Report) -> Result<(), DataError> {
    let own = home.join(dataset.name());
    for archive in card(dataset).archives {
        let part = own.join(archive.part);
        let note = match (archive.kind, archive.checksum) {
            (Kind::Plain, Some(expected)) if part.is_file() => {
                report.files += 1;
                match check(&part, expected, archive.limits.archive_bytes(), progress) {
                    Err(DataError::Checksum { kind, found, .. }) => {
                        let why = format!("is not the official file: its {kind} is {found}");
                        report.bad.push(Bad { path: part, why });
                    }
                    checked => checked?,
                }
                continue;
            }
            (Kind::Plain, Some(_)) => "was not fetched by this program: only the checksum inside it was compared",
            (Kind::Plain, None) => "no checksum is known",
            _ if part.join(MANIFEST).exists() => {
                manifest(&part, progress, report)?;
                continue;
            }
            _ => "was not unpacked by this program: there are no checksums to compare with",
        };
        report.notes.push(format!("{}: {note}", archive.file));
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
            return Some(Bad { path: directory.join(MANIFEST), why: format!("has a line without a checksum: {line}") });
        };
        let Ok(name) = safe(name) else {
            return Some(Bad {
                path: directory.join(MANIFEST),
                why: format!("names a file outside its directory: {name}"),
            });
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
                    Ok(Ok(bytes)) => decode(&bytes).err().map(|why| format!("is not a readable image: {why}")),
                    Ok(Err(why)) => Some(format!("is not a readable image: {why}")),
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

/// Compares the packs of the data set with their checksums.
fn packs(dataset: Dataset, directories: &[PathBuf], report: &mut Report) -> Result<(), DataError> {
    for directory in directories.iter().filter(|directory| directory.is_dir()) {
        for path in entries(directory)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ours = Split::BOTH.iter().any(|split| name.starts_with(&format!("{dataset}-{}-", split.name())));
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
                        "images {} to {} are damaged; remove the file to make it again",
                        images.start, images.end
                    ),
                })),
                Err(error) => report.bad.push(Bad { path, why: error.to_string() }),
            }
        }
    }
    Ok(())
}
