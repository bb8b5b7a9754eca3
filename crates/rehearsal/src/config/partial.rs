//! The settings that a user gives: everything is optional. What they are is in the table of
//! `rehearsal-runs`.

use std::{
    fmt::Display,
    path::{Path, PathBuf},
    str::FromStr,
};

use rehearsal_runs::{Setting, settings_table};
use serde::{Deserialize, Serialize};

use super::{Combination, Config, ConfigError, DeviceKind, LearnerConfig, Offer, ScoreNorm};
use crate::{
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
    views::Views,
};

/// The type of a setting whose default is filled in: a value where the table has one.
macro_rules! completed_type {
    (is $type:ty) => { $type };
    ($other:ident $type:ty) => { Option<$type> };
}

/// A setting, or its default where the table has one.
macro_rules! completed {
    ($given:expr, is($value:expr)) => {
        $given.unwrap_or_else(|| $value)
    };
    ($given:expr, $other:ident($($words:literal)?)) => {
        $given
    };
}

/// What help says about a default.
macro_rules! default_text {
    ($type:ty, is($value:expr)) => {{
        let value: $type = $value;
        plain(toml::Value::try_from(value).ok()?)
    }};
    ($type:ty, by($words:literal)) => {
        $words.to_owned()
    };
    ($type:ty, none()) => {
        return None
    };
}

/// Reads a setting that is a word, a number or a path.
macro_rules! read_text {
    (flag $given:expr, $name:expr, $text:expr) => {
        $given = Some(read($name, $text)?)
    };
    (switch $given:expr, $name:expr, $text:expr) => {
        $given = Some(read($name, $text)?)
    };
    ($other:ident $given:expr, $name:expr, $text:expr) => {
        return Err(only_in_files($name))
    };
}

macro_rules! settings {
    ($(
        $name:ident: $type:ty = $default:ident($($value:tt)*), $role:ident,
        $place:ident($($words:literal),*), $help:literal;
    )*) => {
        /// Settings as a user gives them, in a file or on the command line: everything is optional.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub struct PartialConfig {
            $(#[doc = $help] pub $name: Option<$type>,)*
        }

        /// The same with the defaults that depend on nothing.
        #[expect(dead_code, reason = "what only runs write has no default")]
        struct Completed {
            $($name: completed_type!($default $type),)*
        }

        impl PartialConfig {
            /// What is given here, else what is given there.
            fn or(self, other: Self) -> Self {
                Self { $($name: self.$name.or(other.$name),)* }
            }

            fn complete(self) -> Completed {
                Completed { $($name: completed!(self.$name, $default($($value)*)),)* }
            }

            /// Sets a setting from the text that stands for it on a command line: a word, a number,
            /// a path.
            ///
            /// # Errors
            /// It is no such setting, or cannot be that.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), ConfigError> {
                match name.replace('-', "_").as_str() {
                    $(stringify!($name) => read_text!($place self.$name, name, text),)*
                    _ => return Err(only_in_files(name)),
                }
                Ok(())
            }

            /// What help says about the default of a setting; nothing if it has none.
            pub fn default_text(name: &str) -> Option<String> {
                Some(match name.replace('-', "_").as_str() {
                    $(stringify!($name) => default_text!($type, $default($($value)*)),)*
                    _ => return None,
                })
            }
        }
    };
}
settings_table!(settings);

impl PartialConfig {
    /// Reads an experiment file.
    ///
    /// # Errors
    /// It is not TOML, has a key that is not known, or a value that cannot be.
    pub fn parse(toml: &str) -> Result<Self, ConfigError> {
        toml::from_str(toml).map_err(|error: toml::de::Error| {
            let line = 1 + error.span().map_or(0, |span| toml[..span.start].matches('\n').count());
            // Of a setting that does not exist the message says the name.
            let setting = toml::from_str(toml).ok().and_then(|table| unreadable(&table));
            let setting = setting.filter(|name| Setting::find(name).is_some());
            ConfigError::Unreadable { line: Some(line), setting, why: error.message().trim().to_owned() }
        })
    }

    /// Settings that are already read.
    ///
    /// # Errors
    /// A key is not known, or a value cannot be.
    pub fn from_settings(settings: &toml::Table) -> Result<Self, ConfigError> {
        settings.clone().try_into().map_err(|error: toml::de::Error| ConfigError::Unreadable {
            line: None,
            setting: unreadable(settings),
            why: error.message().trim().to_owned(),
        })
    }

    /// What both say; where they differ, `other`. What the file says only because of a value that
    /// `other` replaces goes with it: the ratio with the retrieval, a method's defaults with the
    /// method, the fingerprint with the data set.
    pub fn overridden_by(&self, other: &Self) -> Self {
        let mut base = self.clone();
        if other.retrieval.is_some() || other.retrieved.is_some() {
            base.ratio = None;
        }
        if let Some(method) = other.method {
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
        other.clone().or(base)
    }

    /// Drops the defaults of the method named here, where another takes its place.
    fn forget_what_goes_with_the_method(&mut self, next: MethodKind) {
        let own = self.clone().complete().method;
        if !next.replays() || own != next && self.retrieval == Some(own.default_retrieval()) {
            (self.retrieval, self.ratio) = (None, None);
        }
        if !next.replays() || own != next && self.memory_policy == Some(own.default_policy()) {
            self.memory_policy = None;
        }
        if own != next && self.views == Some(own.default_views()) {
            self.views = None;
        }
        self.memory = self.memory.filter(|&memory| memory > 0);
    }

    /// The same with the names of parts of one's own.
    pub(crate) fn with_names(&self, names: &CustomNames) -> Self {
        let CustomNames { custom_method, custom_retrieval, custom_memory_policy, custom_backbone } = names.clone();
        Self { custom_method, custom_retrieval, custom_memory_policy, custom_backbone, ..self.clone() }
    }

    /// Completes the settings with defaults and refuses what makes no sense.
    ///
    /// # Errors
    /// A number is out of range, or two things do not go together.
    pub fn resolve(&self) -> Result<Config, ConfigError> {
        let learner = self.learner()?;
        let given = self.clone().complete();
        let config = Config {
            tasks: given.task_count()?,
            blur: given.blur()?,
            dataset: given.dataset,
            data: given.data.as_deref().map(absolute).transpose()?,
            size: given.size,
            skip_bad: given.skip_bad,
            stream: given.stream,
            task_classes: given.task_classes,
            classes: given.classes,
            class_order: given.class_order,
            train_per_class: given.train_per_class,
            test_per_class: given.test_per_class,
            learner,
            checkpoint_minutes: given.checkpoint_minutes,
            diagnostics: given.diagnostics,
            tensorboard: given.tensorboard,
        };
        config.check()?;
        Ok(config)
    }

    /// The part of it that concerns the learner, completed with defaults.
    ///
    /// # Errors
    /// Two things do not go together.
    pub fn learner(&self) -> Result<LearnerConfig, ConfigError> {
        let given = self.clone().complete();
        let method = given.method;
        let retrieval = given.retrieval()?;
        Ok(LearnerConfig {
            method,
            retrieval,
            ratio: given.ratio(retrieval)?,
            memory_policy: given.memory_policy()?,
            method_options: given.method_options(),
            epochs: given.epochs,
            memory: if method.replays() { given.memory } else { 0 },
            batch: given.batch,
            retrieved: given.retrieved,
            candidates: given.candidates,
            optimizer: OptimizerConfig {
                lr: given.lr,
                momentum: given.momentum,
                weight_decay: given.weight_decay,
                schedule: given.schedule,
                lr_milestones: given.lr_milestones,
                lr_decay: given.lr_decay,
            },
            width: given.width,
            seed: given.seed,
            threads: given.threads.unwrap_or_else(available_threads),
            device: given.device,
            backbone: given.backbone,
            kernels: given.kernels,
            gss: GssOptions { groups: given.gss_groups, group_size: given.gss_group_size },
            shapley: ShapleyOptions {
                score: given.shapley_score,
                neighbours: given.shapley_neighbours,
                per_class: given.shapley_per_class,
            },
            match_warm_up: given.match_warm_up,
            views: given.views.unwrap_or(method.default_views()),
            score_norm: given.score_norm,
            offer: given.offer,
            custom: CustomNames {
                custom_method: given.custom_method,
                custom_retrieval: given.custom_retrieval,
                custom_memory_policy: given.custom_memory_policy,
                custom_backbone: given.custom_backbone,
            },
        })
    }
}

/// What depends on more than one setting.
impl Completed {
    fn method_options(&self) -> MethodOptions {
        MethodOptions {
            temperature: self.temperature,
            denominator: self.denominator,
            reduction: self.reduction,
            der_pp: DerPpOptions { alpha: self.der_alpha, beta: self.der_beta },
            er_ace: ErAceOptions { task_free: self.task_free, head: self.head },
            cls_er: ClsErOptions {
                consistency: self.consistency,
                stable_frequency: self.stable_frequency,
                stable_alpha: self.stable_alpha,
                plastic_frequency: self.plastic_frequency,
                plastic_alpha: self.plastic_alpha,
            },
        }
    }

    fn blur(&self) -> Result<Option<f64>, ConfigError> {
        match (self.stream, self.blur) {
            (StreamKind::Blurry, None) => Ok(Some(0.1)),
            (StreamKind::Blurry, Some(found)) if !(0.0..=1.0).contains(&found) => {
                Err(ConfigError::Share { setting: "blur", found })
            }
            (StreamKind::Blurry, blur) | (_, blur @ None) => Ok(blur),
            (_, Some(_)) => Err(ConfigError::Blur),
        }
    }

    fn task_count(&self) -> Result<usize, ConfigError> {
        let Some(listed) = self.task_classes.as_ref().map(Vec::len) else {
            let is_by_domain = self.stream == StreamKind::DomainIncremental;
            let domains = || is_by_domain.then_some(self.dataset.domains()).flatten();
            return Ok(self.tasks.or_else(domains).unwrap_or_else(|| self.dataset.default_tasks()));
        };
        match self.tasks {
            _ if self.stream == StreamKind::DomainIncremental => Err(ConfigError::TaskClassesOfDomains),
            Some(tasks) if tasks != listed => Err(ConfigError::TaskCount { tasks, listed }),
            _ => Ok(listed),
        }
    }

    fn retrieval(&self) -> Result<Option<RetrievalKind>, ConfigError> {
        let Self { method, retrieval, .. } = *self;
        Combination { method, policy: None, retrieval }.check()?;
        Ok(method.replays().then(|| retrieval.unwrap_or(method.default_retrieval())))
    }

    fn memory_policy(&self) -> Result<Option<PolicyKind>, ConfigError> {
        let Self { method, memory_policy: policy, .. } = *self;
        Combination { method, policy, retrieval: None }.check()?;
        Ok(method.replays().then(|| policy.unwrap_or(method.default_policy())))
    }

    fn ratio(&self, retrieval: Option<RetrievalKind>) -> Result<Option<Ratio>, ConfigError> {
        let retrieved = self.retrieved;
        let default = |retrieval: RetrievalKind| retrieval.default_ratio(retrieved);
        match (self.ratio, retrieval) {
            (None, retrieval) => Ok(retrieval.and_then(default)),
            (Some(ratio), None) => {
                let value = ratio.to_string();
                Err(ConfigError::ReplaysNothing { method: self.method, setting: "ratio", value })
            }
            (Some(ratio), Some(retrieval))
                if retrieval != RetrievalKind::Balanced && Some(ratio) != default(retrieval) =>
            {
                Err(ConfigError::NoRatio { retrieval, ratio })
            }
            (Some(ratio), _) if ratio.total() != retrieved => Err(ConfigError::RatioTotal { ratio, retrieved }),
            (ratio, _) => Ok(ratio),
        }
    }
}

/// A setting whose value cannot be read, or that does not exist.
fn unreadable(settings: &toml::Table) -> Option<String> {
    let alone = |(name, value): &(&String, &toml::Value)| {
        let alone: toml::Table = [((*name).clone(), (*value).clone())].into_iter().collect();
        alone.try_into::<PartialConfig>().is_err()
    };
    settings.iter().find(alone).map(|(name, _)| name.clone())
}

fn read<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, ConfigError> {
    text.parse().map_err(|error: T::Err| {
        let why = error.to_string();
        // Errors of numbers do not say what was no number.
        let why = if why.contains(text) { why } else { format!("`{text}` cannot be read: {why}") };
        ConfigError::Unreadable { line: None, setting: Some(name.to_owned()), why }
    })
}

fn only_in_files(name: &str) -> ConfigError {
    let why = "there is no such setting, or only in files".to_owned();
    ConfigError::Unreadable { line: None, setting: Some(name.to_owned()), why }
}

/// As text, without quotes.
fn plain(value: toml::Value) -> String {
    match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The path from the root, so that a run can be repeated and resumed from anywhere.
fn absolute(path: &Path) -> Result<PathBuf, ConfigError> {
    let wrong = |why: String| ConfigError::Path { path: path.to_owned(), why };
    let absolute = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
    match absolute.to_str() {
        Some(_) => Ok(absolute),
        None => Err(wrong("it is not UTF-8, and no file of settings can hold it".into())),
    }
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
