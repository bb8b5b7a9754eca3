//! The progress of a session that trains by gradients.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use rehearsal::observer::StepEvent;

use super::{LINE_EVERY, clock, message, progress::running_mean};

/// A display of progress on standard error.
pub struct LearningBar {
    is_quiet: bool,
    bar: Option<ProgressBar>,
    /// When the first step of this session ended, and which that was.
    start: Option<(Instant, u64)>,
    last: Instant,
    /// A running mean of the loss.
    loss: Option<f32>,
}

impl LearningBar {
    /// Before the first step.
    pub fn new(is_quiet: bool) -> Self {
        Self { is_quiet, bar: None, start: None, last: Instant::now(), loss: None }
    }

    /// After a step.
    pub fn step(&mut self, event: &StepEvent) {
        if self.is_quiet {
            return;
        }
        self.loss = running_mean(self.loss, event.loss);
        let (step, steps) = (event.task_step, event.task_steps);
        let (start, first) = *self.start.get_or_insert_with(|| (Instant::now(), step));
        let per_step = start.elapsed().as_secs_f64() / (step - first).max(1) as f64;
        let left = Duration::try_from_secs_f64(per_step * steps.saturating_sub(step) as f64).unwrap_or(Duration::MAX);
        let loss = self.loss.map_or_else(|| "-".to_owned(), |loss| format!("{loss:.2}"));
        let left = if step > first { clock(left) } else { "?".to_owned() };
        let line = format!("epoch {} of {} · loss {loss} · {left} left", event.epoch + 1, event.epochs);
        if std::io::stderr().is_terminal() {
            let bar = self.bar.get_or_insert_with(|| bar(steps));
            bar.set_position(step);
            bar.set_message(line);
        } else if self.last.elapsed() >= LINE_EVERY {
            self.last = Instant::now();
            message(&format!("learning  step {step} of {steps} · {line}"));
        }
    }

    /// Nothing is left to show.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("learning  {wide_bar} {msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(steps).with_style(style.progress_chars("━━ "))
}
