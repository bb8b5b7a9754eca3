//! The paper's numbers, typed from its tables, and the verdict about ours.

use std::path::Path;

use rehearsal_measure::OverSeeds;

/// A measure that the paper's tables show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Average end accuracy, `Acc.`
    Accuracy,
    /// Average forgetting, `Fgt.`
    Forgetting,
}

const METHODS: &str = include_str!("../data/paper/methods.csv");
const BUFFERS: &str = include_str!("../data/paper/buffers.csv");
const RATIOS: &str = include_str!("../data/paper/ratios.csv");
const RETRIEVALS: &str = include_str!("../data/paper/retrievals.csv");
const WILCOXON: &str = include_str!("../data/paper/wilcoxon.csv");
const MCNEMAR: &str = include_str!("../data/paper/mcnemar.csv");

/// Table 1, in percent.
pub fn method(method: &str, balanced: bool, dataset: &str, shown: Shown) -> Option<f64> {
    number(METHODS, &[method, retrieval(balanced), dataset], shown.name())
}

/// Table 2, in percent.
pub fn buffer(method: &str, balanced: bool, dataset: &str, memory: f64, shown: Shown) -> Option<f64> {
    number(BUFFERS, &[method, retrieval(balanced), dataset, &memory.to_string()], shown.name())
}

/// Table 3 and its counterpart in the supplement, in percent; the ratio can be `random`.
pub fn ratio(ratio: &str, dataset: &str, shown: Shown) -> Option<f64> {
    number(RATIOS, &[ratio, dataset], shown.name())
}

/// The supplement's comparison of instance selection with PCR: accuracy in percent.
pub fn selection(retrieval: &str, dataset: &str) -> Option<f64> {
    number(RETRIEVALS, &[retrieval, dataset], "accuracy")
}

/// The supplement's p-value of "+ balanced" against the method alone, over its six data sets.
pub fn wilcoxon(method: &str, shown: Shown) -> Option<f64> {
    number(WILCOXON, &[method], shown.name())
}

/// The supplement's p-value of PCR + balanced against PCR with another retrieval.
pub fn mcnemar(retrieval: &str, dataset: &str) -> Option<f64> {
    number(MCNEMAR, &[retrieval, dataset], "p")
}

fn retrieval(balanced: bool) -> &'static str {
    if balanced { "balanced" } else { "" }
}

/// Whether a directory is named after a grid of one of the paper's tables in `experiments/`.
pub fn is_named_after(directory: &Path) -> bool {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    ["table1", "table2", "table3", "retrievals", "features"].iter().any(|table| name.starts_with(table))
}

/// A number of a table of comma-separated values without quotes: keys first, then numbers.
fn number(table: &str, keys: &[&str], column: &str) -> Option<f64> {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let column = lines.next()?.iter().position(|name| *name == column)?;
    lines.find(|row| row.starts_with(keys))?.get(column)?.parse().ok()
}

/// A published mean, and half of its 95 % interval if that was published, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// The mean.
    pub mean: f64,
    /// Half of its 95 % interval.
    pub half_interval: Option<f64>,
}

impl From<f64> for Published {
    fn from(mean: f64) -> Self {
        Self { mean, half_interval: None }
    }
}

/// How our number compares with a published one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The published mean is within the 95 % interval of our mean, or the two intervals overlap.
    Reproduced,
    /// Ours is higher.
    Above,
    /// Ours is lower.
    Below,
    /// The runs have other settings than the paper's: the numbers are not comparable.
    DifferentSetting,
    /// One seed has no spread to judge by.
    OneSeed,
}

impl Verdict {
    /// The verdict about two numbers in the same unit.
    pub fn new(ours: OverSeeds, published: Published, same_setting: bool) -> Self {
        let half = published.half_interval.unwrap_or(0.0);
        match (same_setting, ours.interval()) {
            (false, _) => Self::DifferentSetting,
            (true, None) => Self::OneSeed,
            (true, Some([low, _])) if published.mean + half < low => Self::Above,
            (true, Some([_, high])) if published.mean - half > high => Self::Below,
            (true, Some(_)) => Self::Reproduced,
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Above => "above",
            Self::Below => "below",
            Self::DifferentSetting => "different setting",
            Self::OneSeed => "one seed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The differences that the reference vectors, V12, take from the paper's Table 1: PCR and
    /// CLS-ER by accuracy, ER-ACE by forgetting (with the sign turned), over the six data sets, in
    /// hundredths.
    #[test]
    fn the_papers_differences_are_those_of_v12() {
        let datasets = ["cifar100", "core50", "food100", "mini-imagenet", "places100", "tiny-imagenet"];
        let gain = |name: &str, shown: Shown| {
            let of = |balanced, dataset| method(name, balanced, dataset, shown).unwrap();
            datasets.map(|dataset| ((of(true, dataset) - of(false, dataset)) * 100.0).round() as i32)
        };
        assert_eq!(gain("pcr", Shown::Accuracy), [233, 265, 249, 172, 174, 88]);
        assert_eq!(gain("cls-er", Shown::Accuracy), [99, 870, -120, -53, 164, 121]);
        assert_eq!(gain("er-ace", Shown::Forgetting), [408, -112, 72, 47, -69, -49]);
    }

    /// The paper repeats some of its numbers: Table 2 at 10,000 is Table 1, Table 3 at 5:5 is "+
    /// Ours".
    #[test]
    fn numbers_that_are_in_two_tables_are_equal() {
        for dataset in ["cifar100", "mini-imagenet"] {
            for shown in [Shown::Accuracy, Shown::Forgetting] {
                for name in ["er-ace", "cls-er", "pcr"] {
                    for balanced in [false, true] {
                        let large = buffer(name, balanced, dataset, 10_000.0, shown);
                        assert!(large.is_some() && large == method(name, balanced, dataset, shown));
                    }
                }
                assert_eq!(ratio("5:5", dataset, shown), method("pcr", true, dataset, shown));
                assert_eq!(ratio("random", dataset, shown), method("pcr", false, dataset, shown));
            }
            for (selected, ratio_name) in [("balanced", "5:5"), ("mir", "10:0"), ("random", "random")] {
                assert_eq!(selection(selected, dataset), ratio(ratio_name, dataset, Shown::Accuracy));
            }
        }
        assert_eq!(wilcoxon("cls-er", Shown::Forgetting), Some(0.0082));
        assert_eq!(mcnemar("memory-match", "mini-imagenet"), Some(0.0126));
        assert_eq!(method("er", true, "cifar100", Shown::Accuracy), None, "the paper has no ER + balanced");
    }

    #[test]
    fn grids_are_known_by_their_names() {
        assert!(is_named_after("runs/table3-ratios-cpu".as_ref()) && is_named_after("retrievals/".as_ref()));
        assert!(!is_named_after("runs/smoke".as_ref()) && !is_named_after("/".as_ref()));
    }

    #[test]
    fn a_verdict_needs_the_same_setting_and_a_spread() {
        let ours = |deviation| OverSeeds { n: 3, mean: 50.0, deviation };
        let verdict = |deviation, paper: f64| Verdict::new(ours(deviation), paper.into(), true);
        // Three seeds with a deviation of 1: 4.303 / √3 = 2.484 on either side.
        assert_eq!([52.4, 52.6].map(|paper| verdict(Some(1.0), paper)), [Verdict::Reproduced, Verdict::Below]);
        assert_eq!([47.6, 47.4].map(|paper| verdict(Some(1.0), paper)), [Verdict::Reproduced, Verdict::Above]);
        assert_eq!(verdict(None, 50.0), Verdict::OneSeed);
        assert_eq!(Verdict::new(ours(Some(1.0)), 50.0.into(), false), Verdict::DifferentSetting);
    }

    #[test]
    fn intervals_that_overlap_are_a_reproduction() {
        let ours = OverSeeds { n: 3, mean: 50.0, deviation: Some(1.0) };
        let verdict = |mean| Verdict::new(ours, Published { mean, half_interval: Some(0.5) }, true);
        assert_eq!([52.9, 53.1].map(verdict), [Verdict::Reproduced, Verdict::Below]);
        assert_eq!([47.1, 46.9].map(verdict), [Verdict::Reproduced, Verdict::Above]);
    }
}
