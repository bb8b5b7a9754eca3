//! Food-101's first hundred classes: `images/CLASS/ID.jpg`, listed in `meta/train.json` and
//! `meta/test.json`. Of each class the first 500 training and the first 100 test images are used.

use std::{collections::BTreeMap, path::Path};

use crate::{
    DataError,
    files::read,
    pack::{Entry, Listing},
    paths::safe,
};

const CLASSES: usize = 100;
const TRAIN: usize = 500;
const TEST: usize = 100;

/// The images below `root`, the directory that holds `meta`.
pub(crate) fn list(root: &Path) -> Result<Listing, DataError> {
    let train = meta(&root.join("meta/train.json"))?;
    let test = meta(&root.join("meta/test.json"))?;
    let class_names: Vec<String> = train.keys().take(CLASSES).cloned().collect();
    let entries = |lists: &BTreeMap<String, Vec<String>>, most: usize| -> Result<Vec<Entry>, DataError> {
        let mut entries = Vec::new();
        for (label, class) in class_names.iter().enumerate() {
            for image in lists.get(class).into_iter().flatten().take(most) {
                let path = safe(&format!("images/{image}.jpg"))
                    .map_err(|why| DataError::Folder { path: root.join("meta"), why: format!("`{image}` {why}") })?;
                entries.push(Entry { path: root.join(path), label: label as u16, domain: 0 });
            }
        }
        Ok(entries)
    };
    let (train, test) = (entries(&train, TRAIN)?, entries(&test, TEST)?);
    Ok(Listing { class_names, train, test, ..Listing::default() })
}

/// Classes and their images, `CLASS/ID` each.
fn meta(path: &Path) -> Result<BTreeMap<String, Vec<String>>, DataError> {
    let expected = "lists of images by class, in JSON";
    let bytes = read(path, expected)?;
    serde_json::from_slice(&bytes).map_err(|error| DataError::Line {
        path: path.into(),
        line: error.line(),
        expected: expected.into(),
        found: error.to_string(),
    })
}
