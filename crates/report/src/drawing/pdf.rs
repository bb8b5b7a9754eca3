//! A figure as PDF, for papers: one page of paths, drawn from its SVG, with text as outlines.
//!
//! `svg2pdf` and `krilla-svg` would each build a second version of `usvg`, so the paths are walked here
//! and `pdf-writer` writes the file.

use std::{collections::BTreeSet, io::Write};

use flate2::{Compression, write::ZlibEncoder};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, types::LineJoinStyle, writers::ExtGraphicsState};
use resvg::{
    tiny_skia::{self, PathSegment, Point},
    usvg::{Color, FillRule, Group, LineJoin, Node, Paint, Path},
};

use super::png::{RenderError, tree};

/// Points, 72 per inch, in one pixel, 96 per inch.
const POINTS: f32 = 0.75;

/// Renders a figure.
///
/// # Errors
/// The text is not SVG.
pub fn pdf(svg: &str) -> Result<Vec<u8>, RenderError> {
    let tree = tree(svg)?;
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let mut drawing = Drawing { content: Content::new(), opacities: BTreeSet::new() };
    // In PDF the vertical axis points up.
    drawing.content.transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height]);
    drawing.group(tree.root());

    let [catalog, pages, page, contents] = [1, 2, 3, 4].map(Ref::new);
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages);
    pdf.pages(pages).kids([page]).count(1);
    let mut one = pdf.page(page);
    one.parent(pages).media_box(Rect::new(0.0, 0.0, width, height)).contents(contents);
    let mut resources = one.resources();
    let mut states = resources.ext_g_states();
    for &opacity in &drawing.opacities {
        let share = f32::from(opacity) / 1000.0;
        let mut state = states.insert(Name(state_name(opacity).as_bytes())).start::<ExtGraphicsState>();
        state.non_stroking_alpha(share).stroking_alpha(share);
    }
    states.finish();
    resources.finish();
    one.finish();
    pdf.stream(contents, &compressed(drawing.content.finish().as_slice())).filter(Filter::FlateDecode);
    Ok(pdf.finish())
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

/// The content of the page, and the opacities that it uses, in thousandths.
struct Drawing {
    content: Content,
    opacities: BTreeSet<u16>,
}

fn state_name(opacity: u16) -> String {
    format!("G{opacity}")
}

impl Drawing {
    fn group(&mut self, group: &Group) {
        for node in group.children() {
            match node {
                Node::Group(group) => self.group(group),
                Node::Path(path) if path.is_visible() => self.path(path),
                Node::Text(text) => self.group(text.flattened()),
                // Figures have no images.
                Node::Path(_) | Node::Image(_) => {}
            }
        }
    }

    fn path(&mut self, path: &Path) {
        let Some(outline) = path.data().clone().transform(path.abs_transform()) else { return };
        if let Some((fill, [r, g, b])) = path.fill().and_then(|fill| Some((fill, rgb(fill.paint())?))) {
            self.opacity(fill.opacity().get());
            self.content.set_fill_rgb(r, g, b);
            self.outline(&outline);
            match fill.rule() {
                FillRule::EvenOdd => self.content.fill_even_odd(),
                FillRule::NonZero => self.content.fill_nonzero(),
            };
        }
        if let Some((stroke, [r, g, b])) = path.stroke().and_then(|stroke| Some((stroke, rgb(stroke.paint())?))) {
            self.opacity(stroke.opacity().get());
            let is_round = stroke.linejoin() == LineJoin::Round;
            self.content
                .set_stroke_rgb(r, g, b)
                .set_line_width(stroke.width().get())
                .set_line_join(if is_round { LineJoinStyle::RoundJoin } else { LineJoinStyle::MiterJoin })
                .set_dash_pattern(stroke.dasharray().unwrap_or_default().iter().copied(), 0.0);
            self.outline(&outline);
            self.content.stroke();
        }
    }

    fn opacity(&mut self, share: f32) {
        let opacity = (share * 1000.0).round() as u16;
        self.opacities.insert(opacity);
        self.content.set_parameters(Name(state_name(opacity).as_bytes()));
    }

    fn outline(&mut self, outline: &tiny_skia::Path) {
        let content = &mut self.content;
        let mut at = Point::zero();
        for segment in outline.segments() {
            match segment {
                PathSegment::MoveTo(to) => drop(content.move_to(short(to.x), short(to.y))),
                PathSegment::LineTo(to) => drop(content.line_to(short(to.x), short(to.y))),
                PathSegment::QuadTo(by, to) => {
                    // PDF has cubic curves only.
                    let control = |end: Point| Point {
                        x: end.x + (by.x - end.x) * 2.0 / 3.0,
                        y: end.y + (by.y - end.y) * 2.0 / 3.0,
                    };
                    curve(content, control(at), control(to), to);
                }
                PathSegment::CubicTo(one, other, to) => curve(content, one, other, to),
                PathSegment::Close => drop(content.close_path()),
            }
            if let PathSegment::MoveTo(to)
            | PathSegment::LineTo(to)
            | PathSegment::QuadTo(_, to)
            | PathSegment::CubicTo(_, _, to) = segment
            {
                at = to;
            }
        }
    }
}

fn curve(content: &mut Content, one: Point, other: Point, to: Point) {
    content.cubic_to(short(one.x), short(one.y), short(other.x), short(other.y), short(to.x), short(to.y));
}

/// To a hundredth of a pixel, which keeps files small.
fn short(pixels: f32) -> f32 {
    (pixels * 100.0).round() / 100.0
}

/// Red, green and blue; none for gradients, which figures do not have.
fn rgb(paint: &Paint) -> Option<[f32; 3]> {
    let &Paint::Color(Color { red, green, blue }) = paint else { return None };
    Some([red, green, blue].map(|value| f32::from(value) / 255.0))
}
