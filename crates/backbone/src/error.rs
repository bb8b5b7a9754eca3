//! What can be wrong with a backbone.

use std::{io, path::PathBuf};

use rehearsal_data::DataError;
use rehearsal_onnx::ForeignError;
use thiserror::Error;

use crate::BackboneName;

/// Why a backbone cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum BackboneError {
    /// Its weights were not fetched.
    #[error("the weights of {name} are not on this machine: {} is missing", path.display())]
    Absent { name: BackboneName, path: PathBuf },
    /// Its weights are inside the program.
    #[error("{0} is inside the program: there is nothing to fetch or to remove")]
    Inside(BackboneName),
    /// A file is not the published one.
    #[error("{} does not hold the published weights of {name}: {why}", path.display())]
    Wrong { name: BackboneName, path: PathBuf, why: String },
    /// A file cannot be read, written or deleted.
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    /// A file cannot be fetched.
    #[error(transparent)]
    Data(#[from] DataError),
    /// It is not a safetensors file, or a damaged one.
    #[error("the weights cannot be read: {0}")]
    Unreadable(#[from] safetensors::SafeTensorError),
    /// It is not a file of `torch.save`, or a damaged or hostile one.
    #[error("{} cannot be read as a PyTorch file: {why}", path.display())]
    Checkpoint { path: PathBuf, why: String },
    /// It is not an ONNX file, a damaged or hostile one, or of a network that is not a backbone.
    #[error("{} cannot be used as a backbone: {why}", path.display())]
    Onnx { path: PathBuf, why: String },
    /// The program cannot read ONNX files.
    #[error("{} cannot be opened: this program was built without ONNX", .0.display())]
    WithoutOnnx(PathBuf),
    /// A tensor that the network needs is not there.
    #[error("the weights have no tensor `{0}`")]
    Missing(String),
    /// A tensor has another shape, or another type than float16 or float32.
    #[error("the tensor `{name}` is {found}, expected {expected}")]
    Shape { name: String, found: String, expected: String },
    /// The bytes of a tensor are damaged.
    #[error("the tensor `{name}` cannot be read: {error}")]
    Damaged { name: String, error: io::Error },
    /// A weight is NaN or infinite.
    #[error("the tensor `{0}` contains NaN or infinity")]
    NotFinite(String),
    /// The network of a file cannot be part of an exported graph.
    #[error("{} cannot be exported: {}", .0.display(), .1)]
    NoGraph(PathBuf, ForeignError),
    /// A network gives NaN or infinity for a photo.
    #[error("the features of {} by {backbone} contain NaN or infinity: the network cannot be used", path.display())]
    NotFiniteFeatures { backbone: String, path: PathBuf },
    /// A network gives NaN or infinity for an image of a data set.
    #[error("features of {split} image {number} by {backbone} contain NaN or infinity: the network cannot be used")]
    NotFiniteImage { backbone: String, split: &'static str, number: usize },
    /// A network gives another number of features than it should.
    #[error("{backbone} gives {found} numbers, expected {expected}")]
    Count { backbone: String, found: usize, expected: usize },
}

impl BackboneError {
    /// The backbone that is not on this machine, if that is the error.
    pub fn absent(&self) -> Option<BackboneName> {
        if let Self::Absent { name, .. } = self { Some(*name) } else { None }
    }

    /// Whether the user asked for something wrong, or gave wrong files, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Data(error) => error.is_user_error(),
            _ => true,
        }
    }
}
