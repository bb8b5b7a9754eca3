//! The loop over all trials, limited by number or by time.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;

use crate::{
    faults, folders, inputs, kills,
    mutations::Mutations,
    random::Random,
    scenario::Reference,
    servers,
    snapshot::Snapshot,
    strace, syncs, table,
    tally::{Tally, Verdict},
    workspace::{Workspace, remove},
};

/// Even if the time is over, this many trials of each kind are made.
const AT_LEAST: usize = 8;

/// Kinds of trials, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Syncs,
    Kills,
    Faults,
    Mutations,
    Folders,
    Servers,
}

#[derive(clap::Args)]
pub struct Options {
    /// The seed of all trials
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Limit by time, with some trials of each kind, instead of by number
    #[arg(long)]
    seconds: Option<f64>,
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
    /// Only these kinds of trials
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Kind>,
    /// The number of the first trial
    #[arg(long, default_value_t = 0)]
    first: usize,
    /// Only the trial of this number
    #[arg(long)]
    trial: Option<usize>,
    /// The directory of all trials; those of failed trials are kept
    #[arg(long)]
    work: Option<PathBuf>,
}

/// Everything that trials need and do not change; empty for kinds that are not wanted.
struct Setup {
    workspace: Workspace,
    seed: u64,
    references: Vec<Reference>,
    mutations: Mutations,
    archive: Snapshot,
}

/// The name of what was tested, how often it was disturbed, and the verdict.
type Trial = (String, usize, Verdict);

/// Makes all trials: true if none failed.
pub fn run(options: &Options, binary: &Path) -> Result<bool> {
    let started = Instant::now();
    let temporary = tempfile::Builder::new().prefix("torture").tempdir()?;
    let work = options.work.clone().unwrap_or_else(|| temporary.path().into());
    let setup = options.setup(Workspace::new(binary, &work)?)?;
    let mut tally = Tally::default();
    for kind in Kind::value_variants().iter().copied().filter(|kind| options.wants(*kind)) {
        options.run_kind(kind, started, &setup, &mut tally)?;
    }
    print!("{}", tally.table());
    if !tally.is_clean() {
        eprintln!("trials failed: their directories are kept in {}", work.display());
        let _ = temporary.keep();
    }
    Ok(tally.is_clean())
}

impl Options {
    fn wants(&self, kind: Kind) -> bool {
        self.only.is_empty() || self.only.contains(&kind)
    }

    fn setup(&self, workspace: Workspace) -> Result<Setup> {
        let (trace, short) = (strace::is_available(), self.seconds.is_some());
        if !trace {
            eprintln!("strace is missing or may not trace: kills only by time, faults only by size of files, no syncs");
        }
        inputs::make(&workspace)?;
        let (mut references, mut mutations, mut archive) = (vec![], Mutations::default(), Snapshot::default());
        if [Kind::Kills, Kind::Faults, Kind::Syncs].into_iter().any(|kind| self.wants(kind)) {
            for scenario in table::scenarios(short) {
                references.push(Reference::new(scenario, &workspace, trace)?);
            }
        }
        if self.wants(Kind::Mutations) {
            mutations = Mutations::new(&workspace, short)?;
        }
        if self.wants(Kind::Servers) {
            archive = servers::expected(&workspace)?;
        }
        Ok(Setup { workspace, seed: self.seed, references, mutations, archive })
    }

    /// The trials of one kind.
    fn run_kind(&self, kind: Kind, started: Instant, setup: &Setup, tally: &mut Tally) -> Result<()> {
        let (name, all) = (kind.name(), usize::MAX);
        let traced = setup.references.iter().any(|reference| !reference.system_calls.is_empty());
        // How many disturbances are wanted, how many trials there are, and the share of the time when they are over.
        let (wanted, count, end) = match kind {
            Kind::Kills => (self.kills, all, 0.35),
            Kind::Faults => (self.faults, all, 0.5),
            Kind::Mutations => (self.mutations, all, 0.85),
            Kind::Folders => (self.folders, all, 0.95),
            Kind::Servers => (all, servers::count(self.seconds.is_some()), 1.0),
            Kind::Syncs => (all, if traced { setup.references.len() + 1 } else { 0 }, 1.0),
        };
        let end = if self.only.is_empty() { end } else { 1.0 };
        let until = self.seconds.map(|seconds| started + Duration::from_secs_f64(seconds * end));
        let first = self.trial.unwrap_or(self.first);
        let is_wanted = |number, tally: &Tally| match (self.trial, until) {
            (Some(only), _) => number == only,
            (None, Some(until)) => number < first + AT_LEAST || Instant::now() < until,
            (None, None) => tally.disturbed(&name) < wanted,
        };
        let mut number = first;
        while number < count && is_wanted(number, tally) {
            // All servers at once, because most of their trials is waiting.
            let end = if kind == Kind::Servers && self.trial.is_none() { count } else { number + 1 };
            for (directory, (subject, disturbed, verdict)) in setup.trials(kind, number..end)? {
                tally.count(&name, &subject, disturbed, &verdict);
                if verdict.is_wrong() || self.trial.is_some() {
                    eprintln!("{name} --trial {number}: {}: {verdict:?}", verdict.name());
                }
                if !verdict.is_wrong() {
                    remove(&directory)?;
                }
                number += 1;
            }
            setup.workspace.save(&tally.table())?;
        }
        Ok(())
    }
}

impl Kind {
    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

impl Setup {
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
        let (workspace, random) = (&self.workspace, &mut Random::new(self.seed, &kind.name(), number));
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
            Kind::Servers => once(servers::trial(number, workspace, directory, &self.archive)?),
        })
    }
}
