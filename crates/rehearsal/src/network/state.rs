//! The numbers of a network by name, on the host: what a checkpoint keeps and what a golden test sets.

use std::collections::BTreeMap;

use burn::{
    module::Param,
    tensor::{Tensor, TensorData},
};
use thiserror::Error;

/// An array of `f32`, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The values.
    pub values: Vec<f32>,
}

/// Named arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State(pub BTreeMap<String, Array>);

/// Why a state does not fit a network.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum StateError {
    /// A name is not there.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A name is there with another shape.
    #[error("`{name}` has shape {found:?}, not {expected:?}")]
    Shape {
        /// Whose.
        name: String,
        /// As the network has it.
        expected: Vec<usize>,
        /// As the state has it.
        found: Vec<usize>,
    },
}

impl State {
    /// Every value is a number.
    pub fn is_finite(&self) -> bool {
        self.0.values().all(|array| array.values.iter().all(|value| value.is_finite()))
    }

    /// The same arrays under longer names.
    pub fn prefixed(self, prefix: &str) -> Self {
        Self(self.0.into_iter().map(|(name, array)| (format!("{prefix}{name}"), array)).collect())
    }

    /// The arrays whose names begin with `prefix`, without it.
    pub fn under(&self, prefix: &str) -> Self {
        let named = |(name, array): (&String, &Array)| Some((name.strip_prefix(prefix)?.to_owned(), array.clone()));
        Self(self.0.iter().filter_map(named).collect())
    }

    pub(super) fn save<const D: usize>(&mut self, name: &str, tensor: &Tensor<D>) {
        let shape = tensor.dims().to_vec();
        let values = tensor.clone().into_data().try_to_vec().expect("networks are made of f32");
        self.0.insert(name.to_owned(), Array { shape, values });
    }

    /// Replaces the value of a tensor.
    pub(super) fn load<const D: usize>(&self, name: &str, into: &mut Tensor<D>) -> Result<(), StateError> {
        let array = self.0.get(name).ok_or_else(|| StateError::Missing(name.to_owned()))?;
        if array.shape != into.dims() {
            let (expected, found) = (into.dims().to_vec(), array.shape.clone());
            return Err(StateError::Shape { name: name.to_owned(), expected, found });
        }
        *into = Tensor::from_data(TensorData::new(array.values.clone(), into.dims()), &into.device());
        Ok(())
    }

    /// Replaces the value of a parameter, which stays as trainable as it was.
    pub(super) fn load_parameter<const D: usize>(
        &self,
        name: &str,
        into: &mut Param<Tensor<D>>,
    ) -> Result<(), StateError> {
        let mut value = into.val();
        let trainable = value.is_require_grad();
        self.load(name, &mut value)?;
        *into = Param::initialized(into.id, if trainable { value.require_grad() } else { value });
        Ok(())
    }
}
