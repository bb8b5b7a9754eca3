//! Photos of folders, read for a model.

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::Result;
use rehearsal::learner::machine_memory;
use rehearsal_data::{
    DataError, Image, ImageShape, Progress,
    photos::{self, Scan, ScanOptions},
    printable,
};

use crate::{
    printer::{Bar, message, plural},
    user_error::UserError,
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
    check_folder(root)?;
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

/// Refuses what is no folder.
fn check_folder(root: &Path) -> Result<()> {
    let why = match root.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => "there is no folder",
        Ok(about) if !about.is_dir() => "expected a folder that holds a folder of photos for each class, not the file",
        _ => return Ok(()),
    };
    Err(UserError(format!("{why} {}", root.display())).into())
}

/// The short side that is in the middle of those of some photos.
pub fn short_side<'a>(paths: impl ExactSizeIterator<Item = &'a Path> + Clone) -> Option<usize> {
    let every = (paths.len() / LOOKED_AT).max(1);
    let side = |path: &Path| {
        let (height, width) = photos::size(path).ok()?;
        Some(height.min(width))
    };
    let mut sides: Vec<usize> = paths.step_by(every).filter_map(side).collect();
    sides.sort_unstable();
    sides.get(sides.len() / 2).copied()
}

/// Refuses more photos than there is room for.
fn check_room(photos: usize, shape: ImageShape, available: Option<u64>) -> Result<()> {
    let needed = photos as f64 * shape.bytes() as f64;
    let gigabytes = |bytes: f64| format!("{:.1} GB", bytes / 1e9);
    match available.map(|bytes| bytes as f64).filter(|available| needed > *available) {
        None => Ok(()),
        Some(available) => {
            let (height, width) = (shape.height, shape.width);
            let (needed, has) = (gigabytes(needed), gigabytes(available));
            let many = format!("{} of {height}×{width} need {needed} of memory", plural(photos, "photo"));
            Err(UserError(format!("{many}, and this machine has {has}: choose a smaller `--size`, or fewer photos"))
                .into())
        }
    }
}

/// Reads photos; none in the place of one that cannot be read, where that is allowed.
pub fn read(paths: &[PathBuf], shape: ImageShape, skip_bad: bool, quiet: bool) -> Result<Vec<Option<Image>>> {
    check_room(paths.len(), shape, machine_memory())?;
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
            Err(DataError::Unreadable { path, error }) => {
                bad.push(format!("{}: {error}", path.display()));
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
        [one] if !skip_bad => {
            return Err(UserError(format!("a photo cannot be read: {one}; `--skip-bad` goes on without")).into());
        }
        bad => {
            let what = if skip_bad { "left out" } else { "cannot be read" };
            for line in bad.iter().take(NAMED) {
                message(&printable(&format!("{what}: {line}")));
            }
            if bad.len() > NAMED {
                message(&format!("{what}: {} more", bad.len() - NAMED));
            }
            if !skip_bad {
                return Err(
                    UserError(format!("{} photos cannot be read; `--skip-bad` goes on without", bad.len())).into()
                );
            }
        }
    }
    Ok(images)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn photos_that_do_not_fit_are_refused_with_the_estimate() {
        assert!(
            check_room(1000, square(48), Some(1 << 30)).is_ok() && check_room(usize::MAX, square(48), None).is_ok()
        );
        let why = check_room(10_000, square(1024), Some(16_000_000_000)).unwrap_err().to_string();
        let expected = "10,000 photos of 1024×1024 need 31.5 GB of memory, and this machine has 16.0 GB: choose a smaller `--size`, or fewer photos";
        assert_eq!(why, expected);
    }
}
