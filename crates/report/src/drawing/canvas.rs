//! An SVG in the making, in pixels. It is also a backend of plotters, which draws axes and grids on
//! it.
//!
//! Colours are attributes, so that a file shows them anywhere; classes beside them let the page of
//! a report restyle them in the dark.

use std::{cell::RefCell, convert::Infallible, fmt::Write, rc::Rc};

use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
    text_anchor::{HPos, VPos},
};

use super::{
    palette::Style,
    text::{self, FAMILY},
};

/// Plotters counts in whole units: so many make a pixel.
pub const UNITS: i32 = 10;

/// The colour of text.
const INK: &str = "#222222";

/// Grows as it is drawn upon. Clones draw on the same sheet.
#[derive(Clone)]
pub struct Canvas(Rc<RefCell<Sheet>>);

struct Sheet {
    width: f64,
    height: f64,
    body: String,
}

/// Where a text stands about its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub fn new(width: f64, height: f64) -> Self {
        Self(Rc::new(RefCell::new(Sheet { width, height, body: String::new() })))
    }

    /// The finished SVG.
    pub fn svg(&self, title: &str) -> String {
        let Sheet { width, height, body } = &*self.0.borrow();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" role=\"img\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILY}\">\n<title>{}</title>\n\
             <rect class=\"sheet\" width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n",
            escaped(title)
        )
    }

    fn add(&self, element: std::fmt::Arguments) {
        let body = &mut self.0.borrow_mut().body;
        body.write_fmt(element).expect("a string takes all");
        body.push('\n');
    }

    /// Begins a group that belongs to a series.
    pub fn begin_series(&self, series: usize) {
        self.add(format_args!("<g class=\"series\" data-series=\"{series}\">"));
    }

    /// Begins a legend entry, which shows and hides its series.
    pub fn begin_legend(&self, series: usize) {
        self.add(format_args!("<g class=\"legend\" data-series=\"{series}\">"));
    }

    /// Ends what was begun last.
    pub fn end(&self) {
        self.add(format_args!("</g>"));
    }

    pub fn text(&self, x: f64, y: f64, size: f64, anchor: Anchor, bold: bool, text: &str) {
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        let (anchor, text) = (anchor.name(), escaped(text));
        self.add(format_args!(
            "<text class=\"ink\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{INK}\"{weight}>{text}</text>"
        ));
    }

    /// A text that reads upwards, centred at its point.
    pub fn upward_text(&self, x: f64, y: f64, size: f64, text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            "<text class=\"ink\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\" font-size=\"{size}\" text-anchor=\"middle\" \
             fill=\"{INK}\">{text}</text>"
        ));
    }

    pub fn polyline(&self, points: &[(f64, f64)], style: Style) {
        let dash = if style.dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", style.dash) };
        self.add(format_args!(
            "<polyline class=\"c{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{dash} points=\"{}\"/>",
            style.colour,
            style.ink(),
            listed(points)
        ));
    }

    /// A pale area in the colour of a series.
    pub fn area(&self, points: &[(f64, f64)], style: Style) {
        self.add(format_args!(
            "<polygon class=\"f{}\" fill=\"{}\" fill-opacity=\"0.16\" points=\"{}\"/>",
            style.colour,
            style.ink(),
            listed(points)
        ));
    }

    pub fn circle(&self, x: f64, y: f64, radius: f64, style: Style, tip: Option<&str>) {
        let (colour, ink, tip) = (style.colour, style.ink(), tipped(tip));
        self.add(format_args!(
            "<circle class=\"f{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{ink}\"{tip}/>"
        ));
    }

    pub fn marker(&self, corners: &[(f64, f64)], style: Style, tip: Option<&str>) {
        let (colour, ink, tip, corners) = (style.colour, style.ink(), tipped(tip), listed(corners));
        self.add(format_args!("<polygon class=\"f{colour}\" fill=\"{ink}\" points=\"{corners}\"{tip}/>"));
    }

    /// A cell of a heat map, of a colour that means a value and so stays in the dark.
    pub fn cell(&self, place: [f64; 4], fill: &str, tip: Option<&str>) {
        let ([x, y, width, height], tip) = (place, tipped(tip));
        self.add(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\"{tip}/>"
        ));
    }

    /// A number on a cell, of a colour that stays in the dark as the cell does.
    pub fn cell_text(&self, x: f64, y: f64, size: f64, fill: &str, text: &str) {
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"middle\" fill=\"{fill}\" pointer-events=\"none\">{text}</text>"
        ));
    }

    /// A place that shows nothing but tells a reader who points at it.
    pub fn hover(&self, place: [f64; 4], tip: &str) {
        self.cell(place, "none\" pointer-events=\"all", Some(tip));
    }

    fn stroke(&self, points: &[(f64, f64)], color: BackendColor) {
        if color.alpha > 0.0 {
            let (r, g, b) = color.rgb;
            let class = if r > 128 { "grid" } else { "axis" };
            let points = listed(points);
            self.add(format_args!(
                "<polyline class=\"{class}\" fill=\"none\" stroke=\"#{r:02x}{g:02x}{b:02x}\" stroke-width=\"1\" points=\"{points}\"/>"
            ));
        }
    }
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

fn listed(points: &[(f64, f64)]) -> String {
    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

fn tipped(tip: Option<&str>) -> String {
    tip.map_or(String::new(), |tip| format!(" data-tip=\"{}\"", escaped(tip)))
}

/// Text as it stands in XML and HTML, attributes included.
pub fn escaped(text: &str) -> String {
    // XML has no control characters, not even escaped.
    let text: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn pixels((x, y): BackendCoord) -> (f64, f64) {
    (f64::from(x) / f64::from(UNITS), f64::from(y) / f64::from(UNITS))
}

/// What plotters draws with: lines and text of axes.
impl DrawingBackend for Canvas {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        let Sheet { width, height, .. } = &*self.0.borrow();
        (*width as u32 * UNITS as u32, *height as u32 * UNITS as u32)
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn draw_pixel(&mut self, _: BackendCoord, _: BackendColor) -> Result<(), DrawingErrorKind<Infallible>> {
        unreachable!("axes are lines and text")
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        self.stroke(&[pixels(from), pixels(to)], style.color());
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        self.stroke(&path.into_iter().map(pixels).collect::<Vec<_>>(), style.color());
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        at: BackendCoord,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let ((x, y), size) = (pixels(at), style.size() / f64::from(UNITS));
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        let down = match style.anchor().v_pos {
            VPos::Top => 0.76,
            VPos::Center => 0.36,
            VPos::Bottom => -0.2,
        };
        match style.transform() {
            FontTransform::None => self.text(x, y + down * size, size, anchor, false, text),
            _ => self.upward_text(x + down * size, y, size, text),
        }
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok((text::width(text, style.size()) as u32, style.size() as u32))
    }
}
