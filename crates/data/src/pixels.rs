//! What an image is.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Height, width and channels (1 or 3) of every image of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageShape {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
}

impl ImageShape {
    /// Bytes of one image.
    pub fn bytes(self) -> usize {
        self.height * self.width * self.channels
    }
}

/// An image as it is stored: `[height, width, channels]` bytes, shared, never changed.
pub type Image = Arc<[u8]>;
