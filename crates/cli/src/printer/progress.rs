//! The progress of a run: a bar on a terminal, plain lines in a pipe.

use std::{
    io::IsTerminal,
    ops::ControlFlow,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use rehearsal::{
    experiment::Experiment,
    observer::{Observer, StepEvent},
};

use super::{LINE_EVERY, message, percent};

/// A display of progress on standard error.
pub struct Progress {
    display: Display,
    tasks: usize,
    epochs: usize,
    batch: usize,
    total: u64,
    /// Steps taken in earlier sessions.
    before: u64,
    start: Instant,
    /// A running mean of the loss.
    loss: Option<f32>,
}

enum Display {
    Bar(ProgressBar),
    Lines { last: Instant },
    Silent,
}

impl Progress {
    /// Shows nothing.
    pub fn silent() -> Self {
        Self {
            display: Display::Silent,
            tasks: 0,
            epochs: 0,
            batch: 0,
            total: 0,
            before: 0,
            start: Instant::now(),
            loss: None,
        }
    }

    /// Shows how far `experiment` is.
    pub fn new(experiment: &Experiment) -> Self {
        let config = experiment.config();
        let (total, before) = (experiment.total_steps(), experiment.learner().cursor().steps);
        let retrieval = config.learner.replay.retrieval.map(|retrieval| format!(" + {retrieval}")).unwrap_or_default();
        let directory = experiment.directory().map(|path| format!(" → {}", path.display())).unwrap_or_default();
        message(&format!(
            "{}{retrieval} on {}, {} tasks, {total} steps{directory}",
            config.learner.method.kind,
            config.dataset,
            config.plan().tasks
        ));
        if before > 0 {
            message(&format!("continuing after step {before}"));
        }
        let display = if std::io::stderr().is_terminal() {
            Display::Bar(bar(total, before))
        } else {
            Display::Lines { last: Instant::now() }
        };
        let (tasks, epochs, batch) = (config.plan().tasks, config.epochs(), config.learner.batch);
        Self { display, tasks, epochs, batch, total, before, start: Instant::now(), loss: None }
    }

    /// Samples per second in this session, and the time left.
    fn pace(&self, step: u64) -> (f64, Duration) {
        let per_step = self.start.elapsed().as_secs_f64() / (step - self.before).max(1) as f64;
        (
            self.batch as f64 / per_step,
            Duration::try_from_secs_f64(per_step * self.total.saturating_sub(step) as f64).unwrap_or(Duration::MAX),
        )
    }
}

impl Observer for Progress {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        self.loss = running_mean(self.loss, event.loss);
        let (speed, left) = self.pace(event.step);
        let place = format!("task {}/{} epoch {}/{}", event.task + 1, self.tasks, event.epoch + 1, self.epochs);
        let loss = self.loss.map_or_else(|| "-".to_owned(), |loss| format!("{loss:.3}"));
        let (step, total) = (event.step, self.total);
        match &mut self.display {
            Display::Silent => {}
            Display::Bar(bar) => {
                bar.set_position(step);
                bar.set_prefix(place);
                bar.set_message(format!("loss {loss} {speed:.0} samples/s {} left", clock(left)));
            }
            Display::Lines { last } => {
                if last.elapsed() >= LINE_EVERY {
                    *last = Instant::now();
                    message(&format!(
                        "{place} step {step}/{total} loss {loss} {speed:.0} samples/s {} left",
                        clock(left)
                    ));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn task(&mut self, task: usize, row: &[f64]) {
        let mean = row.iter().sum::<f64>() / row.len() as f64;
        let line =
            format!("after task {}/{}: accuracy {} % over the tasks so far", task + 1, self.tasks, percent(Some(mean)));
        match &self.display {
            Display::Silent => {}
            Display::Bar(bar) => {
                bar.println(line);
                if task + 1 == self.tasks {
                    bar.finish_and_clear();
                }
            }
            Display::Lines { .. } => message(&line),
        }
    }
}

/// A mean of losses in which the last counts one tenth.
pub(super) fn running_mean(mean: Option<f32>, loss: Option<f32>) -> Option<f32> {
    let Some(loss) = loss else { return mean };
    Some(mean.map_or(loss, |mean| 0.9 * mean + 0.1 * loss))
}

fn bar(total: u64, before: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total).with_style(style.progress_chars("━━ ")).with_position(before)
}

/// 75 s as 1:15, an hour and a bit as 1:02:03.
pub fn clock(duration: Duration) -> String {
    let seconds = duration.as_secs_f64().round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks() {
        assert_eq!(clock(Duration::from_secs(75)), "1:15");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}
