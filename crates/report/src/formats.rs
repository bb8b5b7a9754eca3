//! A table in each format. One file per format.

pub mod csv;
pub mod html;
pub mod latex;
pub mod markdown;
