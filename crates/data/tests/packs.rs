//! Packs: made once, gone on with after a kill, checked, and never taken for complete before they
//! are. Verification.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread::ThreadId,
};

use crate::support::{Home, cifar100, png, write};
use rehearsal_data::{DataError, Dataset, Progress, Request, Source, Split, Unit, verify::verify};

const IMAGES: usize = 300;

/// A folder of 300 training images (three chunks) and one test image, whose blue is their number
/// modulo 251.
fn folder(home: &Home) -> PathBuf {
    let root = home.path().join("my");
    for split in ["train", "test"] {
        std::fs::create_dir_all(root.join(split).join("a")).unwrap();
    }
    for i in 0..IMAGES {
        std::fs::write(root.join(format!("train/a/{i:03}.png")), png(12, 8, (i % 251) as u8)).unwrap();
    }
    std::fs::write(root.join("test/a/0.png"), png(12, 8, 9)).unwrap();
    root
}

fn open(root: &Path, packs: &Path, progress: &dyn Progress) -> Result<Arc<dyn Source>, DataError> {
    Dataset::Folder.open(&Request {
        directory: Some(root),
        size: Some(8),
        packs: Some(packs),
        progress,
        ..Request::default()
    })
}

/// Where work began, and how much was done.
#[derive(Default)]
struct Count {
    began: AtomicU64,
    done: AtomicU64,
}

impl Progress for Count {
    fn begin(&self, what: &str, unit: Unit, done: u64, _: Option<u64>) {
        if what.contains("train") && unit == Unit::Items {
            self.began.store(done, Ordering::Relaxed);
        }
    }
    fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }
}

fn pack_files(packs: &Path, extension: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(packs).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.to_string_lossy().ends_with(extension)).collect()
}

#[track_caller]
fn assert_right(source: &dyn Source) {
    assert_eq!(source.labels(Split::Train).len(), IMAGES);
    for index in 0..IMAGES {
        assert_eq!(source.image(Split::Train, index).unwrap()[2], (index % 251) as u8, "image {index}");
    }
}

#[test]
fn a_pack_is_made_once() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    let count = Count::default();
    let first = open(&root, &packs, &count).unwrap();
    assert_right(&*first);
    assert_eq!(count.done.load(Ordering::Relaxed), 301);
    assert_eq!((pack_files(&packs, ".pack").len(), pack_files(&packs, "").len()), (2, 2), "and nothing else is left");
    let count = Count::default();
    let second = open(&root, &packs, &count).unwrap();
    assert_right(&*second);
    assert_eq!(count.done.load(Ordering::Relaxed), 0, "nothing is decoded again");
    assert_eq!(first.sha256(), second.sha256());
}

#[test]
fn a_changed_file_or_size_is_another_pack() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    let sha = open(&root, &packs, &()).unwrap().sha256().to_owned();
    std::fs::write(root.join("train/a/007.png"), png(12, 8, 250)).unwrap();
    let changed = open(&root, &packs, &()).unwrap();
    assert_eq!(changed.image(Split::Train, 7).unwrap()[2], 250);
    assert_ne!(changed.sha256(), sha);
    let request = Request { directory: Some(&root), size: Some(4), packs: Some(&packs), ..Request::default() };
    assert_eq!(Dataset::Folder.open(&request).unwrap().sha256(), changed.sha256(), "the data are the same at any size");
    assert_eq!(pack_files(&packs, ".pack").len(), 5, "train twice and test at 8, both at 4");
}

/// Whatever a killed process can leave: pixels without a line, half a line, half the pixels, a
/// damaged chunk, a foreign file.
#[test]
fn a_killed_packing_continues_after_the_last_complete_chunk() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    let sha = open(&root, &packs, &()).unwrap().sha256().to_owned();
    let pack = pack_files(&packs, ".pack").into_iter().find(|path| path.to_string_lossy().contains("train")).unwrap();
    let whole = std::fs::read(&pack).unwrap();
    let end = 4096 + IMAGES * 192;
    let (images, lines) = (&whole[..end], &whole[end..]);
    let first_line = 1 + lines.iter().position(|&byte| byte == b'\n').unwrap();
    let chunk = 128 * 192;
    let mut damaged = images.to_vec();
    damaged[4096 + chunk + 5] ^= 1;
    let cases: [(&str, &[u8], &[u8], u64); 8] = [
        ("all but the rename", &whole, lines, 300),
        ("two chunks and a half", &images[..4096 + 2 * chunk + 7], lines, 256),
        ("two chunks, one line", &images[..4096 + 2 * chunk], &lines[..first_line], 128),
        ("half a line", images, &lines[..first_line + 9], 128),
        ("a damaged chunk", &damaged, lines, 128),
        ("no lines", images, b"", 0),
        ("an empty file", b"", b"", 0),
        ("something else", b"something else", lines, 0),
    ];
    for (what, images, lines, counted) in cases {
        std::fs::remove_file(&pack).unwrap();
        std::fs::write(pack.with_extension("pack.partial"), images).unwrap();
        std::fs::write(pack.with_extension("pack.journal"), lines).unwrap();
        let count = Count::default();
        let source = open(&root, &packs, &count).unwrap();
        assert_right(&*source);
        assert_eq!(count.began.load(Ordering::Relaxed), counted, "{what}");
        assert_eq!((source.sha256(), std::fs::read(&pack).unwrap() == whole), (&*sha, true), "{what}");
        assert_eq!(pack_files(&packs, "").len(), 2, "{what}");
    }
}

#[test]
fn two_at_once_make_one_pack() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| assert_right(&*open(&root, &packs, &()).unwrap()))).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    assert_eq!(pack_files(&packs, ".pack").len(), 2);
}

#[test]
fn verify_finds_a_flipped_byte_in_a_pack() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    open(&root, &packs, &()).unwrap();
    let request = Request { directory: Some(&root), packs: Some(&packs), ..Request::default() };
    let report = verify(Dataset::Folder, &request).unwrap();
    assert_eq!((report.records, report.packs, report.bad.len()), (301, 2, 0), "{report:?}");
    let pack = pack_files(&packs, ".pack").into_iter().find(|path| path.to_string_lossy().contains("train")).unwrap();
    let mut bytes = std::fs::read(&pack).unwrap();
    bytes[4096 + 200 * 192] ^= 4;
    std::fs::write(&pack, bytes).unwrap();
    let report = verify(Dataset::Folder, &request).unwrap();
    assert_eq!(report.bad.len(), 1);
    assert!(report.bad[0].path == pack && report.bad[0].why.contains("images 128 to 256 are damaged"), "{report:?}");
}

#[test]
fn verify_finds_a_flipped_byte_in_a_record_and_in_an_image() {
    let home = Home::new();
    let directory = home.fetch(Dataset::Cifar100, &[("cifar-100-binary.tar.gz", cifar100())]).unwrap();
    let report = verify(Dataset::Cifar100, &home.request()).unwrap();
    assert_eq!((report.files, report.records, report.bad.len(), report.notes.len()), (3, 4, 0, 0), "{report:?}");
    let file = directory.join("archive/cifar-100-binary/train.bin");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[5000] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    let report = verify(Dataset::Cifar100, &home.request()).unwrap();
    assert_eq!(report.bad.len(), 1, "{report:?}");
    assert_eq!((&report.bad[0].path, &*report.bad[0].why), (&file, "is not as it was unpacked"));
    bytes[1] = 100;
    std::fs::write(&file, &bytes).unwrap();
    let report = verify(Dataset::Cifar100, &home.request()).unwrap();
    assert!(report.bad[1].why.contains("byte 1: expected a label below 100, found 100"), "{report:?}");
    std::fs::remove_file(&file).unwrap();
    let report = verify(Dataset::Cifar100, &home.request()).unwrap();
    assert!(report.bad.iter().any(|bad| bad.why.contains("is missing")), "{report:?}");
}

#[test]
fn verify_reads_every_image_and_reports_what_it_cannot_check() {
    let home = Home::new();
    let root = folder(&home);
    std::fs::write(root.join("train/a/042.png"), b"\x89PNG\r\n\x1a\nno").unwrap();
    let packs = home.path().join("packs");
    let report =
        verify(Dataset::Folder, &Request { directory: Some(&root), packs: Some(&packs), ..Request::default() })
            .unwrap();
    assert_eq!(report.bad.len(), 1);
    assert!(report.bad[0].path.ends_with("train/a/042.png"), "{report:?}");

    let hand = home.path().join("cifar-100-binary");
    std::fs::create_dir_all(&hand).unwrap();
    let names: String = (0..100).map(|i| format!("{i}\n")).collect();
    std::fs::write(hand.join("fine_label_names.txt"), names).unwrap();
    for file in ["train.bin", "test.bin"] {
        std::fs::write(hand.join(file), crate::support::cifar_record(&[1, 2], 3)).unwrap();
    }
    let report = verify(Dataset::Cifar100, &home.request()).unwrap();
    assert!(report.bad.is_empty() && report.notes[0].contains("no checksums to compare with"), "{report:?}");
    let absent = verify(Dataset::Core50, &home.request()).unwrap_err();
    assert!(matches!(absent, DataError::Absent { dataset: Dataset::Core50, .. }), "{absent}");
}

/// Which threads told of progress.
#[derive(Default)]
struct Threads(Mutex<Vec<ThreadId>>);

impl Progress for Threads {
    fn advance(&self, _: u64) {
        let (mut seen, this) = (self.0.lock().unwrap(), std::thread::current().id());
        if !seen.contains(&this) {
            seen.push(this);
        }
    }
}

#[test]
fn images_are_decoded_on_the_requested_number_of_threads() {
    let home = Home::new();
    let root = folder(&home);
    for (threads, size) in [(1, 8), (3, 9)] {
        let (packs, seen) = (home.path().join("packs"), Threads::default());
        let request = Request {
            directory: Some(&root),
            size: Some(size),
            packs: Some(&packs),
            threads: Some(threads),
            progress: &seen,
            ..Request::default()
        };
        Dataset::Folder.open(&request).unwrap();
        // Two splits, two pools.
        let seen = seen.0.into_inner().unwrap().len();
        assert!((2..=2 * threads).contains(&seen), "{seen} threads, {threads} for each split");
    }
}

/// Every byte of a pack matters, or is padding: whatever is flipped, images are right or refused.
#[test]
fn a_damaged_pack_gives_the_same_images_or_an_error() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    let images = |source: &dyn Source| -> Option<Vec<u8>> {
        let images: Option<Vec<_>> = (0..IMAGES).map(|index| source.image(Split::Train, index).ok()).collect();
        Some(images?.iter().flat_map(|image| image.to_vec()).collect())
    };
    let first = open(&root, &packs, &()).unwrap();
    let (sha, right) = (first.sha256().to_owned(), images(&*first).unwrap());
    drop(first);
    let pack = pack_files(&packs, ".pack").into_iter().find(|path| path.to_string_lossy().contains("train")).unwrap();
    let whole = std::fs::read(&pack).unwrap();
    let mut dice = crate::support::dice::Dice::new(5);
    let end = 4096 + IMAGES * 192;
    for round in 0..400 {
        // A quarter each: the header, pixels, the journal, anywhere.
        let at = match round % 4 {
            0 => dice.below(200),
            1 => 4096 + dice.below(end - 4096),
            2 => end + dice.below(whole.len() - end),
            _ => dice.below(whole.len()),
        };
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << dice.below(8);
        std::fs::write(&pack, &damaged).unwrap();
        let Ok(source) = open(&root, &packs, &()) else { continue };
        assert_eq!((source.sha256(), source.labels(Split::Train).len()), (&*sha, IMAGES), "byte {at}");
        let Some(images) = images(&*source) else { continue };
        assert!(images == right, "byte {at}: other pixels");
    }
}

#[test]
fn a_flipped_pixel_is_found_at_the_first_use_of_its_chunk_only() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    open(&root, &packs, &()).unwrap();
    let pack = pack_files(&packs, ".pack").into_iter().find(|path| path.to_string_lossy().contains("train")).unwrap();
    let mut bytes = std::fs::read(&pack).unwrap();
    bytes[4096 + 200 * 192] ^= 4;
    std::fs::write(&pack, bytes).unwrap();
    let source = open(&root, &packs, &()).unwrap();
    assert!((0..128).chain(256..300).all(|index| source.image(Split::Train, index).is_ok()));
    for index in [200, 128, 255, 200] {
        let error = source.image(Split::Train, index).unwrap_err().to_string();
        assert!(error.contains("remove the file to make it again"), "{error}");
    }
}

/// Reading on would end the program with SIGBUS.
#[test]
fn a_pack_that_is_cut_while_it_is_used_is_an_error() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    let source = open(&root, &packs, &()).unwrap();
    source.image(Split::Train, 0).unwrap();
    let pack = pack_files(&packs, ".pack").into_iter().find(|path| path.to_string_lossy().contains("train")).unwrap();
    std::fs::OpenOptions::new().write(true).open(&pack).unwrap().set_len(4096).unwrap();
    for index in [0, 299] {
        let error = source.image(Split::Train, index).unwrap_err().to_string();
        assert!(error.contains("expected as many bytes as when it was opened"), "{error}");
    }
}

#[test]
#[cfg(unix)]
fn planted_links_are_not_followed_while_packing() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    open(&root, &packs, &()).unwrap();
    let precious = home.path().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    for pack in pack_files(&packs, ".pack") {
        std::fs::remove_file(&pack).unwrap();
        for beside in ["pack.partial", "pack.journal"] {
            std::os::unix::fs::symlink(&precious, pack.with_extension(beside)).unwrap();
        }
    }
    assert_right(&*open(&root, &packs, &()).unwrap());
    assert_eq!(std::fs::read(&precious).unwrap(), b"precious");
}

/// What is said.
#[derive(Default)]
struct Said(Mutex<Vec<String>>);

impl Progress for Said {
    fn say(&self, line: &str) {
        self.0.lock().unwrap().push(line.into());
    }
}

impl Said {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn bits(source: &dyn Source) -> Vec<u8> {
    let images = |split| (0..source.labels(split).len()).flat_map(move |i| source.image(split, i).unwrap().to_vec());
    Split::BOTH.into_iter().flat_map(images).collect()
}

#[test]
fn a_changed_folder_is_packed_as_if_it_were_new() {
    let home = Home::new();
    let (root, packs, said) = (folder(&home), home.path().join("packs"), Said::default());
    let into = format!("packing 301 images of 8×8 into {} (0.1 MB)", packs.display());
    open(&root, &packs, &said).unwrap();
    assert_eq!(said.take(), std::slice::from_ref(&into));
    open(&root, &packs, &said).unwrap();
    assert_eq!(said.take(), Vec::<String>::new(), "nothing to do");
    // One is removed, one changes, one is added, one is renamed, one becomes a test image.
    std::fs::remove_file(root.join("train/a/000.png")).unwrap();
    write(&root.join("train/a/001.png"), &png(12, 8, 252));
    write(&root.join("train/a/new.png"), &png(12, 8, 253));
    std::fs::rename(root.join("train/a/200.png"), root.join("train/a/y.png")).unwrap();
    std::fs::rename(root.join("train/a/100.png"), root.join("test/a/x.png")).unwrap();
    let changed = open(&root, &packs, &said).unwrap();
    assert_eq!(said.take(), [into]);
    let fresh = open(&root, &home.path().join("fresh"), &()).unwrap();
    assert_eq!((changed.sha256(), bits(&*changed)), (fresh.sha256(), bits(&*fresh)));
}

#[test]
fn packs_are_beside_the_data_and_move_with_them() {
    let home = Home::new();
    let (root, said) = (folder(&home), Said::default());
    let open = |root: &Path| {
        Dataset::Folder.open(&Request { directory: Some(root), size: Some(8), progress: &said, ..Request::default() })
    };
    let first = open(&root).unwrap();
    let packs = root.join(".rehearsal/packs");
    assert_eq!(said.take(), [format!("packing 301 images of 8×8 into {} (0.1 MB)", packs.display())]);
    assert_eq!(pack_files(&packs, ".pack").len(), 2);
    assert!(first.ignored().is_empty(), "packs are not a class and not reported");
    let moved = home.path().join("moved");
    std::fs::rename(&root, &moved).unwrap();
    assert_eq!(open(&moved).unwrap().sha256(), first.sha256());
    assert_eq!(said.take(), Vec::<String>::new(), "they are not made again");
    let report = verify(Dataset::Folder, &Request { directory: Some(&moved), ..Request::default() }).unwrap();
    // There may be more in the default data directory.
    assert!(report.packs >= 2 && report.bad.is_empty(), "{report:?}");
    let pack = pack_files(&moved.join(".rehearsal/packs"), ".pack").remove(0);
    let bytes = std::fs::read(&pack).unwrap();
    let other = [b"{\"format\":\"rehearsal pack 2\"}".as_slice(), &[b' '; 4096], &bytes[4096..]].concat();
    std::fs::write(pack.with_file_name("folder-train-8-0123456789abcdef.pack"), other).unwrap();
    let again = verify(Dataset::Folder, &Request { directory: Some(&moved), ..Request::default() }).unwrap();
    assert_eq!((again.packs, again.bad.len()), (report.packs, 0), "a pack of another version is not bad");
}

/// One process waits until another has made the pack: what it had opened to write is not left.
#[test]
fn a_process_that_waited_for_a_pack_leaves_nothing_beside_it() {
    let home = Home::new();
    let (root, packs) = (folder(&home), home.path().join("packs"));
    drop(open(&root, &packs, &()).unwrap());
    let is_train = |path: &PathBuf| path.to_str().unwrap().contains("-train-");
    let pack = std::fs::read_dir(&packs).unwrap().map(|entry| entry.unwrap().path()).find(is_train).unwrap();
    let (away, partial) = (home.path().join("away"), pack.with_extension("pack.partial"));
    std::fs::rename(&pack, &away).unwrap();
    write(&partial, b"");
    let other = std::fs::File::options().write(true).open(&partial).unwrap();
    other.lock().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| open(&root, &packs, &()).map(drop));
        std::thread::sleep(std::time::Duration::from_millis(500));
        std::fs::rename(&away, &pack).unwrap();
        drop(other);
        waiting.join().unwrap().unwrap();
    });
    assert!(pack.exists() && !partial.exists());
}
