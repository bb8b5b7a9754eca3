//! What every crate of Rehearsal does with files, once: replace them whole ([`atomic`]), read them only if they are
//! regular ([`regular`]), keep other processes away ([`lock`]), and notice changed bytes ([`sha256`], [`seal`],
//! [`model_file`]).
//! Beside that: [`threads`], [`pattern`]s of paths, and numbers and names as [`text`].
//!
//! ```
//! use rehearsal_files::{atomic, regular, sha256::sha256};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = &directory.path().join("file");
//! atomic::write(path, b"abc")?;
//! let bytes = regular::read(path, 1000)?; // of at most 1000 bytes
//! assert!(sha256(&bytes).starts_with("ba7816bf"));
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod atomic;
pub mod lock;
pub mod model_file;
pub mod path_text;
pub mod pattern;
pub mod regular;
pub mod seal;
pub mod sha256;
pub mod text;
pub mod threads;
