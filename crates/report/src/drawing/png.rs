//! A figure as PNG, rendered from its SVG with the embedded font.

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
pub struct RenderError(pub(super) String);

/// Pixels of the PNG per pixel of the figure.
const DENSITY: f32 = 2.0;

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    Arc::new(fonts)
});

/// A figure with its text laid out. Characters that the font lacks are transliterated.
pub(super) fn tree(svg: &str) -> Result<Tree, RenderError> {
    let options = Options { fontdb: Arc::clone(&FONTS), font_family: "DejaVu Sans".into(), ..Options::default() };
    Tree::from_str(&drawable(svg), &options).map_err(|error| RenderError(error.to_string()))
}

/// A figure in pixels, `density` per pixel of the SVG.
pub(super) fn pixels(svg: &str, density: f32) -> Result<Pixmap, RenderError> {
    let tree = tree(svg)?;
    let size = tree.size().to_int_size().scale_by(density).ok_or_else(|| RenderError("it has no size".into()))?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| RenderError("it is too large".into()))?;
    resvg::render(&tree, Transform::from_scale(density, density), &mut pixels.as_mut());
    Ok(pixels)
}

/// Renders a figure.
///
/// # Errors
/// The text is not SVG, or the figure is too large.
pub fn png(svg: &str) -> Result<Vec<u8>, RenderError> {
    pixels(svg, DENSITY)?.encode_png().map_err(|error| RenderError(error.to_string()))
}
