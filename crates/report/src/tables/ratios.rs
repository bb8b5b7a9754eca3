//! Table 3, and its counterpart for forgetting in the supplement: PCR by the ratio of conflicting
//! to aligned samples.

use std::collections::BTreeSet;

use super::{Conditions, variants};
use crate::{
    arm::{Arm, Replay},
    paper::{self, Shown},
    settings::Part,
    table::{Header, Row, Table},
};

pub fn table(conditions: &Conditions, shown: Shown) -> Option<Table> {
    let columns = columns(conditions);
    let mut rows = Vec::new();
    // Options other than the ratio make rows of their own.
    let options: BTreeSet<Part> =
        conditions.arms().iter().filter(|arm| Column::from_arm(arm).is_some()).map(|arm| arm.options()).collect();
    for data in conditions.data() {
        for option in &options {
            let cells: Vec<_> = columns
                .iter()
                .map(|column| {
                    let wanted = |arm: &Arm| column.is_of(arm) && arm.options() == *option;
                    let paper = paper::ratio(&column.name(), data.dataset(), shown);
                    conditions.cell(variants(&conditions.groups, wanted)[0], wanted, data, shown, paper)
                })
                .collect();
            if cells.iter().filter(|cell| cell.measured().is_some()).count() >= 2 {
                let label = match option.distinction(&options) {
                    said if said.is_empty() => data.label(),
                    said => format!("{}; {said}", data.label()),
                };
                rows.push(Row { label, begins_part: false, cells });
            }
        }
    }
    let (id, what, place) = match shown {
        Shown::Accuracy => ("table3-ratios", "accuracy", "the paper's Table 3"),
        Shown::Forgetting => ("ratios-forgetting", "forgetting", "the paper's supplement"),
    };
    let reading = "Conflicting to aligned samples per step; 10:0 is MIR, 0:10 is IMIR. Percent, mean ± sample standard deviation over seeds, \
                   the paper's number beside it. Best of the row in bold.";
    let headers = columns.iter().map(|column| Header { better: Some(shown.better()), ..Header::one(column.name()) });
    let mut table = Table {
        id: format!("{}{id}", conditions.prefix),
        title: format!("PCR by sampling ratio, {what} ({place}): {}", conditions.label),
        notes: [Some(reading.to_owned()), conditions.difference_note()].into_iter().flatten().collect(),
        corner: "MIR:IMIR".into(),
        headers: vec![headers.collect()],
        rows,
    };
    table.mark_best_of_rows();
    table.has_runs().then_some(table)
}

/// A column: a ratio, or the baseline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    /// From the most conflicting on.
    Ratio {
        low: usize,
        high: usize,
    },
    Random,
}

impl Column {
    fn name(&self) -> String {
        match self {
            Self::Ratio { low, high } => format!("{high}:{low}"),
            Self::Random => "random".into(),
        }
    }

    fn is_of(&self, arm: &Arm) -> bool {
        Self::from_arm(arm).as_ref() == Some(self)
    }

    fn from_arm(arm: &Arm) -> Option<Self> {
        match arm.replay {
            _ if arm.method != "pcr" || !matches!(arm.policy.as_str(), "" | "reservoir") => None,
            Replay::LossChange { high, low } => Some(Self::Ratio { low, high }),
            Replay::Random => Some(Self::Random),
            _ => None,
        }
    }
}

/// The paper's eleven ratios if ten are retrieved; whatever else was run; random last.
fn columns(conditions: &Conditions) -> Vec<Column> {
    let mut columns: BTreeSet<Column> = conditions.arms().iter().filter_map(|arm| Column::from_arm(arm)).collect();
    if columns.iter().any(|column| matches!(column, Column::Ratio { low, high } if low + high == 10)) {
        columns.extend((0..=10).map(|low| Column::Ratio { low, high: 10 - low }));
    }
    columns.insert(Column::Random);
    columns.into_iter().collect()
}
