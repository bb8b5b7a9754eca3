//! Finds the images among some paths, without classes.

use std::path::PathBuf;

use super::{Ignored, ScanOptions, Walked, Why, kind, walk};
use crate::{DataError, links::Bounds};

/// The image files among `paths` and below folders, in order, one that is given twice two times; and the files that
/// are not read. A file without an image's extension is accepted if it begins like an image.
///
/// # Errors
/// A path does not exist, or a folder cannot be read or links out of itself.
pub fn find(paths: &[PathBuf], options: &ScanOptions) -> Result<(Vec<PathBuf>, Vec<Ignored>), DataError> {
    let (mut images, mut ignored) = (Vec::new(), Vec::new());
    for path in paths {
        if path.is_dir() {
            let bounds = Bounds::new(std::slice::from_ref(path), options.follow_links_outside)?;
            let Walked { classes, loose, ignored: more } = walk(path, &bounds)?;
            images.extend(loose.into_iter().chain(classes.into_iter().flat_map(|class| class.images)));
            ignored.extend(more);
        } else if !path.exists() {
            let expected = "an image, or a folder of images".into();
            return Err(DataError::Missing { path: path.clone(), expected });
        } else {
            match kind::by_name(path) {
                Err(Why::NoImage) if kind::begins_like_an_image(path) => images.push(path.clone()),
                Err(why) => ignored.push(Ignored { path: path.clone(), why }),
                Ok(()) => images.push(path.clone()),
            }
        }
    }
    Ok((images, ignored))
}
