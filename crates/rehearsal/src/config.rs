//! Settings → config. [`PartialConfig`] holds what a file or the command line gave, [`Config`]
//! every value of the run; every refusal that needs no data happens in between.

mod combinations;
mod error;
mod learner;
mod partial;
mod resolve;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use combinations::Combination;
pub use error::ConfigError;
pub use learner::{LearnerConfig, NetworkConfig, ReplayConfig};
pub use partial::PartialConfig;

use rehearsal_data::{Chain, Request, choice};

use crate::stream::{ClassOrder, Plan, StreamKind};

/// When the samples of a step may enter the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion {
    /// In every epoch: an image can occupy several slots.
    EveryEpoch,
    /// In the first epoch of its task only.
    FirstEpoch,
}
choice!(Insertion, "insertion", EveryEpoch = "every-epoch", FirstEpoch = "first-epoch");

/// With which `BatchNorm` running statistics a run tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recalibrate {
    /// With those that training left: the paper's way.
    #[default]
    Off,
    /// With those recalibrated from the memory.
    Memory,
    /// With both: results are those of `Off`, and those of `Memory` stand beside them.
    Both,
}
choice!(Recalibrate, "kind of recalibration", Off = "off", Memory = "memory", Both = "both");

/// Everything a run depends on. Serialised, it is a valid experiment file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Config {
    /// The data set, or several one after another.
    pub dataset: Chain,
    /// Where its files are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,
    /// Height and width of the images; the data set's own if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Leave out files that are not images.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad: bool,
    /// How tasks differ.
    #[serde(default, skip_serializing_if = "StreamKind::is_default")]
    pub stream: StreamKind,
    /// Blurry streams: the share of each task's samples that comes from other tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blur: Option<f64>,
    /// The classes of each task, by name, if the user lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_classes: Option<Vec<Vec<String>>>,
    /// Into how many tasks the classes are cut.
    pub tasks: usize,
    /// Use the first classes only; all if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<usize>,
    /// In which order classes appear.
    pub class_order: ClassOrder,
    /// The most training images per class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub train_per_class: Option<usize>,
    /// The most test images per class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_per_class: Option<usize>,
    /// How the learner learns.
    #[serde(flatten)]
    pub learner: LearnerConfig,
    /// With which running statistics it tests.
    #[serde(default)]
    pub recalibrate: Recalibrate,
    /// Minutes between checkpoints inside a task.
    pub checkpoint_minutes: f64,
    /// Look into the steps and write `diagnostics.jsonl`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diagnostics: bool,
    /// Test after every so many steps, not only after every task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_every: Option<usize>,
    /// Write event files for `TensorBoard`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tensorboard: bool,
}

impl Config {
    fn check(&self) -> Result<(), ConfigError> {
        let most = 1_000_000_000;
        in_range(&[
            ("tasks", self.tasks, most),
            ("train-per-class", self.train_per_class.unwrap_or(1), most),
            ("test-per-class", self.test_per_class.unwrap_or(1), most),
            ("size", self.size.unwrap_or(1), 1024),
            ("test-every", self.test_every.unwrap_or(1), most),
        ])?;
        not_negative("checkpoint-minutes", self.checkpoint_minutes)?;
        self.learner.check()
    }

    /// How the data set is wanted.
    pub fn request(&self) -> Request<'_> {
        let (directory, skip_bad, threads) = (self.data.as_deref(), self.skip_bad, Some(self.learner.threads));
        Request { directory, size: self.size, classes: self.classes, skip_bad, threads, ..Request::default() }
    }

    /// How the data set is cut.
    pub fn plan(&self) -> Plan {
        let joint = self.learner.method.kind.learns_jointly();
        Plan {
            kind: if joint && self.stream == StreamKind::Blurry { StreamKind::ClassIncremental } else { self.stream },
            blur: self.blur.unwrap_or(0.0),
            task_classes: self
                .task_classes
                .as_ref()
                .map(|listed| if joint { vec![listed.concat()] } else { listed.clone() }),
            tasks: if joint { 1 } else { self.tasks },
            classes: self.classes,
            class_order: self.class_order,
            train_per_class: self.train_per_class,
            test_per_class: self.test_per_class,
            batch: self.learner.batch,
            seed: self.learner.seed,
        }
    }

    /// Epochs of each task of the plan. Joint training has one task, and as many epochs as all tasks
    /// together would have.
    pub fn epochs(&self) -> usize {
        let kind = self.learner.method.kind;
        let epochs = if kind.is_closed_form() { 1 } else { self.learner.epochs.unwrap_or(1) };
        if self.learner.method.kind.learns_jointly() { epochs * self.tasks } else { epochs }
    }

    /// A short name for the run, such as `pcr-balanced-embedded-seed0`.
    pub fn name(&self) -> String {
        let LearnerConfig { method, seed, replay, .. } = &self.learner;
        let (method, retrieval) = (method.kind, replay.retrieval);
        let retrieval = retrieval.map(|retrieval| format!("{retrieval}-")).unwrap_or_default();
        format!("{method}-{retrieval}{}-seed{seed}", self.dataset)
    }
}

/// Refuses a count that is not between 1 and its limit.
fn in_range(counts: &[(&'static str, usize, usize)]) -> Result<(), ConfigError> {
    match counts.iter().find(|(_, found, most)| !(1..=*most).contains(found)) {
        Some(&(setting, found, most)) => Err(ConfigError::Count { setting, most, found }),
        None => Ok(()),
    }
}

pub(crate) fn positive(setting: &'static str, found: f64) -> Result<(), ConfigError> {
    if found.is_finite() && found > 0.0 { Ok(()) } else { Err(ConfigError::NotPositive { setting, found }) }
}

pub(crate) fn not_negative(setting: &'static str, found: f64) -> Result<(), ConfigError> {
    if found.is_finite() && found >= 0.0 { Ok(()) } else { Err(ConfigError::Negative { setting, found }) }
}

pub(crate) fn share(setting: &'static str, found: f64) -> Result<(), ConfigError> {
    if (0.0..=1.0).contains(&found) { Ok(()) } else { Err(ConfigError::Share { setting, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        memory::PolicyKind,
        methods::MethodKind,
        probe::ScoreNorm,
        retrieval::{Ratio, RetrievalKind},
        views::Views,
    };

    fn refusal(toml: &str) -> String {
        PartialConfig::parse(toml).and_then(|settings| settings.resolve()).unwrap_err().to_string()
    }

    #[test]
    fn the_default_is_pcr_with_balanced_retrieval() {
        let config = PartialConfig::default().resolve().unwrap();
        let learner = &config.learner;
        assert_eq!((learner.method.kind, learner.replay.retrieval), (MethodKind::Pcr, Some(RetrievalKind::Balanced)));
        assert_eq!((learner.replay.ratio, config.tasks), (Some(Ratio { high: 5, low: 5 }), 5));
        assert_eq!(config.name(), "pcr-balanced-embedded-seed0");
    }

    #[test]
    fn a_resolved_config_is_an_experiment_file_that_resolves_to_itself() {
        for text in [
            "",
            "method = 'fine-tune'",
            "method = 'joint'",
            "method = 'aser'",
            "method = 'er-ace'\nhead = 'cosine'",
            "retrieval = 'mir'\nscore-norm = 'eval'\nschedule = 'step'",
            "ratio = '7:3'\nclass-order = 'natural'\nviews = 'raw'",
        ] {
            let config = PartialConfig::parse(text).unwrap().resolve().unwrap();
            let written = toml::to_string(&config).unwrap();
            assert_eq!(PartialConfig::parse(&written).unwrap().resolve().unwrap(), config, "{written}");
        }
    }

    #[test]
    fn flags_override_a_file() {
        let file = PartialConfig::parse("seed = 1\nwidth = 8").unwrap();
        let joined = file.overridden_by(&PartialConfig { seed: Some(2), ..PartialConfig::default() });
        assert_eq!((joined.seed, joined.width, joined.lr), (Some(2), Some(8), None));
    }

    #[test]
    fn flags_override_what_a_resolved_file_says_because_of_them() {
        let resolved = |text: &str| {
            PartialConfig::parse(&toml::to_string(&PartialConfig::parse(text).unwrap().resolve().unwrap()).unwrap())
                .unwrap()
        };
        let with = |file: &str, flags: &str| {
            resolved(file).overridden_by(&PartialConfig::parse(flags).unwrap()).resolve().unwrap().learner
        };
        assert_eq!(with("", "retrieval = 'mir'").replay.ratio, Some(Ratio { high: 10, low: 0 }));
        assert_eq!(with("ratio = '7:3'", "retrieved = 4").replay.ratio, Some(Ratio { high: 2, low: 2 }));
        assert_eq!(with("", "method = 'fine-tune'").replay.retrieval, None);
        assert_eq!(with("method = 'fine-tune'", "method = 'er'").replay.memory, 500);
        assert_eq!(with("", "retrieval = 'random'").replay.ratio, None);
        let aser = with("method = 'er'", "method = 'aser'").replay;
        assert_eq!((aser.retrieval, aser.memory_policy), (Some(RetrievalKind::Aser), Some(PolicyKind::Aser)));
        let er = with("method = 'aser'", "method = 'er'").replay;
        assert_eq!((er.retrieval, er.memory_policy), (Some(RetrievalKind::Balanced), Some(PolicyKind::Reservoir)));
        assert_eq!(with("method = 'pcr'", "method = 'er'").method.views, Views::Augmented);
        let kept = with("retrieval = 'mir'\nmemory-policy = 'gss'\nviews = 'raw'", "method = 'er'");
        assert_eq!(
            (kept.replay.retrieval, kept.replay.memory_policy),
            (Some(RetrievalKind::Mir), Some(PolicyKind::Gss))
        );
        assert_eq!(kept.method.views, Views::Raw);
        assert_eq!(with("score-norm = 'eval'", "retrieval = 'mir'").replay.score_norm, ScoreNorm::Eval);
    }

    #[test]
    fn the_penalty_of_ridge_is_the_one_that_help_says() {
        let said = PartialConfig::default_text("ridge").unwrap();
        assert_eq!(said, crate::methods::RIDGE.to_string());
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        assert_eq!(
            refusal("method = 'prc'"),
            "line 1: `method`: there is no method `prc`: did you mean `pcr`? choose one of fine-tune, joint, er, a-gem, der-pp, aser, er-ace, cls-er, pcr, gaussian, ncm, ridge"
        );
        assert!(refusal("dataset = 'cifar'").contains("did you mean `cifar10`"));
        assert!(refusal("retrieval = 'ballanced'").contains("did you mean `balanced`"));
        assert!(refusal("ratio = '7:4'").starts_with("the ratio 7:4 makes 11, but 10 samples are retrieved"));
        assert_eq!(refusal("lr = 1\nratio = '7'"), "line 2: `ratio`: `7` is not a ratio: write high:low, such as 5:5");
        assert!(refusal("\nmemory = 'x'").starts_with("line 2: `memory`: invalid type: string"));
        assert!(refusal("retrieval = 'mir'\nratio = '5:5'").contains("retrieval mir has no ratio"));
        assert!(refusal("method = 'fine-tune'\nretrieval = 'mir'").contains("replays nothing"));
        assert!(refusal("method = 'joint'\nmemory-policy = 'gss'").contains("replays nothing"));
        assert!(refusal("retrieval = 'memory-match'\nretrieved = 7").contains("must be even, and is 7"));
        assert!(refusal("retrieval = 'aser'\nratio = '5:5'").contains("retrieval aser has no ratio"));
        assert!(refusal("stable-alpha = 1.5").contains("`stable-alpha` must be between 0 and 1, not 1.5"));
        assert!(refusal("head = 'cosine'").contains("`head` is an option of er-ace"));
        assert_eq!(refusal("temperature = 0.0"), "`temperature` must be a positive number, not 0");
        assert_eq!(refusal("memory = 0"), "pcr replays from memory: `memory` must be at least 1");
        assert_eq!(refusal("batch = 0"), "`batch` must be between 1 and 1000000000, not 0");
        assert_eq!(refusal("test-per-class = 0"), "`test-per-class` must be between 1 and 1000000000, not 0");
        assert_eq!(refusal("width = 100000"), "`width` must be between 1 and 4096, not 100000");
        assert_eq!(refusal("lr = -1.0"), "`lr` must be a positive number, not -1");
        let huge = PartialConfig { seed: Some(u64::MAX), ..PartialConfig::default() };
        assert!(
            PartialConfig::default()
                .overridden_by(&huge)
                .resolve()
                .unwrap_err()
                .to_string()
                .contains("`seed` is too large")
        );
        assert!(refusal("candidates = 4").contains("5 of 4 candidates"));
        assert!(refusal("ratio = '18446744073709551615:1'").contains("write high:low"));
        assert!(refusal("ratio = '60:0'\nretrieved = 60").contains("60 of 50 candidates"));
        assert!(refusal("seed = 1\nlerning-rate = 1").starts_with("line 2: unknown setting `lerning-rate`"));
    }
}
