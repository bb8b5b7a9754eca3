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
    slug,
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

/// Groups that learned the same data under conditions that differ in one setting.
pub struct Varied<'a> {
    prefix: &'static str,
    slug: String,
    /// The rest of the conditions.
    pub protocol: Protocol,
    /// The same in words.
    pub label: String,
    /// What they learned.
    pub data: &'a Data,
    /// The groups.
    pub groups: Vec<&'a Group>,
}

impl Varied<'_> {
    /// The name of a table or figure of them.
    pub fn id(&self, kind: &str) -> String {
        format!("{}{kind}-{}", self.prefix, self.slug)
    }
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

    /// Groups some runs.
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

    /// The number of runs that are counted, and how many of them were tested with both `BatchNorm`
    /// statistics.
    pub fn runs(&self) -> (usize, usize) {
        let runs = || self.groups.iter().flat_map(|group| &group.runs);
        let paths = |runs: &mut dyn Iterator<Item = &Run>| runs.map(|run| &run.path).collect::<BTreeSet<_>>().len();
        (paths(&mut runs()), paths(&mut runs().filter(|run| run.is_again)))
    }

    /// Every protocol with its own part of the report: the paper's first, then those with most runs.
    pub fn protocols(&self) -> Vec<Protocol> {
        let mut counts: BTreeMap<&Protocol, usize> = BTreeMap::new();
        for group in &self.groups {
            *counts.entry(&group.protocol).or_default() += group.runs.len();
        }
        let mut protocols: Vec<_> = counts.into_iter().collect();
        // Groups without memory are shown beside those with one.
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

    /// The sets of groups that differ in the number of epochs.
    pub fn by_epochs(&self) -> Vec<Varied<'_>> {
        self.varied(Protocol::but_epochs, |protocol| protocol.epochs().is_some())
    }

    /// The sets of groups that differ in the size of the memory.
    pub fn by_memory(&self) -> Vec<Varied<'_>> {
        self.varied(Protocol::but_memory, |protocol| protocol.memory().is_some_and(|memory| memory > 0.0))
    }

    /// The groups that learned the same data under at least two conditions that differ in one setting
    /// only: by the rest of their conditions and by their data.
    fn varied(&self, rest: fn(&Protocol) -> Protocol, wanted: fn(&Protocol) -> bool) -> Vec<Varied<'_>> {
        let mut sets: BTreeMap<(Protocol, &Data), Vec<&Group>> = BTreeMap::new();
        for group in self.groups.iter().filter(|group| wanted(&group.protocol)) {
            sets.entry((rest(&group.protocol), &group.data)).or_default().push(group);
        }
        let among: Vec<Protocol> = sets.keys().map(|(protocol, _)| protocol.clone()).collect();
        let data: Vec<&Data> = sets.keys().map(|(_, data)| *data).collect();
        sets.retain(|_, groups| groups.iter().any(|group| group.protocol != groups[0].protocol));
        let mut sets: Vec<_> = sets.into_iter().collect();
        sets.sort_by_key(|((protocol, _), _)| protocol.is_recalibrated());
        let mut varied: Vec<Varied> = Vec::new();
        for ((protocol, learned), groups) in sets {
            let (prefix, mut name) = (protocol.prefix(), slug(learned, &data));
            if varied.iter().any(|other| (other.prefix, &other.slug) == (prefix, &name)) {
                name = format!("{name}-p{}", varied.len() + 1);
            }
            varied.push(Varied { prefix, slug: name, label: protocol.label(&among), data: learned, groups, protocol });
        }
        varied
    }

    /// The number of runs without a result that would belong to such a group.
    pub fn unfinished_like(&self, wanted: impl Fn(&Arm, &Data, &Protocol) -> bool) -> usize {
        let like = |run: &&Unfinished| {
            let settings = &run.settings;
            wanted(&Arm::from_settings(settings), &Data::from_settings(settings), &Protocol::from_settings(settings))
        };
        self.unfinished.iter().filter(like).count()
    }
}

impl Group {
    /// A measure over the seeds; runs for which it is not defined are left out of `n`.
    pub fn over_seeds(&self, measure: impl Fn(&Run) -> Option<f64>) -> Option<OverSeeds> {
        OverSeeds::from_values(&self.runs.iter().filter_map(measure).collect::<Vec<_>>())
    }

    /// A measure of the accuracy matrix, over the seeds.
    pub fn of_matrix(&self, measure: impl Fn(&AccuracyMatrix) -> Option<f64>) -> Option<OverSeeds> {
        self.over_seeds(|run| measure(&run.matrix))
    }

    /// The number of tasks.
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
