//! A folder of the user's images: `DIR/train/CLASS/…` and `DIR/test/CLASS/…`, or `DIR/CLASS/…` with
//! a seeded split of one test image in five. Classes have the names of their folders, in order of
//! path; a folder inside a folder is another class, `bags/leather`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    DataError,
    decode::EXTENSIONS,
    files::directories,
    links::Bounds,
    pack::{Entry, Listing},
    photos::{Class, Walked, beside, walk_classes},
    split::seeded,
};

/// One image in five is for testing.
const TEST_SHARE: usize = 5;

/// The images below `root`.
pub(crate) fn list(root: &Path, bounds: &Bounds) -> Result<Listing, DataError> {
    let test = ["test", "val"].map(|name| root.join(name)).into_iter().find(|path| path.is_dir());
    let listing = match (root.join("train"), test) {
        (train, Some(test)) if train.is_dir() => split_listing(root, &train, &test, bounds)?,
        (train, None) if is_all_there_is(root, &train)? => {
            let mut listing = seeded_listing(&train, TEST_SHARE, bounds)?;
            listing.ignored = [beside(root, &[&train])?, listing.ignored].concat();
            listing
        }
        _ => seeded_listing(root, TEST_SHARE, bounds)?,
    };
    if listing.train.is_empty() {
        let extensions = EXTENSIONS.join(", ");
        return Err(folder(root, format!("no images in folders of classes: expected CLASS/*.{{{extensions}}}")));
    }
    Ok(listing)
}

/// Whether `train` is the only folder in `root`, and holds folders itself.
fn is_all_there_is(root: &Path, train: &Path) -> Result<bool, DataError> {
    Ok(directories(root)? == [train.to_path_buf()] && !directories(train)?.is_empty())
}

/// For `train` and `test` folders.
fn split_listing(root: &Path, train: &Path, test: &Path, bounds: &Bounds) -> Result<Listing, DataError> {
    let (trained, tested) = (classes(train, bounds)?, classes(test, bounds)?);
    let labels: BTreeMap<String, u16> = trained.names().into_iter().zip(0..).collect();
    let entries = |classes: Vec<Class>| -> Result<Vec<Entry>, DataError> {
        let mut entries = Vec::new();
        for Class { name, images } in classes {
            let unknown = || folder(test, format!("class `{name}` is not in {}", train.display()));
            let label = *labels.get(&name).ok_or_else(unknown)?;
            entries.extend(images.into_iter().map(|path| Entry { path, label, domain: 0 }));
        }
        Ok(entries)
    };
    let mut listing = Listing { class_names: trained.names(), nested: trained.is_nested(), ..Listing::default() };
    listing.ignored = [beside(root, &[train, test])?, trained.ignored, tested.ignored].concat();
    (listing.train, listing.test) = (entries(trained.classes)?, entries(tested.classes)?);
    Ok(listing)
}

/// For one folder per class: one image in `share` is for testing.
pub(super) fn seeded_listing(root: &Path, share: usize, bounds: &Bounds) -> Result<Listing, DataError> {
    let found = classes(root, bounds)?;
    let mut listing = Listing { class_names: found.names(), nested: found.is_nested(), ..Listing::default() };
    for (label, class) in found.classes.into_iter().enumerate() {
        add_seeded(&mut listing, label as u16, class, share);
    }
    listing.ignored = found.ignored;
    Ok(listing)
}

/// Adds a class, of which one image in `share` is for testing. The choice depends only on
/// `CLASS/FILE`.
pub(super) fn add_seeded(listing: &mut Listing, label: u16, class: Class, share: usize) {
    let Class { name: class, images } = class;
    let relative = |path: &PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        format!("{class}/{file}").replace('\\', "/")
    };
    let tested = seeded(&images.iter().map(relative).collect::<Vec<_>>(), share);
    for (path, test) in images.into_iter().zip(tested) {
        let entry = Entry { path, label, domain: 0 };
        if test { listing.test.push(entry) } else { listing.train.push(entry) }
    }
}

/// The classes below `root`: at most 65,535.
pub(super) fn classes(root: &Path, bounds: &Bounds) -> Result<Walked, DataError> {
    let walked = walk_classes(root, bounds)?;
    match u16::try_from(walked.classes.len()) {
        Ok(_) => Ok(walked),
        Err(_) => Err(folder(root, format!("{} classes are too many", walked.classes.len()))),
    }
}

fn folder(path: &Path, why: String) -> DataError {
    DataError::Folder { path: path.into(), why }
}
