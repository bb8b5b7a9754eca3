//! Axes, ticks and grid, drawn by plotters, and where a value lies between them.

use std::ops::Range;

use plotters::{
    coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter},
    prelude::*,
};

use super::{
    canvas::{Canvas, UNITS},
    text,
};

const GRID: RGBColor = RGBColor(221, 221, 221);
const AXIS: RGBColor = RGBColor(85, 85, 85);
const LABEL: f64 = 11.0;

/// One axis: where it begins and ends, and where it is labelled.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: String,
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// Where it is labelled.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// Around some values, ended at round numbers; from zero if `zero`.
    pub fn around(label: &str, values: impl IntoIterator<Item = f64>, zero: bool) -> Self {
        let (mut from, mut to) = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if zero || from > to {
            (from, to) = (from.min(0.0), to.max(0.0));
        }
        if to - from < 1e-9 {
            (from, to) = if zero { (from, from + 1.0) } else { (from - 0.5, from + 0.5) };
        }
        let step = round_step((to - from) / 5.0);
        let (first, last) = ((from / step).floor(), (to / step).ceil());
        let ticks = (0..=(last - first).round() as usize).map(|i| (first + i as f64) * step).collect();
        Self { label: label.into(), from: first * step, to: last * step, ticks }
    }

    /// From 0 to 100.
    pub fn percent(label: &str) -> Self {
        Self { label: label.into(), from: 0.0, to: 100.0, ticks: (0..=5).map(|i| f64::from(i) * 20.0).collect() }
    }

    /// Whole numbers `first..=last`, with room at both ends; labelled so that labels do not touch.
    pub fn whole(label: &str, first: usize, last: usize) -> Self {
        let step = ((last - first) / 7 + 1).max(1);
        let ticks = (first..=last).step_by(step).map(|i| i as f64).collect();
        let room = 0.03 * (last - first).max(1) as f64 + 0.1;
        Self { label: label.into(), from: first as f64 - room, to: last as f64 + room, ticks }
    }

    /// A tick as text, with as many digits as its neighbours need.
    fn written(&self, value: f64) -> String {
        let step = self.ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let decimals = (0..6).find(|&d| {
            let scale = 10_f64.powi(d);
            (step * scale - (step * scale).round()).abs() < 1e-6 * scale.max(1.0) && (step * scale).round() >= 1.0
        });
        let decimals = if step.is_finite() { decimals.unwrap_or(6) as usize } else { 0 };
        // Minus zero is zero.
        format!("{:.decimals$}", value + 0.0).replace('-', "−")
    }
}

/// Plotters asks an axis where values lie and where to label it.
impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (start, end): (i32, i32)) -> i32 {
        start + ((value - self.from) / (self.to - self.from) * f64::from(end - start)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        self.written(*value)
    }
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= step * 0.999_999);
    times.unwrap_or(10.0) * power
}

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// Where values lie in pixels.
pub struct Scale {
    x: (f64, f64),
    y: (f64, f64),
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Scale {
    /// The same, some pixels to the right.
    pub fn shifted(&self, pixels: f64) -> Self {
        Self { left: self.left + pixels, right: self.right + pixels, ..*self }
    }

    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let across = (x - self.x.0) / (self.x.1 - self.x.0);
        let up = (y.clamp(self.y.0, self.y.1) - self.y.0) / (self.y.1 - self.y.0);
        (self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top))
    }
}

/// Draws axes with their ticks inside a place; axis labels too if `named`.
pub fn draw(canvas: &Canvas, place: Place, x: &Axis, y: &Axis, named: bool) -> Scale {
    let units = |pixels: f64| (pixels * f64::from(UNITS)) as i32;
    let widest = y.ticks.iter().map(|&tick| text::width(&y.written(tick), LABEL)).fold(0.0, f64::max);
    let (left, below) = (widest + if named { 30.0 } else { 12.0 }, if named { 40.0 } else { 22.0 });
    let area = canvas.clone().into_drawing_area();
    let area = area.shrink((units(place.left), units(place.top)), (units(place.width), units(place.height)));
    let font = |size: f64| ("sans-serif", units(size)).into_text_style(&area).color(&AXIS);
    let mut chart = ChartBuilder::on(&area)
        .set_label_area_size(LabelAreaPosition::Left, units(left))
        .set_label_area_size(LabelAreaPosition::Bottom, units(below))
        .margin_right(units(12.0))
        .margin_top(units(6.0))
        .build_cartesian_2d(x.clone(), y.clone())
        .expect("a canvas in memory takes all");
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(AXIS)
        .x_labels(x.ticks.len())
        .y_labels(y.ticks.len())
        .label_style(font(LABEL))
        .set_all_tick_mark_size(units(3.0));
    if named {
        mesh.x_desc(&x.label).y_desc(&y.label).axis_desc_style(font(12.0));
    }
    mesh.draw().expect("a canvas in memory takes all");
    let corner = |x: f64, y: f64| {
        let (x, y) = chart.backend_coord(&(x, y));
        (f64::from(x) / f64::from(UNITS), f64::from(y) / f64::from(UNITS))
    };
    let ((left, bottom), (right, top)) = (corner(x.from, y.from), corner(x.to, y.to));
    Scale { x: (x.from, x.to), y: (y.from, y.to), left, top, right, bottom }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_enclose_the_values() {
        let axis = Axis::around("seconds", [13.0, 47.0], true);
        assert_eq!((axis.from, axis.to, &axis.ticks[..]), (0.0, 50.0, &[0.0, 10.0, 20.0, 30.0, 40.0, 50.0][..]));
        let axis = Axis::around("distance", [0.31, 0.37], false);
        assert!(axis.from <= 0.31 && axis.to >= 0.37);
        assert_eq!(axis.written(axis.ticks[1]), "0.32");
        let flat = Axis::around("flat", [2.0, 2.0], false);
        assert!(flat.from < 2.0 && flat.to > 2.0);
        assert_eq!(Axis::around("none", [], true).ticks.first(), Some(&0.0));
    }

    #[test]
    fn whole_numbers_get_whole_labels() {
        let axis = Axis::whole("task", 1, 20);
        assert_eq!(axis.ticks, [1.0, 4.0, 7.0, 10.0, 13.0, 16.0, 19.0]);
        assert_eq!(axis.written(4.0), "4");
        assert_eq!(Axis::whole("task", 1, 1).ticks, [1.0]);
    }
}
