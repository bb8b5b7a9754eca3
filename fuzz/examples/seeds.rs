//! Writes files to begin with: `seeds CORPUS`, a directory for each target. They are those of the tests.

// What is instrumented needs libFuzzer's counters, also here.
use libfuzzer_sys as _;

#[path = "../../crates/data/tests/support/mod.rs"]
mod support;

use std::{fs, path::Path};

use image::ImageFormat;
use support::{cifar_record, encode, pickle, picture, png, raw, tar, tar_gz, zip};

fn main() {
    let corpus = std::env::args().nth(1).expect("seeds CORPUS");
    for (target, files) in seeds() {
        let directory = Path::new(&corpus).join(target);
        fs::create_dir_all(&directory).expect("it can be made");
        for (i, bytes) in files.iter().enumerate() {
            fs::write(directory.join(format!("seed{i:02}")), bytes).expect("it can be written");
        }
    }
}

fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let mut all = vec![
        ("pickle", vec![pickle::pickled(&[("a", 1), ("b", 2)]), pickle::of_shape([1, 2, 2, 3], &[("x", 3)])]),
        ("idx", vec![vec![0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 3], [&[0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3][..], &[7; 6]].concat()]),
        ("cifar", vec![cifar_record(&[1, 2], 3), [cifar_record(&[1, 2], 3), cifar_record(&[4, 99], 6)].concat()]),
        ("image", images()),
        ("archive", archives()),
        ("pack", vec![vec![0, 0, b'x'], vec![2, 16, 9, 0xff, 0xff, 0]]),
        ("text", text()),
        ("request", requests()),
    ];
    all.extend(model());
    all
}

fn images() -> Vec<Vec<u8>> {
    let small = picture(13, 9, 40);
    let formats =
        [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Tiff, ImageFormat::Bmp, ImageFormat::Gif];
    let mut files: Vec<Vec<u8>> = formats.iter().map(|&format| encode(&small, format)).collect();
    files.push(encode(&small.grayscale(), ImageFormat::Jpeg));
    files.push(encode(&small.to_rgba8().into(), ImageFormat::Png));
    files.push(png(40, 3, 9));
    let blocks = [vec![1, 2, 3, 4], vec![250, 3, 77, 200]];
    for orientation in 0..10 {
        let exif = raw::exif(orientation, orientation % 2 == 0);
        files.push(raw::jpeg(&blocks, 2, raw::Adobe::Ycck, Some(&exif)));
    }
    files.push(raw::tiff(3, 8, 4, 5, &[9; 24], Some(5)));
    files
}

/// The first byte says which parser it is for.
fn requests() -> Vec<Vec<u8>> {
    let config = "<View><Image name='p' value='$image'/><Choices name='k' toName='p'><Choice value='a'/></Choices></View>";
    let texts = [
        "--XX\r\nContent-Disposition: form-data; name=\"class\"\r\n\r\na\r\n--XX\r\nContent-Disposition: form-data; name=\"p\"; filename=\"1.gif\"\r\n\r\nGIF\r\n--XX--\r\n",
        r#"{"photos": [{"class": "a", "name": "1.gif", "image": "data:image/gif;base64,R0lG"}]}"#,
        "",
        "a/b.jpg",
        r#"{"inputs": "R0lG", "parameters": {"top_k": 3}}"#,
        r#"{"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1], "data": ["R0lG"]}]}"#,
        config,
    ];
    let mut all: Vec<Vec<u8>> = texts.iter().zip(0u8..).map(|(text, parser)| [&[parser], text.as_bytes()].concat()).collect();
    all.push([&[2], &zip(&vec![("a/1.gif".into(), vec![7; 30])])[..]].concat());
    let tasks = format!(r#"{{"tasks": [{{"id": 1, "data": {{"image": "data:image/gif;base64,R0lG"}}}}], "label_config": "{config}"}}"#);
    all.push([&[6], tasks.as_bytes()].concat());
    all
}

/// The first byte says which kind it is.
fn archives() -> Vec<Vec<u8>> {
    let files = vec![("a/b.txt".into(), b"hello".to_vec()), ("d".into(), vec![7; 700]), ("e".repeat(150), vec![1])];
    let kinds = [tar(&files), tar_gz(&files), zip(&files)];
    kinds.iter().zip(0u8..).map(|(archive, kind)| [&[kind], &archive[..]].concat()).collect()
}

/// The first byte says which reader it is for.
fn text() -> Vec<Vec<u8>> {
    let result = include_str!("../../crates/runs/tests/result.json");
    let texts = [
        result,
        "{\"task\":1,\"batches\":6}\n",
        "pcr-balanced-seed0",
        "{\"index\":0,\"name\":\"seed0\",\"settings\":{\"seed\":0}}\n{\"index\":1,\"name\":\"seed1\",\"settings\":{\"seed\":1}}\n",
        "[fixed]\nlr = 0.1\n[axes]\nseed = [0, 1]\nmethod = ['er', 'pcr']\n[[exclude]]\nmethod = 'er'\nseed = 1\n",
        "{\n  \"accuracy\": 0.5,\n  \"files\": {},\n  \"sha256\": \"00\"\n}\n",
    ];
    texts.iter().zip(0u8..).map(|(text, reader)| [&[reader], text.as_bytes()].concat()).collect()
}

#[cfg(feature = "model")]
fn model() -> Option<(&'static str, Vec<Vec<u8>>)> {
    use rehearsal::{Learner, config::PartialConfig};
    let place = tempfile::tempdir().expect("a directory can be made");
    let save = |settings: &str| {
        let settings = PartialConfig::parse(settings).expect("these are settings");
        let mut learner = Learner::builder().size(8).settings(&settings).build().expect("it is small");
        let images: Vec<_> = (0..6u8).map(|i| vec![40 * i; 192].into()).collect();
        learner.learn_task(&images, &["a", "b", "a", "b", "a", "b"]).expect("it learns");
        learner.recalibrate();
        let path = place.path().join("model.safetensors");
        learner.save(&path).expect("it can be saved");
        fs::read(path).expect("it can be read")
    };
    let base = "backbone = 'tiny'\nwidth = 1\nbatch = 2\nretrieved = 2\ncandidates = 3\nmemory = 4\nthreads = 1\n";
    let methods = ["method = 'pcr'\n", "method = 'cls-er'\nretrieval = 'random'\n", "method = 'der-pp'\nretrieval = 'random'\nmomentum = 0.9\n"];
    Some(("model", methods.iter().map(|method| save(&format!("{base}{method}"))).collect()))
}

#[cfg(not(feature = "model"))]
fn model() -> Option<(&'static str, Vec<Vec<u8>>)> {
    None
}
