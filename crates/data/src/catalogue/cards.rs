//! The table of data sets. Terms, addresses and checksums were compared with copies of the authors'
//! pages and with other loaders: see docs/datasets.md.

use super::{
    Archive, Card, Checksum,
    Kind::{self, Plain, Tar, TarGz, Zip},
    Limits,
};
use crate::Dataset;

/// The card of a data set.
pub fn card(dataset: Dataset) -> &'static Card {
    CARDS.iter().find(|card| card.dataset == dataset).expect("every data set has a card")
}

/// Where Debian's package `dataset-fashion-mnist` installs it.
pub(crate) const DEBIAN: &str = "/usr/share/datasets/fashion-mnist";

const CIFAR: &str = "https://www.cs.toronto.edu/~kriz";
const FASHION_MNIST: &str = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com";
const PLACES: &str = "http://data.csail.mit.edu/places/places365";

const CIFAR_TERMS: &str = "no licence stated; cite Krizhevsky 2009";
const IMAGENET_TERMS: &str = "ImageNet's: non-commercial research and education only";

/// What a folder of the user's images has, and the base of the other cards.
const FOLDER: Card = Card {
    dataset: Dataset::Folder,
    classes: None,
    images: None,
    fewest_images: None,
    size: 84,
    archives: &[],
    marks: &[],
    terms: "your own",
    about: "",
};

static CARDS: [Card; 10] = [
    FOLDER,
    Card {
        dataset: Dataset::Embedded,
        classes: Some(10),
        images: Some((2_500, 1_000)),
        size: 28,
        terms: "MIT (Zalando SE)",
        about: "https://github.com/zalandoresearch/fashion-mnist",
        ..FOLDER
    },
    Card {
        dataset: Dataset::Cifar10,
        classes: Some(10),
        images: Some((50_000, 10_000)),
        size: 32,
        archives: &[
            archive("cifar-10-binary.tar.gz", CIFAR, "c32a1d4ab5d03f1284b67883e8d87530", TarGz).limited(200, 100)
        ],
        marks: &[("cifar-10-batches-bin", "batches.meta.txt")],
        terms: CIFAR_TERMS,
        about: "https://www.cs.toronto.edu/~kriz/cifar.html",
        ..FOLDER
    },
    Card {
        dataset: Dataset::Cifar100,
        classes: Some(100),
        images: Some((50_000, 10_000)),
        size: 32,
        archives: &[
            archive("cifar-100-binary.tar.gz", CIFAR, "03b5dce01913d631647c71ecec9e9cb8", TarGz).limited(200, 100)
        ],
        marks: &[("cifar-100-binary", "fine_label_names.txt")],
        terms: CIFAR_TERMS,
        about: "https://www.cs.toronto.edu/~kriz/cifar.html",
        ..FOLDER
    },
    Card {
        dataset: Dataset::Core50,
        classes: Some(50),
        images: Some((40_000, 10_000)),
        // A film has about 300 frames, of which every third is used: some lack a few.
        fewest_images: Some((39_000, 10_000)),
        size: 128,
        archives: &[archive(
            "core50_128x128.zip",
            "http://bias.csr.unibo.it/maltoni/download/core50",
            "745f3373fed08d69343f1058ee559e13",
            Zip,
        )
        .limited(8_000, 200_000)],
        marks: &[("core50_128x128", "s1")],
        terms: "CC BY 4.0",
        about: "https://vlomonaco.github.io/core50/",
    },
    Card {
        dataset: Dataset::Food100,
        classes: Some(100),
        images: Some((50_000, 10_000)),
        archives: &[archive(
            "food-101.tar.gz",
            "http://data.vision.ee.ethz.ch/cvl",
            "85eeb15f3717b99a5da872d97d918f87",
            TarGz,
        )
        .limited(8_000, 250_000)],
        marks: &[("food-101", "meta/train.json")],
        terms: "pictures from Foodspotting: beyond scientific fair use, ask their owners",
        about: "https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/",
        ..FOLDER
    },
    Card {
        dataset: Dataset::MiniImagenet,
        classes: Some(100),
        images: Some((50_000, 10_000)),
        archives: &[
            pickle("mini-imagenet-cache-train.pkl"),
            pickle("mini-imagenet-cache-val.pkl"),
            pickle("mini-imagenet-cache-test.pkl"),
        ],
        terms: IMAGENET_TERMS,
        about: "https://www.image-net.org/download.php",
        ..FOLDER
    },
    Card {
        dataset: Dataset::Places100,
        classes: Some(100),
        images: Some((45_000, 10_000)),
        archives: &[
            archive("filelist_places365-standard.tar", PLACES, "35a0585fee1fa656440f3ab298f8479c", Tar)
                .named("lists")
                .limited(200, 100),
            archive("val_256.tar", PLACES, "e27b17d8d44f4af9a78502beb927f808", Tar).named("val").limited(1_000, 50_000),
            archive("train_256_places365standard.tar", PLACES, "53ca1c756c3d1e7809517cc47c5561c5", Tar)
                .named("train")
                .limited(40_000, 2_500_000),
        ],
        marks: &[
            ("filelist_places365-standard", "categories_places365.txt"),
            ("data_256", "a/airfield"),
            ("", "val_256"),
        ],
        terms: "non-commercial research and education only; no redistribution",
        about: "http://places2.csail.mit.edu/download.html",
        ..FOLDER
    },
    Card {
        dataset: Dataset::TinyImagenet,
        classes: Some(100),
        images: Some((50_000, 5_000)),
        size: 64,
        archives: &[archive(
            "tiny-imagenet-200.zip",
            "http://cs231n.stanford.edu",
            "90528d7ca1a48142e341f4ef8d21d0de",
            Zip,
        )
        .limited(1_000, 200_000)],
        marks: &[("tiny-imagenet-200", "wnids.txt")],
        terms: IMAGENET_TERMS,
        about: "https://www.image-net.org/download.php",
        ..FOLDER
    },
    Card {
        dataset: Dataset::FashionMnist,
        classes: Some(10),
        images: Some((60_000, 10_000)),
        size: 28,
        archives: &[
            idx("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
            idx("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
            idx("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
            idx("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
        ],
        marks: &[("fashion-mnist", "train-images-idx3-ubyte.gz")],
        terms: "MIT (Zalando SE)",
        about: "https://github.com/zalandoresearch/fashion-mnist",
        ..FOLDER
    },
];

const fn archive(file: &'static str, from: &'static str, md5: &'static str, kind: Kind) -> Archive {
    let (from, checksum, limits) = (Some(from), Some(Checksum::Md5(md5)), Limits { bytes: 0, entries: 1 });
    Archive { part: "archive", file, from, checksum, kind, limits }
}

/// One of Fashion-MNIST's files, which are used as they are.
const fn idx(file: &'static str, md5: &'static str) -> Archive {
    archive(file, FASHION_MNIST, md5, Plain).named(file).limited(50, 1)
}

/// One of mini-ImageNet's files, which have no official address.
const fn pickle(file: &'static str) -> Archive {
    Archive { from: None, checksum: None, ..archive(file, "", "", Plain) }.named(file).limited(2_000, 1)
}

impl Archive {
    const fn named(self, part: &'static str) -> Self {
        Self { part, ..self }
    }

    const fn limited(self, megabytes: u64, entries: u64) -> Self {
        Self { limits: Limits { bytes: megabytes * 1_000_000, entries }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Choice;

    #[test]
    fn every_data_set_has_a_card_and_every_archive_a_limit() {
        for &dataset in Dataset::ALL {
            let card = card(dataset);
            assert_eq!(card.dataset, dataset);
            assert!(card.archives.iter().all(|archive| archive.limits.bytes > 0), "{dataset}");
        }
        let url = card(Dataset::Cifar10).archives[0].url();
        assert_eq!(url.as_deref(), Some("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"));
        assert_eq!(card(Dataset::MiniImagenet).archives[0].url(), None);
    }
}
