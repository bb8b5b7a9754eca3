//! A model for other programs: the network that predicts, without memory, method and optimizer, as
//! an ONNX graph that takes bytes and gives probabilities, or as named weights for PyTorch. See
//! `docs/export.md`.

mod graph;
mod messages;
mod onnx;
mod weights;

use std::path::Path;

use rehearsal_files::atomic;
use serde::Serialize;

use crate::{
    learner::{Learner, LearnerError, Preprocessing},
    model_file::ModelFileError,
    network::{BackboneKind, HeadKind, State},
    sample::{Class, ImageShape},
};

/// What an export says about itself, beside its numbers.
#[derive(Serialize)]
struct Description {
    version: &'static str,
    backbone: BackboneKind,
    head: HeadKind,
    /// In the order of the probabilities.
    classes: Vec<String>,
    image: ImageShape,
    preprocessing: Preprocessing,
}

/// The network that predicts: what it is, and its numbers by name.
struct Predictor {
    about: Description,
    /// The head has rows of the classes that can be predicted, and of no others.
    state: State,
}

impl Learner {
    /// Writes an ONNX model of the network that predicts, whole or not at all: bytes
    /// `[n, height, width, channels]` go in, probabilities `[n, classes]` come out.
    ///
    /// # Errors
    /// Nothing has been learned yet, its backbone is one's own, or the file cannot be written.
    pub fn export_onnx(&self, path: impl AsRef<Path>) -> Result<(), LearnerError> {
        let model = onnx::encode(&self.exported()?).ok_or(LearnerError::TooLargeForOnnx)?;
        write(path.as_ref(), &model)
    }

    /// Writes the weights of the network that predicts for PyTorch, whole or not at all: a
    /// safetensors file with PyTorch's names and layout, which `scripts/load_in_torch.py` loads.
    ///
    /// # Errors
    /// Nothing has been learned yet, its backbone is one's own, or the file cannot be written.
    pub fn export_safetensors(&self, path: impl AsRef<Path>) -> Result<(), LearnerError> {
        let path = path.as_ref();
        let unwritable = |error| ModelFileError::Unwritable { path: path.into(), error };
        let file = weights::encode(&self.exported()?).map_err(unwritable)?;
        write(path, &file)
    }

    fn exported(&self) -> Result<Predictor, LearnerError> {
        if let Some(name) = &self.config().custom.custom_backbone {
            return Err(LearnerError::ForeignBackbone { name: name.clone() });
        }
        let classes: Vec<Class> = self.classes().active().collect();
        if classes.is_empty() {
            return Err(LearnerError::NoClasses);
        }
        let mut state = self.predictor().state();
        for (_, array) in state.0.iter_mut().filter(|(name, _)| name.starts_with("head.")) {
            let row: usize = array.shape[1..].iter().product();
            let of_class = |class: &Class| array.values[class.index() * row..][..row].to_vec();
            array.values = classes.iter().flat_map(of_class).collect();
            array.shape[0] = classes.len();
        }
        let about = Description {
            version: env!("CARGO_PKG_VERSION"),
            backbone: self.config().backbone,
            head: self.head_kind(),
            classes: classes.iter().map(|&class| self.classes().name(class).to_string()).collect(),
            image: self.shape(),
            preprocessing: Preprocessing::new(),
        };
        Ok(Predictor { about, state })
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), LearnerError> {
    let unwritable = |error| ModelFileError::Unwritable { path: path.into(), error };
    Ok(atomic::write(path, bytes).map_err(unwritable)?)
}

#[cfg(test)]
mod tests;
