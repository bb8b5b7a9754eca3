//! A checkpoint: all that a run is, in one safetensors file. Arrays are the network and the memory; the rest is JSON in the header.
//!
//! No generator is saved: every draw follows from the seed and the position (see [`crate::chance`]).

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use measure::AccuracyMatrix;
use safetensors::{Dtype, SafeTensors, View, serialize};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    clock::Phases,
    memory::Memory,
    network::{Array, State, StateError},
    sample::{Class, ImageShape, Sample, TaskId},
};

const FORMAT: u32 = 1;
const NETWORK: &str = "network.";

/// Where in the stream a run is: everything before this batch has been learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The task.
    pub task: usize,
    /// The epoch of the task.
    pub epoch: usize,
    /// The batch of the epoch.
    pub batch: usize,
}

/// What a run has come to, besides network and memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Where it is.
    pub position: Position,
    /// Steps taken.
    pub steps: u64,
    /// Accuracies after each finished task.
    pub matrix: AccuracyMatrix,
    /// Seconds spent on each task.
    pub task_seconds: Vec<f64>,
    /// Seconds by what they were spent on.
    pub phases: Phases,
    /// The highest resident memory so far, in bytes.
    pub peak_memory_bytes: Option<u64>,
    /// How long `steps.jsonl` was.
    pub steps_length: u64,
}

/// All that a run is.
pub struct Checkpoint {
    /// Every parameter and running statistic.
    pub network: State,
    /// What is remembered.
    pub memory: Memory,
    /// The rest.
    pub progress: Progress,
}

/// Why bytes are not a checkpoint of this run.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// Not our file.
    #[error("not a checkpoint: {0}")]
    Malformed(String),
    /// The network has another shape.
    #[error("not a checkpoint of this network: {0}")]
    Network(#[from] StateError),
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    capacity: usize,
    presented: u64,
    progress: Progress,
}

/// An array on its way into a file.
struct Saved<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl View for Saved<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl Checkpoint {
    /// As the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let network = self.network.0.iter().map(|(name, array)| {
            let bytes: Vec<u8> = array.values.iter().flat_map(|value| value.to_le_bytes()).collect();
            (format!("{NETWORK}{name}"), Saved { dtype: Dtype::F32, shape: array.shape.clone(), bytes: bytes.into() })
        });
        let samples = self.memory.samples();
        let memory = [
            (
                "memory.images",
                Dtype::U8,
                samples.iter().flat_map(|sample| sample.image.iter().copied()).collect::<Vec<u8>>(),
            ),
            ("memory.labels", Dtype::U16, samples.iter().flat_map(|sample| sample.label.0.to_le_bytes()).collect()),
            ("memory.tasks", Dtype::U16, samples.iter().flat_map(|sample| sample.task.0.to_le_bytes()).collect()),
        ];
        let memory = memory.into_iter().map(|(name, dtype, bytes)| {
            let length = bytes.len() / if dtype == Dtype::U16 { 2 } else { 1 };
            (name.to_owned(), Saved { dtype, shape: vec![length], bytes: bytes.into() })
        });
        let header = Header {
            format: FORMAT,
            capacity: self.memory.capacity(),
            presented: self.memory.presented(),
            progress: self.progress.clone(),
        };
        let header = serde_json::to_string(&header).expect("a header is plain data");
        serialize(network.chain(memory), Some(HashMap::from([("rehearsal".to_owned(), header)])))
            .expect("names and shapes are ours")
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// They are not a checkpoint of a run with images of `shape`.
    pub fn from_bytes(bytes: &[u8], shape: ImageShape) -> Result<Self, CheckpointError> {
        let malformed = |why: String| CheckpointError::Malformed(why);
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| malformed(error.to_string()))?;
        let text = metadata.metadata().as_ref().and_then(|entries| entries.get("rehearsal"));
        let text = text.ok_or_else(|| malformed("it has no header of ours".into()))?;
        let header: Header = serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if header.format != FORMAT {
            return Err(malformed(format!("it has format {}, this program reads {FORMAT}", header.format)));
        }
        let file = SafeTensors::deserialize(bytes).map_err(|error| malformed(error.to_string()))?;
        let mut network = State::default();
        for (name, view) in file.tensors() {
            if let Some(name) = name.strip_prefix(NETWORK) {
                if view.dtype() != Dtype::F32 {
                    return Err(malformed(format!("{name} is {:?}, not F32", view.dtype())));
                }
                let values = view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
                network.0.insert(name.to_owned(), Array { shape: view.shape().to_vec(), values });
            }
        }
        let part = |name: &str| {
            file.tensor(name).map(|view| view.data().to_vec()).map_err(|error| malformed(error.to_string()))
        };
        let numbers = |bytes: Vec<u8>| -> Vec<u16> {
            bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect()
        };
        let (images, labels, tasks) =
            (part("memory.images")?, numbers(part("memory.labels")?), numbers(part("memory.tasks")?));
        if images.len() != labels.len() * shape.bytes() || tasks.len() != labels.len() || labels.len() > header.capacity
        {
            return Err(malformed("its memory does not fit the images of this run".into()));
        }
        let samples = images.chunks_exact(shape.bytes()).zip(labels.iter().zip(&tasks));
        let samples = samples.map(|(image, (&label, &task))| Sample {
            image: Arc::from(image),
            label: Class(label),
            task: TaskId(task),
        });
        let memory = Memory::restore(header.capacity, samples.collect(), header.presented);
        Ok(Self { network, memory, progress: header.progress })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: ImageShape = ImageShape { height: 1, width: 2, channels: 1 };

    fn checkpoint() -> Checkpoint {
        let array = Array { shape: vec![2, 1], values: vec![f32::MIN_POSITIVE, -0.1] };
        let sample =
            |byte: u8| Sample { image: Arc::from([byte, 9]), label: Class(u16::from(byte) + 300), task: TaskId(1) };
        let progress = Progress {
            position: Position { task: 1, epoch: 2, batch: 3 },
            steps: 77,
            steps_length: 5,
            ..Progress::default()
        };
        Checkpoint {
            network: State([("head.weight".to_owned(), array)].into()),
            memory: Memory::restore(4, vec![sample(1), sample(2)], 1234),
            progress,
        }
    }

    #[test]
    fn comes_back_bit_for_bit() {
        let saved = checkpoint();
        let loaded = Checkpoint::from_bytes(&saved.to_bytes(), SHAPE).unwrap();
        assert_eq!(loaded.network, saved.network);
        assert_eq!(loaded.progress, saved.progress);
        assert_eq!(loaded.memory.samples(), saved.memory.samples());
        assert_eq!((loaded.memory.capacity(), loaded.memory.presented()), (4, 1234));
    }

    #[test]
    fn a_cut_or_foreign_file_is_refused() {
        let bytes = checkpoint().to_bytes();
        for length in 0..bytes.len() {
            assert!(Checkpoint::from_bytes(&bytes[..length], SHAPE).is_err(), "{length}");
        }
        let wider = ImageShape { width: 3, ..SHAPE };
        assert!(Checkpoint::from_bytes(&bytes, wider).err().unwrap().to_string().contains("does not fit the images"));
    }
}
