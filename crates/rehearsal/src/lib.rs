//! A learner that remembers.
pub mod augment;
pub mod chance;
pub mod choice;
pub mod clock;
pub mod datasets;
pub mod gradients;
pub mod learner;
pub mod losses;
pub mod memory;
pub mod methods;
pub mod network;
pub mod probe;
pub mod retrieval;
pub mod sample;
pub mod stream;
pub mod views;
