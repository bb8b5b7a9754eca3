//! One file per verb.

pub mod bench;
pub mod run;
