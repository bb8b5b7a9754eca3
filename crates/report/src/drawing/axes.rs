//! Axes, ticks and grid, and where a value lies between them.

use super::{
    canvas::{Anchor, Canvas},
    text,
};

/// Font sizes of ticks and of the name of an axis.
const TICK: f64 = 11.0;
const NAME: f64 = 12.0;

/// One axis: its ends and its ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name, with the unit.
    pub label: String,
    /// Its lower end.
    pub from: f64,
    /// Its upper end.
    pub to: f64,
    /// Its labelled values.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// An axis that holds some values, from round number to round number; zero too if `zero`.
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

    /// Whole numbers `first..=last`, with room at both ends and labels that do not touch.
    pub fn whole(label: &str, first: usize, last: usize) -> Self {
        let step = ((last - first) / 7 + 1).max(1);
        let ticks = (first..=last).step_by(step).map(|i| i as f64).collect();
        let room = 0.03 * (last - first).max(1) as f64 + 0.1;
        Self { label: label.into(), from: first as f64 - room, to: last as f64 + room, ticks }
    }

    /// A tick as text, with the digits that its neighbours need.
    fn written(&self, value: f64) -> String {
        let step = self.ticks.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let decimals = (0..6).find(|&d| {
            let scale = 10_f64.powi(d);
            (step * scale - (step * scale).round()).abs() < 1e-6 * scale.max(1.0) && (step * scale).round() >= 1.0
        });
        let decimals = if step.is_finite() { decimals.unwrap_or(6) as usize } else { 0 };
        // Not minus zero.
        format!("{:.decimals$}", value + 0.0).replace('-', "−")
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

/// Draws axes with grid and ticks inside a place; the names of the axes too if `named`.
pub fn draw(canvas: &mut Canvas, place: Place, x: &Axis, y: &Axis, named: bool) -> Scale {
    let widest = y.ticks.iter().map(|&tick| text::width(&y.written(tick), TICK)).fold(0.0, f64::max);
    let (beside, below) = if named { (30.0, 40.0) } else { (12.0, 22.0) };
    let (left, right) = (place.left + widest + beside, place.left + place.width - 12.0);
    let (top, bottom) = (place.top + 6.0, place.top + place.height - below);
    let scale = Scale { x: (x.from, x.to), y: (y.from, y.to), left, top, right, bottom };
    let across: Vec<(f64, String)> = x.ticks.iter().map(|&tick| (scale.at(tick, y.from).0, x.written(tick))).collect();
    let up: Vec<(f64, String)> = y.ticks.iter().map(|&tick| (scale.at(x.from, tick).1, y.written(tick))).collect();
    if named {
        canvas.upward_text(place.left + 0.76 * NAME, f64::midpoint(top, bottom), NAME, &y.label);
        let (middle, baseline) = (f64::midpoint(left, right), place.top + place.height - 0.2 * NAME);
        canvas.text(middle, baseline, NAME, Anchor::Middle, false, &x.label);
    }
    across.iter().for_each(|&(x, _)| canvas.rule("grid", (x, bottom), (x, top)));
    up.iter().for_each(|&(y, _)| canvas.rule("grid", (left, y), (right, y)));
    canvas.rule("axis", (left, top), (left, bottom));
    for (y, text) in up {
        canvas.text(left - 6.0, y + 0.36 * TICK, TICK, Anchor::End, false, &text);
        canvas.rule("axis", (left - 3.0, y), (left, y));
    }
    canvas.rule("axis", (left, bottom), (right, bottom));
    for (x, text) in across {
        canvas.text(x, bottom + 6.0 + 0.76 * TICK, TICK, Anchor::Middle, false, &text);
        canvas.rule("axis", (x, bottom), (x, bottom + 3.0));
    }
    scale
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
