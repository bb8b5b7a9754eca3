//! Hints for errors of training, of runs and of grids.

use anyhow::Error;
use rehearsal::{
    config::ConfigError,
    device::{DeviceError, DeviceKind},
    experiment::ExperimentError,
    learner::LearnerError,
};
use rehearsal_backbone::BackboneError;
use rehearsal_data::DataError;
use rehearsal_grid::{
    PlanError,
    slurm::{ScriptError, SlurmError},
};
use rehearsal_model::ModelError;

use super::{fetch, for_data};

/// What to do about an error.
pub fn hint(error: &Error) -> Option<String> {
    let grid = error.downcast_ref().and_then(for_grid).map(str::to_owned);
    grid.or_else(|| match cause(error)? {
        Cause::Device(error) => for_device(error),
        Cause::Data(error) => for_data(error),
        Cause::Backbone(error) => error.absent().map(fetch),
    })
}

/// The error below the errors that pass it on.
enum Cause<'a> {
    Device(&'a DeviceError),
    Data(&'a DataError),
    Backbone(&'a BackboneError),
}

fn cause(error: &Error) -> Option<Cause<'_>> {
    error
        .downcast_ref()
        .map(Cause::Device)
        .or_else(|| error.downcast_ref().and_then(of_config))
        .or_else(|| error.downcast_ref().and_then(of_experiment))
        .or_else(|| error.downcast_ref().and_then(of_learner))
        .or_else(|| error.downcast_ref().and_then(of_model))
}

fn of_config(error: &ConfigError) -> Option<Cause<'_>> {
    if let ConfigError::Device(error) = error { Some(Cause::Device(error)) } else { None }
}

fn of_learner(error: &LearnerError) -> Option<Cause<'_>> {
    match error {
        LearnerError::Device(error) => Some(Cause::Device(error)),
        LearnerError::Data(error) => Some(Cause::Data(error)),
        LearnerError::Config(error) => of_config(error),
        _ => None,
    }
}

fn of_model(error: &ModelError) -> Option<Cause<'_>> {
    if let ModelError::Learner(error) = error { of_learner(error) } else { None }
}

fn of_experiment(error: &ExperimentError) -> Option<Cause<'_>> {
    match error {
        ExperimentError::Data(error) => Some(Cause::Data(error)),
        ExperimentError::Backbone(error) => Some(Cause::Backbone(error)),
        ExperimentError::Refused(error) => of_config(error),
        ExperimentError::Learner(error) => of_learner(error),
        _ => None,
    }
}

/// What to do about an error of a grid.
fn for_grid(error: &PlanError) -> Option<&'static str> {
    match error {
        PlanError::Foreign(_) => Some("choose another `--out`"),
        PlanError::NoName(_) => Some("`rehearsal grid status` lists names and indices"),
        PlanError::Slurm(SlurmError::Missing(_)) => {
            Some("on one machine use `rehearsal grid`; `--script-only` writes the script without Slurm")
        }
        PlanError::Script(ScriptError::TooShort { .. }) => Some("give a longer `--time` or a shorter `--warning`"),
        _ => None,
    }
}

/// What to do about a device that cannot be used.
fn for_device(error: &DeviceError) -> Option<String> {
    let feature = match error {
        DeviceError::NotBuilt(kind) => *kind,
        DeviceError::Unknown(_) if !DeviceKind::ALL.into_iter().skip(1).any(DeviceKind::is_built) => DeviceKind::Wgpu,
        _ => return None,
    };
    Some(format!("for a GPU, build it with `cargo install --path crates/cli --features {feature}`"))
}

#[cfg(test)]
mod tests {
    use rehearsal_backbone::BackboneName;
    use rehearsal_data::Dataset;

    use super::*;

    #[test]
    fn hints_are_found_through_the_errors_that_pass_them_on() {
        let absent = || DataError::Absent { dataset: Dataset::Core50, home: "x".into(), expected: "y".into() };
        let errors = [
            LearnerError::from(absent()).into(),
            ExperimentError::from(absent()).into(),
            ExperimentError::from(LearnerError::from(absent())).into(),
            ModelError::from(LearnerError::from(absent())).into(),
        ];
        for error in &errors {
            assert!(hint(error).is_some_and(|hint| hint.contains("data fetch core50")), "{error:?}");
        }
    }

    #[test]
    fn a_backbone_that_is_not_here_gets_the_command_that_fetches_it() {
        let error = BackboneError::Absent { name: BackboneName::DinoV2Small, path: "x".into() };
        let hint = hint(&ExperimentError::from(error).into()).unwrap();
        assert!(hint.contains("backbone fetch dinov2-small"), "{hint}");
    }

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
