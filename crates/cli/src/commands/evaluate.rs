//! `rehearsal evaluate`.

use std::process::ExitCode;

use anyhow::Result;
use rehearsal_data::printable;
use rehearsal_model::{Evaluation, Verdict};
use serde_json::json;

use super::predict::open;
use crate::{
    args::model::Evaluate,
    output::with_path,
    photos,
    printer::{clipped, columns, count, interval_text, message, percent, plural, print},
};

/// Measures a model on photos that it has not learned.
pub fn evaluate(args: &Evaluate) -> Result<ExitCode> {
    let (model, version) = open(&args.model, &args.which, std::slice::from_ref(&args.folder))?;
    let number = args.which.version.unwrap_or(model.settings().current);
    let evaluation = photos::with_reader(args.follow_links, args.skip_bad, args.quiet, |reader| {
        Evaluation::new(&version, &args.folder, reader)
    })?;
    if let Some(place) = &args.report {
        let title = format!("{}, version {number},", args.model.display());
        let written = evaluation.write_page(&title, place)?;
        if !args.quiet {
            message(&format!("wrote {}", printable(&written.to_string_lossy())));
        }
    }
    print(&if args.json { to_json(&evaluation, number) } else { text(&evaluation, number) })?;
    Ok(ExitCode::SUCCESS)
}

/// Two names fit a line of 60 columns.
fn short(class: &str) -> String {
    clipped(&printable(class), 18)
}

fn text(evaluation: &Evaluation, version: u32) -> String {
    let all = evaluation.score(|_| true);
    let of = format!("{} of {}", count(all.right), plural(all.total, "photo"));
    let mut lines = vec![format!("version {version}: {} % right, {of}", percent(all.share()))];
    lines.extend(interval_text(all).map(|interval| format!("  95 % confidence: {interval}")));
    if let Some((_, sure)) = evaluation.sure() {
        let share = percent(sure.share());
        lines.push(format!("  sure: {share} % right, {} of {}", count(sure.right), count(sure.total)));
    }
    let unknown = evaluation.photos.iter().filter(|photo| photo.verdict == Verdict::Unknown).count();
    if unknown > 0 {
        lines.push(format!("  called unknown: {}", plural(unknown, "photo")));
    }
    lines.push(String::new());
    let mut rows = vec![["class", "photos", "right", "mistaken most for"].map(String::from).to_vec()];
    for (class, name) in evaluation.classes.iter().enumerate() {
        let score = evaluation.score(|photo| photo.class == class);
        let mistaken = evaluation.mistaken_most(class).map(|(other, times)| format!("{} ({times})", short(other)));
        let right = score.share().map_or_else(|| "-".to_owned(), |share| percent(Some(share)) + " %");
        rows.push(vec![short(name), count(score.total), right, mistaken.unwrap_or_default()]);
    }
    lines.extend(columns(&rows, &[false, true, true]));
    lines.into_iter().map(|line| line + "\n").collect()
}

fn to_json(evaluation: &Evaluation, version: u32) -> String {
    let all = evaluation.score(|_| true);
    let wrong = evaluation.photos.iter().filter(|photo| !photo.is_right());
    let wrong = wrong.map(|photo| {
        let (class, predicted) = (&evaluation.classes[photo.class], &evaluation.classes[photo.predicted]);
        let line = json!({ "class": class, "predicted": predicted, "probability": photo.probability });
        with_path(line, "path", &photo.path)
    });
    let line = json!({
        "version": version,
        "accuracy": all.share(),
        "interval": all.interval(),
        "sure": evaluation.sure().map(|(_, score)| score),
        "unknown": evaluation.photos.iter().filter(|photo| photo.verdict == Verdict::Unknown).count(),
        "right": all.right,
        "photos": all.total,
        "learned_before": evaluation.learned,
        "threshold": evaluation.threshold,
        "classes": evaluation.classes,
        "confusion": evaluation.confusion(),
        "wrong": wrong.collect::<Vec<_>>(),
    });
    format!("{line}\n")
}
