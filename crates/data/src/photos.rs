//! Folders of photos, one folder per class.
//!
//! [`scan`] finds the images below a folder and their classes, and reports why other files are not
//! read; [`find`] does so without classes, for prediction; [`read`] decodes one.
//!
//! A folder with images, or without folders, is a class. Its name is its path below the root, joined
//! by `/`: `boots`, `bags/leather`. Classes are sorted by path, images by name.

mod beside;
mod find;
mod ignored;
mod kind;
mod read;
mod scan;
mod source;
mod walk;

pub(crate) use beside::beside;
pub use find::find;
pub use ignored::{Ignored, Why, lines};
pub(crate) use kind::unread_format;
pub(crate) use read::bytes;
pub use read::{Decoded, picture, read, read_all, size};
pub use scan::{Photo, Scan, ScanOptions, scan};
pub use source::PhotoSource;
pub(crate) use walk::{Class, Walked, walk, walk_classes};
