//! Sessions: photos wait, one session at a time learns them, and its progress can be followed.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::SystemTime,
};

use rehearsal_data::{Progress, Unit, photos::Photo};
use rehearsal_files::threads::cores;
use rehearsal_model::{ExactSession, FolderNotice, FolderReader, Model, ModelError, Notice, Outcome, SessionOptions};
use serde::Serialize;
use tokio::sync::{mpsc, watch};
use utoipa::ToSchema;

use crate::{
    ApiError,
    current::Versions,
    error::{Answer, Reason},
    guard::Reserved,
    options::{Limits, Log},
    photos::remembered,
    predictor::failed,
};

/// Finished sessions that are remembered.
const REMEMBERED: usize = 100;

/// How far a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    /// For the sessions before it.
    Waiting,
    /// It learns.
    Running,
    /// There is a new version: `report` has its result.
    Learned,
    /// There is a new version, but it forgot too much and is not used.
    Rejected,
    /// All photos were known already.
    NothingNew,
    /// `error` says why. The model is unchanged.
    Failed,
    /// The server was stopped. The model is unchanged.
    Stopped,
}

/// A session.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Job {
    /// Its number.
    pub id: u64,
    /// How far it is.
    pub state: State,
    /// Photos that were given.
    pub photos: usize,
    /// Photos that were read.
    pub read: usize,
    /// What a user should know.
    pub notices: Vec<String>,
    /// The new version.
    pub version: Option<u32>,
    /// The result of the session, as in the history.
    #[schema(value_type = Option<Object>)]
    pub report: Option<serde_json::Value>,
    /// Why it failed.
    pub error: Option<Reason>,
}

impl Job {
    /// Whether nothing will change any more.
    pub fn is_over(&self) -> bool {
        !matches!(self.state, State::Waiting | State::Running)
    }
}

/// Photos to learn.
pub(crate) struct ToLearn {
    pub photos: Vec<Photo>,
    pub options: SessionOptions,
    /// Their bytes count until they are learned.
    pub reserved: Vec<Reserved>,
    /// The client whose photos are learned together, if it sends them one by one.
    pub from: Option<&'static str>,
}

/// All sessions.
pub(crate) struct Jobs {
    queue: mpsc::Sender<u64>,
    known: Arc<Known>,
    most: usize,
}

struct Known {
    jobs: Mutex<BTreeMap<u64, watch::Sender<Job>>>,
    waiting: Mutex<BTreeMap<u64, ToLearn>>,
    stop: AtomicBool,
}

/// What a session needs.
struct Learner {
    model: std::path::PathBuf,
    versions: Arc<Versions>,
    changing: Arc<tokio::sync::Mutex<()>>,
    log: Log,
}

impl Jobs {
    /// Starts the thread that learns.
    pub fn start(
        model: std::path::PathBuf,
        versions: Arc<Versions>,
        changing: Arc<tokio::sync::Mutex<()>>,
        limits: &Limits,
        log: Log,
    ) -> std::io::Result<(Self, thread::JoinHandle<()>)> {
        let (queue, mut receiver) = mpsc::channel(limits.sessions);
        let known = Arc::new(Known { jobs: Mutex::default(), waiting: Mutex::default(), stop: AtomicBool::new(false) });
        let (learner, all) = (Learner { model, versions, changing, log }, Arc::clone(&known));
        let thread = thread::Builder::new().name("learn".into()).spawn(move || {
            while let Some(id) = receiver.blocking_recv() {
                learner.session(id, &all);
            }
        })?;
        Ok((Self { queue, known, most: limits.learned }, thread))
    }

    /// Queues a session.
    pub fn add(&self, photos: ToLearn) -> Answer<Job> {
        let full = || ApiError::busy("too many sessions wait");
        let place = self.queue.try_reserve().map_err(|_| full())?;
        let mut jobs = self.known.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let id = jobs.last_key_value().map_or(1, |(last, _)| last + 1);
        let job = Job {
            id,
            state: State::Waiting,
            photos: photos.photos.len(),
            read: 0,
            notices: Vec::new(),
            version: None,
            report: None,
            error: None,
        };
        while jobs.len() >= REMEMBERED {
            jobs.pop_first();
        }
        jobs.insert(id, watch::Sender::new(job.clone()));
        drop(jobs);
        self.known.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, photos);
        place.send(id);
        Ok(job)
    }

    /// Adds photos to the last session that waits, if it is of the same client and has room; else queues one.
    pub fn add_together(&self, mut photos: ToLearn) -> Answer<Job> {
        let mut waiting = self.known.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let together = waiting.last_entry().filter(|last| {
            let last = last.get();
            last.from.is_some() && last.from == photos.from && last.photos.len() + photos.photos.len() <= self.most
        });
        let Some(mut last) = together else {
            drop(waiting);
            return self.add(photos);
        };
        let id = *last.key();
        last.get_mut().reserved.append(&mut photos.reserved);
        last.get_mut().photos.append(&mut photos.photos);
        let count = last.get().photos.len();
        drop(waiting);
        self.known.change(id, |job| job.photos = count);
        self.follow(id).map(|job| job.borrow().clone()).ok_or_else(ApiError::internal)
    }

    /// Every session that is remembered, the newest first.
    pub fn all(&self) -> Vec<Job> {
        let jobs = self.known.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.values().rev().map(|job| job.borrow().clone()).collect()
    }

    /// A session, to be followed.
    pub fn follow(&self, id: u64) -> Option<watch::Receiver<Job>> {
        self.known.jobs.lock().unwrap_or_else(PoisonError::into_inner).get(&id).map(watch::Sender::subscribe)
    }

    /// Stops the running session and those that wait.
    pub fn stop(&self) {
        self.known.stop.store(true, Ordering::Relaxed);
    }
}

impl Known {
    fn change(&self, id: u64, change: impl FnOnce(&mut Job)) {
        if let Some(job) = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            job.send_modify(change);
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Learner {
    fn session(&self, id: u64, known: &Known) {
        let _alone = self.changing.blocking_lock();
        // Until now photos could join it.
        let given = known.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        let Some(given) = given.filter(|_| !known.is_stopped()) else {
            return known.change(id, |job| job.state = State::Stopped);
        };
        known.change(id, |job| job.state = State::Running);
        let learn = std::panic::AssertUnwindSafe(|| self.learn(id, given, known));
        let outcome = std::panic::catch_unwind(learn);
        if let Err(error) = self.versions.refresh() {
            (self.log)(&format!("error: {error}"));
        }
        known.change(id, |job| match outcome {
            Ok(Ok(Outcome::Learned(report))) => {
                job.state = if report.accepted { State::Learned } else { State::Rejected };
                job.version = Some(report.version);
                job.report = serde_json::to_value(&*report).ok();
            }
            Ok(Ok(Outcome::NothingNew { .. })) => job.state = State::NothingNew,
            Ok(Ok(Outcome::Stopped)) => job.state = State::Stopped,
            Ok(Err(error)) => {
                job.state = State::Failed;
                job.error = Some(failed(&error, &self.log).reason);
            }
            Err(_) => {
                (self.log)("error: a session failed: please report this as a bug");
                job.state = State::Failed;
                job.error = Some(ApiError::internal().reason);
            }
        });
    }

    fn learn(&self, id: u64, given: ToLearn, known: &Known) -> Result<Outcome, ModelError> {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let date = date.split('T').next().unwrap_or_default();
        let ToLearn { photos, options, reserved: _until_learned, .. } = given;
        let photos = photos.into_iter().map(|photo| remembered(photo, date)).collect();
        // Half of the cores: predictions go on.
        let mut model = Model::open_or_create(&self.model)?.on_threads((cores() / 2).max(1));
        if !model.is_empty() && !model.is_exact()? {
            return Err(ModelError::NotExact);
        }
        let stop = || known.is_stopped();
        let session = ExactSession { photos, holdout: Vec::new(), backbone: None, options, stop: &stop };
        let progress = Read { id, known };
        let mut notice = |notice: &FolderNotice| {
            if !matches!(notice, FolderNotice::Read { .. }) {
                known.change(id, |job| job.notices.push(notice.to_string()));
            }
        };
        let mut reader =
            FolderReader { follow_links: false, skip_bad: false, progress: &progress, notice: &mut notice };
        let mut told = |notice: &Notice| known.change(id, |job| job.notices.push(notice.to_string()));
        model.learn_exact(&session, &mut reader, &mut told)
    }
}

/// Counts the photos that were read.
struct Read<'a> {
    id: u64,
    known: &'a Known,
}

impl Progress for Read<'_> {
    fn begin(&self, _: &str, _: Unit, done: u64, _: Option<u64>) {
        self.known.change(self.id, |job| job.read = done as usize);
    }

    fn advance(&self, by: u64) {
        self.known.change(self.id, |job| job.read += by as usize);
    }
}
