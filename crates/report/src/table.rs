//! A table before it is written in any format.

use std::{ops::Range, path::PathBuf};

use rehearsal_measure::{Better, OverSeeds, Paired};

use crate::{pairs::p_text, paper::Verdict, study::Group};

/// A table: headers that span columns, rows of cells, and what a reader must know.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in files and links.
    pub id: String,
    /// Its caption.
    pub title: String,
    /// Sentences below it.
    pub notes: Vec<String>,
    /// What the first column lists.
    pub corner: String,
    /// Rows of headers, the last with one header per column.
    pub headers: Vec<Vec<Header>>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A header over one or more columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it says.
    pub text: String,
    /// Over how many columns.
    pub span: usize,
    /// Which way its column should go, where that is known.
    pub better: Option<Better>,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is about.
    pub label: String,
    /// Whether a line separates it from the row above.
    pub begins_part: bool,
    /// One per column.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// No run: never filled in.
    Missing {
        /// Runs that were begun but have no result.
        unfinished: usize,
        /// The paper's number.
        paper: Option<f64>,
    },
    /// A measure over seeds.
    Measured(Measured),
    /// How far a measure is from that of another arm.
    Difference {
        /// The difference and its test.
        against: Against,
        /// The runs behind it.
        runs: Vec<PathBuf>,
    },
    /// Anything else, as text.
    Text {
        /// The text.
        text: String,
        /// The runs behind it.
        runs: Vec<PathBuf>,
    },
}

/// A measure over seeds, in the unit of its column.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Mean, deviation and number of seeds.
    pub value: OverSeeds,
    /// Digits after the point.
    pub decimals: usize,
    /// Which way is better; none where there is no better.
    pub better: Option<Better>,
    /// Whether it is the best of its column (or row, where columns are compared).
    pub best: bool,
    /// The mean's difference from the row it builds on.
    pub change: Option<f64>,
    /// The paper's number and what ours says beside it.
    pub paper: Option<(f64, Verdict)>,
    /// The runs behind it.
    pub runs: Vec<PathBuf>,
}

/// How far an arm is from another, in the unit of the column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// The mean difference over pairs.
    pub mean: f64,
    /// Its 95 % interval by Student's t; one pair has none.
    pub interval: Option<[f64; 2]>,
    /// Its size in standard deviations of differences.
    pub effect: Option<f64>,
    /// Wilcoxon's p-value.
    pub p: f64,
    /// The same after Holm's correction.
    pub holm: f64,
}

impl Against {
    /// A difference and its test, scaled to the unit of the column.
    pub fn new(difference: &Paired, scale: f64, p: f64, holm: f64) -> Self {
        let interval = difference.interval.map(|[low, high]| [low * scale, high * scale]);
        Self { mean: difference.mean * scale, interval, effect: difference.effect, p, holm }
    }

    /// "+2.1", "[−0.3, +4.5]", "d +0.84, p 0.0625", and, where it differs, "Holm 0.1250".
    pub fn text(&self) -> Vec<String> {
        let interval = self.interval.map(|[low, high]| format!("[{}, {}]", signed(low, 1), signed(high, 1)));
        let effect = self.effect.map_or(String::new(), |effect| format!("d {}, ", signed(effect, 2)));
        let (p, holm) = (p_text(self.p), p_text(self.holm));
        let corrected = (p != holm).then(|| format!("Holm {holm}"));
        [Some(signed(self.mean, 1)), interval, Some(format!("{effect}p {p}")), corrected]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// A number with its sign, as papers write it.
pub fn signed(number: f64, decimals: usize) -> String {
    format!("{number:+.decimals$}").replace('-', "−")
}

impl Measured {
    /// A measure of a group, scaled to the unit of the column.
    pub fn new(group: &Group, value: Option<OverSeeds>, scale: f64, better: Option<Better>) -> Option<Self> {
        let value = value?;
        let scaled = OverSeeds {
            mean: value.mean * scale,
            deviation: value.deviation.map(|deviation| deviation * scale),
            ..value
        };
        let runs = group.paths().map(Into::into).collect();
        Some(Self { value: scaled, decimals: 2, better, best: false, change: None, paper: None, runs })
    }

    /// Beside the paper's number, if it has one.
    pub fn beside(mut self, paper: Option<f64>, same_setting: bool) -> Self {
        self.paper = paper.map(|paper| (paper, Verdict::new(self.value, paper, same_setting)));
        self
    }

    /// "49.96 ± 0.31", or without a deviation for one seed.
    pub fn text(&self) -> String {
        let decimals = self.decimals;
        let mean = format!("{:.decimals$}", self.value.mean).replace('-', "−");
        self.value.deviation.map_or(mean.clone(), |deviation| format!("{mean} ± {deviation:.decimals$}"))
    }
}

impl Cell {
    /// Its measure, if it is one.
    pub fn measured(&self) -> Option<&Measured> {
        match self {
            Self::Measured(measured) => Some(measured),
            _ => None,
        }
    }

    /// The runs behind it.
    pub fn runs(&self) -> &[PathBuf] {
        match self {
            Self::Missing { .. } => &[],
            Self::Measured(measured) => &measured.runs,
            Self::Difference { runs, .. } | Self::Text { runs, .. } => runs,
        }
    }

    /// Plain text with the runs behind it.
    pub fn text(text: impl Into<String>, runs: Vec<PathBuf>) -> Self {
        Self::Text { text: text.into(), runs }
    }
}

impl Row {
    /// Whether its label, "+ balanced" or "seed 0", says nothing without the row above that it
    /// belongs to.
    pub fn is_dependent(&self) -> bool {
        self.label.starts_with("+ ") || self.label.starts_with("seed ")
    }
}

impl Header {
    /// Over one column.
    pub fn one(text: impl Into<String>) -> Self {
        Self { text: text.into(), span: 1, better: None }
    }

    /// Over several.
    pub fn over(text: impl Into<String>, span: usize) -> Self {
        Self { text: text.into(), span, better: None }
    }

    /// Over one column that should go one way.
    pub fn measure(text: impl Into<String>, better: Better) -> Self {
        Self { text: text.into(), span: 1, better: Some(better) }
    }

    /// ↑ or ↓: which way is better.
    pub fn arrow(&self) -> &'static str {
        match self.better {
            Some(Better::Higher) => "↑",
            Some(Better::Lower) => "↓",
            None => "",
        }
    }
}

impl Table {
    /// How many columns of cells.
    pub fn columns(&self) -> usize {
        self.headers.last().map_or(0, |headers| headers.iter().map(|header| header.span).sum())
    }

    /// The headers above each column, from the top.
    pub fn column_names(&self) -> Vec<String> {
        let mut names = vec![Vec::new(); self.columns()];
        for headers in &self.headers {
            let spread = headers.iter().flat_map(|header| std::iter::repeat_n(header.text.as_str(), header.span));
            names.iter_mut().zip(spread).filter(|(_, text)| !text.is_empty()).for_each(|(name, text)| name.push(text));
        }
        names.iter().map(|name| name.join(", ")).collect()
    }

    /// Marks the best cell of every column.
    pub fn mark_best_of_columns(&mut self) {
        self.mark_best_of_columns_in(0..self.rows.len());
    }

    /// Marks the best cell of every column within some rows.
    pub fn mark_best_of_columns_in(&mut self, rows: Range<usize>) {
        for column in 0..self.columns() {
            mark_best(self.rows[rows.clone()].iter_mut().filter_map(|row| row.cells.get_mut(column)).collect());
        }
    }

    /// Marks the best cell of every row.
    pub fn mark_best_of_rows(&mut self) {
        for row in &mut self.rows {
            mark_best(row.cells.iter_mut().collect());
        }
    }

    /// Whether any cell has runs behind it.
    pub fn has_runs(&self) -> bool {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| !cell.runs().is_empty())
    }
}

/// The best of one is no news.
fn mark_best(cells: Vec<&mut Cell>) {
    let mut measured: Vec<&mut Measured> = cells
        .into_iter()
        .filter_map(|cell| match cell {
            Cell::Measured(measured) if measured.better.is_some() => Some(measured),
            _ => None,
        })
        .collect();
    if measured.len() < 2 {
        return;
    }
    let merit = |measured: &Measured| match measured.better {
        Some(Better::Lower) => -measured.value.mean,
        _ => measured.value.mean,
    };
    let best = measured.iter().map(|measured| merit(measured)).fold(f64::NEG_INFINITY, f64::max);
    for measured in &mut measured {
        measured.best = merit(measured) >= best;
    }
}
