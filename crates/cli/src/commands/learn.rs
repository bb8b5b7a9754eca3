//! `rehearsal learn`.

mod demo;
#[cfg(feature = "training")]
mod scratch;

use std::{path::Path, process::ExitCode};

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_files::path_text::quoted;
use rehearsal_model::{
    AcceptanceCheck, ExactSession, Model, ModelError, Names, Notice, Outcome, Report, SessionOptions, Share,
};

use crate::{
    args::model::Learn,
    exit_code,
    interrupt::Asked,
    photos,
    printer::{message, percent, plural, print, session_text},
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
    if args.again {
        check_again(&model)?;
    }
    #[cfg(feature = "training")]
    if scratch::is_chosen(args, &model, &settings)? {
        let outcome = scratch::learn(args, &mut model, settings, asked)?;
        return report(args, path, &model, &outcome);
    }
    let outcome = learn_exact(args, &mut model, asked)?;
    report(args, path, &model, &outcome)
}

/// Refuses to learn again what cannot be.
fn check_again(model: &Model) -> Result<()> {
    if model.is_empty() {
        return Err(UserError("`--again` is for a model that has learned: give a folder of photos".into()).into());
    }
    if model.is_exact()? {
        return Err(ModelError::LearnedExactly.into());
    }
    if cfg!(feature = "training") { Ok(()) } else { Err(ModelError::NotBuilt.into()) }
}

/// Learns with a pre-trained backbone.
fn learn_exact(args: &Learn, model: &mut Model, asked: &Asked) -> Result<Outcome> {
    let mut notice = |notice: &Notice| {
        if !args.quiet {
            message(&printable(&notice.to_string()));
        }
        if let Notice::AnotherClass { is_moved: false, .. } = notice {
            message("hint: `--relabel` moves them to the class that they have here");
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
        check: match args.max_forgetting {
            Some(most) => AcceptanceCheck::AtMost(most),
            None if args.accept => AcceptanceCheck::Off,
            None => AcceptanceCheck::BeyondChance,
        },
        relabel: args.relabel,
        names: Names { nested: args.nested, as_is: args.as_is },
    }
}

fn report(args: &Learn, path: &Path, model: &Model, outcome: &Outcome) -> Result<ExitCode> {
    match outcome {
        Outcome::Learned(report) => show(args, path, report),
        Outcome::NothingNew { images } => {
            if args.json {
                print(&format!("{}\n", serde_json::json!({ "version": null, "seen_before": images })))?;
            } else if !args.quiet {
                nothing_new(path, model, *images)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Stopped => {
            message("stopped: the model is unchanged, and the same command continues from here");
            Ok(exit_code::STOPPED.into())
        }
    }
}

/// Says why nothing was learned, and what else can be done.
fn nothing_new(path: &Path, model: &Model, images: usize) -> Result<()> {
    let (images, current) = (plural(images, "image"), model.settings().current);
    message(&format!("nothing new to learn in {images}: version {current} stays current"));
    if model.is_exact()? {
        message("the head has learned them exactly: to learn them again would change nothing");
    } else {
        let path = quoted(path);
        message(&printable(&format!("hint: `rehearsal learn {path} --again` learns once more what it remembers")));
    }
    Ok(())
}

fn show(args: &Learn, path: &Path, report: &Report) -> Result<ExitCode> {
    let text = printable_lines(&session_text(path, report));
    match coarse(report) {
        Some(warning) if !args.quiet => message(&warning),
        _ => {}
    }
    if args.json {
        print(&format!("{}\n", serde_json::to_string(report)?))?;
    } else if !args.quiet {
        print(&text)?;
    } else if !report.accepted {
        message(text.trim_end());
    }
    Ok(if report.accepted { exit_code::DONE } else { exit_code::REJECTED }.into())
}

/// Warns if one holdout photo is more than the limit: then one photo decides.
fn coarse(report: &Report) -> Option<String> {
    let (most, photos) = (report.max_forgetting?, report.old?.before.total);
    let one = Share::new(1.0 / photos as f64).filter(|one| most.fraction() > 0.0 && *one > most)?;
    let photos = plural(photos, "holdout photo");
    let one = percent(Some(one.fraction()));
    Some(format!(
        "warning: the classes known before have {photos}, so one photo is {one} %, more than the limit of {most}"
    ))
}

/// Every line made safe to print.
fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_below_one_holdout_photo_is_warned_about() {
        let report = |most: f64, total: usize| -> Report {
            serde_json::from_value(serde_json::json!({
                "version": 2, "parent": 1, "accepted": true, "max_forgetting": most, "classes": 3, "new_classes": [],
                "images": 9, "held_out": 1, "seen_before": 0, "holdout": { "right": 1, "total": 1 },
                "old": { "before": { "right": total, "total": total }, "after": { "right": total, "total": total }, "p": 1.0 },
                "new": null, "by_class": [], "threshold": null, "memory": 9, "memory_capacity": 9, "bytes": 1,
            }))
            .unwrap()
        };
        let warning = coarse(&report(0.03, 29)).unwrap();
        assert!(
            warning.contains("29 holdout photos") && warning.contains("3.4 %, more than the limit of 3%"),
            "{warning}"
        );
        assert_eq!((coarse(&report(0.03, 34)), coarse(&report(0.0, 29))), (None, None));
    }
}
