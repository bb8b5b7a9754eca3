//! The model store. What is plain data goes to Python as JSON.

use std::{collections::BTreeSet, path::PathBuf};

use pyo3::prelude::*;
use rehearsal_data::photos::{ScanOptions, find};
use rehearsal_files::threads::on_threads;
use rehearsal_model::{
    AcceptanceCheck, Evaluation, ExactSession, Features, FolderNotice, FolderReader, Forget, Forgotten, Input,
    Model as Store, ModelError, Notice, Outcome, Part, Seen, SessionOptions, Share, Version,
};
use serde_json::{Value, json};

use crate::{
    error::{Error, Result},
    events::{self, Event, Reporter},
    number::{self, Number},
};

type Callback<'py> = Option<Bound<'py, PyAny>>;

/// See `rehearsal_learn.Model`. Every call opens the directory, as the command line does: other processes may change
/// it in between.
#[pyclass(frozen, module = "rehearsal_learn")]
pub struct Model {
    path: PathBuf,
    threads: usize,
}

#[pymethods]
impl Model {
    #[new]
    #[pyo3(signature = (path, threads=None))]
    fn new(path: PathBuf, threads: Option<Number<usize>>) -> Result<Self> {
        Ok(Self { path, threads: number::threads(threads)? })
    }

    /// Settings: the current version, the kept ones, the classes.
    fn about(&self, py: Python<'_>, version: Option<Number<u32>>) -> Result<String> {
        self.ask(py, None, |_| {
            let store = self.open()?;
            let version = asked(&store, version)?;
            let classes = version.classes();
            let photos = |class: &std::sync::Arc<str>| (class.to_string(), Value::from(version.learned_of(class)));
            Ok(json!({
                "current": store.settings().current,
                "versions": store.versions(),
                "classes": classes.iter().map(photos).collect::<serde_json::Map<_, _>>(),
                "threshold": version.threshold(),
                "memory_capacity": version.memory_capacity(),
                "config": version.config(),
            }))
        })
    }

    /// Every change, in order.
    fn history(&self, py: Python<'_>) -> Result<String> {
        self.ask(py, None, |_| plain(&self.open()?.history()?))
    }

    /// Learns folders; null if there is nothing new.
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools, reason = "one for each keyword of Python")]
    #[pyo3(signature = (folders, holdout, backbone, memory, holdout_per_class, keep, max_forgetting, accept, relabel, follow_links, skip_bad, callback))]
    fn learn(
        &self,
        py: Python<'_>,
        folders: Vec<PathBuf>,
        holdout: Option<PathBuf>,
        backbone: Option<String>,
        memory: Option<&str>,
        holdout_per_class: Option<Number<usize>>,
        keep: Option<Number<usize>>,
        max_forgetting: Option<f64>,
        accept: bool,
        relabel: bool,
        follow_links: bool,
        skip_bad: bool,
        callback: Callback<'_>,
    ) -> Result<String> {
        let memory = memory.map(str::parse).transpose().map_err(Error::Value)?;
        let check = match max_forgetting {
            _ if accept => AcceptanceCheck::Off,
            None => AcceptanceCheck::BeyondChance,
            Some(share) => AcceptanceCheck::AtMost(
                Share::new(share)
                    .ok_or_else(|| Error::Value(format!("max_forgetting is {share}: it must be between 0 and 1")))?,
            ),
        };
        let [holdout_per_class, keep] = [holdout_per_class, keep].map(|given| given.map(|Number(number)| number));
        let options = SessionOptions { memory, holdout_per_class, keep, check, relabel, ..SessionOptions::default() };
        self.ask(py, callback, |reporter| {
            let mut store = Store::open_or_create(&self.path)?.on_threads(self.threads);
            let stop = || reporter.is_stopped();
            let mut notice = |notice: &FolderNotice| reporter.tell(Event::Say(notice.to_string()));
            let mut reader = FolderReader { follow_links, skip_bad, progress: reporter, notice: &mut notice };
            let photos = reader.find(&folders)?;
            let holdout = reader.find_holdout(holdout.as_deref(), &folders)?;
            let session = ExactSession { photos, holdout, backbone, options, stop: &stop };
            let mut said = |notice: &Notice| reporter.tell(Event::Say(notice.to_string()));
            match store.learn_exact(&session, &mut reader, &mut said)? {
                Outcome::Learned(report) => plain(&report),
                Outcome::NothingNew { .. } => Ok(Value::Null),
                Outcome::Stopped => Err(Error::Stopped),
            }
        })
    }

    /// What a version says of photos and of folders of photos.
    #[pyo3(signature = (paths, version, threshold, explain, follow_links, callback))]
    fn predict(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        version: Option<Number<u32>>,
        threshold: Option<f64>,
        explain: Number<usize>,
        follow_links: bool,
        callback: Callback<'_>,
    ) -> Result<String> {
        self.ask(py, callback, |reporter| {
            let version = asked(&self.open()?, version)?;
            let (files, _) = find(&paths, &ScanOptions { follow_links_outside: follow_links })?;
            let photos =
                version.reader()?.read(&files, reporter)?.into_iter().collect::<std::result::Result<Vec<_>, _>>()?;
            let inputs: Vec<Input> = photos.into_iter().map(|photo| photo.input).collect();
            let predictions = version.predict(&inputs)?;
            let answers = files.iter().zip(&inputs).zip(predictions).map(|((path, input), prediction)| {
                let others = prediction.others.iter().map(|(class, share)| json!([&**class, share]));
                let similar = version.similar(input, explain.0);
                let similar = similar.iter().map(|photo| json!([&*photo.class, photo.source, photo.similarity]));
                json!({
                    "path": path.to_string_lossy(),
                    "answer": version.verdict(&prediction, threshold).word(),
                    "label": &*prediction.class,
                    "probability": prediction.probability,
                    "others": others.collect::<Vec<_>>(),
                    "distance": prediction.distance,
                    "similar": similar.collect::<Vec<_>>(),
                })
            });
            Ok(answers.collect())
        })
    }

    /// Evaluates a version on a folder.
    #[pyo3(signature = (folder, version, report, follow_links, skip_bad, callback))]
    fn evaluate(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        version: Option<Number<u32>>,
        report: Option<PathBuf>,
        follow_links: bool,
        skip_bad: bool,
        callback: Callback<'_>,
    ) -> Result<String> {
        self.ask(py, callback, |reporter| {
            let version = asked(&self.open()?, version)?;
            let mut notice = |notice: &FolderNotice| reporter.tell(Event::Say(notice.to_string()));
            let mut reader = FolderReader { follow_links, skip_bad, progress: reporter, notice: &mut notice };
            let evaluation = Evaluation::new(&version, &folder, &mut reader)?;
            let title = self.path.display().to_string();
            let page = report.map(|place| evaluation.write_page(&title, &place)).transpose()?;
            let score = evaluation.score(|_| true);
            Ok(json!({
                "right": score.right,
                "total": score.total,
                "accuracy": score.share(),
                "interval": score.interval(),
                "learned": evaluation.learned,
                "classes": evaluation.classes,
                "confusion": evaluation.confusion(),
                "page": page,
            }))
        })
    }

    /// Uses another version.
    #[pyo3(name = "use")]
    fn select(&self, py: Python<'_>, version: Number<u32>) -> Result<()> {
        self.ask(py, None, |_| {
            self.open_to_change()?.select(version.0)?;
            Ok(Value::Null)
        })
        .map(drop)
    }

    /// The remembered photos: class, path, and whether they are held out.
    #[pyo3(signature = (version=None))]
    fn memory(&self, py: Python<'_>, version: Option<Number<u32>>) -> Result<String> {
        self.ask(py, None, |_| {
            let held = asked(&self.open()?, version)?.held().into_iter();
            Ok(held.map(|held| json!([&*held.class, held.source, held.part == Part::Holdout])).collect())
        })
    }

    /// Removes photos from every version: a pattern, a class, or files.
    #[pyo3(signature = (pattern=None, class_=None, files=None, photos=None))]
    fn forget(
        &self,
        py: Python<'_>,
        pattern: Option<String>,
        class_: Option<String>,
        files: Option<Vec<PathBuf>>,
        photos: Option<PathBuf>,
    ) -> Result<String> {
        self.ask(py, None, |reporter| {
            let mut store = self.open_to_change()?;
            let mut given = features(&store, &photos.into_iter().collect::<Vec<_>>(), reporter)?;
            let what = match (pattern, class_, files) {
                (Some(pattern), None, None) => Forget::Source(pattern),
                (None, Some(class), None) => Forget::Class(class),
                (None, None, Some(files)) => {
                    let files = features(&store, &files, reporter)?;
                    let digests: BTreeSet<_> = files.keys().copied().collect();
                    given.extend(files);
                    Forget::Photos(digests)
                }
                _ => return Err(Error::Value("give one of a pattern, a class, or files".into())),
            };
            let Forgotten { images, memory, holdout, versions } = store.forget(&what, &given)?;
            Ok(json!({ "photos": images, "memory": memory, "holdout": holdout, "versions": versions }))
        })
    }

    /// Gives photos to another class; the number of the version.
    fn move_photos(&self, py: Python<'_>, pattern: String, to: String) -> Result<String> {
        self.ask(py, None, |_| Ok(self.open_to_change()?.move_photos(&pattern, &to)?.0.into()))
    }

    /// Renames a class; the number of the version.
    fn rename(&self, py: Python<'_>, from: String, to: String) -> Result<String> {
        self.ask(py, None, |_| Ok(self.open_to_change()?.rename_class(&from, &to)?.into()))
    }

    /// Gives all photos of a class to another; the number of the version.
    fn merge(&self, py: Python<'_>, from: String, to: String) -> Result<String> {
        self.ask(py, None, |_| Ok(self.open_to_change()?.merge_classes(&from, &to)?.into()))
    }

    /// Never predicts a class again; the number of the version.
    #[pyo3(signature = (name, photos=None))]
    fn retire(&self, py: Python<'_>, name: String, photos: Option<PathBuf>) -> Result<String> {
        self.ask(py, None, |reporter| {
            let mut store = self.open_to_change()?;
            let given = features(&store, &photos.into_iter().collect::<Vec<_>>(), reporter)?;
            Ok(store.retire_class(&name, &given)?.into())
        })
    }

    /// Writes an ONNX file.
    #[pyo3(signature = (path, version=None))]
    fn to_onnx(&self, py: Python<'_>, path: PathBuf, version: Option<Number<u32>>) -> Result<()> {
        self.ask(py, None, |_| {
            asked(&self.open()?, version)?.export_onnx(&path)?;
            Ok(Value::Null)
        })
        .map(drop)
    }
}

impl Model {
    fn open(&self) -> Result<Store> {
        Ok(Store::open(&self.path)?.on_threads(self.threads))
    }

    fn open_to_change(&self) -> Result<Store> {
        Ok(Store::open_to_change(&self.path)?.on_threads(self.threads))
    }

    /// Runs work on the threads of this model; its answer as JSON.
    fn ask(
        &self,
        py: Python<'_>,
        callback: Callback<'_>,
        work: impl FnOnce(&Reporter) -> Result<Value> + Send,
    ) -> Result<String> {
        let answer = events::run(py, callback.as_ref(), |reporter| {
            let done = on_threads(self.threads, || work(reporter));
            done.map_err(|error| ModelError::Threads(error.to_string()))?
        });
        Ok(answer?.to_string())
    }
}

/// The version that was asked for, else the current one.
fn asked(store: &Store, version: Option<Number<u32>>) -> Result<Version> {
    Ok(version.map_or_else(|| store.current(), |Number(number)| store.version(number))?)
}

/// The features of all photos below these paths, by their identities.
fn features(store: &Store, paths: &[PathBuf], reporter: &Reporter) -> Result<Features> {
    if paths.is_empty() {
        return Ok(Features::new());
    }
    let (files, _) = find(paths, &ScanOptions { follow_links_outside: false })?;
    let photos = store.current()?.reader()?.read(&files, reporter)?;
    let feature = |seen: Seen| match seen.input {
        Input::Features(feature) => Some((seen.digest, feature)),
        Input::Pixels(_) => None,
    };
    Ok(photos.into_iter().collect::<std::result::Result<Vec<_>, _>>()?.into_iter().filter_map(feature).collect())
}

fn plain(data: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(data).map_err(|error| Error::Bug(error.to_string()))
}
