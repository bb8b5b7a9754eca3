//! Settings → config: what depends on more than one setting, and what goes together.

use std::path::{Path, PathBuf};

use rehearsal_files::threads::cores;

use super::{Combination, Config, ConfigError, LearnerConfig, PartialConfig, partial::Completed};
use crate::{
    learner::CustomNames,
    memory::{GssOptions, PolicyKind},
    methods::{ClsErOptions, DerPpOptions, ErAceOptions, MethodOptions},
    optimizer::OptimizerConfig,
    retrieval::{Ratio, RetrievalKind},
    shapley::ShapleyOptions,
    stream::StreamKind,
};

impl PartialConfig {
    /// Completes the settings with defaults and refuses what makes no sense.
    ///
    /// # Errors
    /// A number is out of range, or two things do not go together.
    pub fn resolve(&self) -> Result<Config, ConfigError> {
        let learner = self.learner()?;
        let given = self.clone().complete();
        // What only runs write is no part of a config.
        let _ = (&given.version, &given.data_sha256, &given.incomplete_data);
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
            learner: LearnerConfig { epochs: Some(given.epochs), ..learner },
            recalibrate: given.recalibrate,
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
            epochs: self.epochs,
            memory: if method.replays() { given.memory } else { 0 },
            batch: given.batch,
            retrieved: given.retrieved,
            candidates: given.candidates,
            optimizer: OptimizerConfig {
                lr: given.lr,
                momentum: given.momentum,
                weight_decay: given.weight_decay,
                schedule: given.schedule,
            },
            width: given.width,
            seed: given.seed,
            threads: given.threads.unwrap_or_else(cores),
            device: given.device,
            backbone: given.backbone,
            freeze_backbone: false,
            kernels: given.kernels,
            gss: GssOptions { groups: given.gss_groups, group_size: given.gss_group_size },
            shapley: ShapleyOptions { score: given.shapley_score, neighbours: given.shapley_neighbours },
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

/// The path from the root, so that a run can be repeated and resumed from anywhere.
fn absolute(path: &Path) -> Result<PathBuf, ConfigError> {
    let wrong = |why: String| ConfigError::Path { path: path.to_owned(), why };
    let absolute = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
    match absolute.to_str() {
        Some(_) => Ok(absolute),
        None => Err(wrong("it is not UTF-8, and no file of settings can hold it".into())),
    }
}
