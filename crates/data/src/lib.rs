//! Data sets of continual learning, from files to pixels.
//!
//! [`catalogue`] says what each data set is, and [`Dataset::open`] returns a [`Source`]: labels at
//! once, images when asked. Data sets of image files are decoded and resized once, into a
//! memory-mapped [`pack`]; after that a run starts at once and many runs share the pages. [`photos`]
//! finds and reads a user's images.
//!
//! With the feature `fetch`, `fetch` downloads data sets, `unpack` unpacks their archives and
//! `verify` checks them. Without it, this crate needs no HTTP client.
//!
//! ```
//! use rehearsal_data::{Dataset, Request, Split};
//!
//! let source = Dataset::Embedded.open(&Request::default())?;
//! let first = source.labels(Split::Train)[0];
//! println!("{} at {:?}", source.class_names()[usize::from(first)], source.shape());
//! # Ok::<(), rehearsal_data::DataError>(())
//! ```
//!
//! Input is not trusted: archives, pickles and images are limited in size and number, no path
//! leaves its directory, and an error names the file.

// One block maps a file: mapped.rs.
#![deny(unsafe_code)]

pub mod catalogue;
pub mod chain;
pub mod choice;
pub mod clean;
mod dataset;
pub mod decode;
mod error;
pub mod feature_set;
#[cfg(feature = "fetch")]
pub mod fetch;
#[cfg_attr(not(feature = "fetch"), allow(dead_code, reason = "some functions are for fetching only"))]
mod files;
mod find;
pub mod home;
pub mod idx;
mod in_memory;
mod incomplete;
mod limits;
mod links;
mod mapped;
pub mod pack;
mod paths;
pub mod photos;
pub mod pickle;
mod pixels;
pub mod preprocessing;
pub mod preview;
mod progress;
mod source;
mod sources;
mod split;
pub mod stats;
mod told;
#[cfg(feature = "fetch")]
pub mod unpack;
#[cfg(feature = "fetch")]
pub mod verify;
mod view;

pub use chain::Chain;
pub use dataset::{Dataset, Request};
pub use error::DataError;
pub use in_memory::InMemory;
pub use incomplete::{Count, Incomplete};
pub use limits::LONGEST_SIDE;
pub use pixels::{Image, ImageShape, InputShape, feature_view};
pub use preprocessing::{Interpolation, PhotoFile, Preprocessing};
pub use progress::{Progress, Unit};
pub use rehearsal_files::text::printable;
pub use source::{Skipped, Source, Split};
