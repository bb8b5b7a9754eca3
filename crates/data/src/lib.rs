//! Data sets of continual learning: from an official URL to pixels.
//!
//! [`catalogue`] says what each data set is, [`fetch`] brings its archives, [`unpack`] opens them
//! without trusting them, and [`Dataset::open`] gives a [`Source`]: labels at once, images when
//! asked. Data sets of image files are decoded and resized once, into a memory-mapped [`pack`];
//! after that a run starts at once and many runs share the pages. [`photos`] finds and reads a
//! user's own.
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
//! Nothing here trusts a byte that it reads: archives, pickles and images are limited in size and
//! number, no path leaves its directory, and what is wrong is an error that names the file.

pub mod catalogue;
pub mod chain;
pub mod choice;
pub mod clean;
mod dataset;
pub mod decode;
mod error;
pub mod fetch;
mod files;
mod find;
pub mod home;
pub mod idx;
mod incomplete;
mod limits;
mod links;
mod mapped;
pub mod pack;
pub mod photos;
pub mod pickle;
mod pixels;
pub mod preview;
mod progress;
mod reshape;
mod source;
mod sources;
mod split;
pub mod stats;
mod told;
pub mod unpack;
pub mod verify;

pub use chain::Chain;
pub use dataset::{Dataset, Request};
pub use error::DataError;
pub use incomplete::{Count, Incomplete};
pub use limits::LONGEST_SIDE;
pub use mapped::explain_cut_files;
pub use pixels::{Image, ImageShape};
pub use progress::{Progress, Unit};
pub use rehearsal_files::text::printable;
pub use source::{Skipped, Source, Split};
