//! One file per verb.

pub mod backbone;
#[cfg(feature = "training")]
pub mod bench;
pub mod class;
pub mod compare;
pub mod completions;
pub mod data;
pub mod evaluate;
pub mod export;
pub mod features;
#[cfg(feature = "training")]
pub mod grid;
pub mod learn;
#[cfg(feature = "training")]
pub mod list;
pub mod memory;
pub mod predict;
pub mod report;
#[cfg(feature = "training")]
pub mod run;
pub mod select;
pub mod serve;
pub mod show;
pub mod watch;
