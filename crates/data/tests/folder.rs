//! A user's own images: folders of classes, in every format, with and without a split, with bad
//! files among them.

use std::path::Path;

use crate::support::{
    Home, encode, jpeg, picture,
    pixels::{assert_middle, labels, pixel},
    png, write,
};
use rehearsal_data::{DataError, Dataset, Request, Source, Split};

fn folder(root: &Path, packs: &Path, skip_bad: bool) -> Result<std::sync::Arc<dyn Source>, DataError> {
    let request = Request { directory: Some(root), size: Some(8), packs: Some(packs), skip_bad, ..Request::default() };
    Dataset::Folder.open(&request)
}

#[test]
fn a_folder_with_train_and_test_in_every_format() {
    use image::ImageFormat::{Bmp, Gif, Png, Tiff, WebP};
    let home = Home::new();
    let (root, packs) = (home.path().join("my"), home.path().join("packs"));
    write(&root.join("train/zebra/a.png"), &encode(&picture(12, 8, 1), Png));
    write(&root.join("train/ant/b.JPG"), &jpeg(12, 8, 2));
    write(&root.join("train/ant/c.webp"), &encode(&picture(12, 8, 3), WebP));
    write(&root.join("train/ant/d.bmp"), &encode(&picture(8, 12, 4), Bmp));
    write(&root.join("train/zebra/g.TIFF"), &encode(&picture(12, 8, 7), Tiff));
    write(&root.join("train/ant/notes.txt"), b"not an image, and not called one");
    write(&root.join("train/.hidden/x.png"), b"");
    write(&root.join("test/ant/e.gif"), &encode(&picture(12, 8, 5), Gif));
    write(&root.join("test/zebra/f.png"), &encode(&picture(12, 8, 6).to_rgba8().into(), Png));
    let source = folder(&root, &packs, false).unwrap();
    assert_eq!(source.class_names(), ["ant", "zebra"]);
    assert_eq!(labels(&*source), (vec![0, 0, 0, 1, 1], vec![0, 1]));
    let [notes] = source.ignored() else { panic!("{:?}", source.ignored()) };
    assert_eq!((&*notes.path, &*notes.why.to_string()), (&*root.join("train/ant/notes.txt"), "not an image"));
    assert_middle(&*source, Split::Train, 0, 12, 2, 6);
    assert_middle(&*source, Split::Train, 1, 12, 3, 0);
    assert_eq!(pixel(&*source, Split::Train, 2, (0, 7)), [42, 18, 4], "of a tall image, two rows are cut off above");
    assert_middle(&*source, Split::Train, 3, 12, 1, 0);
    assert_middle(&*source, Split::Train, 4, 12, 7, 0);
    assert_middle(&*source, Split::Test, 0, 12, 5, 2);
    assert_middle(&*source, Split::Test, 1, 12, 6, 0);
}

#[test]
fn a_folder_without_a_split_gets_the_same_one_every_time() {
    let home = Home::new();
    let (root, packs) = (home.path().join("my"), home.path().join("packs"));
    for (class, count) in [("b", 10), ("a", 11)] {
        (0..count).for_each(|i| write(&root.join(class).join(format!("{i}.png")), &png(12, 8, i)));
    }
    let blues = |source: &dyn Source| -> Vec<u8> {
        (0..source.labels(Split::Test).len()).map(|i| pixel(source, Split::Test, i, (0, 0))[2]).collect()
    };
    let source = folder(&root, &packs, false).unwrap();
    assert_eq!(labels(&*source).1, [0, 0, 1, 1], "one in five of each class");
    let moved = home.path().join("moved");
    std::fs::rename(&root, &moved).unwrap();
    let again = folder(&moved, &packs, false).unwrap();
    assert_eq!(blues(&*source), blues(&*again), "wherever the folder is");
    assert_eq!(source.sha256(), again.sha256());
}

#[test]
fn a_corrupt_image_is_named_or_skipped_and_counted() {
    let home = Home::new();
    let (root, packs) = (home.path().join("my"), home.path().join("packs"));
    for split in ["train", "test"] {
        for i in 0..6 {
            write(&root.join(split).join("a").join(format!("{i}.png")), &png(12, 8, i));
        }
    }
    let bad = root.join("train/a/3.png");
    let whole = std::fs::read(&bad).unwrap();
    std::fs::write(&bad, &whole[..whole.len() / 2]).unwrap();
    let error = folder(&root, &packs, false).err().unwrap();
    assert!(matches!(&error, DataError::Image { path, .. } if *path == bad), "{error}");
    let source = folder(&root, &packs, true).unwrap();
    assert_eq!(source.labels(Split::Train).len(), 5);
    assert_eq!(source.skipped().len(), 1);
    assert_eq!(source.skipped()[0].path, bad);
    assert_middle(&*source, Split::Train, 3, 12, 4, 0);
    let error = folder(&root, &packs, false).err().unwrap().to_string();
    assert!(error.contains("train/a/3.png"), "packed without it, and refused if bad files are not skipped: {error}");
}

#[test]
fn a_folder_without_images_is_refused() {
    let home = Home::new();
    let error = folder(home.path(), home.path(), false).err().unwrap().to_string();
    assert!(error.contains("no images in folders of classes: expected CLASS/*.{png"), "{error}");
    write(&home.path().join("train/a/1.png"), &png(8, 8, 0));
    write(&home.path().join("test/b/1.png"), &png(8, 8, 0));
    let error = folder(home.path(), home.path(), false).err().unwrap().to_string();
    assert!(error.contains("class `b` is not in"), "{error}");
}

#[test]
fn folders_inside_folders_are_classes_called_by_their_paths() {
    let home = Home::new();
    let (root, packs) = (home.path().join("my"), home.path().join("packs"));
    for (class, images) in [("bags", 2), ("bags/leather", 3), ("bags-old", 2), ("shoes/boots/red", 2)] {
        (0..images).for_each(|i| write(&root.join(class).join(format!("{i}.png")), &png(12, 8, i)));
    }
    std::fs::create_dir_all(root.join("shoes/boots/none")).unwrap();
    let source = folder(&root, &packs, false).unwrap();
    let classes = ["bags", "bags/leather", "bags-old", "shoes/boots/none", "shoes/boots/red"];
    assert_eq!(source.class_names(), classes);
    assert_eq!(labels(&*source), (vec![0, 1, 1, 2, 4], vec![0, 1, 2, 4]));
}

#[test]
fn train_alone_is_split_and_what_lies_beside_the_splits_is_said() {
    let home = Home::new();
    let (root, packs) = (home.path().join("my"), home.path().join("packs"));
    for class in ["a", "b"] {
        (0..5).for_each(|i| write(&root.join("train").join(class).join(format!("{i}.png")), &png(12, 8, i)));
    }
    let alone = folder(&root, &packs, false).unwrap();
    assert_eq!((alone.class_names().len(), labels(&*alone).1), (2, vec![0, 1]), "one in five of each class");
    let apart = folder(&root.join("train"), &packs, false).unwrap();
    assert_eq!(alone.sha256(), apart.sha256(), "as if it were the folder itself");
    for split in ["test", "val"] {
        write(&root.join(split).join("a/1.png"), &png(12, 8, 9));
    }
    write(&root.join("loose.jpg"), &jpeg(8, 8, 1));
    let source = folder(&root, &packs, false).unwrap();
    assert_eq!(labels(&*source).1, [0]);
    let said: Vec<String> = source.ignored().iter().map(|file| file.path.display().to_string()).collect();
    let expected = ["loose.jpg", "val"].map(|name| root.join(name).display().to_string());
    assert_eq!(said, expected, "`val` is not read beside `test`");
}

/// What a flat folder gives must not change: results name its fingerprint. This one is Python's, of
/// the bytes, labels and seeded split as the first version put them together.
#[test]
fn a_flat_folder_is_what_it_was() {
    let home = Home::new();
    let (root, packs) = (home.path().join("my"), home.path().join("packs"));
    for (class, first) in [("b", 0), ("a", 50), ("Zebra", 100)] {
        for i in 0..7u8 {
            write(&root.join(class).join(format!("{i}.bmp")), &crate::support::raw::bmp([first + i, i, 3]));
        }
    }
    std::fs::create_dir_all(root.join("empty")).unwrap();
    let source = folder(&root, &packs, false).unwrap();
    assert_eq!(source.class_names(), ["Zebra", "a", "b", "empty"], "also a class without images");
    assert_eq!(source.sha256(), "ffe49829c03d76bff2fda0375ce56e05a3b5a5942173d3c92e501bbbb301a789");
}
