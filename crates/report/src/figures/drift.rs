//! How far proxies move while later tasks are learned.

use measure::{Distance, TaskDiagnostics};

use super::{Figure, Named, Scene};
use crate::drawing::{Axis, Curve, Lines, Panel, Point, Shape};

/// Proxies as they are, or their directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Raw,
    Normalised,
}

impl Way {
    fn of(self, distance: &Distance) -> f64 {
        match self {
            Self::Raw => distance.raw,
            Self::Normalised => distance.normalised,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Normalised => "normalised",
        }
    }
}

/// The paper's proxy drift averaged over the classes of each task.
pub fn by_task(scene: &Scene, way: Way) -> Option<Figure> {
    let per_task = classes_per_task(scene)?;
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max()?;
    let panel = |task: usize| {
        let classes = (task * per_task..(task + 1) * per_task).collect();
        Followed { title: format!("proxies of task {}", task + 1), task, classes }
    };
    figure(scene, way, ("drift-tasks", "Proxy drift by task"), (0..tasks).map(panel).collect())
}

/// The paper's proxy drift of the classes of the first task.
pub fn by_class(scene: &Scene, way: Way) -> Option<Figure> {
    let per_task = classes_per_task(scene)?;
    let names = &scene.groups.first()?.group.runs.first()?.class_names;
    // Seeds may order classes differently: then a class has a number, not a name.
    let same_order = scene.groups.iter().flat_map(|named| &named.group.runs).all(|run| run.class_names == *names);
    let name = |class: usize| match names.get(class) {
        Some(name) if same_order => format!("class {} ({name})", class + 1),
        _ => format!("class {}", class + 1),
    };
    let panel = |class: usize| Followed { title: name(class), task: 0, classes: vec![class] };
    let panels = (0..per_task).map(panel).collect();
    figure(scene, way, ("drift-classes", "Proxy drift of the classes of the first task"), panels)
}

fn classes_per_task(scene: &Scene) -> Option<usize> {
    let run = scene.groups.first()?.group.runs.first()?;
    let per_task = run.class_names.len() / run.matrix.tasks_seen().max(1);
    (per_task > 0).then_some(per_task)
}

/// A panel: classes of a task whose drift is averaged.
struct Followed {
    title: String,
    task: usize,
    classes: Vec<usize>,
}

fn figure(scene: &Scene, way: Way, (kind, title): (&str, &str), of: Vec<Followed>) -> Option<Figure> {
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max()?;
    let mut panels: Vec<Panel> = of
        .into_iter()
        .map(|followed| Panel {
            x: Axis::whole("while learning task", 1, tasks),
            y: Axis::percent(""),
            curves: scene.groups.iter().map(|named| curve(named, way, &followed)).collect(),
            title: followed.title,
        })
        .collect();
    panels.retain(|panel| panel.curves.iter().any(|curve| !curve.points.is_empty()));
    let points = panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    let y = Axis::around(
        &format!("drift of {} proxies", way.name()),
        points.flat_map(Point::extent).collect::<Vec<_>>(),
        true,
    );
    for panel in &mut panels {
        panel.y = y.clone();
    }
    let title = format!("{title}, {}", way.name());
    let lines = Lines { title, subtitle: scene.subtitle.clone(), series: scene.series(), panels };
    let note = "Euclidean distance that proxies moved while the task on the horizontal axis was learned, from the task after their own on: \
                before, they move from where they were drawn at random. Bands, drawn for up to six series, are one sample standard deviation \
                over seeds.";
    (!lines.panels.is_empty()).then(|| scene.lines(&format!("{kind}-{}", way.name()), note, &lines))
}

/// From the task after their own on.
fn curve(named: &Named, way: Way, followed: &Followed) -> Curve {
    let point = |task: usize| {
        let value = named.group.over_seeds(|run| {
            let diagnostics = run.diagnostics.iter().find(|line| line.task == task)?;
            mean_drift(diagnostics, &followed.classes, way)
        });
        named.point(task as f64 + 1.0, &format!("while learning task {}", task + 1), value, 1.0, "")
    };
    let points = (followed.task + 1..named.group.tasks()).filter_map(point).collect();
    Curve { series: named.place, points, shape: Shape::Line }
}

fn mean_drift(line: &TaskDiagnostics, classes: &[usize], way: Way) -> Option<f64> {
    let drifts = line.proxy_drift.iter().filter(|drift| classes.contains(&drift.class));
    let drifts: Vec<f64> = drifts.map(|drift| way.of(&drift.distance)).collect();
    measure::OverSeeds::of(&drifts).map(|over_classes| over_classes.mean)
}
