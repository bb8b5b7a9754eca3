//! A class-balanced subset of Fashion-MNIST inside the program, so that the first run needs no download: 10 classes × (250 train + 100 test)
//! grey images of 28×28. Fashion-MNIST is by Zalando SE under the MIT licence; `scripts/make_embedded.py` made the files.

use std::{io::Read, path::Path, sync::Arc};

use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

use super::{DataError, Source, Split, hexadecimal, idx};
use crate::sample::{Image, ImageShape};

const CLASSES: [&str; 10] =
    ["t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"];

/// One idx file, its name for errors and its bytes.
struct Packed {
    name: &'static str,
    bytes: &'static [u8],
}

macro_rules! packed {
    ($name:literal) => {
        Packed { name: $name, bytes: include_bytes!(concat!("../../data/embedded/", $name)) }
    };
}

const TRAIN: [Packed; 2] = [packed!("train-images-idx3-ubyte.gz"), packed!("train-labels-idx1-ubyte.gz")];
const TEST: [Packed; 2] = [packed!("t10k-images-idx3-ubyte.gz"), packed!("t10k-labels-idx1-ubyte.gz")];

struct Part {
    labels: Vec<u16>,
    images: Vec<Image>,
}

pub(super) struct Embedded {
    shape: ImageShape,
    names: Vec<String>,
    train: Part,
    test: Part,
    sha256: String,
}

/// Unpacks the data set.
pub(super) fn open() -> Result<Embedded, DataError> {
    let mut digest = Sha256::new();
    let (shape, train) = part(&TRAIN, &mut digest)?;
    let (_, test) = part(&TEST, &mut digest)?;
    Ok(Embedded { shape, names: CLASSES.map(String::from).to_vec(), train, test, sha256: hexadecimal(digest) })
}

fn part([images, labels]: &[Packed; 2], digest: &mut Sha256) -> Result<(ImageShape, Part), DataError> {
    let bytes = unpack(labels, digest)?;
    let labels = idx::labels(&bytes, CLASSES.len(), Path::new(labels.name))?;
    let bytes = unpack(images, digest)?;
    let idx::Images { height, width, pixels } = idx::images(&bytes, Path::new(images.name))?;
    let images = pixels.chunks_exact(height * width).map(Arc::from).collect();
    Ok((ImageShape { height, width, channels: 1 }, Part { labels, images }))
}

fn unpack(file: &Packed, digest: &mut Sha256) -> Result<Vec<u8>, DataError> {
    let mut bytes = Vec::new();
    GzDecoder::new(file.bytes)
        .read_to_end(&mut bytes)
        .map_err(|error| DataError::Unreadable { path: file.name.into(), error })?;
    digest.update(&bytes);
    Ok(bytes)
}

impl Embedded {
    fn part(&self, split: Split) -> &Part {
        match split {
            Split::Train => &self.train,
            Split::Test => &self.test,
        }
    }
}

impl Source for Embedded {
    fn shape(&self) -> ImageShape {
        self.shape
    }

    fn class_names(&self) -> &[String] {
        &self.names
    }

    fn labels(&self, split: Split) -> &[u16] {
        &self.part(split).labels
    }

    fn image(&self, split: Split, index: usize) -> Result<Image, DataError> {
        Ok(self.part(split).images[index].clone())
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_every_class_equally_often() {
        let data = open().unwrap();
        assert_eq!(data.shape(), ImageShape { height: 28, width: 28, channels: 1 });
        for (split, per_class) in [(Split::Train, 250), (Split::Test, 100)] {
            for class in 0..10 {
                let count = data.labels(split).iter().filter(|&&label| label == class).count();
                assert_eq!(count, per_class, "class {class} of {split:?}");
            }
            assert_eq!(data.image(split, 10 * per_class - 1).unwrap().len(), 784);
        }
    }

    #[test]
    fn trousers_have_two_legs() {
        let data = open().unwrap();
        let first = data.labels(Split::Train).iter().position(|&label| label == 1).unwrap();
        let image = data.image(Split::Train, first).unwrap();
        let row = &image[24 * 28..25 * 28];
        let legs = row.windows(2).filter(|pair| pair[0] < 64 && pair[1] >= 64).count();
        assert_eq!(legs, 2, "near the hem a row of trousers crosses two legs: {row:?}");
    }
}
