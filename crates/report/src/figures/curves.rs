//! How tasks fade: accuracy and retention after +k tasks, and every task by itself.

use rehearsal_measure::{accuracy_after, retention_after};

use super::{Figure, Named, Scene};
use crate::drawing::{Axis, Curve, Lines, Panel, Shape};

const BANDS: &str = "Bands, drawn for up to six series, are one sample standard deviation over seeds.";

/// A task of which almost nothing was known at first can be known ten times better later, which
/// would leave no room for the others.
const MOST_RETENTION: f64 = 2.0;

/// The paper's "average class accuracy after +k task batches since the moment a task appeared".
pub fn after(scene: &Scene) -> Figure {
    let title = "Accuracy after +k tasks since a task appeared";
    let curve = |named: &Named| {
        curve_over_k(named, 100.0, " %", |named, k| named.group.of_matrix(|matrix| accuracy_after(matrix, k)))
    };
    let curves: Vec<Curve> = scene.groups.iter().map(curve).collect();
    let panel = Panel { title: String::new(), x: over_k(scene), y: accuracies(&curves), curves };
    let lines = figure(scene, title, vec![panel]);
    scene.lines("after", &format!("Mean over all tasks that have k successors. {BANDS}"), &lines)
}

/// The paper's "average retention rate after +k task batches since the moment a task appeared".
pub fn retention(scene: &Scene) -> Figure {
    let curve = |named: &Named| {
        curve_over_k(named, 1.0, "", |named, k| named.group.of_matrix(|matrix| retention_after(matrix, k).value))
    };
    let curves: Vec<Curve> = scene.groups.iter().map(curve).collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let highest = points().map(|point| point.extent()[1].min(MOST_RETENTION)).chain([1.0]);
    let y = Axis::around("retention", highest.collect::<Vec<_>>(), true);
    let beyond = points().any(|point| point.y > MOST_RETENTION);
    let lines = figure(
        scene,
        "Retention after +k tasks since a task appeared",
        vec![Panel { title: String::new(), x: over_k(scene), y, curves }],
    );
    let note = "What share of its first accuracy a task has kept; above 1 it became better known. Tasks whose first accuracy is 0 are left out.";
    let cut = if beyond {
        format!(" What is above {MOST_RETENTION} is drawn there: point at it for its value.")
    } else {
        String::new()
    };
    scene.lines("retention", &format!("{note}{cut} {BANDS}"), &lines)
}

/// The paper's per-task accuracy curves: how well each task is known as others follow.
pub fn tasks(scene: &Scene) -> Figure {
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max().unwrap_or(0);
    let curves = |task: usize| scene.groups.iter().map(move |named| of_task(named, task));
    let y = accuracies(&(0..tasks).flat_map(curves).collect::<Vec<_>>());
    let panel = |task: usize| Panel {
        title: format!("task {}", task + 1),
        x: Axis::whole("after task", 1, tasks),
        y: y.clone(),
        curves: curves(task).collect(),
    };
    let panels: Vec<Panel> = (0..tasks).map(panel).collect();
    scene.lines(
        "tasks",
        &format!("One panel per task. {BANDS}"),
        &figure(scene, "Accuracy on each task as others follow", panels),
    )
}

/// From 0 to a round number above all, which is 100 at most.
fn accuracies(curves: &[Curve]) -> Axis {
    let highest = curves.iter().flat_map(|curve| &curve.points).map(|point| point.extent()[1].min(100.0));
    Axis::around("accuracy, %", highest.collect::<Vec<_>>(), true)
}

fn of_task(named: &Named, task: usize) -> Curve {
    let point = |after: usize| {
        let value = named.group.of_matrix(|matrix| matrix.get(after, task));
        named.point(after as f64 + 1.0, &format!("task {} after task {}", task + 1, after + 1), value, 100.0, " %")
    };
    Curve { series: named.place, points: (task..named.group.tasks()).filter_map(point).collect(), shape: Shape::Line }
}

fn over_k(scene: &Scene) -> Axis {
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max().unwrap_or(1);
    Axis::whole("tasks learned since", 0, tasks.saturating_sub(1))
}

fn curve_over_k(
    named: &Named,
    scale: f64,
    unit: &str,
    value: impl Fn(&Named, usize) -> Option<rehearsal_measure::OverSeeds>,
) -> Curve {
    let point = |k: usize| named.point(k as f64, &format!("after +{k} tasks"), value(named, k), scale, unit);
    Curve { series: named.place, points: (0..named.group.tasks()).filter_map(point).collect(), shape: Shape::Line }
}

fn figure(scene: &Scene, title: &str, panels: Vec<Panel>) -> Lines {
    Lines { title: title.into(), subtitle: scene.subtitle.clone(), series: scene.series(), panels }
}
