//! Folders of photos, one folder per class, as photos of a model's size.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rehearsal_data::{
    DataError, Progress,
    photos::{self, Ignored, ScanOptions},
};
use rehearsal_files::text::{plural, thousands as count};

use crate::{InputReader, ModelError, Seen, exact::FEWEST, names::similar};

/// How many unreadable files or unknown classes are named.
const NAMED: usize = 10;

/// Which part of a folder that has `train` beside `test` or `val` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderPart {
    /// `train`.
    Training,
    /// `test`, or `val`.
    Test,
}

/// What a user should know about a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderNotice {
    /// The folder has a training and a test part; this one is read.
    Part(PathBuf),
    /// Files that are not read.
    Ignored {
        /// Which.
        files: Vec<Ignored>,
        /// The folder that they are in.
        root: PathBuf,
    },
    /// A class in a folder inside a folder.
    Nested(String),
    /// Classes without photos.
    Empty(Vec<String>),
    /// Photos that cannot be read, with the reasons.
    Unreadable {
        /// Which.
        photos: Vec<String>,
        /// Whether they are left out; else the folder is refused.
        left_out: bool,
    },
    /// All photos are read.
    Read {
        /// How many.
        images: usize,
        /// Of how many classes.
        classes: usize,
        /// Height and width.
        size: usize,
    },
    /// Classes with so few photos that none is held out.
    FewImages(Vec<(String, usize)>),
    /// Two classes whose names are probably one.
    Similar(String, String),
    /// Classes that the model does not know.
    UnknownClasses(BTreeSet<String>),
    /// Photos of an evaluation that the model has learned from.
    Learned {
        /// How many.
        photos: usize,
        /// Of how many.
        of: usize,
    },
}

impl fmt::Display for FolderNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part(root) => {
                write!(f, "the folder has a training and a test part: reading {}", root.display())
            }
            Self::Ignored { files, root } => f.write_str(&photos::lines(files, root).join("\n")),
            Self::Nested(class) => write!(f, "a folder inside a folder is a class named by its path: {class}"),
            Self::Empty(classes) => {
                f.write_str(&first_lines(classes, |class| format!("class {class} is empty and left out")))
            }
            Self::Unreadable { photos, left_out } => {
                let what = if *left_out { "left out" } else { "cannot be read" };
                f.write_str(&first_lines(photos, |line| format!("{what}: {line}")))
            }
            Self::Read { images, classes, size } => {
                let of = if *classes == 1 { "1 class".to_owned() } else { format!("{} classes", count(*classes)) };
                write!(f, "read {} of {of}, {size}×{size}", plural(*images, "image"))
            }
            Self::FewImages(classes) => {
                let named = classes.iter().take(NAMED).map(|(class, images)| format!("{class} ({images})"));
                let more = classes.len().saturating_sub(NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let named = named.collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "fewer than {FEWEST} photos, none of them held out to measure the class, add more: {named}{more}"
                )
            }
            Self::Similar(one, other) => {
                write!(f, "`{one}` and `{other}` are two classes: they differ only in capitals, spaces or a plural")
            }
            Self::UnknownClasses(classes) => {
                let named: Vec<&str> = classes.iter().take(NAMED).map(String::as_str).collect();
                let more = classes.len().saturating_sub(NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                write!(f, "not known to the model and left out: {}{more}", named.join(", "))
            }
            Self::Learned { photos, of } => {
                let (photos, of) = (count(*photos), plural(*of, "photo"));
                write!(f, "{photos} of {of} were learned from: the accuracy is too high")
            }
        }
    }
}

/// Reads folders of photos.
pub struct FolderReader<'a> {
    /// Follow links that lead out of a folder.
    pub follow_links: bool,
    /// Leave out photos that cannot be read, instead of refusing the folder.
    pub skip_bad: bool,
    /// Told how many photos are decoded.
    pub progress: &'a dyn Progress,
    /// Told what a user should know.
    pub notice: &'a mut dyn FnMut(&FolderNotice),
}

impl FolderReader<'_> {
    /// The photos of a holdout set of the user's: those of `given`; else, beside each training part of
    /// `folders`, those of `val`, or of `test`. None if there are no such folders.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn find_holdout(
        &mut self,
        given: Option<&Path>,
        folders: &[PathBuf],
    ) -> Result<Vec<photos::Photo>, ModelError> {
        if let Some(given) = given {
            return self.scan(given, FolderPart::Test);
        }
        let mut found = Vec::new();
        for folder in folders.iter().filter(|folder| folder.join("train").is_dir()) {
            if let Some(part) = ["val", "test"].iter().map(|part| folder.join(part)).find(|part| part.is_dir()) {
                found.extend(self.scan(&part, FolderPart::Test)?);
            }
        }
        Ok(found)
    }

    /// All photos in `folders`, with their classes.
    ///
    /// # Errors
    /// There are none, or a folder cannot be read.
    pub fn find(&mut self, folders: &[PathBuf]) -> Result<Vec<photos::Photo>, ModelError> {
        let mut found = Vec::new();
        for folder in folders {
            found.extend(self.scan(folder, FolderPart::Training)?);
        }
        if found.is_empty() { Err(ModelError::NoImages) } else { Ok(found) }
    }

    /// Says what was read, and what is strange about it. `total` says how many photos of a class there are
    /// then.
    pub(crate) fn describe(
        &mut self,
        classes: &ClassCount,
        size: usize,
        known: &[Arc<str>],
        total: impl Fn(&str) -> usize,
    ) {
        let images = classes.0.values().sum();
        (self.notice)(&FolderNotice::Read { images, classes: classes.0.len(), size });
        let names: BTreeSet<&str> = classes.0.keys().map(String::as_str).collect();
        let few: Vec<(String, usize)> = names.iter().map(|class| ((*class).to_owned(), total(class))).collect();
        let few: Vec<_> = few.into_iter().filter(|(_, images)| (1..FEWEST).contains(images)).collect();
        if !few.is_empty() {
            (self.notice)(&FolderNotice::FewImages(few));
        }
        let known: Vec<&str> = known.iter().map(|name| &**name).collect();
        for (one, other) in similar(&names, &known) {
            (self.notice)(&FolderNotice::Similar(one, other));
        }
    }

    /// The photos below a folder with their classes, in order. If the folder has `train` beside `test`
    /// or `val`, only those of one part.
    ///
    /// # Errors
    /// It is not a folder, or cannot be read.
    pub fn scan(&mut self, root: &Path, part: FolderPart) -> Result<Vec<photos::Photo>, ModelError> {
        match root.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ModelError::NoFolder(root.into())),
            Ok(about) if !about.is_dir() => return Err(ModelError::NotAFolder(root.into())),
            _ => {}
        }
        let options = ScanOptions { follow_links_outside: self.follow_links };
        let (mut found, mut root) = (photos::scan(root, &options)?, root.to_path_buf());
        if found.has_splits {
            let test = if root.join("test").is_dir() { "test" } else { "val" };
            root.push(if part == FolderPart::Training { "train" } else { test });
            found = photos::scan(&root, &options)?;
            (self.notice)(&FolderNotice::Part(root.clone()));
        }
        if !found.ignored.is_empty() {
            (self.notice)(&FolderNotice::Ignored { files: found.ignored, root });
        }
        // In a session that is refused, or was asked for.
        if let Some(class) = found.classes.iter().find(|class| class.contains('/') && part == FolderPart::Test) {
            (self.notice)(&FolderNotice::Nested(class.clone()));
        }
        if !found.empty_classes.is_empty() {
            (self.notice)(&FolderNotice::Empty(found.empty_classes));
        }
        Ok(found.photos)
    }

    /// Reads photos; `None` in the place of one that is left out.
    ///
    /// # Errors
    /// One cannot be read, or the backbone cannot be used.
    pub fn read<P: photos::PhotoSource>(
        &mut self,
        paths: &[P],
        with: &InputReader,
    ) -> Result<Vec<Option<Seen>>, ModelError> {
        let mut bad = Vec::new();
        let read = with.read(paths, self.progress)?;
        let seen = read.into_iter().map(|read| read.map_err(|error| bad.push(reason(error))).ok()).collect();
        self.refuse_bad(bad)?;
        Ok(seen)
    }

    /// Says which photos cannot be read; an error unless they are left out.
    pub(crate) fn refuse_bad(&mut self, photos: Vec<String>) -> Result<(), ModelError> {
        let left_out = self.skip_bad;
        let error =
            photos.first().map(|first| ModelError::UnreadablePhotos { count: photos.len(), first: first.clone() });
        if left_out && !photos.is_empty() || photos.len() > 1 {
            (self.notice)(&FolderNotice::Unreadable { photos, left_out });
        }
        error.filter(|_| !left_out).map_or(Ok(()), Err)
    }
}

/// A line for each of the first, and one that says how many there are more.
fn first_lines(all: &[String], line: impl Fn(&String) -> String) -> String {
    let more = all.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("and {} more", count(more)));
    all.iter().take(NAMED).map(line).chain(more).collect::<Vec<_>>().join("\n")
}

/// How many photos of each class were read.
#[derive(Debug, Default)]
pub(crate) struct ClassCount(BTreeMap<String, usize>);

impl ClassCount {
    /// One more.
    pub fn add(&mut self, class: &str) {
        match self.0.get_mut(class) {
            Some(count) => *count += 1,
            None => drop(self.0.insert(class.to_owned(), 1)),
        }
    }
}

pub(crate) fn reason(error: DataError) -> String {
    match error {
        DataError::Image { path, why } => format!("{}: {why}", path.display()),
        DataError::Unreadable { path, error } => format!("{}: {error}", path.display()),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_empty_classes_are_named_and_the_others_counted() {
        let classes = |count: usize| FolderNotice::Empty((0..count).map(|number| format!("c{number}")).collect());
        assert_eq!(classes(1).to_string(), "class c0 is empty and left out");
        let lines = classes(5000).to_string();
        assert_eq!((lines.lines().count(), lines.lines().last()), (11, Some("and 4,990 more")));
    }
}
