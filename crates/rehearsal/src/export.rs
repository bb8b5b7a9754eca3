//! A model for other programs: the network that predicts, without memory, method and optimizer, as
//! an ONNX graph that takes bytes and gives probabilities, or as named weights for PyTorch. See
//! `docs/export.md`.

mod onnx;
mod weights;

use std::path::Path;

use rehearsal_data::Preprocessing;
use rehearsal_files::{atomic, model_file::ModelFileError};
use serde::Serialize;

use crate::{
    learner::{Learner, LearnerError},
    network::{BACKBONE, HEAD, HeadKind, Plan, PlannedLayer, State},
    sample::{Class, ImageShape},
};

/// What an export says about itself, beside its numbers.
#[derive(Serialize)]
struct Description {
    version: &'static str,
    /// The name of its kind, or of a custom one.
    backbone: String,
    head: HeadKind,
    /// In the order of the probabilities.
    classes: Vec<String>,
    image: ImageShape,
    preprocessing: Preprocessing,
}

/// The network that predicts: what it is, and its numbers by name.
struct Predictor {
    about: Description,
    plan: Plan,
    /// The head has rows of those classes only that can be predicted.
    state: State,
}

impl Learner {
    /// Writes an ONNX model of the network that predicts, whole or not at all: bytes
    /// `[n, height, width, channels]` go in, probabilities `[n, classes]` come out.
    ///
    /// # Errors
    /// Nothing has been learned yet, its backbone has no plan, or the file cannot be written.
    pub fn export_onnx(&self, path: impl AsRef<Path>) -> Result<(), LearnerError> {
        let model = onnx::encode(&self.exported()?).ok_or(LearnerError::TooLargeForOnnx)?;
        write(path.as_ref(), &model)
    }

    /// Writes the weights of the network that predicts for PyTorch, whole or not at all: a
    /// safetensors file with PyTorch's names and layout, which `scripts/load_in_torch.py` loads.
    ///
    /// # Errors
    /// Nothing has been learned yet, its backbone has no plan, or the file cannot be written.
    pub fn export_safetensors(&self, path: impl AsRef<Path>) -> Result<(), LearnerError> {
        let path = path.as_ref();
        let unwritable = |error| ModelFileError::Unwritable { path: path.into(), error };
        let file = weights::encode(&self.exported()?).map_err(unwritable)?;
        write(path, &file)
    }

    fn exported(&self) -> Result<Predictor, LearnerError> {
        let config = self.config();
        let backbone = config.custom.custom_backbone.clone().unwrap_or_else(|| config.network.backbone.to_string());
        let classes: Vec<Class> = self.classes().active().collect();
        if classes.is_empty() {
            return Err(LearnerError::NoClasses);
        }
        let mut state = self.predictor().state();
        let plan = planned(self.predictor().plan(), &state.under(BACKBONE))
            .map_err(|why| LearnerError::ForeignBackbone { name: backbone.clone(), why })?;
        for (_, array) in state.0.iter_mut().filter(|(name, _)| name.starts_with(HEAD)) {
            let row: usize = array.shape[1..].iter().product();
            let of_class = |class: &Class| array.values[class.index() * row..][..row].to_vec();
            array.values = classes.iter().flat_map(of_class).collect();
            array.shape[0] = classes.len();
        }
        let about = Description {
            version: env!("CARGO_PKG_VERSION"),
            backbone,
            head: self.head_kind(),
            classes: classes.iter().map(|&class| self.classes().name(class).to_string()).collect(),
            image: self.shape(),
            preprocessing: Preprocessing::plain(self.shape()),
        };
        Ok(Predictor { about, plan, state })
    }
}

/// The plan, if it describes every array of the backbone's state; else why not.
fn planned(plan: Option<Plan>, state: &State) -> Result<Plan, String> {
    let plan = plan.ok_or("it has no plan")?;
    let mut rest = state.clone();
    for PlannedLayer { name, conv, .. } in plan.layers() {
        for part in ["weight", "scale", "shift", "running_mean", "running_variance"] {
            let weight = [conv.kernel, conv.kernel, conv.cin, conv.cout];
            let name = format!("{name}.{part}");
            rest.array(&name, if part == "weight" { &weight } else { &weight[3..] }).map_err(|e| e.to_string())?;
            rest.0.remove(&name);
        }
    }
    match rest.0.keys().next() {
        Some(name) => Err(format!("`{name}` is not in its plan")),
        None => Ok(plan),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), LearnerError> {
    let unwritable = |error| ModelFileError::Unwritable { path: path.into(), error };
    Ok(atomic::write(path, bytes).map_err(unwritable)?)
}

#[cfg(test)]
mod tests;
