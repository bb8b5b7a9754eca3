//! Commands that a user types one after another, that can be stopped anywhere, and that come to the same result.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, Result, bail};

use crate::{
    process::{Call, Exit},
    snapshot::Snapshot,
    strace,
    tally::{Verdict, Wrong},
    workspace::{Workspace, copy, remove},
};

/// What must be the same: files, directories with all their files, `stdout`, or `stdout as` a file of some name.
pub type Same = &'static [&'static str];

/// A row of the table: the files to start with, the commands, and what must be the same after them.
pub struct Scenario {
    pub name: String,
    files: Vec<(PathBuf, Source)>,
    commands: Vec<String>,
    /// The number of commands that an undisturbed user types.
    pub steps: usize,
    /// The index of the command that a user types next.
    next: fn(&Path) -> usize,
    same: Same,
}

enum Source {
    Text(String),
    Shared(&'static str),
}

impl Scenario {
    pub fn new(name: &str, commands: &[&str], same: Same) -> Self {
        let commands = commands.iter().map(|&command| command.to_owned()).collect();
        Self { name: name.into(), files: Vec::new(), commands, steps: 1, next: |_| 0, same }
    }

    /// With a file.
    pub fn file(mut self, path: &str, text: String) -> Self {
        self.files.push((path.into(), Source::Text(text)));
        self
    }

    /// With a copy of a shared file or directory.
    pub fn shared(mut self, from: &'static str, to: &str) -> Self {
        self.files.push((to.into(), Source::Shared(from)));
        self
    }

    /// With several commands, and how to tell which one is next.
    pub fn steps(self, steps: usize, next: fn(&Path) -> usize) -> Self {
        Self { steps, next, ..self }
    }

    /// Writes the files to start with.
    pub fn prepare(&self, workspace: &Workspace, directory: &Path) -> Result<()> {
        fs::create_dir_all(directory)?;
        for (path, source) in &self.files {
            match source {
                Source::Text(text) => fs::write(directory.join(path), text)?,
                Source::Shared(name) => copy(&workspace.shared(name), &directory.join(path))?,
            }
        }
        Ok(())
    }

    /// What a user types next: the first command, or one that continues with the files that are there.
    pub fn next(&self, workspace: &Workspace, directory: &Path) -> Call {
        workspace.call(&self.commands[(self.next)(directory).min(self.commands.len() - 1)])
    }

    /// Whether there is nothing left to type after a command that succeeded.
    pub fn is_over(&self, directory: &Path) -> bool {
        self.steps == 1 || (self.next)(directory) >= self.steps
    }

    /// Types commands until it is over or one fails: how the last one ended.
    pub fn finish(&self, workspace: &Workspace, directory: &Path) -> Result<Exit> {
        loop {
            let exit = self.next(workspace, directory).run(directory)?;
            if !exit.is_success() || self.is_over(directory) {
                return Ok(exit);
            }
        }
    }

    /// Every command once, in the order of the table, undisturbed.
    pub fn run_all(&self, workspace: &Workspace, directory: &Path) -> Result<()> {
        self.prepare(workspace, directory)?;
        self.commands.iter().try_for_each(|command| workspace.call(command).succeed(directory).map(drop))
    }
}

/// A scenario, and what it is like undisturbed.
pub struct Reference {
    pub scenario: Scenario,
    snapshot: Snapshot,
    /// The longest of its commands.
    pub duration: Duration,
    /// The number of system calls of one command, by name, at most; empty without strace.
    pub system_calls: BTreeMap<String, usize>,
}

impl Reference {
    /// Runs a scenario twice, which must give the same result.
    pub fn new(scenario: Scenario, workspace: &Workspace, trace: bool) -> Result<Self> {
        let (first, duration) = undisturbed(&scenario, workspace)?;
        let (second, again) = undisturbed(&scenario, workspace)?;
        if let Some(difference) = first.difference(&second) {
            bail!("{} differs between two undisturbed runs: {difference}", scenario.name);
        }
        let directory = workspace.directory("undisturbed")?;
        let mut system_calls = BTreeMap::new();
        if trace {
            scenario.prepare(workspace, &directory)?;
            for _ in 0..scenario.steps {
                for (name, count) in strace::count(scenario.next(workspace, &directory), &directory)? {
                    let most: &mut usize = system_calls.entry(name).or_default();
                    *most = count.max(*most);
                }
            }
        }
        remove(&directory)?;
        Ok(Self { scenario, snapshot: first, duration: duration.min(again), system_calls })
    }

    /// Compares the result of the last command with the undisturbed one.
    pub fn compare(&self, directory: &Path, exit: &Exit) -> Verdict {
        self.snapshot.compare(self.scenario.same, directory, exit)
    }

    /// The verdict on commands that were not disturbed themselves, after others that were.
    pub fn judge(&self, directory: &Path, exit: &Exit) -> Verdict {
        match Verdict::of_failure(exit) {
            None => self.compare(directory, exit),
            Some(Verdict::Refused(why)) => Verdict::Wrong(Wrong::Stuck, why),
            Some(verdict) => verdict,
        }
    }
}

/// The result, and the longest duration of a command.
fn undisturbed(scenario: &Scenario, workspace: &Workspace) -> Result<(Snapshot, Duration)> {
    let directory = workspace.directory("undisturbed")?;
    scenario.prepare(workspace, &directory)?;
    let mut longest = Duration::ZERO;
    for _ in 0..scenario.steps {
        let exit = scenario.next(workspace, &directory).succeed(&directory)?;
        longest = longest.max(exit.duration);
        if scenario.is_over(&directory) {
            let snapshot = Snapshot::new(scenario.same, &directory, &exit).with_context(|| scenario.name.clone())?;
            return Ok((snapshot, longest));
        }
    }
    bail!("{}: not over after {} commands", scenario.name, scenario.steps);
}
