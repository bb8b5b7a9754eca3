//! Settings → config: what depends on more than one setting, and what goes together.

use std::path::{Path, PathBuf};

use rehearsal_files::threads::cores;

use super::{Config, ConfigError, LearnerConfig, NetworkConfig, PartialConfig, ReplayConfig, partial::Completed};
use crate::{
    learner::CustomNames,
    memory::GssOptions,
    methods::{ClsErOptions, DerPpOptions, ErAceOptions, MethodConfig},
    optimizer::OptimizerConfig,
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
        // Only runs write these.
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
            test_every: given.test_every,
            tensorboard: given.tensorboard,
        };
        config.check()?;
        Ok(config)
    }

    /// The part of it that concerns the learner, completed with defaults.
    ///
    /// # Errors
    /// A number is out of range, or two settings do not go together.
    pub fn learner(&self) -> Result<LearnerConfig, ConfigError> {
        let given = self.clone().complete();
        let replay = given.replay();
        let config = LearnerConfig {
            method: given.method_config(),
            replay,
            optimizer: OptimizerConfig {
                lr: given.lr,
                momentum: given.momentum,
                weight_decay: given.weight_decay,
                schedule: given.schedule,
            },
            network: NetworkConfig {
                backbone: given.backbone,
                width: given.width,
                hidden: given.hidden,
                freeze_backbone: false,
                kernels: given.kernels,
            },
            epochs: self.epochs,
            batch: given.batch,
            seed: given.seed,
            threads: given.threads.unwrap_or_else(cores),
            device: given.device,
            custom: CustomNames {
                custom_method: given.custom_method,
                custom_retrieval: given.custom_retrieval,
                custom_memory_policy: given.custom_memory_policy,
                custom_backbone: given.custom_backbone,
            },
        };
        config.check()?;
        Ok(config)
    }
}

/// What depends on more than one setting.
impl Completed {
    fn method_config(&self) -> MethodConfig {
        MethodConfig {
            kind: self.method,
            views: self.views.unwrap_or(self.method.default_views()),
            temperature: self.temperature,
            denominator: self.denominator,
            reduction: self.reduction,
            ridge: self.ridge,
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

    /// A method that replays gets its own defaults; another has only what was given, which
    /// [`LearnerConfig::check`] refuses.
    fn replay(&self) -> ReplayConfig {
        let Self { method, retrieval, memory_policy, retrieved, .. } = *self;
        let replays = method.replays();
        let retrieval = retrieval.or_else(|| replays.then(|| method.default_retrieval()));
        ReplayConfig {
            retrieval,
            ratio: self.ratio.or_else(|| retrieval.and_then(|retrieval| retrieval.default_ratio(retrieved))),
            memory_policy: memory_policy.or_else(|| replays.then(|| method.default_policy())),
            memory: if replays { self.memory } else { 0 },
            retrieved,
            candidates: self.candidates,
            score_norm: self.score_norm,
            insertion: self.offer,
            gss: GssOptions { groups: self.gss_groups, group_size: self.gss_group_size },
            shapley: ShapleyOptions { score: self.shapley_score, neighbours: self.shapley_neighbours },
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
