//! Tar archives. The `tar` crate reads headers; long names are read here, because there they are
//! not limited.

use std::io::{self, Read};

use rehearsal_files::regular::read_limited;
use tar::{Archive, Entry, EntryType};

use super::sink::Sink;
use crate::DataError;

/// The longest extended header that is read: names are far shorter.
const EXTENSION: u64 = 1 << 16;

pub(super) fn unpack(reader: impl Read, sink: &mut Sink) -> Result<(), DataError> {
    let mut archive = Archive::new(reader.take(sink.limits().archive_bytes()));
    let mut name = None;
    for entry in archive.entries().map_err(|error| sink.damaged(error))?.raw(true) {
        let mut entry = entry.map_err(|error| sink.damaged(error))?;
        match entry.header().entry_type() {
            EntryType::GNULongName => name = Some(extension(&mut entry, sink)?.trim_end_matches('\0').to_owned()),
            EntryType::XHeader => {
                name = pax_path(&extension(&mut entry, sink)?).map_err(|why| sink.hostile("", why))?;
            }
            EntryType::XGlobalHeader => drop(extension(&mut entry, sink)?),
            kind => one(entry, kind, name.take(), sink)?,
        }
    }
    Ok(())
}

fn one(mut entry: Entry<impl Read>, kind: EntryType, name: Option<String>, sink: &mut Sink) -> Result<(), DataError> {
    let name = match name {
        Some(name) => name,
        None => String::from_utf8(entry.path_bytes().into_owned())
            .map_err(|error| sink.hostile(&error.to_string(), "has a name that is not UTF-8"))?,
    };
    match kind {
        EntryType::Directory => sink.directory(&name),
        // Before POSIX, a directory was a file whose name ends with a slash.
        EntryType::Regular if name.ends_with('/') => sink.directory(&name),
        EntryType::Regular | EntryType::Continuous => {
            let size = entry.size();
            sink.file(&name, size, &mut entry)
        }
        EntryType::Symlink | EntryType::Link => Err(sink.hostile(&name, "is a link")),
        other => Err(sink.hostile(&name, format!("is not a file or a directory, but {other:?}"))),
    }
}

/// The text of an extended header.
fn extension(entry: &mut Entry<impl Read>, sink: &Sink) -> Result<String, DataError> {
    let bytes = read_limited(entry, EXTENSION).map_err(|error| sink.damaged(error))?;
    String::from_utf8(bytes).map_err(|error| sink.damaged(io::Error::other(error)))
}

/// The path in a pax header: records of `LENGTH KEY=VALUE\n`.
fn pax_path(text: &str) -> Result<Option<String>, &'static str> {
    let mut path = None;
    let mut rest = text;
    while let Some((length, _)) = rest.split_once(' ') {
        let record = length.parse().ok().and_then(|length: usize| rest.get(..length));
        let Some(record) = record.filter(|record| !record.is_empty()) else {
            return Err("an extended header is damaged");
        };
        rest = &rest[record.len()..];
        let Some((key, value)) =
            record.split_once(' ').and_then(|(_, pair)| pair.trim_end_matches('\n').split_once('='))
        else {
            return Err("an extended header is damaged");
        };
        match key {
            "path" => path = Some(value.to_owned()),
            "size" | "linkpath" => return Err("an extended header changes what an entry is"),
            key if key.starts_with("GNU.sparse") => return Err("a sparse file is not allowed"),
            _ => {}
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pax_records() {
        assert_eq!(pax_path("12 path=a/b\n20 mtime=1234567.89\n"), Ok(Some("a/b".into())));
        assert_eq!(pax_path("20 mtime=1234567.89\n"), Ok(None));
        for bad in ["99 path=x\n", "0 path=x\n", "x path=x\n", "3 p\n", "-1 path=x\n", "18 path=ä\n", "2 path=abc\n"] {
            assert!(pax_path(bad).is_err(), "{bad:?}");
        }
    }
}
