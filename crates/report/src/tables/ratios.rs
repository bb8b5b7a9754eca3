//! Table 3, and its counterpart for forgetting in the supplement: PCR by the ratio of conflicting to
//! aligned samples.

use std::collections::BTreeSet;

use super::{
    Conditions,
    columns::{Column, notes},
};
use crate::{
    arm::{Arm, Replay},
    paper::{self, Shown},
    settings::Part,
    table::{Header, Row, Table},
};

const READING: &str = "Conflicting to aligned samples per step; 10:0 is MIR, 0:10 is IMIR. Percent, mean ± sample standard deviation over \
    seeds, the paper's number beside it. The best of the row is bold.";

pub fn table(conditions: &Conditions, shown: Shown) -> Option<Table> {
    let ratios = columns(conditions);
    let columns: Vec<Column> =
        conditions.data().into_iter().map(|data| Column::new(conditions, data.clone())).collect();
    let of_ratio = conditions.arms().into_iter().filter(|arm| Ratio::from_arm(arm).is_some());
    // Other options than the ratio have their own rows.
    let options: BTreeSet<Part> = of_ratio.map(Arm::options).collect();
    let mut rows = Vec::new();
    for column in &columns {
        for option in &options {
            let cell = |ratio: &Ratio| {
                let wanted = |arm: &Arm| ratio.is_of(arm) && arm.options() == *option;
                let arm = conditions.arms().into_iter().find(|arm| wanted(arm));
                column.cell(arm, wanted, shown, paper::ratio(&ratio.name(), column.data.dataset(), shown))
            };
            let cells: Vec<_> = ratios.iter().map(cell).collect();
            if cells.iter().filter(|cell| cell.measured().is_some()).count() >= 2 {
                let label = match option.distinction(&options) {
                    settings if settings.is_empty() => column.data.label(),
                    settings => format!("{}; {settings}", column.data.label()),
                };
                rows.push(Row { label, begins_part: false, cells });
            }
        }
    }
    let (kind, place) = match shown {
        Shown::Accuracy => ("table3-ratios", "the paper's Table 3"),
        Shown::Forgetting => ("ratios-forgetting", "the paper's supplement"),
    };
    let title = format!("PCR by sampling ratio, {} ({place}): {}", shown.name(), conditions.label);
    let headers = ratios.iter().map(|ratio| Header::measure(ratio.name(), shown.better()));
    let notes = notes(READING, conditions.protocol.differences_from_paper(), &columns);
    Table::new((conditions.id(kind), title), notes, "MIR:IMIR", headers, rows).with_best_of_rows().if_any_runs()
}

/// A column: a ratio, or the baseline.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ratio {
    /// From the most conflicting on.
    Of {
        low: usize,
        high: usize,
    },
    Random,
}

impl Ratio {
    fn name(&self) -> String {
        match self {
            Self::Of { low, high } => format!("{high}:{low}"),
            Self::Random => "random".into(),
        }
    }

    fn is_of(&self, arm: &Arm) -> bool {
        Self::from_arm(arm).as_ref() == Some(self)
    }

    fn from_arm(arm: &Arm) -> Option<Self> {
        match arm.replay {
            _ if arm.method != "pcr" || !matches!(arm.policy.as_str(), "" | "reservoir") => None,
            Replay::LossChange { high, low } => Some(Self::Of { low, high }),
            Replay::Random => Some(Self::Random),
            _ => None,
        }
    }
}

/// The paper's eleven ratios if ten samples are retrieved, all others that were run, and random.
fn columns(conditions: &Conditions) -> Vec<Ratio> {
    let mut columns: BTreeSet<Ratio> = conditions.arms().iter().filter_map(|arm| Ratio::from_arm(arm)).collect();
    if columns.iter().any(|column| matches!(column, Ratio::Of { low, high } if low + high == 10)) {
        columns.extend((0..=10).map(|low| Ratio::Of { low, high: 10 - low }));
    }
    columns.insert(Ratio::Random);
    columns.into_iter().collect()
}
