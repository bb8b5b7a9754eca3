//! Files that a user names, to be written; and their paths in JSON.

use std::{fs, io, path::Path};

use rehearsal_files::{atomic, path_text::entries};
use serde_json::Value;

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

/// A JSON object with a path in it, as `name`, and, if it is not UTF-8, its bytes in base64 as `name_bytes`.
pub fn with_path(mut object: Value, name: &str, path: &Path) -> Value {
    entries(name, path).for_each(|(name, text)| object[name] = text.into());
    object
}

/// The same of a list of paths: `name_bytes` has null for those that are UTF-8, and is left out if all are.
pub fn with_paths<'a>(mut object: Value, name: &str, paths: impl Iterator<Item = &'a Path>) -> Value {
    let (text, bytes): (Vec<String>, Vec<Option<String>>) = paths
        .map(|path| {
            let mut said = entries(name, path).map(|(_, text)| text);
            (said.next().unwrap_or_default(), said.next())
        })
        .unzip();
    if bytes.iter().any(Option::is_some) {
        object[format!("{name}_bytes")] = bytes.into();
    }
    object[name] = text.into();
    object
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
