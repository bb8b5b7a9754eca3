//! What accuracy costs: time and memory of the machine.

use rehearsal_measure::accuracy;

use super::{Figure, Named, PERCENT, Scene, accuracy_axis, extents};
use crate::{
    drawing::{Axis, Curve, Shape},
    run::{MIB, Run},
};

/// Accuracy against wall time.
pub fn time(scene: &Scene) -> Option<Figure> {
    let note = "Seconds of training and testing, mean over seeds; comparable only on the same idle machine.";
    scatter(scene, "time", ("Accuracy against wall time", note), ("seconds", |run| run.seconds))
}

/// Accuracy against the highest resident memory.
pub fn peak_memory(scene: &Scene) -> Option<Figure> {
    let note = "The highest resident memory of the process, mean over seeds.";
    let of = |run: &Run| run.peak_memory_bytes.map(|bytes| bytes as f64 / MIB);
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
        let point = named.point((x, &format!("{x:.1} {unit}")), named.group.of_matrix(accuracy), PERCENT)?;
        Some(Curve { series: named.place, points: vec![point], shape: Shape::Points })
    };
    let curves: Vec<Curve> = scene.groups.iter().filter_map(curve).collect();
    let x = Axis::around(unit, curves.iter().flat_map(|curve| &curve.points).map(|point| point.x), true);
    let y = accuracy_axis(extents(&curves));
    scene.one_panel(
        kind,
        title,
        &format!("{note} Bars show one sample standard deviation of accuracy."),
        (x, y),
        curves,
    )
}
