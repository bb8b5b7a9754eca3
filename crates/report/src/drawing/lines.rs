//! Figures of curves, points and histograms, in one panel or several.

use std::collections::BTreeSet;

use super::{
    axes::{self, Axis, Place, Scale},
    canvas::{Anchor, Canvas},
    head::{Form, Head},
    legend::{Legend, Sample},
    palette::Style,
    text::wrapped,
};

/// A figure of panels that share their series.
#[derive(Clone, Debug)]
pub struct Lines {
    /// What it shows.
    pub title: String,
    /// Of what and under which conditions.
    pub subtitle: String,
    /// The names of series and the place of each in the report's list, which decides its looks.
    pub series: Vec<(usize, String)>,
    /// Its panels, in reading order.
    pub panels: Vec<Panel>,
}

/// One pair of axes.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it shows of the whole; empty if it is alone.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// What is drawn of one series.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The series.
    pub series: usize,
    /// Its points, from left to right.
    pub points: Vec<Point>,
    /// How they are drawn.
    pub shape: Shape,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Markers on a line, and a pale band as wide as the spread.
    Line,
    /// Markers with bars as long as the spread.
    Points,
    /// The same, those of different series beside each other: for what is counted, not measured.
    Beside,
    /// Steps of a histogram: each point is the left end of a bin, the last one its right end.
    Steps,
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Half the height of its bar or band.
    pub spread: Option<f64>,
    /// What a reader who points at it is told.
    pub tip: String,
}

impl Point {
    /// Its value, and both ends of its spread: what an axis must hold.
    pub fn extent(&self) -> [f64; 2] {
        let spread = self.spread.unwrap_or(0.0);
        [self.y - spread, self.y + spread]
    }
}

const MARGIN: f64 = 14.0;
/// Of a panel's title: its size, its size to measure it by, as bold letters are wider than those
/// that are measured, and that of a line.
const TITLE: f64 = 12.0;
const BOLD_TITLE: f64 = 13.6;
const TITLE_LINE: f64 = 15.0;
/// More bands than this hide each other: then the spread is told only to those who point at a
/// marker.
const MOST_BANDS: usize = 6;
/// More filled histograms than this hide each other: then they are outlines.
const MOST_FILLED: usize = 2;
/// Pixels between the bars of two series that stand beside each other, at most.
const MOST_BESIDE: f64 = 9.0;
/// A line of more points than this is one of markers.
const MOST_MARKED: usize = 60;
/// Pixels between the markers of a line, if it has many points or many lines share a panel: others are left out, but
/// still tell who points at them.
const BETWEEN_MARKERS: f64 = 24.0;

impl Lines {
    /// The figure as SVG.
    pub fn svg(&self, form: Form) -> String {
        let alone = self.panels.len() == 1;
        let (columns, panel_width, drawing_height) = grid(self.panels.len(), form);
        let rows = self.panels.len().div_ceil(columns);
        let titles: Vec<Vec<String>> =
            self.panels.iter().map(|panel| wrapped(&panel.title, BOLD_TITLE, panel_width - 40.0)).collect();
        let title_lines = titles.iter().map(Vec::len).max().unwrap_or(0);
        let title_height = if title_lines == 0 { 0.0 } else { 18.0 + (title_lines - 1) as f64 * TITLE_LINE };
        let panel_height = title_height + drawing_height;
        // Several panels share the names of their axes, which stand outside.
        let outside = if alone { 0.0 } else { 20.0 };
        let width = columns as f64 * panel_width + 2.0 * MARGIN + outside;
        let head = Head::new(&self.title, &self.subtitle, width - 2.0 * MARGIN, form);
        let legend = Legend::new(&self.shown(), width - 2.0 * MARGIN, self.sample());
        let below = head.height() + rows as f64 * panel_height;
        let mut canvas = Canvas::new(width, (below + outside + legend.height() + MARGIN).ceil());
        head.draw(&mut canvas, MARGIN);
        for (i, (panel, title)) in self.panels.iter().zip(&titles).enumerate() {
            let place = Place {
                left: MARGIN + outside + (i % columns) as f64 * panel_width,
                top: head.height() + (i / columns) as f64 * panel_height + title_height,
                width: panel_width,
                height: drawing_height,
            };
            draw_title(&mut canvas, place, title);
            panel.draw(&mut canvas, place, alone);
        }
        if let (false, Some(panel)) = (alone, self.panels.first()) {
            let middle = head.height() + (below - head.height()) / 2.0;
            canvas.upward_text(MARGIN + 10.0, middle, 12.0, &panel.y.label);
            canvas.text(width / 2.0, below + 13.0, 12.0, Anchor::Middle, false, &panel.x.label);
        }
        legend.draw(&mut canvas, MARGIN, below + outside + 8.0);
        canvas.svg(&self.title)
    }

    fn curves(&self) -> impl Iterator<Item = &Curve> {
        self.panels.iter().flat_map(|panel| &panel.curves).filter(|curve| !curve.points.is_empty())
    }

    /// The series that have something drawn, with their names.
    pub fn shown(&self) -> Vec<(usize, &str)> {
        let drawn: BTreeSet<usize> = self.curves().map(|curve| curve.series).collect();
        let names = self.series.iter().map(|(series, name)| (*series, name.as_str()));
        names.filter(|(series, _)| drawn.contains(series)).collect()
    }

    fn sample(&self) -> Sample {
        let all = |of: fn(Shape) -> bool| self.curves().all(|curve| of(curve.shape));
        match (all(|shape| matches!(shape, Shape::Points | Shape::Beside)), all(|shape| shape == Shape::Steps)) {
            (true, _) => Sample::Marker,
            (_, true) => Sample::Line,
            _ => Sample::Both,
        }
    }
}

/// How many panels stand beside each other, and the width and height of each.
fn grid(panels: usize, form: Form) -> (usize, f64, f64) {
    match (form, panels) {
        (Form::Narrow, 1) => (1, 352.0, 280.0),
        (Form::Narrow, _) => (1, 332.0, 200.0),
        (_, 1) => (1, 700.0, 400.0),
        (_, 2 | 4) => (2, 380.0, 252.0),
        (_, 3 | 5..=6) => (3, 300.0, 212.0),
        (_, 7..=12) => (4, 236.0, 168.0),
        _ => (5, 236.0, 168.0),
    }
}

impl Panel {
    fn draw(&self, canvas: &mut Canvas, place: Place, named: bool) {
        let scale = axes::draw(canvas, place, &self.x, &self.y, named);
        let curves: Vec<&Curve> = self.curves.iter().filter(|curve| !curve.points.is_empty()).collect();
        let longest = curves.iter().map(|curve| curve.points.len()).max().unwrap_or(0);
        let looks = Looks {
            marker: if named { 3.4 } else { 2.2 },
            bands: curves.len() <= MOST_BANDS,
            filled: curves.len() <= MOST_FILLED,
            apart: if curves.len() > MOST_BANDS || longest > MOST_MARKED { BETWEEN_MARKERS } else { 0.0 },
        };
        let (beside, count) = (beside(&curves, &scale), curves.len());
        for (i, curve) in curves.into_iter().enumerate() {
            canvas.begin_series(curve.series);
            let shift = (i as f64 - (count - 1) as f64 / 2.0) * beside;
            curve.draw(canvas, &scale.shifted(shift), &looks);
            canvas.end();
        }
    }
}

/// How many pixels a series is beside the one before: none, unless they would hide each other's
/// bars. Within two thirds of the way to the next number.
fn beside(curves: &[&Curve], scale: &Scale) -> f64 {
    let alone = curves.iter().all(|curve| curve.shape == Shape::Line && curve.points.len() == 1);
    let named = curves.iter().all(|curve| curve.shape == Shape::Beside);
    let apart = scale.at(1.0, 0.0).0 - scale.at(0.0, 0.0).0;
    if alone || named { (apart * 2.0 / 3.0 / curves.len() as f64).min(MOST_BESIDE) } else { 0.0 }
}

/// The lines of a title above a panel.
fn draw_title(canvas: &mut Canvas, place: Place, lines: &[String]) {
    let middle = place.left + place.width / 2.0 + 12.0;
    for (above, line) in lines.iter().rev().enumerate() {
        canvas.text(middle, place.top - 4.0 - above as f64 * TITLE_LINE, TITLE, Anchor::Middle, true, line);
    }
}

/// How the curves of a panel are drawn, which depends on how many there are.
struct Looks {
    /// Half the size of a marker.
    marker: f64,
    /// Whether bands show the spread.
    bands: bool,
    /// Whether histograms are filled.
    filled: bool,
    /// Pixels between markers of a line, at least.
    apart: f64,
}

impl Curve {
    fn draw(&self, canvas: &mut Canvas, scale: &Scale, looks: &Looks) {
        let style = Style::for_series(self.series);
        match self.shape {
            Shape::Line => {
                if looks.bands {
                    self.draw_band(canvas, scale, style);
                }
                let path: Vec<_> = self.points.iter().map(|point| scale.at(point.x, point.y)).collect();
                canvas.polyline(&path, style);
                self.draw_markers(canvas, scale, style, (looks.marker, marked_every(&path, looks.apart)));
            }
            Shape::Points | Shape::Beside => {
                self.draw_bars(canvas, scale, style);
                self.draw_markers(canvas, scale, style, (looks.marker * 1.4, 1));
            }
            Shape::Steps => self.draw_steps(canvas, scale, style, looks.filled),
        }
    }

    fn draw_bars(&self, canvas: &mut Canvas, scale: &Scale, style: Style) {
        let bar = Style { dash: "", ..style };
        for (point, spread) in self.points.iter().filter_map(|point| Some((point, point.spread?))) {
            canvas.polyline(&[scale.at(point.x, point.y - spread), scale.at(point.x, point.y + spread)], bar);
        }
    }

    fn draw_band(&self, canvas: &mut Canvas, scale: &Scale, style: Style) {
        let with_spread: Vec<_> = self.points.iter().filter_map(|point| Some((point, point.spread?))).collect();
        if with_spread.len() > 1 {
            let upper = with_spread.iter().map(|(point, spread)| scale.at(point.x, point.y + spread));
            let lower = with_spread.iter().rev().map(|(point, spread)| scale.at(point.x, point.y - spread));
            canvas.area(&upper.chain(lower).collect::<Vec<_>>(), style);
        } else {
            self.draw_bars(canvas, scale, style);
        }
    }

    /// Every so many points, beginning at another point for each series, so that markers of near
    /// lines do not meet.
    fn draw_markers(&self, canvas: &mut Canvas, scale: &Scale, style: Style, (size, every): (f64, usize)) {
        for (i, point) in self.points.iter().enumerate() {
            let (x, y) = scale.at(point.x, point.y);
            if (i + self.series).is_multiple_of(every) {
                style.mark(canvas, x, y, size, Some(&point.tip));
            } else {
                canvas.hover([x - 3.0, y - 3.0, 6.0, 6.0], &point.tip);
            }
        }
    }

    fn draw_steps(&self, canvas: &mut Canvas, scale: &Scale, style: Style, filled: bool) {
        let mut outline = Vec::new();
        for pair in self.points.windows(2) {
            outline.extend([scale.at(pair[0].x, pair[0].y), scale.at(pair[1].x, pair[0].y)]);
        }
        let (Some(&(left, _)), Some(&(right, _))) = (outline.first(), outline.last()) else { return };
        let (_, floor) = scale.at(self.points[0].x, 0.0);
        let closed = [vec![(left, floor)], outline.clone(), vec![(right, floor)]].concat();
        if filled {
            canvas.area(&closed, style);
        }
        canvas.polyline(&closed, style);
        for (pair, step) in self.points.windows(2).zip(outline.chunks(2)) {
            let ((x, y), (end, _)) = (step[0], step[1]);
            canvas.hover([x, y, end - x, (floor - y).max(0.5)], &pair[0].tip);
        }
    }
}

/// Every how many points of a path have a marker, so that markers are some pixels apart; at least
/// one has.
fn marked_every(path: &[(f64, f64)], apart: f64) -> usize {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return 1 };
    let step = (last.0 - first.0) / (path.len() - 1).max(1) as f64;
    let every = if step > 0.0 { (apart / step).ceil() as usize } else { 1 };
    every.clamp(1, path.len())
}
