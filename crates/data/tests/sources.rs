//! Every data set, from archive bytes to the right pixels of a known image and the right label.

use crate::support::{
    Files, Home, cifar_record, cifar100, encode, gzip, jpeg,
    pickle::pickled,
    picture,
    pixels::{assert_middle, labels, pixel},
    png, tar, tar_gz, write, zip,
};
use rehearsal_data::{Dataset, ImageShape, Request, Split};

#[test]
fn cifar100_from_its_tarball() {
    let home = Home::new();
    home.fetch(Dataset::Cifar100, &[("cifar-100-binary.tar.gz", cifar100())]).unwrap();
    let source = home.open(Dataset::Cifar100, None).unwrap();
    assert_eq!(labels(&*source), (vec![99, 12, 12], vec![5]));
    assert_eq!(pixel(&*source, Split::Train, 1, (2, 30)), [30, 2, 8]);
    assert_eq!(source.class_names()[5], "class05");
    assert!(!home.path().join("downloads").exists(), "a file fetched by hand is left where it is");
}

#[test]
fn cifar10_from_its_tarball() {
    let home = Home::new();
    let file = |name: &str, bytes: Vec<u8>| (format!("cifar-10-batches-bin/{name}"), bytes);
    let mut files: Files = (1..=5).map(|i| file(&format!("data_batch_{i}.bin"), cifar_record(&[i], i))).collect();
    files.push(file("test_batch.bin", cifar_record(&[9], 77)));
    files.push(file(
        "batches.meta.txt",
        "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n".into(),
    ));
    home.fetch(Dataset::Cifar10, &[("cifar-10-binary.tar.gz", tar_gz(&files))]).unwrap();
    let source = home.open(Dataset::Cifar10, None).unwrap();
    assert_eq!(labels(&*source), (vec![1, 2, 3, 4, 5], vec![9]));
    assert_eq!(pixel(&*source, Split::Train, 3, (31, 4)), [4, 31, 4]);
    let larger = home.open(Dataset::Cifar10, Some(64)).unwrap();
    assert_eq!(larger.shape(), ImageShape { height: 64, width: 64, channels: 3 });
    assert_eq!(pixel(&*larger, Split::Test, 0, (63, 0)), [0, 31, 77], "any data set can be had in another size");
}

/// An idx file of images of 2 rows and 3 columns.
fn idx_images(images: &[[u8; 6]]) -> Vec<u8> {
    let header = [[0, 0, 8, 3], (images.len() as u32).to_be_bytes(), [0, 0, 0, 2], [0, 0, 0, 3]].concat();
    gzip(&[header, images.concat()].concat())
}

fn idx_labels(labels: &[u8]) -> Vec<u8> {
    gzip(&[&[0, 0, 8, 1][..], &(labels.len() as u32).to_be_bytes(), labels].concat())
}

#[test]
fn fashion_mnist_from_its_four_files() {
    let home = Home::new();
    let files = [
        ("train-images-idx3-ubyte.gz", idx_images(&[[1, 2, 3, 4, 5, 6], [9, 8, 7, 6, 5, 4]])),
        ("train-labels-idx1-ubyte.gz", idx_labels(&[3, 9])),
        ("t10k-images-idx3-ubyte.gz", idx_images(&[[10, 20, 30, 40, 50, 60]])),
        ("t10k-labels-idx1-ubyte.gz", idx_labels(&[1])),
    ];
    home.fetch(Dataset::FashionMnist, &files).unwrap();
    let source = home.open(Dataset::FashionMnist, None).unwrap();
    assert_eq!(source.shape(), ImageShape { height: 2, width: 3, channels: 1 });
    assert_eq!(labels(&*source), (vec![3, 9], vec![1]));
    assert_eq!(pixel(&*source, Split::Train, 1, (1, 0)), [6]);
    assert_eq!(pixel(&*source, Split::Test, 0, (0, 2)), [30]);
}

#[test]
fn core50_from_its_zip() {
    let home = Home::new();
    let mut files = Files::new();
    for (session, object, frame) in
        [(1, 1, 0), (1, 1, 1), (1, 1, 3), (2, 50, 6), (11, 7, 297), (3, 7, 0), (10, 7, 3), (10, 7, 4)]
    {
        let name = format!("core50_128x128/s{session}/o{object}/C_{session:02}_{object:02}_{frame:03}.png");
        files.push((name, png(12, 8, (10 * session + object) as u8)));
    }
    home.fetch(Dataset::Core50, &[("core50_128x128.zip", zip(&files))]).unwrap();
    let source = home.open(Dataset::Core50, Some(8)).unwrap();
    assert_eq!(labels(&*source), (vec![0, 0, 49, 6], vec![6, 6]), "every third frame");
    assert_eq!(source.domains(Split::Train), [0, 0, 1, 10]);
    assert_eq!(source.domains(Split::Test), [2, 9]);
    assert_eq!((&*source.domain_names()[10], &*source.class_names()[6]), ("session 11", "mobile phone 2"));
    assert_middle(&*source, Split::Train, 2, 12, 70, 0);
    assert_middle(&*source, Split::Test, 1, 12, 107, 0);
}

#[test]
fn core50_has_at_most_two_hundred_test_images_of_an_object() {
    let home = Home::new();
    let image = png(2, 2, 0);
    let name = |session: u32, frame: u32| format!("core50_128x128/s{session}/o4/C_{session:02}_04_{frame:03}.png");
    let files = [1, 3, 7, 10].iter().flat_map(|&s| (0..360).step_by(3).map(move |f| (s, f)));
    let files: Files = files.map(|(session, frame)| (name(session, frame), image.clone())).collect();
    home.fetch(Dataset::Core50, &[("core50_128x128.zip", zip(&files))]).unwrap();
    let source = home.open(Dataset::Core50, Some(2)).unwrap();
    assert_eq!((source.labels(Split::Train).len(), source.labels(Split::Test).len()), (120, 200));
    let of = |session: u16| source.domains(Split::Test).iter().filter(|&&domain| domain + 1 == session).count();
    assert_eq!([of(3), of(7), of(10)], [67, 67, 66], "evenly from all three sessions");
}

#[test]
fn food100_from_its_tarball() {
    let home = Home::new();
    let mut files = Files::new();
    let (mut train, mut test) = (Vec::new(), Vec::new());
    // 101 classes, in an order that is not the alphabet's; the last by name is not used.
    for class in (0..101).rev() {
        let name = format!("dish_{class:03}");
        files.push((format!("food-101/images/{name}/1.jpg"), jpeg(12, 8, class as u8)));
        files.push((format!("food-101/images/{name}/2.jpg"), jpeg(16, 8, 100 + class as u8)));
        train.push(format!("\"{name}\": [\"{name}/2\"]"));
        test.push(format!("\"{name}\": [\"{name}/1\"]"));
    }
    files.push(("food-101/meta/train.json".into(), format!("{{{}}}", train.join(",")).into()));
    files.push(("food-101/meta/test.json".into(), format!("{{{}}}", test.join(",")).into()));
    home.fetch(Dataset::Food100, &[("food-101.tar.gz", tar_gz(&files))]).unwrap();
    let source = home.open(Dataset::Food100, Some(8)).unwrap();
    assert_eq!(labels(&*source), ((0..100).collect(), (0..100).collect()));
    assert_eq!(source.class_names()[99], "dish_099");
    assert_middle(&*source, Split::Train, 42, 16, 142, 6);
    assert_middle(&*source, Split::Test, 42, 12, 42, 6);
    let squeezed = home.open(Dataset::Food100, Some(4)).unwrap();
    let is = pixel(&*squeezed, Split::Test, 42, (1, 2));
    // Antialiased to half its size: the mean of about columns 4 and 5 of the middle, and rows 2 and
    // 3.
    assert!(is.iter().zip([39u8, 23, 42]).all(|(is, should)| is.abs_diff(should) <= 6), "{is:?}");
}

#[test]
fn places100_from_its_three_tarballs() {
    let home = Home::new();
    let categories: String =
        (0..365).map(|i| format!("/{}/place_{i:03}/outdoor {i}\n", if i < 50 { 'a' } else { 'b' })).collect();
    let categories = categories.replace("/a/place_000/outdoor", "/a/airfield");
    let train_list = "/a/airfield/00000001.jpg 0\n/a/place_007/outdoor/00000001.jpg 7\n/b/place_099/outdoor/00000005.jpg 99\n\
                      /b/place_100/outdoor/00000001.jpg 100\n";
    let val_list = "Places365_val_00000001.jpg 165\nPlaces365_val_00000002.jpg 7\n";
    let lists = vec![
        ("categories_places365.txt".into(), categories.into_bytes()),
        ("places365_train_standard.txt".into(), train_list.into()),
        ("places365_val.txt".into(), val_list.into()),
    ];
    let train = [
        "a/airfield/00000001",
        "a/place_007/outdoor/00000001",
        "b/place_099/outdoor/00000005",
        "b/place_100/outdoor/00000001",
    ];
    let train: Files =
        train.iter().enumerate().map(|(i, name)| (format!("data_256/{name}.jpg"), jpeg(12, 8, 10 * i as u8))).collect();
    let val: Files = (1..=2).map(|i| (format!("val_256/Places365_val_0000000{i}.jpg"), jpeg(20, 8, 100 + i))).collect();
    let directory = home
        .fetch(
            Dataset::Places100,
            &[
                ("filelist_places365-standard.tar", tar(&lists)),
                ("val_256.tar", tar(&val)),
                ("train_256_places365standard.tar", tar(&train)),
            ],
        )
        .unwrap();
    let source = home.open(Dataset::Places100, Some(8)).unwrap();
    assert_eq!(labels(&*source), (vec![0, 7, 99], vec![7]));
    assert_eq!((&*source.class_names()[0], &*source.class_names()[7]), ("airfield", "place_007/outdoor"));
    assert_middle(&*source, Split::Train, 2, 12, 20, 6);
    assert_middle(&*source, Split::Test, 0, 20, 102, 6);
    assert!(directory.join("train/data_256/b/place_099/outdoor/00000005.jpg").exists());
    assert!(!directory.join("train/data_256/b/place_100").exists(), "what is not used is not unpacked");
    assert!(!directory.join("val/val_256/Places365_val_00000001.jpg").exists());
}

#[test]
fn tiny_imagenet_from_its_zip() {
    let home = Home::new();
    let wnids: Vec<String> = (0..200).rev().map(|i| format!("n{i:08}")).collect();
    let mut files: Files = vec![
        ("tiny-imagenet-200/wnids.txt".into(), wnids.join("\n").into_bytes()),
        (
            "tiny-imagenet-200/words.txt".into(),
            "n00000001\tgoldfish, Carassius auratus\nn00000002\tcrane\nn00000003\tcrane\n".into(),
        ),
    ];
    let mut annotations = String::new();
    for i in 0..200 {
        let grey = encode(&picture(12, 8, 0).grayscale(), image::ImageFormat::Jpeg);
        let train = if i == 50 { grey } else { jpeg(12, 8, i as u8) };
        files.push((format!("tiny-imagenet-200/train/n{i:08}/images/n{i:08}_0.JPEG"), train));
        files.push((format!("tiny-imagenet-200/val/images/val_{i}.JPEG"), jpeg(16, 8, i as u8)));
        annotations += &format!("val_{i}.JPEG\tn{i:08}\t0\t32\t44\t62\n");
    }
    files.push(("tiny-imagenet-200/val/val_annotations.txt".into(), annotations.into_bytes()));
    home.fetch(Dataset::TinyImagenet, &[("tiny-imagenet-200.zip", zip(&files))]).unwrap();
    let source = home.open(Dataset::TinyImagenet, Some(8)).unwrap();
    assert_eq!(labels(&*source), ((0..100).collect(), (0..100).collect()));
    assert_eq!(source.class_names()[..4], ["n00000000", "goldfish", "n00000002", "n00000003"]);
    assert_middle(&*source, Split::Train, 3, 12, 3, 6);
    assert_middle(&*source, Split::Test, 99, 16, 99, 6);
    let grey = pixel(&*source, Split::Train, 50, (5, 2));
    assert!(grey[0] == grey[1] && grey[1] == grey[2], "grey in three channels: {grey:?}");
    let all = Dataset::TinyImagenet.open(&Request { classes: Some(200), size: Some(8), ..home.request() }).unwrap();
    assert_eq!(all.labels(Split::Test).len(), 200);
}

#[test]
fn mini_imagenet_from_its_pickles() {
    let home = Home::new();
    let twelve = |class: &'static str, first: u8| (0..12).map(move |i| (class, first + i));
    let train: Vec<_> = twelve("n02", 20).chain(twelve("n01", 0)).collect();
    let files = [
        ("mini-imagenet-cache-train.pkl", pickled(&train)),
        ("mini-imagenet-cache-val.pkl", pickled(&twelve("n00", 60).collect::<Vec<_>>())),
        ("mini-imagenet-cache-test.pkl", pickled(&twelve("n03", 80).collect::<Vec<_>>())),
    ];
    home.fetch(Dataset::MiniImagenet, &files).unwrap();
    let source = home.open(Dataset::MiniImagenet, None).unwrap();
    assert_eq!(source.shape(), ImageShape { height: 8, width: 12, channels: 3 }, "as it is, and not square");
    assert_eq!(source.class_names(), ["n00", "n01", "n02", "n03"]);
    let count = |split, label| source.labels(split).iter().filter(|&&other| other == label).count();
    assert!((0..4).all(|label| (count(Split::Train, label), count(Split::Test, label)) == (10, 2)));
    let firsts = [60, 0, 20, 80];
    for split in Split::BOTH {
        for (index, &label) in source.labels(split).iter().enumerate() {
            let is = pixel(&*source, split, index, (5, 10));
            assert_eq!(is[..2], [60, 45], "row 5, column 10");
            assert!((firsts[usize::from(label)]..).take(12).any(|blue| blue == is[2]), "{label}: {is:?}");
        }
    }
    let small = home.open(Dataset::MiniImagenet, Some(4)).unwrap();
    assert_eq!(small.image(Split::Test, 0).unwrap().len(), 4 * 4 * 3);
}

#[test]
fn mini_imagenet_from_a_folder_of_classes() {
    let home = Home::new();
    for class in ["n01532829", "n01558993"] {
        for i in 0..12u8 {
            write(&home.path().join(class).join(format!("{class}{i:08}.jpg")), &jpeg(12, 8, 10 * i));
        }
    }
    let packs = home.path().join("elsewhere");
    let request = Request { size: Some(8), packs: Some(&packs), ..home.request() };
    let source = Dataset::MiniImagenet.open(&request).unwrap();
    assert_eq!((source.labels(Split::Train).len(), source.labels(Split::Test).len()), (20, 4));
    assert_eq!(labels(&*source).1, [0, 0, 1, 1]);
}

/// The public split: 64, 16 and 20 classes in `train`, `val` and `test`. Each is split as if all lay
/// in one folder.
#[test]
fn mini_imagenet_from_its_public_folders() {
    let home = Home::new();
    let (flat, split) = (home.path().join("flat"), home.path().join("split"));
    let classes = [("n01532829", "train"), ("n01558993", "val"), ("n01704323", "test"), ("n01749939", "train")];
    for (class, part) in classes {
        for i in 0..12u8 {
            let file = format!("{class}/{class}{i:08}.jpg");
            write(&flat.join(&file), &jpeg(12, 8, 10 * i));
            write(&split.join(part).join(&file), &jpeg(12, 8, 10 * i));
        }
    }
    write(&split.join("train.csv"), b"filename,label");
    let packs = home.path().join("elsewhere");
    let open = |root: &std::path::Path| {
        Dataset::MiniImagenet.open(&Request {
            directory: Some(root),
            size: Some(8),
            packs: Some(&packs),
            ..Request::default()
        })
    };
    let (flat, parts) = (open(&flat).unwrap(), open(&split).unwrap());
    assert_eq!(parts.class_names(), classes.map(|(class, _)| class));
    assert_eq!((labels(&*parts), parts.sha256()), (labels(&*flat), flat.sha256()), "the same data set");
    assert!(parts.ignored()[0].path.ends_with("train.csv"));
    // A class that is in two folders is split as the folders say.
    for i in 0..3u8 {
        write(&split.join(format!("val/n01532829/more{i}.jpg")), &jpeg(12, 8, i));
    }
    let kept = open(&split).unwrap();
    let count = |split| kept.labels(split).iter().filter(|&&label| label == 0).count();
    assert_eq!((count(Split::Train), count(Split::Test)), (12, 3));
}
