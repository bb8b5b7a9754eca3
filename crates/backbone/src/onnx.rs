//! Any network in an ONNX file that gives one vector per image.
//!
//! The file is data: nothing outside it is read, and what is wrong with it is an error. `rten` does not
//! limit the memory or time that a network asks for while it runs: only open files that you trust that far.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use rehearsal_data::{Image, ImageShape, Interpolation, LONGEST_SIDE, Preprocessing};
use rehearsal_files::{regular, sha256::sha256};
use rehearsal_onnx::{Foreign, GraphWriter, int};
use rten::{DataType, Dimension, Model, RunOptions, ThreadPool, ValueType};
use rten_tensor::{Tensor, prelude::*};

use crate::{
    Backbone, BackboneError,
    backbone::{IMAGENET_MEAN, IMAGENET_STD, normalized},
};

/// The largest file that is read: what a protocol buffer can hold.
const LARGEST: u64 = 1 << 31;
/// Height and width if the network reads images of any size.
const SIZE: usize = 224;
/// The most features: a head has a matrix of as many rows and columns.
const MOST_FEATURES: usize = 8192;

/// A network of an ONNX file, ready to compute. Images are resized so that the shorter side is 8/7 of what
/// it reads, cropped and normalised as for most networks that were trained on `ImageNet`.
pub struct OnnxBackbone {
    path: PathBuf,
    model: Model,
    threads: Arc<ThreadPool>,
    shape: ImageShape,
    features: usize,
    sha256: String,
}

impl OnnxBackbone {
    /// Reads a file, and tries the network on one image. It must have one input `[n, 3, height, width]`
    /// and one output `[n, features]` or `[n, features, 1, 1]`, all of them floats.
    ///
    /// # Errors
    /// The file cannot be read ([`BackboneError::File`]), or the network cannot be used
    /// ([`BackboneError::Onnx`]).
    pub fn open(path: &Path, threads: usize) -> Result<Self, BackboneError> {
        let bytes = read(path)?;
        let sha256 = sha256(&bytes);
        let refused = |why| BackboneError::Onnx { path: path.into(), why };
        // `rten` reads a file that was cut as if the rest had never been there.
        Foreign::read(&bytes).map_err(|error| refused(error.to_string()))?;
        let model = guarded(|| Model::load(bytes)).map_err(refused)?;
        let shape = input_shape(&model).map_err(refused)?;
        let threads = Arc::new(ThreadPool::with_num_threads(threads.max(1)));
        let mut backbone = Self { path: path.into(), model, threads, shape, features: 0, sha256 };
        // Bytes of all values: not grey, on which a network may be better behaved.
        let image: Vec<u8> = (0..shape.bytes()).map(|index| (index * 31 % 251) as u8).collect();
        let features = backbone.one(&image.into())?;
        if features.iter().any(|value| !value.is_finite()) {
            return Err(refused("its features contain NaN or infinity".into()));
        }
        backbone.features = features.len();
        Ok(backbone)
    }

    /// The bytes of the file, if they are still those that were opened.
    fn bytes(&self) -> Result<Vec<u8>, BackboneError> {
        let bytes = read(&self.path)?;
        if sha256(&bytes) == self.sha256 { Ok(bytes) } else { Err(self.refused("it has changed".into())) }
    }

    fn refused(&self, why: String) -> BackboneError {
        BackboneError::Onnx { path: self.path.clone(), why }
    }

    fn one(&self, image: &Image) -> Result<Vec<f32>, BackboneError> {
        let ImageShape { height, width, .. } = self.shape;
        let values = normalized(&self.preprocessing(), std::slice::from_ref(image));
        let planes = (0..3).flat_map(|channel| values.iter().copied().skip(channel).step_by(3)).collect::<Vec<f32>>();
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let run = || {
            let input = Tensor::from_data(&[1, 3, height, width], planes);
            self.model.run_one(input.into(), Some(options))
        };
        let output = guarded(run).and_then(|output| {
            let output: Tensor<f32> = output.try_into().map_err(|_| "its output is not of floats".to_owned())?;
            match output.shape() {
                [1, features] | [1, features, 1, 1] if (1..=MOST_FEATURES).contains(features) => Ok(output.to_vec()),
                shape => Err(format!(
                    "its output for one image is {shape:?}, expected [1, features] with at most {MOST_FEATURES} features"
                )),
            }
        });
        output.map_err(|why| self.refused(why))
    }
}

impl Backbone for OnnxBackbone {
    fn name(&self) -> &'static str {
        "onnx"
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn preprocessing(&self) -> Preprocessing {
        Preprocessing {
            shape: self.shape,
            crop: 0.875,
            interpolation: Interpolation::Bicubic,
            mean: IMAGENET_MEAN,
            std: IMAGENET_STD,
        }
    }

    fn dimensions(&self) -> usize {
        self.features
    }

    /// One image at a time, so that its features do not depend on the others.
    fn features(&self, images: &[Image]) -> Result<Vec<f32>, BackboneError> {
        let each = images.iter().map(|image| self.one(image)).collect::<Result<Vec<_>, _>>()?;
        Ok(each.concat())
    }

    /// The network as it is in its file.
    fn onnx(
        &self,
        graph: &mut GraphWriter,
        image: &rehearsal_onnx::Value,
    ) -> Result<rehearsal_onnx::Value, BackboneError> {
        let bytes = self.bytes()?;
        let network = Foreign::read(&bytes).map_err(|error| self.refused(error.to_string()))?;
        let output = graph.insert(&network, image);
        let output = output.map_err(|error| BackboneError::NoGraph(self.path.clone(), error))?;
        Ok(graph.node("backbone.features", "Flatten", &[&output], vec![int("axis", 1)]))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, BackboneError> {
    regular::read(path, LARGEST).map_err(|error| BackboneError::File { path: path.into(), error })
}

/// Runs code that reads a file it should not trust: a panic of it is an error, too.
fn guarded<T, E: std::fmt::Display>(run: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(|error| one_line(&error.to_string())),
        Err(_) => Err("it is damaged, or of a kind that is not supported".into()),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Height, width and channels that the network reads.
fn input_shape(model: &Model) -> Result<ImageShape, String> {
    if model.input_ids().len() != 1 || model.output_ids().len() != 1 {
        let (inputs, outputs) = (model.input_ids().len(), model.output_ids().len());
        return Err(format!("expected one input and one output, found inputs: {inputs}, outputs: {outputs}"));
    }
    let input = model.node_info(model.input_ids()[0]);
    if input.as_ref().and_then(rten::NodeInfo::dtype).is_some_and(|found| found != ValueType::Tensor(DataType::Float)) {
        return Err("its input is not of floats".into());
    }
    let Some(dimensions) = input.and_then(|input| input.shape()) else {
        return Err("the shape of its input is not known".into());
    };
    let [batch, channels, height, width] = &dimensions[..] else {
        return Err(format!("its input has {} dimensions, expected [n, 3, height, width]", dimensions.len()));
    };
    fixed(batch, 1, 1, "a batch of")?;
    fixed(channels, 3, 3, "channels:")?;
    let side = |dimension, name| match fixed_or(dimension, SIZE) {
        side if (1..=LONGEST_SIDE).contains(&side) => Ok(side),
        side => Err(format!("its input has a {name} of {side}, expected 1 to {LONGEST_SIDE}")),
    };
    Ok(ImageShape { height: side(height, "height")?, width: side(width, "width")?, channels: 3 })
}

/// A size that is given, or else this.
fn fixed_or(dimension: &Dimension, other: usize) -> usize {
    match dimension {
        Dimension::Fixed(size) => *size,
        Dimension::Symbolic(_) => other,
    }
}

fn fixed(dimension: &Dimension, other: usize, expected: usize, name: &str) -> Result<(), String> {
    let found = fixed_or(dimension, other);
    if found == expected { Ok(()) } else { Err(format!("its input has {name} {found}, expected {expected}")) }
}
