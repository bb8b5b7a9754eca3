//! `rehearsal watch`, and the page of `rehearsal run --watch`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_serve::Watch;

use crate::{args::watch::Watch as Args, interrupt::Asked, printer::message};

/// Shows runs until it is told to stop.
pub fn watch(args: &Args) -> Result<ExitCode> {
    let watch = Watch::start(args.directory.clone(), args.port, None)?;
    let stop = watch.stopper();
    Asked::listen(move |times| {
        if times > 1 {
            std::process::exit(crate::exit_code::STOPPED.into());
        }
        stop.stop();
    })?;
    if !args.quiet {
        message(&format!("{} on http://{}", args.directory.display(), watch.address()));
    }
    watch.run()?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "training")]
pub use of_run::OfRun;

#[cfg(feature = "training")]
mod of_run {
    use std::{ops::ControlFlow, path::Path, thread::JoinHandle};

    use anyhow::Result;
    use rehearsal::{
        Learner,
        experiment::Experiment,
        learner::Replayed as Stored,
        observer::{Observer, StepEvent},
        retrieval::Side,
        sample::InputShape,
    };
    use rehearsal_serve::{Live, Replay, Replayed, ReplayedFor, ServeError, Stop, Watch};

    use crate::printer::message;

    /// The page of a run of this process, on threads of its own.
    pub struct OfRun {
        live: Live,
        stop: Stop,
        serving: Option<JoinHandle<()>>,
    }

    impl OfRun {
        /// Starts it, and says where it is.
        pub fn start(experiment: &Experiment, directory: &Path, port: u16, quiet: bool) -> Result<Self> {
            let live = Live::new(experiment.class_names(), experiment.total_steps());
            let start = |port| Watch::start(directory.to_owned(), port, Some(live.clone()));
            let watch = match start(port) {
                // Of another run, say: the run itself must not fail for that.
                Err(ServeError::Address { .. }) => start(0)?,
                started => started?,
            };
            let (stop, address) = (watch.stopper(), watch.address());
            if !quiet {
                message(&format!("watch it on http://{address}"));
            }
            let serve = move || watch.run().unwrap_or_else(|error| message(&format!("error: {error}")));
            let serving = Some(std::thread::Builder::new().name("watch".into()).spawn(serve)?);
            Ok(Self { live, stop, serving })
        }

        /// The observer that tells the page what each step replays, and passes all on.
        pub fn observe<O: Observer>(&self, shown: O) -> Watched<O> {
            Watched { live: self.live.clone(), shown }
        }
    }

    impl Drop for OfRun {
        fn drop(&mut self) {
            self.stop.stop();
            if let Some(serving) = self.serving.take() {
                let _ = serving.join();
            }
        }
    }

    /// Tells a page what each step replays, and passes all on to another observer.
    pub struct Watched<O> {
        live: Live,
        shown: O,
    }

    impl<O: Observer> Observer for Watched<O> {
        fn before_step(&mut self, learner: &Learner) {
            self.shown.before_step(learner);
        }

        fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
            let input = event.learner.input();
            let photos = event.taken.replayed.iter().flatten().map(|stored| replayed(stored, input)).collect();
            self.live.show(Replay { task: event.task, step: event.step, loss: event.loss, photos });
            self.shown.step(event)
        }

        fn task(&mut self, task: usize, row: &[f64]) {
            self.shown.task(task, row);
        }
    }

    fn replayed(Stored { sample, retrieved }: &Stored, input: InputShape) -> Replayed {
        let side = retrieved.side.map(|side| match side {
            Side::High => ReplayedFor::Conflicting,
            Side::Low => ReplayedFor::Aligned,
        });
        let pixels = match input {
            InputShape::Pixels(shape) => Some((sample.image.clone(), shape)),
            InputShape::Features { .. } => None,
        };
        let (class, task) = (sample.label.index(), sample.task.index());
        Replayed { side, loss_change: retrieved.loss_change, class, task, pixels }
    }
}
