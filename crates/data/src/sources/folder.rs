//! The user's own images: `DIR/train/CLASS/…` and `DIR/test/CLASS/…`, or `DIR/CLASS/…` with a seeded split of one test image in five.
//! Classes are called as their folders, in order of name. Folders inside a class count as the class.

use std::path::{Path, PathBuf};

use crate::{
    DataError,
    decode::EXTENSIONS,
    files::{directories, entries, name},
    pack::{Entry, Listing},
    split::seeded,
};

/// One image in so many is for testing.
const TEST_SHARE: usize = 5;

/// Deeper folders than anyone has: a link may lead in a circle.
const DEEPEST: usize = 16;

/// The images below `root`.
pub(crate) fn list(root: &Path) -> Result<Listing, DataError> {
    let test = ["test", "val"].map(|name| root.join(name)).into_iter().find(|path| path.is_dir());
    let listing = match (root.join("train"), test) {
        (train, Some(test)) if train.is_dir() => split_listing(&train, &test)?,
        _ => seeded_listing(root, TEST_SHARE)?,
    };
    if listing.train.is_empty() {
        let extensions = EXTENSIONS.join(", ");
        return Err(folder(root, format!("no images in folders of classes. Expected CLASS/*.{{{extensions}}} in it")));
    }
    Ok(listing)
}

/// Where train and test are folders of their own.
fn split_listing(train: &Path, test: &Path) -> Result<Listing, DataError> {
    let class_names = class_names(train)?;
    for class in self::class_names(test)? {
        if !class_names.contains(&class) {
            return Err(folder(test, format!("class `{class}` is not in {}", train.display())));
        }
    }
    let entries = |root: &Path| -> Result<Vec<Entry>, DataError> {
        let mut entries = Vec::new();
        for (label, class) in class_names.iter().enumerate().filter(|(_, class)| root.join(class).is_dir()) {
            let images = images(&root.join(class))?.into_iter();
            entries.extend(images.map(|path| Entry { path, label: label as u16, domain: 0 }));
        }
        Ok(entries)
    };
    Ok(Listing { train: entries(train)?, test: entries(test)?, class_names, ..Listing::default() })
}

/// Where every class is one folder: one image in `share` is for testing.
pub(super) fn seeded_listing(root: &Path, share: usize) -> Result<Listing, DataError> {
    let mut listing = Listing { class_names: class_names(root)?, ..Listing::default() };
    for (label, class) in listing.class_names.iter().enumerate() {
        let images = images(&root.join(class))?;
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

/// The image files below a folder, by their names.
fn images(root: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut images = Vec::new();
    collect(root, 0, &mut images)?;
    Ok(images)
}

fn collect(root: &Path, depth: usize, images: &mut Vec<PathBuf>) -> Result<(), DataError> {
    if depth > DEEPEST {
        return Err(folder(root, "folders lie too deep".into()));
    }
    for path in entries(root)? {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_lowercase();
        if path.is_dir() {
            collect(&path, depth + 1, images)?;
        } else if EXTENSIONS.contains(&extension.as_str()) {
            images.push(path);
        }
    }
    Ok(())
}

fn folder(path: &Path, why: String) -> DataError {
    DataError::Folder { path: path.into(), why }
}
