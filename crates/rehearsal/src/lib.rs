//! Image classifiers that keep learning: replay from a small memory, chosen by balanced retrieval.
//!
//! New classes arrive in tasks, the old data are gone but for a small memory, and ordinary training
//! forgets. A [`learner::Learner`] replays from its memory beside the new data and chooses *what*
//! to replay: half of it from the samples whose loss the coming update would raise most (they
//! protect old knowledge), half from those whose loss it would lower most (they keep the model
//! plastic).
//!
//! A whole experiment, from settings to measures:
//!
//! ```
//! use rehearsal::{config::PartialConfig, experiment::{Experiment, Outcome}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = PartialConfig::parse(
//!     r#"
//!     dataset = "embedded"          # Fashion-MNIST, compiled in
//!     method = "pcr"                # proxy-based contrastive replay
//!     retrieval = "balanced"        # half conflicting, half aligned samples
//!     tasks = 5                     # of two classes each
//!     train-per-class = 20          # a small run, for an example
//!     backbone = "tiny"
//!     width = 8
//!     "#,
//! )?;
//! let experiment = Experiment::new(&settings, None)?; // None: write no files
//! if let Outcome::Finished(result, learner) = experiment.run(&mut ())? {
//!     assert_eq!(learner.classes().seen(), 10);
//!     assert_eq!(result.matrix.tasks_seen(), 5);
//!     println!("accuracy {:?}, forgetting {:?}", result.accuracy, result.forgetting);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The rooms, in the order in which a sample passes through them: [`datasets`] → [`stream`] →
//! [`views`] ([`augment`]) →
//! [`learner`] ([`probe`] → [`retrieval`] → [`methods`] → [`memory`]) → [`experiment`] → [`rehearsal_runs::Record`].

#![forbid(unsafe_code)]
// What is tested is held to it all the same: clippy looks at it without its tests too.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests read tensors as they like"))]

pub mod augment;
pub mod clock;
pub mod config;
pub mod device;
pub mod diagnostics;
pub mod experiment;
mod export;
pub mod gradients;
pub mod learner;
pub mod losses;
pub mod memory;
pub mod methods;
mod model_file;
pub mod network;
pub mod observer;
pub mod optimizer;
pub mod prelude;
pub mod probe;
mod record;
pub mod retrieval;
pub mod rng;
pub mod sample;
pub mod sample_probe;
pub mod shapley;
pub mod stream;
pub mod views;

pub use burn::tensor::{Device, Tensor, TensorData};
pub use learner::Learner;
pub use model_file::ModelFileError;
/// Data sets: the crate `rehearsal-data`.
pub use rehearsal_data as datasets;
