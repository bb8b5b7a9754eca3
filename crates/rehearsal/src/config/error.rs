//! Why a config makes no sense. Settings are named as an experiment file names them.

use std::path::PathBuf;

use thiserror::Error;

use crate::{
    device::DeviceError,
    methods::MethodKind,
    network::BackboneKind,
    retrieval::{Ratio, RetrievalKind},
};

/// Why a config makes no sense. Settings are named as in an experiment file, such as `` `memory` ``.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ConfigError {
    /// A setting that does not exist.
    #[error("{}unknown setting `{name}`{}", at(*line), nearest.map(|n| format!(": did you mean `{n}`?")).unwrap_or_default())]
    NoSetting { line: Option<usize>, name: String, nearest: Option<&'static str> },
    /// A setting that cannot be read, or cannot have its value.
    #[error("{}{}{why}", at(*line), named(setting.as_ref()))]
    Unreadable { line: Option<usize>, setting: Option<String>, why: String },
    /// A device that this program cannot use.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A count that is not between 1 and its limit.
    #[error("`{setting}` must be between 1 and {most}, not {found}")]
    Count { setting: &'static str, most: usize, found: usize },
    /// A number beyond what can be computed or written.
    #[error("`{setting}` is too large: at most {most}, not {found}")]
    TooLarge { setting: &'static str, most: u64, found: u64 },
    /// A number that is not above zero.
    #[error("`{setting}` must be a positive number, not {found}")]
    NotPositive { setting: &'static str, found: f64 },
    /// A number below zero, or none at all.
    #[error("`{setting}` must not be negative, and is {found}")]
    Negative { setting: &'static str, found: f64 },
    /// A share that is not between 0 and 1.
    #[error("`{setting}` must be between 0 and 1, not {found}")]
    Share { setting: &'static str, found: f64 },
    /// A hidden layer without features before it.
    #[error("`hidden` is for a pre-trained backbone, such as `backbone = \"efficientnet-lite0\"`, not for {0}")]
    Hidden(BackboneKind),
    /// Samples that a backbone cannot read.
    #[error("{backbone} learns from {}", if *is_pretrained { "features, and got pixels" } else { "pixels, and got features" })]
    Input { backbone: BackboneKind, is_pretrained: bool },
    /// A velocity that would never end.
    #[error("`momentum` must be at least 0 and below 1, not {0}")]
    Momentum(f64),
    /// A blur of a stream that has none.
    #[error("`blur` is for `stream = \"blurry\"`")]
    Blur,
    /// Classes of tasks that all have the same.
    #[error("in a domain-incremental stream every task has every class: leave out `task-classes`")]
    TaskClassesOfDomains,
    /// Two numbers of tasks.
    #[error("`tasks` is {tasks}, but `task-classes` lists {listed}: leave out one of them")]
    TaskCount { tasks: usize, listed: usize },
    /// A method without memory, with something that needs one.
    #[error("{method} replays nothing: `{setting} = \"{value}\"` cannot be used with it")]
    ReplaysNothing { method: MethodKind, setting: &'static str, value: String },
    /// A method with memory, without something that it needs.
    #[error("{method} replays from memory: `{setting}` must be at least 1")]
    Replays { method: MethodKind, setting: &'static str },
    /// Memory matching with half a pair.
    #[error("memory-match retrieves pairs: `retrieved` must be even, and is {0}")]
    OddPairs(usize),
    /// A ratio of a retrieval that has none.
    #[error("retrieval {retrieval} has no ratio: `ratio = \"{ratio}\"` is for `retrieval = \"balanced\"`")]
    NoRatio { retrieval: RetrievalKind, ratio: Ratio },
    /// A ratio of more or fewer samples than are retrieved.
    #[error(
        "the ratio {ratio} makes {}, but {retrieved} samples are retrieved per step: change `ratio` or `retrieved`",
        ratio.total()
    )]
    RatioTotal { ratio: Ratio, retrieved: usize },
    /// More picked than looked at.
    #[error("{picked} of {candidates} candidates cannot be picked: raise `candidates`")]
    Candidates { picked: usize, candidates: usize },
    /// A head of a method that has its own.
    #[error("`head` is an option of er-ace: {0} has its own head")]
    Head(MethodKind),
    /// A path that leads nowhere, or that no file of settings can hold.
    #[error("{} cannot be used as `data`: {why}", path.display())]
    Path { path: PathBuf, why: String },
    /// Other data than those that the run was made with.
    #[error("these are not the data of the run: their SHA-256 is {found}, expected {expected}")]
    OtherData { found: String, expected: String },
    /// Another version than the one that began the run.
    #[error(
        "`version` is {expected} in the run's config.toml, and this is {found}: go on with the version that began it"
    )]
    OtherVersion { found: &'static str, expected: String },
    /// Another custom part than the config names.
    #[error(
        "the {kind} should be {expected}, but {found} was given: give the custom parts that it was made with, \
         by `Learner::load_with` or `Experiment::resume_with_parts`"
    )]
    OtherPart { kind: &'static str, expected: String, found: String },
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!("line {line}: ")).unwrap_or_default()
}

fn named(setting: Option<&String>) -> String {
    setting.map(|setting| format!("`{setting}`: ")).unwrap_or_default()
}
