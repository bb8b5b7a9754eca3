//! The same figure as PDF, for papers: one page of paths, drawn from its SVG with the font that the
//! program carries, texts as outlines.

use std::{collections::BTreeSet, fmt::Write as _, io::Write as _};

use flate2::{Compression, write::ZlibEncoder};
use resvg::{
    tiny_skia::{Path as Outline, PathSegment, Point},
    usvg::{Color, FillRule, Group, LineJoin, Node, Paint, Path, Tree},
};

use super::png::{RenderError, tree};

/// Points, of which an inch has 72, per pixel, of which it has 96.
const POINTS: f32 = 0.75;

/// Draws a figure.
///
/// # Errors
/// It is not SVG.
pub fn pdf(svg: &str) -> Result<Vec<u8>, RenderError> {
    let tree: Tree = tree(svg)?;
    let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
    let mut drawing = Drawing::default();
    // PDF counts upwards.
    drawing.line(format_args!("{POINTS} 0 0 -{POINTS} 0 {height} cm"));
    drawing.group(tree.root());
    let states: String = drawing
        .opacities
        .iter()
        .map(|&share| format!("/G{share} <</ca {0} /CA {0}>> ", f64::from(share) / 1000.0))
        .collect();
    let page = format!(
        "<</Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] /Contents 4 0 R /Resources <</ExtGState <<{states}>>>>>>"
    );
    let content = compressed(drawing.content.as_bytes());
    let mut stream = format!("<</Length {} /Filter /FlateDecode>>\nstream\n", content.len()).into_bytes();
    stream.extend(content);
    stream.extend(b"\nendstream");
    let objects: [Vec<u8>; 4] = [
        b"<</Type /Catalog /Pages 2 0 R>>".to_vec(),
        b"<</Type /Pages /Kids [3 0 R] /Count 1>>".to_vec(),
        page.into_bytes(),
        stream,
    ];
    Ok(file(&objects))
}

/// The objects, numbered from 1, and where each begins.
fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    // Four bytes above 127 tell programs that move files that it is not text.
    let mut bytes = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n".to_vec();
    let mut places = String::new();
    for (i, object) in objects.iter().enumerate() {
        places.push_str(&format!("{:010} 00000 n \n", bytes.len()));
        bytes.extend(format!("{} 0 obj\n", i + 1).into_bytes());
        bytes.extend(object);
        bytes.extend(b"\nendobj\n");
    }
    let (start, size) = (bytes.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {size}\n0000000000 65535 f \n{places}trailer\n<</Size {size} /Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n"
    );
    bytes.extend(end.into_bytes());
    bytes
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

/// The operators of a page, and the opacities that they use, in thousandths.
#[derive(Default)]
struct Drawing {
    content: String,
    opacities: BTreeSet<u16>,
}

impl Drawing {
    fn line(&mut self, line: std::fmt::Arguments) {
        writeln!(self.content, "{line}").expect("a string takes all");
    }

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
        if let Some((fill, colour)) = path.fill().and_then(|fill| Some((fill, colour(fill.paint())?))) {
            self.opacity(fill.opacity().get());
            self.line(format_args!("{colour} rg"));
            self.outline(&outline);
            self.line(format_args!("{}", if fill.rule() == FillRule::EvenOdd { "f*" } else { "f" }));
        }
        if let Some((stroke, colour)) = path.stroke().and_then(|stroke| Some((stroke, colour(stroke.paint())?))) {
            self.opacity(stroke.opacity().get());
            let dashes: Vec<String> = stroke.dasharray().unwrap_or_default().iter().map(f32::to_string).collect();
            let join = u8::from(stroke.linejoin() == LineJoin::Round);
            self.line(format_args!("{colour} RG {} w {join} j [{}] 0 d", stroke.width().get(), dashes.join(" ")));
            self.outline(&outline);
            self.line(format_args!("S"));
        }
    }

    fn opacity(&mut self, share: f32) {
        let share = (share * 1000.0).round() as u16;
        self.opacities.insert(share);
        self.line(format_args!("/G{share} gs"));
    }

    fn outline(&mut self, outline: &Outline) {
        let mut at = Point::zero();
        for segment in outline.segments() {
            match segment {
                PathSegment::MoveTo(to) => self.line(format_args!("{:.2} {:.2} m", to.x, to.y)),
                PathSegment::LineTo(to) => self.line(format_args!("{:.2} {:.2} l", to.x, to.y)),
                PathSegment::QuadTo(by, to) => {
                    // The same curve of the third degree, which is all that PDF has.
                    let between = |end: Point| (end.x + (by.x - end.x) * 2.0 / 3.0, end.y + (by.y - end.y) * 2.0 / 3.0);
                    self.curve(between(at), between(to), to);
                }
                PathSegment::CubicTo(one, other, to) => self.curve((one.x, one.y), (other.x, other.y), to),
                PathSegment::Close => self.line(format_args!("h")),
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

    fn curve(&mut self, one: (f32, f32), other: (f32, f32), to: Point) {
        self.line(format_args!("{:.2} {:.2} {:.2} {:.2} {:.2} {:.2} c", one.0, one.1, other.0, other.1, to.x, to.y));
    }
}

/// Red, green and blue as PDF writes them; none for what is no plain colour, which figures do not have.
fn colour(paint: &Paint) -> Option<String> {
    let Paint::Color(Color { red, green, blue }) = paint else { return None };
    let share = |value: &u8| format!("{:.3}", f32::from(*value) / 255.0);
    Some(format!("{} {} {}", share(red), share(green), share(blue)))
}
