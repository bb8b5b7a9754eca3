//! A saved learner: one file that stands alone. See `docs/model-file.md`.

mod checks;

use std::{collections::BTreeMap, fs::File, io, path::Path, sync::Arc};

use rehearsal_data::Preprocessing;
use rehearsal_files::{
    atomic,
    model_file::{self, ArrayToWrite, FORMAT, ModelFileError, Reader},
    seal::UNSEALED,
};
use safetensors::{Dtype, tensor::TensorInfo};
use serde::{Deserialize, Serialize};

use super::{
    Calibrated, Classes, Cursor, Learner, LearnerError, Parts, Use, check_names, check_shape,
    extra::{EXTRA, Extra, ExtraArray},
    machine_memory, parameters,
};
use crate::{
    config::LearnerConfig,
    device::DeviceName,
    memory::{Memorized, Memory},
    network::{Array, HeadKind, State, StateError},
    sample::{Class, InputShape, Sample, TaskId},
};

const NETWORK: &str = "network.";
const METHOD: &str = "method.";
const OPTIMIZER: &str = "optimizer.";
const CALIBRATION: &str = "calibration.";
/// Bytes of images that are written at once, about.
const PIECE: usize = 1 << 20;
/// Classes are numbered by 16 bits.
const MOST_CLASSES: usize = 1 << 16;
/// No learner takes this many steps: counts below it can be added and multiplied by a few.
const ENDLESS: u64 = 1 << 48;

/// What stands in the header beside the arrays.
#[derive(Serialize, Deserialize)]
struct Header {
    /// The first key: where it stands in the file is known.
    sha256: String,
    format: u64,
    version: String,
    classes: Vec<String>,
    seen: usize,
    /// Those that are no longer predicted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    retired: Vec<u16>,
    image: InputShape,
    /// Of pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preprocessing: Option<Preprocessing>,
    head: HeadKind,
    /// The prefix of the arrays of the network that predicts.
    predictor: String,
    /// If the predictor is recalibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<CalibrationHeader>,
    config: LearnerConfig,
    position: Cursor,
    memory: MemoryHeader,
    /// What a run adds; nothing for a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<serde_json::Value>,
    /// What a program that keeps models adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extra: Option<serde_json::Value>,
}

/// What stands in a file beside the learner.
#[derive(Default)]
pub(crate) struct Added<'a> {
    /// A run's settings and progress.
    pub run: Option<serde_json::Value>,
    /// What a program adds.
    pub extra: Option<&'a Extra>,
}

/// What a file held.
pub(crate) struct Loaded {
    pub learner: Learner,
    pub run: Option<serde_json::Value>,
    pub extra: Option<Extra>,
    /// The file's checksum.
    pub sha256: String,
}

#[derive(Serialize, Deserialize)]
struct CalibrationHeader {
    /// How many images the memory held.
    images: usize,
}

#[derive(Serialize, Deserialize)]
struct MemoryHeader {
    capacity: usize,
    #[serde(rename = "presented_by_class")]
    seen_by_class: Vec<u64>,
}

impl Learner {
    /// Saves it, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written; what was there before still is.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), LearnerError> {
        self.save_added(path.as_ref(), Added::default()).map(drop)
    }

    /// Saves it and what stands beside it, whole or not at all; the file's checksum.
    pub(super) fn save_added(&self, path: &Path, added: Added) -> Result<String, LearnerError> {
        let mut checksum = String::new();
        let written = atomic::write_with(path, |file| {
            checksum = self.write_to(file, added)?;
            Ok(())
        });
        written.map_err(|error| ModelFileError::Unwritable { path: path.into(), error })?;
        Ok(checksum)
    }

    /// The learner of a file, ready to predict and to go on learning, on the device that it learned on.
    ///
    /// # Errors
    /// The file is not a model, of another format, or damaged; or it was learned with custom parts.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, LearnerError> {
        Self::load_with(path, Parts::new())
    }

    /// As [`Learner::load`], for a learner with custom parts.
    ///
    /// # Errors
    /// As [`Learner::load`]; or the parts are not those that it was learned with.
    pub fn load_with(path: impl AsRef<Path>, parts: Parts) -> Result<Self, LearnerError> {
        Ok(Self::read(path.as_ref(), parts, |_| {})?.learner)
    }

    /// As [`Learner::load`], on this device, whichever it was learned on.
    ///
    /// # Errors
    /// As [`Learner::load`]; or this machine or program has no such device.
    pub fn load_on(path: impl AsRef<Path>, device: DeviceName) -> Result<Self, LearnerError> {
        Ok(Self::read(path.as_ref(), Parts::new(), |config| config.device = device)?.learner)
    }

    /// Writes it into a file, and what is added; the file's checksum.
    pub(crate) fn write_to(&self, file: &mut File, added: Added) -> io::Result<String> {
        let Added { run, extra } = added;
        let header = serde_json::to_string(&self.header(run, extra.map(|extra| extra.header.clone())))?;
        let mut arrays = self.arrays();
        arrays.extend(extra.into_iter().flat_map(Extra::to_write));
        model_file::write(file, &header, arrays)
    }

    fn header(&self, run: Option<serde_json::Value>, extra: Option<serde_json::Value>) -> Header {
        Header {
            sha256: UNSEALED.to_owned(),
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            classes: self.classes.names().iter().map(ToString::to_string).collect(),
            seen: self.classes.seen(),
            retired: self.classes.retired().map(|class| class.0).collect(),
            image: self.shape,
            preprocessing: plain(self.shape),
            head: self.method.head(),
            predictor: checks::predictor(self),
            calibration: self.calibration_images().map(|images| CalibrationHeader { images }),
            config: self.config_in(extra.as_ref()),
            position: self.cursor,
            memory: MemoryHeader {
                capacity: self.memory.capacity(),
                seen_by_class: self.memory.seen_by_class().to_vec(),
            },
            run,
            extra,
        }
    }

    /// A version of a model is the same on any number of threads, so it does not say how many.
    fn config_in(&self, extra: Option<&serde_json::Value>) -> LearnerConfig {
        let threads = if extra.is_some() { 0 } else { self.config.threads };
        LearnerConfig { threads, ..self.config.clone() }
    }

    fn arrays(&self) -> Vec<ArrayToWrite<'_>> {
        let mut arrays = Vec::new();
        let states = [
            (NETWORK, self.network.state()),
            (METHOD, self.method.state()),
            (OPTIMIZER, self.optimizer.state(&self.network)),
            (CALIBRATION, self.calibrated.as_ref().map(|c| c.network.running()).unwrap_or_default()),
        ];
        for (prefix, state) in states {
            for (name, Array { shape, values }) in state.0 {
                arrays.push(floats(format!("{prefix}{name}"), shape, std::iter::once(values)));
            }
        }
        arrays.extend(memory_arrays(self.memory.slots(), self.shape));
        arrays
    }

    /// Reads a learner and what was added. `adjust` may change what does not change results.
    pub(crate) fn read(
        path: &Path,
        parts: Parts,
        adjust: impl FnOnce(&mut LearnerConfig),
    ) -> Result<Loaded, LearnerError> {
        let mut reader = Reader::open(path, FORMAT)?;
        let unusable = |why: String| ModelFileError::Unusable { path: path.into(), why };
        if let Some(available) = machine_memory().filter(|&available| reader.length() > available) {
            let why = format!("it has {} bytes, and this machine has {available} of memory", reader.length());
            return Err(unusable(why).into());
        }
        let header: Result<Header, _> = serde_json::from_str(reader.header());
        let has_kind =
            serde_json::from_str(reader.header()).is_ok_and(|json: serde_json::Value| json.get("kind").is_some());
        let shape = header.as_ref().ok().map(|header| header.image).filter(|image| check_shape(image.image()).is_ok());
        let mut contents = Contents::read(&mut reader, shape)?;
        // Only now is it known that the header is as it was written.
        let sha256 = reader.finish()?;
        let why = |error: serde_json::Error| {
            let other = "it is a version of a model with a pre-trained backbone, not a learner";
            if has_kind { other.to_owned() } else { error.to_string() }
        };
        let mut header = header.map_err(|error| unusable(why(error)))?;
        adjust(&mut header.config);
        let run = header.run.take();
        let arrays = std::mem::take(&mut contents.extra);
        let extra = header.extra.take().map(|header| Extra { header, arrays });
        let learner = restore(&header, &contents, parts).map_err(|error| match error {
            RestoreError::Why(why) => unusable(why).into(),
            RestoreError::Learner(error) => error,
        })?;
        Ok(Loaded { learner, run, extra, sha256 })
    }
}

enum RestoreError {
    Why(String),
    Learner(LearnerError),
}

impl From<StateError> for RestoreError {
    fn from(error: StateError) -> Self {
        Self::Why(error.to_string())
    }
}

impl From<LearnerError> for RestoreError {
    fn from(error: LearnerError) -> Self {
        Self::Learner(error)
    }
}

fn restore(header: &Header, contents: &Contents, parts: Parts) -> Result<Learner, RestoreError> {
    let Header { classes, seen, retired, image, calibration, config, position, memory, .. } = header;
    let (seen, image, position) = (*seen, *image, *position);
    if seen > classes.len() || classes.len() > MOST_CLASSES {
        return Err(RestoreError::Why("it has seen more classes than it knows, or more than can be numbered".into()));
    }
    check_names(classes).map_err(|_| RestoreError::Why("two of its classes have the same name".into()))?;
    let Cursor { task, epoch, batch, steps } = position;
    if [task as u64, epoch as u64, batch as u64, steps].iter().any(|&count| count >= ENDLESS) {
        return Err(RestoreError::Why(format!("its cursor is impossible: {position:?}")));
    }
    check_shape(image.image())?;
    // Nothing is made that is larger than what is in the file.
    let network = contents.state(NETWORK);
    let stored: usize = network.0.values().map(|array| array.values.len()).sum();
    if parameters(config, image.image(), classes.len()) > stored as f64 {
        return Err(RestoreError::Why("its network is smaller than its settings say".into()));
    }
    let mut learner = Learner::new_to(Use::Predict, config.clone(), image, classes, parts)?;
    checks::told(header, &learner).map_err(RestoreError::Why)?;
    checks::numbers(&contents.floats, &header.predictor).map_err(RestoreError::Why)?;
    learner.classes = Classes::restore(classes, seen).with_retired(retired);
    learner.network.load(&network)?;
    learner.method.load(&contents.state(METHOD))?;
    learner.optimizer.load(&contents.state(OPTIMIZER), &learner.network)?;
    let logits = learner.method.stores_logits().then_some(classes.len());
    let slots = contents.slots(logits).map_err(RestoreError::Why)?;
    let possible = memory.capacity == learner.config.replay.memory
        && memory.seen_by_class.len() <= seen
        && is_possible(&slots, memory);
    if !possible {
        return Err(RestoreError::Why("its memory does not hold what it has seen".into()));
    }
    learner.memory = Memory::restore(memory.capacity, slots, memory.seen_by_class.clone());
    learner.cursor = position;
    if let Some(&CalibrationHeader { images }) = calibration.as_ref() {
        let network = learner.predictor().valid().with_running(&contents.state(CALIBRATION));
        let network = network.map_err(|error| error.under(CALIBRATION))?;
        learner.calibrated = Some(Calibrated { network, images });
    }
    Ok(learner)
}

/// Whether a memory can hold these samples after those that it has seen.
fn is_possible(slots: &[Memorized], MemoryHeader { capacity, seen_by_class }: &MemoryHeader) -> bool {
    let add = |total: u64, count: &u64| total.checked_add(*count).filter(|&total| total < 1 << 60);
    let Some(seen) = seen_by_class.iter().try_fold(0, add) else { return false };
    let mut left = seen_by_class.clone();
    for stored in slots {
        match left.get_mut(stored.sample.label.index()) {
            Some(left) if *left > 0 => *left -= 1,
            _ => return false,
        }
    }
    slots.len() as u64 <= seen.min(*capacity as u64)
}

fn floats<'a>(name: String, shape: Vec<usize>, pieces: impl Iterator<Item = Vec<f32>> + 'a) -> ArrayToWrite<'a> {
    let bytes = |values: Vec<f32>| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    ArrayToWrite { name, dtype: Dtype::F32, shape, pieces: Box::new(pieces.map(bytes)) }
}

/// How a photo becomes pixels; features are not made by a learner.
fn plain(input: InputShape) -> Option<Preprocessing> {
    match input {
        InputShape::Pixels(shape) => Some(Preprocessing::plain(shape)),
        InputShape::Features { .. } => None,
    }
}

fn memory_arrays(slots: &[Memorized], shape: InputShape) -> Vec<ArrayToWrite<'_>> {
    let count = slots.len();
    let numbers = |name: &str, number: fn(&Sample) -> u16| {
        let bytes = slots.iter().flat_map(|stored| number(&stored.sample).to_le_bytes()).collect();
        let pieces = Box::new(std::iter::once(bytes));
        ArrayToWrite { name: name.into(), dtype: Dtype::U16, shape: vec![count], pieces }
    };
    let concatenated = |slots: &[Memorized]| slots.iter().flat_map(|s| s.sample.image.iter().copied()).collect();
    let images = slots.chunks((PIECE / shape.bytes().max(1)).max(1)).map(concatenated);
    let similarities = slots.iter().map(|stored| stored.similarity).collect();
    let mut arrays = vec![
        ArrayToWrite {
            name: "memory.images".into(),
            dtype: Dtype::U8,
            shape: [&[count][..], &shape.axes()].concat(),
            pieces: Box::new(images),
        },
        numbers("memory.labels", |sample| sample.label.0),
        numbers("memory.tasks", |sample| sample.task.0),
        floats("memory.similarities".into(), vec![count], std::iter::once(similarities)),
    ];
    // A method keeps the logits of all samples or of none.
    let rows: Option<Vec<&[f32]>> = slots.iter().map(|stored| stored.logits.as_deref()).collect();
    if let Some(rows) = rows.filter(|rows| !rows.is_empty()) {
        let shape = vec![count, rows[0].len()];
        arrays.push(floats("memory.logits".into(), shape, rows.into_iter().map(<[f32]>::to_vec)));
    }
    arrays
}

/// The arrays of a file.
#[derive(Default)]
struct Contents {
    floats: State,
    labels: Vec<u16>,
    tasks: Vec<u16>,
    images: Vec<Arc<[u8]>>,
    extra: BTreeMap<String, ExtraArray>,
}

impl Contents {
    /// Reads every array. Images come one by one, so that they are in memory once.
    fn read(reader: &mut Reader, shape: Option<InputShape>) -> Result<Self, ModelFileError> {
        let mut contents = Self::default();
        while let Some((name, info)) = reader.next_array() {
            let bytes = info.data_offsets.1 - info.data_offsets.0;
            match (name.as_str(), info.dtype, shape) {
                ("memory.images", Dtype::U8, Some(shape)) => {
                    contents.images = read_images(reader, bytes, shape.bytes())?;
                }
                ("memory.labels", Dtype::U16, _) => contents.labels = numbers(&read_bytes(reader, bytes)?),
                ("memory.tasks", Dtype::U16, _) => contents.tasks = numbers(&read_bytes(reader, bytes)?),
                (_, Dtype::F32, _) => {
                    let array = float_array(info, &read_bytes(reader, bytes)?);
                    contents.floats.0.insert(name, array);
                }
                (name, Dtype::U8, _) if name.starts_with(EXTRA) => {
                    let array = ExtraArray { shape: info.shape, bytes: read_bytes(reader, bytes)? };
                    contents.extra.insert(name[EXTRA.len()..].to_owned(), array);
                }
                // Unknown arrays count for the checksum and for nothing else.
                _ => drop(read_bytes(reader, bytes)?),
            }
        }
        Ok(contents)
    }

    fn state(&self, prefix: &str) -> State {
        self.floats.under(prefix)
    }

    /// The samples of the memory, with `logits` logits each, if the method stores them.
    fn slots(&self, logits: Option<usize>) -> Result<Vec<Memorized>, String> {
        let count = self.labels.len();
        let expect = |name: &str, shape: &[usize]| self.floats.array(name, shape).map_err(|error| error.to_string());
        let similarities = expect("memory.similarities", &[count])?;
        if self.images.len() != count || self.tasks.len() != count {
            return Err("its memory has not as many images as labels".into());
        }
        let rows = match logits.filter(|_| count > 0) {
            Some(classes) => Some((expect("memory.logits", &[count, classes])?, classes)),
            None => None,
        };
        let slot = |index: usize| {
            let label = Class(self.labels[index]);
            let sample = Sample { image: self.images[index].clone().into(), label, task: TaskId(self.tasks[index]) };
            let logits = rows.map(|(rows, classes)| Arc::from(&rows.values[index * classes..][..classes]));
            Memorized { sample, logits, similarity: similarities.values[index] }
        };
        Ok((0..count).map(slot).collect())
    }
}

fn read_bytes(reader: &mut Reader, length: usize) -> Result<Vec<u8>, ModelFileError> {
    let mut bytes = vec![0; length];
    reader.read(&mut bytes)?;
    Ok(bytes)
}

fn read_images(reader: &mut Reader, length: usize, each: usize) -> Result<Vec<Arc<[u8]>>, ModelFileError> {
    let mut images = Vec::with_capacity(length / each);
    for _ in 0..length / each {
        images.push(read_bytes(reader, each)?.into());
    }
    read_bytes(reader, length % each)?;
    Ok(images)
}

fn numbers(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect()
}

fn float_array(info: TensorInfo, bytes: &[u8]) -> Array {
    let values = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Array { shape: info.shape, values }
}
