//! Images, labels and what they are called: newtypes for what is easily swapped. The only place
//! where bytes become tensors.

use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

pub use rehearsal_data::{Image, ImageShape};

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

/// Bytes to a tensor `[n, height, width, channels]` of values in [0, 1]. `byte as f32 / 255` is exact both ways.
pub fn to_tensor<'a>(images: impl ExactSizeIterator<Item = &'a [u8]>, shape: ImageShape, device: &Device) -> Tensor<4> {
    let count = images.len();
    let mut values = Vec::with_capacity(count * shape.bytes());
    for image in images {
        assert_eq!(image.len(), shape.bytes(), "an image of another shape");
        values.extend(image.iter().map(|&byte| f32::from(byte) / 255.0));
    }
    upload(TensorData::new(values, [count, shape.height, shape.width, shape.channels]), device)
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
    fn a_tensor_has_the_axes_of_a_non_square_image() {
        let shape = ImageShape { height: 2, width: 3, channels: 1 };
        let image: Image = [0u8, 51, 102, 153, 204, 255].into();
        let tensor = to_tensor([&*image].into_iter(), shape, &Device::flex());
        assert_eq!(tensor.dims(), [1, 2, 3, 1]);
        assert_eq!(tensor.into_data().try_to_vec::<f32>().unwrap(), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
    }
}
