//! The compiled part of the Python module `rehearsal_learn`: what the other crates do, with Python's types and errors.
//! Habits of scikit-learn are in `python/rehearsal_learn`.

#![allow(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "functions have the arguments that Python gives them"
)]

mod backbone;
#[cfg(feature = "training")]
mod benchmark;
mod classifier;
mod error;
mod events;
mod model;
mod number;
mod program;

use pyo3::prelude::*;

/// Bindings: use `rehearsal_learn`.
#[pymodule]
mod _rehearsal {
    #[cfg(feature = "training")]
    #[pymodule_export]
    use super::benchmark::{read_record, run};
    #[pymodule_export]
    use super::{
        backbone::{Backbone, Features},
        classifier::Classifier,
        error::RehearsalError,
        model::Model,
        program::main,
    };

    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("TRAINING", cfg!(feature = "training"))
    }
}
