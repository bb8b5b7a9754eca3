//! The settings that a user gives: everything is optional, names are not yet looked up.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Combination, Config, ConfigError, DeviceKind, LearnerConfig, Offer, ScoreNorm, refuse};
use crate::{
    choice::Choice,
    datasets::{Chain, Dataset},
    learner::CustomNames,
    losses::Denominator,
    memory::{GssOptions, PolicyKind},
    methods::{AceHead, ClsErOptions, DerPpOptions, ErAceOptions, MethodKind, MethodOptions, Reduction},
    network::{BackboneKind, Kernels},
    optimizer::{OptimizerConfig, Schedule},
    retrieval::{Ratio, RetrievalKind},
    shapley::{ShapleyOptions, ShapleyScore},
    stream::{ClassOrder, StreamKind},
};

/// Settings as a user gives them, in a file or on the command line: everything is optional, names are not yet
/// looked up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
#[allow(missing_docs, reason = "the fields are those of Config")]
pub struct PartialConfig {
    pub dataset: Option<String>,
    pub data: Option<PathBuf>,
    pub size: Option<usize>,
    pub skip_bad: Option<bool>,
    pub stream: Option<String>,
    pub blur: Option<f64>,
    pub task_classes: Option<Vec<Vec<String>>>,
    pub method: Option<String>,
    pub retrieval: Option<String>,
    pub ratio: Option<String>,
    pub tasks: Option<usize>,
    pub classes: Option<usize>,
    pub class_order: Option<String>,
    pub train_per_class: Option<usize>,
    pub test_per_class: Option<usize>,
    pub epochs: Option<usize>,
    pub memory: Option<usize>,
    pub batch: Option<usize>,
    pub retrieved: Option<usize>,
    pub candidates: Option<usize>,
    pub lr: Option<f64>,
    pub momentum: Option<f64>,
    pub weight_decay: Option<f64>,
    pub schedule: Option<String>,
    pub lr_milestones: Option<Vec<f64>>,
    pub lr_decay: Option<f64>,
    pub width: Option<usize>,
    pub seed: Option<u64>,
    pub threads: Option<usize>,
    pub device: Option<String>,
    pub backbone: Option<String>,
    pub kernels: Option<String>,
    pub memory_policy: Option<String>,
    pub temperature: Option<f64>,
    pub denominator: Option<String>,
    pub reduction: Option<String>,
    pub der_alpha: Option<f64>,
    pub der_beta: Option<f64>,
    pub task_free: Option<bool>,
    pub head: Option<String>,
    pub consistency: Option<f64>,
    pub stable_frequency: Option<f64>,
    pub stable_alpha: Option<f64>,
    pub plastic_frequency: Option<f64>,
    pub plastic_alpha: Option<f64>,
    pub gss_groups: Option<usize>,
    pub gss_group_size: Option<usize>,
    pub shapley_score: Option<String>,
    pub shapley_neighbours: Option<usize>,
    pub shapley_per_class: Option<usize>,
    pub match_warm_up: Option<u64>,
    pub views: Option<String>,
    pub score_norm: Option<String>,
    pub offer: Option<String>,
    pub custom_method: Option<String>,
    pub custom_retrieval: Option<String>,
    pub custom_memory_policy: Option<String>,
    pub custom_backbone: Option<String>,
    pub checkpoint_minutes: Option<f64>,
    pub diagnostics: Option<bool>,
    pub tensorboard: Option<bool>,
    /// Written into a run's own `config.toml`: which version made it.
    pub version: Option<String>,
    /// Written into a run's own `config.toml`: the data it was made with. Other data are refused.
    pub data_sha256: Option<String>,
}

impl PartialConfig {
    /// Reads an experiment file.
    ///
    /// # Errors
    /// It is not TOML, or has a key that is not known.
    pub fn parse(toml: &str) -> Result<Self, ConfigError> {
        toml::from_str(toml).map_err(|error| {
            let line = 1 + error.span().map_or(0, |span| toml[..span.start].matches('\n').count());
            ConfigError(format!("line {line}: {}", error.message()))
        })
    }

    /// What settings say that are already read.
    ///
    /// # Errors
    /// A key is not known, or a value is of another kind.
    pub fn from_settings(settings: &toml::Table) -> Result<Self, ConfigError> {
        let read = |settings: toml::Table| settings.try_into::<Self>();
        read(settings.clone()).map_err(|error| {
            let alone = |(name, value): (&String, &toml::Value)| {
                read([(name.clone(), value.clone())].into_iter().collect()).is_err()
            };
            let name = settings.iter().find(|entry| alone(*entry)).map(|(name, _)| format!("`{name}`: "));
            ConfigError(format!("{}{}", name.unwrap_or_default(), error.message().trim()))
        })
    }

    /// What both say; where they differ, `other`. What the file says only because of a value that `other` replaces goes with it: the ratio
    /// with the retrieval, a method's defaults with the method, the fingerprint with the data set.
    pub fn overridden_by(&self, other: &Self) -> Self {
        let mut base = self.clone();
        if other.retrieval.is_some() || other.retrieved.is_some() {
            base.ratio = None;
        }
        if let Some(Ok(method)) = other.method.as_deref().map(MethodKind::from_name) {
            base.forget_what_goes_with_the_method(method);
        }
        if other.dataset.is_some() {
            (base.data_sha256, base.task_classes) = (None, None);
        }
        if other.tasks.is_some() {
            base.task_classes = None;
        }
        if other.task_classes.is_some() {
            base.tasks = None;
        }
        if other.stream.is_some() {
            base.blur = None;
        }
        macro_rules! join {
            ($($field:ident),+ $(,)?) => { Self { $($field: other.$field.clone().or(base.$field)),+ } };
        }
        join! {
            dataset, data, size, skip_bad, stream, blur, task_classes, method, retrieval, ratio, tasks, classes, class_order, train_per_class, test_per_class, epochs, memory, batch,
            retrieved, candidates, lr, momentum, weight_decay, schedule, lr_milestones, lr_decay, width, seed, threads, device, backbone, kernels, memory_policy, temperature, denominator, reduction,
            der_alpha, der_beta, task_free, head, consistency, stable_frequency, stable_alpha, plastic_frequency, plastic_alpha,
            gss_groups, gss_group_size, shapley_score, shapley_neighbours, shapley_per_class, match_warm_up,
            views, score_norm, offer, custom_method, custom_retrieval, custom_memory_policy, custom_backbone, checkpoint_minutes, diagnostics, tensorboard, version, data_sha256,
        }
    }

    /// The same with the names of parts of one's own.
    pub(crate) fn with_names(&self, names: &CustomNames) -> Self {
        let CustomNames { custom_method, custom_retrieval, custom_memory_policy, custom_backbone } = names.clone();
        Self { custom_method, custom_retrieval, custom_memory_policy, custom_backbone, ..self.clone() }
    }

    /// Completes the settings with defaults and refuses what makes no sense.
    ///
    /// # Errors
    /// A name is unknown, a number is out of range, or two things do not go together.
    pub fn resolve(&self) -> Result<Config, ConfigError> {
        let dataset = self.dataset()?;
        let stream = choose(self.stream.as_deref(), StreamKind::ClassIncremental)?;
        let config = Config {
            dataset: dataset.clone(),
            data: self.data.as_deref().map(absolute).transpose()?,
            size: self.size,
            skip_bad: self.skip_bad.unwrap_or(false),
            stream,
            blur: self.blur(stream)?,
            task_classes: self.task_classes.clone(),
            tasks: self.task_count(&dataset, stream)?,
            classes: self.classes,
            class_order: choose(self.class_order.as_deref(), ClassOrder::Seeded)?,
            train_per_class: self.train_per_class,
            test_per_class: self.test_per_class,
            learner: self.learner()?,
            checkpoint_minutes: self.checkpoint_minutes.unwrap_or(10.0),
            diagnostics: self.diagnostics.unwrap_or(false),
            tensorboard: self.tensorboard.unwrap_or(false),
        };
        config.check()?;
        Ok(config)
    }

    /// The part of it that concerns the learner, completed with defaults.
    ///
    /// # Errors
    /// A name is unknown, or two things do not go together.
    pub fn learner(&self) -> Result<LearnerConfig, ConfigError> {
        let method = choose(self.method.as_deref(), MethodKind::Pcr)?;
        let retrieved = self.retrieved.unwrap_or(10);
        let retrieval = self.retrieval(method)?;
        Ok(LearnerConfig {
            method,
            retrieval,
            ratio: self.ratio(retrieval, retrieved)?,
            memory_policy: self.memory_policy(method)?,
            epochs: self.epochs.unwrap_or(1),
            memory: if method.replays() { self.memory.unwrap_or(500) } else { 0 },
            batch: self.batch.unwrap_or(10),
            retrieved,
            candidates: self.candidates.unwrap_or(50),
            optimizer: OptimizerConfig {
                lr: self.lr.unwrap_or(0.1),
                momentum: self.momentum.unwrap_or(0.0),
                weight_decay: self.weight_decay.unwrap_or(0.0),
                schedule: choose(self.schedule.as_deref(), Schedule::Constant)?,
                lr_milestones: self.lr_milestones.clone().unwrap_or_else(|| vec![0.5, 0.75]),
                lr_decay: self.lr_decay.unwrap_or(0.1),
            },
            width: self.width.unwrap_or(20),
            seed: self.seed.unwrap_or(0),
            threads: self.threads.unwrap_or_else(available_threads),
            device: choose(self.device.as_deref(), DeviceKind::Cpu)?,
            backbone: choose(self.backbone.as_deref(), BackboneKind::ResNet18)?,
            kernels: choose(self.kernels.as_deref(), Kernels::Winograd)?,
            method_options: self.method_options()?,
            gss: GssOptions { groups: self.gss_groups.unwrap_or(10), group_size: self.gss_group_size.unwrap_or(10) },
            shapley: ShapleyOptions {
                score: choose(self.shapley_score.as_deref(), ShapleyScore::Asvm)?,
                neighbours: self.shapley_neighbours.unwrap_or(3),
                per_class: self.shapley_per_class.unwrap_or(2),
            },
            match_warm_up: self.match_warm_up.unwrap_or(40),
            views: choose(self.views.as_deref(), method.default_views())?,
            score_norm: choose(self.score_norm.as_deref(), ScoreNorm::Batch)?,
            offer: choose(self.offer.as_deref(), Offer::EveryEpoch)?,
            custom: CustomNames {
                custom_method: self.custom_method.clone(),
                custom_retrieval: self.custom_retrieval.clone(),
                custom_memory_policy: self.custom_memory_policy.clone(),
                custom_backbone: self.custom_backbone.clone(),
            },
        })
    }

    /// Drops the defaults of the method named here, where another takes its place.
    fn forget_what_goes_with_the_method(&mut self, next: MethodKind) {
        let Ok(own) = choose(self.method.as_deref(), MethodKind::Pcr) else { return };
        let is = |setting: &Option<String>, name: &str| setting.as_deref() == Some(name);
        if !next.replays() || own != next && is(&self.retrieval, own.default_retrieval().name()) {
            (self.retrieval, self.ratio) = (None, None);
        }
        if !next.replays() || own != next && is(&self.memory_policy, own.default_policy().name()) {
            self.memory_policy = None;
        }
        if own != next && is(&self.views, own.default_views().name()) {
            self.views = None;
        }
        self.memory = self.memory.filter(|&memory| memory > 0);
    }

    fn method_options(&self) -> Result<MethodOptions, ConfigError> {
        Ok(MethodOptions {
            temperature: self.temperature.unwrap_or(0.09),
            denominator: choose(self.denominator.as_deref(), Denominator::Multiset)?,
            reduction: choose(self.reduction.as_deref(), Reduction::Mean)?,
            der_pp: DerPpOptions { alpha: self.der_alpha.unwrap_or(0.5), beta: self.der_beta.unwrap_or(0.5) },
            er_ace: ErAceOptions {
                task_free: self.task_free.unwrap_or(false),
                head: choose(self.head.as_deref(), AceHead::Linear)?,
            },
            cls_er: ClsErOptions {
                consistency: self.consistency.unwrap_or(0.1),
                stable_frequency: self.stable_frequency.unwrap_or(0.7),
                stable_alpha: self.stable_alpha.unwrap_or(0.999),
                plastic_frequency: self.plastic_frequency.unwrap_or(0.9),
                plastic_alpha: self.plastic_alpha.unwrap_or(0.999),
            },
        })
    }

    fn dataset(&self) -> Result<Chain, ConfigError> {
        let chain = self.dataset.as_deref().map_or(Ok(Dataset::Embedded.into()), str::parse::<Chain>);
        chain.map_err(|error| ConfigError(error.to_string()))
    }

    fn blur(&self, stream: StreamKind) -> Result<Option<f64>, ConfigError> {
        match (stream, self.blur) {
            (StreamKind::Blurry, None) => Ok(Some(0.1)),
            (StreamKind::Blurry, Some(blur)) if !(0.0..=1.0).contains(&blur) => {
                refuse(format!("`blur` is a share between 0 and 1, not {blur}"))
            }
            (StreamKind::Blurry, blur) | (_, blur @ None) => Ok(blur),
            (_, Some(_)) => refuse("`blur` is for `stream = \"blurry\"`".into()),
        }
    }

    fn task_count(&self, dataset: &Chain, stream: StreamKind) -> Result<usize, ConfigError> {
        let Some(listed) = &self.task_classes else {
            let domains = || (stream == StreamKind::DomainIncremental).then_some(dataset.domains()).flatten();
            return Ok(self.tasks.or_else(domains).unwrap_or_else(|| dataset.default_tasks()));
        };
        match self.tasks {
            _ if stream == StreamKind::DomainIncremental => {
                refuse("in a domain-incremental stream every task has every class: leave out `task-classes`".into())
            }
            Some(tasks) if tasks != listed.len() => {
                refuse(format!("`tasks` is {tasks}, but `task-classes` lists {}: leave out one of them", listed.len()))
            }
            _ => Ok(listed.len()),
        }
    }

    fn retrieval(&self, method: MethodKind) -> Result<Option<RetrievalKind>, ConfigError> {
        let named: Option<RetrievalKind> = self.retrieval.as_deref().map(named).transpose()?;
        Combination { method, policy: None, retrieval: named }.check()?;
        Ok(method.replays().then(|| named.unwrap_or(method.default_retrieval())))
    }

    fn memory_policy(&self, method: MethodKind) -> Result<Option<PolicyKind>, ConfigError> {
        let named: Option<PolicyKind> = self.memory_policy.as_deref().map(named).transpose()?;
        Combination { method, policy: named, retrieval: None }.check()?;
        Ok(method.replays().then(|| named.unwrap_or(method.default_policy())))
    }

    fn ratio(&self, retrieval: Option<RetrievalKind>, retrieved: usize) -> Result<Option<Ratio>, ConfigError> {
        let Some(text) = &self.ratio else {
            return Ok(retrieval.and_then(|retrieval| retrieval.default_ratio(retrieved)));
        };
        let ratio: Ratio = text.parse().map_err(ConfigError)?;
        match retrieval {
            None => refuse("a method without memory retrieves nothing: `--ratio` cannot be used with it".into()),
            Some(kind) if kind != RetrievalKind::Balanced && Some(ratio) != kind.default_ratio(retrieved) => {
                refuse(format!("retrieval {kind} has no ratio: use `--retrieval balanced --ratio {ratio}`"))
            }
            Some(_) if ratio.total() != retrieved => refuse(format!(
                "the ratio {ratio} makes {}, but {retrieved} samples are retrieved per step: change `--ratio` or `--retrieved`",
                ratio.total()
            )),
            Some(_) => Ok(Some(ratio)),
        }
    }
}

fn choose<C: Choice>(name: Option<&str>, default: C) -> Result<C, ConfigError> {
    name.map_or(Ok(default), named)
}

fn named<C: Choice>(name: &str) -> Result<C, ConfigError> {
    C::from_name(name).map_err(|error| ConfigError(error.to_string()))
}

/// The path from the root, so that a run can be repeated and resumed from anywhere.
fn absolute(path: &Path) -> Result<PathBuf, ConfigError> {
    let absolute =
        std::path::absolute(path).map_err(|error| ConfigError(format!("{} is no path: {error}", path.display())))?;
    match absolute.to_str() {
        Some(_) => Ok(absolute),
        None => refuse(format!("{} is not UTF-8 and cannot be written into a file of settings", path.display())),
    }
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
