//! How a group learned: the method, what it replays, and its other options. An arm of the study, as a
//! trial has arms.

use std::collections::BTreeSet;

use rehearsal_runs::Settings;

use crate::settings::{self, Part};

/// A method with its retrieval, memory policy and options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The method's name in settings.
    pub method: String,
    /// What is replayed.
    pub replay: Replay,
    /// The memory policy; empty if not set.
    pub policy: String,
    /// Every setting of the arm, including these.
    pub settings: Part,
}

/// What is replayed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Replay {
    /// Nothing: the method has no memory.
    Nothing,
    /// Random samples.
    Random,
    /// The samples with the highest and the lowest change of loss under the next update.
    LossChange {
        /// Aligned samples. First, so that arms sort in the paper's order: from MIR to IMIR.
        low: usize,
        /// Conflicting samples.
        high: usize,
    },
    /// Another way, by its name.
    Other(String),
}

/// The methods in the order of the paper's Table 1, between both baselines; others follow by name.
const METHODS: [(&str, &str); 12] = [
    ("fine-tune", "fine-tune"),
    ("er", "ER"),
    ("a-gem", "A-GEM"),
    ("der-pp", "DER++"),
    ("aser", "ASER"),
    ("er-ace", "ER-ACE"),
    ("cls-er", "CLS-ER"),
    ("pcr", "PCR"),
    ("ncm", "nearest mean"),
    ("ridge", "ridge"),
    ("gaussian", "Gaussian"),
    ("joint", "joint"),
];

/// If arms differ in more settings than this, a label names only those that differ from the paper,
const MOST_DIFFERENCES: usize = 2;
/// unless there are more than this.
const MOST_UNUSUAL: usize = 4;

/// A setting, its value, and the arms that use it.
type PaperOption = (&'static str, &'static str, fn(&Arm) -> bool);

/// The options of the paper, or of the papers whose methods it compares: name, value, and the arms that
/// use it. Options that are not listed are not known to be the paper's.
const PAPER_OPTIONS: [PaperOption; 22] = [
    ("candidates", "50", Arm::scores),
    ("score-norm", "batch", Arm::scores),
    ("views", "both", |arm| arm.method == "pcr"),
    ("views", "augmented", |arm| arm.method != "pcr"),
    ("temperature", "0.09", |arm| arm.method == "pcr"),
    ("denominator", "multiset", |arm| arm.method == "pcr"),
    ("reduction", "mean", |arm| matches!(arm.method.as_str(), "er" | "aser" | "pcr")),
    // No paper's: a reference of ours.
    ("ridge", "0.01", |arm| arm.method == "ridge"),
    ("der-alpha", "0.5", |arm| arm.method == "der-pp"),
    ("der-beta", "0.5", |arm| arm.method == "der-pp"),
    ("task-free", "false", |arm| arm.method == "er-ace"),
    ("head", "linear", |arm| arm.method == "er-ace"),
    ("consistency", "0.1", |arm| arm.method == "cls-er"),
    ("stable-frequency", "0.7", |arm| arm.method == "cls-er"),
    ("stable-alpha", "0.999", |arm| arm.method == "cls-er"),
    ("plastic-frequency", "0.9", |arm| arm.method == "cls-er"),
    ("plastic-alpha", "0.999", |arm| arm.method == "cls-er"),
    ("gss-groups", "10", |arm| arm.policy == "gss"),
    ("gss-group-size", "10", |arm| arm.policy == "gss"),
    ("shapley-score", "asvm", Arm::has_shapley_values),
    ("shapley-neighbours", "3", Arm::has_shapley_values),
    // The paper tests networks as trained.
    ("recalibrate", "off", |_| true),
];

/// Settings that name an arm.
const NAMES: [&str; 4] = ["method", "retrieval", "ratio", "memory-policy"];

impl Arm {
    /// The arm of a run.
    pub fn from_settings(settings: &Settings) -> Self {
        let settings = settings::arm(settings);
        let replay = Replay::from_settings(settings.get("retrieval"), settings.get("ratio"));
        let policy = settings.get("memory-policy").to_owned();
        let mut method = settings.get("method").to_owned();
        // ASER is experience replay with its own memory policy and retrieval.
        if method == "er" && policy == "aser" && replay == Replay::Other("aser".into()) {
            method = "aser".into();
        }
        Self { method, replay, policy, settings }
    }

    /// The method as papers write it.
    pub fn method_name(&self) -> &str {
        METHODS.iter().find(|(id, _)| *id == self.method).map_or(&self.method, |(_, name)| name)
    }

    /// Whether it replays as its authors did: at random, or, for ASER, with its own retrieval.
    pub fn is_plain(&self) -> bool {
        let usual_memory = matches!(self.policy.as_str(), "" | "reservoir");
        self.is_aser() || self.replay == Replay::Nothing || (self.replay == Replay::Random && usual_memory)
    }

    /// Whether it is ASER with its own memory policy and retrieval.
    fn is_aser(&self) -> bool {
        self.method == "aser" && self.policy == "aser" && self.replay == Replay::Other("aser".into())
    }

    /// Whether it is "+ balanced": equal parts of conflicting and aligned samples.
    pub fn is_balanced(&self) -> bool {
        matches!(self.replay, Replay::LossChange { high, low } if high.abs_diff(low) <= 1 && high > 0 && low > 0)
            && matches!(self.policy.as_str(), "" | "reservoir")
    }

    /// Its name in the supplement's comparison of instance selection.
    pub fn selection(&self) -> Option<&'static str> {
        match (&self.replay, self.policy.as_str()) {
            (Replay::Random, "gss") => Some("gss"),
            (Replay::Other(name), _) if name == "aser" => Some("aser"),
            (Replay::Other(name), _) if name == "memory-match" => Some("memory-match"),
            (_, policy) if !matches!(policy, "" | "reservoir") => None,
            (Replay::LossChange { low: 0, .. }, _) => Some("mir"),
            (Replay::LossChange { high: 0, .. }, _) => Some("imir"),
            (Replay::Random, _) => Some("random"),
            _ if self.is_balanced() => Some("balanced"),
            _ => None,
        }
    }

    /// In words, such as "PCR + balanced 7:3".
    pub fn label(&self) -> String {
        let mut label = self.method_name().to_owned();
        if self.is_aser() {
            return label;
        }
        if let Some(replay) = self.replay.label() {
            label = format!("{label} + {replay}");
        }
        if !matches!(self.policy.as_str(), "" | "reservoir") {
            label = format!("{label}, {} memory", self.policy);
        }
        label
    }

    /// The settings in which it differs from others, in brackets; empty if there are none.
    pub fn distinction(&self, others: &[&Self]) -> String {
        match self.settings.distinction(others.iter().map(|other| &other.settings)) {
            said if said.is_empty() => said,
            said => format!(" ({said})"),
        }
    }

    /// Of many settings in which arms differ, those that are not the paper's, in brackets: " (candidates 20,
    /// score-norm eval)", or empty for the paper's arm. None if that would be long or ambiguous.
    fn unusual_among(&self, alike: &[&Self]) -> Option<String> {
        let names: BTreeSet<&str> = alike.iter().flat_map(|other| self.settings.differing(&other.settings)).collect();
        let all: BTreeSet<Vec<String>> = alike.iter().map(|arm| arm.unusual(&names)).collect();
        let is_short = all.iter().all(|said| said.len() <= MOST_UNUSUAL);
        let serves = names.len() > MOST_DIFFERENCES && is_short && all.len() == alike.len();
        serves.then(|| match &self.unusual(&names)[..] {
            [] => String::new(),
            said => format!(" ({})", said.join(", ")),
        })
    }

    fn unusual(&self, names: &BTreeSet<&str>) -> Vec<String> {
        let is_papers = |name: &str| {
            PAPER_OPTIONS.iter().any(|(option, paper, _)| *option == name && self.settings.has(name, paper))
        };
        let said = names.iter().filter(|name| !self.settings.get(name).is_empty() && !is_papers(name));
        said.map(|name| format!("{name} {}", self.settings.get(name))).collect()
    }

    /// Its settings without the retrieval.
    pub fn options(&self) -> Part {
        self.settings.without("retrieval").without("ratio")
    }

    /// How the options that it uses differ from the paper's.
    pub fn differences_from_paper(&self) -> Vec<String> {
        let settings = self.settings.0.iter().filter(|(name, _)| !NAMES.contains(&name.as_str()));
        settings.filter_map(|(name, value)| self.difference_from_paper(name, value)).collect()
    }

    fn difference_from_paper(&self, name: &str, value: &str) -> Option<String> {
        let mut known = PAPER_OPTIONS.iter().filter(|(option, ..)| *option == name).peekable();
        if known.peek().is_none() {
            return Some(format!("{name} {value} (not known to be the paper's)"));
        }
        let (_, paper, _) = known.find(|(_, _, matters)| matters(self))?;
        (!self.settings.has(name, paper)).then(|| format!("{name} {value} (paper {paper})"))
    }

    /// Whether it scores candidates by their change of loss.
    fn scores(&self) -> bool {
        matches!(self.replay, Replay::LossChange { .. })
    }

    /// Whether its memory or its retrieval ranks by Shapley values.
    fn has_shapley_values(&self) -> bool {
        self.policy == "aser" || self.replay == Replay::Other("aser".into())
    }

    fn order(&self) -> (usize, &str, &Replay, &str, &Part) {
        let place = METHODS.iter().position(|(id, _)| *id == self.method).unwrap_or(METHODS.len());
        (place, &self.method, &self.replay, &self.policy, &self.settings)
    }
}

impl PartialOrd for Arm {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Arm {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl Replay {
    fn from_settings(retrieval: &str, ratio: &str) -> Self {
        let parts = ratio.split_once(':').and_then(|(high, low)| Some((high.parse().ok()?, low.parse().ok()?)));
        match (retrieval, parts) {
            ("", _) => Self::Nothing,
            ("random", _) => Self::Random,
            ("balanced" | "mir" | "imir", Some((high, low))) => Self::LossChange { high, low },
            (other, _) => Self::Other(other.to_owned()),
        }
    }

    /// In words; none if nothing is replayed.
    pub fn label(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Random => Some("random".into()),
            Self::LossChange { low: 0, .. } => Some("MIR".into()),
            Self::LossChange { high: 0, .. } => Some("IMIR".into()),
            Self::LossChange { high, low } if high == low => Some("balanced".into()),
            Self::LossChange { high, low } => Some(format!("balanced {high}:{low}")),
            Self::Other(name) => Some(name.clone()),
        }
    }
}

/// Names for some arms: their labels, and the settings in which they differ if labels are equal.
pub fn labels(arms: &[&Arm]) -> Vec<String> {
    let label = |arm: &&Arm| {
        let label = arm.label();
        let alike: Vec<&Arm> = arms.iter().copied().filter(|other| other.label() == label).collect();
        format!("{label}{}", arm.unusual_among(&alike).unwrap_or_else(|| arm.distinction(&alike)))
    };
    arms.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arm(value: serde_json::Value) -> Arm {
        Arm::from_settings(&serde_json::from_value(value).unwrap())
    }

    #[test]
    fn arms_are_named_as_papers_name_them() {
        for (settings, label) in [
            (json!({"method": "pcr", "retrieval": "balanced", "ratio": "5:5"}), "PCR + balanced"),
            (json!({"method": "pcr", "retrieval": "balanced", "ratio": "7:3"}), "PCR + balanced 7:3"),
            (json!({"method": "pcr", "retrieval": "balanced", "ratio": "10:0"}), "PCR + MIR"),
            (json!({"method": "er-ace", "retrieval": "imir", "ratio": "0:10"}), "ER-ACE + IMIR"),
            (json!({"method": "er", "retrieval": "random", "ratio": "10:0"}), "ER + random"),
            (json!({"method": "er", "retrieval": "aser", "memory-policy": "aser"}), "ASER"),
            (json!({"method": "aser", "retrieval": "aser", "memory-policy": "aser"}), "ASER"),
            (json!({"method": "aser", "retrieval": "random", "memory-policy": "aser"}), "ASER + random, aser memory"),
            (json!({"method": "der-pp", "retrieval": "random", "memory-policy": "reservoir"}), "DER++ + random"),
            (json!({"method": "pcr", "retrieval": "random", "memory-policy": "gss"}), "PCR + random, gss memory"),
            (json!({"method": "fine-tune"}), "fine-tune"),
        ] {
            assert_eq!(arm(settings).label(), label);
        }
    }

    #[test]
    fn an_arm_is_plain_balanced_or_a_selection() {
        let balanced = arm(json!({"method": "pcr", "retrieval": "balanced", "ratio": "3:2"}));
        assert!(balanced.is_balanced() && !balanced.is_plain(), "an odd number cannot be halved");
        let uneven = arm(json!({"method": "pcr", "retrieval": "balanced", "ratio": "8:2"}));
        assert!(!uneven.is_balanced() && uneven.selection().is_none());
        let gss = arm(json!({"method": "pcr", "retrieval": "random", "memory-policy": "gss"}));
        assert!(!gss.is_plain() && gss.selection() == Some("gss"));
        let mir = arm(json!({"method": "pcr", "retrieval": "mir", "ratio": "10:0", "memory-policy": "reservoir"}));
        assert_eq!(mir.selection(), Some("mir"));
    }

    #[test]
    fn every_option_that_matters_must_be_the_papers() {
        for (settings, difference) in [
            (json!({"method": "pcr", "retrieval": "random", "denominator": "multiset", "der-alpha": 0.9}), ""),
            (json!({"method": "pcr", "retrieval": "random", "temperature": 0.090, "candidates": 20}), ""),
            (json!({"method": "pcr", "denominator": "set"}), "denominator set (paper multiset)"),
            (json!({"method": "pcr", "views": "augmented"}), "views augmented (paper both)"),
            (json!({"method": "er", "views": "both"}), "views both (paper augmented)"),
            (
                json!({"method": "er", "retrieval": "mir", "ratio": "10:0", "candidates": 20}),
                "candidates 20 (paper 50)",
            ),
            (json!({"method": "der-pp", "der-alpha": 0.9}), "der-alpha 0.9 (paper 0.5)"),
            (json!({"method": "er", "custom-backbone": "mine"}), "custom-backbone mine (not known to be the paper's)"),
        ] {
            assert_eq!(arm(settings).differences_from_paper().join("; "), difference);
        }
    }

    /// Without the paper's value of a new setting, no verdict would be given any more.
    #[test]
    fn every_option_has_the_papers_value() {
        for setting in rehearsal_runs::SETTINGS.iter().filter(|setting| setting.role == rehearsal_runs::Role::Arm) {
            let known = NAMES.contains(&setting.name) || PAPER_OPTIONS.iter().any(|(name, ..)| *name == setting.name);
            assert!(known || setting.place == rehearsal_runs::Place::Run, "{}", setting.name);
        }
    }

    #[test]
    fn arms_with_many_differences_name_those_from_the_paper() {
        let balanced = |candidates: u32, norm: &str, views: &str| {
            let (retrieval, ratio) = ("balanced", "5:5");
            arm(json!({"method": "pcr", "retrieval": retrieval, "ratio": ratio, "candidates": candidates,
                "score-norm": norm, "views": views}))
        };
        let arms = [
            balanced(50, "batch", "both"),
            balanced(20, "eval", "both"),
            balanced(20, "eval", "raw"),
            balanced(50, "batch", "raw"),
        ];
        let expected = [
            "PCR + balanced",
            "PCR + balanced (candidates 20, score-norm eval)",
            "PCR + balanced (candidates 20, score-norm eval, views raw)",
            "PCR + balanced (views raw)",
        ];
        assert_eq!(labels(&arms.iter().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn equal_labels_are_distinguished_by_options() {
        let one = arm(json!({"method": "pcr", "retrieval": "random", "denominator": "set"}));
        let other = arm(json!({"method": "pcr", "retrieval": "random", "denominator": "multiset"}));
        let third = arm(json!({"method": "er", "retrieval": "random", "denominator": "multiset"}));
        let names = labels(&[&one, &other, &third]);
        assert_eq!(names, ["PCR + random (denominator set)", "PCR + random (denominator multiset)", "ER + random"]);
        assert!(third < other, "in the paper's order");
    }
}
