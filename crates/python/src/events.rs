//! Long work, beside Python: on a thread of its own, while the calling thread listens to events and to Ctrl-C.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

use pyo3::{prelude::*, types::PyDict};
use rehearsal_data::{Progress, Unit};

use crate::error::{Error, Result};

/// How often Ctrl-C is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Events that wait for their callback; then the work waits, too.
const WAITING: usize = 64;

/// What happens.
pub enum Event {
    /// Some work begins: what, and of how many items.
    Begin(String, Option<u64>),
    /// More items are done.
    Advance(u64),
    /// The work is done.
    End,
    /// A message for people.
    Say(String),
    /// A step of training.
    #[cfg(feature = "training")]
    Step(crate::benchmark::StepTaken),
    /// A task is learned: its number, and the accuracies on all tasks so far.
    #[cfg(feature = "training")]
    Task(usize, Vec<f64>),
}

/// The work's side: it tells events, and asks whether to stop.
pub struct Reporter {
    events: SyncSender<Event>,
    stop: Arc<AtomicBool>,
    /// Whether anybody listens.
    is_heard: bool,
}

impl Reporter {
    /// Tells an event, if anybody listens.
    pub fn tell(&self, event: Event) {
        if self.is_heard {
            // Nobody listens after an interruption; the work is asked to stop then.
            let _ = self.events.send(event);
        }
    }

    /// Whether to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl Progress for Reporter {
    fn begin(&self, what: &str, unit: Unit, done: u64, total: Option<u64>) {
        if unit == Unit::Items {
            self.tell(Event::Begin(what.into(), total.map(|total| total - done.min(total))));
        }
    }

    fn advance(&self, by: u64) {
        self.tell(Event::Advance(by));
    }

    fn end(&self) {
        self.tell(Event::End);
    }

    fn say(&self, line: &str) {
        self.tell(Event::Say(line.into()));
    }
}

/// Runs `work` without holding Python, on a thread of its own. `callback` is called with a dictionary for each event,
/// on the calling thread. If it raises, or Ctrl-C is pressed, the work is asked to stop, and the exception is raised
/// once it has.
pub fn run<T: Send>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Reporter) -> Result<T> + Send,
) -> Result<T> {
    let (events, heard) = sync_channel(WAITING);
    let stop = Arc::new(AtomicBool::new(false));
    let reporter = Reporter { events, stop: Arc::clone(&stop), is_heard: callback.is_some() };
    thread::scope(|scope| {
        // The reporter is dropped when the work ends, also by a panic: then nothing more is heard.
        let worker = scope.spawn(move || work(&reporter));
        let listened = listen(py, callback, heard);
        if listened.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        let joined = py.detach(|| worker.join());
        listened?;
        joined.unwrap_or_else(|panic| Err(Error::of_panic(panic)))
    })
}

/// Listens until the work has ended.
fn listen(py: Python<'_>, callback: Option<&Bound<'_, PyAny>>, mut heard: Receiver<Event>) -> PyResult<()> {
    loop {
        let event;
        // It is lent to the waiting, which does not hold Python.
        (heard, event) = py.detach(move || {
            let event = heard.recv_timeout(LOOK_EVERY);
            (heard, event)
        });
        match (event, callback) {
            (Ok(event), Some(callback)) => drop(callback.call1((event.into_dictionary(py)?,))?),
            (Err(RecvTimeoutError::Disconnected), _) => return Ok(()),
            _ => {}
        }
        py.check_signals()?;
    }
}

impl Event {
    fn into_dictionary(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dictionary = PyDict::new(py);
        let name = match self {
            Self::Begin(what, total) => {
                dictionary.set_item("what", what)?;
                dictionary.set_item("total", total)?;
                "begin"
            }
            Self::Advance(by) => {
                dictionary.set_item("by", by)?;
                "advance"
            }
            Self::End => "end",
            Self::Say(text) => {
                dictionary.set_item("text", text)?;
                "say"
            }
            #[cfg(feature = "training")]
            Self::Step(step) => {
                step.fill(&dictionary)?;
                "step"
            }
            #[cfg(feature = "training")]
            Self::Task(task, accuracies) => {
                dictionary.set_item("task", task)?;
                dictionary.set_item("accuracies", accuracies)?;
                "task"
            }
        };
        dictionary.set_item("event", name)?;
        Ok(dictionary)
    }
}
