//! Custom parts, in place of those that a config names.

use std::sync::Arc;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::{
    memory::Policy,
    methods::Method,
    network::{AnyBackbone, Architecture},
    retrieval::Retrieval,
    rng::Rng,
};

/// Makes a backbone for an architecture, its weights drawn from the stream that it is given.
pub type BuildBackbone = Arc<dyn Fn(&Architecture, &mut Rng, &Device) -> AnyBackbone + Send + Sync>;

/// Custom parts, each with a name. The names go into `config.toml`, `result.json` and saved
/// models: reports tell such runs apart, and going on without the same parts is refused.
///
/// ```
/// use rehearsal::{learner::Parts, methods::Er, methods::Reduction};
///
/// let parts = Parts::new().method("summed-replay", Er { reduction: Reduction::SumOfMeans });
/// assert_eq!(parts.names().custom_method.as_deref(), Some("summed-replay"));
/// ```
#[derive(Clone, Default)]
pub struct Parts {
    names: CustomNames,
    pub(super) method: Option<Box<dyn Method>>,
    pub(super) retrieval: Option<Arc<dyn Retrieval>>,
    pub(super) policy: Option<Arc<dyn Policy>>,
    pub(super) backbone: Option<BuildBackbone>,
}

/// The names of custom parts, as settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CustomNames {
    /// In place of the method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_method: Option<String>,
    /// In place of the retrieval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_retrieval: Option<String>,
    /// In place of the memory policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_memory_policy: Option<String>,
    /// In place of the backbone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_backbone: Option<String>,
}

impl Parts {
    /// None: everything is as the config says.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a step minimises.
    pub fn method(mut self, name: &str, method: impl Method + 'static) -> Self {
        self.names.custom_method = Some(name.into());
        self.method = Some(Box::new(method));
        self
    }

    /// Which samples are replayed.
    pub fn retrieval(mut self, name: &str, retrieval: impl Retrieval + 'static) -> Self {
        self.names.custom_retrieval = Some(name.into());
        self.retrieval = Some(Arc::new(retrieval));
        self
    }

    /// Which samples stay in memory.
    pub fn memory_policy(mut self, name: &str, policy: impl Policy + 'static) -> Self {
        self.names.custom_memory_policy = Some(name.into());
        self.policy = Some(Arc::new(policy));
        self
    }

    /// What turns images into features.
    pub fn backbone<F>(mut self, name: &str, build: F) -> Self
    where
        F: Fn(&Architecture, &mut Rng, &Device) -> AnyBackbone + Send + Sync + 'static,
    {
        self.names.custom_backbone = Some(name.into());
        self.backbone = Some(Arc::new(build));
        self
    }

    /// What they are called.
    pub fn names(&self) -> &CustomNames {
        &self.names
    }
}

impl CustomNames {
    /// A part that these have and `other` lacks, or has under another name: its kind and both names.
    pub(crate) fn difference<'a>(&'a self, other: &'a Self) -> Option<(&'static str, &'a str, &'a str)> {
        let pairs = [
            ("method", &self.custom_method, &other.custom_method),
            ("retrieval", &self.custom_retrieval, &other.custom_retrieval),
            ("memory policy", &self.custom_memory_policy, &other.custom_memory_policy),
            ("backbone", &self.custom_backbone, &other.custom_backbone),
        ];
        let differs = |(kind, a, b): (&'static str, &'a Option<String>, &'a Option<String>)| {
            let name = |name: &'a Option<String>| name.as_deref().unwrap_or("that of the config");
            (a != b).then(|| (kind, name(a), name(b)))
        };
        pairs.into_iter().find_map(differs)
    }
}
