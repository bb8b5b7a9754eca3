//! `rehearsal memory`.

mod sheet;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};
use rehearsal_data::printable;
use rehearsal_files::atomic;
use rehearsal_model::{Forget, Model, Version, write_png};
use serde_json::json;

use crate::{
    args::model::{Memory, MemoryVerb},
    printer::{columns, message, plural, print},
    user_error::UserError,
};

/// Looks at what a model remembers, or removes from it.
pub fn memory(args: &Memory) -> Result<ExitCode> {
    match &args.verb {
        MemoryVerb::Sheet { out, per_class, json } => sheet::sheet(&args.model, out, usize::from(*per_class), *json),
        MemoryVerb::List { class, json } => list(&args.model, class.as_deref(), *json),
        MemoryVerb::Remove { pattern, class, dry_run, json } => {
            let what = match (pattern, class) {
                (Some(pattern), _) => Forget::Source(pattern.clone()),
                (None, class) => Forget::Class(class.clone().unwrap_or_default()),
            };
            remove(&args.model, &what, *dry_run, *json)
        }
        MemoryVerb::Export { out, json } => export(&args.model, out, *json),
    }
}

/// Refuses a class that the version does not know.
fn check_class(version: &Version, class: Option<&str>) -> Result<()> {
    match class.filter(|class| version.learner.classes().find(class).is_none()) {
        Some(class) => Err(UserError(format!("there is no class `{class}`")).into()),
        None => Ok(()),
    }
}

/// Every image in memory and holdout set: class, where it is kept, where it came from.
fn list(model: &Path, class: Option<&str>, is_json: bool) -> Result<ExitCode> {
    let version = Model::open(model)?.current()?;
    check_class(&version, class)?;
    let classes = version.learner.classes();
    let memory = version.memory().map(|(class, _, source)| (class, "memory", source.to_owned()));
    let holdout = version.holdout.examples().iter().map(|example| (example.class, "holdout", example.source.clone()));
    let mut rows: Vec<_> = memory.chain(holdout).collect();
    rows.sort_by(|a, b| (a.0, a.1, &a.2).cmp(&(b.0, b.1, &b.2)));
    rows.retain(|(of, ..)| class.is_none_or(|class| &**classes.name(*of) == class));
    let text: String = if is_json {
        let line = |(class, kept, source): &(_, _, String)| {
            format!("{}\n", json!({ "class": &**classes.name(*class), "in": kept, "source": source }))
        };
        rows.iter().map(line).collect()
    } else {
        let row = |(class, kept, source): &(_, &str, String)| {
            vec![printable(classes.name(*class)), (*kept).to_owned(), printable(source)]
        };
        columns(&rows.iter().map(row).collect::<Vec<_>>(), &[]).into_iter().map(|line| line + "\n").collect()
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn remove(path: &Path, what: &Forget, dry_run: bool, is_json: bool) -> Result<ExitCode> {
    if dry_run {
        let model = Model::open(path)?;
        let would = model.would_forget(what)?;
        let lines: Vec<String> = if is_json {
            would.iter().map(|(class, source)| json!({ "class": class, "source": source }).to_string()).collect()
        } else {
            let row = |(class, source): &(String, String)| vec![printable(class), printable(source)];
            columns(&would.iter().map(row).collect::<Vec<_>>(), &[])
        };
        print(&lines.into_iter().map(|line| line + "\n").collect::<String>())?;
        message(&format!("{} would be removed", plural(would.len(), "image")));
        return Ok(ExitCode::SUCCESS);
    }
    let mut model = Model::open_to_change(path)?;
    let gone = model.forget(what)?;
    if is_json {
        let versions = gone.versions;
        let line =
            json!({ "images": gone.images, "memory": gone.memory, "holdout": gone.holdout, "versions": versions });
        print(&format!("{line}\n"))?;
    } else if gone.versions == 0 {
        message("no image matches: none was removed");
    } else {
        let (images, versions) = (plural(gone.images, "image"), plural(gone.versions, "version"));
        print(&format!("{images} removed from memory and holdout set in {versions}\n"))?;
        message("what was learned from them stays in the weights: only a new model does not have it");
    }
    Ok(ExitCode::SUCCESS)
}

/// The images as PNG files, one folder per class.
fn export(path: &Path, out: &Path, is_json: bool) -> Result<ExitCode> {
    let version = Model::open(path)?.current()?;
    if out.exists() {
        return Err(UserError(format!("{} exists: choose a new directory", out.display())).into());
    }
    let (classes, shape) = (version.learner.classes(), version.learner.shape());
    let unwritable = || format!("{} cannot be written", out.display());
    // Beside its place: interrupted, the same command can be given again.
    let beside = out.with_added_extension("partial");
    match fs::remove_dir_all(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).with_context(unwritable),
        _ => fs::create_dir_all(&beside).with_context(unwritable)?,
    }
    for (number, (class, image, _)) in version.memory().enumerate() {
        let folder = beside.join(safe(classes.name(class)));
        fs::create_dir_all(&folder).with_context(unwritable)?;
        write_png(&folder.join(format!("{number:05}.png")), image, shape).with_context(unwritable)?;
    }
    atomic::rename(&beside, out).with_context(unwritable)?;
    if is_json {
        print(&format!("{}\n", json!({ "directory": out, "images": version.memory().count() })))?;
    } else {
        print(&format!("{}\n", printable(&out.to_string_lossy())))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The name of a class as a path that stays inside its directory.
fn safe(class: &str) -> PathBuf {
    let part =
        |part: &str| if part.is_empty() || part == "." || part == ".." { "_".to_owned() } else { part.to_owned() };
    class.replace('\\', "_").split('/').map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_class_leads_out_of_the_directory() {
        assert_eq!(safe("bags/leather"), Path::new("bags/leather"));
        assert_eq!(safe("/../a"), Path::new("_/_/a"));
    }
}
