//! Reports of made-up runs. One binary, because linking takes longer than the tests.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod compare;
mod figures;
mod files;
mod snapshots;
mod statistics;
mod support;
mod tables;
