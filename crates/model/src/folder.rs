//! Folders of photos, one folder per class, as photos of a model's size.

use std::{
    collections::BTreeSet,
    fmt, io,
    path::{Path, PathBuf},
};

use rehearsal::learner::{Defaults, machine_memory};
use rehearsal_data::{
    DataError, ImageShape, Progress,
    photos::{self, Decoded, Ignored, ScanOptions},
};
use rehearsal_files::text::{plural, thousands as count};

use crate::{Digest, Model, ModelError, Photo, Session};

/// How many unreadable files or unknown classes are named.
const NAMED: usize = 10;
/// How many photos are looked at to choose the size of a new model.
const LOOKED_AT: usize = 9;

/// Which part of a folder that has `train` beside `test` or `val` is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
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
    /// A class without photos.
    Empty(String),
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
    /// A class with a single photo.
    OneImage(String),
    /// Two classes whose names differ in capitals or spaces only.
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
            Self::Empty(class) => write!(f, "class {class} is empty and left out"),
            Self::Unreadable { photos, left_out } => {
                let what = if *left_out { "left out" } else { "cannot be read" };
                let mut lines: Vec<String> = photos.iter().take(NAMED).map(|line| format!("{what}: {line}")).collect();
                lines.extend((photos.len() > NAMED).then(|| format!("{what}: {} more", photos.len() - NAMED)));
                f.write_str(&lines.join("\n"))
            }
            Self::Read { images, classes, size } => {
                let of = if *classes == 1 { "1 class".to_owned() } else { format!("{} classes", count(*classes)) };
                write!(f, "read {} of {of}, {size}×{size}", plural(*images, "image"))
            }
            Self::OneImage(class) => write!(f, "class {class} has only one image: add more"),
            Self::Similar(one, other) => {
                write!(f, "`{one}` and `{other}` are two classes: they differ in capitals or spaces only")
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
    /// A session with default settings, of all photos in `folders`. `size` is the height and width for
    /// a new model; without it, the photos decide.
    ///
    /// # Errors
    /// There are no photos, one cannot be read, or the model has another size.
    pub fn session(&mut self, model: &Model, folders: &[PathBuf], size: Option<usize>) -> Result<Session, ModelError> {
        let mut found = Vec::new();
        for folder in folders {
            found.extend(self.scan(folder, Part::Training)?);
        }
        if found.is_empty() {
            return Err(ModelError::NoImages);
        }
        let current = if model.is_empty() { None } else { Some(model.current()?) };
        let shape = match (&current, size) {
            (Some(version), size) => {
                let shape = version.learner.shape();
                if let Some(asked) = size.filter(|size| *size != shape.height) {
                    let (is, asked) = (shape.height.to_string(), asked.to_string());
                    return Err(ModelError::Fixed { setting: "size".into(), is, asked });
                }
                shape
            }
            (None, size) => square(size.unwrap_or_else(|| Defaults::size(short_side(&found).unwrap_or(usize::MAX)))),
        };
        let paths: Vec<&Path> = found.iter().map(|photo| photo.path.as_path()).collect();
        let read = self.read(&paths, shape)?;
        let photo = |(photo, decoded): (photos::Photo, Option<Decoded>)| {
            let Decoded { image, sha256 } = decoded?;
            let source = photo.path.display().to_string();
            Some(Photo { class: photo.class, source, image, digest: Digest::from_sha256(sha256) })
        };
        let photos: Vec<Photo> = found.into_iter().zip(read).filter_map(photo).collect();
        let known = current.iter().flat_map(|version| version.learner.classes().names());
        self.describe(&photos, shape, &known.map(|name| &**name).collect::<Vec<_>>());
        Ok(Session::new(photos, shape))
    }

    fn describe(&mut self, photos: &[Photo], shape: ImageShape, known: &[&str]) {
        let classes: BTreeSet<&str> = photos.iter().map(|photo| photo.class.as_str()).collect();
        (self.notice)(&FolderNotice::Read { images: photos.len(), classes: classes.len(), size: shape.height });
        for class in &classes {
            if photos.iter().filter(|photo| photo.class == **class).count() == 1 {
                (self.notice)(&FolderNotice::OneImage((*class).to_owned()));
            }
        }
        similar(&classes, known).iter().for_each(|notice| (self.notice)(notice));
    }

    /// The photos below a folder with their classes, in order. If the folder has `train` beside `test`
    /// or `val`, only those of one part.
    ///
    /// # Errors
    /// It is not a folder, or cannot be read.
    pub fn scan(&mut self, root: &Path, part: Part) -> Result<Vec<photos::Photo>, ModelError> {
        match root.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ModelError::NoFolder(root.into())),
            Ok(about) if !about.is_dir() => return Err(ModelError::NotAFolder(root.into())),
            _ => {}
        }
        let options = ScanOptions { follow_links_outside: self.follow_links };
        let (mut found, mut root) = (photos::scan(root, &options)?, root.to_path_buf());
        if found.has_splits {
            let test = if root.join("test").is_dir() { "test" } else { "val" };
            root.push(if part == Part::Training { "train" } else { test });
            found = photos::scan(&root, &options)?;
            (self.notice)(&FolderNotice::Part(root.clone()));
        }
        if !found.ignored.is_empty() {
            (self.notice)(&FolderNotice::Ignored { files: found.ignored, root });
        }
        if let Some(class) = found.classes.iter().find(|class| class.contains('/')) {
            (self.notice)(&FolderNotice::Nested(class.clone()));
        }
        found.empty_classes.into_iter().for_each(|class| (self.notice)(&FolderNotice::Empty(class)));
        Ok(found.photos)
    }

    /// Decodes photos in parallel; `None` in the place of one that is left out.
    ///
    /// # Errors
    /// They do not fit into memory, or one cannot be read.
    pub fn read<P: AsRef<Path> + Sync>(
        &mut self,
        paths: &[P],
        shape: ImageShape,
    ) -> Result<Vec<Option<Decoded>>, ModelError> {
        check_room(paths.len(), shape, machine_memory())?;
        let mut bad = Vec::new();
        let read = photos::read_all(paths, shape, self.progress);
        let decoded = read.into_iter().map(|read| read.map_err(|error| bad.push(reason(error))).ok()).collect();
        let (photos, left_out) = (bad, self.skip_bad);
        let error =
            photos.first().map(|first| ModelError::UnreadablePhotos { count: photos.len(), first: first.clone() });
        if left_out && !photos.is_empty() || photos.len() > 1 {
            (self.notice)(&FolderNotice::Unreadable { photos, left_out });
        }
        error.filter(|_| !left_out).map_or(Ok(decoded), Err)
    }
}

fn reason(error: DataError) -> String {
    match error {
        DataError::Image { path, why } => format!("{}: {why}", path.display()),
        DataError::Unreadable { path, error } => format!("{}: {error}", path.display()),
        error => error.to_string(),
    }
}

/// Images in colour of that height and width.
fn square(size: usize) -> ImageShape {
    ImageShape { height: size, width: size, channels: 3 }
}

/// The median of the short sides of some photos.
fn short_side(found: &[photos::Photo]) -> Option<usize> {
    let every = (found.len() / LOOKED_AT).max(1);
    let side = |photo: &photos::Photo| photos::size(&photo.path).ok().map(|(height, width)| height.min(width));
    let mut sides: Vec<usize> = found.iter().step_by(every).filter_map(side).collect();
    sides.sort_unstable();
    sides.get(sides.len() / 2).copied()
}

/// Refuses more photos than fit into memory.
fn check_room(photos: usize, shape: ImageShape, available: Option<u64>) -> Result<(), ModelError> {
    let needed = photos as f64 * shape.bytes() as f64;
    match available.map(|bytes| bytes as f64).filter(|available| needed > *available) {
        None => Ok(()),
        Some(available) => Err(ModelError::TooManyPhotos { photos, shape, needed, available }),
    }
}

/// Each new class whose name differs from another's in capitals or spaces only.
fn similar(classes: &BTreeSet<&str>, known: &[&str]) -> Vec<FolderNotice> {
    let plain = |name: &str| name.split_whitespace().collect::<String>().to_lowercase();
    let mut others: Vec<(String, &str)> = known.iter().map(|name| (plain(name), *name)).collect();
    let mut notices = Vec::new();
    for class in classes.iter().filter(|class| !known.contains(class)) {
        let name = plain(class);
        if let Some((_, other)) = others.iter().find(|(other, _)| *other == name) {
            notices.push(FolderNotice::Similar((*other).to_owned(), (*class).to_owned()));
        }
        others.push((name, class));
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_photos::write_folder;

    #[test]
    fn photos_that_do_not_fit_are_refused_with_the_estimate() {
        check_room(1000, square(48), Some(1 << 30)).unwrap();
        check_room(usize::MAX, square(48), None).unwrap();
        let why = check_room(10_000, square(1024), Some(16_000_000_000)).unwrap_err().to_string();
        assert!(why.contains("31.5 GB") && why.contains("16.0 GB"), "{why}");
    }

    #[test]
    fn names_that_differ_in_capitals_or_spaces_only_are_noticed() {
        let similar = |classes: &[&'static str], known: &[&str]| similar(&classes.iter().copied().collect(), known);
        let pair = |one: &str, other: &str| FolderNotice::Similar(one.into(), other.into());
        assert_eq!(similar(&["Boots", "clogs"], &["boots", "mules"]), [pair("boots", "Boots")]);
        assert_eq!(similar(&["boots", "clogs", "Boots"], &[]), [pair("Boots", "boots")]);
        assert_eq!(similar(&["Boots", "boots"], &["boots", "Boots"]), [], "known, and noticed before");
    }

    #[test]
    fn the_training_part_is_read_and_bad_photos_are_refused_or_left_out() {
        let place = tempfile::tempdir().unwrap();
        for part in ["data/train", "data/test"] {
            write_folder(&place.path().join(part), &["a", "b"], 3);
        }
        std::fs::write(place.path().join("data/train/a/bad.png"), "no image").unwrap();
        let model = Model::open_or_create(&place.path().join("m")).unwrap();
        let read = |skip_bad: bool| {
            let mut notices = Vec::new();
            let mut notice = |notice: &FolderNotice| notices.push(notice.clone());
            let mut reader = FolderReader { follow_links: false, skip_bad, progress: &(), notice: &mut notice };
            let session = reader.session(&model, &[place.path().join("data")], None);
            (session, notices)
        };
        let (refused, _) = read(false);
        assert!(matches!(refused, Err(ModelError::UnreadablePhotos { count: 1, .. })), "{refused:?}");
        let (session, notices) = read(true);
        let session = session.unwrap();
        assert_eq!((session.photos.len(), session.shape), (6, square(16)), "small photos grow");
        assert_eq!(notices[0], FolderNotice::Part(place.path().join("data/train")));
        assert!(matches!(&notices[1], FolderNotice::Unreadable { photos, left_out: true } if photos.len() == 1));
        assert_eq!(notices[2], FolderNotice::Read { images: 6, classes: 2, size: 16 });
        let file = std::fs::read(place.path().join("data/train/a/00.png")).unwrap();
        assert_eq!(session.photos[0].digest, Digest::of(&file), "of the file, not of the pixels");
    }
}
