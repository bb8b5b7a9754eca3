//! What decoding takes in memory, however many threads decode: alone in its process.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{io::Cursor, thread};

use image::{GrayImage, ImageFormat};
use rehearsal_data::decode::decode;

/// The most that this process ever had in memory, in megabytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() / 1000
}

/// A PNG of 80 kilobytes whose pixels need 324 megabytes: a folder of them must not fill a machine of
/// many cores.
#[test]
fn large_images_are_decoded_one_at_a_time() {
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
    // Whoever waits has nothing of it; what is decoded may be kept while the next one begins.
    assert!(peak() < before + 800, "{} and {} MB", before, peak());
}
