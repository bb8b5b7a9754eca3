//! Places365's first hundred categories in their small version: `data_256/a/airfield/00000001.jpg`
//! and `val_256/Places365_val_00000001.jpg`, listed in three files. Of each category the first 450
//! training images and all validation images are used.

use std::path::{Path, PathBuf};

use crate::{
    DataError,
    files::lines,
    pack::{Entry, Listing},
    paths::safe,
};

const CATEGORIES: u16 = 100;
const TRAIN: usize = 450;

/// The three directories that the archives unpack to.
pub(crate) struct Roots {
    /// Holds `categories_places365.txt`.
    pub lists: PathBuf,
    /// `data_256`.
    pub train: PathBuf,
    /// `val_256`.
    pub val: PathBuf,
}

/// The images that the lists name.
pub(crate) fn list(roots: &Roots) -> Result<Listing, DataError> {
    let categories = numbered(&roots.lists.join("categories_places365.txt"))?;
    let class_names =
        categories.iter().filter(|(_, number)| *number < CATEGORIES).map(|(name, _)| short(name)).collect();
    let entries = |root: &Path, images: Vec<(String, u16)>| -> Vec<Entry> {
        images.into_iter().map(|(image, label)| Entry { path: root.join(image), label, domain: 0 }).collect()
    };
    let train = entries(&roots.train, training(&roots.lists)?);
    let test = entries(&roots.val, validation(&roots.lists)?);
    Ok(Listing { class_names, train, test, ..Listing::default() })
}

/// `/a/airfield` is an airfield, `/a/apartment_building/outdoor` an `apartment_building/outdoor`.
fn short(category: &str) -> String {
    let category = category.trim_start_matches('/');
    category.split_once('/').map_or(category, |(_, name)| name).into()
}

/// The training images in use, below `data_256`.
fn training(lists: &Path) -> Result<Vec<(String, u16)>, DataError> {
    let mut images = numbered(&lists.join("places365_train_standard.txt"))?;
    let mut taken = vec![0; usize::from(CATEGORIES)];
    images.retain(|(_, category)| match taken.get_mut(usize::from(*category)) {
        Some(taken) => {
            *taken += 1;
            *taken <= TRAIN
        }
        None => false,
    });
    Ok(images)
}

/// The test images in use, below `val_256`.
fn validation(lists: &Path) -> Result<Vec<(String, u16)>, DataError> {
    let mut images = numbered(&lists.join("places365_val.txt"))?;
    images.retain(|(_, category)| *category < CATEGORIES);
    Ok(images)
}

/// Lines of a path and a number; the paths are safe to join.
fn numbered(path: &Path) -> Result<Vec<(String, u16)>, DataError> {
    let expected = "a path and a number";
    let parse = |(index, line): (usize, String)| {
        let parsed = line.rsplit_once(' ').and_then(|(name, number)| {
            let name = name.trim_start_matches('/');
            safe(name).ok().filter(|path| !path.as_os_str().is_empty())?;
            Some((name.to_owned(), number.parse().ok()?))
        });
        let line = DataError::Line { path: path.into(), line: index + 1, expected: expected.into(), found: line };
        parsed.ok_or(line)
    };
    lines(path, "lines of a path and a number")?.into_iter().enumerate().map(parse).collect()
}

/// Of the archives of Places, the entries in use, once the lists are in `directory`: 55,000 of 1.8
/// million. `None` means all.
#[cfg(feature = "fetch")]
pub(crate) fn wanted(
    dataset: crate::Dataset,
    archive: &crate::catalogue::Archive,
    directory: &Path,
) -> Result<Option<std::collections::BTreeSet<String>>, DataError> {
    let lists = crate::home::Place::new(directory, "lists").find("filelist_places365-standard", "places365_val.txt");
    let (crate::Dataset::Places100, Some(lists)) = (dataset, lists) else { return Ok(None) };
    let in_use = |folder: &str, images: Vec<(String, u16)>| {
        Some(images.into_iter().map(|(image, _)| format!("{folder}/{image}")).collect())
    };
    Ok(match archive.part {
        "train" => in_use("data_256", training(&lists)?),
        "val" => in_use("val_256", validation(&lists)?),
        _ => None,
    })
}
