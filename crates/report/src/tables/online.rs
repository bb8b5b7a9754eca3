//! The online setting of the field: ours beside what was published, with a verdict.

use super::{Conditions, learned::Learned};
use crate::{
    paper::{Shown, Verdict},
    published::{Quoted, quoted},
    study::Group,
    table::{Cell, Header, Row, Table},
    text::{NONE, number},
};

/// None under other conditions.
pub fn table(conditions: &Conditions) -> Option<Table> {
    let learned = Learned::of(conditions);
    let online = learned.iter().find(|one| conditions.protocol.is_online() && one.data.is_online())?;
    let memory = conditions.protocol.memory()?;
    let rows = online.groups.iter().zip(&online.names).map(|(group, name)| row(group, name, memory)).collect();
    let title = format!("Online Split CIFAR-100 beside published numbers: {}", conditions.label);
    let headers = HEADERS.into_iter().map(Header::one);
    Table::new((conditions.id("online"), title), vec![NOTE.into()], "Method", headers, rows).if_any_runs()
}

const HEADERS: [&str; 6] = ["seeds", "accuracy", "95 % interval", "published", "verdict", "source"];

const NOTE: &str = "Percent at the end, mean ± sample standard deviation over seeds, and the 95 % interval of the mean (Student's t). \
    *Reproduced*: the published mean is within our interval, or the two intervals overlap; else ours is *above* or *below*. Only numbers \
    are quoted whose source is known; where they stand is told in data/online of the report's crate.";

fn row(group: &Group, name: &str, memory: f64) -> Row {
    let ours = Shown::Accuracy.of(group);
    let as_published = |Quoted { number, .. }: &Quoted| match number.half_interval {
        Some(half) => format!("{} ± {half}", number.mean),
        None => number.mean.to_string(),
    };
    let ends = |[low, high]: [f64; 2]| format!("[{}, {}]", number(low, 2), number(high, 2));
    let published = quoted(&group.arm, memory);
    let verdict = ours
        .as_ref()
        .zip(published.as_ref())
        .map(|(ours, quoted)| Verdict::new(ours.value, quoted.number, true).words().to_owned());
    let spread = ours.as_ref().and_then(|ours| ours.value.interval());
    let runs: Vec<_> = group.paths().map(Into::into).collect();
    let text = |text: Option<String>| Cell::plain(text.unwrap_or_else(|| NONE.into()));
    let cells = vec![
        Cell::text(group.runs.len().to_string(), runs),
        ours.into(),
        text(spread.map(ends)),
        text(published.as_ref().map(as_published)),
        text(verdict),
        text(published.map(|quoted| quoted.source.to_owned())),
    ];
    Row { label: name.to_owned(), begins_part: false, cells }
}
