//! A model store: a directory with the versions of a learner that learns from folders of photos,
//! session after session.
//!
//! Each training session ([`Model::learn`]) makes a new [`Version`]: a complete saved learner with
//! its [`Holdout`] set. One image in ten is held out and never trained on. The holdout accuracy of
//! the classes known before decides whether the version is accepted. [`Model::select`] rolls back.
//! `model.toml` names the current version and is replaced atomically: if the process is killed, the
//! model is its last complete version, and the same session continues to the same bits.
//!
//! ```
//! use rehearsal_model::{Model, Outcome, Photo, Session};
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
//! let session = Session { settings, ..Session::new(photos) };
//! let mut model = Model::open_or_create(&path)?;
//! if let Outcome::Learned(report) = model.learn(session, &mut ())? {
//!     println!("version {}: {} of {} holdout images right", report.version, report.holdout.right, report.holdout.total);
//! }
//! let version = Model::open(&path)?.current()?;
//! assert_eq!(version.learner.classes().seen(), 2);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod acceptance;
mod classes;
mod digest;
mod directory;
mod error;
mod forget;
mod history;
mod holdout;
mod interrupted;
mod learn;
mod memory_size;
mod photo;
mod session;
mod settings;
mod split;
mod threshold;
mod version;

pub use acceptance::{Acceptance, Change};
pub use digest::Digest;
pub use directory::Model;
pub use error::ModelError;
pub use forget::{Forget, Forgotten};
pub use history::{Entry, Event, Report};
pub use holdout::{Answer, ClassScore, Example, Holdout, Score};
pub use learn::{LearnObserver, Notice, Outcome};
pub use memory_size::MemorySize;
pub use photo::Photo;
pub use session::Session;
pub use settings::ModelSettings;
pub use version::Version;
