//! The file of a grid.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;
use toml::{Table, Value};

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

/// Why a file is no grid. One sentence, for people.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
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
    #[error("a grid needs `[axes]` with at least one list: for a single run, use `rehearsal run`")]
    NoAxes,
    /// An axis is not a list, or empty.
    #[error("axis `{0}` must be a list of at least one value")]
    NotAList(String),
    /// An axis has values and tables, or tables without settings.
    #[error("axis `{0}` must be a list of plain values, or of tables with settings")]
    Mixed(String),
    /// An axis names a value twice.
    #[error("axis `{0}` lists {1} twice")]
    Twice(String, String),
    /// Two parts say the same setting.
    #[error("`{name}` is said by {first} and by {second}: say it once")]
    SaidTwice {
        /// The setting.
        name: String,
        /// One part.
        first: String,
        /// Another.
        second: String,
    },
    /// An exclusion that no combination fits is a mistake.
    #[error("exclusion {0} leaves nothing out: no combination has {1}")]
    ExcludesNothing(usize, String),
    /// Nothing is left.
    #[error("all {0} combinations are excluded")]
    AllExcluded(usize),
    /// Two combinations are the same run.
    #[error("two combinations are the same run: {0}")]
    SameRun(String),
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
    /// Reads the text of a file. What its settings mean is for those to say who run them.
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
        grid.check_said_once()?;
        Ok(grid)
    }

    fn check_said_once(&self) -> Result<(), GridError> {
        let mut said: BTreeMap<&str, String> =
            self.fixed.keys().map(|name| (name.as_str(), "[fixed]".to_owned())).collect();
        for (axis, values) in &self.axes {
            let names: std::collections::BTreeSet<&str> =
                values.iter().flat_map(Table::keys).map(String::as_str).collect();
            for name in names {
                let second = format!("axis `{axis}`");
                if let Some(first) = said.insert(name, second.clone()) {
                    return Err(GridError::SaidTwice { name: name.into(), first, second });
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
    if let Some(i) = (1..values.len()).find(|&i| values[..i].contains(&values[i])) {
        return Err(GridError::Twice(name.into(), values[i].to_string()));
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
    fn what_is_no_grid_is_told_why() {
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
            ("[fixed]\nmethod = 'er'\n[axes]\nmethod = ['pcr']", "`method` is said by [fixed] and by axis `method`"),
            ("[axes]\na = [{ lr = 1 }]\nb = [{ lr = 2 }]", "`lr` is said by axis `a` and by axis `b`"),
        ] {
            assert!(refused(text).starts_with(why), "{text}: {}", refused(text));
        }
    }
}
