//! Files that a user names, to be written.

use std::{fs, io, path::Path};

use rehearsal_files::atomic;

/// Writes a file whole or not at all; writes directly to a path that is not a file, such as `/dev/stdout`.
///
/// # Errors
/// It cannot be written; a file that was there still is.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match path.metadata() {
        Ok(about) if !about.is_file() => fs::write(path, bytes),
        _ => atomic::write(path, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_devices_written_to() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("sheet.png");
        for text in ["old", "new"] {
            write(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert!(write(place.path(), b"").is_err(), "a directory is not replaced");
        #[cfg(unix)]
        write(Path::new("/dev/null"), b"x").unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
