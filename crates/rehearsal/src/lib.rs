//! Image classifiers that keep learning: replay from a small memory, chosen by balanced retrieval.
//!
//! New classes arrive in tasks, the old data are gone except for a small memory, and ordinary
//! training forgets. A [`Learner`] replays from its memory beside the new data:
//!
//! ```
//! use rehearsal::prelude::*;
//!
//! # fn main() -> Result<(), LearnerError> {
//! # let grey = |value: u8| Image::from(vec![value; 8 * 8 * 3]);
//! let mut learner = Learner::builder().size(8).seed(1).backbone(BackboneKind::Tiny).build()?;
//! learner.learn_task(&[grey(10), grey(240)], &["dark", "bright"])?;
//! learner.learn_task(&[grey(120), grey(130)], &["grey", "grey"])?; // a new class, without the old images
//! println!("{}", learner.predict(&[grey(15)])?[0].class);
//! # Ok(())
//! # }
//! ```
//!
//! An [`experiment`] measures how much a learner forgets on a benchmark:
//!
//! ```
//! use rehearsal::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = PartialConfig {
//!     method: Some(MethodKind::Pcr),               // proxy-based contrastive replay
//!     retrieval: Some(RetrievalKind::Balanced),    // half conflicting, half aligned samples
//!     tasks: Some(5),                              // of Fashion-MNIST, which is compiled in
//!     train_per_class: Some(20),                   // a small run, for an example
//!     backbone: Some(BackboneKind::Tiny),
//!     width: Some(8),
//!     ..PartialConfig::default()
//! };
//! let experiment = Experiment::new(&settings, None)?; // None: write no files
//! if let Outcome::Finished(result, learner) = experiment.run(&mut ())? {
//!     assert_eq!((learner.classes().seen(), result.matrix.tasks_seen()), (10, 5));
//!     println!("accuracy {:?}, forgetting {:?}", result.accuracy, result.forgetting);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Where to read on:
//!
//! 1. [`learner`]: how to make, train, ask, save and load one.
//! 2. [`memory`]: what it stores, and the policies that decide which samples stay.
//! 3. [`retrieval`]: which stored samples it replays. *Balanced* takes half of them from those whose
//!    loss the coming update would raise most (they protect old knowledge) and half from those whose
//!    loss it would lower most (they keep the network plastic).
//! 4. [`methods`]: what a step minimises.
//! 5. [`experiment`]: a [`stream`] of tasks, tests, checkpoints and a [`rehearsal_runs::Record`].

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
/// Data sets: the crate `rehearsal-data`.
pub use rehearsal_data as datasets;
pub use rehearsal_files::model_file::ModelFileError;
