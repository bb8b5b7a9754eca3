//! What can be wrong with what a learner is given.

use rehearsal_data::DataError;
use rehearsal_files::model_file::ModelFileError;
use thiserror::Error;

use crate::{
    config::ConfigError,
    device::DeviceError,
    sample::{Class, ImageShape},
};

/// Why a learner cannot do what was asked. Nothing of it has changed then.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LearnerError {
    /// Its configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Its device cannot be had.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Images without pixels, or beyond all measure.
    #[error(
        "images of {}×{} with {} channels cannot be learned from: sides are 1 to 32,768, channels 1 to 1,024",
        shape.height, shape.width, shape.channels
    )]
    Shape { shape: ImageShape },
    /// More memory is needed than the machine has.
    #[error(
        "a network of width {width} on images of {}×{} needs at least {needed} of memory, and this machine has \
         {available}: choose a smaller `width`, `size`, `batch` or `retrieved`",
        shape.height, shape.width
    )]
    Memory { width: usize, shape: ImageShape, needed: String, available: String },
    /// An image is not of the size that the learner was made for.
    #[error(
        "image {index} has {found} bytes; this learner's images are {}×{} with {} channels, {} bytes",
        shape.height, shape.width, shape.channels, expected
    )]
    ImageSize { index: usize, found: usize, expected: usize, shape: ImageShape },
    /// A sample is of a class that has not appeared.
    #[error("a sample is of class {}, but only {seen} classes have appeared", class.0)]
    UnknownClass { class: Class, seen: usize },
    /// The loss, or a number that it learns or predicts with, is not finite.
    #[error("the loss is {loss} at step {step} (task {task}): try a smaller `lr`")]
    Diverged { loss: f32, step: u64, task: usize },
    /// There are not as many labels as images.
    #[error("{images} images, but {labels} labels")]
    Labels { images: usize, labels: usize },
    /// There is nothing to learn from.
    #[error("there are no images to learn from")]
    NoImages,
    /// Nothing has been learned that could be predicted.
    #[error("no class has been learned yet")]
    NoClasses,
    /// It cannot be written for other programs.
    #[error("the backbone `{name}` cannot be exported: {why}")]
    ForeignBackbone { name: String, why: String },
    /// Its weights are more than an ONNX file can hold.
    #[error("an ONNX file holds at most 2 GiB, and this network is larger: export it as safetensors")]
    TooLargeForOnnx,
    /// Classes cannot be numbered any more.
    #[error("a learner knows at most 65,536 classes")]
    TooManyClasses,
    /// It was to change what may change only between tasks.
    #[error("a task has been begun: end it first")]
    InsideTask,
    /// It knows no class of that name, or has retired it.
    #[error("there is no class `{0}`")]
    NoSuchClass(String),
    /// Another class is called that.
    #[error("there is a class `{0}` already")]
    TakenName(String),
    /// A sample cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The system has no threads left.
    #[error("its threads cannot be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A file cannot be written or used.
    #[error(transparent)]
    File(#[from] ModelFileError),
}

impl LearnerError {
    /// Whether the user asked for something wrong, rather than that something failed on the way.
    pub fn is_user_error(&self) -> bool {
        match self {
            Self::Data(error) => error.is_user_error(),
            Self::File(ModelFileError::Unwritable { error, .. }) => rehearsal_files::regular::is_wrong_place(error),
            Self::Diverged { .. } | Self::Threads(_) => false,
            _ => true,
        }
    }
}
