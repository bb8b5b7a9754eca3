//! McNemar's test, as in the supplement: arms against each other, image by image.

use rehearsal_measure::{McNemar, holm};

use super::{Conditions, comparisons::comparisons};
use crate::{
    pairs::{Pair, p_text, pooled},
    paper,
    protocol::Data,
    table::{Cell, Header, Row, Table, signed},
};

/// One table for each data set on which something can be compared.
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
        lines.push(Line {
            label: comparison.label.clone(),
            seed: None,
            test,
            paper: selection.and_then(|selection| paper::mcnemar(selection, data.dataset())),
            pairs: tested.iter().map(|(pair, _)| *pair).collect(),
        });
        lines.extend(tested.iter().map(|(pair, test)| Line {
            label: format!("seed {}", pair.first.seed),
            seed: Some(pair.first.seed),
            test: *test,
            paper: None,
            pairs: vec![*pair],
        }));
    }
    let adjusted = adjusted(&lines);
    let mut rows: Vec<Row> = lines.iter().zip(adjusted).map(|(line, adjusted)| row(line, adjusted)).collect();
    let mut headers: Vec<Header> =
        ["only the first right", "only the second right", "effect g", "χ²", "p", "p, Holm"].map(Header::one).to_vec();
    if conditions.paper {
        headers.push(Header::one("paper's p"));
        for (row, line) in rows.iter_mut().zip(&lines) {
            row.cells.push(Cell::text(line.paper.map_or(String::new(), |p| format!("{p:.4}")), Vec::new()));
        }
    }
    let table = Table {
        id: format!("{}mcnemar-{}", conditions.prefix, super::super::slug(data, &conditions.data())),
        title: format!("McNemar's test on {}: {}", data.label(), conditions.label),
        notes: vec![
            "Final models of the same seed on the same test images: first all seeds pooled, which counts an image once per seed, then each \
             seed. The effect is Cohen's g: the first's share of the images that tell the two apart, less one half. Exact (binomial) where fewer than 25 images tell the two apart, else χ² with continuity correction. Holm's correction is \
             over the comparisons, pooled with pooled and seed with seed."
                .into(),
        ],
        corner: "Comparison".into(),
        headers: vec![headers],
        rows,
    };
    table.has_runs().then_some(table)
}

/// Holm's correction over the lines of the same seed, and over the pooled ones.
fn adjusted(lines: &[Line]) -> Vec<f64> {
    let of_kind = |seed: Option<u64>| lines.iter().enumerate().filter(move |(_, line)| line.seed == seed);
    let mut adjusted = vec![1.0; lines.len()];
    for line in lines {
        let family: Vec<(usize, f64)> = of_kind(line.seed).map(|(i, line)| (i, line.test.p)).collect();
        let corrected = holm(&family.iter().map(|(_, p)| *p).collect::<Vec<_>>());
        for ((i, _), p) in family.iter().zip(corrected) {
            adjusted[*i] = p;
        }
    }
    adjusted
}

fn row(line: &Line, adjusted: f64) -> Row {
    let test = line.test;
    let runs: Vec<_> = line.pairs.iter().flat_map(Pair::paths).collect();
    let said = |text: String| Cell::text(text, runs.clone());
    // The first of a pair is the other, which the label names second.
    Row {
        label: line.label.clone(),
        begins_part: line.seed.is_none(),
        cells: vec![
            said(test.only_second.to_string()),
            said(test.only_first.to_string()),
            said(test.effect().map_or("–".into(), |effect| signed(effect, 3))),
            said(test.chi_squared.map_or("exact".into(), |chi| format!("{chi:.3}"))),
            said(p_text(test.p)),
            said(p_text(adjusted)),
        ],
    }
}
