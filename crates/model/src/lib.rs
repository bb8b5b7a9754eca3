//! A model that people keep: a directory with a learner that has learned from folders of photos,
//! again and again.
//!
//! Each visit ([`Model::learn`]) makes a new [`Version`]: a saved learner, complete, with its
//! [`Exam`] inside. One image in ten is kept back for the exam and never trained on; it says how
//! well the classes known before are still known, and a visit that forgets too much is kept but not
//! used. [`Model::select`] goes back. Which version is used stands in `model.toml`, which is
//! replaced whole or not at all: killed at any moment, the model is its last whole version, and the
//! same visit goes on where it was, to the same bits.
//!
//! ```
//! use rehearsal_model::{Model, Outcome, Photo, Visit};
//! # use rehearsal::{config::PartialConfig, sample::Image};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # let path = place.path().join("shop.model");
//! # let photo = |class: &str, i: u8| Photo {
//! #     class: class.into(), source: format!("{class}/{i}.png"),
//! #     image: Image::from(vec![i.wrapping_mul(if class == "boots" { 3 } else { 5 }); 8 * 8 * 3]),
//! # };
//! let photos: Vec<Photo> = (0..20).flat_map(|i| [photo("boots", i), photo("clogs", 100 + i)]).collect();
//! # let settings = PartialConfig::parse("backbone = 'tiny'\nwidth = 4\nepochs = 1\nthreads = 1")?;
//! let visit = Visit { settings, ..Visit::new(photos) };
//! let mut model = Model::open_or_create(&path)?;
//! if let Outcome::Learned(report) = model.learn(visit, &mut ())? {
//!     println!("version {}: {} of {} right in the exam", report.version, report.exam.right, report.exam.total);
//! }
//! let version = Model::open(&path)?.current()?;
//! assert_eq!(version.learner.classes().seen(), 2);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod classes;
mod digest;
mod directory;
mod error;
mod exam;
mod forget;
mod gate;
mod history;
mod interrupted;
mod learn;
mod memory_size;
mod photo;
mod settings;
mod sort;
mod threshold;
mod version;
mod visit;

pub use digest::Digest;
pub use directory::Model;
pub use error::ModelError;
pub use exam::{Answer, ClassScore, Exam, Question, Score};
pub use forget::{Forget, Forgotten};
pub use gate::{Change, Gate};
pub use history::{Entry, Event, Report};
pub use learn::{LearnObserver, Notice, Outcome};
pub use memory_size::MemorySize;
pub use photo::Photo;
pub use settings::ModelSettings;
pub use version::Version;
pub use visit::Visit;
