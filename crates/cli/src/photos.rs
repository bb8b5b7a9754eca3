//! Folders of photos, read with a progress bar and messages.

use rehearsal_data::{Progress, printable};
use rehearsal_model::{FolderNotice, FolderReader};

use crate::printer::{Bar, message};

/// Calls `read` with a reader that prints notices and shows progress; if quiet, it names only photos
/// that cannot be read.
pub fn with_reader<T>(follow_links: bool, skip_bad: bool, quiet: bool, read: impl FnOnce(&mut FolderReader) -> T) -> T {
    let bar: Box<dyn Progress> = if quiet { Box::new(()) } else { Box::new(Bar::default()) };
    let mut notice = |notice: &FolderNotice| {
        if !quiet || matches!(notice, FolderNotice::Unreadable { .. }) {
            notice.to_string().lines().for_each(|line| message(&printable(line)));
        }
    };
    read(&mut FolderReader { follow_links, skip_bad, progress: &*bar, notice: &mut notice })
}
