//! All runs of a report, grouped by everything but the seed.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    path::{Path, PathBuf},
};

use rehearsal_measure::{AccuracyMatrix, OverSeeds};

use crate::{
    arm::Arm,
    find::find,
    protocol::{Data, Protocol},
    readings::readings,
    run::{Found, ReadError, Run, Unfinished, read},
};

/// Every run found, in groups.
#[derive(Clone, Debug, Default)]
pub struct Study {
    /// Runs that differ in nothing but the seed. In the order of data, protocol, arm.
    pub groups: Vec<Group>,
    /// Runs without a result.
    pub unfinished: Vec<Unfinished>,
    /// Runs that are not counted because another of the same group has their seed.
    pub repeated: Vec<PathBuf>,
}

/// Runs that differ in nothing but the seed, one per seed.
#[derive(Clone, Debug)]
pub struct Group {
    /// How it was learned.
    pub arm: Arm,
    /// What was learned.
    pub data: Data,
    /// What must agree for a fair comparison.
    pub protocol: Protocol,
    /// By seed.
    pub runs: Vec<Run>,
}

impl Study {
    /// Reads every run at or below some directories.
    ///
    /// # Errors
    /// A directory cannot be read, or a run is damaged.
    pub fn read(roots: &[PathBuf]) -> Result<Self, ReadError> {
        let found = find(roots)?.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
        Ok(Self::new(found))
    }

    /// Of some runs.
    pub fn new(found: Vec<Found>) -> Self {
        let mut study = Self::default();
        let mut groups: BTreeMap<(Data, Protocol, Arm), BTreeMap<u64, Run>> = BTreeMap::new();
        for found in found {
            match found {
                Found::Unfinished(run) => study.unfinished.push(run),
                Found::Finished(run) => {
                    for run in readings(*run) {
                        let settings = &run.settings;
                        let key = (Data::of_run(&run), Protocol::from_settings(settings), Arm::from_settings(settings));
                        match groups.entry(key).or_default().entry(run.seed) {
                            Entry::Occupied(_) => study.repeated.push(run.path),
                            Entry::Vacant(place) => drop(place.insert(run)),
                        }
                    }
                }
            }
        }
        study.repeated.dedup();
        let group = |((data, protocol, arm), runs): ((Data, Protocol, Arm), BTreeMap<u64, Run>)| Group {
            arm,
            data,
            protocol,
            runs: runs.into_values().collect(),
        };
        study.groups = groups.into_iter().map(group).collect();
        study
    }

    /// How many runs are counted, and how many of them were tested with either statistics of the
    /// norm.
    pub fn runs(&self) -> (usize, usize) {
        let runs = || self.groups.iter().flat_map(|group| &group.runs);
        let paths = |runs: &mut dyn Iterator<Item = &Run>| runs.map(|run| &run.path).collect::<BTreeSet<_>>().len();
        (paths(&mut runs()), paths(&mut runs().filter(|run| run.is_again)))
    }

    /// Every protocol that has a group of its own: that of the paper first, then those with most
    /// runs.
    pub fn protocols(&self) -> Vec<Protocol> {
        let mut counts: BTreeMap<&Protocol, usize> = BTreeMap::new();
        for group in &self.groups {
            *counts.entry(&group.protocol).or_default() += group.runs.len();
        }
        let mut protocols: Vec<_> = counts.into_iter().collect();
        // Groups without memory stand beside those with any: they need no tables of their own.
        if protocols.iter().any(|(protocol, _)| protocol.memory() != Some(0.0)) {
            let with_memory: Vec<_> =
                protocols.iter().filter(|(protocol, _)| protocol.memory() != Some(0.0)).copied().collect();
            protocols
                .retain(|(protocol, _)| !with_memory.iter().any(|(other, _)| protocol.is_without_memory_of(other)));
        }
        protocols.sort_by_key(|(protocol, runs)| (protocol.differences_from_paper().len(), std::cmp::Reverse(*runs)));
        protocols.into_iter().map(|(protocol, _)| protocol.clone()).collect()
    }

    /// The groups of a protocol, and beside them those without memory that learned the same data.
    pub fn of_protocol(&self, protocol: &Protocol) -> Vec<&Group> {
        let learned = |data: &Data| self.groups.iter().any(|group| group.protocol == *protocol && group.data == *data);
        let belongs = |group: &&Group| {
            group.protocol == *protocol || group.protocol.is_without_memory_of(protocol) && learned(&group.data)
        };
        self.groups.iter().filter(belongs).collect()
    }

    /// The groups that learned the same under conditions that differ in the number of passes only,
    /// where there are two such conditions: what takes longer, and is it worth it? By the rest of
    /// their conditions and by their data.
    pub fn by_epochs(&self) -> Vec<(Protocol, &Data, Vec<&Group>)> {
        let mut sets: BTreeMap<(Protocol, &Data), Vec<&Group>> = BTreeMap::new();
        for group in self.groups.iter().filter(|group| group.protocol.epochs().is_some()) {
            sets.entry((group.protocol.but_epochs(), &group.data)).or_default().push(group);
        }
        sets.retain(|_, groups| groups.iter().map(|group| &group.protocol).collect::<BTreeSet<_>>().len() > 1);
        let mut sets: Vec<_> = sets.into_iter().map(|((protocol, data), groups)| (protocol, data, groups)).collect();
        sets.sort_by_key(|(protocol, ..)| protocol.is_reestimated());
        sets
    }

    /// How many runs without a result would belong to such a group.
    pub fn unfinished_like(&self, wanted: impl Fn(&Arm, &Data, &Protocol) -> bool) -> usize {
        let like = |run: &&Unfinished| {
            let settings = &run.settings;
            wanted(&Arm::from_settings(settings), &Data::from_settings(settings), &Protocol::from_settings(settings))
        };
        self.unfinished.iter().filter(like).count()
    }
}

impl Group {
    /// A measure over the seeds. Runs for which it is not defined are left out, and `n` says so.
    pub fn over_seeds(&self, measure: impl Fn(&Run) -> Option<f64>) -> Option<OverSeeds> {
        OverSeeds::from_values(&self.runs.iter().filter_map(measure).collect::<Vec<_>>())
    }

    /// A measure of the accuracy matrix, over the seeds.
    pub fn of_matrix(&self, measure: impl Fn(&AccuracyMatrix) -> Option<f64>) -> Option<OverSeeds> {
        self.over_seeds(|run| measure(&run.matrix))
    }

    /// How many tasks were learned.
    pub fn tasks(&self) -> usize {
        self.runs.iter().map(|run| run.matrix.tasks_seen()).max().unwrap_or(0)
    }

    /// The run with a seed.
    pub fn with_seed(&self, seed: u64) -> Option<&Run> {
        self.runs.iter().find(|run| run.seed == seed)
    }

    /// The directories of its runs.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.runs.iter().map(|run| run.path.as_path())
    }
}
