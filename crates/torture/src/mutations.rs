//! Damages one file of every kind that the program writes, before commands read it again.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{
    damage::damage,
    process::Kill,
    random::Random,
    scenario::{Reference, Same, Scenario},
    snapshot::Snapshot,
    table::{self, Damaged},
    tally::Verdict,
    workspace::{Workspace, copy, files_below},
};

/// Every file to damage.
#[derive(Default)]
pub struct Mutations {
    rows: Vec<Row>,
    /// The name of each file, its path, and the index of its row.
    files: Vec<(String, PathBuf, usize)>,
}

/// A row of the table whose files are there.
struct Row {
    directory: PathBuf,
    other: Option<PathBuf>,
    reference: Option<Reference>,
    /// Commands, and the results that they have without damage.
    readers: Vec<(String, Same, Snapshot)>,
}

impl Mutations {
    pub fn new(workspace: &Workspace) -> Result<Self> {
        let mut all = Self::default();
        for damaged in table::damaged() {
            let example = workspace.examples().join(table::GROW);
            if damaged.scenario.name == table::GROW && !example.exists() {
                eprintln!("saved models are left out: {} is not built", example.display());
            } else {
                all.add(damaged, workspace)?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, damaged: Damaged, workspace: &Workspace) -> Result<()> {
        let number = self.rows.len();
        let directory = workspace.shared(&format!("damaged{number}"));
        let root = directory.join(damaged.below);
        let other = match damaged.other {
            None => None,
            Some(other) => {
                let directory = workspace.shared(&format!("other{number}"));
                make(other, damaged.killed_when, false, workspace, &directory)?;
                Some(directory)
            }
        };
        let is_continued = damaged.readers.is_empty();
        let reference = make(damaged.scenario, damaged.killed_when, is_continued, workspace, &directory)?;
        for path in files_below(&root)? {
            if damaged.only.is_empty() || damaged.only.iter().any(|end| path.to_string_lossy().ends_with(end)) {
                let name = table::short_name(&path.strip_prefix(&root)?.to_string_lossy());
                let file = path.strip_prefix(&directory)?.to_owned();
                self.files.push((format!("{}: {name}", damaged.name), file, number));
            }
        }
        let (undamaged, mut readers) = (workspace.directory("undamaged")?, Vec::new());
        copy(&directory, &undamaged)?;
        for (command, same) in damaged.readers {
            let exit = workspace.call(&command).run(&undamaged)?;
            if table::verdict_on_report(&command, &exit).is_none() && !exit.is_success() {
                bail!("{command}, undisturbed: {:?}: {}", exit.status, exit.stderr);
            }
            let snapshot = Snapshot::new(same, &undamaged, &exit).with_context(|| command.clone())?;
            readers.push((command, same, snapshot));
        }
        self.rows.push(Row { directory, other, reference, readers });
        Ok(())
    }

    /// One trial: the name of the file, and the verdict. The first wrong verdict of a reader counts, else a refusal.
    pub fn trial(
        &self,
        number: usize,
        workspace: &Workspace,
        directory: &Path,
        random: &mut Random,
    ) -> Result<(String, Verdict)> {
        let (name, file, row) = &self.files[number % self.files.len()];
        let row = &self.rows[*row];
        copy(&row.directory, directory)?;
        let other = row.other.as_ref().map(|other| other.join(file));
        let how = damage(&directory.join(file), other.as_deref(), random)
            .with_context(|| format!("{} of {}", file.display(), row.directory.display()))?;
        let mut verdict = Verdict::Same;
        if let (Some(reference), true) = (&row.reference, row.readers.is_empty()) {
            let exit = reference.scenario.next(workspace, directory).run(directory)?;
            verdict = Verdict::of_failure(&exit).unwrap_or_else(|| reference.compare(directory, &exit));
        }
        let readers: Vec<_> =
            row.readers.iter().filter(|(command, ..)| table::reads(command, directory, number)).collect();
        for (command, same, expected) in readers {
            let exit = workspace.call(command).run(directory)?;
            let failure = table::verdict_on_report(command, &exit).or_else(|| Verdict::of_failure(&exit));
            match failure.unwrap_or_else(|| expected.compare(same, directory, &exit)) {
                Verdict::Same => {}
                Verdict::Refused(why) => verdict = Verdict::Refused(why),
                wrong @ Verdict::Wrong(..) => {
                    verdict = wrong.after(command);
                    break;
                }
            }
        }
        Ok((name.clone(), verdict.after(&format!("{}: {how}", file.display()))))
    }
}

/// Makes the files of a row; with a reference if the scenario is continued later.
fn make(
    scenario: Scenario,
    killed_when: Option<fn(&Path) -> bool>,
    is_continued: bool,
    workspace: &Workspace,
    kept: &Path,
) -> Result<Option<Reference>> {
    let Some(killed_when) = killed_when else {
        scenario.run_all(workspace, kept)?;
        return is_continued.then(|| Reference::new(scenario, workspace, false)).transpose();
    };
    let reference = Reference::new(scenario, workspace, false)?;
    let scenario = &reference.scenario;
    for attempt in 0..200 {
        let directory = workspace.directory("killed")?;
        scenario.prepare(workspace, &directory)?;
        for _ in 1..scenario.steps {
            scenario.next(workspace, &directory).succeed(&directory)?;
        }
        let after = reference.duration.mul_f64(0.2 + 0.75 * f64::from(attempt % 20) / 20.0);
        scenario.next(workspace, &directory).killed_after(after, Kill::GROUP).run(&directory)?;
        if killed_when(&directory) {
            copy(&directory, kept)?;
            return Ok(Some(reference));
        }
    }
    bail!("{}: it was never killed at the right moment", scenario.name);
}
