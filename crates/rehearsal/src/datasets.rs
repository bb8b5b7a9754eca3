//! Where images come from: the crate `rehearsal-data`.

pub use data::{Chain, DataError, Dataset, Request, Skipped, Source, Split};
