//! All runs of a report, grouped by everything but the seed.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    path::{Path, PathBuf},
};

use rehearsal_measure::{AccuracyMatrix, OverSeeds};

use crate::{
    arm::Arm,
    find::find,
    protocol::{Data, Protocol},
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
                    let key =
                        (Data::of_run(&run), Protocol::from_settings(&run.settings), Arm::from_settings(&run.settings));
                    match groups.entry(key).or_default().entry(run.seed) {
                        Entry::Occupied(_) => study.repeated.push(run.path),
                        Entry::Vacant(place) => drop(place.insert(*run)),
                    }
                }
            }
        }
        let group = |((data, protocol, arm), runs): ((Data, Protocol, Arm), BTreeMap<u64, Run>)| Group {
            arm,
            data,
            protocol,
            runs: runs.into_values().collect(),
        };
        study.groups = groups.into_iter().map(group).collect();
        study
    }

    /// How many runs are counted.
    pub fn runs(&self) -> usize {
        self.groups.iter().map(|group| group.runs.len()).sum()
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
