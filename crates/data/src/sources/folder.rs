//! The user's own images: `DIR/train/CLASS/…` and `DIR/test/CLASS/…`, or `DIR/CLASS/…` with a
//! seeded split of one test image in five. Classes are called as their folders, in order of name.
//! Folders inside a class count as the class.

use std::{
    collections::btree_map::{BTreeMap, Entry as Entered},
    path::{Path, PathBuf},
};

use crate::{
    DataError,
    decode::EXTENSIONS,
    files::{directories, entries, name},
    links::Bounds,
    pack::{Entry, Listing},
    split::seeded,
};

/// One image in so many is for testing.
const TEST_SHARE: usize = 5;

/// Deeper folders than anyone has.
const DEEPEST: usize = 16;

/// The images below `root`.
pub(crate) fn list(root: &Path, bounds: &Bounds) -> Result<Listing, DataError> {
    let test = ["test", "val"].map(|name| root.join(name)).into_iter().find(|path| path.is_dir());
    let listing = match (root.join("train"), test) {
        (train, Some(test)) if train.is_dir() => split_listing(&train, &test, bounds)?,
        _ => seeded_listing(root, TEST_SHARE, bounds)?,
    };
    if listing.train.is_empty() {
        let extensions = EXTENSIONS.join(", ");
        return Err(folder(root, format!("no images in folders of classes. Expected CLASS/*.{{{extensions}}} in it")));
    }
    Ok(listing)
}

/// Where train and test are folders of their own.
fn split_listing(train: &Path, test: &Path, bounds: &Bounds) -> Result<Listing, DataError> {
    let class_names = class_names(train)?;
    for class in self::class_names(test)? {
        if !class_names.contains(&class) {
            return Err(folder(test, format!("class `{class}` is not in {}", train.display())));
        }
    }
    let entries = |root: &Path| -> Result<Vec<Entry>, DataError> {
        let mut entries = Vec::new();
        let mut walk = Walk::new(bounds);
        for (label, class) in class_names.iter().enumerate().filter(|(_, class)| root.join(class).is_dir()) {
            let images = walk.images(root, class)?.into_iter();
            entries.extend(images.map(|path| Entry { path, label: label as u16, domain: 0 }));
        }
        Ok(entries)
    };
    Ok(Listing { train: entries(train)?, test: entries(test)?, class_names, ..Listing::default() })
}

/// Where every class is one folder: one image in `share` is for testing.
pub(super) fn seeded_listing(root: &Path, share: usize, bounds: &Bounds) -> Result<Listing, DataError> {
    let mut listing = Listing { class_names: class_names(root)?, ..Listing::default() };
    let mut walk = Walk::new(bounds);
    for (label, class) in listing.class_names.iter().enumerate() {
        let images = walk.images(root, class)?;
        let relative = |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        let tested = seeded(&images.iter().map(relative).collect::<Vec<_>>(), share);
        for (path, test) in images.into_iter().zip(tested) {
            let entry = Entry { path, label: label as u16, domain: 0 };
            if test { listing.test.push(entry) } else { listing.train.push(entry) }
        }
    }
    Ok(listing)
}

fn class_names(root: &Path) -> Result<Vec<String>, DataError> {
    let names: Vec<String> =
        directories(root)?.iter().map(|path| name(path).map(String::from)).collect::<Result<_, _>>()?;
    match u16::try_from(names.len()) {
        Ok(_) => Ok(names),
        Err(_) => Err(folder(root, format!("{} classes are too many", names.len()))),
    }
}

/// A walk through the folders of a split.
struct Walk<'a> {
    bounds: &'a Bounds,
    /// Every folder that was entered, as it really is, and for which class.
    entered: BTreeMap<PathBuf, String>,
}

impl<'a> Walk<'a> {
    fn new(bounds: &'a Bounds) -> Self {
        Self { bounds, entered: BTreeMap::new() }
    }

    /// The image files below the folder of a class, by their names.
    fn images(&mut self, root: &Path, class: &str) -> Result<Vec<PathBuf>, DataError> {
        let mut images = Vec::new();
        self.collect(&root.join(class), class, 0, &mut images)?;
        Ok(images)
    }

    /// However many links lead to a folder, it is entered once.
    fn collect(&mut self, at: &Path, class: &str, depth: usize, images: &mut Vec<PathBuf>) -> Result<(), DataError> {
        if depth > DEEPEST {
            return Err(folder(at, "folders lie too deep".into()));
        }
        match self.entered.entry(self.bounds.real(at)?) {
            Entered::Vacant(new) => drop(new.insert(class.into())),
            Entered::Occupied(before) if before.get() == class => return Ok(()),
            Entered::Occupied(before) => {
                let why = format!("it is a link to images of class `{}`", before.get());
                return Err(folder(at, why));
            }
        }
        for path in entries(at)? {
            let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            if path.is_dir() {
                self.collect(&path, class, depth + 1, images)?;
            } else if EXTENSIONS.contains(&extension.to_lowercase().as_str()) {
                images.push(path);
            }
        }
        Ok(())
    }
}

fn folder(path: &Path, why: String) -> DataError {
    DataError::Folder { path: path.into(), why }
}
