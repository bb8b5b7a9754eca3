//! Packs that nobody uses are found and removed, and no others.

use std::path::{Path, PathBuf};

use crate::support::{Home, png, write};
use rehearsal_data::{
    Dataset, Request,
    clean::{Unused, remove, unused},
};

fn folder(home: &Home) -> PathBuf {
    let root = home.path().join("my");
    for class in ["a", "b"] {
        (0..5).for_each(|i| write(&root.join(class).join(format!("{i}.png")), &png(12, 8, i)));
    }
    root
}

fn open(root: &Path, size: usize) {
    Dataset::Folder.open(&Request { directory: Some(root), size: Some(size), ..Request::default() }).unwrap();
}

fn reasons(root: &Path) -> Vec<String> {
    unused(Some(root)).unwrap().iter().map(|Unused { why, .. }| why.to_string()).collect()
}

#[test]
fn packs_of_images_that_have_changed_are_unused_and_the_others_are_not() {
    let home = Home::new();
    let root = folder(&home);
    open(&root, 8);
    open(&root, 4);
    assert_eq!(reasons(&root), Vec::<String>::new(), "of two sizes, both used");
    write(&root.join("a/new.png"), &png(12, 8, 9));
    let real = root.canonicalize().unwrap();
    let changed = format!("the images in {} have changed", real.display());
    assert_eq!(reasons(&root), vec![changed; 2], "the training images of both sizes: the tests are the same");
    open(&root, 8);
    let found = unused(Some(&root)).unwrap();
    assert_eq!(found.len(), 2, "the new one is used");
    assert!(found.iter().all(|file| file.bytes == file.path.metadata().unwrap().len() && file.bytes > 4096));
    found.iter().for_each(|file| remove(file).unwrap());
    assert_eq!(reasons(&root), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(root.join(".rehearsal/packs")).unwrap().count(), 3);
    let moved = home.path().join("moved");
    std::fs::rename(&root, &moved).unwrap();
    assert_eq!(reasons(&moved), Vec::<String>::new(), "a folder moves with its packs");
    std::fs::remove_dir_all(moved.join("a")).unwrap();
    std::fs::remove_dir_all(moved.join("b")).unwrap();
    assert!(reasons(&moved).iter().all(|why| why.contains("no longer in")), "{:?}", reasons(&moved));
}

#[test]
fn what_was_left_half_done_goes_unless_someone_is_at_it() {
    let home = Home::new();
    let root = folder(&home);
    open(&root, 8);
    let packs = root.join(".rehearsal/packs");
    let partial = packs.join("folder-train-8-0123456789abcdef.pack.partial");
    write(&partial, b"half");
    write(&partial.with_extension("journal"), b"");
    write(&packs.join("folder-train-8-fedcba9876543210.pack"), b"of another version");
    write(&packs.join("notes.txt"), b"mine");
    let file = std::fs::File::options().write(true).open(&partial).unwrap();
    file.lock().unwrap();
    assert_eq!(reasons(&root), ["it was made by another version, or is damaged"], "what is being made stays");
    drop(file);
    let reasons = reasons(&root);
    assert_eq!(reasons.iter().filter(|why| *why == "it was not finished").count(), 2, "{reasons:?}");
    assert_eq!(reasons.len(), 3, "and nobody's notes");
}

/// A pack as a stranger may write it: its header speaks of the images at `of`.
fn forge(packs: &Path, of: &Path) -> PathBuf {
    let made = |path: &PathBuf| path.to_string_lossy().contains("-train-");
    let path = std::fs::read_dir(packs).unwrap().map(|entry| entry.unwrap().path()).find(made).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let mut header: serde_json::Value = serde_json::from_slice(&bytes[..4096]).unwrap();
    header["of"]["root"] = of.to_str().unwrap().into();
    header["key"] = "0".repeat(64).into();
    let mut header = header.to_string().into_bytes();
    header.resize(4095, b' ');
    header.push(b'\n');
    bytes[..4096].copy_from_slice(&header);
    let forged = packs.join("folder-train-8-0000000000000000.pack");
    std::fs::write(&forged, bytes).unwrap();
    forged
}

#[test]
fn a_pack_beside_a_folder_sends_nobody_elsewhere() {
    let home = Home::new();
    let root = folder(&home);
    open(&root, 8);
    let elsewhere = home.path().join("elsewhere");
    write(&elsewhere.join("a/0.png"), &png(12, 8, 1));
    write(&elsewhere.join("b/0.png"), &png(12, 8, 2));
    let packs = root.join(".rehearsal/packs");
    let forged = forge(&packs, &elsewhere);
    let found = unused(Some(&root)).unwrap();
    assert_eq!(found.iter().map(|file| &file.path).collect::<Vec<_>>(), [&forged]);
    let why = found[0].why.to_string();
    assert_eq!(why, format!("the images in {} have changed", root.canonicalize().unwrap().display()));
}

#[test]
#[cfg(unix)]
fn links_that_lead_out_are_not_followed_and_a_folder_called_like_a_pack_stays() {
    let home = Home::new();
    let root = folder(&home);
    open(&root, 8);
    let packs = root.join(".rehearsal/packs");
    std::fs::create_dir(packs.join("folder-train-8-0123456789abcdef.pack")).unwrap();
    assert_eq!(reasons(&root), Vec::<String>::new(), "a folder is no pack");
    let elsewhere = home.path().join("elsewhere");
    write(&elsewhere.join("9.png"), &png(12, 8, 1));
    std::os::unix::fs::symlink(&elsewhere, root.join("c")).unwrap();
    assert_eq!(reasons(&root), Vec::<String>::new(), "who has them cannot be known without following the link");
    let gone = Unused { path: packs.join("gone.pack"), bytes: 0, why: rehearsal_data::clean::Why::Unfinished };
    remove(&gone).unwrap();
}
