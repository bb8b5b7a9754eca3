//! The loop over all trials.

use std::{
    path::{Path, PathBuf},
    thread,
};

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;

use crate::{
    accidents, faults, folders, inputs, kills,
    mutations::Mutations,
    random::Random,
    scenario::Reference,
    servers,
    snapshot::Snapshot,
    strace, syncs, table,
    tally::{Tally, Verdict},
    workspace::{Workspace, remove},
};

/// Kinds of trials, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Syncs,
    Kills,
    Faults,
    Mutations,
    Folders,
    Servers,
    Accidents,
}

#[derive(clap::Args)]
pub struct Options {
    /// The seed of all trials
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of kills
    #[arg(long, default_value_t = 1000)]
    kills: usize,
    /// The number of disk faults
    #[arg(long, default_value_t = 200)]
    faults: usize,
    /// The number of damaged files
    #[arg(long, default_value_t = 2000)]
    mutations: usize,
    /// The number of hostile folders
    #[arg(long, default_value_t = 324)]
    folders: usize,
    /// The number of accidents
    #[arg(long, default_value_t = 80)]
    accidents: usize,
    /// Only these kinds of trials
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Kind>,
    /// Only the trial of this number
    #[arg(long)]
    trial: Option<usize>,
}

/// Everything that trials need and do not change; empty for kinds that are not wanted.
struct Session<'a> {
    options: &'a Options,
    workspace: Workspace,
    references: Vec<Reference>,
    mutations: Mutations,
    archive: Snapshot,
}

/// The name of what was tested, how often it was disturbed, and the verdict.
type Trial = (String, usize, Verdict);

/// Makes all trials: true if none failed.
pub fn run(options: &Options, binary: &Path) -> Result<bool> {
    let temporary = tempfile::Builder::new().prefix("torture").tempdir()?;
    let session = Session::new(options, Workspace::new(binary, temporary.path())?)?;
    let mut tally = Tally::default();
    for kind in Kind::value_variants().iter().filter(|kind| options.wants(**kind)) {
        session.run(*kind, &mut tally)?;
    }
    print!("{}", tally.table());
    if !tally.is_clean() {
        eprintln!("trials failed: their directories are kept in {}", temporary.keep().display());
    }
    Ok(tally.is_clean())
}

impl Options {
    fn wants(&self, kind: Kind) -> bool {
        self.only.is_empty() || self.only.contains(&kind)
    }
}

impl Kind {
    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

impl<'a> Session<'a> {
    fn new(options: &'a Options, workspace: Workspace) -> Result<Self> {
        let trace = strace::is_available();
        if !trace {
            eprintln!("strace is missing or may not trace: kills only by time, faults only by size of files, no syncs");
        }
        inputs::make(&workspace)?;
        let (mut references, mut mutations, mut archive) = (vec![], Mutations::default(), Snapshot::default());
        if [Kind::Kills, Kind::Faults, Kind::Syncs].into_iter().any(|kind| options.wants(kind)) {
            for scenario in table::scenarios() {
                references.push(Reference::new(scenario, &workspace, trace)?);
            }
        }
        if options.wants(Kind::Mutations) {
            mutations = Mutations::new(&workspace)?;
        }
        if options.wants(Kind::Servers) {
            archive = servers::expected(&workspace)?;
        }
        Ok(Self { options, workspace, references, mutations, archive })
    }

    /// The trials of one kind.
    fn run(&self, kind: Kind, tally: &mut Tally) -> Result<()> {
        let (name, all) = (kind.name(), usize::MAX);
        let traced = self.references.iter().any(|reference| !reference.system_calls.is_empty());
        // How many disturbances are wanted, and how many different trials there are.
        let (wanted, count) = match kind {
            Kind::Kills => (self.options.kills, all),
            Kind::Faults => (self.options.faults, all),
            Kind::Mutations => (self.options.mutations, all),
            Kind::Folders => (self.options.folders, all),
            Kind::Servers => (all, servers::COUNT),
            Kind::Accidents => (self.options.accidents, all),
            Kind::Syncs => (all, if traced { self.references.len() + 1 } else { 0 }),
        };
        let mut number = self.options.trial.unwrap_or(0);
        while number < count && self.options.trial.map_or(tally.disturbed(&name) < wanted, |only| number == only) {
            // All servers at once, because most of their trials is waiting.
            let end = if kind == Kind::Servers && self.options.trial.is_none() { count } else { number + 1 };
            for (directory, (subject, disturbed, verdict)) in self.trials(kind, number..end)? {
                tally.count(&name, &subject, disturbed, &verdict);
                if verdict.is_wrong() || self.options.trial.is_some() {
                    eprintln!("{name} --trial {number}: {}: {verdict:?}", verdict.name());
                }
                if !verdict.is_wrong() {
                    remove(&directory)?;
                }
                number += 1;
            }
        }
        Ok(())
    }

    /// Makes trials of one kind at the same time.
    fn trials(&self, kind: Kind, numbers: std::ops::Range<usize>) -> Result<Vec<(PathBuf, Trial)>> {
        let one = |number| -> Result<_> {
            let directory = self.workspace.directory(&format!("{}{number}", kind.name()))?;
            let trial = self.trial(kind, number, &directory);
            Ok((directory, trial.with_context(|| format!("{} --trial {number}", kind.name()))?))
        };
        thread::scope(|scope| {
            let started: Vec<_> = numbers.map(|number| scope.spawn(move || one(number))).collect();
            started.into_iter().map(|trial| trial.join().map_err(|_| anyhow!("a trial panicked"))?).collect()
        })
    }

    fn trial(&self, kind: Kind, number: usize, directory: &Path) -> Result<Trial> {
        let (workspace, random) = (&self.workspace, &mut Random::new(self.options.seed, &kind.name(), number));
        let reference = || &self.references[number % self.references.len()];
        let name = || reference().scenario.name.clone();
        let once = |(name, verdict)| (name, 1, verdict);
        Ok(match kind {
            Kind::Kills => {
                let (kills, verdict) = kills::trial(reference(), workspace, directory, random)?;
                (name(), kills, verdict)
            }
            Kind::Faults => (name(), 1, faults::trial(reference(), workspace, directory, random)?),
            Kind::Syncs if number < self.references.len() => {
                (name(), 1, syncs::trial(&reference().scenario, workspace, directory)?)
            }
            Kind::Syncs => {
                let call = servers::fetch_from_good_server(workspace)?;
                ("data fetch, from a server".into(), 1, syncs::trace(call, directory)?)
            }
            Kind::Mutations => once(self.mutations.trial(number, workspace, directory, random)?),
            Kind::Folders => once(folders::trial(number, workspace, directory, random)?),
            Kind::Accidents => once(accidents::trial(number, workspace, directory, random)?),
            Kind::Servers => once(servers::trial(number, workspace, directory, &self.archive)?),
        })
    }
}
