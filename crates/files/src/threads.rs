//! How many threads there are to compute with, and computing on some of them.

use std::{num::NonZero, thread};

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};

/// How many cores this process may use.
pub fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// How many threads parallel iterators get here: one per core, unless inside of [`on_threads`].
pub fn current() -> usize {
    rayon::current_num_threads()
}

/// Runs `work`, whose parallel iterators get `threads` threads; one per core if `threads` is none.
///
/// # Errors
/// The system has no threads left.
pub fn on_threads<T: Send>(
    threads: impl Into<Option<usize>>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, ThreadPoolBuildError> {
    match threads.into() {
        Some(threads) => Ok(ThreadPoolBuilder::new().num_threads(threads).build()?.install(work)),
        None => Ok(work()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_gets_the_threads_that_were_asked_for() {
        assert!(cores() >= 1);
        assert_eq!([1, 3].map(|threads| on_threads(threads, current).unwrap()), [1, 3]);
        let caller = thread::current().id();
        assert_eq!(on_threads(None, || thread::current().id()).unwrap(), caller);
    }
}
