//! How many kernels a GPU is asked for: each launch costs the host some microseconds, whatever it
//! computes.

/// How many kernels were launched by all threads of this process; none where nothing tells, which is
/// so on the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launches(pub Option<u64>);

#[cfg(not(any(feature = "wgpu", feature = "cuda", feature = "rocm")))]
impl Launches {
    /// What `work` gives; nothing tells of launches.
    pub fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        (work(), Self(None))
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda", feature = "rocm"))]
mod observed {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    use cubecl_runtime::logging::{LaunchObservation, LaunchObserver};

    use super::Launches;

    #[derive(Default)]
    struct Count(AtomicU64);

    impl LaunchObserver for Count {
        fn launched(&self, _: &'static str) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    impl Launches {
        /// What `work` gives, and the kernels that were launched meanwhile.
        pub fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
            let count = Arc::new(Count::default());
            let observation = LaunchObservation::new(count.clone());
            let made = work();
            drop(observation);
            (made, Self(Some(count.0.load(Ordering::Relaxed))))
        }
    }
}
