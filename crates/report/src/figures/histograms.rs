//! Histograms in panels that share their axes, each with its number of values.

use super::{Figure, Scene};
use crate::{
    drawing::{Axis, Curve, Panel, Point},
    text::thousands,
};

/// A histogram as it is drawn, and its number of values.
pub(super) type Counted = (Curve, u64);

/// Panels with the same axes; none if they are empty.
pub(super) fn drawn(
    scene: &Scene,
    (kind, title): (&str, &str),
    note: &str,
    (x, panels): (&str, Vec<(String, Vec<Counted>)>),
    series: Vec<(usize, String)>,
) -> Option<Figure> {
    let titled = |(title, counted): (String, Vec<Counted>)| {
        let title = format!("{title}, {}", count_text(&counted.iter().map(|(_, n)| *n).collect::<Vec<_>>()));
        (title, counted.into_iter().map(|(curve, _)| curve).collect::<Vec<_>>())
    };
    let mut panels: Vec<(String, Vec<Curve>)> =
        panels.into_iter().filter(|(_, curves)| !curves.is_empty()).map(titled).collect();
    let x = shared_axis(x, panels.iter().flat_map(|(_, curves)| curves))?;
    let mut curves: Vec<&mut Curve> = panels.iter_mut().flat_map(|(_, curves)| curves).collect();
    let slack = (x.to - x.from) * 1e-9;
    for curve in &mut curves {
        curve.points.retain(|point| (x.from - slack..=x.to + slack).contains(&point.x));
    }
    let shares = curves.iter().flat_map(|curve| &curve.points).map(|point| point.y);
    let y = Axis::around("share, %", shares, true);
    let inside = |curve: &Curve| curve.points.split_last().map_or(0.0, |(_, bins)| bins.iter().map(|bin| bin.y).sum());
    let outside = curves.iter().map(|curve| 100.0 - inside(curve)).fold(0.0, f64::max);
    let note = if outside < 0.05 {
        note.to_owned()
    } else {
        format!("{note} Up to {outside:.1} % of a histogram are beyond the ends of the axis and not drawn.")
    };
    let panels =
        panels.into_iter().map(|(title, curves)| Panel { title, x: x.clone(), y: y.clone(), curves }).collect();
    scene.lines(kind, title, &note, series, panels)
}

/// The number of values of some histograms: "n = 400", or from the lowest to the highest.
fn count_text(counts: &[u64]) -> String {
    let (fewest, most) = (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    if fewest == most {
        format!("n = {}", thousands(most))
    } else {
        format!("n = {} to {}", thousands(fewest), thousands(most))
    }
}

/// Bins with a smaller share, in percent, do not widen the axis.
const TAIL: f64 = 0.1;

/// An axis for the bins that are not almost empty; none if there are no bins.
fn shared_axis<'a>(label: &str, curves: impl Iterator<Item = &'a Curve>) -> Option<Axis> {
    let bins: Vec<(&Point, &Point)> =
        curves.flat_map(|curve| curve.points.iter().zip(curve.points.iter().skip(1))).collect();
    if bins.is_empty() {
        return None;
    }
    let first = bins.iter().map(|(bin, _)| bin.x).fold(f64::INFINITY, f64::min);
    let last = bins.iter().map(|(_, end)| end.x).fold(f64::NEG_INFINITY, f64::max);
    let ends = bins.iter().filter(|(bin, _)| bin.y >= TAIL).flat_map(|(bin, end)| [bin.x, end.x]).collect::<Vec<_>>();
    let mut axis = Axis::around(label, if ends.is_empty() { vec![first, last] } else { ends }, false);
    // Round numbers may be where no bins are.
    (axis.from, axis.to) = (axis.from.max(first), axis.to.min(last));
    axis.ticks.retain(|tick| (axis.from..=axis.to).contains(tick));
    Some(axis)
}
