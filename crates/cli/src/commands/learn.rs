//! `rehearsal learn`.

mod demo;

use std::{ops::ControlFlow, path::Path, process::ExitCode, time::Duration};

use anyhow::Result;
use rehearsal::{
    config::PartialConfig,
    observer::{Observer, StepEvent},
};
use rehearsal_data::printable;
use rehearsal_files::regular;
use rehearsal_model::{LearnObserver, Model, Notice, Outcome, Report, Session};

use crate::{
    args::model::{How, Learn},
    exit_code,
    interrupt::Asked,
    photos,
    printer::{LearningBar, message, plural, print, session_text},
    user_error::{UserError, model_first},
};

/// The largest file of settings that is read, in bytes.
const LARGEST_SETTINGS: u64 = 1 << 20;

/// Learns from folders and prints the result.
pub fn learn(args: &Learn) -> Result<ExitCode> {
    let asked = Asked::listen_for_run(|| message("\nstopping after this step; press Ctrl-C again to stop at once"))?;
    match &args.model {
        Some(model) => learn_folders(args, model, &asked),
        None => demo::demo(args, &asked),
    }
}

fn learn_folders(args: &Learn, path: &Path, asked: &Asked) -> Result<ExitCode> {
    check(args)?;
    let settings = settings(&args.how)?;
    let mut model = model_first(Model::open_or_create(path), &args.folders)?;
    if let Some(threads) = args.how.threads {
        model = model.on_threads(threads.into());
    }
    let size = args.how.size.map(usize::from);
    let session = photos::with_reader(args.follow_links, args.skip_bad, args.quiet, |reader| {
        reader.session(&model, &args.folders, size)
    })?;
    let mut display = Display { bar: LearningBar::new(args.quiet), asked: asked.clone(), quiet: args.quiet };
    let session = Session {
        settings,
        memory: args.memory,
        holdout_per_class: args.holdout_per_class,
        keep: args.keep.map(|keep| keep as usize),
        max_forgetting: args.max_forgetting,
        recalibrate: !args.how.no_recalibration,
        checkpoint_every: Duration::try_from_secs_f64(args.how.checkpoint_every).unwrap_or_default(),
        ..session
    };
    let outcome = model.learn(session, &mut display);
    display.bar.end();
    match outcome? {
        Outcome::Learned(report) => show(args, path, &report),
        Outcome::NothingNew { images } => {
            if args.json {
                print(&format!("{}\n", serde_json::json!({ "version": null, "seen_before": images })))?;
            } else if !args.quiet {
                let used = model.settings().current;
                message(&format!("nothing new to learn in {}: version {used} stays current", plural(images, "image")));
            }
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Stopped => {
            message("stopped: the model is unchanged, and the same command continues from here");
            Ok(exit_code::STOPPED.into())
        }
    }
}

fn show(args: &Learn, path: &Path, report: &Report) -> Result<ExitCode> {
    if args.json {
        print(&format!("{}\n", serde_json::to_string(report)?))?;
    } else if !args.quiet {
        print(&printable_lines(&session_text(path, report)))?;
    }
    Ok(if report.accepted { exit_code::DONE } else { exit_code::REJECTED }.into())
}

/// Refuses impossible numbers before a photo is read.
fn check(args: &Learn) -> Result<()> {
    let why = match (args.how.epochs, args.max_forgetting) {
        (Some(0), _) => "`--epochs` is 0: it must be at least 1".to_owned(),
        (_, Some(points)) if !(0.0..=100.0).contains(&points) => {
            format!("`--max-forgetting` is {points}: it must be between 0 and 100 percentage points")
        }
        _ => return Ok(()),
    };
    Err(UserError(why).into())
}

/// Every line made safe to print.
fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

/// The settings given for learning.
fn settings(how: &How) -> Result<PartialConfig> {
    let file = match &how.settings {
        None => PartialConfig::default(),
        Some(path) => {
            let text = regular::read_named(path, LARGEST_SETTINGS)
                .map_err(|error| UserError(format!("{} cannot be read: {error}", path.display())))?;
            PartialConfig::parse(&text).map_err(|error| UserError(format!("{}, {error}", path.display())))?
        }
    };
    let flags = PartialConfig {
        epochs: how.epochs,
        lr: how.lr,
        schedule: how.schedule,
        width: how.width,
        method: how.method,
        retrieval: how.retrieval,
        memory_policy: how.memory_policy,
        seed: how.seed,
        ..PartialConfig::default()
    };
    Ok(file.overridden_by(&flags))
}

/// Shows the progress, and stops when asked to.
struct Display {
    bar: LearningBar,
    asked: Asked,
    quiet: bool,
}

impl Observer for Display {
    fn step(&mut self, event: &StepEvent) -> ControlFlow<()> {
        self.bar.step(event);
        if self.asked.to_stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl LearnObserver for Display {
    fn notice(&mut self, notice: &Notice) {
        if !self.quiet {
            message(&printable(&notice.to_string()));
        }
    }
}
