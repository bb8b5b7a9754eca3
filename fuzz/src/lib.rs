//! What the targets share: a directory for what can only be read from files.

use std::{path::Path, sync::LazyLock};

use tempfile::TempDir;

static PLACE: LazyLock<TempDir> = LazyLock::new(|| {
    // In memory where there is such a place: a file is written for each of thousands of trials a second.
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
    made.expect("a directory can be made")
});

/// A directory that lives as long as the target.
pub fn place() -> &'static Path {
    PLACE.path()
}
