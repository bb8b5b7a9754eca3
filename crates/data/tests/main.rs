//! All integration tests, in one binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod clean;
mod fetch;
mod folder;
mod formats;
mod fuzz;
mod hostile;
#[cfg(unix)]
mod irregular;
#[cfg(target_os = "linux")]
mod memory;
mod packs;
mod photos;
mod pickle;
mod real;
mod sources;
mod support;
mod whole;
