//! `rehearsal learn`.

mod demo;
#[cfg(feature = "training")]
mod scratch;

use std::{path::Path, process::ExitCode};

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_model::{ExactSession, Model, Notice, Outcome, Report, SessionOptions};

use crate::{
    args::model::Learn,
    exit_code,
    interrupt::Asked,
    photos,
    printer::{message, plural, print, session_text},
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
    check(args)?;
    #[cfg(feature = "training")]
    let (settings, threads) = {
        let settings = scratch::settings(args)?;
        (settings.clone(), settings.threads)
    };
    #[cfg(not(feature = "training"))]
    let threads = args.threads;
    let mut model = model_first(Model::open_or_create(path), &args.folders)?;
    if let Some(threads) = threads {
        model = model.on_threads(threads);
    }
    #[cfg(feature = "training")]
    if scratch::is_chosen(args, &model, &settings)? {
        let outcome = scratch::learn(args, &mut model, settings, asked)?;
        return report(args, path, &model, &outcome);
    }
    let outcome = learn_exact(args, &mut model, asked)?;
    report(args, path, &model, &outcome)
}

/// Learns with a pre-trained backbone.
fn learn_exact(args: &Learn, model: &mut Model, asked: &Asked) -> Result<Outcome> {
    let mut notice = |notice: &Notice| {
        if !args.quiet {
            message(&printable(&notice.to_string()));
        }
    };
    photos::with_reader(args.follow_links, args.skip_bad, args.quiet, |reader| {
        let photos = reader.find(&args.folders)?;
        let holdout = reader.find_holdout(args.holdout.as_deref(), &args.folders)?;
        let stop = || asked.to_stop();
        let backbone = args.backbone.clone();
        let session = ExactSession { photos, holdout, backbone, options: options(args), stop: &stop };
        Ok(model.learn_exact(&session, reader, &mut notice)?)
    })
}

fn options(args: &Learn) -> SessionOptions {
    SessionOptions {
        memory: args.memory,
        holdout_per_class: args.holdout_per_class,
        keep: args.keep.map(|keep| keep as usize),
        max_forgetting: args.max_forgetting,
    }
}

fn report(args: &Learn, path: &Path, model: &Model, outcome: &Outcome) -> Result<ExitCode> {
    match outcome {
        Outcome::Learned(report) => show(args, path, report),
        Outcome::NothingNew { images } => {
            if args.json {
                print(&format!("{}\n", serde_json::json!({ "version": null, "seen_before": images })))?;
            } else if !args.quiet {
                let used = model.settings().current;
                message(&format!("nothing new to learn in {}: version {used} stays current", plural(*images, "image")));
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
fn check(args: &Learn) -> Result<()> {
    match args.max_forgetting.filter(|points| !(0.0..=100.0).contains(points)) {
        Some(points) => {
            let wrong = format!("`--max-forgetting` is {points}, not between 0 and 100 percentage points");
            Err(UserError(wrong).into())
        }
        None => Ok(()),
    }
}

/// Every line made safe to print.
fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}
