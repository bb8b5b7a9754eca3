//! Ctrl-C, or a request to terminate: the first stops the run at a checkpoint, the second at once.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context, Result};
use rehearsal::observer::{Observer, StepEvent};

use crate::printer::{Progress, talk};

/// Passes everything on to a progress display, and stops the run when the user asked to.
pub struct Interrupt {
    progress: Progress,
    asked: Arc<AtomicBool>,
}

impl Interrupt {
    /// Begins to listen.
    pub fn catch(progress: Progress) -> Result<Self> {
        let asked = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&asked);
        ctrlc::set_handler(move || {
            if heard.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            talk("\nstopping after this step; press Ctrl-C again to stop at once");
        })
        .context("Ctrl-C cannot be caught")?;
        Ok(Self { progress, asked })
    }
}

impl Observer for Interrupt {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        self.progress.step(event);
        if self.asked.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn task(&mut self, task: usize, row: &[f64]) {
        self.progress.task(task, row);
    }
}
