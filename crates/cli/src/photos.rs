//! Photos of folders, read for a model: what is ignored is named, what cannot be read is refused or
//! left out.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rehearsal_data::{
    DataError, Image, ImageShape, Progress,
    decode::decode,
    photos::{self, Scan, ScanOptions},
    printable,
};

use crate::{
    printer::{Bar, message},
    refusal::Refused,
};

/// How many files that cannot be read are named.
const NAMED: usize = 10;
/// How many photos are looked at to choose the size of a new model.
const LOOKED_AT: usize = 9;

/// Images in colour of that height and width.
pub fn square(size: usize) -> ImageShape {
    ImageShape { height: size, width: size, channels: 3 }
}

/// What photos are for: of a folder that has both, the one part is taken or the other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum For {
    Learning,
    Testing,
}

/// Every image below a folder, with its class; what is ignored, and what is odd, is said.
pub fn scan(root: &Path, use_for: For, follow_links: bool, quiet: bool) -> Result<Scan> {
    let options = ScanOptions { follow_links_outside: follow_links };
    let mut found = photos::scan(root, &options)?;
    let mut root = root.to_path_buf();
    let has_splits = found.has_splits;
    if has_splits {
        let testing = if root.join("test").is_dir() { "test" } else { "val" };
        root.push(if use_for == For::Learning { "train" } else { testing });
        found = photos::scan(&root, &options)?;
    }
    if !quiet {
        if has_splits {
            message(&format!("it has parts for learning and testing: taking {}", printable(&root.to_string_lossy())));
        }
        photos::lines(&found.ignored, &root).iter().for_each(|line| message(&printable(line)));
        if let Some(class) = found.classes.iter().find(|class| class.contains('/')) {
            message(&printable(&format!("a folder inside a folder is a class called by its path: {class}")));
        }
        for class in &found.empty_classes {
            message(&printable(&format!("class {class} is empty and left out")));
        }
    }
    Ok(found)
}

/// The short side that is in the middle of those of some photos.
pub fn short_side<'a>(paths: impl ExactSizeIterator<Item = &'a Path> + Clone) -> Option<usize> {
    let every = (paths.len() / LOOKED_AT).max(1);
    let side = |path: &Path| {
        let picture = decode(&std::fs::read(path).ok()?).ok()?;
        Some(picture.height.min(picture.width))
    };
    let mut sides: Vec<usize> = paths.step_by(every).filter_map(side).collect();
    sides.sort_unstable();
    sides.get(sides.len() / 2).copied()
}

/// Reads photos; none in the place of one that cannot be read, where that is allowed.
pub fn read(paths: &[PathBuf], shape: ImageShape, skip_bad: bool, quiet: bool) -> Result<Vec<Option<Image>>> {
    let bar: Box<dyn Progress> = if quiet { Box::new(()) } else { Box::new(Bar::default()) };
    let mut bad: Vec<String> = Vec::new();
    let mut images = Vec::with_capacity(paths.len());
    for read in photos::read_all(paths, shape, &*bar) {
        match read {
            Ok(decoded) => images.push(Some(decoded.image)),
            Err(DataError::Image { path, why }) => {
                bad.push(format!("{}: {why}", path.display()));
                images.push(None);
            }
            Err(error) => {
                bad.push(error.to_string());
                images.push(None);
            }
        }
    }
    match &bad[..] {
        [] => {}
        [first, ..] if !skip_bad => {
            let many = if bad.len() == 1 { "a photo" } else { &format!("{} photos", bad.len()) };
            let which = if bad.len() == 1 { "" } else { "the first is " };
            return Err(Refused(format!("{many} cannot be read: {which}{first}; `--skip-bad` goes on without")).into());
        }
        bad => {
            for line in bad.iter().take(NAMED) {
                message(&printable(&format!("left out: {line}")));
            }
            if bad.len() > NAMED {
                message(&format!("left out: {} more", bad.len() - NAMED));
            }
        }
    }
    Ok(images)
}
