//! Scalars as event files that TensorBoard opens.
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
//! A run that resumes from a checkpoint writes the steps after the checkpoint again.
//! [`EventFile::resume`] starts a new file and notes the first step in it, so that TensorBoard shows
//! every step once, with its last value:
//!
//! - The reader in Python (`EventAccumulator`, `--load_fast=false`) reads a directory's files in the
//!   order of their names. At the note it drops all values of that step and later steps.
//! - The server in Rust, the default, ignores the note. For each tag it drops all values of a step and
//!   later steps when a value of that step arrives. Until a tag is written again, its old values stay;
//!   a resumed run repeats itself, so they are equal to the new ones.
//!
//! Both stop reading a file at a truncated record and continue with the next file. Both depend on the
//! order of names: a later file has a name later in the alphabet, even in the same second or after the
//! clock was set back.

#![forbid(unsafe_code)]

mod event;
mod event_file;
mod name;

pub use event_file::EventFile;
