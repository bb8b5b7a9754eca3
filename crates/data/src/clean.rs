//! Finds and removes packs that no data set uses.

use std::{
    collections::BTreeMap,
    fmt, fs, io,
    path::{Path, PathBuf},
};

use rehearsal_files::lock::is_free;
use serde::{Serialize, Serializer};

use crate::{
    DataError, Dataset, Request, Split,
    files::{entries, unreadable, unwritable},
    find::Found,
    home,
    mapped::Mapped,
    pack::{Header, Listing, Owner, Stamp},
};

/// Asks for all classes of Tiny ImageNet.
const ALL_CLASSES: usize = 200;

/// A file that no data set uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unused {
    /// The file.
    #[serde(flatten, serialize_with = "rehearsal_files::path_text::serialize")]
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Why it is not used.
    pub why: Why,
}

/// Why a pack is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The images are no longer there.
    Gone(PathBuf),
    /// The images have changed.
    Changed(PathBuf),
    /// It was made by another version of this program, or is damaged.
    Unreadable,
    /// It was not completed.
    Unfinished,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Gone(root) => write!(f, "its images are no longer in {}", root.display()),
            Self::Changed(root) => write!(f, "the images in {} have changed", root.display()),
            Self::Unreadable => f.write_str("it was made by another version, or is damaged"),
            Self::Unfinished => f.write_str("it was not completed"),
        }
    }
}

impl Serialize for Why {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// The packs in `directory`, or in the default data directory, that no data set uses and that no
/// process is making.
///
/// # Errors
/// A directory cannot be read.
pub fn unused(directory: Option<&Path>) -> Result<Vec<Unused>, DataError> {
    let data = home::directory(directory)?;
    let real = data.canonicalize().unwrap_or_else(|_| data.clone());
    let mut unused = Vec::new();
    let is_home = home::default_directory().and_then(|home| home.canonicalize().map_err(unreadable(&home)));
    let is_home = is_home.is_ok_and(|home| home == real);
    for (packs, real_packs) in home::all_packs(&data).iter().zip(home::all_packs(&real)) {
        let has_others = is_home && !home::is_hidden(packs);
        let mut owners = Owners { packs: real_packs, beside: real.clone(), has_others, listings: BTreeMap::new() };
        let files = if packs.is_dir() { entries(packs)? } else { Vec::new() };
        for path in files.into_iter().filter(|path| is_ours(path)) {
            if let Some(why) = owners.why_unused(&path) {
                let bytes = path.metadata().map_or(0, |file| file.len());
                unused.push(Unused { path, bytes, why });
            }
        }
    }
    Ok(unused)
}

/// Removes an unused file. A process that has it open can still read it.
///
/// # Errors
/// It cannot be removed.
pub fn remove(unused: &Unused) -> Result<(), DataError> {
    match fs::remove_file(&unused.path) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(unwritable(&unused.path)),
    }
}

/// Whether it is a file or a link with the name of a pack or an incomplete pack.
fn is_ours(path: &Path) -> bool {
    if path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
        return false;
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_split = Split::BOTH.iter().any(|split| name.contains(&format!("-{}-", split.name())));
    is_split && [".pack", ".pack.partial", ".pack.journal"].iter().any(|end| name.ends_with(end))
}

/// The data sets that may use the packs of a directory.
struct Owners {
    packs: PathBuf,
    /// The data beside the packs: a folder may have been moved with its packs.
    beside: PathBuf,
    /// The packs are in the default data directory, with packs of folders elsewhere.
    has_others: bool,
    /// The images in each place, listed once; `None` if a link leads out of it.
    listings: BTreeMap<(String, PathBuf), Option<Vec<Listing>>>,
}

impl Owners {
    fn why_unused(&mut self, path: &Path) -> Option<Why> {
        if path.extension().is_some_and(|extension| extension == "pack") {
            let header = Mapped::open(path, u64::MAX).ok().and_then(|map| Header::read(&map, path).ok());
            return header.map_or(Some(Why::Unreadable), |header| self.why_no_owner(&header));
        }
        // A journal belongs to the images beside it, which are locked while a process makes them.
        is_free(&path.with_extension("partial")).then_some(Why::Unfinished)
    }

    /// Why no data set has the images of a header. Beside a folder somebody may have put a pack that
    /// names any directory: then only the folder itself is read.
    fn why_no_owner(&mut self, header: &Header) -> Option<Why> {
        let Owner { dataset, test, root } = header.of.clone()?;
        let split = if test { Split::Test } else { Split::Train };
        let packs = self.packs.clone();
        let is_same = |listing: &Listing| {
            let stamp = Stamp::new(listing, split);
            stamp.is_ok_and(|stamp| Header::new(listing, split, header.size, &packs, &stamp).key == header.key)
        };
        let beside = self.beside.clone();
        let named = if self.has_others { root.clone() } else { beside.clone() };
        for place in [&named, &beside] {
            // Links that lead out are not followed, so nothing is known.
            if self.listings(dataset, place)?.iter().any(is_same) {
                return None;
            }
        }
        // This may have been the default data directory once.
        if root != named && !home::is_hidden(&packs) && root.exists() {
            return None;
        }
        let is_gone = self.listings(dataset, &named)?.is_empty();
        Some(if is_gone { Why::Gone(named) } else { Why::Changed(named) })
    }

    /// The images of a data set at `root`, in every way in which it can be opened; `None` if a link
    /// leads out of it.
    fn listings(&mut self, dataset: Dataset, root: &Path) -> Option<&[Listing]> {
        let look = || {
            let ways = if dataset == Dataset::TinyImagenet { vec![None, Some(ALL_CLASSES)] } else { vec![None] };
            let listing = |classes| {
                let request = Request { directory: Some(root), classes, ..Request::default() };
                match dataset.find(&request) {
                    Ok(Found::Files(listing, _)) => Some(Some(listing)),
                    Err(DataError::Link { .. }) => None,
                    _ => Some(None),
                }
            };
            let found = ways.into_iter().map(listing).collect::<Option<Vec<_>>>()?;
            Some(found.into_iter().flatten().collect())
        };
        self.listings.entry((dataset.to_string(), root.into())).or_insert_with(look).as_deref()
    }
}
