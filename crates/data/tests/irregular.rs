//! FIFOs, devices, files without end and links out of the data set are refused, never waited for.

use std::{
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::{Arc, mpsc},
    time::Duration,
};

use crate::support::{Home, cifar_record, png, write};
use rehearsal_data::{DataError, Dataset, Request, Source, Split, fetch::Fetch, verify::verify};

/// Does what may hang on another thread, and fails if it does.
fn within_seconds<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("{what} hangs"))
}

fn fifo(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A file that claims so many bytes and holds none.
fn sparse(path: &Path, bytes: u64) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::File::create(path).unwrap().set_len(bytes).unwrap();
}

/// A folder of two classes of six images.
fn folder(home: &Home) -> PathBuf {
    let root = home.path().join("my");
    for class in ["a", "b"] {
        (0..6).for_each(|i| write(&root.join(class).join(format!("{i}.png")), &png(12, 8, i)));
    }
    root
}

#[derive(Clone, Copy, Default)]
struct Allowed {
    skip_bad: bool,
    links: bool,
}

fn open(home: &Home, allowed: Allowed) -> Result<Arc<dyn Source>, DataError> {
    let (root, packs) = (home.path().join("my"), home.path().join("packs"));
    within_seconds("opening", move || {
        Dataset::Folder.open(&Request {
            directory: Some(&root),
            size: Some(8),
            packs: Some(&packs),
            skip_bad: allowed.skip_bad,
            follow_links_outside: allowed.links,
            ..Request::default()
        })
    })
}

fn error(home: &Home, allowed: Allowed) -> String {
    open(home, allowed).err().unwrap().to_string()
}

fn images(source: &dyn Source) -> usize {
    Split::BOTH.map(|split| source.labels(split).len()).iter().sum()
}

#[test]
fn a_fifo_among_images_is_a_bad_file() {
    let home = Home::new();
    fifo(&folder(&home).join("a/pipe.png"));
    let error = error(&home, Allowed::default());
    assert!(error.contains("a/pipe.png is not a readable image") && error.contains("not a regular file"), "{error}");
    let source = open(&home, Allowed { skip_bad: true, links: false }).unwrap();
    assert_eq!((images(&*source), source.skipped().len()), (12, 1));
    let (root, packs) = (home.path().join("my"), home.path().join("packs"));
    let report = within_seconds("verify", move || {
        verify(Dataset::Folder, &Request { directory: Some(&root), packs: Some(&packs), ..Request::default() })
    });
    assert!(report.unwrap().bad[0].why.contains("not a regular file"));
}

#[test]
fn a_device_behind_a_link_is_not_read_even_if_links_are_followed() {
    let home = Home::new();
    symlink("/dev/zero", folder(&home).join("b/x.png")).unwrap();
    let refused = open(&home, Allowed::default()).err().unwrap();
    assert!(matches!(&refused, DataError::Link { path, .. } if path.ends_with("b/x.png")), "{refused}");
    let followed = error(&home, Allowed { skip_bad: false, links: true });
    assert!(
        followed.contains("b/x.png is not a readable image") && followed.contains("not a regular file"),
        "{followed}"
    );
}

#[test]
fn an_image_file_without_end_is_a_bad_file() {
    let home = Home::new();
    sparse(&folder(&home).join("a/huge.png"), 1 << 40);
    let error = error(&home, Allowed::default());
    assert!(
        error.contains("a/huge.png is not a readable image") && error.contains("more than 268435456 bytes"),
        "{error}"
    );
}

#[test]
fn links_that_lead_out_of_the_folder_are_followed_only_when_asked() {
    let home = Home::new();
    let root = folder(&home);
    write(&home.path().join("elsewhere/7.png"), &png(12, 8, 7));
    symlink(home.path().join("elsewhere"), root.join("a/more")).unwrap();
    symlink(home.path().join("elsewhere/7.png"), root.join("b/7.png")).unwrap();
    let refused = error(&home, Allowed::default());
    assert!(refused.contains("a/more is a link out of"), "{refused}");
    assert_eq!(images(&*open(&home, Allowed { skip_bad: false, links: true }).unwrap()), 14);
    std::fs::remove_file(root.join("a/more")).unwrap();
    assert!(error(&home, Allowed::default()).contains("b/7.png is a link out of"));
    std::fs::remove_file(root.join("b/7.png")).unwrap();
    symlink("0.png", root.join("b/7.png")).unwrap();
    assert_eq!(images(&*open(&home, Allowed::default()).unwrap()), 13, "a link inside is followed");
}

/// Twelve folders, each with two links to the next: 4,096 ways to the last, and one image there.
#[test]
fn a_folder_is_entered_once_however_many_links_lead_to_it() {
    let home = Home::new();
    let root = folder(&home);
    let level = |number: usize| root.join("a").join(format!("level{number}"));
    for number in 0..12 {
        std::fs::create_dir_all(level(number)).unwrap();
        for name in ["left", "right"] {
            symlink(level(number + 1), level(number).join(name)).unwrap();
        }
    }
    write(&level(12).join("deep.png"), &png(12, 8, 9));
    symlink(root.join("a"), root.join("a/circle")).unwrap();
    assert_eq!(images(&*open(&home, Allowed::default()).unwrap()), 13);
    symlink(root.join("a"), root.join("b/same")).unwrap();
    let error = error(&home, Allowed::default());
    assert!(error.contains("b/same: it is a link to images of class `a`"), "{error}");
}

#[test]
fn records_that_are_a_fifo_or_have_no_end_are_refused() {
    let home = Home::new();
    let names: String = (0..100).map(|i| format!("{i}\n")).collect();
    let folder = home.path().join("cifar-100-binary");
    write(&folder.join("fine_label_names.txt"), names.as_bytes());
    write(&folder.join("test.bin"), &cifar_record(&[1, 2], 3));
    let train = folder.join("train.bin");
    let error = |home: &Home| {
        let path = home.path().to_owned();
        let request = move || Dataset::Cifar100.open(&Request { directory: Some(&path), ..Request::default() });
        within_seconds("opening", request).err().unwrap().to_string()
    };
    fifo(&train);
    assert!(error(&home).contains("train.bin cannot be read: it is not a regular file"));
    std::fs::remove_file(&train).unwrap();
    sparse(&train, 1 << 40);
    assert!(error(&home).contains("train.bin cannot be read: it has more than"));
    std::fs::remove_file(&train).unwrap();
    write(&home.path().join("train.bin"), &cifar_record(&[1, 2], 3));
    symlink(home.path().join("train.bin"), &train).unwrap();
    assert!(error(&home).contains("train.bin is a link out of"));
}

#[test]
fn an_archive_that_is_a_fifo_or_a_device_or_has_no_end_is_refused() {
    for (dataset, name) in
        [(Dataset::Cifar100, "cifar-100-binary.tar.gz"), (Dataset::MiniImagenet, "mini-imagenet-cache-train.pkl")]
    {
        let home = Home::new();
        let file = home.path().join("by-hand").join(name);
        let error = |home: &Home| {
            let (path, from) = (home.path().to_owned(), [file.clone()]);
            let fetch = move || {
                let other = Home::new();
                Fetch { home: &path, from: &from, ..other.fetching() }.dataset(dataset)
            };
            within_seconds("fetching", fetch).unwrap_err().to_string()
        };
        fifo(&file);
        assert!(error(&home).contains("it is not a regular file"), "{name}");
        std::fs::remove_file(&file).unwrap();
        symlink("/dev/zero", &file).unwrap();
        assert!(error(&home).contains("it is not a regular file"), "{name}");
        std::fs::remove_file(&file).unwrap();
        sparse(&file, 1 << 40);
        assert!(error(&home).contains("it has more than"), "{name}");
        assert!(std::fs::read_dir(home.path().join(dataset.to_string())).unwrap().count() < 2, "nothing is left");
    }
}

#[test]
fn a_fifo_in_the_place_of_a_packs_journal_is_not_waited_for() {
    let home = Home::new();
    folder(&home);
    drop(open(&home, Allowed::default()).unwrap());
    let packs: Vec<PathBuf> =
        std::fs::read_dir(home.path().join("packs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(packs.len(), 2);
    for pack in &packs {
        std::fs::remove_file(pack).unwrap();
        fifo(&pack.with_extension("pack.journal"));
        fifo(&pack.with_extension("pack.partial"));
    }
    drop(open(&home, Allowed::default()).unwrap());
    assert!(packs.iter().all(|pack| pack.is_file()));
}
