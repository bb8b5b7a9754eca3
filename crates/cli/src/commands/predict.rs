//! `rehearsal predict`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use rehearsal::learner::Prediction;
use rehearsal_data::{
    photos::{ScanOptions, find, lines},
    printable,
};
use rehearsal_model::{Model, Version};
use serde_json::json;

use crate::{
    args::model::{Predict, Which},
    photos,
    printer::{LONGEST_NAME, clipped, columns, display_width, message, print, terminal_columns},
    user_error::{UserError, model_first},
};

/// Photos that are read before the first of them is answered.
const AT_ONCE: usize = 200;

/// Says what photos show, a line for each.
pub fn predict(args: &Predict) -> Result<ExitCode> {
    predict_all(args)
}

/// The version that was asked for, else the one that is used.
pub fn version(model: &Model, which: &Which) -> Result<Version> {
    Ok(which.version.map_or_else(|| model.current(), |number| model.version(number))?)
}

fn predict_all(args: &Predict) -> Result<ExitCode> {
    if let Some(percent) = args.threshold.filter(|percent| !(0.0..=100.0).contains(percent)) {
        return Err(UserError(format!("`--threshold` is {percent}: it must be between 0 and 100 %")).into());
    }
    let model = model_first(Model::open(&args.model), &args.paths)?;
    let version = version(&model, &args.which)?;
    let (paths, ignored) = find(&args.paths, &ScanOptions { follow_links_outside: args.follow_links })?;
    lines(&ignored, std::path::Path::new("")).iter().for_each(|line| message(&printable(line)));
    if paths.is_empty() {
        return Err(UserError("no photos found".into()).into());
    }
    let threshold = args.threshold.map(|percent| percent / 100.0).or(version.threshold);
    if threshold.is_none() {
        let is_small = version.holdout.examples().len() < Version::SMALLEST_HOLDOUT;
        let why =
            if is_small { "the holdout set is too small" } else { "no threshold makes 19 of 20 holdout answers right" };
        message(&format!("nothing is marked unsure: {why}"));
    }
    let threshold = threshold.unwrap_or(0.0);
    for paths in paths.chunks(AT_ONCE) {
        let shape = version.learner.shape();
        let images = photos::with_reader(args.follow_links, args.skip_bad, true, |reader| reader.read(paths, shape))?;
        let read: Vec<_> = paths.iter().zip(images).filter_map(|(path, read)| Some((path, read?.image))).collect();
        let images: Vec<_> = read.iter().map(|(_, image)| image.clone()).collect();
        let predictions = version.learner.predict(&images).map_err(rehearsal_model::ModelError::from)?;
        let answers = read.iter().map(|(path, _)| *path).zip(predictions);
        print(&if args.json { json_lines(answers, threshold) } else { text_lines(answers, threshold, args.others) })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(path: &std::path::Path) -> String {
    printable(&path.to_string_lossy())
}

/// `new/1.jpg  boots  61 %  unsure  (clogs 30 %, sandals 5 %)`: as many others as fit the terminal.
fn text_lines<'a>(answers: impl Iterator<Item = (&'a PathBuf, Prediction)>, threshold: f64, others: usize) -> String {
    let answers: Vec<_> = answers.collect();
    let columns = terminal_columns().unwrap_or(usize::MAX);
    let lines = |others: usize| answer_lines(&answers, threshold, others);
    let fits = |lines: &Vec<String>| lines.iter().all(|line| display_width(line) <= columns);
    let fitting = (1..=others).rev().map(lines).find(fits);
    fitting.unwrap_or_else(|| lines(0)).into_iter().map(|line| line + "\n").collect()
}

fn answer_lines(answers: &[(&PathBuf, Prediction)], threshold: f64, others: usize) -> Vec<String> {
    let row = |(path, answer): &(&PathBuf, Prediction)| {
        let percent = |share: f32| format!("{:.0} %", 100.0 * share);
        let name = |class: &str| clipped(&printable(class), LONGEST_NAME);
        let named = |(class, share): &(std::sync::Arc<str>, f32)| format!("{} {}", name(class), percent(*share));
        let other: Vec<String> = answer.others.iter().take(others).map(named).collect();
        let other = if other.is_empty() { String::new() } else { format!("({})", other.join(", ")) };
        let unsure = if f64::from(answer.probability) < threshold { "unsure" } else { "" };
        vec![shown(path), name(&answer.class), percent(answer.probability), unsure.into(), other]
    };
    columns(&answers.iter().map(row).collect::<Vec<_>>(), &[false, false, true])
}

fn json_lines<'a>(answers: impl Iterator<Item = (&'a PathBuf, Prediction)>, threshold: f64) -> String {
    let line = |(path, answer): (&PathBuf, Prediction)| {
        let other = |(class, share): &(std::sync::Arc<str>, f32)| json!({ "class": &**class, "probability": share });
        let line = json!({
            "path": path,
            "class": &*answer.class,
            "probability": answer.probability,
            "unsure": f64::from(answer.probability) < threshold,
            "others": answer.others.iter().map(other).collect::<Vec<_>>(),
        });
        format!("{line}\n")
    };
    answers.map(line).collect()
}
