//! Tiny ImageNet: `train/WNID/images/*.JPEG`, and `val/images/*.JPEG` with
//! `val/val_annotations.txt`. The first hundred classes, or all two hundred where more are asked
//! for.

use std::{collections::BTreeMap, path::Path};

use crate::{
    DataError,
    files::{entries, lines},
    pack::{Entry, Listing},
    paths::safe,
};

const DEFAULT_CLASSES: usize = 100;

/// The images below `root`, the directory that holds `wnids.txt`; `classes` is how many the user
/// asks for.
pub(crate) fn list(root: &Path, classes: Option<usize>) -> Result<Listing, DataError> {
    let mut wnids = lines(&root.join("wnids.txt"), "the names of 200 classes, one a line")?;
    wnids.sort();
    if classes.unwrap_or(DEFAULT_CLASSES) <= DEFAULT_CLASSES {
        wnids.truncate(DEFAULT_CLASSES);
    }
    let mut listing = Listing { class_names: class_names(root, &wnids), ..Listing::default() };
    let mut labels = BTreeMap::new();
    for (label, wnid) in wnids.iter().enumerate() {
        let folder = safe(&format!("train/{wnid}/images"));
        let folder =
            folder.map_err(|why| DataError::Folder { path: root.join("wnids.txt"), why: format!("`{wnid}` {why}") })?;
        for path in entries(&root.join(folder))? {
            listing.train.push(Entry { path, label: label as u16, domain: 0 });
        }
        labels.insert(wnid.as_str(), label as u16);
    }
    let path = root.join("val/val_annotations.txt");
    for (index, line) in lines(&path, "a file and its class on each line")?.iter().enumerate() {
        let mut fields = line.split('\t');
        let (image, wnid) = (fields.next().and_then(|name| safe(name).ok()), fields.next());
        let (Some(image), Some(wnid)) = (image, wnid) else {
            let expected = "a file and its class".into();
            return Err(DataError::Line { path, line: index + 1, expected, found: line.clone() });
        };
        if let Some(&label) = labels.get(wnid) {
            listing.test.push(Entry { path: root.join("val/images").join(image), label, domain: 0 });
        }
    }
    Ok(listing)
}

/// What `words.txt` calls each class, where it does and no other class is called so; else its
/// number in `WordNet`.
fn class_names(root: &Path, wnids: &[String]) -> Vec<String> {
    let words = lines(&root.join("words.txt"), "").unwrap_or_default();
    let words: BTreeMap<&str, &str> = words
        .iter()
        .filter_map(|line| line.split_once('\t'))
        .map(|(wnid, names)| (wnid, names.split(',').next().unwrap_or(names)))
        .collect();
    let name = |wnid: &String| words.get(wnid.as_str()).copied().unwrap_or(wnid).to_owned();
    let names: Vec<String> = wnids.iter().map(name).collect();
    let unique = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    names.iter().zip(wnids).map(|(name, wnid)| if unique(name) { name } else { wnid }.clone()).collect()
}
