//! Archives that must not be unpacked: nothing of them is left, and nothing outside is touched.

use std::{
    io::{Cursor, Write},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::support::{Files, dice::Dice, gzip, tar, tar_gz, zip};
use rehearsal_data::{
    DataError, Progress,
    unpack::{Kind, Limits, MANIFEST, Unpacking},
};

const LIMITS: Limits = Limits { bytes: 10_000, entries: 5 };

/// Unpacks an archive into a fresh directory; gives the error, after a look at what is left.
fn refused(kind: Kind, archive: &[u8]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let error = unpack(kind, archive, directory.path()).unwrap_err().to_string();
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["archive"], "{error}");
    error
}

fn unpack(kind: Kind, archive: &[u8], directory: &Path) -> Result<(), DataError> {
    unpack_telling(kind, archive, directory, &())
}

fn unpack_telling(kind: Kind, archive: &[u8], directory: &Path, progress: &dyn Progress) -> Result<(), DataError> {
    let (file, to) = (directory.join("archive"), directory.join("part"));
    std::fs::write(&file, archive).unwrap();
    Unpacking { archive: &file, kind, limits: LIMITS, to: &to, wanted: &|_| true, progress }.run()
}

fn files(names: &[&str]) -> Files {
    names.iter().map(|name| ((*name).to_owned(), b"hello".to_vec())).collect()
}

/// A tar archive of one entry of that name and type, whatever they are.
fn raw_tar(name: &[u8], kind: tar::EntryType, link: &str, size: u64, body: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o4777);
    if !link.is_empty() {
        header.set_link_name_literal(link).unwrap();
    }
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(512) + 1024, 0);
    bytes
}

/// A zip archive of one stored entry of that name, whatever it is.
fn raw_zip(name: &str) -> Vec<u8> {
    let placeholder = "x".repeat(name.len());
    let bytes = zip(&files(&[&placeholder]));
    let mut replaced = bytes.clone();
    let places = (0..bytes.len() - name.len()).filter(|&at| bytes[at..].starts_with(placeholder.as_bytes()));
    places.for_each(|at| replaced[at..at + name.len()].copy_from_slice(name.as_bytes()));
    replaced
}

#[test]
fn a_good_archive_is_unpacked_with_its_sums() {
    for (kind, archive) in [
        (Kind::Tar, tar(&files(&["a/b.txt", "c.txt"]))),
        (Kind::TarGz, tar_gz(&files(&["a/b.txt", "c.txt"]))),
        (Kind::Zip, zip(&files(&["a/b.txt", "c.txt"]))),
    ] {
        let directory = tempfile::tempdir().unwrap();
        unpack(kind, &archive, directory.path()).unwrap();
        assert_eq!(std::fs::read(directory.path().join("part/a/b.txt")).unwrap(), b"hello", "{kind:?}");
        let manifest = std::fs::read_to_string(directory.path().join("part").join(MANIFEST)).unwrap();
        // printf hello | sha256sum
        let sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(manifest, format!("{sum}  a/b.txt\n{sum}  c.txt\n"));
    }
}

#[test]
fn long_names_are_read_whichever_way_they_are_written() {
    let long = format!("{}/{}.txt", "d".repeat(90), "f".repeat(120));
    let directory = tempfile::tempdir().unwrap();
    unpack(Kind::Tar, &tar(&files(&[&long])), directory.path()).unwrap();
    assert!(directory.path().join("part").join(&long).exists(), "GNU");
    let record = format!("path={long}\n");
    let record = format!("{} {record}", record.len() + 4);
    let mut pax = raw_tar(b"pax", tar::EntryType::XHeader, "", record.len() as u64, record.as_bytes());
    pax.truncate(pax.len() - 1024);
    pax.extend(raw_tar(b"short", tar::EntryType::Regular, "", 5, b"hello"));
    let directory = tempfile::tempdir().unwrap();
    unpack(Kind::Tar, &pax, directory.path()).unwrap();
    assert!(directory.path().join("part").join(&long).exists(), "pax");
}

#[test]
fn paths_that_leave_the_directory() {
    for name in ["../outside", "a/../../outside", "/tmp/outside", "a\\..\\outside"] {
        let why = if name.starts_with('/') { "is an absolute path" } else { "" };
        let error = refused(Kind::Tar, &raw_tar(name.as_bytes(), tar::EntryType::Regular, "", 5, b"hello"));
        assert!(error.contains("archive is refused") && error.contains(why), "{name}: {error}");
        let error = refused(Kind::Zip, &raw_zip(name));
        assert!(error.contains("archive is refused") || error.contains("cannot be read"), "{name}: {error}");
    }
    let mut long = raw_tar(b"././@LongLink", tar::EntryType::GNULongName, "", 11, b"../outside\0");
    long.truncate(long.len() - 1024);
    long.extend(raw_tar(b"inside", tar::EntryType::Regular, "", 5, b"hello"));
    assert!(refused(Kind::Tar, &long).contains("`../outside` leaves its directory"));
    refused(Kind::Tar, &raw_tar(b"\xff\xfe", tar::EntryType::Regular, "", 5, b"hello"));
    refused(Kind::Tar, &raw_tar(b"", tar::EntryType::Regular, "", 5, b"hello"));
}

#[test]
fn links_and_devices() {
    for (kind, why) in [
        (tar::EntryType::Symlink, "is a link"),
        (tar::EntryType::Link, "is a link"),
        (tar::EntryType::Char, "not a file or a directory"),
        (tar::EntryType::Fifo, "not a file or a directory"),
        (tar::EntryType::GNUSparse, "not a file or a directory"),
    ] {
        let error = refused(Kind::Tar, &raw_tar(b"innocent", kind, "/etc/passwd", 0, b""));
        assert!(error.contains(why), "{kind:?}: {error}");
    }
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("innocent", "/etc/passwd", zip::write::SimpleFileOptions::default()).unwrap();
    let archive = writer.finish().unwrap().into_inner();
    assert!(refused(Kind::Zip, &archive).contains("is a link"));
}

#[test]
fn too_much_and_too_many() {
    let bomb: Files = vec![("bomb".into(), vec![0; 10_001])];
    for (kind, archive) in [(Kind::Tar, tar(&bomb)), (Kind::TarGz, tar_gz(&bomb)), (Kind::Zip, zip(&bomb))] {
        assert!(refused(kind, &archive).contains("larger than the 10000 bytes allowed"), "{kind:?}");
    }
    let many = files(&["1", "2", "3", "4", "5", "6"]);
    for (kind, archive) in [(Kind::Tar, tar(&many)), (Kind::TarGz, tar_gz(&many)), (Kind::Zip, zip(&many))] {
        let error = refused(kind, &archive);
        assert!(error.contains("is one too many") || error.contains("more than allowed"), "{kind:?}: {error}");
    }
    let name = raw_tar(b"././@LongLink", tar::EntryType::GNULongName, "", 1 << 20, &vec![b'x'; 1 << 20]);
    assert!(refused(Kind::Tar, &name).contains("more than 65536 bytes"), "a name of a megabyte");
}

/// Counts the bytes of the archive that are read.
#[derive(Default)]
struct BytesRead(AtomicU64);

impl Progress for BytesRead {
    fn advance(&self, by: u64) {
        self.0.fetch_add(by, Ordering::Relaxed);
    }
}

#[test]
fn what_stands_behind_the_last_entry_is_not_read() {
    let mut dice = Dice::new(1);
    let noise: Vec<u8> = (0..1 << 20).map(|_| dice.roll() as u8).collect();
    let archive = gzip(&[tar(&files(&["a"])), noise].concat());
    let (directory, read) = (tempfile::tempdir().unwrap(), BytesRead::default());
    unpack_telling(Kind::TarGz, &archive, directory.path(), &read).unwrap();
    let read = read.0.into_inner();
    assert!(read > 0 && read < archive.len() as u64 / 2, "{read} of {} bytes", archive.len());
    // A hundred megabytes of zeros in a hundred kilobytes of gzip.
    let endless = gzip(&[tar(&files(&["a"])), vec![0; 100 << 20]].concat());
    unpack(Kind::TarGz, &endless, tempfile::tempdir().unwrap().path()).unwrap();
}

/// The central directory says 5 bytes, the data are 9,000: what an entry says is all it may have.
#[test]
fn an_entry_that_is_larger_than_it_says() {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    writer.start_file("liar", options).unwrap();
    writer.write_all(&[7; 9000]).unwrap();
    let mut archive = writer.finish().unwrap().into_inner();
    let said: Vec<usize> =
        (0..archive.len() - 4).filter(|&at| archive[at..].starts_with(&9000u32.to_le_bytes())).collect();
    assert!(!said.is_empty());
    for at in said {
        archive[at..at + 4].copy_from_slice(&5u32.to_le_bytes());
    }
    refused(Kind::Zip, &archive);
}

#[test]
fn damage() {
    let whole = tar_gz(&files(&["a", "b"]));
    assert!(refused(Kind::TarGz, &whole[..whole.len() / 2]).contains("cannot be read"));
    let mut flipped = zip(&files(&["a", "b"]));
    flipped[35] ^= 1;
    refused(Kind::Zip, &flipped);
    for kind in [Kind::Tar, Kind::TarGz, Kind::Zip] {
        refused(kind, b"<html>404 Not Found</html>");
    }
    let cut = raw_tar(b"a", tar::EntryType::Regular, "", 5000, b"hello");
    assert!(refused(Kind::Tar, &cut[..1000]).contains("cannot be read"));
}

#[test]
fn what_a_killed_process_left_is_swept_away() {
    let directory = tempfile::tempdir().unwrap();
    let left = directory.path().join("part.unpacking/a");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("half"), "ha").unwrap();
    unpack(Kind::Tar, &tar(&files(&["b"])), directory.path()).unwrap();
    assert!(!directory.path().join("part.unpacking").exists() && !directory.path().join("part/a").exists());
}
