//! Two sets of runs side by side, in sixty columns.

use std::path::Path;

use rehearsal_measure::{McNemar, OverSeeds};
use rehearsal_report::{
    compare::{Comparison, Line, Setting},
    pairs::{p_text, power_text},
    run::Run,
};
use serde_json::{Value, json};

use rehearsal_data::printable;
use rehearsal_files::text::wrap_at;

use super::percent;
use crate::output::{with_path, with_paths};

/// Names that fit the first column, for those that do not.
const SHORT: [(&str, &str); 3] = [
    ("forgetting_from_first", "  from first"),
    ("average_incremental_accuracy", "avg. incremental"),
    ("backward_transfer", "backward transfer"),
];

/// In place of what cannot be said.
const NONE: &str = "–";
/// The bootstrap knows no value that was not seen: of fewer pairs its interval is too narrow.
const FEW_PAIRS: usize = 10;

/// What is compared, the measures, and the tests.
pub fn comparison(sides: [(&Path, &[Run]); 2], comparison: &Comparison, recalibrated: bool) -> String {
    let mut lines = Vec::new();
    for (name, (path, runs)) in ["A", "B"].iter().zip(sides) {
        lines.push(format!("{name}  {} ({})", path.display(), seeds(runs)));
    }
    if comparison.differing.is_empty() {
        lines.push("no setting differs but data and seed".into());
    }
    for Setting { name, a, b } in &comparison.differing {
        lines.push(format!("   {name}: {} | {}", or_none(a), or_none(b)));
    }
    let has_both = |(_, runs): &(&Path, &[Run])| runs.iter().all(|run| run.recalibrated.is_some());
    if recalibrated {
        lines.push("with recalibrated BatchNorm statistics".into());
    } else if sides.iter().all(has_both) {
        lines.push("with the BatchNorm statistics of training".into());
        lines.push("hint: --recalibrated compares recalibrated ones".into());
    }
    lines.push(String::new());
    lines.push(format!("{:<18}{:>20}{:>20}", "in %", "A", "B"));
    lines.extend(comparison.measures.iter().map(measure));
    lines.push(String::new());
    lines.extend(tests(comparison));
    lines.iter().map(|line| format!("{}\n", printable(line.trim_end()))).collect()
}

fn name(line: &Line) -> &str {
    SHORT.iter().find(|(name, _)| *name == line.name).map_or(line.name, |(_, short)| short)
}

fn measure(line: &Line) -> String {
    let side = |value: Option<OverSeeds>| match value {
        Some(OverSeeds { mean, deviation: Some(deviation), .. }) => {
            format!("{} ± {}", percent(Some(mean)), percent(Some(deviation)))
        }
        value => percent(value.map(|value| value.mean)),
    };
    format!("{:<18}{:>20}{:>20}", name(line), side(line.a), side(line.b))
}

/// How far B is from A, with the interval, the size and the p-value.
fn difference(line: &Line) -> String {
    let mean = line.difference.map_or(NONE.into(), |difference| points(difference.mean));
    let interval = line.difference.and_then(|difference| difference.interval);
    let interval = interval.map_or(NONE.into(), |[low, high]| format!("{} .. {}", points(low), points(high)));
    let effect = line.difference.and_then(|difference| difference.effect);
    let effect = effect.map_or(NONE.into(), |effect| format!("{effect:+.2}"));
    let p = line.test.map_or(NONE.into(), |test| p_text(test.p));
    format!("{:<18}{mean:>8}{interval:>17}{effect:>8}{p:>9}", name(line))
}

/// A fraction in points, with its sign; of a thousand and more without a digit after the point.
fn points(fraction: f64) -> String {
    let points = 100.0 * fraction;
    if points.abs() < 999.5 { format!("{points:+.1}") } else { format!("{points:+.0}") }
}

fn tests(comparison: &Comparison) -> Vec<String> {
    if comparison.pairs == 0 {
        return vec![
            "no pairs: no run of A has the data, the seed and the order".into(),
            "of classes of a run of B, so nothing can be tested".into(),
        ];
    }
    let mut lines =
        vec![format!("{:<18}{:>8}{:>17}{:>8}{:>9}", "B - A, points", "mean", "95 % interval", "effect", "p")];
    lines.extend(comparison.measures.iter().map(difference));
    lines.push(String::new());
    if comparison.pairs == 1 {
        lines.push("over 1 pair of the same data, seed and class order: one pair".into());
        lines.push("has no interval and no p; give runs of several seeds".into());
        lines.push(String::new());
        lines.extend(images(comparison));
        return lines;
    }
    let pairs = format!("{} pairs", comparison.pairs);
    lines.push(format!("over {pairs} of the same data, seed and class order;"));
    lines.push("interval: Student's t; effect: mean / deviation (d);".into());
    lines.push("p: Wilcoxon signed-rank, two-sided".into());
    // Beyond ten the least p-value is below what anyone asks for.
    if comparison.pairs <= 10 {
        let least = 2.0 / 2_f64.powi(i32::try_from(comparison.pairs).unwrap_or(10));
        lines.push(format!("(with {pairs} it cannot be below {})", p_text(least)));
    }
    let accuracy = comparison.measures.first().and_then(|line| line.difference);
    if let Some([low, high]) = accuracy.and_then(|difference| difference.bootstrap) {
        lines.push(format!("accuracy by bootstrap: {} .. {}", points(low), points(high)));
        if comparison.pairs < FEW_PAIRS {
            lines.push(format!("(too narrow: {pairs} are few for a bootstrap)"));
        }
    }
    let power = accuracy.and_then(|difference| power_text(&difference, "accuracy"));
    lines.extend(power.into_iter().flat_map(|power| wrap_at(&format!("{power} (paired t, 5 %)"), 60)));
    lines.push(String::new());
    lines.extend(images(comparison));
    lines
}

fn images(comparison: &Comparison) -> Vec<String> {
    let Some(pooled) = comparison.pooled else {
        return vec!["no test by image: predictions.bin is missing".into()];
    };
    let mut lines = vec![format!(
        "{:<18}{:>12}{:>12}{:>8}{:>10}",
        "test images that", "only A gets", "only B gets", "g", "McNemar p"
    )];
    let several_data = comparison.images.windows(2).any(|pair| pair[0].data != pair[1].data);
    for images in &comparison.images {
        if several_data {
            lines.push(images.data.clone());
        }
        lines.push(counts(&format!("seed {}", images.seed), images.test));
    }
    if comparison.images.len() > 1 {
        lines.push(counts("all seeds", pooled));
    }
    lines.push("g: B's share of these images, less one half".into());
    lines
}

fn counts(name: &str, test: McNemar) -> String {
    let effect = test.effect().map_or(NONE.into(), |effect| format!("{effect:+.2}"));
    format!("{name:<18}{:>12}{:>12}{effect:>8}{:>10}", test.only_first, test.only_second, p_text(test.p))
}

fn seeds(runs: &[Run]) -> String {
    let mut seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let runs = if runs.len() == 1 { "1 run".to_owned() } else { format!("{} runs", runs.len()) };
    format!("{runs}, {} {}", if seeds.len() == 1 { "seed" } else { "seeds" }, seeds.join(" "))
}

fn or_none(value: &str) -> &str {
    if value.is_empty() { "not set" } else { value }
}

/// The same as one line of JSON. Measures are fractions.
pub fn comparison_json(sides: [(&Path, &[Run]); 2], comparison: &Comparison, recalibrated: bool) -> String {
    let side = |(path, runs): (&Path, &[Run])| {
        let side = with_path(json!({}), "path", path);
        with_paths(side, "runs", runs.iter().map(|run| run.path.as_path()))
    };
    let mcnemar = |test: McNemar| json!({ "only_a": test.only_first, "only_b": test.only_second, "effect": test.effect(), "p": test.p, "chi_squared": test.chi_squared });
    let measures: serde_json::Map<String, Value> = comparison
        .measures
        .iter()
        .map(|line| {
            let test = line.test.map(|test| {
                json!({ "n": test.n, "positive": test.positive, "negative": test.negative, "effect": test.effect(), "p": test.p, "exact": test.exact })
            });
            (line.name.to_owned(), json!({ "a": line.a, "b": line.b, "difference": line.difference, "wilcoxon": test }))
        })
        .collect();
    let images: Vec<Value> = comparison
        .images
        .iter()
        .map(|images| json!({ "data": images.data, "seed": images.seed, "mcnemar": mcnemar(images.test) }))
        .collect();
    let value = json!({
        "a": side(sides[0]), "b": side(sides[1]), "differing": comparison.differing, "pairs": comparison.pairs,
        "recalibrated": recalibrated, "measures": measures, "images": images, "pooled": comparison.pooled.map(mcnemar),
    });
    format!("{value}\n")
}
