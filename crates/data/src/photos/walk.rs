//! Walks through folders and collects images by class, and files that are not images.

use std::{
    collections::btree_map::{BTreeMap, Entry},
    path::{Path, PathBuf},
};

use super::{Ignored, Why, kind};
use crate::{
    DataError,
    files::{all_entries, is_hidden, name},
    links::Bounds,
};

/// The deepest level of folders.
const DEEPEST: usize = 16;

/// A folder of images.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// Its path below the root, joined by `/`.
    pub name: String,
    /// Its images, sorted by name.
    pub images: Vec<PathBuf>,
}

/// The contents of a folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walked {
    /// In order of their paths.
    pub classes: Vec<Class>,
    /// Images beside the folders of classes.
    pub loose: Vec<PathBuf>,
    /// Files that are not read.
    pub ignored: Vec<Ignored>,
}

impl Walked {
    /// The names of the classes.
    pub(crate) fn names(&self) -> Vec<String> {
        self.classes.iter().map(|class| class.name.clone()).collect()
    }

    /// Whether some class is a folder inside a folder.
    pub(crate) fn is_nested(&self) -> bool {
        self.classes.iter().any(|class| class.name.contains('/'))
    }
}

/// Walks through the folders below `root`; images that are in none of them are ignored.
pub(crate) fn walk_classes(root: &Path, bounds: &Bounds) -> Result<Walked, DataError> {
    let mut walked = walk(root, bounds)?;
    let loose = std::mem::take(&mut walked.loose).into_iter();
    walked.ignored.extend(loose.map(|path| Ignored { path, why: Why::NoClass }));
    walked.ignored.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walked)
}

/// Walks through the folders below `root`.
pub(crate) fn walk(root: &Path, bounds: &Bounds) -> Result<Walked, DataError> {
    let mut walk = Walk { bounds, entered: BTreeMap::new(), found: Walked::default() };
    walk.enter(root, &[])?;
    Ok(walk.found)
}

struct Walk<'a> {
    bounds: &'a Bounds,
    /// The real path of every folder that was entered, and its path below the root.
    entered: BTreeMap<PathBuf, Vec<String>>,
    found: Walked,
}

impl Walk<'_> {
    /// Enters the folder at `at`, whose path below the root is `names`, unless it was entered before
    /// through another link.
    fn enter(&mut self, at: &Path, names: &[String]) -> Result<(), DataError> {
        if names.len() > DEEPEST {
            return Err(DataError::Folder { path: at.into(), why: "folders are nested too deep".into() });
        }
        match self.entered.entry(self.bounds.real(at)?) {
            Entry::Vacant(new) => drop(new.insert(names.to_vec())),
            Entry::Occupied(before) if before.get().first() == names.first() || before.get().is_empty() => {
                self.ignore(at, Why::ReadAlready);
                return Ok(());
            }
            Entry::Occupied(before) => {
                let why = format!("it is a link to images of class `{}`", before.get().join("/"));
                return Err(DataError::Folder { path: at.into(), why });
            }
        }
        let (mut images, mut folders) = (Vec::new(), Vec::new());
        // A class comes before those inside it.
        let place = self.found.classes.len();
        for path in all_entries(at)? {
            match (is_hidden(&path), path.is_dir()) {
                (true, true) => {}
                (true, false) => self.ignore(&path, Why::Hidden),
                (false, true) => folders.push(path),
                (false, false) => match kind::by_name_or_bytes(&path) {
                    Ok(()) => images.push(path),
                    Err(why) => self.ignore(&path, why),
                },
            }
        }
        let is_class = !images.is_empty() || folders.is_empty();
        for folder in &folders {
            let name = name(folder)?.to_owned();
            self.enter(folder, &[names, &[name]].concat())?;
        }
        if names.is_empty() {
            self.found.loose = images;
        } else if is_class {
            self.found.classes.insert(place, Class { name: names.join("/"), images });
        }
        Ok(())
    }

    fn ignore(&mut self, path: &Path, why: Why) {
        self.found.ignored.push(Ignored { path: path.into(), why });
    }
}
