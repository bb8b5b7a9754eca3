//! The version that answers. A change replaces it at once: requests that have begun are answered by the one that
//! they began with.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
};

use rehearsal_model::{Doubt, InputReader, Model, ModelError, ModelSettings, Version};

use crate::map::Point;

/// Other versions than the current one that stay in memory.
const OTHERS: usize = 2;

/// A version that answers.
pub(crate) struct Current {
    pub number: u32,
    /// What the model said when it was read.
    pub settings: ModelSettings,
    pub version: Version,
    pub reader: Arc<InputReader>,
    doubts: OnceLock<Vec<Doubt>>,
    map: OnceLock<(Vec<Point>, [f64; 2])>,
}

impl Current {
    /// How doubtful the class of each remembered photo is; computed once.
    pub fn doubts(&self) -> &[Doubt] {
        self.doubts.get_or_init(|| self.version.doubts())
    }

    /// The remembered photos in two dimensions; computed once.
    pub fn map(&self) -> &(Vec<Point>, [f64; 2]) {
        self.map.get_or_init(|| crate::map::map(&self.version.features()))
    }
}

/// The versions that answer.
pub(crate) struct Versions {
    path: PathBuf,
    current: RwLock<Option<Arc<Current>>>,
    others: Mutex<Vec<Arc<Current>>>,
    /// Held while a version is read.
    reading: Mutex<()>,
}

impl Versions {
    /// Of the model at `path`, which need not have a version yet.
    pub fn open(path: PathBuf) -> Result<Self, ModelError> {
        let versions =
            Self { path, current: RwLock::new(None), others: Mutex::new(Vec::new()), reading: Mutex::new(()) };
        match versions.refresh() {
            Ok(_) | Err(ModelError::Absent { .. } | ModelError::Unfinished { .. }) => Ok(versions),
            Err(error) => Err(error),
        }
    }

    /// The current version.
    pub fn current(&self) -> Option<Arc<Current>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the model if this or another process has changed it; whether it has.
    pub fn refresh(&self) -> Result<bool, ModelError> {
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let model = Model::open(&self.path)?;
        let before = self.current();
        if before.as_ref().is_some_and(|before| before.settings == *model.settings()) {
            return Ok(false);
        }
        let new = read(&model, model.settings().current, before.as_deref())?;
        self.others.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(new));
        Ok(true)
    }

    /// A kept version; none if the model has none yet.
    pub fn version(&self, number: Option<u32>) -> Result<Option<Arc<Current>>, ModelError> {
        let Some(current) = self.current() else { return Ok(None) };
        let Some(number) = number.filter(|number| *number != current.number) else { return Ok(Some(current)) };
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let known = |other: &&Arc<Current>| other.number == number && other.settings == current.settings;
        if let Some(known) = others.iter().find(known) {
            return Ok(Some(Arc::clone(known)));
        }
        let other = Arc::new(read(&Model::open(&self.path)?, number, Some(&current))?);
        others.insert(0, Arc::clone(&other));
        others.truncate(OTHERS);
        Ok(Some(other))
    }
}

/// Reads a version; the backbone of another one is used if it is the same.
fn read(model: &Model, number: u32, other: Option<&Current>) -> Result<Current, ModelError> {
    let version = if number == model.settings().current { model.current()? } else { model.version(number)? };
    let backbone = |version: &Version| (version.config()["backbone"].clone(), version.size(), version.is_exact());
    let reader = match other.filter(|other| backbone(&other.version) == backbone(&version)) {
        Some(other) => Arc::clone(&other.reader),
        // Photos of strangers leave nothing on the disk.
        None => Arc::new(version.reader()?.without_cache()),
    };
    let settings = model.settings().clone();
    Ok(Current { number, settings, version, reader, doubts: OnceLock::new(), map: OnceLock::new() })
}
