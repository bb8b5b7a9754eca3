//! Packs that no data set uses any more: what they are, and removing them.

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

/// More classes than any data set has unless it is asked for them.
const ALL_CLASSES: usize = 200;

/// A file that no data set uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unused {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Why nobody uses it.
    pub why: Why,
}

/// Why nobody uses a pack: a short phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// There are no images where they were.
    Gone(PathBuf),
    /// The images there are not those that were packed.
    Changed(PathBuf),
    /// It was made by another version of this program, or is damaged.
    Unreadable,
    /// Someone stopped making it.
    Unfinished,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Gone(root) => write!(f, "its images are no longer in {}", root.display()),
            Self::Changed(root) => write!(f, "the images in {} have changed", root.display()),
            Self::Unreadable => f.write_str("another version made it, or it is damaged"),
            Self::Unfinished => f.write_str("it was not finished"),
        }
    }
}

impl Serialize for Why {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// The packs of the data in `directory`, or where all data live, that no data set uses. Those that
/// a process is making are none of them.
///
/// # Errors
/// A directory cannot be read.
pub fn unused(directory: Option<&Path>) -> Result<Vec<Unused>, DataError> {
    let data = directory.map_or_else(home::default_directory, |directory| Ok(directory.into()))?;
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

/// Removes a file that nobody uses. Whoever has it open keeps its images until it ends.
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

/// Whether it is a file, or a link, that is called like a pack, or a part of one.
fn is_ours(path: &Path) -> bool {
    if path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
        return false;
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_split = Split::BOTH.iter().any(|split| name.contains(&format!("-{}-", split.name())));
    is_split && [".pack", ".pack.partial", ".pack.journal"].iter().any(|end| name.ends_with(end))
}

/// Who may use the packs of a directory.
struct Owners {
    packs: PathBuf,
    /// The data that the packs are beside, if they are: a folder may have been moved with them.
    beside: PathBuf,
    /// They are the home's: packs of folders anywhere are among them, all of the user's own making.
    has_others: bool,
    /// What is in each place, looked at once; none where that leads out of it.
    listings: BTreeMap<(String, PathBuf), Option<Vec<Listing>>>,
}

impl Owners {
    fn why_unused(&mut self, path: &Path) -> Option<Why> {
        if path.extension().is_some_and(|extension| extension == "pack") {
            let header = Mapped::open(path, u64::MAX).ok().and_then(|map| Header::read(&map, path).ok());
            return header.map_or(Some(Why::Unreadable), |header| self.why_no_owner(&header));
        }
        // A journal belongs to the images beside it, and the one who makes them has them locked.
        is_free(&path.with_extension("partial")).then_some(Why::Unfinished)
    }

    /// Why nobody has the images that a header speaks of. Beside a folder a stranger may have put a
    /// pack that speaks of any place: only the folder itself is looked at then.
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
            // Where links lead out of it, nothing is followed, and so nothing known.
            if self.listings(dataset, place)?.iter().any(is_same) {
                return None;
            }
        }
        // It may be of a time when the home was here.
        if root != named && !home::is_hidden(&packs) && root.exists() {
            return None;
        }
        let is_gone = self.listings(dataset, &named)?.is_empty();
        Some(if is_gone { Why::Gone(named) } else { Why::Changed(named) })
    }

    /// The images of a data set at `root`, in every way in which it can be opened; none where a link
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
