//! Photos in a zip file: one folder per class.

use std::{
    fmt::Display,
    io::{Cursor, Read},
};

use rehearsal_data::{decode::EXTENSIONS, photos::Photo};
use zip::ZipArchive;

use super::{names, photo, too_many};
use crate::{ApiError, Limits, error::Answer};

/// The folder that macOS adds to zip files.
const IGNORED: &str = "__MACOSX";

/// A photo in a zip file.
struct Entry {
    folders: String,
    file: String,
    bytes: Vec<u8>,
}

pub(super) fn photos(bytes: &[u8], limits: &Limits) -> Answer<Vec<Photo>> {
    let found = entries(bytes, limits)?;
    let firsts: Vec<Option<&str>> =
        found.iter().map(|entry| entry.folders.split_once('/').map(|(first, _)| first)).collect();
    // `photos/boots/1.jpg`, `photos/clogs/2.jpg`: the folder that all are in is no part of a class.
    let is_common = firsts.windows(2).all(|pair| pair[0] == pair[1]);
    let skip = firsts.first().copied().flatten().filter(|_| is_common).map_or(0, |first| first.len() + 1);
    let named = |entry: Entry| Ok(photo(&names::class(&entry.folders[skip..])?, &entry.file, entry.bytes));
    found.into_iter().map(named).collect()
}

fn entries(bytes: &[u8], limits: &Limits) -> Answer<Vec<Entry>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(bad)?;
    if archive.len() > limits.zip_entries {
        let message = format!("the zip file has {} entries: at most {} are read", archive.len(), limits.zip_entries);
        return Err(ApiError::too_large(message));
    }
    let (mut found, mut room) = (Vec::new(), limits.zip_bytes);
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(bad)?;
        let name = entry.name().map_err(bad)?.into_owned();
        if entry.is_symlink() {
            return Err(bad("it has a link"));
        }
        let Some((folders, file)) = name.rsplit_once('/').filter(|(_, file)| is_photo(file)) else { continue };
        if folders.split('/').any(|folder| folder == IGNORED) {
            continue;
        }
        if folders.split('/').any(|folder| matches!(folder, "" | "." | "..")) {
            return Err(bad("it has a path that leads out of it"));
        }
        if found.len() >= limits.learned {
            return Err(too_many(limits.learned));
        }
        let mut bytes = Vec::new();
        entry.take(room + 1).read_to_end(&mut bytes).map_err(bad)?;
        room = room.checked_sub(bytes.len() as u64).ok_or_else(|| {
            ApiError::too_large(format!("the photos of the zip file are larger than {} MB", limits.zip_bytes >> 20))
        })?;
        found.push(Entry { folders: folders.to_owned(), file: file.to_owned(), bytes });
    }
    Ok(found)
}

fn bad(why: impl Display) -> ApiError {
    ApiError::bad_request(format!("the zip file cannot be read: {why}"))
}

fn is_photo(file: &str) -> bool {
    let extension = file.rsplit_once('.').map(|(_, extension)| extension.to_lowercase());
    !file.starts_with('.') && extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}
