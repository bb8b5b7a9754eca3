//! Runs of the benchmark.

use std::{
    ops::ControlFlow,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use numpy::{IntoPyArray, PyArray1};
use pyo3::{prelude::*, types::PyDict};
use rehearsal::{
    config::PartialConfig,
    experiment::{Experiment, ExperimentError, Outcome, open_data},
    learner::Parts,
    memory::Memory,
    observer::{Observer, StepEvent},
    probe::Probe,
    retrieval::{Retrieval, Retrieved},
    rng::Rng,
};
use rehearsal_runs::RunDirectory;

use crate::{
    error::{Error, Result},
    events::{self, Event, Reporter},
};

/// What a callback sees of a step.
pub struct StepTaken {
    task: usize,
    epoch: usize,
    step: u64,
    loss: Option<f32>,
}

impl StepTaken {
    pub fn fill(&self, dictionary: &Bound<'_, PyDict>) -> PyResult<()> {
        dictionary.set_item("task", self.task)?;
        dictionary.set_item("epoch", self.epoch)?;
        dictionary.set_item("step", self.step)?;
        dictionary.set_item("loss", self.loss)
    }
}

/// Passes on what happens.
struct Watcher<'a>(&'a Reporter);

impl Observer for Watcher<'_> {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        let &StepEvent { task, epoch, step, loss, .. } = event;
        self.0.tell(Event::Step(StepTaken { task, epoch, step, loss }));
        if self.0.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn task(&mut self, task: usize, row: &[f64]) {
        self.0.tell(Event::Task(task, row.to_vec()));
    }
}

/// A retrieval in Python: it is called with the changes of loss, the labels and the tasks of drawn candidates, and
/// how many to choose; it gives their indices.
struct PythonRetrieval {
    choose: Py<PyAny>,
    count: usize,
    candidates: usize,
    /// What it raised.
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Retrieval for PythonRetrieval {
    fn retrieve(&self, memory: &Memory, probe: &mut dyn Probe, rng: &mut Rng) -> Vec<Retrieved> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        let slots = memory.draw(self.candidates, rng);
        if slots.is_empty() || raised.is_some() {
            return Vec::new();
        }
        let losses = probe.loss_change(&slots);
        let samples = slots.iter().map(|slot| &memory.slots()[slot.0]);
        let (labels, tasks): (Vec<i64>, Vec<i64>) =
            samples.map(|kept| (i64::from(kept.sample.label.0), i64::from(kept.sample.task.0))).unzip();
        match Python::attach(|py| self.choose(py, losses.clone(), labels, tasks)) {
            Ok(chosen) => chosen
                .into_iter()
                .map(|at| Retrieved { slot: slots[at], side: None, loss_change: Some(losses[at]) })
                .collect(),
            Err(error) => {
                *raised = Some(error);
                Vec::new()
            }
        }
    }
}

impl PythonRetrieval {
    fn choose(&self, py: Python<'_>, losses: Vec<f32>, labels: Vec<i64>, tasks: Vec<i64>) -> PyResult<Vec<usize>> {
        let candidates = losses.len();
        let count = self.count.min(candidates);
        let losses: Bound<'_, PyArray1<f32>> = losses.into_pyarray(py);
        let chosen = self.choose.bind(py).call1((losses, labels.into_pyarray(py), tasks.into_pyarray(py), count))?;
        let chosen = chosen.try_iter()?.map(|at| at?.extract::<usize>()).collect::<PyResult<Vec<_>>>()?;
        match chosen.iter().find(|at| **at >= candidates) {
            Some(at) => {
                Err(Error::Value(format!("the retrieval chose candidate {at}: there are {candidates}, counted from 0"))
                    .into())
            }
            None if chosen.len() > count => {
                let found = chosen.len();
                Err(Error::Value(format!("the retrieval chose {found} candidates: at most {count} were asked for"))
                    .into())
            }
            None => Ok(chosen),
        }
    }
}

/// Runs an experiment: `settings` as an experiment file has them. Gives the result as JSON, the directory if one is
/// written, and for every test image whether its prediction is right.
#[pyfunction]
#[pyo3(signature = (settings, out, resume, retrieval, callback))]
pub fn run(
    py: Python<'_>,
    settings: &str,
    out: Option<PathBuf>,
    resume: Option<PathBuf>,
    retrieval: Option<(String, Py<PyAny>)>,
    callback: Option<Bound<'_, PyAny>>,
) -> Result<String> {
    let settings = PartialConfig::parse(settings).map_err(ExperimentError::from)?;
    let raised = Arc::new(Mutex::new(None));
    let ended = events::run(py, callback.as_ref(), |reporter| {
        let experiment = match resume {
            Some(directory) => Experiment::resume(&directory, |saved| *saved = saved.overridden_by(&settings))?,
            None => begin(&settings, out, retrieval, &raised, reporter)?,
        };
        Ok(experiment.run(&mut Stopping { watcher: Watcher(reporter), raised: &raised })?)
    });
    if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error.into());
    }
    match ended? {
        Outcome::Finished(record, _) => serde_json::to_string(&record).map_err(|error| Error::Bug(error.to_string())),
        Outcome::Stopped => Err(Error::Stopped),
    }
}

fn begin(
    settings: &PartialConfig,
    out: Option<PathBuf>,
    retrieval: Option<(String, Py<PyAny>)>,
    raised: &Arc<Mutex<Option<PyErr>>>,
    reporter: &Reporter,
) -> Result<Experiment> {
    let config = settings.resolve().map_err(ExperimentError::from)?;
    let source = open_data(&config, reporter)?;
    let parts = match retrieval {
        Some((name, choose)) => {
            let replay = &config.learner.replay;
            let (count, candidates, raised) = (replay.retrieved, replay.candidates, Arc::clone(raised));
            Parts::new().retrieval(&name, PythonRetrieval { choose, count, candidates, raised })
        }
        None => Parts::new(),
    };
    let mut experiment = Experiment::with_parts(settings, source, parts)?;
    if let Some(path) = out {
        experiment.write_to(&path)?;
    }
    Ok(experiment)
}

/// Stops when the retrieval has raised an exception.
struct Stopping<'a> {
    watcher: Watcher<'a>,
    raised: &'a Mutex<Option<PyErr>>,
}

impl Observer for Stopping<'_> {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        let has_raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if has_raised { ControlFlow::Break(()) } else { self.watcher.step(event) }
    }

    fn task(&mut self, task: usize, row: &[f64]) {
        self.watcher.task(task, row);
    }
}

/// The result of a finished run, as JSON; none if it is not finished.
#[pyfunction]
pub fn read_record(py: Python<'_>, directory: PathBuf) -> Result<Option<String>> {
    events::run(py, None, |_| {
        let record = RunDirectory::read_record(&directory).map_err(ExperimentError::from)?;
        record.map(|record| serde_json::to_string(&record).map_err(|error| Error::Bug(error.to_string()))).transpose()
    })
}
