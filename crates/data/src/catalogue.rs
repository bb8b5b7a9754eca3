//! What each data set is: its size, where it comes from, and on what terms.

mod state;

pub use state::{State, state};

use crate::{
    Dataset,
    unpack::{Kind, Limits},
};

/// A published checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// In hexadecimal.
    Md5(&'static str),
    /// In hexadecimal.
    Sha256(&'static str),
}

/// A file that a data set is distributed in.
#[derive(Clone, Copy, Debug)]
pub struct Archive {
    /// What it becomes in the data set's directory.
    pub part: &'static str,
    /// What it is called.
    pub file: &'static str,
    /// Where it is; none where it must be brought by hand.
    pub url: Option<&'static str>,
    /// What it must be.
    pub checksum: Option<Checksum>,
    /// What kind of file it is.
    pub kind: Kind,
    /// The most that it may unpack to: what it does, rounded up.
    pub limits: Limits,
}

/// What is known about a data set.
#[derive(Clone, Debug)]
pub struct Card {
    /// How many classes; none where it depends on the user's files.
    pub classes: Option<usize>,
    /// Training and test images; none where it depends on the user's files.
    pub images: Option<(usize, usize)>,
    /// Fewer than these are a part of it, where the number of images is not known exactly.
    pub fewest_images: Option<(usize, usize)>,
    /// Height and width as a run uses it unless told otherwise.
    pub size: usize,
    /// What it is distributed in.
    pub archives: Vec<Archive>,
    /// A folder, and a file or directory in it, for each thing that must be there.
    pub marks: Vec<(&'static str, &'static str)>,
    /// On what terms it may be used.
    pub terms: &'static str,
    /// Where to read about it.
    pub about: &'static str,
    /// What to do where there is no direct download.
    pub by_hand: Option<&'static str>,
}

const MEGABYTE: u64 = 1_000_000;

/// Where Debian's package `dataset-fashion-mnist` puts it.
pub(crate) const DEBIAN: &str = "/usr/share/datasets/fashion-mnist";

// Terms, addresses and checksums were compared with copies of the authors' pages and with other
// people's loaders: see docs/datasets.md.
const CIFAR_TERMS: &str = "no licence stated; cite Krizhevsky 2009";
const IMAGENET_TERMS: &str = "ImageNet's: non-commercial research and education only";

/// The card of a data set.
#[allow(clippy::too_many_lines, reason = "a table")]
pub fn card(dataset: Dataset) -> Card {
    let nothing = Card {
        classes: None,
        images: None,
        fewest_images: None,
        size: 84,
        archives: Vec::new(),
        marks: Vec::new(),
        terms: "",
        about: "",
        by_hand: None,
    };
    match dataset {
        Dataset::Embedded => Card {
            classes: Some(10),
            images: Some((2_500, 1_000)),
            size: 28,
            terms: "MIT (Zalando SE)",
            about: "https://github.com/zalandoresearch/fashion-mnist",
            ..nothing
        },
        Dataset::Folder => Card { terms: "your own", ..nothing },
        Dataset::Cifar10 => Card {
            classes: Some(10),
            images: Some((50_000, 10_000)),
            size: 32,
            archives: vec![Archive {
                part: "archive",
                file: "cifar-10-binary.tar.gz",
                url: Some("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz"),
                checksum: Some(Checksum::Md5("c32a1d4ab5d03f1284b67883e8d87530")),
                kind: Kind::TarGz,
                limits: Limits { bytes: 200 * MEGABYTE, entries: 100 },
            }],
            marks: vec![("cifar-10-batches-bin", "batches.meta.txt")],
            terms: CIFAR_TERMS,
            about: "https://www.cs.toronto.edu/~kriz/cifar.html",
            ..nothing
        },
        Dataset::Cifar100 => Card {
            classes: Some(100),
            images: Some((50_000, 10_000)),
            size: 32,
            archives: vec![Archive {
                part: "archive",
                file: "cifar-100-binary.tar.gz",
                url: Some("https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz"),
                checksum: Some(Checksum::Md5("03b5dce01913d631647c71ecec9e9cb8")),
                kind: Kind::TarGz,
                limits: Limits { bytes: 200 * MEGABYTE, entries: 100 },
            }],
            marks: vec![("cifar-100-binary", "fine_label_names.txt")],
            terms: CIFAR_TERMS,
            about: "https://www.cs.toronto.edu/~kriz/cifar.html",
            ..nothing
        },
        Dataset::Core50 => Card {
            classes: Some(50),
            images: Some((40_000, 10_000)),
            // A film has about 300 frames, of which every third is used: some lack a few.
            fewest_images: Some((39_000, 10_000)),
            size: 128,
            archives: vec![Archive {
                part: "archive",
                file: "core50_128x128.zip",
                url: Some("http://bias.csr.unibo.it/maltoni/download/core50/core50_128x128.zip"),
                checksum: Some(Checksum::Md5("745f3373fed08d69343f1058ee559e13")),
                kind: Kind::Zip,
                limits: Limits { bytes: 8_000 * MEGABYTE, entries: 200_000 },
            }],
            marks: vec![("core50_128x128", "s1")],
            terms: "CC BY 4.0",
            about: "https://vlomonaco.github.io/core50/",
            ..nothing
        },
        Dataset::Food100 => Card {
            classes: Some(100),
            images: Some((50_000, 10_000)),
            archives: vec![Archive {
                part: "archive",
                file: "food-101.tar.gz",
                url: Some("http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz"),
                checksum: Some(Checksum::Md5("85eeb15f3717b99a5da872d97d918f87")),
                kind: Kind::TarGz,
                limits: Limits { bytes: 8_000 * MEGABYTE, entries: 250_000 },
            }],
            marks: vec![("food-101", "meta/train.json")],
            terms: "pictures from Foodspotting: beyond scientific fair use, ask their owners",
            about: "https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101/",
            ..nothing
        },
        Dataset::MiniImagenet => Card {
            classes: Some(100),
            images: Some((50_000, 10_000)),
            archives: ["mini-imagenet-cache-train.pkl", "mini-imagenet-cache-val.pkl", "mini-imagenet-cache-test.pkl"]
                .map(|file| Archive {
                    part: file,
                    file,
                    url: None,
                    checksum: None,
                    kind: Kind::Plain,
                    limits: Limits { bytes: 2_000 * MEGABYTE, entries: 1 },
                })
                .to_vec(),
            terms: IMAGENET_TERMS,
            about: "https://www.image-net.org/download.php",
            by_hand: Some(
                "mini-imagenet has no official download. Get mini-imagenet-cache-train.pkl, …-val.pkl and …-test.pkl from someone you \
                 trust, and give them: `rehearsal data fetch mini-imagenet --from mini-imagenet-cache-train.pkl --from …-val.pkl --from \
                 …-test.pkl`; or, if they are on a web server, `--mirror URL --trust`; or put a folder of its 100 classes of 600 images \
                 (n01532829/*.jpg, …) at `--data DIR`",
            ),
            ..nothing
        },
        Dataset::Places100 => Card {
            classes: Some(100),
            images: Some((45_000, 10_000)),
            archives: vec![
                Archive {
                    part: "lists",
                    file: "filelist_places365-standard.tar",
                    url: Some("http://data.csail.mit.edu/places/places365/filelist_places365-standard.tar"),
                    checksum: Some(Checksum::Md5("35a0585fee1fa656440f3ab298f8479c")),
                    kind: Kind::Tar,
                    limits: Limits { bytes: 200 * MEGABYTE, entries: 100 },
                },
                Archive {
                    part: "val",
                    file: "val_256.tar",
                    url: Some("http://data.csail.mit.edu/places/places365/val_256.tar"),
                    checksum: Some(Checksum::Md5("e27b17d8d44f4af9a78502beb927f808")),
                    kind: Kind::Tar,
                    limits: Limits { bytes: 1_000 * MEGABYTE, entries: 50_000 },
                },
                Archive {
                    part: "train",
                    file: "train_256_places365standard.tar",
                    url: Some("http://data.csail.mit.edu/places/places365/train_256_places365standard.tar"),
                    checksum: Some(Checksum::Md5("53ca1c756c3d1e7809517cc47c5561c5")),
                    kind: Kind::Tar,
                    limits: Limits { bytes: 40_000 * MEGABYTE, entries: 2_500_000 },
                },
            ],
            marks: vec![
                ("filelist_places365-standard", "categories_places365.txt"),
                ("data_256", "a/airfield"),
                ("", "val_256"),
            ],
            terms: "non-commercial research and education only; no redistribution",
            about: "http://places2.csail.mit.edu/download.html",
            ..nothing
        },
        Dataset::TinyImagenet => Card {
            classes: Some(100),
            images: Some((50_000, 5_000)),
            size: 64,
            archives: vec![Archive {
                part: "archive",
                file: "tiny-imagenet-200.zip",
                url: Some("http://cs231n.stanford.edu/tiny-imagenet-200.zip"),
                checksum: Some(Checksum::Md5("90528d7ca1a48142e341f4ef8d21d0de")),
                kind: Kind::Zip,
                limits: Limits { bytes: 1_000 * MEGABYTE, entries: 200_000 },
            }],
            marks: vec![("tiny-imagenet-200", "wnids.txt")],
            terms: IMAGENET_TERMS,
            about: "https://www.image-net.org/download.php",
            ..nothing
        },
        Dataset::FashionMnist => Card {
            classes: Some(10),
            images: Some((60_000, 10_000)),
            size: 28,
            archives: [
                ("train-images-idx3-ubyte.gz", "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
                ("train-labels-idx1-ubyte.gz", "25c81989df183df01b3e8a0aad5dffbe"),
                ("t10k-images-idx3-ubyte.gz", "bef4ecab320f06d8554ea6380940ec79"),
                ("t10k-labels-idx1-ubyte.gz", "bb300cfdad3c16e7a12a480ee83cd310"),
            ]
            .map(|(file, md5)| Archive {
                part: file,
                file,
                url: fashion_mnist_url(file),
                checksum: Some(Checksum::Md5(md5)),
                kind: Kind::Plain,
                limits: Limits { bytes: 50 * MEGABYTE, entries: 1 },
            })
            .to_vec(),
            marks: vec![("fashion-mnist", "train-images-idx3-ubyte.gz")],
            terms: "MIT (Zalando SE)",
            about: "https://github.com/zalandoresearch/fashion-mnist",
            ..nothing
        },
    }
}

fn fashion_mnist_url(file: &str) -> Option<&'static str> {
    [
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-images-idx3-ubyte.gz",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-labels-idx1-ubyte.gz",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-images-idx3-ubyte.gz",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/t10k-labels-idx1-ubyte.gz",
    ]
    .into_iter()
    .find(|url| url.ends_with(file))
}
