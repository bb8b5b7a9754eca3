//! Work on as many threads as the user wants.

use rayon::ThreadPoolBuilder;

use crate::DataError;

/// Does `work`, whose parallel iterators get `threads` threads; as many as there are cores where
/// none are said.
pub(crate) fn on_threads<T: Send>(threads: Option<usize>, work: impl FnOnce() -> T + Send) -> Result<T, DataError> {
    let Some(threads) = threads else { return Ok(work()) };
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| DataError::Refused(format!("{threads} threads cannot be started: {error}")))?;
    Ok(pool.install(work))
}
