//! How tasks are learned and forgotten: accuracy and forgetting after each task, accuracy and retention
//! after +k tasks, and every task and every class by itself.

use rehearsal_measure::{AccuracyMatrix, OverSeeds, accuracy, accuracy_after, forgetting, retention_after};

use super::{BANDS, Figure, Named, PERCENT, PLAIN, Scene, accuracy_axis, at_task, matrices, thinned};
use crate::{
    drawing::{Axis, Curve, Panel, Point, Shape},
    run::Run,
};

/// The most points of a curve.
const MOST_POINTS: usize = 200;

/// The most tasks with a panel of their own.
const MOST_PANELS: usize = 40;

/// The most marks of classes that fit beside each other.
const MOST_BESIDE: usize = 60;

/// The end of the axis of retention. A task that was hardly learned at first can be known ten times
/// better later, which would leave no room for the others.
const MOST_RETENTION: f64 = 2.0;

/// Every figure that accuracies alone give.
pub fn all(scene: &Scene) -> Vec<Figure> {
    let made = [
        so_far(scene),
        lost(scene),
        after(scene),
        retention(scene),
        tasks(scene),
        matrices::accuracy(scene),
        classes(scene),
    ];
    made.into_iter().flatten().collect()
}

/// The mean accuracy on the tasks seen so far, after each task.
fn so_far(scene: &Scene) -> Option<Figure> {
    let curves = scene.curves(|named| after_each(named, 0, accuracy));
    let axes = (scene.task_axis("after task", 1), accuracy_axis(highest(&curves)));
    let note = "Mean accuracy on all tasks learned so far; the mean of the curve is the average incremental accuracy.";
    scene.one_panel("so-far", "Average accuracy over the tasks seen so far", &format!("{note} {BANDS}"), axes, curves)
}

/// Forgetting after each task from the second on.
fn lost(scene: &Scene) -> Option<Figure> {
    let curves = scene.curves(|named| after_each(named, 1, forgetting));
    // Forgetting is never below 0, though a band may be.
    let values = curves.iter().flat_map(|curve| &curve.points).map(|point| point.extent()[1]);
    let axes = (scene.task_axis("after task", 2), Axis::around("forgetting, percentage points", values, true));
    let note = "Mean loss of accuracy on earlier tasks since the best accuracy of each.";
    scene.one_panel("forgetting", "Forgetting after each task", &format!("{note} {BANDS}"), axes, curves)
}

/// A measure of the accuracies up to each task.
fn after_each(named: &Named, first: usize, measure: fn(&AccuracyMatrix) -> Option<f64>) -> Curve {
    named.curve(thinned(first..named.group.tasks(), MOST_POINTS), at_task("after"), PERCENT, |run, after| {
        (run.matrix.tasks_seen() > after).then(|| run.matrix.first_stages(after + 1)).as_ref().and_then(measure)
    })
}

/// The upper ends of spreads, 100 at most.
fn highest(curves: &[Curve]) -> impl Iterator<Item = f64> {
    curves.iter().flat_map(|curve| &curve.points).map(|point| point.extent()[1].min(100.0))
}

/// The final accuracy of each class, if runs tell which test images belong to it.
fn classes(scene: &Scene) -> Option<Figure> {
    let classes = scene.groups.iter().flat_map(|named| &named.group.runs).map(|run| run.class_names.len()).max()?;
    // A line suggests that one class leads to the next, but many marks would overlap, as would bands:
    // classes differ from seed to seed.
    let is_crowded = classes * scene.groups.len() > MOST_BESIDE;
    let curves = scene.curves(|named| {
        let mut curve = named.curve(0..classes, |i| (i as f64 + 1.0, format!("class {}", i + 1)), PERCENT, of_class);
        if is_crowded {
            curve.points = curve.points.into_iter().map(|point| Point { spread: None, ..point }).collect();
        } else {
            curve.shape = Shape::Beside;
        }
        curve
    });
    let axes = (Axis::whole("class, by appearance", 1, classes), accuracy_axis(highest(&curves)));
    let spread = if is_crowded {
        "Point at a mark for the spread over seeds."
    } else {
        "Bars show one sample standard deviation over seeds."
    };
    let note = "Accuracy of the final model; classes are numbered by appearance, which may differ between seeds.";
    scene.one_panel("classes", "Accuracy of each class at the end", &format!("{note} {spread}"), axes, curves)
}

/// Test images are stored task by task and class by class.
fn of_class(run: &Run, class: usize) -> Option<f64> {
    let correct = run.correct.as_ref()?.chunks(run.test_images_per_class()?).nth(class)?;
    let values: Vec<f64> = correct.iter().map(|&right| f64::from(u8::from(right))).collect();
    OverSeeds::from_values(&values).map(|over_images| over_images.mean)
}

/// The paper's "average class accuracy after +k task batches since the moment a task appeared".
fn after(scene: &Scene) -> Option<Figure> {
    let curves = scene.curves(|named| {
        named.curve(thinned(0..named.group.tasks(), MOST_POINTS), after_k, PERCENT, |run, k| {
            accuracy_after(&run.matrix, k)
        })
    });
    let axes = (over_k(scene), accuracy_axis(highest(&curves)));
    let note = format!("Mean over all tasks that are followed by k others. {BANDS}");
    scene.one_panel("after", "Accuracy after +k tasks since a task appeared", &note, axes, curves)
}

/// The paper's "average retention rate after +k task batches since the moment a task appeared".
fn retention(scene: &Scene) -> Option<Figure> {
    let curves = scene.curves(|named| {
        named.curve(thinned(0..named.group.tasks(), MOST_POINTS), after_k, PLAIN, |run, k| {
            retention_after(&run.matrix, k)
        })
    });
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let highest = points().map(|point| point.extent()[1].min(MOST_RETENTION)).chain([1.0]);
    let axes = (over_k(scene), Axis::around("retention", highest, true));
    let cut = if points().any(|point| point.y > MOST_RETENTION) {
        format!(" Values above {MOST_RETENTION} are drawn at {MOST_RETENTION}: point at them for the value.")
    } else {
        String::new()
    };
    let note = "The share of their first accuracies that tasks have kept (a ratio of sums); above 1 they improved.";
    let note = format!("{note}{cut} {BANDS}");
    scene.one_panel("retention", "Retention after +k tasks since a task appeared", &note, axes, curves)
}

fn over_k(scene: &Scene) -> Axis {
    Axis::whole("tasks learned since", 0, scene.tasks().saturating_sub(1))
}

fn after_k(k: usize) -> (f64, String) {
    (k as f64, format!("after +{k} tasks"))
}

/// The paper's accuracy of each task while later tasks are learned.
fn tasks(scene: &Scene) -> Option<Figure> {
    let of_task = |named: &Named, task: usize| {
        let place = |after: usize| (after as f64 + 1.0, format!("task {} after task {}", task + 1, after + 1));
        let after = thinned(task..named.group.tasks(), MOST_POINTS);
        named.curve(after, place, PERCENT, |run, after| run.matrix.get(after, task))
    };
    let shown = thinned(0..scene.tasks(), MOST_PANELS);
    let curves: Vec<Vec<Curve>> = shown.iter().map(|task| scene.curves(|named| of_task(named, *task))).collect();
    let y = accuracy_axis(highest(&curves.concat()));
    let panel = |(task, curves): (usize, Vec<Curve>)| Panel {
        title: format!("task {}", task + 1),
        x: scene.task_axis("after task", 1),
        y: y.clone(),
        curves,
    };
    let panels = shown.iter().copied().zip(curves).map(panel).collect();
    let part = match (shown.len(), scene.tasks()) {
        (shown, all) if shown < all => format!(" {shown} of {all} tasks are shown."),
        _ => String::new(),
    };
    let note = format!("One panel per task.{part} {BANDS}");
    scene.lines("tasks", "Accuracy on each task while later tasks are learned", &note, scene.series(), panels)
}
