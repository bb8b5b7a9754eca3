//! Finds the photos of a folder and their classes.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Class, Ignored, Walked, walk_classes};
use crate::{DataError, links::Bounds};

/// How to scan folders.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanOptions {
    /// Follow links that lead out of the folder, instead of refusing them.
    pub follow_links_outside: bool,
}

/// What was found below a folder.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Scan {
    /// The classes that have images, in order of their paths.
    pub classes: Vec<String>,
    /// Every image, class by class, in order of names.
    pub photos: Vec<Photo>,
    /// Every file that is not read, in order of paths; [`super::lines`] reports them.
    pub ignored: Vec<Ignored>,
    /// Folders without images and without folders.
    pub empty_classes: Vec<String>,
    /// Some class is a folder inside a folder, and its name is a path.
    pub nested: bool,
    /// The folder holds `train`, and `test` or `val`: it is probably a split data set.
    pub has_splits: bool,
}

/// An image file and its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Photo {
    /// The file.
    pub path: PathBuf,
    /// The path of its folder below the root, joined by `/`.
    pub class: String,
    /// Its bytes, if they are in memory: then there need be no file.
    pub bytes: Option<Arc<[u8]>>,
}

/// Every image below a folder, with its class, and every file that is not read, with the reason. No
/// image is decoded. The order depends only on names.
///
/// # Errors
/// A folder cannot be read, its name is not UTF-8, or a link leads out of `root` or to images of
/// another class.
pub fn scan(root: &Path, options: &ScanOptions) -> Result<Scan, DataError> {
    let bounds = Bounds::new(&[root.into()], options.follow_links_outside)?;
    let Walked { classes, ignored, .. } = walk_classes(root, &bounds)?;
    let (full, empty): (Vec<Class>, Vec<Class>) = classes.into_iter().partition(|class| !class.images.is_empty());
    let photos: Vec<Photo> = full
        .iter()
        .flat_map(|Class { name, images }| {
            images.iter().map(|path| Photo { path: path.clone(), class: name.clone(), bytes: None })
        })
        .collect();
    for Photo { path, .. } in photos.iter().filter(|photo| photo.path.is_symlink() && photo.path.exists()) {
        bounds.real(path)?;
    }
    let names = |classes: Vec<Class>| -> Vec<String> { classes.into_iter().map(|class| class.name).collect() };
    let is = |folder: &str| root.join(folder).is_dir();
    Ok(Scan {
        nested: full.iter().any(|class| class.name.contains('/')),
        has_splits: is("train") && (is("test") || is("val")),
        classes: names(full),
        photos,
        ignored,
        empty_classes: names(empty),
    })
}
