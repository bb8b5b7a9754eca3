//! Ctrl-C, or a request to terminate: the first stops at a checkpoint, the second at once.

use std::{
    io::{self, Read},
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use anyhow::{Context, Result};
use rehearsal::observer::{Observer, StepEvent};

/// How often the user has asked to stop.
#[derive(Clone, Default)]
pub struct Asked(Arc<AtomicUsize>);

impl Asked {
    /// Begins to listen; `heard` is told how often it was asked, after each time.
    pub fn listen(heard: impl Fn(usize) + Send + 'static) -> Result<Self> {
        let asked = Self::default();
        let count = asked.clone();
        ctrlc::set_handler(move || heard(count.0.fetch_add(1, Ordering::Relaxed) + 1))
            .context("Ctrl-C cannot be caught")?;
        Ok(asked)
    }

    /// So often.
    pub fn times(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Passes everything on to someone who shows it, and stops the run when asked to.
pub struct Interrupt<O> {
    shown: O,
    asked: Asked,
    input_ended: Arc<AtomicBool>,
}

impl<O: Observer> Interrupt<O> {
    /// Begins to listen. The second request ends the process; `say` is what the first is answered with.
    pub fn catch(shown: O, say: impl Fn() + Send + 'static) -> Result<Self> {
        let asked = Asked::listen(move |times| if times > 1 { std::process::exit(130) } else { say() })?;
        Ok(Self { shown, asked, input_ended: Arc::default() })
    }

    /// Also stops when standard input ends: its other end was closed, or whoever held it is dead.
    pub fn or_when_input_ends(self) -> Self {
        let ended = Arc::clone(&self.input_ended);
        std::thread::spawn(move || {
            let mut ignored = [0; 64];
            while io::stdin().read(&mut ignored).is_ok_and(|count| count > 0) {}
            ended.store(true, Ordering::Relaxed);
        });
        self
    }
}

impl<O: Observer> Observer for Interrupt<O> {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        let shown = self.shown.step(event);
        let stop = self.asked.times() > 0 || self.input_ended.load(Ordering::Relaxed);
        if stop { ControlFlow::Break(()) } else { shown }
    }

    fn task(&mut self, task: usize, row: &[f64]) {
        self.shown.task(task, row);
    }
}
