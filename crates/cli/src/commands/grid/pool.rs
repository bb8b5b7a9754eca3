//! The worker processes of a grid.
//!
//! A worker holds the other end of a pipe as its standard input. Closing the pipe asks it to stop
//! at a checkpoint; the pipe of a grid that was killed closes by itself, so no worker outlives its
//! grid by more than a step, or a test.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    time::Duration,
};

use anyhow::{Context, Result};

use super::{log, plan::Job};
use crate::printer::Told;

/// How long to wait for news before looking at something else.
const WAIT: Duration = Duration::from_millis(100);

/// The processes that are running.
pub struct Pool {
    program: PathBuf,
    manifest: PathBuf,
    threads: usize,
    workers: BTreeMap<usize, Worker>,
    news: Receiver<Event>,
    tell: Sender<Event>,
}

struct Worker {
    child: Arc<Mutex<Child>>,
    /// Closed to ask it to stop.
    input: Option<ChildStdin>,
}

/// News of the run at `index`.
pub enum Event {
    /// It has got further.
    Progress { index: usize, told: Told },
    /// Its process has ended, and this is what it said on standard error.
    Ended { index: usize, status: io::Result<ExitStatus>, said: String },
}

/// How a process ended.
pub enum Ending {
    /// With a result.
    Done,
    /// At a checkpoint.
    Stopped,
    /// With an error.
    Failed(String),
}

impl Pool {
    /// A pool for the runs of a manifest, each on so many threads.
    pub fn new(manifest: PathBuf, threads: usize) -> Result<Self> {
        let program = std::env::current_exe().context("this program cannot find itself")?;
        let (tell, news) = mpsc::channel();
        Ok(Self { program, manifest, threads, workers: BTreeMap::new(), news, tell })
    }

    /// How many processes are running.
    pub fn running(&self) -> usize {
        self.workers.len()
    }

    /// Starts, or goes on with, a run.
    pub fn start(&mut self, index: usize, job: &Job) -> Result<()> {
        log::reserve(&job.log).with_context(|| format!("{} cannot be written", job.log.display()))?;
        let mut command = Command::new(&self.program);
        command.args(["grid", "run-one", "--worker", "--index", &job.planned.index.to_string()]);
        command.args(["--threads", &self.threads.to_string()]).arg(&self.manifest);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("a process cannot be started")?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let child = Arc::new(Mutex::new(child));
        self.workers.insert(index, Worker { child: Arc::clone(&child), input });
        let tell = self.tell.clone();
        // Not into a file: where the disk is full, nobody would hear it.
        let listening = std::thread::spawn(move || errors.map(log::listen).unwrap_or_default());
        std::thread::spawn(move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()).map_while(Result::ok) {
                if let Some(told) = Told::read(&line) {
                    let _ = tell.send(Event::Progress { index, told });
                }
            }
            // Its output has ended, so it has, or is about to.
            let status = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
            let said = listening.join().unwrap_or_default();
            let _ = tell.send(Event::Ended { index, status, said });
        });
        Ok(())
    }

    /// The next news; none for a while.
    pub fn next_event(&mut self) -> Option<Event> {
        let event = self.news.recv_timeout(WAIT).ok()?;
        if let Event::Ended { index, .. } = &event {
            self.workers.remove(index);
        }
        Some(event)
    }

    /// Asks all to stop at a checkpoint.
    pub fn ask_to_stop(&mut self) {
        self.workers.values_mut().for_each(|worker| drop(worker.input.take()));
    }

    /// Ends all at once.
    pub fn kill(&mut self) {
        for worker in self.workers.values() {
            let _ = worker.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
    }
}

impl Ending {
    /// What an exit means, and what was `said`. Whoever failed has a log of it. A process that
    /// something killed cannot say so itself: it is noted in its log, unless it was `asked` to stop
    /// and Ctrl-C killed it before it could listen.
    pub fn new(status: io::Result<ExitStatus>, said: &str, log: &Path, asked: bool) -> Self {
        let (why, said) = match status.map(|status| (status.code(), status)) {
            Ok((code @ Some(0 | 130), _)) => return Self::well(code == Some(0), log),
            Ok((None, _)) if asked => return Self::well(false, log),
            Ok((Some(code), _)) => (log::reason(said).unwrap_or_else(|| format!("exit code {code}")), said.to_owned()),
            Ok((None, status)) => {
                let why = format!("the process was killed ({status})");
                (why.clone(), format!("{said}error: {why}\n"))
            }
            Err(error) => (error.to_string(), format!("error: {error}\n")),
        };
        let said = if said.trim().is_empty() { format!("error: {why}\n") } else { said };
        match log::keep(log, &said) {
            Ok(()) => Self::Failed(why),
            Err(error) => Self::Failed(format!("{why} (and its log cannot be written: {error})")),
        }
    }

    /// Whoever did not fail has no log.
    fn well(done: bool, log: &Path) -> Self {
        log::remove(log);
        if done { Self::Done } else { Self::Stopped }
    }
}
