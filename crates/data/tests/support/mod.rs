//! Small archives in each official layout, and a server to fetch them from.

#![allow(dead_code, clippy::unwrap_used, reason = "each test uses a part; a test that cannot go on has failed")]

pub mod dice;
pub mod fuzzing;
pub mod pickle;
pub mod pixels;
pub mod raw;
pub mod real;
pub mod server;

use std::{
    io::{Cursor, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use flate2::{Compression, write::GzEncoder};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use rehearsal_data::{
    DataError, Dataset, Request, Source,
    fetch::{Fetch, Timeouts},
};

/// An image whose red is the column, green the row and blue `blue`: no flip or transposition leaves
/// it as it is.
pub fn picture(width: u32, height: u32, blue: u8) -> DynamicImage {
    RgbImage::from_fn(width, height, |x, y| Rgb([(x * 6) as u8, (y * 9) as u8, blue])).into()
}

pub fn encode(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

pub fn png(width: u32, height: u32, blue: u8) -> Vec<u8> {
    encode(&picture(width, height, blue), ImageFormat::Png)
}

/// Of high quality: pixels are nearly what they were.
pub fn jpeg(width: u32, height: u32, blue: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 100);
    picture(width, height, blue).write_with_encoder(encoder).unwrap();
    bytes
}

/// Writes a file, and makes its directory.
pub fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

pub type Files = Vec<(String, Vec<u8>)>;

pub fn tar(files: &Files) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn tar_gz(files: &Files) -> Vec<u8> {
    gzip(&tar(files))
}

pub fn zip(files: &Files) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, bytes) in files {
        writer.start_file(name.as_str(), options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A CIFAR record with those label bytes: red is the column, green the row, blue is `blue`.
pub fn cifar_record(labels: &[u8], blue: u8) -> Vec<u8> {
    let red = (0..1024).map(|i| (i % 32) as u8);
    let green = (0..1024).map(|i| (i / 32) as u8);
    labels.iter().copied().chain(red).chain(green).chain([blue; 1024]).collect()
}

/// `cifar-100-binary.tar.gz` with three training records and one test record.
pub fn cifar100() -> Vec<u8> {
    cifar100_of([cifar_record(&[3, 99], 7), cifar_record(&[4, 12], 8), cifar_record(&[4, 12], 9)].concat())
}

/// `cifar-100-binary.tar.gz` with these training records.
pub fn cifar100_of(train: Vec<u8>) -> Vec<u8> {
    let names: String = (0..100).map(|i| format!("class{i:02}\n")).collect();
    tar_gz(&vec![
        ("cifar-100-binary/train.bin".into(), train),
        ("cifar-100-binary/test.bin".into(), cifar_record(&[0, 5], 10)),
        ("cifar-100-binary/fine_label_names.txt".into(), names.into_bytes()),
    ])
}

/// A home for data in a temporary directory.
pub struct Home(pub tempfile::TempDir);

impl Home {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file fetched by hand.
    pub fn by_hand(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join("by-hand").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Fetches from files, whose checksums are not the official ones.
    pub fn fetch(&self, dataset: Dataset, files: &[(&str, Vec<u8>)]) -> Result<PathBuf, DataError> {
        let from: Vec<PathBuf> = files.iter().map(|(name, bytes)| self.by_hand(name, bytes)).collect();
        Fetch { from: &from, ..self.fetching() }.dataset(dataset)
    }

    pub fn fetching(&self) -> Fetch<'_> {
        let wait = std::time::Duration::from_millis(1);
        let silence = std::time::Duration::from_secs(5);
        Fetch {
            home: self.path(),
            mirror: None,
            from: &[],
            trust: true,
            keep: false,
            part: true, // archives of tests have a few images
            timeouts: Timeouts { tries: 4, wait, silence, ..Timeouts::default() },
            progress: &(),
        }
    }

    pub fn request(&self) -> Request<'_> {
        Request { directory: Some(self.path()), ..Request::default() }
    }

    pub fn open(&self, dataset: Dataset, size: Option<usize>) -> Result<Arc<dyn Source>, DataError> {
        dataset.open(&Request { size, ..self.request() })
    }
}
