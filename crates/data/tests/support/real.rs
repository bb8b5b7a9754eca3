//! Directories of real data, which not every machine has.

use std::{io::Write, path::PathBuf};

/// Debian's Fashion-MNIST, or a loud word that the test is skipped.
pub fn fashion_mnist() -> Option<PathBuf> {
    let found = Some(PathBuf::from("/usr/share/datasets/fashion-mnist")).filter(|path| path.is_dir());
    found.or_else(|| skipped("Fashion-MNIST", "apt-get install dataset-fashion-mnist"))
}

/// CIFAR-100's binary files in `$REHEARSAL_CIFAR100`, or a loud word that the test is skipped.
pub fn cifar100() -> Option<PathBuf> {
    let found = std::env::var_os("REHEARSAL_CIFAR100").map(PathBuf::from);
    found.or_else(|| skipped("CIFAR-100", "set REHEARSAL_CIFAR100 to the directory of its train.bin"))
}

/// Writes to the terminal itself: `eprintln!` would go to the test harness, which shows it only
/// when a test fails.
fn skipped(what: &str, how: &str) -> Option<PathBuf> {
    let line = format!("\n*** SKIPPED: the test that reads the real {what}. To run it: {how}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    None
}
