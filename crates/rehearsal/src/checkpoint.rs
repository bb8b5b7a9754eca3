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
    diagnostics::Diagnostics,
    memory::{Memorized, Memory},
    network::{Array, State, StateError},
    sample::{Class, ImageShape, Sample, TaskId},
};

const FORMAT: u32 = 2;
const NETWORK: &str = "network.";
const METHOD: &str = "method.";

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

/// What a step was like.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastStep {
    /// The loss; none where the step only moved the running statistics.
    pub loss: Option<f32>,
    /// How many samples were replayed.
    pub retrieved: usize,
    /// How many samples the memory held after it.
    pub memory: usize,
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
    /// What the last step was like.
    #[serde(default)]
    pub last: Option<LastStep>,
    /// What was seen while looking into the steps, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Diagnostics>,
}

/// All that a run is.
pub struct Checkpoint {
    /// Every parameter and running statistic.
    pub network: State,
    /// What the method remembers from step to step.
    pub method: State,
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

/// What a header of any format has.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

#[derive(Serialize, Deserialize)]
struct Header {
    format: u32,
    capacity: usize,
    presented_by_class: Vec<u64>,
    progress: Progress,
}

/// An array on its way into a file.
struct Saved<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl Saved<'_> {
    fn floats<'a>(shape: Vec<usize>, values: impl Iterator<Item = &'a f32>) -> Self {
        let bytes: Vec<u8> = values.flat_map(|value| value.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape, bytes: bytes.into() }
    }
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
        let states = [(NETWORK, &self.network), (METHOD, &self.method)].into_iter().flat_map(|(prefix, state)| {
            let named = move |(name, array): (&String, &Array)| {
                (format!("{prefix}{name}"), Saved::floats(array.shape.clone(), array.values.iter()))
            };
            state.0.iter().map(named)
        });
        let header = Header {
            format: FORMAT,
            capacity: self.memory.capacity(),
            presented_by_class: self.memory.presented_by_class().to_vec(),
            progress: self.progress.clone(),
        };
        let header = serde_json::to_string(&header).expect("a header is plain data");
        let header = HashMap::from([("rehearsal".to_owned(), header)]);
        serialize(states.chain(slots_to_arrays(self.memory.slots())), Some(header)).expect("names and shapes are ours")
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// They are not a checkpoint of a run with images of `shape`.
    pub fn from_bytes(bytes: &[u8], shape: ImageShape) -> Result<Self, CheckpointError> {
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(malformed)?;
        let text = metadata.metadata().as_ref().and_then(|entries| entries.get("rehearsal"));
        let text = text.ok_or_else(|| malformed("it has no header of ours"))?;
        let Format { format } = serde_json::from_str(text).map_err(malformed)?;
        if format != FORMAT {
            return Err(malformed(format!("it has format {format}, this program reads {FORMAT}")));
        }
        let header: Header = serde_json::from_str(text).map_err(malformed)?;
        let file = SafeTensors::deserialize(bytes).map_err(malformed)?;
        let slots = arrays_to_slots(&file, shape)?;
        if !possible(&slots, &header) {
            return Err(malformed("its memory does not hold what was presented"));
        }
        let memory = Memory::restore(header.capacity, slots, header.presented_by_class);
        let (network, method) = (state(&file, NETWORK)?, state(&file, METHOD)?);
        Ok(Self { network, method, memory, progress: header.progress })
    }
}

#[allow(clippy::needless_pass_by_value, reason = "so that it can be named in `map_err`")]
fn malformed(why: impl ToString) -> CheckpointError {
    CheckpointError::Malformed(why.to_string())
}

/// Whether a memory can hold these samples after what was presented to it.
fn possible(slots: &[Memorized], Header { capacity, presented_by_class, .. }: &Header) -> bool {
    let add = |total: u64, count: &u64| total.checked_add(*count).filter(|&total| total < 1 << 60);
    let Some(presented) = presented_by_class.iter().try_fold(0, add) else { return false };
    let mut left = presented_by_class.clone();
    for stored in slots {
        match left.get_mut(stored.sample.label.index()) {
            Some(left) if *left > 0 => *left -= 1,
            _ => return false,
        }
    }
    slots.len() as u64 == presented.min(*capacity as u64)
}

/// All arrays under `prefix`.
fn state(file: &SafeTensors, prefix: &str) -> Result<State, CheckpointError> {
    let mut state = State::default();
    for (name, view) in file.tensors() {
        if let Some(short) = name.strip_prefix(prefix) {
            let array = Array { shape: view.shape().to_vec(), values: floats(file, &name)? };
            state.0.insert(short.to_owned(), array);
        }
    }
    Ok(state)
}

fn slots_to_arrays(slots: &[Memorized]) -> Vec<(String, Saved<'static>)> {
    let samples = || slots.iter().map(|stored| &stored.sample);
    let numbers = |numbers: Vec<u16>| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Saved { dtype: Dtype::U16, shape: vec![numbers.len()], bytes: bytes.into() }
    };
    let images: Vec<u8> = samples().flat_map(|sample| sample.image.iter().copied()).collect();
    let mut arrays = vec![
        ("memory.images", Saved { dtype: Dtype::U8, shape: vec![images.len()], bytes: images.into() }),
        ("memory.labels", numbers(samples().map(|sample| sample.label.0).collect())),
        ("memory.tasks", numbers(samples().map(|sample| sample.task.0).collect())),
        ("memory.scores", Saved::floats(vec![slots.len()], slots.iter().map(|stored| &stored.score))),
    ];
    // A method keeps the scores of all samples or of none.
    let logits: Option<Vec<&[f32]>> = slots.iter().map(|stored| stored.logits.as_deref()).collect();
    if let Some(rows) = logits.filter(|rows| !rows.is_empty()) {
        arrays.push(("memory.logits", Saved::floats(vec![rows.len(), rows[0].len()], rows.iter().copied().flatten())));
    }
    arrays.into_iter().map(|(name, saved)| (name.to_owned(), saved)).collect()
}

fn arrays_to_slots(file: &SafeTensors, shape: ImageShape) -> Result<Vec<Memorized>, CheckpointError> {
    let numbers = |name: &str| -> Result<Vec<u16>, CheckpointError> {
        let bytes = array(file, name, Dtype::U16)?;
        Ok(bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect())
    };
    let images = array(file, "memory.images", Dtype::U8)?;
    let (labels, tasks, scores) = (numbers("memory.labels")?, numbers("memory.tasks")?, floats(file, "memory.scores")?);
    let count = labels.len();
    if images.len() != count * shape.bytes() || tasks.len() != count || scores.len() != count {
        return Err(malformed("its memory does not fit the images of this run"));
    }
    let logits = match file.tensor("memory.logits") {
        Err(_) => None,
        Ok(view) if view.shape().len() == 2 && view.shape()[0] == count && view.shape()[1] > 0 => {
            Some((floats(file, "memory.logits")?, view.shape()[1]))
        }
        Ok(_) => return Err(malformed("its memory has other scores than samples")),
    };
    let slot = |index: usize| {
        let image = &images[index * shape.bytes()..][..shape.bytes()];
        let sample = Sample { image: image.into(), label: Class(labels[index]), task: TaskId(tasks[index]) };
        let logits = logits.as_ref().map(|(values, classes)| Arc::from(&values[index * classes..][..*classes]));
        Memorized { sample, logits, score: scores[index] }
    };
    Ok((0..count).map(slot).collect())
}

fn array<'a>(file: &SafeTensors<'a>, name: &str, dtype: Dtype) -> Result<&'a [u8], CheckpointError> {
    let view = file.tensor(name).map_err(malformed)?;
    if view.dtype() != dtype {
        return Err(malformed(format!("{name} is {:?}, not {dtype:?}", view.dtype())));
    }
    Ok(view.data())
}

fn floats(file: &SafeTensors, name: &str) -> Result<Vec<f32>, CheckpointError> {
    let bytes = array(file, name, Dtype::F32)?;
    Ok(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: ImageShape = ImageShape { height: 1, width: 2, channels: 1 };

    fn checkpoint() -> Checkpoint {
        let array = Array { shape: vec![2, 1], values: vec![f32::MIN_POSITIVE, -0.1] };
        let stored = |byte: u8| Memorized {
            sample: Sample { image: [byte, 9].into(), label: Class(u16::from(byte) + 300), task: TaskId(1) },
            logits: Some(Arc::from([f32::from(byte), -0.0])),
            score: 0.1 * f32::from(byte),
        };
        let mut presented = vec![0; 303];
        presented[301..].copy_from_slice(&[1, 1]);
        let progress = Progress {
            position: Position { task: 1, epoch: 2, batch: 3 },
            steps: 77,
            steps_length: 5,
            ..Progress::default()
        };
        Checkpoint {
            network: State([("head.weight".to_owned(), array.clone())].into()),
            method: State([("stable.head.weight".to_owned(), array)].into()),
            memory: Memory::restore(4, vec![stored(1), stored(2)], presented),
            progress,
        }
    }

    #[test]
    fn comes_back_bit_for_bit() {
        let saved = checkpoint();
        let loaded = Checkpoint::from_bytes(&saved.to_bytes(), SHAPE).unwrap();
        assert_eq!(loaded.network, saved.network);
        assert_eq!(loaded.progress, saved.progress);
        assert_eq!(loaded.method, saved.method);
        assert_eq!(loaded.memory, saved.memory);
    }

    #[test]
    fn a_memory_that_cannot_be_is_refused() {
        let refused = |change: fn(&mut Vec<u64>)| {
            let mut saved = checkpoint();
            let mut presented = saved.memory.presented_by_class().to_vec();
            change(&mut presented);
            // Through `restore`, whose asserts are for our own mistakes.
            saved.memory = Memory::restore(4, saved.memory.slots().to_vec(), presented);
            Checkpoint::from_bytes(&saved.to_bytes(), SHAPE).is_err()
        };
        assert!(!refused(|_| {}));
        assert!(refused(|presented| presented[301] = 0), "stored and never presented");
        assert!(refused(|presented| presented[0] = 1), "three presented, two of four slots taken");
        assert!(refused(|presented| presented[0] = u64::MAX), "more than can be counted");
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
