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
//! use rehearsal_model::{FolderNotice, FolderReader, Model, Outcome, Session};
//! # use rehearsal::config::PartialConfig;
//! # use rehearsal_data::ImageShape;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # let (path, folder) = (place.path().join("shop.model"), place.path().join("january"));
//! # for (tint, class) in [(3, "boots"), (5, "clogs")] {
//! #     std::fs::create_dir_all(folder.join(class))?;
//! #     for i in 0..20u8 {
//! #         let pixels: Vec<u8> = (0..192u8).map(|p| p.wrapping_mul(tint).wrapping_add(i)).collect();
//! #         let shape = ImageShape { height: 8, width: 8, channels: 3 };
//! #         rehearsal_model::write_png(&folder.join(class).join(format!("{i}.png")), &pixels, shape)?;
//! #     }
//! # }
//! let mut model = Model::open_or_create(&path)?;
//! let mut notice = |notice: &FolderNotice| eprintln!("{notice}");
//! let mut reader = FolderReader { follow_links: false, skip_bad: false, progress: &(), notice: &mut notice };
//! // january/boots/*.png, january/clogs/*.png
//! let session = reader.session(&model, &[folder], None)?;
//! # let settings = PartialConfig::parse("backbone = 'tiny'\nwidth = 4\nepochs = 1\nthreads = 1")?;
//! # let session = Session { settings, ..session };
//! if let Outcome::Learned(report) = model.learn(session, &mut ())? {
//!     println!("version {}: {} of {} holdout images right", report.version, report.holdout.right, report.holdout.total);
//! }
//! assert_eq!(model.current()?.learner.classes().seen(), 2);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod acceptance;
mod classes;
mod digest;
mod directory;
mod error;
mod evaluation;
mod folder;
mod forget;
mod history;
mod holdout;
mod interrupted;
mod learn;
mod memory_size;
mod photo;
mod png;
mod session;
mod settings;
mod split;
#[cfg(test)]
mod test_photos;
mod threshold;
mod version;

pub use acceptance::{Acceptance, Change};
pub use digest::Digest;
pub use directory::Model;
pub use error::ModelError;
pub use evaluation::{Evaluation, Judged};
pub use folder::{FolderNotice, FolderReader, Part};
pub use forget::{Forget, Forgotten};
pub use history::{Entry, Event, Report};
pub use holdout::{Answer, ClassScore, Example, Holdout, Score};
pub use learn::{LearnObserver, Notice, Outcome};
pub use memory_size::MemorySize;
pub use photo::Photo;
pub use png::write_png;
pub use session::Session;
pub use settings::ModelSettings;
pub use version::Version;
