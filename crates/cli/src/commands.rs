//! One file per verb.

pub mod bench;
pub mod class;
pub mod compare;
pub mod data;
pub mod evaluate;
pub mod export;
pub mod grid;
pub mod learn;
pub mod list;
pub mod memory;
pub mod predict;
pub mod report;
pub mod run;
pub mod select;
pub mod show;
