//! What to do about an error: libraries return errors that name no command and no flag, and the
//! command line adds this second line.

#[cfg(feature = "training")]
mod training;

use std::path::{Path, PathBuf};

use anyhow::Error;
use rehearsal_backbone::{BackboneError, BackboneName};
use rehearsal_data::{DataError, Dataset, LONGEST_SIDE, catalogue::card};
use rehearsal_files::path_text::quoted;
use rehearsal_model::ModelError;
use rehearsal_serve::ServeError;

use crate::printer::message;

/// Prints the hint for an error, if there is one.
pub fn print_hint(error: &Error) {
    if let Some(hint) = hint(error) {
        message(&format!("hint: {hint}"));
    }
}

/// What to do about an error.
pub fn hint(error: &Error) -> Option<String> {
    let of_model = model_error(error).and_then(for_model).or_else(|| error.downcast_ref().and_then(for_server));
    #[cfg(feature = "training")]
    let of_model = of_model.or_else(|| training::hint(error));
    of_model
        .or_else(|| data_error(error).and_then(for_data))
        .or_else(|| error.downcast_ref().and_then(BackboneError::absent).map(fetch))
}

/// The error of data, through the errors that pass it on.
fn data_error(error: &Error) -> Option<&DataError> {
    error.downcast_ref().or_else(|| match error.downcast_ref()? {
        ModelError::Data(error) => Some(error),
        _ => None,
    })
}

fn model_error(error: &Error) -> Option<&ModelError> {
    error.downcast_ref().or_else(|| match error.downcast_ref()? {
        ServeError::Model(error) => Some(error),
        _ => None,
    })
}

/// What to do about an error of a server.
fn for_server(error: &ServeError) -> Option<String> {
    Some(match error {
        ServeError::NoToken(_) => "put one into the environment as REHEARSAL_TOKEN, or give it with `--token`".into(),
        ServeError::Address { .. } => "`--port N` takes another port, `--port 0` any that is free".into(),
        _ => return None,
    })
}

/// What to do about an error of a model.
fn for_model(error: &ModelError) -> Option<String> {
    Some(match error {
        ModelError::Backbone(error) => return error.absent().map(fetch),
        ModelError::Absent { path } => format!("`rehearsal learn {} FOLDER` makes one", quoted(path)),
        ModelError::Unfinished { .. } => "run the same `rehearsal learn` again: it continues".into(),
        ModelError::DamagedVersion { path, other, .. } => {
            format!("`rehearsal use {} {other}` uses version {other} instead", quoted(path))
        }
        ModelError::NoImages | ModelError::OneClass(_) => "put one folder per class: FOLDER/CLASS/*.jpg".into(),
        ModelError::UnreadablePhotos { .. } => "`--skip-bad` leaves them out".into(),
        ModelError::TooManyPhotos { .. } => "give a smaller `--size`".into(),
        ModelError::NotKept { .. } => "give the folder that has them with `--photos DIR`".into(),
        ModelError::BackboneFile { path, .. } => {
            format!("put that file back at {}; `show`, `use` and `memory list` do without it", path.display())
        }
        ModelError::NotBuilt => "build it with `cargo install --path crates/cli`".into(),
        ModelError::Nested { model, sessions, .. } => nested(model, sessions),
        ModelError::SimilarClasses { .. } => "rename the folder, or take both as classes with `--as-is`".into(),
        ModelError::AnotherClass { is_exact: true, .. } => {
            "`--relabel` moves them to the class that they have here".into()
        }
        ModelError::AnotherClass { model, is_exact: false, .. } => unmovable(model),
        ModelError::TakenName(_) => "`rehearsal class MODEL merge` gives the photos of one class to the other".into(),
        ModelError::SmallMemory { classes, .. } => format!("give `--memory {classes}` or more"),
        _ => return None,
    })
}

/// How to get a backbone.
fn fetch(name: BackboneName) -> String {
    format!("`rehearsal backbone fetch {name}` gets it")
}

/// More folders than this are given by a pattern.
const NAMED: usize = 4;

/// The command that was meant, if all folders hold folders of photos.
fn nested(model: &Path, sessions: &[PathBuf]) -> String {
    const AS_CLASSES: &str = "`--nested` takes folders inside folders as classes";
    let folders = match sessions {
        [] => return AS_CLASSES.into(),
        [first, ..] if sessions.len() > NAMED => quoted(first.parent().unwrap_or(first)) + "/*",
        few => few.iter().map(quoted).collect::<Vec<_>>().join(" "),
    };
    let model = quoted(model);
    format!("give the folders that hold classes: `rehearsal learn {model} {folders}`; or {AS_CLASSES}")
}

/// What to do about photos of another class in a model that is trained from scratch.
pub fn unmovable(model: &Path) -> String {
    let model = quoted(model);
    format!(
        "a model that is trained from scratch cannot move them: `rehearsal memory {model} remove` them, then learn \
         them again"
    )
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
        for error in [Error::from(absent()), ModelError::from(absent()).into()] {
            assert!(hint(&error).is_some_and(|hint| hint.contains("data fetch core50")), "{error:?}");
        }
        assert_eq!(hint(&DataError::Refused("no".into()).into()), None);
        assert_eq!(hint(&anyhow::anyhow!("no")), None);
        let by_hand = hint(&DataError::ByHand(Dataset::MiniImagenet).into()).unwrap();
        assert!(by_hand.contains("mini-imagenet-cache-val.pkl") && by_hand.contains("`--from FILE`"), "{by_hand}");
    }
}
