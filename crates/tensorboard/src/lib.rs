//! Scalars as event files that TensorBoard opens.
//!
//! By hand, because the format is four messages in a checksummed frame, while `tensorboard-rs` has
//! rested since 2022 and brings 87,000 lines.
//!
//! ```
//! # let directory = tempfile::tempdir()?;
//! # let (directory, now) = (directory.path(), 1_700_000_000.0);
//! let mut events = rehearsal_tensorboard::EventFile::create(directory, now)?;
//! events.scalar("loss", 0, 2.5, now)?;
//! events.scalars(1, &[("loss", 2.25), ("rate", 0.1)], now)?;
//! events.flush()?;
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # A run that was interrupted
//!
//! A run that goes on from a checkpoint writes the steps since the checkpoint again.
//! [`EventFile::resume`] takes a new file for that, and says in it where it goes on, so that every
//! step is shown once, with its last value:
//!
//! - TensorBoard's reader in Python (`EventAccumulator`, `--load_fast=false`) reads a directory's
//!   files in the order of their names and, at the
//!   note, forgets all values of that step and later ones.
//! - Its server in Rust, the default, ignores the note. It forgets, tag by tag, all values of a
//!   step and later ones when a value of that step
//!   comes. So until a tag is written again its old values stay: as a resumed run repeats what it
//!   did, they are the values to come.
//!
//! Both stop reading a file at a record that is cut off, and go on with the next file. Both depend
//! on the order of names: those of later files are later in the alphabet, even in the same second
//! and if the clock was set back.

#![forbid(unsafe_code)]

mod crc32c;
mod event_file;
mod message;
mod name;
mod record;

pub use event_file::EventFile;
