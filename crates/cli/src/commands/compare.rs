//! `rehearsal compare`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use rehearsal_report::{compare::Comparison, run::Run, study::Study};

use crate::{
    args,
    printer::{self, message, print},
};

/// Reads two sets of runs and prints them side by side.
pub fn compare(args: &args::Compare) -> Result<ExitCode> {
    let compared = runs(&args.a).and_then(|a| {
        let b = runs(&args.b)?;
        let (a_name, b_name) = (args.a.display().to_string(), args.b.display().to_string());
        let comparison = Comparison::new((&a_name, &a), (&b_name, &b))?;
        Ok((a, b, comparison))
    });
    match compared {
        Ok((a, b, comparison)) => {
            let sides = [(args.a.as_path(), &a[..]), (args.b.as_path(), &b[..])];
            let text = if args.json {
                printer::comparison_json(sides, &comparison)
            } else {
                printer::comparison(sides, &comparison)
            };
            print(&text)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            message(&format!("error: {error:#}"));
            Ok(ExitCode::from(2))
        }
    }
}

/// The finished runs at or below a path, whose last part may be a pattern. Of several of a seed the
/// first counts.
fn runs(path: &Path) -> Result<Vec<Run>> {
    let roots = if path.exists() { vec![path.to_owned()] } else { matching(path)? };
    let study = Study::read(&roots)?;
    for repeated in &study.repeated {
        message(&format!("{} is not counted: another run has its settings and seed", repeated.display()));
    }
    Ok(study.groups.into_iter().flat_map(|group| group.runs).collect())
}

/// The directories that a pattern names, in order.
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

/// Whether a name fits a pattern, in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let ends = name.char_indices().map(|(i, _)| i).chain([name.len()]);
            ends.into_iter().any(|i| fits(rest, &name[i..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(
            fits("er-*", "er-random-0") && fits("*-0", "er-random-0") && fits("e*r*0", "er-random-0") && fits("*", "é")
        );
        assert!(!fits("er-*", "pcr-random-0") && !fits("er", "er-random-0") && !fits("*-1", "er-random-0"));
    }
}
