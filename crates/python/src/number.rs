//! Numbers from Python: one that does not fit is a `ValueError`, as other wrong input is, not an `OverflowError`.

use pyo3::{exceptions::PyOverflowError, prelude::*};
use rehearsal_files::threads::cores;

use crate::error::{Error, Result};

/// The most threads that may be asked for, as on the command line.
const MOST_THREADS: usize = 1024;

/// A number of this type.
#[derive(Clone, Copy)]
pub struct Number<T>(pub T);

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Number<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        given.extract().map(Self).map_err(|error: T::Error| {
            let error: PyErr = error.into();
            if error.is_instance_of::<PyOverflowError>(given.py()) {
                return Error::Value(format!("{} is out of range", &*given)).into();
            }
            error
        })
    }
}

/// How many threads compute: what was asked for, else one per core.
pub fn threads(asked: Option<Number<usize>>) -> Result<usize> {
    match asked {
        None => Ok(cores()),
        Some(Number(threads @ 1..=MOST_THREADS)) => Ok(threads),
        Some(Number(threads)) => Err(Error::Value(format!("threads is {threads}, expected 1 to {MOST_THREADS}"))),
    }
}
