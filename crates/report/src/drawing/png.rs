//! The same figure in pixels, rendered from its SVG with the font that the program carries.

use std::sync::{Arc, LazyLock};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};
use thiserror::Error;

use super::drawable;

/// Why a figure cannot be rendered.
#[derive(Debug, Error)]
#[error("a figure cannot be rendered: {0}")]
pub struct RenderError(String);

/// Pixels of the PNG per pixel of the figure.
const DENSITY: f32 = 2.0;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    Arc::new(fonts)
});

impl RenderError {
    /// With a reason.
    pub(super) fn new(why: &impl ToString) -> Self {
        Self(why.to_string())
    }
}

/// Where there are no fonts but the program's own.
pub(super) fn options() -> Options<'static> {
    Options { fontdb: Arc::clone(&FONTS), font_family: "DejaVu Sans".into(), ..Options::default() }
}

/// A figure with its texts laid out; letters that the font lacks are spelled in others.
pub(super) fn tree(svg: &str) -> Result<Tree, RenderError> {
    Tree::from_str(&drawable(svg), &options()).map_err(|error| RenderError::new(&error))
}

/// Renders a figure.
///
/// # Errors
/// It is not SVG, or too large.
pub fn png(svg: &str) -> Result<Vec<u8>, RenderError> {
    let tree = tree(svg)?;
    let size = tree.size().to_int_size().scale_by(DENSITY).ok_or_else(|| RenderError("it has no size".into()))?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| RenderError("it is too large".into()))?;
    resvg::render(&tree, Transform::from_scale(DENSITY, DENSITY), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| RenderError(error.to_string()))
}
