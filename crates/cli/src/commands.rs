//! One file per verb.

pub mod bench;
pub mod list;
pub mod run;
