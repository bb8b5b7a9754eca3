//! `rehearsal learn`.

mod demo;

use std::{ops::ControlFlow, path::Path, process::ExitCode, time::Duration};

use anyhow::Result;
use rehearsal::{
    config::PartialConfig,
    observer::{Observer, StepEvent},
};
use rehearsal_data::printable;
use rehearsal_model::{LearnObserver, Model, Notice, Outcome, Report, Session};

use crate::{
    args::{learning::How, model::Learn},
    commands::run::read_file,
    exit_code,
    interrupt::Asked,
    photos,
    printer::{LearningBar, message, plural, print, session_text},
    user_error::{UserError, model_first},
};

/// Learns from folders and prints the result.
pub fn learn(args: &Learn) -> Result<ExitCode> {
    let asked = Asked::listen_for_run(|| message("\nstopping after this step; press Ctrl-C again to stop at once"))?;
    match &args.model {
        Some(model) => learn_folders(args, model, &asked),
        None => demo::demo(args, &asked),
    }
}

fn learn_folders(args: &Learn, path: &Path, asked: &Asked) -> Result<ExitCode> {
    let mut settings = settings(&args.how)?;
    check(args, &settings)?;
    let mut model = model_first(Model::open_or_create(path), &args.folders)?;
    if let Some(threads) = settings.threads {
        model = model.on_threads(threads);
    }
    let size = settings.size.take();
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

/// Refuses numbers out of range before a photo is read.
fn check(args: &Learn, settings: &PartialConfig) -> Result<()> {
    let ranges = [
        ("epochs", settings.epochs, 1..=1_000_000),
        ("size", settings.size, 8..=1024),
        ("threads", settings.threads, 1..=1024),
    ];
    let wrong = ranges.into_iter().find_map(|(name, value, range)| {
        let value = value.filter(|value| !range.contains(value))?;
        Some(format!("`{name}` is {value}, not between {} and {}", range.start(), range.end()))
    });
    let points = args.max_forgetting.filter(|points| !(0.0..=100.0).contains(points));
    let wrong =
        wrong.or_else(|| Some(format!("`--max-forgetting` is {}, not between 0 and 100 percentage points", points?)));
    wrong.map_or(Ok(()), |wrong| Err(UserError(wrong).into()))
}

/// Every line made safe to print.
fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

/// The settings given for training; flags override the file.
fn settings(how: &How) -> Result<PartialConfig> {
    let file = how.settings.as_deref().map_or_else(|| Ok(PartialConfig::default()), read_file)?;
    Ok(file.overridden_by(&how.flags.settings()?))
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
