//! A network of the catalogue. Its file says which layers it has and what they compute; the rest is the
//! same for all.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use rehearsal_data::{Image, Preprocessing, choice::Choice};
use rehearsal_files::sha256::sha256;
use rehearsal_kernels::{Machine, Shape};
use rehearsal_onnx::{GraphWriter, Value};

use crate::{
    Backbone, BackboneError, BackboneName,
    backbone::normalized,
    dinov2, lite0, resnet18,
    weights::{Weights, file_sha256},
};

/// The layers of a network, as they are in its file.
pub(crate) trait Layers {
    /// The network, ready to compute.
    fn network(&self, machine: &Machine) -> Box<dyn Network>;

    /// Adds the network to a graph behind an image `[1, 3, size, size]`. Gives features `[1, features]`.
    fn write(&self, graph: &mut GraphWriter, image: &Value) -> Value;
}

/// A network that is ready to compute.
pub(crate) trait Network: Send + Sync {
    /// The features of normalised images, NHWC.
    fn run(&self, machine: &Machine, images: &[f32], shape: Shape, features: &mut [f32]);
}

/// Where the weights are. An export reads them again: a network keeps them in another order.
enum Source {
    Bytes(Cow<'static, [u8]>),
    Checkpoint(PathBuf),
}

/// A network of the catalogue, ready to compute.
pub struct Published {
    name: BackboneName,
    machine: Machine,
    network: Box<dyn Network>,
    source: Source,
    sha256: String,
}

impl Published {
    /// `EfficientNet`-lite0 with the weights that are inside the program.
    ///
    /// # Errors
    /// Never, unless the program itself is damaged.
    pub fn efficientnet_lite0(machine: Machine) -> Result<Self, BackboneError> {
        Self::from_safetensors(BackboneName::EfficientNetLite0, machine, rehearsal_efficientnet_lite0::WEIGHTS)
    }

    /// With the weights of a safetensors file, under the names of its authors; for `EfficientNet`-lite0 the
    /// names and the form of the file that is inside the program.
    ///
    /// # Errors
    /// The file is damaged, or of another network.
    pub fn from_safetensors(
        name: BackboneName,
        machine: Machine,
        bytes: impl Into<Cow<'static, [u8]>>,
    ) -> Result<Self, BackboneError> {
        let bytes = bytes.into();
        let sha256 = sha256(&bytes);
        Self::new(name, machine, Source::Bytes(bytes), sha256)
    }

    /// With the weights of a file of `torch.save`, of which this is the SHA-256.
    pub(crate) fn from_checkpoint(
        name: BackboneName,
        machine: Machine,
        path: &Path,
        sha256: &str,
    ) -> Result<Self, BackboneError> {
        Self::new(name, machine, Source::Checkpoint(path.into()), sha256.into())
    }

    fn new(name: BackboneName, machine: Machine, source: Source, sha256: String) -> Result<Self, BackboneError> {
        let network = layers(name, &source)?.network(&machine);
        Ok(Self { name, machine, network, source, sha256 })
    }

    /// The features `[n, features]` of normalised images `[n, size, size, 3]`.
    ///
    /// # Panics
    /// If `images` has another length, or `size` is below 14.
    pub fn run(&self, images: &[f32], n: usize, size: usize) -> Vec<f32> {
        let mut features = vec![0.0; n * self.dimensions()];
        self.network.run(&self.machine, images, Shape { n, h: size, w: size, c: 3 }, &mut features);
        features
    }

    /// Refuses if the file of weights is not the one that was opened.
    fn check_source(&self) -> Result<(), BackboneError> {
        let Source::Checkpoint(path) = &self.source else { return Ok(()) };
        let found = file_sha256(path)?;
        if found == self.sha256 {
            return Ok(());
        }
        let why = format!("its sha256 is {found}, expected {}", self.sha256);
        Err(BackboneError::Wrong { name: self.name, path: path.clone(), why })
    }
}

fn layers(name: BackboneName, source: &Source) -> Result<Box<dyn Layers>, BackboneError> {
    let weights = match source {
        Source::Bytes(bytes) => Weights::new(bytes)?,
        Source::Checkpoint(path) => Weights::from_checkpoint(path)?,
    };
    Ok(match name {
        BackboneName::EfficientNetLite0 => Box::new(lite0::Layers::read(&weights)?),
        BackboneName::DinoV2Small => Box::new(dinov2::Layers::read(&weights)?),
        BackboneName::ResNet18 => Box::new(resnet18::Layers::read(&weights)?),
    })
}

impl Backbone for Published {
    fn name(&self) -> &str {
        self.name.name()
    }

    fn sha256(&self) -> &str {
        &self.sha256
    }

    fn preprocessing(&self) -> Preprocessing {
        match self.name {
            BackboneName::EfficientNetLite0 => lite0::PREPROCESSING,
            BackboneName::DinoV2Small => dinov2::PREPROCESSING,
            BackboneName::ResNet18 => resnet18::PREPROCESSING,
        }
    }

    fn dimensions(&self) -> usize {
        self.name.card().features
    }

    fn features(&self, images: &[Image]) -> Result<Vec<f32>, BackboneError> {
        let preprocessing = self.preprocessing();
        let values = normalized(&preprocessing, images);
        Ok(if images.is_empty() { Vec::new() } else { self.run(&values, images.len(), preprocessing.shape.height) })
    }

    fn onnx(&self, graph: &mut GraphWriter, image: &Value) -> Result<Value, BackboneError> {
        self.check_source()?;
        Ok(layers(self.name, &self.source)?.write(graph, image))
    }
}
