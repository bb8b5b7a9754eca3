//! The result of a training session.

use std::{fmt::Write, path::Path};

use rehearsal_files::path_text::quoted;
use rehearsal_model::{Change, ClassScore, Report, Score};

use super::{LONGEST_NAME, bytes, classes, clipped, count, display_width, percent, plural};

/// A holdout accuracy, with the number of images.
pub fn score_text(score: Score) -> String {
    match score.total {
        0 => "no holdout set yet".to_owned(),
        total => format!("holdout {} % of {}", percent(score.share()), plural(total, "image")),
    }
}

/// `84 to 99 %`: where the accuracy lies at 95 % confidence.
pub fn interval_text(score: Score) -> Option<String> {
    score.interval().map(|(low, high)| format!("{:.0} to {:.0} %", 100.0 * low, 100.0 * high))
}

/// `91.5 → 90.2 %`, and whether that may be chance.
fn change_text(change: &Change) -> String {
    let (before, after) = (percent(change.before.share()), percent(change.after.share()));
    let chance = match change.is_within_chance() {
        _ if change.before.right == change.after.right => String::new(),
        true => format!(" (may be chance, p = {:.2})", change.p),
        false if change.p < 0.001 => " (beyond chance, p < 0.001)".to_owned(),
        false => format!(" (beyond chance, p = {:.3})", change.p),
    };
    format!("{before} → {after} %{chance}")
}

/// The result of a session, in lines that fit 60 columns.
pub fn session_text(model: &Path, report: &Report) -> String {
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    let classes = classes(report.classes);
    let number = report.version;
    if report.accepted {
        line(format!("version {number}: {classes}, {}", score_text(report.holdout)));
    } else {
        let stays = report.parent.map(|parent| format!(", version {parent} stays current")).unwrap_or_default();
        line(format!("version {number} rejected{stays}:"));
    }
    if let Some(interval) = interval_text(report.holdout).filter(|_| report.accepted) {
        line(format!("  95 % confidence: {interval}"));
    }
    if report.near_duplicates > 0 {
        let images = plural(report.near_duplicates, "near-duplicate");
        line(format!("  {images} of learned photos left out of the holdout set"));
    }
    if let Some(change) = &report.old {
        line(format!("  old classes {}", change_text(change)));
        match report.max_forgetting.filter(|_| !report.accepted) {
            Some(most) => line(format!("  they lost more than {most}")),
            None if !report.accepted => line("  they lost more than chance explains".into()),
            None => {}
        }
    }
    if let (Some(new), Some(_)) = (report.new, report.old) {
        line(format!("  new classes {} %", percent(new.share())));
    }
    if let Some(lost) = forgotten_most(&report.by_class) {
        line(format!("  forgotten most:{lost}"));
    }
    let memory = match report.memory_capacity {
        0 => "no memory".to_owned(),
        capacity => format!("memory {} of {} images", count(report.memory), count(capacity)),
    };
    line(format!("  {memory}, {}", bytes(report.bytes)));
    if !report.accepted {
        let model = quoted(model);
        line(format!("  to use it anyway: rehearsal use {model} {number}"));
        line("  to accept what is lost: the same with --accept".into());
        line(otherwise(report, &model));
    }
    text
}

/// What else can be tried.
fn otherwise(report: &Report, model: &str) -> String {
    match &report.training {
        Some(training) => format!("  to try otherwise: the same with --epochs {}", 2 * training.epochs),
        None => format!("  to see why: rehearsal evaluate {model} DIR --version {}", report.version),
    }
}

/// A name of a class; in quotes if its spaces could not be seen.
pub fn class_name(name: &str) -> String {
    let is_plain = name.split(' ').all(|word| !word.is_empty() && !word.contains(char::is_whitespace));
    if is_plain { name.to_owned() } else { format!("'{name}'") }
}

/// What is left of 60 columns beside `  forgotten most: `, and before a comma.
const BESIDE_FORGOTTEN: usize = 41;

/// The two classes that lost most, and on how many images that stands.
fn forgotten_most(classes: &[ClassScore]) -> Option<String> {
    let lost = |class: &&ClassScore| class.points_lost().filter(|points| *points > 0.0);
    let mut worst: Vec<&ClassScore> = classes.iter().filter(|class| lost(class).is_some()).collect();
    worst.sort_by(|a, b| lost(b).unwrap_or(0.0).total_cmp(&lost(a).unwrap_or(0.0)));
    let words = |class: &&ClassScore| {
        let (name, points) = (clipped(&class.class, LONGEST_NAME), lost(class).unwrap_or(0.0));
        format!("{name} −{points:.1} points ({})", plural(class.score.total, "holdout image"))
    };
    let words: Vec<String> = worst.iter().take(2).map(words).collect();
    let fits = words.first().is_some_and(|first| display_width(first) <= BESIDE_FORGOTTEN);
    (!words.is_empty()).then(|| format!("{}{}", if fits { " " } else { "\n    " }, words.join(",\n    ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, total: usize, right: usize, before: Option<usize>) -> ClassScore {
        ClassScore { class: name.into(), score: Score { right, total }, right_before: before }
    }

    #[test]
    fn the_classes_that_lost_most_are_named() {
        let classes = [
            class("sandals", 25, 20, Some(21)),
            class("boots", 20, 20, Some(19)),
            class("clogs", 10, 5, Some(9)),
            class("mules", 10, 3, None),
        ];
        let text = forgotten_most(&classes).unwrap();
        assert_eq!(text, " clogs −40.0 points (10 holdout images),\n    sandals −4.0 points (25 holdout images)");
        assert_eq!(forgotten_most(&classes[1..2]), None);
        let long = forgotten_most(&[class("aircraft carrier", 1, 0, Some(1))]).unwrap();
        assert_eq!(long, "\n    aircraft carrier −100.0 points (1 holdout image)");
    }

    #[test]
    fn names_with_spaces_that_cannot_be_seen_are_quoted() {
        for name in ["lion", "ankle boot", "L'Oréal"] {
            assert_eq!(class_name(name), name);
        }
        for name in ["lion ", " lion", "ankle  boot", "", "a\u{a0}b", "a\tb"] {
            assert_eq!(class_name(name), format!("'{name}'"));
        }
    }

    #[test]
    fn a_change_says_whether_it_may_be_chance() {
        let score = |right: usize| Score { right, total: 200 };
        let change = |after: usize, p: f64| change_text(&Change { before: score(183), after: score(after), p });
        assert_eq!(change(180, 0.63), "91.5 → 90.0 % (may be chance, p = 0.63)");
        assert_eq!(change(150, 0.0004), "91.5 → 75.0 % (beyond chance, p < 0.001)");
        assert_eq!(change(183, 1.0), "91.5 → 91.5 %");
    }
}
