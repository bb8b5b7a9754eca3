//! A model store: a directory with the versions of a learner that learns from folders of photos,
//! session after session.
//!
//! Each training session ([`Model::learn_exact`], or `Model::learn` with the feature `scratch`) makes a
//! new [`Version`]: what predicts, a holdout set and a memory, in one file. One photo in ten is held out
//! and measures the version. The holdout accuracy of the classes known before decides whether the version
//! is accepted. [`Model::select`] rolls back. `model.toml` names the current version and is replaced
//! atomically: if the process is killed, the model is its last complete version.
//!
//! ```no_run
//! use rehearsal_model::{ExactSession, FolderReader, Model, Outcome, SessionOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut model = Model::open_or_create("shop.model".as_ref())?;
//! let mut notice = |notice: &_| eprintln!("{notice}");
//! let mut reader = FolderReader { follow_links: false, skip_bad: false, progress: &(), notice: &mut notice };
//! // january/boots/*.jpg, january/clogs/*.jpg
//! let photos = reader.find(&["january".into()])?;
//! let session = ExactSession { photos, holdout: Vec::new(), backbone: None, options: SessionOptions::default(), stop: &|| false };
//! if let Outcome::Learned(report) = model.learn_exact(&session, &mut reader, &mut |_| ())? {
//!     println!("version {}: {} of {} holdout photos right", report.version, report.holdout.right, report.holdout.total);
//! }
//! let version = model.current()?;
//! let photo = version.reader()?.read(&["new.jpg"], &())?.remove(0)?;
//! let prediction = version.predict(&[photo.input])?.remove(0);
//! println!("{} ({})", prediction.class, version.verdict(&prediction, None).word());
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod acceptance;
mod backbones;
mod classes;
mod digest;
mod directory;
mod error;
mod evaluation;
mod exact;
mod folder;
mod forget;
mod history;
mod input;
mod learn;
mod memory_size;
mod names;
mod png;
mod prediction;
mod reading;
mod score;
#[cfg(feature = "scratch")]
mod scratch;
mod settings;
mod share;
#[cfg(test)]
#[cfg(feature = "scratch")]
mod test_photos;
mod threshold;
mod touched;
mod version;

pub use acceptance::{Acceptance, AcceptanceCheck, Change};
pub use backbones::{DEFAULT as DEFAULT_BACKBONE, open_named as open_backbone};
pub use digest::Digest;
pub use directory::Model;
pub use error::ModelError;
pub use evaluation::{Evaluation, Judged};
pub use exact::{BackboneId, Exact, ExactSession, Labelled, Learned, PhotoClassifier};
pub use folder::{FolderNotice, FolderPart, FolderReader};
pub use forget::{Forget, Forgotten};
pub use history::{Entry, Event, Report, Rescored, Training, rescored};
pub use input::{Input, InputReader, Picture, Seen};
pub use learn::{Notice, Outcome, Relabel, SessionOptions};
pub use memory_size::MemorySize;
pub use names::Names;
pub use png::{encode_png, write_png};
pub use prediction::{AllUnsure, Doubt, Prediction, Similar, Verdict};
pub use reading::VersionState;
pub use score::{Answer, ClassScore, Score};
#[cfg(feature = "scratch")]
pub use scratch::{Holdout, LearnObserver, Photo, Scratch, Session};
pub use settings::ModelSettings;
pub use share::{NoShare, Share};
pub use touched::Touched;
pub use version::{Contents, Example, Features, Held, Part, Removed, Version};

/// The examples of the documents compile.
#[cfg(all(doctest, feature = "scratch"))]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/library.md")]
    struct Library;
}
