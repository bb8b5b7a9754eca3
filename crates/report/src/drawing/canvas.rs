//! An SVG that is being drawn, in pixels.
//!
//! Colours are attributes, so that a file shows them anywhere; classes let the page of a report
//! restyle them in its dark theme.

use std::fmt::{Arguments, Write};

use super::{palette::Style, text::FAMILY};
use crate::text::escaped;

/// The colour of text.
const INK: &str = "#222222";

/// An SVG that grows as it is drawn.
pub struct Canvas {
    width: f64,
    height: f64,
    body: String,
}

/// Which part of a text is at its point.
#[derive(Clone, Copy)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub fn new(width: f64, height: f64) -> Self {
        Self { width, height, body: String::new() }
    }

    /// The finished SVG.
    pub fn svg(&self, title: &str) -> String {
        let Self { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" role=\"img\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FAMILY}\">\n<title>{}</title>\n\
             <rect class=\"sheet\" width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n",
            escaped(title)
        )
    }

    fn add(&mut self, element: Arguments) {
        self.body.write_fmt(element).expect("writing to a string does not fail");
        self.body.push('\n');
    }

    /// Begins the group of a series.
    pub fn begin_series(&mut self, series: usize) {
        self.add(format_args!("<g class=\"series\" data-series=\"{series}\">"));
    }

    /// Begins a legend entry, which shows and hides its series.
    pub fn begin_legend(&mut self, series: usize) {
        self.add(format_args!("<g class=\"legend\" data-series=\"{series}\">"));
    }

    /// Ends the last group.
    pub fn end(&mut self) {
        self.add(format_args!("</g>"));
    }

    pub fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, bold: bool, text: &str) {
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        let (anchor, text) = (anchor.name(), escaped(text));
        self.add(format_args!(
            "<text class=\"ink\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{INK}\"{weight}>{text}</text>"
        ));
    }

    /// A text that reads upwards, centred at its point.
    pub fn upward_text(&mut self, x: f64, y: f64, size: f64, text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            "<text class=\"ink\" transform=\"translate({x:.1} {y:.1}) rotate(-90)\" font-size=\"{size}\" text-anchor=\"middle\" \
             fill=\"{INK}\">{text}</text>"
        ));
    }

    pub fn polyline(&mut self, points: &[(f64, f64)], style: Style) {
        let dash = if style.dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", style.dash) };
        self.add(format_args!(
            "<polyline class=\"c{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{dash} points=\"{}\"/>",
            style.colour,
            style.ink(),
            listed(points)
        ));
    }

    /// A pale area in the colour of a series.
    pub fn area(&mut self, points: &[(f64, f64)], style: Style) {
        self.add(format_args!(
            "<polygon class=\"f{}\" fill=\"{}\" fill-opacity=\"0.16\" points=\"{}\"/>",
            style.colour,
            style.ink(),
            listed(points)
        ));
    }

    pub fn circle(&mut self, x: f64, y: f64, radius: f64, style: Style, tip: Option<&str>) {
        let (colour, ink, tip) = (style.colour, style.ink(), tipped(tip));
        self.add(format_args!(
            "<circle class=\"f{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{ink}\"{tip}/>"
        ));
    }

    pub fn marker(&mut self, corners: &[(f64, f64)], style: Style, tip: Option<&str>) {
        let (colour, ink, tip, corners) = (style.colour, style.ink(), tipped(tip), listed(corners));
        self.add(format_args!("<polygon class=\"f{colour}\" fill=\"{ink}\" points=\"{corners}\"{tip}/>"));
    }

    /// A cell of a heat map. Its colour is a value, so themes do not change it.
    pub fn cell(&mut self, place: [f64; 4], fill: &str, tip: Option<&str>) {
        let ([x, y, width, height], tip) = (place, tipped(tip));
        self.add(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\"{tip}/>"
        ));
    }

    /// A number on a cell, in a colour that themes do not change.
    pub fn cell_text(&mut self, x: f64, y: f64, size: f64, fill: &str, text: &str) {
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"middle\" fill=\"{fill}\" pointer-events=\"none\">{text}</text>"
        ));
    }

    /// An invisible area with a tooltip.
    pub fn hover(&mut self, place: [f64; 4], tip: &str) {
        self.cell(place, "none\" pointer-events=\"all", Some(tip));
    }

    /// A thin straight line of the class `grid` or `axis`.
    pub fn rule(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (colour, points) = (if class == "grid" { "#dddddd" } else { "#555555" }, listed(&[from, to]));
        self.add(format_args!(
            "<polyline class=\"{class}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1\" points=\"{points}\"/>"
        ));
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
