//! A learner that remembers.
pub mod augment;
pub mod chance;
pub mod checkpoint;
pub mod choice;
pub mod clock;
pub mod config;
pub mod datasets;
pub mod experiment;
pub mod gradients;
pub mod learner;
pub mod losses;
pub mod memory;
pub mod methods;
pub mod network;
pub mod observer;
pub mod probe;
pub mod record;
pub mod retrieval;
pub mod run_directory;
pub mod sample;
pub mod stream;
pub mod views;

pub use burn::tensor::{Device, Tensor, TensorData};

/// Threads for everything that runs inside [`rayon::ThreadPool::install`].
///
/// # Errors
/// The system has no threads left.
pub fn thread_pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}
