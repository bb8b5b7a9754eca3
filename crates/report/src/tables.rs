//! Tables from runs: of what was run, and the paper's own where they are asked for. One file per
//! table; a new one is one file and one line of [`all`].

mod buffers;
mod by_time;
mod comparisons;
mod costs;
mod differences;
mod first_and_last;
mod learned;
mod mcnemar;
mod methods;
mod ratios;
mod recalibration;
mod results;
mod selections;
mod wilcoxon;

use std::collections::{BTreeMap, BTreeSet};

use rehearsal_measure::{AccuracyMatrix, Better, accuracy, forgetting};

use crate::{
    arm::Arm,
    paper::Shown,
    protocol::{Data, Protocol},
    study::{Group, Study},
    table::{Cell, Measured, Table},
};

/// One set of conditions, and the groups that learned under it.
pub struct Conditions<'a> {
    /// Everything that was found.
    pub study: &'a Study,
    /// The conditions.
    pub protocol: &'a Protocol,
    /// The groups, those without memory included.
    pub groups: Vec<&'a Group>,
    /// Put before the names of tables and figures: empty for the first conditions.
    pub prefix: String,
    /// The conditions in words.
    pub label: String,
    /// Whether the paper's own tables are wanted.
    pub paper: bool,
    /// Whether figures go without their titles.
    pub bare: bool,
}

/// The tables of one set of conditions, and sentences about those of the paper that could not be
/// made.
pub fn all(conditions: &Conditions) -> (Vec<Table>, Vec<String>) {
    let mut tables = vec![results::table(conditions)];
    tables.extend(differences::table(conditions));
    tables.extend(wilcoxon::table(conditions));
    tables.extend(mcnemar::tables(conditions));
    tables.extend(first_and_last::tables(conditions));
    // What was read a second time cost nothing again.
    if !conditions.groups.iter().flat_map(|group| &group.runs).all(|run| run.is_again) {
        tables.push(costs::table(conditions));
    }
    let mut notes = Vec::new();
    if conditions.paper {
        of_paper(conditions, &mut tables, &mut notes);
    }
    (tables, notes)
}

/// The paper's own.
fn of_paper(conditions: &Conditions, tables: &mut Vec<Table>, notes: &mut Vec<String>) {
    let mut take = |name: &str, made: Option<Table>, needs: &str| match made {
        Some(table) => tables.push(table),
        None => notes.push(format!("No {name}: it needs {needs}.")),
    };
    take("table of methods (Table 1)", methods::table(conditions), "runs of a method of the paper, plain or balanced");
    take(
        "table of ratios (Table 3)",
        ratios::table(conditions, Shown::Accuracy),
        "PCR at two sampling ratios on one data set",
    );
    take(
        "table of forgetting by ratio (supplement)",
        ratios::table(conditions, Shown::Forgetting),
        "PCR at two sampling ratios on one data set",
    );
    take(
        "table of instance selection (supplement)",
        selections::table(conditions),
        "PCR with two retrievals on one data set",
    );
}

/// Table 2, one per protocol but for its memory.
pub fn by_memory(study: &Study) -> Vec<Table> {
    buffers::tables(study)
}

/// What arms reach in how much time, where they were run for more or fewer epochs.
pub fn by_time(study: &Study) -> Vec<Table> {
    by_time::tables(study)
}

/// What re-estimated statistics of the norm change, where runs were tested with either.
pub fn recalibration(study: &Study) -> Vec<Table> {
    recalibration::tables(study)
}

impl Conditions<'_> {
    /// What was learned, in the paper's order.
    pub fn data(&self) -> Vec<&Data> {
        self.groups.iter().map(|group| &group.data).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Every way of learning, in the paper's order.
    pub fn arms(&self) -> Vec<&Arm> {
        self.groups.iter().map(|group| &group.arm).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The group of an arm on some data.
    pub fn group(&self, arm: &Arm, data: &Data) -> Option<&Group> {
        self.groups.iter().copied().find(|group| group.arm == *arm && group.data == *data)
    }

    /// A cell of a measure of the paper, beside the paper's number. Without an arm nothing was run;
    /// what was begun is `wanted`.
    fn cell(
        &self,
        arm: Option<&Arm>,
        wanted: impl Fn(&Arm) -> bool,
        data: &Data,
        shown: Shown,
        paper: Option<f64>,
    ) -> Cell {
        let same_setting = self.protocol.differences_from_paper().is_empty()
            && data.differences_from_paper().is_empty()
            && arm.is_some_and(|arm| arm.differences_from_paper().is_empty());
        if let Some(measured) = arm.and_then(|arm| self.group(arm, data)).and_then(|group| shown.of(group)) {
            return Cell::Measured(measured.beside(paper, same_setting));
        }
        let like = |its: &Arm, learned: &Data, protocol: &Protocol| {
            wanted(its) && learned.is_like(data) && protocol == self.protocol
        };
        Cell::Missing { unfinished: self.study.unfinished_like(like), paper }
    }

    /// A sentence of how the runs differ from the paper's; none if they do not, or the paper has no
    /// such data.
    fn difference_note(&self) -> Option<String> {
        let mut differences = self.protocol.differences_from_paper();
        differences.extend(self.data().iter().flat_map(|data| data.differences_from_paper()));
        differences.extend(options_note(&self.arms()));
        let list = differences.join("; ");
        (!differences.is_empty())
            .then(|| format!("Different setting: {list}. The paper's numbers stand beside ours for orientation only."))
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

    /// Which way it should go.
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
        Measured::new(group, group.of_matrix(self.measure()), 100.0, Some(self.better()))
    }
}

/// The arms that a row of the paper stands for: one, several whose options differ, or none where
/// nothing was run.
fn variants<'a>(groups: &[&'a Group], wanted: impl Fn(&Arm) -> bool) -> Vec<Option<&'a Arm>> {
    let arms: BTreeSet<&Arm> = groups.iter().map(|group| &group.arm).filter(|arm| wanted(arm)).collect();
    if arms.is_empty() { vec![None] } else { arms.into_iter().map(Some).collect() }
}

/// What tells a variant from the others of its row.
fn distinction(arm: Option<&Arm>, variants: &[Option<&Arm>]) -> String {
    let others: Vec<&Arm> = variants.iter().copied().flatten().collect();
    arm.map_or(String::new(), |arm| arm.distinction(&others))
}

/// The options in which some arms differ from the paper's, each with the arms that have it.
fn options_note(arms: &[&Arm]) -> Vec<String> {
    let mut differing: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for arm in arms {
        for difference in arm.differences_from_paper() {
            differing.entry(difference).or_default().insert(arm.label());
        }
    }
    let said = |(difference, arms): (String, BTreeSet<String>)| {
        format!("{difference} in {}", arms.into_iter().collect::<Vec<_>>().join(", "))
    };
    differing.into_iter().map(said).collect()
}

/// How cells are to be read, once per table that has any of these.
fn reading_notes() -> String {
    "Percent, mean ± sample standard deviation over seeds. The paper's number stands beside ours: *within* if it is at most two standard \
     deviations away, else *above* or *below* it. An arrow is the change that balanced retrieval makes to the method. Best in bold."
        .into()
}
