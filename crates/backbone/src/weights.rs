//! Tensors of a safetensors file, as `f32`.

use half::f16;
use safetensors::{Dtype, SafeTensors};

use crate::BackboneError;

/// A file of weights.
pub(crate) struct Weights<'a>(SafeTensors<'a>);

impl<'a> Weights<'a> {
    pub fn new(bytes: &'a [u8]) -> Result<Self, BackboneError> {
        Ok(Self(SafeTensors::deserialize(bytes)?))
    }

    /// A tensor of this shape, in float16 or float32.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, BackboneError> {
        let tensor = self.0.tensor(name).map_err(|_| BackboneError::Missing(name.to_owned()))?;
        if tensor.shape() != shape || !matches!(tensor.dtype(), Dtype::F16 | Dtype::F32) {
            let found = format!("{:?} {:?}", tensor.dtype(), tensor.shape());
            return Err(BackboneError::Shape { name: name.to_owned(), found, expected: format!("{shape:?}") });
        }
        let values: Vec<f32> = if tensor.dtype() == Dtype::F16 {
            tensor.data().as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect()
        } else {
            tensor.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        };
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(BackboneError::NotFinite(name.to_owned()))
        }
    }
}
