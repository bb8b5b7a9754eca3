//! Files beside the folders of a split.

use std::path::Path;

use super::{Ignored, Why, kind};
use crate::{
    DataError,
    files::{all_entries, is_hidden},
};

/// Everything in `root` except the folders that are `read`.
pub(crate) fn beside(root: &Path, read: &[&Path]) -> Result<Vec<Ignored>, DataError> {
    let mut ignored = Vec::new();
    for path in all_entries(root)? {
        let why = match (is_hidden(&path), path.is_dir()) {
            (true, true) => continue,
            (true, false) => Why::Hidden,
            (false, true) if read.contains(&path.as_path()) => continue,
            (false, true) => Why::BesideSplits,
            (false, false) => kind::by_name_or_bytes(&path).err().unwrap_or(Why::NoClass),
        };
        ignored.push(Ignored { path, why });
    }
    Ok(ignored)
}
