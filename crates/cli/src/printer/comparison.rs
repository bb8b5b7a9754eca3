//! Two sets of runs side by side, in sixty columns.

use std::path::Path;

use rehearsal_measure::{McNemar, OverSeeds};
use rehearsal_report::{
    compare::{Comparison, Line, Setting},
    pairs::p_text,
    run::Run,
};
use serde_json::{Value, json};

use super::percent;

/// Names that fit the first column, for those that do not.
const SHORT: [(&str, &str); 3] = [
    ("forgetting_from_first", "  from first"),
    ("average_incremental_accuracy", "avg. incremental"),
    ("backward_transfer", "backward transfer"),
];

/// What is compared, the measures, and the tests.
pub fn comparison(sides: [(&Path, &[Run]); 2], comparison: &Comparison) -> String {
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
    lines.push(String::new());
    lines.push(format!("{:<18}{:>13}{:>13}{:>8}{:>8}", "in %", "A", "B", "B - A", "p"));
    lines.extend(comparison.measures.iter().map(measure));
    lines.push(String::new());
    lines.extend(tests(comparison));
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn measure(line: &Line) -> String {
    let name = SHORT.iter().find(|(name, _)| *name == line.name).map_or(line.name, |(_, short)| short);
    let side = |value: Option<OverSeeds>| match value {
        Some(OverSeeds { mean, deviation: Some(deviation), .. }) => {
            format!("{} ± {}", percent(Some(mean)), percent(Some(deviation)))
        }
        value => percent(value.map(|value| value.mean)),
    };
    let difference = line.difference.map_or("-".into(), |difference| format!("{:+.1}", 100.0 * difference.mean));
    let p = line.test.map_or("-".into(), |test| p_text(test.p));
    format!("{name:<18}{:>13}{:>13}{difference:>8}{p:>8}", side(line.a), side(line.b))
}

fn tests(comparison: &Comparison) -> Vec<String> {
    if comparison.pairs == 0 {
        return vec![
            "no pairs: no run of A has the data and the seed of a run of B,".into(),
            "so nothing can be tested".into(),
        ];
    }
    let pairs = if comparison.pairs == 1 { "1 pair".to_owned() } else { format!("{} pairs", comparison.pairs) };
    let mut lines =
        vec![format!("p: Wilcoxon signed-rank, two-sided, over {pairs}"), "of the same data and seed".into()];
    // Beyond ten the least p-value is below what anyone asks for.
    if comparison.pairs <= 10 {
        let least = 2.0 / 2_f64.powi(i32::try_from(comparison.pairs).unwrap_or(10));
        lines.push(format!("(with {pairs} it cannot be below {})", p_text(least)));
    }
    lines.push(String::new());
    let Some(pooled) = comparison.pooled else {
        lines.push("no test by image: predictions.bin is missing".into());
        return lines;
    };
    lines.push(format!("{:<18}{:>13}{:>13}{:>16}", "test images that", "only A gets", "only B gets", "McNemar p"));
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
    lines
}

fn counts(name: &str, test: McNemar) -> String {
    format!("{name:<18}{:>13}{:>13}{:>16}", test.only_first, test.only_second, p_text(test.p))
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
pub fn comparison_json(sides: [(&Path, &[Run]); 2], comparison: &Comparison) -> String {
    let side = |(path, runs): (&Path, &[Run])| json!({ "path": path, "runs": runs.iter().map(|run| &run.path).collect::<Vec<_>>() });
    let mcnemar = |test: McNemar| json!({ "only_a": test.only_first, "only_b": test.only_second, "p": test.p, "chi_squared": test.chi_squared });
    let measures: serde_json::Map<String, Value> = comparison
        .measures
        .iter()
        .map(|line| {
            let test = line.test.map(|test| {
                json!({ "n": test.n, "positive": test.positive, "negative": test.negative, "p": test.p, "exact": test.exact })
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
        "measures": measures, "images": images, "pooled": comparison.pooled.map(mcnemar),
    });
    format!("{value}\n")
}
