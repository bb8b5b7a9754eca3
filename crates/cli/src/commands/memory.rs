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
use rehearsal_model::{Features, Forget, Held, Model, ModelError, Part, Touched, Version};
use serde_json::{Value, json};

use crate::{
    args::model::{Memory, MemoryVerb},
    output::with_path,
    photos,
    printer::{columns, message, plural, print},
    user_error::UserError,
};

/// Looks at what a model remembers, or removes from it.
pub fn memory(args: &Memory) -> Result<ExitCode> {
    match &args.verb {
        MemoryVerb::Sheet { out, per_class, json } => sheet::sheet(&args.model, out, usize::from(*per_class), *json),
        MemoryVerb::List { class, json } => list(&args.model, class.as_deref(), *json),
        MemoryVerb::Remove { pattern, class, photos, dry_run, json } => {
            let (what, given) = to_remove(&args.model, pattern.as_deref(), class.as_deref(), photos.as_deref())?;
            remove(&args.model, &what, &given, *dry_run, *json)
        }
        MemoryVerb::Move { pattern, to, json } => move_photos(&args.model, pattern, to, *json),
        MemoryVerb::Export { out, json } => export(&args.model, out, *json),
    }
}

/// Refuses a class that the version does not know.
fn check_class(version: &Version, class: Option<&str>) -> Result<()> {
    match class.filter(|class| version.photos_of(class).is_none()) {
        Some(class) => Err(UserError(format!("there is no class `{class}`")).into()),
        None => Ok(()),
    }
}

/// Every image in memory and holdout set: class, where it is kept, where it came from.
fn list(model: &Path, class: Option<&str>, is_json: bool) -> Result<ExitCode> {
    let (_, version) = Model::open_version(model, None)?;
    check_class(&version, class)?;
    let mut rows = version.held();
    rows.sort_by(|a, b| (&a.class, b.part, &a.source).cmp(&(&b.class, a.part, &b.source)));
    rows.retain(|held| class.is_none_or(|class| *held.class == *class));
    let part = |held: &Held| if held.part == Part::Memory { "memory" } else { "holdout" };
    let text: String = if is_json {
        let line =
            |held: &Held| format!("{}\n", json!({ "class": &*held.class, "in": part(held), "source": held.source }));
        rows.iter().map(line).collect()
    } else {
        let row = |held: &Held| vec![printable(&held.class), part(held).to_owned(), printable(&held.source)];
        columns(&rows.iter().map(row).collect::<Vec<_>>(), &[]).into_iter().map(|line| line + "\n").collect()
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// What to remove, and the features of photos that were given for it. A pattern that is a file of a
/// photo also means this photo, in memory or not.
fn to_remove(
    model: &Path,
    pattern: Option<&str>,
    class: Option<&str>,
    folder: Option<&Path>,
) -> Result<(Forget, Features)> {
    let opened = Model::open(model)?;
    let mut given = photos::given(&opened, folder)?;
    let Some(pattern) = pattern else { return Ok((Forget::Class(class.unwrap_or_default().into()), given)) };
    let what = Forget::Source(pattern.into());
    if Path::new(pattern).is_file() && matches!(opened.would_forget(&what), Err(ModelError::NoMatch(_))) {
        let file = photos::features(&opened, &[pattern.into()])?;
        let digests = file.keys().copied().collect();
        given.extend(file);
        return Ok((Forget::Photos(digests), given));
    }
    Ok((what, given))
}

/// Gives photos to another class.
fn move_photos(path: &Path, pattern: &str, to: &str, is_json: bool) -> Result<ExitCode> {
    let (version, images) = Model::open_to_change(path)?.move_photos(pattern, to)?;
    if is_json {
        print(&format!("{}\n", json!({ "version": version, "images": images })))?;
    } else {
        print(&format!("version {version}: {} moved to {}\n", plural(images, "photo"), printable(to)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(path: &Path, what: &Forget, given: &Features, dry_run: bool, is_json: bool) -> Result<ExitCode> {
    if dry_run {
        let model = Model::open(path)?;
        let would = model.would_forget(what)?;
        print(&if is_json {
            would.iter().map(|photo| format!("{}\n", to_json(photo))).collect()
        } else {
            rows(&would)
        })?;
        message(&format!("{} would be removed", plural(would.len(), "image")));
        return Ok(ExitCode::SUCCESS);
    }
    let mut model = Model::open_to_change(path)?;
    let touched = model.would_forget(what)?;
    let gone = model.forget(what, given)?;
    if is_json {
        let versions = gone.versions;
        let photos: Vec<Value> = touched.iter().map(to_json).collect();
        let line = json!({
            "images": gone.images, "memory": gone.memory, "holdout": gone.holdout, "versions": versions, "removed": photos,
        });
        print(&format!("{line}\n"))?;
    } else {
        let (images, versions) = (plural(gone.images, "image"), plural(gone.versions, "version"));
        print(&format!("{images} removed from memory and holdout set in {versions}\n{}", rows(&touched)))?;
        if !model.is_exact()? {
            message("what was learned from them stays in the weights: only a new model does not have it");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `boots  photos/january/boots/010.png  versions 1, 2`
fn rows(photos: &[Touched]) -> String {
    let row = |photo: &Touched| {
        let numbers: Vec<String> = photo.versions.iter().map(u32::to_string).collect();
        let versions = if numbers.len() == 1 { "version" } else { "versions" };
        let source = photo.source.as_deref().unwrap_or("(no longer in memory)");
        vec![printable(&photo.class), printable(source), format!("{versions} {}", numbers.join(", "))]
    };
    columns(&photos.iter().map(row).collect::<Vec<_>>(), &[]).into_iter().map(|line| line + "\n").collect()
}

fn to_json(photo: &Touched) -> Value {
    json!({ "class": photo.class, "source": photo.source, "versions": photo.versions })
}

/// The images as files, one folder per class.
fn export(path: &Path, out: &Path, is_json: bool) -> Result<ExitCode> {
    let (_, version) = Model::open_version(path, None)?;
    if out.exists() {
        return Err(taken(out));
    }
    let memory = version.memory();
    let unwritable = || format!("{} cannot be written", out.display());
    if let Some(parent) = out.parent() {
        fs::create_dir_all(parent).with_context(unwritable)?;
    }
    let write = |directory: &Path| -> io::Result<()> {
        for (number, (class, picture, _)) in memory.iter().enumerate() {
            let folder = directory.join(safe(class));
            fs::create_dir_all(&folder)?;
            let (extension, bytes) = picture.file()?;
            fs::write(folder.join(format!("{number:05}.{extension}")), bytes)?;
        }
        Ok(())
    };
    match atomic::directory_with(out, write) {
        Err(_) if out.exists() => return Err(taken(out)),
        written => written.with_context(unwritable)?,
    }
    if is_json {
        print(&format!("{}\n", with_path(json!({ "images": memory.len() }), "directory", out)))?;
    } else {
        print(&format!("{}\n", printable(&out.to_string_lossy())))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Another process may have written it meanwhile.
fn taken(out: &Path) -> anyhow::Error {
    UserError(format!("{} exists: choose a new directory", out.display())).into()
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
