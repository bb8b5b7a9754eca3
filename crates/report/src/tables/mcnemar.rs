//! McNemar's test, as in the supplement: arms against each other, image by image.

use rehearsal_measure::{McNemar, holm};

use super::{Conditions, comparisons::comparisons};
use crate::{
    pairs::{Pair, p_text, paths, pooled},
    paper,
    protocol::Data,
    table::{Cell, Header, Row, Table},
    text::{NONE, signed},
};

/// One table for each data set with a comparison.
pub fn tables(conditions: &Conditions) -> Vec<Table> {
    conditions.data().into_iter().filter_map(|data| table(conditions, data)).collect()
}

/// A line of the table: a comparison pooled over seeds, or one seed of it.
struct Line<'a> {
    label: String,
    seed: Option<u64>,
    test: McNemar,
    paper: Option<f64>,
    pairs: Vec<Pair<'a>>,
}

fn table(conditions: &Conditions, data: &Data) -> Option<Table> {
    let mut lines = Vec::new();
    for comparison in comparisons(&conditions.groups) {
        let here = comparison.pairs.iter().copied().filter(|pair| Data::of_run(pair.first) == *data);
        let tested: Vec<(Pair, McNemar)> = here.filter_map(|pair| Some((pair, pair.mcnemar()?))).collect();
        let Some(test) = pooled(&tested.iter().map(|(_, test)| *test).collect::<Vec<_>>()) else { continue };
        let is_printed = conditions.paper && comparison.is_of_paper() && comparison.other.method == "pcr";
        let selection = comparison.other.selection().filter(|_| is_printed);
        let paper = selection.and_then(|selection| paper::mcnemar(selection, data.dataset()));
        let pairs = tested.iter().map(|(pair, _)| *pair).collect();
        lines.push(Line { label: comparison.label.clone(), seed: None, test, paper, pairs });
        lines.extend(tested.iter().map(|(pair, test)| {
            let seed = pair.first.seed;
            Line { label: format!("seed {seed}"), seed: Some(seed), test: *test, paper: None, pairs: vec![*pair] }
        }));
    }
    let rows =
        lines.iter().zip(adjusted(&lines)).map(|(line, adjusted)| row(line, adjusted, conditions.paper)).collect();
    let headers = ["only the first right", "only the second right", "effect g", "χ²", "p", "p, Holm"];
    let headers = headers.into_iter().chain(conditions.paper.then_some("paper's p")).map(Header::one);
    let title = format!("McNemar's test on {}: {}", data.label(), conditions.label);
    Table::new((conditions.id_on("mcnemar", data), title), vec![NOTE.into()], "Comparison", headers, rows).if_any_runs()
}

const NOTE: &str = "Final models of the same seed on the same test images: first all seeds pooled, which counts an image once per seed, then each \
    seed. The effect is Cohen's g: the share of the first among the images on which the two differ, minus one half. The test is exact \
    (binomial) if they differ on fewer than 25 images, else χ² with continuity correction. Holm's correction is over the comparisons, \
    pooled with pooled and seed with seed.";

/// Holm's correction over the lines of the same seed, and over the pooled ones.
fn adjusted(lines: &[Line]) -> Vec<f64> {
    let of_line = |line: &Line| {
        let family: Vec<&Line> = lines.iter().filter(|other| other.seed == line.seed).collect();
        let adjusted = holm(&family.iter().map(|other| other.test.p).collect::<Vec<_>>());
        let place = family.iter().position(|other| std::ptr::eq(*other, line));
        place.map_or(1.0, |place| adjusted[place])
    };
    lines.iter().map(of_line).collect()
}

fn row(line: &Line, adjusted: f64, paper: bool) -> Row {
    let test = line.test;
    // The first of a pair is the other arm, which the label names second.
    let texts = [
        test.only_second.to_string(),
        test.only_first.to_string(),
        test.effect().map_or(NONE.into(), |effect| signed(effect, 3)),
        test.chi_squared.map_or("exact".into(), |chi| format!("{chi:.3}")),
        p_text(test.p),
        p_text(adjusted),
    ];
    let mut cells = Cell::texts(texts, &paths(&line.pairs));
    cells.extend(paper.then(|| Cell::plain(line.paper.map_or(String::new(), |p| format!("{p:.4}")))));
    Row { label: line.label.clone(), begins_part: line.seed.is_none(), cells }
}
