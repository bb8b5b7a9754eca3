//! A user's photos: found by class or without, with a reason for every file that is not read, and
//! made into pixels.

use std::path::{Path, PathBuf};

use crate::support::{Home, encode, jpeg, picture, png, raw, write};
use rehearsal_data::{
    DataError, ImageShape,
    photos::{Ignored, ScanOptions, find, read, read_all, scan},
};
use sha2::{Digest, Sha256};

const OPTIONS: ScanOptions = ScanOptions { follow_links_outside: false };

fn below(root: &Path, ignored: &[Ignored]) -> Vec<String> {
    let line = |file: &Ignored| format!("{}: {}", file.path.strip_prefix(root).unwrap().display(), file.why);
    ignored.iter().map(line).collect()
}

/// A folder as phones, cameras and people leave it.
fn january(home: &Home) -> PathBuf {
    let root = home.path().join("january");
    write(&root.join("boots/1.jpg"), &jpeg(12, 8, 1));
    write(&root.join("boots/2.PNG"), &png(12, 8, 2));
    write(&root.join("boots/IMG_0231.HEIC"), b"heic");
    write(&root.join("bags/leather/3.tif"), &encode(&picture(12, 8, 3), image::ImageFormat::Tiff));
    write(&root.join("bags/leather/notes.txt"), b"mine");
    write(&root.join("bags/leather/.DS_Store"), b"");
    write(&root.join("bags/film.MOV"), b"");
    write(&root.join(".trash/4.jpg"), &jpeg(12, 8, 4));
    write(&root.join("5.jpg"), &jpeg(12, 8, 5));
    std::fs::create_dir_all(root.join("clogs")).unwrap();
    root
}

#[test]
fn every_image_has_a_class_and_every_other_file_a_reason() {
    let home = Home::new();
    let root = january(&home);
    let found = scan(&root, &OPTIONS).unwrap();
    assert_eq!(found.classes, ["bags/leather", "boots"]);
    let photos: Vec<(&Path, &str)> =
        found.photos.iter().map(|photo| (photo.path.strip_prefix(&root).unwrap(), &*photo.class)).collect();
    let expected = [("bags/leather/3.tif", "bags/leather"), ("boots/1.jpg", "boots"), ("boots/2.PNG", "boots")];
    assert_eq!(photos, expected.map(|(path, class)| (Path::new(path), class)));
    assert_eq!((&found.empty_classes[..], found.nested, found.has_splits), (&["clogs".to_owned()][..], true, false));
    let reasons = [
        "5.jpg: not in a folder of a class",
        "bags/film.MOV: a video",
        "bags/leather/.DS_Store: hidden",
        "bags/leather/notes.txt: not an image",
        "boots/IMG_0231.HEIC: HEIC is not read, convert it to JPEG",
    ];
    assert_eq!(below(&root, &found.ignored), reasons);
    std::fs::create_dir_all(root.join("train")).unwrap();
    std::fs::create_dir_all(root.join("val")).unwrap();
    assert!(scan(&root, &OPTIONS).unwrap().has_splits);
}

#[test]
#[cfg(unix)]
fn links_are_followed_inside_and_names_must_be_text() {
    use std::os::unix::{ffi::OsStrExt, fs::symlink};
    let home = Home::new();
    let root = january(&home);
    write(&home.path().join("elsewhere/9.jpg"), &jpeg(12, 8, 9));
    symlink("1.jpg", root.join("boots/again.jpg")).unwrap();
    assert_eq!(scan(&root, &OPTIONS).unwrap().photos.len(), 4);
    symlink(home.path().join("elsewhere/9.jpg"), root.join("boots/9.jpg")).unwrap();
    let refused = scan(&root, &OPTIONS).unwrap_err();
    assert!(matches!(&refused, DataError::Link { path, .. } if path.ends_with("boots/9.jpg")), "{refused}");
    assert_eq!(scan(&root, &ScanOptions { follow_links_outside: true }).unwrap().photos.len(), 5);
    std::fs::create_dir(root.join(std::ffi::OsStr::from_bytes(b"\xff"))).unwrap();
    let refused = scan(&root, &ScanOptions { follow_links_outside: true }).unwrap_err().to_string();
    assert!(refused.contains("its name is not UTF-8"), "{refused}");
}

#[test]
fn images_to_be_named_are_found_in_any_folder_and_by_their_first_bytes() {
    let home = Home::new();
    let root = january(&home);
    let plain = home.path().join("unnamed");
    write(&plain, &png(12, 8, 6));
    let text = home.path().join("text.md");
    write(&text, b"# no image");
    let paths = [plain.clone(), root.join("boots/2.PNG"), root.clone(), text.clone(), root.join("boots/IMG_0231.HEIC")];
    let (images, ignored) = find(&paths, &OPTIONS).unwrap();
    let expected = ["boots/2.PNG", "5.jpg", "bags/leather/3.tif", "boots/1.jpg", "boots/2.PNG"];
    let expected = expected.map(|path| root.join(path));
    assert_eq!(images[0], plain);
    assert_eq!(images[1..], expected, "in order, as often as they are given");
    assert!(ignored.iter().any(|file| file.path == text));
    assert_eq!(ignored.iter().filter(|file| file.path.ends_with("IMG_0231.HEIC")).count(), 2);
    let missing = find(&[root.join("none.jpg")], &OPTIONS).unwrap_err().to_string();
    assert!(missing.contains("none.jpg is missing: expected an image, or a folder of images"), "{missing}");
}

#[test]
fn a_photo_is_turned_cut_resized_and_known_by_its_bytes() {
    let home = Home::new();
    let path = home.path().join("turned.jpg");
    // Three columns and two rows of blocks; seen, after a turn to the right, two and three.
    let blocks: Vec<Vec<u8>> = [10u8, 20, 30, 40, 50, 60].map(|red| vec![red, 100, 200]).to_vec();
    let bytes = raw::jpeg(&blocks, 3, raw::Adobe::Plain, Some(&raw::exif(6, true)));
    write(&path, &bytes);
    let shape = |height, width, channels| ImageShape { height, width, channels };
    let whole = read(&path, shape(24, 16, 3)).unwrap();
    assert_eq!(whole.sha256, <[u8; 32]>::from(Sha256::digest(&bytes)));
    let red = |row: usize, column: usize| whole.image[3 * (row * 16 + column)];
    assert_eq!([red(0, 0), red(0, 8), red(8, 0), red(8, 8), red(16, 0), red(16, 8)], [40, 10, 50, 20, 60, 30]);
    let square = read(&path, shape(16, 16, 3)).unwrap();
    assert_eq!((square.image[0], square.image[3 * (12 * 16)]), (40, 60), "four rows are cut off above and below");
    let grey = read(&path, shape(24, 16, 1)).unwrap();
    // Pillow's `convert("L")` of (40, 100, 200): (19595·40 + 38470·100 + 7471·200 + 2¹⁵) / 2¹⁶.
    assert_eq!((grey.image.len(), grey.image[0]), (24 * 16, 93));
    let paths = [&path, &home.path().join("none.jpg"), &path];
    let all = read_all(&paths, shape(16, 16, 3), &());
    assert_eq!(all[0].as_ref().unwrap(), &square);
    assert!(matches!(all[1], Err(DataError::Unreadable { .. })) && all[2].is_ok());
    write(&path, b"\0\0\0\x18ftypheic\0\0\0\0");
    let refused = read(&path, shape(16, 16, 3)).unwrap_err().to_string();
    assert!(refused.contains("turned.jpg is not a readable image: it is HEIC"), "{refused}");
}
