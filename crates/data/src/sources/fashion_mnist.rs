//! Fashion-MNIST: four idx files, compressed by gzip. Grey images of 28×28 in ten classes.

use std::{io::Read, path::Path};

use flate2::read::GzDecoder;
use rehearsal_files::{
    regular::{self, read_limited},
    sha256::finish,
};
use sha2::{Digest, Sha256};

use crate::{
    DataError, Image, ImageShape, InMemory,
    files::{read, unreadable},
    idx,
};

pub(super) const CLASSES: [&str; 10] =
    ["t-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"];

/// Images and labels of a split.
const TRAIN: [&str; 2] = ["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"];
const TEST: [&str; 2] = ["t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"];

/// More than any file of it unpacks to.
const MOST_BYTES: u64 = 1 << 30;

/// Opens the four files in `directory`.
pub(crate) fn open(directory: &Path) -> Result<InMemory, DataError> {
    let files = |names: [&str; 2]| names.map(|name| directory.join(name));
    let [train, test] = [files(TRAIN), files(TEST)];
    let bytes = |path: &Path| read(path, "an idx file, compressed by gzip");
    unpack_all([
        [(&train[0], &bytes(&train[0])?), (&train[1], &bytes(&train[1])?)],
        [(&test[0], &bytes(&test[0])?), (&test[1], &bytes(&test[1])?)],
    ])
}

/// The number of training and test images, from the headers of the files.
pub(crate) fn count(directory: &Path) -> Result<(usize, usize), DataError> {
    let images = |name: &str| -> Result<usize, DataError> {
        let path = directory.join(name);
        let file = regular::open(&path, MOST_BYTES).map_err(unreadable(&path))?;
        let mut header = [0; idx::IMAGES_HEADER];
        GzDecoder::new(file).read_exact(&mut header).map_err(unreadable(&path))?;
        idx::count(&header, &path)
    };
    Ok((images(TRAIN[0])?, images(TEST[0])?))
}

/// Reads train and test: compressed images and labels, each with its path for errors.
pub(super) fn unpack_all([train, test]: [[(&Path, &[u8]); 2]; 2]) -> Result<InMemory, DataError> {
    let mut digest = Sha256::new();
    let (shape, train_labels, train_images) = part(train, &mut digest)?;
    let (test_shape, test_labels, test_images) = part(test, &mut digest)?;
    if test_shape != shape {
        let size = |shape: ImageShape| format!("images of {}×{}", shape.height, shape.width);
        let (path, offset) = (test[0].0.into(), 8);
        return Err(DataError::Malformed { path, offset, expected: size(shape), found: size(test_shape) });
    }
    Ok(InMemory {
        shape,
        class_names: CLASSES.map(String::from).to_vec(),
        labels: [train_labels, test_labels],
        images: [train_images, test_images],
        sha256: finish(digest),
    })
}

type Part = (ImageShape, Vec<u16>, Vec<Image>);

fn part([images, labels]: [(&Path, &[u8]); 2], digest: &mut Sha256) -> Result<Part, DataError> {
    let bytes = unpack(labels, digest)?;
    let labels_path = labels.0;
    let labels = idx::labels(&bytes, CLASSES.len(), labels_path)?;
    let bytes = unpack(images, digest)?;
    let idx::Images { height, width, pixels } = idx::images(&bytes, images.0)?;
    let pixels: Vec<Image> = pixels.chunks_exact(height * width).map(Image::from).collect();
    if pixels.len() != labels.len() {
        let (expected, found) = (format!("{} labels, as there are images", pixels.len()), labels.len().to_string());
        return Err(DataError::Malformed { path: labels_path.into(), offset: 4, expected, found });
    }
    Ok((ImageShape { height, width, channels: 1 }, labels, pixels))
}

fn unpack((path, bytes): (&Path, &[u8]), digest: &mut Sha256) -> Result<Vec<u8>, DataError> {
    let mut decoder = GzDecoder::new(bytes);
    let unpacked = read_limited(decoder.by_ref(), MOST_BYTES).map_err(unreadable(path))?;
    digest.update(&unpacked);
    Ok(unpacked)
}
