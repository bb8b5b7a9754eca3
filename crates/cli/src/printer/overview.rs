//! The progress of a grid: one bar over all and a line per running job on a terminal, plain lines in a
//! pipe.

use std::{
    collections::BTreeMap,
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use rehearsal_grid::WorkerProgress;

use super::{clock, message, safe};

/// How often a line about the whole grid is written if there is no terminal.
const LINE_EVERY: Duration = Duration::from_mins(1);
/// The bar counts thousandths of runs.
const FINE: f64 = 1000.0;

/// A display of progress on standard error.
pub struct Overview {
    bars: Option<(MultiProgress, ProgressBar)>,
    jobs: BTreeMap<usize, Running>,
    done: usize,
    total: usize,
    /// Runs, and shares of runs, that this session did not do: done before, or resumed.
    given: f64,
    start: Instant,
    last: Instant,
}

struct Running {
    name: String,
    bar: Option<ProgressBar>,
    share: f64,
    /// Where it was when first heard of, and when that was.
    first: Option<(u64, Instant)>,
}

impl Overview {
    /// Of `total` runs, `before` of which are done.
    pub fn new(before: usize, total: usize) -> Self {
        let bars = std::io::stderr().is_terminal().then(|| {
            let all = MultiProgress::new();
            let bar = ProgressBar::new((total as f64 * FINE) as u64).with_style(style("{prefix} {wide_bar} {msg}"));
            let bar = all.add(bar.with_prefix(format!("{before}/{total} runs")));
            bar.set_position((before as f64 * FINE) as u64);
            (all, bar)
        });
        let now = Instant::now();
        let (jobs, given) = (BTreeMap::new(), before as f64);
        Self { bars, jobs, done: before, total, given, start: now, last: now }
    }

    /// A run has started.
    pub fn start(&mut self, index: usize, name: &str) {
        let bar = self.bars.as_ref().map(|(all, _)| {
            let bar = all.add(ProgressBar::new(1).with_style(style("  {wide_msg}")));
            bar.set_message(name.to_owned());
            bar
        });
        self.jobs.insert(index, Running { name: name.into(), bar, share: 0.0, first: None });
    }

    /// A run has got further.
    pub fn progress(&mut self, index: usize, at: &WorkerProgress) {
        let Some(job) = self.jobs.get_mut(&index) else { return };
        job.share = at.step as f64 / at.total.max(1) as f64;
        let (from, since) = *job.first.get_or_insert_with(|| {
            self.given += job.share;
            (at.step, Instant::now())
        });
        if let Some(bar) = &job.bar {
            let speed = (at.step - from) as f64 / since.elapsed().as_secs_f64().max(1e-3);
            let (task, step, total) = (at.task + 1, at.step, at.total);
            bar.set_message(format!("{} task {task} step {step}/{total} {speed:.1} steps/s", job.name));
        }
        self.tick();
    }

    /// A run has ended, as `line` says.
    pub fn end(&mut self, index: usize, line: &str, done: bool) {
        self.done += usize::from(done);
        if let Some(bar) = self.jobs.remove(&index).and_then(|job| job.bar) {
            bar.finish_and_clear();
        }
        self.say(&format!("[{}/{}] {line}", self.done, self.total));
        self.tick();
    }

    /// Time has passed.
    pub fn tick(&mut self) {
        let reached = self.done as f64 + self.jobs.values().map(|job| job.share).sum::<f64>();
        let left = self.left(reached);
        let runs = format!("{}/{} runs", self.done, self.total);
        if let Some((_, bar)) = &self.bars {
            bar.set_prefix(runs);
            bar.set_position((reached * FINE) as u64);
            bar.set_message(left);
        } else if self.last.elapsed() >= LINE_EVERY {
            self.last = Instant::now();
            message(&format!(
                "{runs} done, {} running{}{left}",
                self.jobs.len(),
                if left.is_empty() { "" } else { ", " }
            ));
        }
    }

    /// The display is over.
    pub fn finish(&mut self) {
        for job in std::mem::take(&mut self.jobs).into_values() {
            job.bar.inspect(ProgressBar::finish_and_clear);
        }
        if let Some((_, bar)) = &self.bars {
            bar.finish_and_clear();
        }
    }

    /// Says a line above the bars.
    pub fn say(&self, line: &str) {
        match &self.bars {
            Some((all, _)) if all.println(safe(line)).is_ok() => {}
            _ => message(line),
        }
    }

    /// The time left at the pace of this session, once there is one.
    fn left(&self, reached: f64) -> String {
        let worked = reached - self.given;
        let seconds = self.start.elapsed().as_secs_f64() / worked * (self.total as f64 - reached);
        match Duration::try_from_secs_f64(seconds) {
            Ok(left) if worked > 0.01 => format!("{} left", clock(left)),
            _ => String::new(),
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("━━ ")
}
