//! `rehearsal compare`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use rehearsal_files::pattern::fits;
use rehearsal_report::{compare::Comparison, readings::is_recalibrated, run::Run, study::Study};

use crate::{
    args,
    printer::{self, message, print},
    user_error::UserError,
};

/// Reads two sets of runs and prints them side by side.
pub fn compare(args: &args::Compare) -> Result<ExitCode> {
    let compared = runs(&args.a, args.recalibrated).and_then(|a| {
        let b = runs(&args.b, args.recalibrated)?;
        let (a_name, b_name) = (args.a.display().to_string(), args.b.display().to_string());
        let comparison = Comparison::new((&a_name, &a), (&b_name, &b))?;
        Ok((a, b, comparison))
    });
    let (a, b, comparison) = compared.map_err(|error| UserError(format!("{error:#}")))?;
    let sides = [(args.a.as_path(), &a[..]), (args.b.as_path(), &b[..])];
    let text = if args.json {
        printer::comparison_json(sides, &comparison, args.recalibrated)
    } else {
        printer::comparison(sides, &comparison, args.recalibrated)
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The finished runs at or below a path, whose last part may be a pattern, with plain or recalibrated results. If
/// several have one seed, the first counts.
fn runs(path: &Path, recalibrated: bool) -> Result<Vec<Run>> {
    let roots = if path.exists() { vec![path.to_owned()] } else { matching(path)? };
    let study = Study::read(&roots)?;
    for repeated in &study.repeated {
        message(&format!("{} is not counted: another run has its settings and seed", repeated.display()));
    }
    let (first, again): (Vec<Run>, Vec<Run>) =
        study.groups.into_iter().flat_map(|group| group.runs).partition(|run| !run.is_again);
    if !recalibrated {
        return Ok(first);
    }
    let has_no_other = |run: &&Run| !is_recalibrated(run) && !again.iter().any(|other| other.path == run.path);
    if let Some(run) = first.iter().find(has_no_other) {
        bail!("{} has no recalibrated results", run.path.display());
    }
    Ok(first.into_iter().filter(is_recalibrated).chain(again).collect())
}

/// The directories that match a pattern, in order.
fn matching(path: &Path) -> Result<Vec<PathBuf>> {
    let Some(pattern) = path.file_name().and_then(|name| name.to_str()).filter(|name| name.contains('*')) else {
        bail!("{} does not exist", path.display());
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(parent).with_context(|| format!("{} cannot be read", parent.display()))?;
    let is_wanted =
        |path: &PathBuf| path.is_dir() && path.file_name().is_some_and(|name| fits(pattern, &name.to_string_lossy()));
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_wanted).collect();
    found.sort();
    if found.is_empty() {
        bail!("no directory is named {}", path.display());
    }
    Ok(found)
}
