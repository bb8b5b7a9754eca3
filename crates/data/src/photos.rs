//! Photos as people have them: folders of classes, with whatever else lies among them.
//!
//! [`scan`] finds the images below a folder and their classes, and says of every other file why it
//! is not read; [`find`] does so without classes, for images that are to be named; [`read`] makes
//! pixels of one.
//!
//! A folder that holds images, or no folders, is a class. It is called by its path below the root,
//! joined by `/`: `boots`, `bags/leather`. Classes come in order of their paths, images in order of
//! their names.

mod beside;
mod find;
mod ignored;
mod kind;
mod read;
mod scan;
mod walk;

pub(crate) use beside::beside;
pub use find::find;
pub use ignored::{Ignored, Why, lines};
pub(crate) use kind::unread_format;
pub(crate) use read::bytes;
pub use read::{Decoded, read, read_all, size};
pub use scan::{Photo, Scan, ScanOptions, scan};
pub(crate) use walk::{Class, Walked, walk, walk_classes};
