//! The file of a grid.

use std::collections::{BTreeMap, BTreeSet};

use rehearsal_runs::{Place, Setting};
use serde::Deserialize;
use thiserror::Error;
use toml::{Table, Value};

/// The most runs of a grid: each is a directory, and all are in memory while it is planned.
pub const MOST_RUNS: usize = 100_000;

/// What a planned run takes in memory, about, in bytes.
const RUN_BYTES: f64 = 4096.0;

/// A grid as its file says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// What all runs share.
    pub(crate) fixed: Table,
    /// The values of each axis, as settings.
    pub(crate) axes: BTreeMap<String, Vec<Table>>,
    /// Combinations with all settings of one of these are left out.
    pub(crate) exclude: Vec<Table>,
}

/// Why a file is not a grid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GridError {
    /// It is not TOML, or not of the three parts.
    #[error("line {line}: {why}")]
    Unreadable {
        /// Where.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// It has no axes.
    #[error("a grid needs `[axes]` with at least one list")]
    NoAxes,
    /// Too many runs.
    #[error(
        "the axes make {} runs, and to list them alone would take about {:.0} GB of memory: a grid has at most \
         100,000, so split it",
        many(*count), count * RUN_BYTES / 1e9
    )]
    TooMany {
        /// How many combinations there are, about.
        count: f64,
    },
    /// A setting that does not exist.
    #[error("unknown setting `{name}` in {place}{}", nearest.map(|n| format!(": did you mean `{n}`?")).unwrap_or_default())]
    NoSetting {
        /// The name.
        name: String,
        /// In which part.
        place: String,
        /// One with a similar name.
        nearest: Option<&'static str>,
    },
    /// An axis is not a list, or empty.
    #[error("axis `{0}` must be a list of at least one value")]
    NotAList(String),
    /// An axis has values and tables, or tables without settings.
    #[error("axis `{0}` must be a list of plain values, or of tables with settings")]
    Mixed(String),
    /// An axis names a value twice.
    #[error("axis `{0}` lists {1} twice")]
    Twice(String, String),
    /// Two parts set the same setting.
    #[error("`{name}` is set by {first} and by {second}: set it once")]
    SetTwice {
        /// The setting.
        name: String,
        /// One part.
        first: String,
        /// Another.
        second: String,
    },
    /// No combination has the settings of an exclusion.
    #[error("exclusion {0} leaves nothing out: no combination has {1}")]
    ExcludesNothing(usize, String),
    /// Nothing is left.
    #[error("all {0} combinations are excluded")]
    AllExcluded(usize),
    /// Two combinations are the same run.
    #[error("two combinations are the same run: {0}")]
    SameRun(String),
}

/// 312079600999 as `312 billion`.
fn many(count: f64) -> String {
    let units = [(1e12, "trillion"), (1e9, "billion"), (1e6, "million")];
    match units.iter().find(|(unit, _)| count >= *unit) {
        Some((_, unit)) if count >= 1e15 => format!("more than a thousand {unit}"),
        Some((size, unit)) => format!("{:.0} {unit}", count / size),
        None => format!("{count:.0}"),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    fixed: Table,
    #[serde(default)]
    axes: Table,
    #[serde(default)]
    exclude: Vec<Table>,
}

impl Grid {
    /// Reads the text of a file. Values of settings are checked later, by [`Plan::read`](crate::Plan::read).
    ///
    /// # Errors
    /// It is not a grid.
    pub fn parse(text: &str) -> Result<Self, GridError> {
        let File { fixed, axes, exclude } = toml::from_str(text).map_err(|error| GridError::Unreadable {
            line: 1 + error.span().map_or(0, |span| text[..span.start].matches('\n').count()),
            why: error.message().to_owned(),
        })?;
        if axes.is_empty() {
            return Err(GridError::NoAxes);
        }
        let axes = axes.into_iter().map(|(name, values)| Ok((name.clone(), axis(&name, values)?)));
        let grid = Self { fixed, axes: axes.collect::<Result<_, GridError>>()?, exclude };
        grid.check_names()?;
        grid.check_set_once()?;
        grid.check_size()?;
        Ok(grid)
    }

    /// Refuses unknown settings first: an exclusion that spells a misspelt axis right is not at fault.
    fn check_names(&self) -> Result<(), GridError> {
        let fixed = self.fixed.keys().map(|name| (name, "[fixed]".to_owned()));
        let axes = self.axes.iter().flat_map(|(axis, values)| {
            values.iter().flat_map(Table::keys).map(move |name| (name, format!("axis `{axis}`")))
        });
        let exclusions = self
            .exclude
            .iter()
            .enumerate()
            .flat_map(|(i, exclusion)| exclusion.keys().map(move |name| (name, format!("exclusion {}", i + 1))));
        let is_setting = |name: &str| Setting::find(name).is_some_and(|setting| setting.place != Place::Run);
        match fixed.chain(axes).chain(exclusions).find(|(name, _)| !is_setting(name)) {
            None => Ok(()),
            Some((name, place)) => {
                let nearest = Setting::nearest(name).map(|setting| setting.name);
                Err(GridError::NoSetting { name: name.clone(), place, nearest })
            }
        }
    }

    /// Refuses more combinations than can be planned, before any of them is made.
    fn check_size(&self) -> Result<(), GridError> {
        let count: f64 = self.axes.values().map(|values| values.len() as f64).product();
        if count <= MOST_RUNS as f64 { Ok(()) } else { Err(GridError::TooMany { count }) }
    }

    fn check_set_once(&self) -> Result<(), GridError> {
        let mut set: BTreeMap<&str, String> =
            self.fixed.keys().map(|name| (name.as_str(), "[fixed]".to_owned())).collect();
        for (axis, values) in &self.axes {
            let names: BTreeSet<&str> = values.iter().flat_map(Table::keys).map(String::as_str).collect();
            for name in names {
                let second = format!("axis `{axis}`");
                if let Some(first) = set.insert(name, second.clone()) {
                    return Err(GridError::SetTwice { name: name.into(), first, second });
                }
            }
        }
        Ok(())
    }
}

/// The values of an axis as settings.
fn axis(name: &str, values: Value) -> Result<Vec<Table>, GridError> {
    let Value::Array(values) = values else { return Err(GridError::NotAList(name.into())) };
    if values.is_empty() {
        return Err(GridError::NotAList(name.into()));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = values.iter().map(Value::to_string).find(|value| !seen.insert(value.clone())) {
        return Err(GridError::Twice(name.into(), twice));
    }
    let tables = values.iter().filter(|value| value.is_table()).count();
    let settings = |value: Value| match value {
        Value::Table(settings) if !settings.is_empty() => Ok(settings),
        Value::Table(_) | Value::Array(_) => Err(GridError::Mixed(name.into())),
        plain => Ok(Table::from_iter([(name.to_owned(), plain)])),
    };
    if tables != 0 && tables != values.len() {
        return Err(GridError::Mixed(name.into()));
    }
    values.into_iter().map(settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Grid::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_that_is_not_a_grid_is_refused() {
        for (text, why) in [
            ("[axes]\nseed = [0, 1", "line 2: "),
            ("[axis]\nseed = [0]", "line 1: unknown field `axis`"),
            ("[fixed]\nseed = 0", "a grid needs `[axes]`"),
            ("[axes]\nseed = 0", "axis `seed` must be a list"),
            ("[axes]\nseed = []", "axis `seed` must be a list of at least one value"),
            ("[axes]\nseed = [0, 1, 0]", "axis `seed` lists 0 twice"),
            (
                "[axes]\nlearner = [{ method = 'er' }, 'pcr']",
                "axis `learner` must be a list of plain values, or of tables",
            ),
            ("[axes]\nlearner = [{}]", "axis `learner` must be a list of plain values, or of tables"),
            ("[fixed]\nmethod = 'er'\n[axes]\nmethod = ['pcr']", "`method` is set by [fixed] and by axis `method`"),
            ("[axes]\nlerning-rate = [1]", "unknown setting `lerning-rate` in axis `lerning-rate`"),
            (
                "[axes]\nmetod = ['er']\nseed = [0]\n[[exclude]]\nmethod = 'er'",
                "unknown setting `metod` in axis `metod`: did you mean `method`?",
            ),
            ("[fixed]\nepoch = 1\n[axes]\nseed = [0]", "unknown setting `epoch` in [fixed]: did you mean `epochs`?"),
            (
                "[axes]\nseed = [0]\n[[exclude]]\nsead = 0",
                "unknown setting `sead` in exclusion 1: did you mean `seed`?",
            ),
            ("[axes]\nversion = ['1']", "unknown setting `version`"),
            ("[axes]\na = [{ lr = 1 }]\nb = [{ lr = 2 }]", "`lr` is set by axis `a` and by axis `b`"),
        ] {
            assert!(refused(text).starts_with(why), "{text}: {}", refused(text));
        }
    }

    #[test]
    fn more_runs_than_can_be_planned_are_refused_before_they_are_made() {
        let values = (0..199).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
        let axes = |names: &[&str]| {
            names.iter().fold("[axes]\n".to_owned(), |text, name| format!("{text}{name} = [{values}]\n"))
        };
        assert!(Grid::parse(&axes(&["seed", "memory"])).is_ok());
        let five = refused(&axes(&["seed", "memory", "epochs", "candidates", "width"]));
        let why = "the axes make 312 billion runs, and to list them alone would take about 1278278 GB of memory";
        assert!(five.starts_with(why), "{five}");
        let all = ["seed", "memory", "epochs", "candidates", "width", "batch", "retrieved"];
        assert!(refused(&axes(&all)).starts_with("the axes make more than a thousand trillion runs"));
    }
}
