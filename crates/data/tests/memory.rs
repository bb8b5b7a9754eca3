//! How much memory decoding and packing need. Each test runs in a process of its own, because the
//! memory of the process is measured.

use std::{
    io::{Cursor, Write},
    process::Command,
    thread,
};

use image::{GrayImage, ImageFormat};
use rehearsal_data::{Dataset, Request, Split, decode::decode};

use crate::support::{Home, jpeg, write};

/// Set in the process of its own.
const ALONE: &str = "REHEARSAL_TEST_ALONE";

/// True in a process that runs only `test`; else runs that process, which must succeed.
fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", &format!("memory::{test}"), "--nocapture"]).env(ALONE, "1").output().unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{output}{}", String::from_utf8_lossy(&child.stderr));
    assert!(output.contains("1 passed"), "{output}");
    false
}

/// The most memory that this process ever had, in megabytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() / 1000
}

/// A PNG of 80 kilobytes whose pixels need 324 megabytes: a folder of them must not fill a machine of
/// many cores.
#[test]
fn large_images_are_decoded_one_at_a_time() {
    if !is_alone("large_images_are_decoded_one_at_a_time") {
        return;
    }
    let mut png = Cursor::new(Vec::new());
    GrayImage::new(9000, 9000).write_to(&mut png, ImageFormat::Png).unwrap();
    let png = png.into_inner();
    assert!(png.len() < 1 << 20);
    let before = peak();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(decode(&png).unwrap().width, 9000));
        }
    });
    // A thread that waits has allocated nothing; a decoded image may be kept while the next begins.
    assert!(peak() < before + 800, "{} and {} MB", before, peak());
}

/// A PNG of a hundred kilobytes with a colour profile of 400 megabytes, which is not needed.
#[test]
fn a_chunk_beside_the_pixels_does_not_fill_memory() {
    if !is_alone("a_chunk_beside_the_pixels_does_not_fill_memory") {
        return;
    }
    let mut plain = Cursor::new(Vec::new());
    GrayImage::new(10, 10).write_to(&mut plain, ImageFormat::Png).unwrap();
    let plain = plain.into_inner();
    // After the signature and IHDR.
    let (head, rest) = plain.split_at(33);
    for (name, beginning) in [(b"iCCP", &b"x\0\0"[..]), (b"zTXt", b"x\0\0"), (b"iTXt", b"x\0\x01\0\0\0")] {
        let mut packed = flate2::write::ZlibEncoder::new(beginning.to_vec(), flate2::Compression::best());
        (0..400).for_each(|_| packed.write_all(&vec![0; 1_000_000]).unwrap());
        let content = [&name[..], &packed.finish().unwrap()].concat();
        let length = content.len() as u32 - 4;
        let crc = crc32fast::hash(&content).to_be_bytes();
        let png = [head, &length.to_be_bytes(), &content, &crc, rest].concat();
        assert!(png.len() < 1 << 20);
        let before = peak();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(decode(&png).unwrap().width, 10));
            }
        });
        assert!(peak() < before + 200, "{} and {} MB", before, peak());
    }
}

/// 80 images of 1024×1024 are 252 MB, of which three batches of 31 MB are in memory at a time.
#[test]
fn packing_at_1024_is_bounded() {
    if !is_alone("packing_at_1024_is_bounded") {
        return;
    }
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
    let before = peak();
    let source = Dataset::Folder.open(&request).unwrap();
    let needed = peak() - before;
    assert_eq!(source.labels(Split::Train).len(), 80);
    assert!(needed < 160, "{needed} MB");
}
