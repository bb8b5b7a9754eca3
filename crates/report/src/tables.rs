//! Tables from runs: of what was run, and the paper's if they are asked for. One file per table; a new
//! one is one file and one line of [`all`].

mod buffers;
mod by_time;
mod columns;
mod comparisons;
mod costs;
mod differences;
mod first_and_last;
mod further;
mod learned;
mod mcnemar;
mod methods;
mod online;
mod ratios;
mod recalibration;
mod results;
mod selections;
mod wilcoxon;

use std::collections::BTreeSet;

use rehearsal_measure::{AccuracyMatrix, Better, accuracy, forgetting};

use crate::{
    arm::Arm,
    paper::Shown,
    protocol::{Data, Protocol},
    slug,
    study::{Group, Study},
    table::{Measured, Table},
};

pub use buffers::tables as by_memory;
pub use by_time::tables as by_time;
pub use recalibration::tables as recalibration;

/// One set of conditions, and its groups.
pub struct Conditions<'a> {
    /// All runs.
    pub study: &'a Study,
    /// The conditions.
    pub protocol: &'a Protocol,
    /// The groups, including those without memory.
    pub groups: Vec<&'a Group>,
    /// The beginning of the names of tables and figures: empty for the first conditions.
    pub prefix: String,
    /// The conditions in words.
    pub label: String,
    /// Whether the paper's tables are wanted.
    pub paper: bool,
    /// Whether figures have no titles.
    pub bare: bool,
}

/// The tables of one set of conditions, and a sentence about each of the paper's that could not be made.
pub fn all(conditions: &Conditions) -> (Vec<Table>, Vec<String>) {
    let mut tables = vec![results::table(conditions)];
    tables.extend(online::table(conditions));
    tables.extend(further::table(conditions));
    tables.extend(differences::table(conditions));
    tables.extend(wilcoxon::table(conditions));
    tables.extend(mcnemar::tables(conditions));
    tables.extend(first_and_last::tables(conditions));
    // The second reading of a run has no costs of its own.
    if !conditions.groups.iter().flat_map(|group| &group.runs).all(|run| run.is_again) {
        tables.push(costs::table(conditions));
    }
    let mut notes = Vec::new();
    if conditions.paper {
        let ratios = "PCR at two sampling ratios on one data set";
        for (name, made, needs) in [
            ("methods (Table 1)", methods::table(conditions), "runs of a method of the paper, plain or balanced"),
            ("ratios (Table 3)", ratios::table(conditions, Shown::Accuracy), ratios),
            ("forgetting by ratio (supplement)", ratios::table(conditions, Shown::Forgetting), ratios),
            (
                "instance selection (supplement)",
                selections::table(conditions),
                "PCR with two retrievals on one data set",
            ),
        ] {
            match made {
                Some(table) => tables.push(table),
                None => notes.push(format!("No table of {name}: it needs {needs}.")),
            }
        }
    }
    (tables, notes)
}

impl<'a> Conditions<'a> {
    /// What was learned, in the paper's order.
    pub fn data(&self) -> Vec<&'a Data> {
        self.groups.iter().map(|group| &group.data).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Every arm, in the paper's order.
    pub fn arms(&self) -> Vec<&'a Arm> {
        self.groups.iter().map(|group| &group.arm).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The groups that learned some data, by arm.
    pub fn groups_on(&self, data: &Data) -> Vec<&'a Group> {
        let mut groups: Vec<&Group> = self.groups.iter().copied().filter(|group| group.data == *data).collect();
        groups.sort_by_key(|group| &group.arm);
        groups
    }

    /// The name of a table of all data.
    fn id(&self, kind: &str) -> String {
        format!("{}{kind}", self.prefix)
    }

    /// The name of a table of some data.
    fn id_on(&self, kind: &str, data: &Data) -> String {
        format!("{}{kind}-{}", self.prefix, slug(data, &self.data()))
    }
}

impl Shown {
    /// Both, in the paper's order.
    pub const ALL: [Self; 2] = [Self::Accuracy, Self::Forgetting];

    /// The paper's abbreviation.
    pub fn short(self) -> &'static str {
        match self {
            Self::Accuracy => "Acc.",
            Self::Forgetting => "Fgt.",
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Forgetting => "forgetting",
        }
    }

    /// Which direction is better.
    pub fn better(self) -> Better {
        match self {
            Self::Accuracy => Better::Higher,
            Self::Forgetting => Better::Lower,
        }
    }

    /// The measure itself.
    pub fn measure(self) -> fn(&AccuracyMatrix) -> Option<f64> {
        match self {
            Self::Accuracy => accuracy,
            Self::Forgetting => forgetting,
        }
    }

    /// In percent, over the seeds of a group.
    fn of(self, group: &Group) -> Option<Measured> {
        Measured::new(group, group.of_matrix(self.measure()), (100.0, 2), Some(self.better()))
    }
}
