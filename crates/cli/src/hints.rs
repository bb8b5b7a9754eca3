//! What to do about an error: libraries return errors that name no command and no flag, and the
//! command line adds this second line.

use anyhow::Error;
use rehearsal::{
    config::ConfigError,
    device::{DeviceError, DeviceKind},
    experiment::ExperimentError,
    learner::LearnerError,
};
use rehearsal_data::{DataError, Dataset, LONGEST_SIDE, catalogue::card};
use rehearsal_grid::{
    PlanError,
    slurm::{ScriptError, SlurmError},
};
use rehearsal_model::ModelError;

use crate::printer::message;

/// Prints the hint for an error, if there is one.
pub fn print_hint(error: &Error) {
    if let Some(hint) = hint(error) {
        message(&format!("hint: {hint}"));
    }
}

/// What to do about an error.
pub fn hint(error: &Error) -> Option<String> {
    let grid = error.downcast_ref().and_then(for_grid).map(str::to_owned);
    let model = || error.downcast_ref().and_then(for_model);
    let device = || device_error(error).and_then(for_device);
    grid.or_else(model).or_else(device).or_else(|| data_error(error).and_then(for_data))
}

/// What to do about an error of a model.
fn for_model(error: &ModelError) -> Option<String> {
    Some(match error {
        ModelError::Absent { path } => format!("`rehearsal learn {} FOLDER` makes one", path.display()),
        ModelError::Unfinished { .. } => "run the same `rehearsal learn` again: it continues".into(),
        ModelError::DamagedVersion { path, other, .. } => {
            format!("`rehearsal use {} {other}` uses version {other} instead", path.display())
        }
        ModelError::NoImages | ModelError::OneClass(_) => "put one folder per class: FOLDER/CLASS/*.jpg".into(),
        ModelError::UnreadablePhotos { .. } => "`--skip-bad` leaves them out".into(),
        ModelError::TooManyPhotos { .. } => "give a smaller `--size`".into(),
        ModelError::SmallMemory { classes, .. } => format!("give `--memory {classes}` or more"),
        _ => return None,
    })
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

/// The error of a device, through the errors that pass it on.
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

/// The error of a data set, through the errors that pass it on.
fn data_error(error: &Error) -> Option<&DataError> {
    fn in_learner(error: &LearnerError) -> Option<&DataError> {
        if let LearnerError::Data(error) = error { Some(error) } else { None }
    }
    fn in_experiment(error: &ExperimentError) -> Option<&DataError> {
        match error {
            ExperimentError::Data(error) => Some(error),
            ExperimentError::Learner(error) => in_learner(error),
            _ => None,
        }
    }
    fn in_model(error: &ModelError) -> Option<&DataError> {
        if let ModelError::Learner(error) = error { in_learner(error) } else { None }
    }
    let direct = error.downcast_ref().or_else(|| error.downcast_ref().and_then(in_learner));
    direct.or_else(|| error.downcast_ref().and_then(in_experiment)).or_else(|| error.downcast_ref().and_then(in_model))
}

fn for_data(error: &DataError) -> Option<String> {
    Some(match error {
        DataError::Absent { dataset, .. } => {
            format!("fetch it with `rehearsal data fetch {dataset}`, or say where it is with `--data DIR`")
        }
        DataError::NoFolder | DataError::NothingToFetch(Dataset::Folder) => {
            "say where your images are with `--data DIR`".into()
        }
        DataError::NoHome => "set REHEARSAL_DATA, or give `--data DIR`".into(),
        DataError::Image { .. } => "`--skip-bad` skips files that are not images".into(),
        DataError::Link { .. } => "`--follow-links` follows it".into(),
        DataError::Untrusted { .. } => "`--trust` accepts it without a checksum".into(),
        DataError::FetchedPart(_) => "`--part` accepts a part of the data set".into(),
        DataError::TooLarge { .. } => format!("make them smaller with `--size N`, at most {LONGEST_SIDE}"),
        DataError::ByHand(dataset) => by_hand(*dataset),
        _ => return None,
    })
}

fn by_hand(dataset: Dataset) -> String {
    let files: Vec<&str> = card(dataset).archives.iter().map(|archive| archive.file).collect();
    format!(
        "get {} from someone you trust, and give each file with `--from FILE`; or, if they are on a web server, give \
         `--mirror URL --trust`; or put a folder with one folder per class at `--data DIR`",
        files.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_found_through_the_errors_that_pass_them_on() {
        let absent = || DataError::Absent { dataset: Dataset::Core50, home: "x".into(), expected: "y".into() };
        let errors = [
            absent().into(),
            LearnerError::from(absent()).into(),
            ExperimentError::from(absent()).into(),
            ExperimentError::from(LearnerError::from(absent())).into(),
            ModelError::from(LearnerError::from(absent())).into(),
        ];
        for error in &errors {
            assert!(hint(error).is_some_and(|hint| hint.contains("data fetch core50")), "{error:?}");
        }
        assert_eq!(hint(&DataError::Refused("no".into()).into()), None);
        assert_eq!(hint(&anyhow::anyhow!("no")), None);
        let by_hand = hint(&DataError::ByHand(Dataset::MiniImagenet).into()).unwrap();
        assert!(by_hand.contains("mini-imagenet-cache-val.pkl") && by_hand.contains("`--from FILE`"), "{by_hand}");
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
