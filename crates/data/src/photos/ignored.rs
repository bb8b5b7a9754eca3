//! Files that are not read, and how they are reported.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use serde::{Serialize, Serializer};

/// The most files that are listed.
const NAMED: usize = 10;

/// A file that is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// The file, or a folder.
    #[serde(flatten, serialize_with = "rehearsal_files::path_text::serialize")]
    pub path: PathBuf,
    /// Why it is not read.
    pub why: Why,
}

/// Why a file is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Why {
    /// An image of this format.
    Format(&'static str),
    /// A video.
    Video,
    /// By its name, it is not an image.
    NoImage,
    /// An image by its first bytes, but not by its name.
    OtherName,
    /// An image beside the folders of classes.
    NoClass,
    /// A folder that links lead to twice.
    ReadAlready,
    /// Beside the folders `train` and `test`.
    BesideSplits,
    /// Its name begins with a dot.
    Hidden,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Format(format) => write!(f, "{format} is not read, convert it to JPEG"),
            Self::Video => f.write_str("a video"),
            Self::OtherName => f.write_str("an image, but without an image's extension: rename it"),
            Self::NoImage => f.write_str("not an image"),
            Self::NoClass => f.write_str("not in a folder of a class"),
            Self::ReadAlready => f.write_str("a folder that is read under another name"),
            Self::BesideSplits => f.write_str("beside the folders of training and test images"),
            Self::Hidden => f.write_str("hidden"),
        }
    }
}

impl Serialize for Why {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A report of ignored files: how many there are; the first ten by their paths below `root`; how many
/// more of each kind. Hidden files are only counted. Empty if nothing was ignored.
pub fn lines(ignored: &[Ignored], root: &Path) -> Vec<String> {
    let (hidden, seen): (Vec<&Ignored>, Vec<&Ignored>) = ignored.iter().partition(|file| file.why == Why::Hidden);
    let mut lines = Vec::new();
    if let Some(title) = title(seen.len(), hidden.len()) {
        lines.push(title);
    }
    for Ignored { path, why } in seen.iter().take(NAMED) {
        lines.push(format!("  {}: {why}", path.strip_prefix(root).unwrap_or(path).display()));
    }
    let mut more: BTreeMap<Why, usize> = BTreeMap::new();
    for Ignored { why, .. } in seen.iter().skip(NAMED) {
        *more.entry(*why).or_default() += 1;
    }
    lines.extend(more.iter().map(|(why, count)| format!("  and {count} more: {why}")));
    lines
}

/// `3 files are ignored, 2 of them hidden:`
fn title(seen: usize, hidden: usize) -> Option<String> {
    let are = |count: usize| if count == 1 { "file is" } else { "files are" };
    match (seen, hidden) {
        (0, 0) => None,
        (0, hidden) => Some(format!("{hidden} hidden {} ignored", are(hidden))),
        (seen, 0) => Some(format!("{seen} {} ignored:", are(seen))),
        (seen, hidden) => Some(format!("{seen} {} ignored, and {hidden} hidden:", are(seen))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ignored(name: &str, why: Why) -> Ignored {
        Ignored { path: Path::new("/photos").join(name), why }
    }

    #[test]
    fn ten_are_listed_and_the_rest_counted_by_kind() {
        let told = |ignored: &[Ignored]| lines(ignored, Path::new("/photos"));
        assert_eq!(told(&[]), Vec::<String>::new());
        let few = [ignored("notes.txt", Why::NoImage), ignored("a/IMG.HEIC", Why::Format("HEIC"))];
        let heic = "  a/IMG.HEIC: HEIC is not read, convert it to JPEG";
        assert_eq!(told(&few), ["2 files are ignored:", "  notes.txt: not an image", heic]);
        assert_eq!(told(&[ignored(".DS_Store", Why::Hidden)]), ["1 hidden file is ignored"]);
        let mut many: Vec<Ignored> = (0..12).map(|i| ignored(&format!("{i:02}.txt"), Why::NoImage)).collect();
        many.extend([ignored("x.heic", Why::Format("HEIC")), ignored(".x", Why::Hidden)]);
        let told = told(&many);
        assert_eq!(told[0], "13 files are ignored, and 1 hidden:");
        assert_eq!((told.len(), told[10].as_str()), (13, "  09.txt: not an image"));
        assert_eq!(told[11..], ["  and 1 more: HEIC is not read, convert it to JPEG", "  and 2 more: not an image"]);
    }
}
