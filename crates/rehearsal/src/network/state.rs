//! The numbers of a network by name, on the host: what a file keeps and what a golden test sets.

use std::collections::BTreeMap;

use thiserror::Error;

/// An array of `f32`, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// The values.
    pub values: Vec<f32>,
}

/// Named arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State(pub BTreeMap<String, Array>);

/// Why a state does not fit a network.
#[derive(Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum StateError {
    /// A name is not there.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A name is there with another shape.
    #[error("`{name}` has shape {found:?}, not {expected:?}")]
    Shape { name: String, expected: Vec<usize>, found: Vec<usize> },
}

impl StateError {
    /// The same error about a longer name.
    pub(crate) fn under(self, prefix: &str) -> Self {
        match self {
            Self::Missing(name) => Self::Missing(format!("{prefix}{name}")),
            Self::Shape { name, expected, found } => Self::Shape { name: format!("{prefix}{name}"), expected, found },
        }
    }
}

impl State {
    /// Every value is a number.
    pub fn is_finite(&self) -> bool {
        self.0.values().all(|array| array.values.iter().all(|value| value.is_finite()))
    }

    /// The same arrays under longer names.
    pub fn prefixed(self, prefix: &str) -> Self {
        Self(self.0.into_iter().map(|(name, array)| (format!("{prefix}{name}"), array)).collect())
    }

    /// The arrays whose names begin with `prefix`, without it.
    pub fn under(&self, prefix: &str) -> Self {
        let named = |(name, array): (&String, &Array)| Some((name.strip_prefix(prefix)?.to_owned(), array.clone()));
        Self(self.0.iter().filter_map(named).collect())
    }

    /// The array of that name.
    ///
    /// # Errors
    /// There is none, or it has another shape.
    pub fn array(&self, name: &str, shape: &[usize]) -> Result<&Array, StateError> {
        let array = self.0.get(name).ok_or_else(|| StateError::Missing(name.to_owned()))?;
        if array.shape != shape {
            let (expected, found) = (shape.to_vec(), array.shape.clone());
            return Err(StateError::Shape { name: name.to_owned(), expected, found });
        }
        Ok(array)
    }
}
