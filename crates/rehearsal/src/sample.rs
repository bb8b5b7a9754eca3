//! Images, labels and what they are called: newtypes for what is easily swapped. The only place
//! where bytes become tensors.

use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use rehearsal_data::feature_view;
pub use rehearsal_data::{Image, ImageShape, InputShape};

use crate::device::upload;

/// A class, numbered in order of appearance in the stream: the classes seen so far are always `0..n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Class(pub u16);

/// A task of the stream, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub u16);

/// A place in the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub usize);

impl Class {
    /// As an index into logits.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl TaskId {
    /// As an index into the list of tasks.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// One labelled image of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The raw image.
    pub image: Image,
    /// Its class.
    pub label: Class,
    /// The task it came with.
    pub task: TaskId,
}

/// Bytes to a tensor `[n, height, width, channels]`: pixels to values in [0, 1] (`byte as f32 / 255` is exact
/// both ways), features to vectors of length 1.
pub fn to_tensor<'a>(
    samples: impl ExactSizeIterator<Item = &'a [u8]>,
    shape: impl Into<InputShape>,
    device: &Device,
) -> Tensor<4> {
    let (count, shape) = (samples.len(), shape.into());
    let ImageShape { height, width, channels } = shape.image();
    let mut values = Vec::with_capacity(count * height * width * channels);
    for sample in samples {
        assert_eq!(sample.len(), shape.bytes(), "a sample of another shape");
        match shape {
            InputShape::Pixels(_) => values.extend(sample.iter().map(|&byte| f32::from(byte) / 255.0)),
            InputShape::Features { features } => {
                let scale = 1.0 / (FEATURE_ONE * feature_scale(features));
                values.extend(feature_view(sample, 0).map(|value| f32::from(value) * scale));
            }
        }
    }
    upload(TensorData::new(values, [count, height, width, channels]), device)
}

/// The integer of a feature whose value is 1.
const FEATURE_ONE: f32 = 4096.0;

/// Stored features have a mean square of 1: divided by this they have a length of 1.
pub(crate) fn feature_scale(features: usize) -> f32 {
    (features as f32).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_the_way_to_floats_and_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let shape = ImageShape { height: 16, width: 16, channels: 1 };
        let tensor = to_tensor([&bytes[..]].into_iter(), shape, &Device::flex());
        let back: Vec<u8> =
            tensor.into_data().try_to_vec::<f32>().unwrap().iter().map(|value| (value * 255.0) as u8).collect();
        assert_eq!(back, bytes, "V13: round trip exact");
    }

    #[test]
    fn stored_features_become_vectors_of_length_1() {
        let sample: Vec<u8> = [4096_i16, -4096, 4096, 4096, 1, 2, 3, 4].iter().flat_map(|v| v.to_le_bytes()).collect();
        let tensor = to_tensor([&sample[..]].into_iter(), InputShape::Features { features: 4 }, &Device::flex());
        assert_eq!(tensor.dims(), [1, 1, 1, 4]);
        assert_eq!(tensor.into_data().try_to_vec::<f32>().unwrap(), [0.5, -0.5, 0.5, 0.5], "not the mirror image's");
    }

    #[test]
    fn a_tensor_has_the_axes_of_a_non_square_image() {
        let shape = ImageShape { height: 2, width: 3, channels: 1 };
        let image: Image = [0u8, 51, 102, 153, 204, 255].into();
        let tensor = to_tensor([&*image].into_iter(), shape, &Device::flex());
        assert_eq!(tensor.dims(), [1, 2, 3, 1]);
        assert_eq!(tensor.into_data().try_to_vec::<f32>().unwrap(), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    }
}
