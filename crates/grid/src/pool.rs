//! The worker processes of a grid.
//!
//! A worker's standard input is a pipe from the grid. Closing it asks the worker to stop at a checkpoint. The pipe of a
//! grid that was killed closes by itself, so a worker outlives its grid by at most one step or test.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    time::Duration,
};

use crate::{Job, WorkerProgress, log};

/// How long to wait for news.
const WAIT: Duration = Duration::from_millis(100);

/// The processes that are running.
pub(crate) struct Pool {
    workers: BTreeMap<usize, Worker>,
    news: Receiver<News>,
    sender: Sender<News>,
}

struct Worker {
    child: Arc<Mutex<Child>>,
    /// Closed to ask it to stop.
    input: Option<ChildStdin>,
}

/// News of the run at `index`.
pub(crate) enum News {
    Progress {
        index: usize,
        progress: WorkerProgress,
    },
    /// Its process has ended, and said this on standard error.
    Ended {
        index: usize,
        status: io::Result<ExitStatus>,
        said: String,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a result.
    Done,
    /// At a checkpoint.
    Stopped,
    /// With this error.
    Failed(String),
}

impl Pool {
    pub(crate) fn new() -> Self {
        let (sender, news) = mpsc::channel();
        Self { workers: BTreeMap::new(), news, sender }
    }

    /// How many processes are running.
    pub(crate) fn running(&self) -> usize {
        self.workers.len()
    }

    /// Starts a worker for a run, or says why it cannot.
    pub(crate) fn start(&mut self, job: &Job, mut command: Command) -> Result<(), String> {
        log::reserve(&job.log).map_err(|error| format!("{} cannot be written: {error}", job.log.display()))?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("a process cannot be started: {error}"))?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (index, child) = (job.planned.index, Arc::new(Mutex::new(child)));
        self.workers.insert(index, Worker { child: Arc::clone(&child), input });
        let sender = self.sender.clone();
        // Not into a file: on a full disk it would be lost.
        let listening = std::thread::spawn(move || errors.map(log::listen).unwrap_or_default());
        std::thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).lines()).map_while(Result::ok);
            for progress in lines.filter_map(|line| WorkerProgress::parse(&line)) {
                let _ = sender.send(News::Progress { index, progress });
            }
            // Its output has ended, so it has ended, or is about to.
            let status = child.lock().unwrap_or_else(PoisonError::into_inner).wait();
            let said = listening.join().unwrap_or_default();
            let _ = sender.send(News::Ended { index, status, said });
        });
        Ok(())
    }

    /// The next news; none if nothing happens for a while.
    pub(crate) fn next(&mut self) -> Option<News> {
        let news = self.news.recv_timeout(WAIT).ok()?;
        if let News::Ended { index, .. } = &news {
            self.workers.remove(index);
        }
        Some(news)
    }

    /// Asks all workers to stop at a checkpoint.
    pub(crate) fn ask_to_stop(&mut self) {
        self.workers.values_mut().for_each(|worker| drop(worker.input.take()));
    }

    /// Kills all workers.
    pub(crate) fn kill(&mut self) {
        for worker in self.workers.values() {
            let _ = worker.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
        }
    }
}

impl Ending {
    /// What an exit status means. The log keeps what a failed run said; other runs have no log. A process that was
    /// killed is noted in its log, unless it was `asked` to stop: then Ctrl-C killed it before it could listen.
    pub(crate) fn new(status: io::Result<ExitStatus>, said: &str, log: &Path, asked: bool) -> Self {
        let (why, said) = match status.map(|status| (status.code(), status)) {
            Ok((Some(0), _)) => return Self::Done.without(log),
            Ok((Some(130), _)) => return Self::Stopped.without(log),
            Ok((None, _)) if asked => return Self::Stopped.without(log),
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

    fn without(self, log: &Path) -> Self {
        log::remove(log);
        self
    }
}
