//! The progress of a download, of unpacking or of packing: a bar on a terminal, plain lines in a pipe.

use std::{
    io::IsTerminal,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use indicatif::{ProgressBar, ProgressStyle};
use rehearsal_data::{Progress, Unit};

use super::{LINE_EVERY, bytes, message, safe};

/// A display of progress on standard error.
#[derive(Default)]
pub struct Bar(Mutex<Option<Work>>);

/// The work in progress.
struct Work {
    what: String,
    unit: Unit,
    done: u64,
    total: Option<u64>,
    /// When it began, and how much was done then.
    start: (Instant, u64),
    last: Instant,
    bar: Option<ProgressBar>,
}

impl Bar {
    fn work(&self) -> MutexGuard<'_, Option<Work>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bar {
    fn begin(&self, what: &str, unit: Unit, done: u64, total: Option<u64>) {
        self.end();
        let bar = std::io::stderr().is_terminal().then(|| bar(what, unit, done, total));
        let now = Instant::now();
        *self.work() = Some(Work { what: what.into(), unit, done, total, start: (now, done), last: now, bar });
    }

    fn advance(&self, by: u64) {
        let mut work = self.work();
        let Some(work) = work.as_mut() else { return };
        work.done += by;
        if let Some(bar) = &work.bar {
            bar.set_position(work.done);
        } else if work.last.elapsed() >= LINE_EVERY {
            work.last = Instant::now();
            message(&work.line());
        }
    }

    fn end(&self) {
        let Some(work) = self.work().take() else { return };
        match &work.bar {
            Some(bar) => bar.finish_and_clear(),
            None if work.start.0.elapsed() >= LINE_EVERY => message(&work.line()),
            None => {}
        }
    }

    fn say(&self, line: &str) {
        match self.work().as_ref().and_then(|work| work.bar.as_ref()) {
            Some(bar) => bar.println(safe(line)),
            None => message(line),
        }
    }
}

impl Work {
    /// `cifar-100-binary.tar.gz 12.3 MB of 161.2 MB, 4.5 MB/s`
    fn line(&self) -> String {
        let amount = |amount: u64| if self.unit == Unit::Bytes { bytes(amount) } else { amount.to_string() };
        let speed = (self.done - self.start.1) as f64 / self.start.0.elapsed().as_secs_f64().max(1e-3);
        let total = self.total.map(|total| format!(" of {}", amount(total))).unwrap_or_default();
        format!("{} {}{total}, {}/s", self.what, amount(self.done), amount(speed as u64))
    }
}

fn bar(what: &str, unit: Unit, done: u64, total: Option<u64>) -> ProgressBar {
    let template = match unit {
        Unit::Bytes => "{prefix} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
        Unit::Items => "{prefix} {wide_bar} {pos} of {len} {eta} left",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new).with_style(style.progress_chars("━━ "));
    bar.with_prefix(safe(what)).with_position(done)
}
