//! Two sets of runs side by side, with the difference and its test.

use rehearsal_measure::{Better, METRICS, McNemar, OverSeeds, Paired, Wilcoxon};
use serde::Serialize;
use thiserror::Error;

use crate::{
    pairs::{Pair, difference, pairs, pooled, test},
    protocol::Data,
    run::Run,
    settings::{Part, arm, protocol},
};

/// What a comparison says.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The settings in which the two sides differ, with the value of each.
    pub differing: Vec<Setting>,
    /// How many runs have a partner of the same data, seed and order of classes.
    pub pairs: usize,
    /// Every measure.
    pub measures: Vec<Line>,
    /// The final models on the same test images, pair by pair.
    pub images: Vec<Images>,
    /// The same over all pairs; none without predictions.
    pub pooled: Option<McNemar>,
}

/// A setting in which two sides differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Of the first side; empty if it is not said.
    pub a: String,
    /// Of the second.
    pub b: String,
}

/// A measure of both sides.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in results.
    pub name: &'static str,
    /// Which way it should go.
    pub better: Better,
    /// Of the first side; none where no run has it.
    pub a: Option<OverSeeds>,
    /// Of the second.
    pub b: Option<OverSeeds>,
    /// The second minus the first, over pairs; none without a pair.
    pub difference: Option<Paired>,
    /// The Wilcoxon test over pairs; none with fewer than two, of which it can say nothing.
    pub test: Option<Wilcoxon>,
}

/// McNemar's test of one pair.
#[derive(Clone, Debug)]
pub struct Images {
    /// What was learned.
    pub data: String,
    /// The seed of both.
    pub seed: u64,
    /// The test; its first is the first side.
    pub test: McNemar,
}

/// Why two sides cannot be compared.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CompareError {
    /// A side has no finished run.
    #[error("{0} holds no finished run")]
    Empty(String),
    /// A side mixes runs that differ in more than data and seed.
    #[error("{side} mixes runs that differ in {names}: name some that differ in data and seed only")]
    Mixed {
        /// Which side.
        side: String,
        /// The settings in which its runs differ.
        names: String,
    },
}

impl Comparison {
    /// Compares two sets of runs, named as the user named them.
    ///
    /// # Errors
    /// A side is empty, or mixes runs of several kinds.
    pub fn new((a_name, a): (&str, &[Run]), (b_name, b): (&str, &[Run])) -> Result<Self, CompareError> {
        let (a_kind, b_kind) = (kind(a_name, a)?, kind(b_name, b)?);
        let setting =
            |name: &str| Setting { name: name.into(), a: a_kind.get(name).into(), b: b_kind.get(name).into() };
        let paired = pairs(&a.iter().collect::<Vec<_>>(), &b.iter().collect::<Vec<_>>());
        let images: Vec<Images> = paired.iter().filter_map(images).collect();
        Ok(Self {
            differing: a_kind.differing(&b_kind).into_iter().map(setting).collect(),
            pairs: paired.len(),
            measures: METRICS.iter().map(|metric| line(metric, a, b, &paired)).collect(),
            pooled: pooled(&images.iter().map(|images| images.test).collect::<Vec<_>>()),
            images,
        })
    }
}

/// The settings that all runs of a side share: how they learn and under which conditions.
fn kind(side: &str, runs: &[Run]) -> Result<Part, CompareError> {
    let of = |run: &Run| {
        let mut settings = arm(&run.settings);
        settings.0.extend(protocol(&run.settings).0);
        settings
    };
    let first = runs.first().map(of).ok_or_else(|| CompareError::Empty(side.into()))?;
    let mut names: Vec<String> = runs
        .iter()
        .flat_map(|run| first.differing(&of(run)).into_iter().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.is_empty() { Ok(first) } else { Err(CompareError::Mixed { side: side.into(), names: names.join(", ") }) }
}

fn line(metric: &rehearsal_measure::Metric, a: &[Run], b: &[Run], paired: &[Pair]) -> Line {
    let over = |runs: &[Run]| {
        OverSeeds::from_values(&runs.iter().filter_map(|run| (metric.of)(&run.matrix)).collect::<Vec<_>>())
    };
    let difference = difference(paired, metric.of);
    let test = difference.filter(|difference| difference.n > 1).map(|_| test(paired, metric.of));
    Line { name: metric.name, better: metric.better, a: over(a), b: over(b), difference, test }
}

fn images(pair: &Pair) -> Option<Images> {
    Some(Images { data: Data::of_run(pair.first).label(), seed: pair.first.seed, test: pair.mcnemar()? })
}
