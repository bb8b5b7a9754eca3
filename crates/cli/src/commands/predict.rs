//! `rehearsal predict`.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::Result;
use rehearsal_data::{
    photos::{ScanOptions, find, lines},
    printable,
};
use rehearsal_model::{AllUnsure, Input, Model, Prediction, Share, Similar, Verdict, Version};
use serde_json::json;

use crate::{
    args::model::{Predict, Which},
    output::with_path,
    photos,
    printer::{LONGEST_NAME, clipped, columns, display_width, is_heard, message, terminal_columns},
    user_error::{UserError, model_first},
};

/// Photos that are read before the first of them is answered: few at first, so that the first answers come soon.
const FIRST: usize = 8;
const AT_ONCE: usize = 200;
/// Remembered photos that `--explain` names.
const SIMILAR: usize = 3;

/// Says what photos show, a line for each.
pub fn predict(args: &Predict) -> Result<ExitCode> {
    predict_all(args)
}

/// A model, and its version that was asked for, else the one that is used. `others` are paths that a user may have
/// swapped with that of the model.
pub fn open(path: &Path, which: &Which, others: &[PathBuf]) -> Result<(Model, Version)> {
    model_first(Model::open_version(path, which.version), others)
}

fn predict_all(args: &Predict) -> Result<ExitCode> {
    let (_, version) = open(&args.model, &args.which, &args.paths)?;
    let (paths, ignored) = find(&args.paths, &ScanOptions { follow_links_outside: args.follow_links })?;
    lines(&ignored, Path::new("")).iter().for_each(|line| message(&printable(line)));
    if paths.is_empty() {
        return Err(UserError("no photos found".into()).into());
    }
    let reader = version.reader()?;
    let threshold = args.threshold.map(Share::fraction);
    let all_unsure = version.all_unsure().filter(|_| threshold.is_none());
    if let Some(why) = all_unsure {
        message(&format!("every answer is unsure: {}", why.text()));
    }
    let (first, rest) = paths.split_at(paths.len().min(FIRST));
    for paths in [first].into_iter().chain(rest.chunks(AT_ONCE)) {
        let seen = photos::with_reader(args.follow_links, args.skip_bad, true, |with| with.read(paths, &reader))?;
        let (paths, inputs): (Vec<_>, Vec<_>) =
            paths.iter().zip(seen).filter_map(|(path, seen)| Some((path, seen?.input))).unzip();
        let predictions = version.predict(&inputs)?;
        let answer = |((path, input), prediction): ((_, &Input), Prediction)| Answered {
            path,
            verdict: version.verdict(&prediction, threshold),
            prediction,
            similar: if args.explain { version.similar(input, SIMILAR) } else { Vec::new() },
        };
        let answers: Vec<Answered> = paths.into_iter().zip(&inputs).zip(predictions).map(answer).collect();
        let lines = if args.json { json_lines(&answers, all_unsure) } else { text_lines(&answers, args.others) };
        if !is_heard(&lines)? {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A photo and what the model says of it.
struct Answered<'a> {
    path: &'a PathBuf,
    prediction: Prediction,
    verdict: Verdict,
    similar: Vec<Similar>,
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// `new/1.jpg  boots  61 %  unsure  (clogs 30 %, sandals 5 %)`: as many others as fit the terminal.
fn text_lines(answers: &[Answered], others: usize) -> String {
    let lines = match terminal_columns() {
        Some(columns) => fitting_lines(answers, others, columns),
        None => answer_lines(answers, others),
    };
    answers.iter().zip(lines).map(|(answer, line)| line + "\n" + &similar_lines(&answer.similar)).collect()
}

/// With as many others as fit: more never make a line shorter.
fn fitting_lines(answers: &[Answered], others: usize, columns: usize) -> Vec<String> {
    let fits = |lines: &[String]| lines.iter().all(|line| display_width(line) <= columns);
    let most = answers.iter().map(|answer| answer.prediction.others.len()).max().unwrap_or(0).min(others);
    let (mut fitting, mut beyond) = (0, most + 1);
    while beyond - fitting > 1 {
        let middle = fitting.midpoint(beyond);
        if fits(&answer_lines(answers, middle)) { fitting = middle } else { beyond = middle }
    }
    answer_lines(answers, fitting)
}

fn answer_lines(answers: &[Answered], others: usize) -> Vec<String> {
    let percent = |share: f32| format!("{:.0} %", 100.0 * share);
    let name = |class: &str| clipped(&printable(class), LONGEST_NAME);
    let row = |answer: &Answered| {
        let best = &answer.prediction;
        if answer.verdict == Verdict::Unknown {
            let nearest = format!("(nearest {} {})", name(&best.class), percent(best.probability));
            return vec![shown(answer.path), "unknown".into(), String::new(), String::new(), nearest];
        }
        let named = |(class, share): &(Arc<str>, f32)| format!("{} {}", name(class), percent(*share));
        let other: Vec<String> = best.others.iter().take(others).map(named).collect();
        let other = if other.is_empty() { String::new() } else { format!("({})", other.join(", ")) };
        let unsure = if answer.verdict == Verdict::Unsure { "unsure" } else { "" };
        vec![shown(answer.path), name(&best.class), percent(best.probability), unsure.into(), other]
    };
    columns(&answers.iter().map(row).collect::<Vec<_>>(), &[false, false, true])
}

/// The remembered photos that are most like a photo.
fn similar_lines(similar: &[Similar]) -> String {
    let line = |photo: &Similar| {
        let class = clipped(&printable(&photo.class), LONGEST_NAME);
        format!("  like {:.2}  {class}  {}\n", photo.similarity, printable(&photo.source))
    };
    similar.iter().map(line).collect()
}

fn json_lines(answers: &[Answered], all_unsure: Option<AllUnsure>) -> String {
    let line = |answer: &Answered| {
        let best = &answer.prediction;
        let other = |(class, share): &(Arc<str>, f32)| json!({ "class": &**class, "probability": share });
        let line = json!({
            "answer": answer.verdict.word(),
            "class": &*best.class,
            "probability": best.probability,
            "unsure": answer.verdict != Verdict::Sure,
            "others": best.others.iter().map(other).collect::<Vec<_>>(),
        });
        let mut line = with_path(line, "path", answer.path);
        if let Some(distance) = best.distance {
            line["distance"] = distance.into();
        }
        if let Some(why) = all_unsure {
            line["reason"] = why.text().into();
        }
        if !answer.similar.is_empty() {
            let similar = answer.similar.iter();
            let similar = similar
                .map(|photo| json!({ "class": &*photo.class, "source": photo.source, "similarity": photo.similarity }));
            line["similar"] = similar.collect();
        }
        format!("{line}\n")
    };
    answers.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_others_are_shown_as_fit_however_many_are_asked_for() {
        let others = (0..3000).map(|class| (format!("class{class}").into(), 0.01)).collect();
        let prediction = Prediction { class: "boots".into(), probability: 0.5, others, distance: None };
        let path = PathBuf::from("a.jpg");
        let answers = [Answered { path: &path, prediction, verdict: Verdict::Sure, similar: Vec::new() }];
        let shown = |others: usize, columns: usize| {
            let lines = fitting_lines(&answers, others, columns);
            assert!(display_width(&lines[0]) <= columns || !lines[0].contains('('), "{lines:?}");
            lines[0].matches("class").count()
        };
        assert_eq!(shown(2, 80), 2);
        assert_eq!((shown(usize::MAX, 80), shown(100_000, 80)), (shown(5, 80), shown(5, 80)));
        assert_eq!((shown(usize::MAX, usize::MAX), shown(9, 10)), (3000, 0));
    }
}
