//! A table before it is written in any format.

use std::{ops::Range, path::PathBuf};

use rehearsal_measure::{Better, OverSeeds, Paired};

use crate::{
    pairs::p_text,
    paper::Verdict,
    study::Group,
    text::{NONE, mean_text, signed},
};

/// A table: headers that span columns, rows of cells, and what a reader must know.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in files and links.
    pub id: String,
    /// Its caption.
    pub title: String,
    /// Notes below it.
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
    /// Its text.
    pub text: String,
    /// Over how many columns.
    pub span: usize,
    /// Which direction of its column is better, if one is.
    pub better: Option<Better>,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// Whether a line separates it from the row above.
    pub begins_part: bool,
    /// One per column.
    pub cells: Vec<Cell>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// There is no run.
    Missing {
        /// Runs that were started but have no result.
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
    /// Which direction is better, if one is.
    pub better: Option<Better>,
    /// Whether it is the best of its column, or of its row if columns are compared.
    pub best: bool,
    /// The mean's difference from the row it builds on.
    pub change: Option<f64>,
    /// The paper's number and the verdict.
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

    /// "+2.1", "[−0.3, +4.5]", "d +0.84, p 0.0625", and "Holm 0.1250" if that differs from p.
    pub fn text(&self) -> Vec<String> {
        let interval = self.interval.map(|[low, high]| format!("[{}, {}]", signed(low, 1), signed(high, 1)));
        let effect = self.effect.map_or(String::new(), |effect| format!("d {}, ", signed(effect, 2)));
        if self.interval.is_none() {
            return vec![signed(self.mean, 1), "1 pair".to_owned()];
        }
        let (p, holm) = (p_text(self.p), p_text(self.holm));
        let corrected = (p != holm).then(|| format!("Holm {holm}"));
        [Some(signed(self.mean, 1)), interval, Some(format!("{effect}p {p}")), corrected]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl Measured {
    /// A measure of a group over seeds, as a column shows it: the factor of its unit, and digits after
    /// the point.
    pub fn new(
        group: &Group,
        value: Option<OverSeeds>,
        (scale, decimals): (f64, usize),
        better: Option<Better>,
    ) -> Option<Self> {
        let OverSeeds { n, mean, deviation } = value?;
        let value = OverSeeds { n, mean: mean * scale, deviation: deviation.map(|deviation| deviation * scale) };
        let runs = group.paths().map(Into::into).collect();
        Some(Self { value, decimals, better, best: false, change: None, paper: None, runs })
    }

    /// Beside the paper's number, if it has one.
    pub fn beside(mut self, paper: Option<f64>, same_setting: bool) -> Self {
        self.paper = paper.map(|paper| (paper, Verdict::new(self.value, paper.into(), same_setting)));
        self
    }

    /// "49.96 ± 0.31", or only the mean for one seed.
    pub fn text(&self) -> String {
        mean_text(self.value.mean, self.value.deviation, self.decimals)
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

    /// Plain text without runs.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::text(text, Vec::new())
    }

    /// Plain text with the runs behind it.
    pub fn text(text: impl Into<String>, runs: Vec<PathBuf>) -> Self {
        Self::Text { text: text.into(), runs }
    }

    /// Several cells of plain text with the same runs behind them.
    pub fn texts(texts: impl IntoIterator<Item = String>, runs: &[PathBuf]) -> Vec<Self> {
        texts.into_iter().map(|text| Self::text(text, runs.to_vec())).collect()
    }
}

/// A dash if there is no measure.
impl From<Option<Measured>> for Cell {
    fn from(measured: Option<Measured>) -> Self {
        measured.map_or_else(|| Self::plain(NONE), Self::Measured)
    }
}

impl Row {
    /// Whether its label, "+ balanced" or "seed 0", needs the row above to be understood.
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

    /// Over one column in which one direction is better.
    pub fn measure(text: impl Into<String>, better: impl Into<Option<Better>>) -> Self {
        Self { text: text.into(), span: 1, better: better.into() }
    }

    /// ↑ or ↓: which direction is better.
    pub fn arrow(&self) -> &'static str {
        match self.better {
            Some(Better::Higher) => "↑",
            Some(Better::Lower) => "↓",
            None => "",
        }
    }
}

impl Table {
    /// A table with one row of headers.
    pub fn new(
        (id, title): (String, String),
        notes: Vec<String>,
        corner: &str,
        headers: impl IntoIterator<Item = Header>,
        rows: Vec<Row>,
    ) -> Self {
        Self { id, title, notes, corner: corner.into(), headers: vec![headers.into_iter().collect()], rows }
    }

    /// The same with a row of headers above the others.
    pub fn under(mut self, headers: Vec<Header>) -> Self {
        self.headers.insert(0, headers);
        self
    }

    /// The number of columns of cells.
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

    /// With the best cell of every column marked.
    pub fn with_best_of_columns(mut self) -> Self {
        self.mark_best_of_columns(0..self.rows.len());
        self
    }

    /// Marks the best cell of every column within some rows.
    pub fn mark_best_of_columns(&mut self, rows: Range<usize>) {
        for column in 0..self.columns() {
            mark_best(self.rows[rows.clone()].iter_mut().filter_map(|row| row.cells.get_mut(column)));
        }
    }

    /// With the best cell of every row marked.
    pub fn with_best_of_rows(mut self) -> Self {
        self.rows.iter_mut().for_each(|row| mark_best(row.cells.iter_mut()));
        self
    }

    /// The table, unless no cell has runs behind it.
    pub fn if_any_runs(self) -> Option<Self> {
        self.rows.iter().flat_map(|row| &row.cells).any(|cell| !cell.runs().is_empty()).then_some(self)
    }
}

/// One cell alone is not the best.
fn mark_best<'a>(cells: impl Iterator<Item = &'a mut Cell>) {
    let measured = cells.filter_map(|cell| match cell {
        Cell::Measured(measured) if measured.better.is_some() => Some(measured),
        _ => None,
    });
    let mut measured: Vec<&mut Measured> = measured.collect();
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
