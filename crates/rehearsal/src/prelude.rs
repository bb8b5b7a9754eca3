//! The types that most programs need: `use rehearsal::prelude::*`.

pub use crate::{
    config::{ConfigError, LearnerConfig, NetworkConfig, PartialConfig, ReplayConfig},
    device::DeviceName,
    experiment::{Experiment, ExperimentError, Outcome},
    learner::{
        Fit, FitOptions, Learner, LearnerBuilder, LearnerError, Parts, Prediction, Probabilities, Samples, Step,
    },
    memory::PolicyKind,
    methods::{MethodConfig, MethodKind},
    network::BackboneKind,
    observer::{Observer, StepEvent},
    optimizer::{OptimizerConfig, Schedule},
    retrieval::{Ratio, RetrievalKind},
    sample::{Class, Image, ImageShape, Sample},
};
