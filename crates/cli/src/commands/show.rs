//! `rehearsal show`.

use std::{collections::BTreeMap, process::ExitCode, sync::Arc};

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_model::{AllUnsure, Entry, Event, Model, Part, Score, Version, VersionState, rescored};
use serde_json::{Value, json};

use crate::{
    args::model::Show,
    output::with_path,
    printer::{LONGEST_NAME, bytes, class_name, clipped, columns, count, interval_text, percent, plural, print},
};

/// Shows a model.
pub fn show(args: &Show) -> Result<ExitCode> {
    show_model(args)
}

fn show_model(args: &Show) -> Result<ExitCode> {
    let (model, version) = Model::open_version(&args.model, None)?;
    let (history, classes) = (model.history()?, classes(&version)?);
    if args.json {
        print(&format!("{}\n", to_json(&model, &version, &history, &classes)))?;
    } else {
        print(&text(&model, &version, &history, &classes))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is known of a class.
struct OfClass {
    name: String,
    holdout: Score,
    memory: usize,
    learned: usize,
}

fn classes(version: &Version) -> Result<Vec<OfClass>> {
    let answers = version.holdout_answers()?;
    let mut memory: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    let remembered = version.held().into_iter().filter(|held| held.part == Part::Memory);
    remembered.for_each(|held| *memory.entry(held.class).or_default() += 1);
    let of_class = |class: Arc<str>| OfClass {
        name: class.to_string(),
        holdout: Score::of(answers.iter().filter(|answer| answer.class == class)),
        memory: memory.get(&class).copied().unwrap_or(0),
        learned: version.learned_of(&class),
    };
    Ok(version.classes().into_iter().map(of_class).collect())
}

fn text(model: &Model, version: &Version, history: &[Entry], classes: &[OfClass]) -> String {
    let settings = model.settings();
    let holdout = classes.iter().fold(Score::default(), |sum, class| Score {
        right: sum.right + class.holdout.right,
        total: sum.total + class.holdout.total,
    });
    let memory: usize = classes.iter().map(|class| class.memory).sum();
    let mut lines = vec![
        printable(&format!(
            "{}: version {}, {} classes",
            model.path().display(),
            settings.current,
            count(classes.len())
        )),
        format!("  images   {} learned, seen as {1}×{1}", count(version.learned()), version.size()),
        format!("  holdout  {}", holdout_text(holdout, version.near_duplicates())),
        format!("  memory   {} of {} images", count(memory), count(version.memory_capacity())),
        format!("  sure     {}", threshold_text(version)),
        format!("  learner  {}", version.description()),
    ];
    if version.farthest_known().is_some() {
        lines.insert(5, "  unknown  further from all classes than 19 of 20 holdout photos".into());
    }
    if model.is_learning() {
        lines.push("  a session was interrupted: the same `rehearsal learn` continues".into());
    }
    lines.push(String::new());
    let mut rows = vec![["class", "learned", "memory", "holdout"].map(String::from).to_vec()];
    rows.extend(classes.iter().map(|class| {
        let holdout = match class.holdout.total {
            0 => "-".into(),
            total => format!("{} % of {total}", percent(class.holdout.share())),
        };
        vec![
            clipped(&printable(&class_name(&class.name)), LONGEST_NAME),
            count(class.learned),
            count(class.memory),
            holdout,
        ]
    }));
    lines.extend(columns(&rows, &[false, true, true]));
    lines.push(String::new());
    lines.extend(version_lines(model, history));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// `95.0 % of 40 images (84 to 99 %)`, and what was left out.
fn holdout_text(holdout: Score, near_duplicates: usize) -> String {
    let left_out = match near_duplicates {
        0 => String::new(),
        count => format!("; {} left out", plural(count, "near-duplicate")),
    };
    let interval = interval_text(holdout).map(|interval| format!(" ({interval})")).unwrap_or_default();
    format!("{} % of {}{interval}{left_out}", percent(holdout.share()), plural(holdout.total, "image"))
}

fn threshold_text(version: &Version) -> String {
    match (version.threshold(), version.all_unsure()) {
        (Some(threshold), _) => format!("from {:.0} %: 19 of 20 such answers are right", 100.0 * threshold),
        (None, why) => format!("never: {}", why.map_or("", AllUnsure::text)),
    }
}

/// A line for each version that is kept, the one that is used with a star.
fn version_lines(model: &Model, history: &[Entry]) -> Vec<String> {
    let mut rows = vec![["version", "when (UTC)", "", "size"].map(String::from).to_vec()];
    for number in model.versions() {
        let star = if number == model.settings().current { "* " } else { "  " };
        let size = match model.state(number) {
            VersionState::Whole => model.bytes(number).map(bytes).unwrap_or_default(),
            bad => bad.word().into(),
        };
        let (when, what) = match history.iter().rev().find(|entry| made(entry) == Some(number)) {
            Some(entry) => {
                let when = entry.when.replace('T', " ").chars().take(16).collect::<String>();
                (when, what(&entry.event, rescored(history, number)))
            }
            None => (String::new(), String::new()),
        };
        let what = clipped(&printable(&what), LONGEST_NAME);
        rows.push(vec![format!("{star}{number}"), printable(&when), what, size]);
    }
    columns(&rows, &[])
}

/// The version that an event made.
fn made(entry: &Entry) -> Option<u32> {
    match &entry.event {
        Event::Learned(report) => Some(report.version),
        Event::Renamed { version, .. }
        | Event::Retired { version, .. }
        | Event::Merged { version, .. }
        | Event::Moved { version, .. } => Some(*version),
        Event::Used { .. } | Event::Removed { .. } => None,
    }
}

/// What an event made; the holdout accuracy is that after the last removal of photos.
fn what(event: &Event, now: Option<Score>) -> String {
    match event {
        Event::Learned(report) if report.accepted => {
            let holdout = now.unwrap_or(report.holdout);
            format!("{} classes, holdout {} %", report.classes, percent(holdout.share()))
        }
        Event::Learned(report) => match &report.old {
            Some(change) => {
                let (before, after) = (percent(change.before.share()), percent(change.after.share()));
                format!("rejected, {before} → {after} %")
            }
            None => "rejected".into(),
        },
        Event::Renamed { from, to, .. } => format!("{from} renamed {to}"),
        Event::Retired { class, .. } => format!("{class} retired"),
        Event::Merged { from, to, .. } => format!("{from} merged into {to}"),
        Event::Moved { images, to, .. } => format!("{} moved to {to}", plural(*images, "photo")),
        Event::Used { .. } | Event::Removed { .. } => String::new(),
    }
}

fn to_json(model: &Model, version: &Version, history: &[Entry], classes: &[OfClass]) -> Value {
    let of_class = |class: &OfClass| {
        json!({
            "class": class.name, "learned": class.learned, "memory": class.memory,
            "holdout": { "right": class.holdout.right, "total": class.holdout.total },
        })
    };
    let versions: Vec<Value> = model
        .versions()
        .into_iter()
        .map(|number| {
            let entry = history.iter().rev().find(|entry| made(entry) == Some(number));
            let mut line = entry.map_or(json!({}), |entry| json!(entry));
            line["version"] = number.into();
            line["is_used"] = (number == model.settings().current).into();
            line["bytes"] = json!(model.bytes(number));
            line["state"] = json!(model.state(number).word());
            if let Some(now) = rescored(history, number) {
                line["holdout"] = json!(now);
            }
            line
        })
        .collect();
    let memory: usize = classes.iter().map(|class| class.memory).sum();
    let shown = json!({
        "current": model.settings().current,
        "size": version.size(),
        "keep": model.settings().keep,
        "holdout_per_class": model.settings().holdout_per_class,
        "images_learned": version.learned(),
        "threshold": version.threshold(),
        "all_unsure": version.all_unsure().map(AllUnsure::text),
        "near_duplicates": version.near_duplicates(),
        "memory": { "images": memory, "capacity": version.memory_capacity() },
        "interrupted": model.is_learning(),
        "classes": classes.iter().map(of_class).collect::<Vec<_>>(),
        "config": version.config(),
        "versions": versions,
        "history": history,
    });
    with_path(shown, "model", model.path())
}
