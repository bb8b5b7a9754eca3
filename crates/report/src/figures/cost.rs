//! What accuracy costs: time and the machine's memory.

use rehearsal_measure::accuracy;

use super::{Figure, Named, Scene};
use crate::{
    drawing::{Axis, Curve, Lines, Panel, Point, Shape},
    run::Run,
};

/// Accuracy against wall time.
pub fn time(scene: &Scene) -> Option<Figure> {
    let note = "Seconds of learning and testing, mean over seeds; they compare only if the machine was the same and had nothing else to do.";
    scatter(scene, "time", ("Accuracy against wall time", note), ("seconds", |run| run.seconds))
}

/// Accuracy against the highest resident memory.
pub fn peak_memory(scene: &Scene) -> Option<Figure> {
    let note = "The highest resident memory of the process, mean over seeds.";
    let of = |run: &Run| run.peak_memory_bytes.map(|bytes| bytes as f64 / 1_048_576.0);
    scatter(scene, "peak-memory", ("Accuracy against peak memory", note), ("peak memory, MiB", of))
}

fn scatter(
    scene: &Scene,
    kind: &str,
    (title, note): (&str, &str),
    (unit, cost): (&str, fn(&Run) -> Option<f64>),
) -> Option<Figure> {
    let curve = |named: &Named| {
        let x = named.group.over_seeds(cost)?.mean;
        let point = named.point(x, &format!("{x:.1} {unit}"), named.group.of_matrix(accuracy), 100.0, " %")?;
        Some(Curve { series: named.place, points: vec![point], shape: Shape::Points })
    };
    let curves: Vec<Curve> = scene.groups.iter().filter_map(curve).collect();
    let x: Vec<f64> = curves.iter().flat_map(|curve| &curve.points).map(|point| point.x).collect();
    let panel = Panel { title: String::new(), x: Axis::around(unit, x, true), y: accuracies(&curves), curves };
    let lines =
        Lines { title: title.into(), subtitle: scene.subtitle.clone(), series: scene.series(), panels: vec![panel] };
    let has_points = lines.panels.iter().any(|panel| !panel.curves.is_empty());
    has_points
        .then(|| scene.lines(kind, &format!("{note} Bars are one sample standard deviation of accuracy."), &lines))
}

pub(super) fn accuracies(curves: &[Curve]) -> Axis {
    let values = curves.iter().flat_map(|curve| &curve.points).flat_map(Point::extent);
    Axis::around("accuracy, %", values.collect::<Vec<_>>(), true)
}
