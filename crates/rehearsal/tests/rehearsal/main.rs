//! Tests of whole runs through the public interface.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../stop_after/mod.rs"]
mod stop_after;

mod combinations;
mod diagnostics;
mod experiment;
mod features;
mod kernels;
mod recalibration;
mod resealed;
mod streams;
mod ways_of_testing;
