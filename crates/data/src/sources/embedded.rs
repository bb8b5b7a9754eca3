//! A class-balanced subset of Fashion-MNIST in the program, so that the first run needs no download:
//! 10 classes × (250 train + 100 test) grey images of 28×28. Fashion-MNIST is by Zalando SE under the
//! MIT licence; `scripts/make_embedded.py` made the files.

use std::path::Path;

use super::fashion_mnist::unpack_all;
use crate::{DataError, InMemory};

/// One idx file, its name for errors and its bytes.
struct Packed {
    name: &'static str,
    bytes: &'static [u8],
}

macro_rules! packed {
    ($name:literal) => {
        Packed { name: $name, bytes: include_bytes!(concat!("../../embedded/", $name)) }
    };
}

static TRAIN: [Packed; 2] = [packed!("train-images-idx3-ubyte.gz"), packed!("train-labels-idx1-ubyte.gz")];
static TEST: [Packed; 2] = [packed!("t10k-images-idx3-ubyte.gz"), packed!("t10k-labels-idx1-ubyte.gz")];

/// Unpacks the data set.
pub(crate) fn open() -> Result<InMemory, DataError> {
    let files = |files: &'static [Packed; 2]| [0, 1].map(|index| (Path::new(files[index].name), files[index].bytes));
    unpack_all([files(&TRAIN), files(&TEST)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImageShape, Source, Split};

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
