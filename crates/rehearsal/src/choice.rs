//! Closed lists that a user chooses from by name; the list itself is in `rehearsal-data`, which has
//! lists too.

pub use rehearsal_data::{
    choice,
    choice::{About, Choice, UnknownName},
};
