//! One file per verb.

pub mod bench;
pub mod compare;
pub mod data;
pub mod grid;
pub mod list;
pub mod report;
pub mod run;
