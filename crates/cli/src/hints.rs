//! What to do about an error: libraries say what is wrong, the command line says what to type.

use anyhow::Error;
use rehearsal::{
    config::ConfigError,
    device::{DeviceError, DeviceKind},
    experiment::ExperimentError,
    learner::LearnerError,
};
use rehearsal_model::ModelError;

use crate::commands::grid;

/// The hint for an error, where there is one.
pub fn hint(error: &Error) -> Option<String> {
    device_error(error).and_then(of_device).or_else(|| grid::hint(error).map(str::to_owned))
}

fn of_device(error: &DeviceError) -> Option<String> {
    let feature = match error {
        DeviceError::NotBuilt(kind) => *kind,
        DeviceError::Unknown(_) if !DeviceKind::ALL.into_iter().skip(1).any(DeviceKind::is_built) => DeviceKind::Wgpu,
        _ => return None,
    };
    Some(format!("for a GPU, build it with `cargo install --path crates/cli --features {feature}`"))
}

fn device_error(error: &Error) -> Option<&DeviceError> {
    error
        .downcast_ref()
        .or_else(|| error.downcast_ref().and_then(of_config))
        .or_else(|| error.downcast_ref().and_then(of_experiment))
        .or_else(|| error.downcast_ref().and_then(of_learner))
        .or_else(|| error.downcast_ref().and_then(of_model))
}

fn of_config(error: &ConfigError) -> Option<&DeviceError> {
    if let ConfigError::Device(error) = error { Some(error) } else { None }
}

fn of_learner(error: &LearnerError) -> Option<&DeviceError> {
    match error {
        LearnerError::Device(error) => Some(error),
        LearnerError::Config(error) => of_config(error),
        _ => None,
    }
}

fn of_model(error: &ModelError) -> Option<&DeviceError> {
    if let ModelError::Learner(error) = error { of_learner(error) } else { None }
}

fn of_experiment(error: &ExperimentError) -> Option<&DeviceError> {
    match error {
        ExperimentError::Refused(error) => of_config(error),
        ExperimentError::Learner(error) => of_learner(error),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_was_not_built_gets_the_command_that_builds_it_wherever_it_was_asked_for() {
        let missing = || DeviceError::NotBuilt(DeviceKind::Cuda);
        let config = || ConfigError::from(missing());
        for error in [
            Error::from(missing()),
            config().into(),
            LearnerError::from(missing()).into(),
            LearnerError::from(config()).into(),
            ExperimentError::from(config()).into(),
            ModelError::from(LearnerError::from(missing())).into(),
        ] {
            assert!(hint(&error).is_some_and(|hint| hint.ends_with("--features cuda`")), "{error:#}");
        }
        assert_eq!(hint(&LearnerError::NoImages.into()), None);
    }
}
