//! How tasks are learned and fade: accuracy and forgetting as tasks come, accuracy and retention
//! after +k tasks, every task and every class by itself.

use rehearsal_measure::{AccuracyMatrix, OverSeeds, accuracy, accuracy_after, retention_after};

use super::{Figure, Named, Scene};
use crate::{
    drawing::{Axis, Curve, Lines, Panel, Point, Shape},
    run::Run,
};

const BANDS: &str = "Bands, drawn for up to six series, are one sample standard deviation over seeds.";

const BARS: &str = "Bars are one sample standard deviation over seeds.";

const POINTED: &str = "The spread over seeds is told to those who point at a mark.";

/// So many marks of classes find room beside each other.
const MOST_BESIDE: usize = 60;

/// A task of which almost nothing was known at first can be known ten times better later, which
/// would leave no room for the others.
const MOST_RETENTION: f64 = 2.0;

/// The curve of this field: the mean accuracy on the tasks seen so far, after each task.
pub fn so_far(scene: &Scene) -> Figure {
    let curves = over_tasks(scene, 0, accuracy);
    let panel = Panel { title: String::new(), x: after_task(scene, 1), y: accuracies(&curves), curves };
    let lines = figure(scene, "Average accuracy over the tasks seen so far", vec![panel]);
    let note = "Mean accuracy on all tasks learned by then; the mean of the curve is the average incremental accuracy.";
    scene.lines("so-far", &format!("{note} {BANDS}"), &lines)
}

/// Forgetting after each task, from the second on; none if there is one task.
pub fn forgetting(scene: &Scene) -> Option<Figure> {
    let curves = over_tasks(scene, 1, rehearsal_measure::forgetting);
    // It is never below 0, though a band may be.
    let values = curves.iter().flat_map(|curve| &curve.points).map(|point| point.extent()[1]);
    let y = Axis::around("forgetting, points", values.collect::<Vec<_>>(), true);
    let has_points = curves.iter().any(|curve| !curve.points.is_empty());
    let panel = Panel { title: String::new(), x: after_task(scene, 2), y, curves };
    let lines = figure(scene, "Forgetting after each task", vec![panel]);
    let note = "Mean loss of accuracy on earlier tasks since each was known best.";
    has_points.then(|| scene.lines("forgetting", &format!("{note} {BANDS}"), &lines))
}

/// A measure of what was known after each task.
fn over_tasks(scene: &Scene, first: usize, measure: fn(&AccuracyMatrix) -> Option<f64>) -> Vec<Curve> {
    let curve = |named: &Named| {
        let point = |after: usize| {
            let value = named.group.of_matrix(|matrix| {
                (matrix.tasks_seen() > after).then(|| matrix.first_stages(after + 1)).as_ref().and_then(measure)
            });
            named.point(after as f64 + 1.0, &format!("after task {}", after + 1), value, 100.0, " %")
        };
        Curve {
            series: named.place,
            points: (first..named.group.tasks()).filter_map(point).collect(),
            shape: Shape::Line,
        }
    };
    scene.groups.iter().map(curve).collect()
}

fn after_task(scene: &Scene, first: usize) -> Axis {
    let last = scene.groups.iter().map(|named| named.group.tasks()).max().unwrap_or(first);
    Axis::whole("after task", first, last.max(first))
}

/// How well the final model knows each class; none if no run tells its test images class by class.
pub fn classes(scene: &Scene) -> Option<Figure> {
    let classes = scene.groups.iter().flat_map(|named| &named.group.runs).map(|run| run.class_names.len()).max()?;
    // A line says that one class leads to the next, but marks of many would not stand apart; and bands
    // of classes, which differ from seed to seed, would cover all of it.
    let is_crowded = classes * scene.groups.len() > MOST_BESIDE;
    let (shape, spread) = if is_crowded { (Shape::Line, POINTED) } else { (Shape::Beside, BARS) };
    let curve = |named: &Named| {
        let point = |class: usize| {
            let value = named.group.over_seeds(|run| of_class(run, class));
            let point = named.point(class as f64 + 1.0, &format!("class {}", class + 1), value, 100.0, " %")?;
            Some(if is_crowded { Point { spread: None, ..point } } else { point })
        };
        Curve { series: named.place, points: (0..classes).filter_map(point).collect(), shape }
    };
    let curves: Vec<Curve> = scene.groups.iter().map(curve).collect();
    let has_points = curves.iter().any(|curve| !curve.points.is_empty());
    let x = Axis::whole("class, by appearance", 1, classes);
    let panel = Panel { title: String::new(), x, y: accuracies(&curves), curves };
    let lines = figure(scene, "Accuracy of each class at the end", vec![panel]);
    let note =
        "Of the final model; classes are numbered in the order in which they appeared, which another seed may shuffle.";
    has_points.then(|| scene.lines("classes", &format!("{note} {spread}"), &lines))
}

/// Test images stand task by task and class by class; where each class has as many, its own are known.
fn of_class(run: &Run, class: usize) -> Option<f64> {
    let (correct, classes) = (run.correct.as_ref()?, run.class_names.len());
    let own = run.test_images_per_class()?;
    let values: Vec<f64> = correct.chunks(own).nth(class)?.iter().map(|&right| f64::from(u8::from(right))).collect();
    (own * classes == correct.len()).then(|| OverSeeds::from_values(&values)).flatten().map(|over| over.mean)
}

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
        curve_over_k(named, 1.0, "", |named, k| named.group.of_matrix(|matrix| retention_after(matrix, k)))
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
    let note = "What share of their first accuracies tasks have kept, all together (a ratio of sums); above 1 they became better known.";
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

fn curve_over_k(named: &Named, scale: f64, unit: &str, value: impl Fn(&Named, usize) -> Option<OverSeeds>) -> Curve {
    let point = |k: usize| named.point(k as f64, &format!("after +{k} tasks"), value(named, k), scale, unit);
    Curve { series: named.place, points: (0..named.group.tasks()).filter_map(point).collect(), shape: Shape::Line }
}

fn figure(scene: &Scene, title: &str, panels: Vec<Panel>) -> Lines {
    Lines { title: title.into(), subtitle: scene.subtitle.clone(), series: scene.series(), panels }
}
