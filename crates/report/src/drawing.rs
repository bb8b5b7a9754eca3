//! Drawing: figures as SVG with every series named, so that a page can hide it, and the same figure
//! as PNG and PDF.

mod axes;
mod canvas;
mod head;
mod heat_maps;
mod legend;
mod letters;
mod lines;
mod palette;
mod pdf;
mod png;
mod text;

pub use axes::Axis;
pub use head::Form;
pub use heat_maps::{HeatMap, HeatMaps};
pub use letters::{Letters, drawable, letters};
pub use lines::{Curve, Lines, Panel, Point, Shape};
pub use pdf::pdf;
pub use png::{RenderError, png};
