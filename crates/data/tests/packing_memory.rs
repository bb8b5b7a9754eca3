//! Packing large images needs little memory. Alone in its program, because memory is measured.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use rehearsal_data::{Dataset, Request, Split};
use support::{Home, jpeg, write};

/// The most memory that this process ever had, in bytes.
fn most_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    1024 * line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}

/// 80 images of 1024×1024 are 252 MB, of which three batches of 31 MB are held at a time.
#[test]
fn packing_at_1024_is_bounded() {
    let home = Home::new();
    let root = home.path().join("my");
    let image = jpeg(64, 48, 7);
    (0..80).for_each(|i| write(&root.join(format!("train/a/{i}.jpg")), &image));
    write(&root.join("test/a/0.jpg"), &image);
    let packs = home.path().join("packs");
    let request = Request {
        directory: Some(&root),
        size: Some(1024),
        packs: Some(&packs),
        threads: Some(2),
        ..Request::default()
    };
    let before = most_memory();
    let source = Dataset::Folder.open(&request).unwrap();
    let needed = most_memory() - before;
    assert_eq!(source.labels(Split::Train).len(), 80);
    assert!(needed < 160_000_000, "{needed} bytes");
    eprintln!("packing needed {needed} bytes");
}
