//! Ctrl-C, or a request to terminate: the first stops at a checkpoint, the second at once. A signal that the program
//! was started to ignore is no request.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use anyhow::{Context, Result};
#[cfg(feature = "training")]
use rehearsal::observer::{Observer, StepEvent};

use crate::signals::unless_ignored;

/// Requests to stop.
#[derive(Clone, Default)]
pub struct Asked {
    times: Arc<AtomicUsize>,
    input_ended: Arc<AtomicBool>,
}

impl Asked {
    /// Starts to listen; `heard` gets the number of requests so far.
    pub fn listen(heard: impl Fn(usize) + Send + 'static) -> Result<Self> {
        let asked = Self::default();
        let times = Arc::clone(&asked.times);
        let handle = move || heard(times.fetch_add(1, Ordering::Relaxed) + 1);
        unless_ignored(|| ctrlc::set_handler(handle)).context("Ctrl-C cannot be caught")?;
        Ok(asked)
    }

    /// Starts to listen for one run: `say` answers the first request, the second ends the process.
    pub fn listen_for_run(say: impl Fn() + Send + 'static) -> Result<Self> {
        Self::listen(move |times| if times > 1 { std::process::exit(130) } else { say() })
    }

    #[cfg(feature = "training")]
    /// Starts to listen for one run under a scheduler: `say` answers the first request. Later requests change nothing,
    /// because a script and the scheduler may both send one.
    pub fn listen_for_batch(say: impl Fn() + Send + 'static) -> Result<Self> {
        Self::listen(move |times| {
            if times == 1 {
                say();
            }
        })
    }

    #[cfg(feature = "training")]
    /// Also counts the end of standard input as a request: the process at its other end closed it or has ended.
    pub fn or_when_input_ends(self) -> Self {
        let ended = Arc::clone(&self.input_ended);
        std::thread::spawn(move || {
            let mut ignored = [0; 64];
            while std::io::Read::read(&mut std::io::stdin(), &mut ignored).is_ok_and(|count| count > 0) {}
            ended.store(true, Ordering::Relaxed);
        });
        self
    }

    /// The number of requests by Ctrl-C or a signal.
    pub fn times(&self) -> usize {
        self.times.load(Ordering::Relaxed)
    }

    /// Whether there was a request of any kind.
    pub fn to_stop(&self) -> bool {
        self.times() > 0 || self.input_ended.load(Ordering::Relaxed)
    }
}

#[cfg(feature = "training")]
/// Passes events on to another observer, and stops the run on request.
pub struct Interrupt<O> {
    /// The other observer.
    pub shown: O,
    /// The requests.
    pub asked: Asked,
}

#[cfg(feature = "training")]
impl<O: Observer> Observer for Interrupt<O> {
    fn before_step(&mut self, learner: &rehearsal::Learner) {
        self.shown.before_step(learner);
    }

    fn step(&mut self, event: &StepEvent) -> std::ops::ControlFlow<()> {
        let shown = self.shown.step(event);
        if self.asked.to_stop() { std::ops::ControlFlow::Break(()) } else { shown }
    }

    fn task(&mut self, task: usize, row: &[f64]) {
        self.shown.task(task, row);
    }
}
