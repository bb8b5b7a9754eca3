//! `rehearsal show`.

use std::{collections::BTreeMap, process::ExitCode};

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_model::{Entry, Event, Model, ModelError, Score, Version};
use serde_json::{Value, json};

use crate::{
    args::model::Show,
    printer::{LONGEST_NAME, bytes, clipped, columns, count, percent, plural, print},
};

/// Shows a model.
pub fn show(args: &Show) -> Result<ExitCode> {
    show_model(args)
}

fn show_model(args: &Show) -> Result<ExitCode> {
    let model = Model::open(&args.model)?;
    let version = model.current()?;
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
    let answers = version.holdout.predict(&version.learner).map_err(ModelError::from)?;
    let mut memory: BTreeMap<_, usize> = BTreeMap::new();
    version.memory().for_each(|(class, ..)| *memory.entry(class).or_default() += 1);
    let known = version.learner.classes();
    let of_class = |class| OfClass {
        name: known.name(class).to_string(),
        holdout: Score::of(answers.iter().filter(|answer| answer.class == class)),
        memory: memory.get(&class).copied().unwrap_or(0),
        learned: version.images_learned_of(class),
    };
    Ok(known.active().map(of_class).collect())
}

fn text(model: &Model, version: &Version, history: &[Entry], classes: &[OfClass]) -> String {
    let (settings, learner) = (model.settings(), &version.learner);
    let config = learner.config();
    let (shape, memory) = (learner.shape(), learner.memory());
    let retrieval = config.replay.retrieval.map(|retrieval| format!(" + {retrieval}")).unwrap_or_default();
    let holdout = classes.iter().fold(Score::default(), |sum, class| Score {
        right: sum.right + class.holdout.right,
        total: sum.total + class.holdout.total,
    });
    let mut lines = vec![
        printable(&format!(
            "{}: version {}, {} classes",
            model.path().display(),
            settings.current,
            count(classes.len())
        )),
        format!("  images   {} learned, seen as {}×{}", count(version.images_learned()), shape.height, shape.width),
        format!("  holdout  {} % of {}", percent(holdout.share()), plural(holdout.total, "image")),
        format!("  memory   {} of {} images", count(memory.len()), count(memory.capacity())),
        format!("  sure     {}", threshold_text(version.threshold, holdout.total)),
        format!("  learner  {}{retrieval}, width {}, seed {}", config.method.kind, config.network.width, config.seed),
    ];
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
        vec![clipped(&printable(&class.name), LONGEST_NAME), count(class.learned), count(class.memory), holdout]
    }));
    lines.extend(columns(&rows, &[false, true, true]));
    lines.push(String::new());
    lines.extend(version_lines(model, history));
    lines.into_iter().map(|line| line + "\n").collect()
}

fn threshold_text(threshold: Option<f64>, holdout: usize) -> String {
    match threshold {
        Some(threshold) => format!("from {:.0} %: 19 of 20 such answers are right", 100.0 * threshold),
        None if holdout < Version::SMALLEST_HOLDOUT => "unknown: the holdout set is too small".into(),
        None => "never: no threshold makes 19 of 20 holdout answers right".into(),
    }
}

/// A line for each version that is kept, the one that is used with a star.
fn version_lines(model: &Model, history: &[Entry]) -> Vec<String> {
    let mut rows = vec![["version", "when (UTC)", "", "size"].map(String::from).to_vec()];
    for number in model.versions() {
        let star = if number == model.settings().current { "* " } else { "  " };
        let size = model.bytes(number).map(bytes).unwrap_or_default();
        let (when, what) = match history.iter().rev().find(|entry| made(entry) == Some(number)) {
            Some(entry) => (entry.when.replace('T', " ").chars().take(16).collect::<String>(), what(&entry.event)),
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
        Event::Renamed { version, .. } | Event::Retired { version, .. } => Some(*version),
        Event::Used { .. } | Event::Removed { .. } => None,
    }
}

fn what(event: &Event) -> String {
    match event {
        Event::Learned(report) if report.accepted => {
            format!("{} classes, holdout {} %", report.classes, percent(report.holdout.share()))
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
            line
        })
        .collect();
    let learner = &version.learner;
    json!({
        "model": model.path(),
        "current": model.settings().current,
        "size": learner.shape().height,
        "keep": model.settings().keep,
        "holdout_per_class": model.settings().holdout_per_class,
        "images_learned": version.images_learned(),
        "threshold": version.threshold,
        "memory": { "images": learner.memory().len(), "capacity": learner.memory().capacity() },
        "interrupted": model.is_learning(),
        "classes": classes.iter().map(of_class).collect::<Vec<_>>(),
        "config": learner.config(),
        "versions": versions,
        "history": history,
    })
}
