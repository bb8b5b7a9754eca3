//! No bytes make a reader panic, hang or fill memory: good files, damaged at random in every way
//! that a seeded generator thinks of.
//!
//! Each reader gets `REHEARSAL_FUZZ_SECONDS` (5 unless set; 15 in `.ci/run`, which is a minute for
//! all seven on 2 cores) and the tests run in parallel; the seed is the number of the round, so
//! that what fails fails again. A failure prints the bytes as hexadecimal.

use std::path::Path;

use crate::support::{Files, encode, fuzzing::fuzz, picture, png, raw, tar, tar_gz, zip};
use image::ImageFormat;
use rehearsal_data::{
    Dataset, Interpolation, Request,
    decode::{decode, fit},
    idx, pickle,
    unpack::{Kind, Limits, Unpacking},
};

#[test]
fn idx_files() {
    let images = [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3][..], &[7; 12]].concat();
    let labels = vec![0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3];
    fuzz(&[images, labels], |bytes| {
        let _ = idx::images(bytes, Path::new("x"));
        let _ = idx::labels(bytes, 10, Path::new("x"));
    });
}

#[test]
fn cifar_records() {
    let home = tempfile::tempdir().unwrap();
    let names: String = (0..100).map(|i| format!("{i}\n")).collect();
    std::fs::write(home.path().join("fine_label_names.txt"), names).unwrap();
    std::fs::write(home.path().join("test.bin"), crate::support::cifar_record(&[1, 2], 3)).unwrap();
    let records = [crate::support::cifar_record(&[1, 2], 3), crate::support::cifar_record(&[4, 99], 6)];
    fuzz(&[records.concat(), records[0].clone()], |bytes| {
        std::fs::write(home.path().join("train.bin"), bytes).unwrap();
        let request = Request { directory: Some(home.path()), ..Request::default() };
        if let Ok(source) = Dataset::Cifar100.open(&request) {
            (0..source.labels(rehearsal_data::Split::Train).len())
                .for_each(|i| drop(source.image(rehearsal_data::Split::Train, i).unwrap()));
        }
    });
}

#[test]
fn pickles() {
    let two = b"\x80\x02}q\x00(U\x0aimage_datacnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b\x87R(K\x01(K\x01K\x01K\x02K\x03tcnumpy\ndtype\nq\x03U\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x06abcdeftbU\x0aclass_dict}(U\x01x](K\x00K\x01euu.";
    let four = b"\x80\x04\x95\x2a\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x00M\x01\x02J\x01\x02\x03\x04\x8a\x02\xff\x7feh\x02\x8c\x05numpy\x8c\x05dtype\x93\x8c\x02i8\x89\x88\x87R0u.";
    let encode = b"\x80\x02c_codecs\nencode\nX\x03\x00\x00\x00abcX\x06\x00\x00\x00latin1\x86R.";
    assert!([&two[..], four, encode].iter().all(|good| pickle::read(good).is_ok()));
    fuzz(&[two.to_vec(), four.to_vec(), encode.to_vec()], |bytes| {
        if let Ok(pickle) = pickle::read(bytes) {
            let root = pickle.root();
            let _ = (root.text(), root.int(), root.ints(), root.array().map(|array| array.bytes().map(<[u8]>::len)));
            let _ = root.get("image_data").and_then(pickle::Value::array).map(|array| array.shape().len());
            root.entries().into_iter().flatten().for_each(|(key, value)| drop((key.text(), value.ints())));
        }
    });
}

fn archives(kind: Kind, good: &[Vec<u8>]) {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("inside");
    std::fs::create_dir(&inside).unwrap();
    let (archive, to) = (inside.join("archive"), inside.join("to"));
    fuzz(good, |bytes| {
        std::fs::write(&archive, bytes).unwrap();
        let limits = Limits { bytes: 100_000, entries: 50 };
        let unpacking = Unpacking { archive: &archive, kind, limits, to: &to, wanted: &|_| true, progress: &() };
        if unpacking.run().is_ok() {
            std::fs::remove_dir_all(&to).unwrap();
        }
        let left = std::fs::read_dir(&inside).unwrap().count();
        assert_eq!(
            (left, std::fs::read_dir(&directory).unwrap().count()),
            (1, 1),
            "nothing is left, inside or outside"
        );
    });
}

fn files() -> Files {
    vec![("a/b.txt".into(), b"hello".to_vec()), ("c/../d".replace("..", "x"), vec![7; 700]), ("e".repeat(150), vec![1])]
}

#[test]
fn tar_archives() {
    archives(Kind::Tar, &[tar(&files())]);
}

#[test]
fn tar_gz_archives() {
    archives(Kind::TarGz, &[tar_gz(&files())]);
}

#[test]
fn zip_archives() {
    archives(Kind::Zip, &[zip(&files())]);
}

#[test]
fn images() {
    let small = picture(13, 9, 40);
    let formats =
        [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Tiff, ImageFormat::Bmp, ImageFormat::Gif];
    let mut good: Vec<Vec<u8>> = formats.iter().map(|&format| encode(&small, format)).collect();
    good.push(encode(&small.grayscale(), ImageFormat::Jpeg));
    good.push(encode(&small.to_rgba8().into(), ImageFormat::Png));
    good.push(png(40, 3, 9));
    let blocks = [vec![1, 2, 3, 4], vec![250, 3, 77, 200]];
    good.push(raw::jpeg(&blocks, 2, raw::Adobe::Ycck, Some(&raw::exif(6, true))));
    good.push(raw::tiff(3, 8, 4, 5, &[9; 24], Some(5)));
    fuzz(&good, |bytes| {
        if let Ok(picture) = decode(bytes) {
            assert_eq!(picture.pixels.len(), 3 * picture.height * picture.width);
            if picture.pixels.len() < 1 << 22 {
                fit((&picture).into(), (8, 8), 0.875, Interpolation::Bicubic, &mut [0; 192]);
            }
        }
    });
}
