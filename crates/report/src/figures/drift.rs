//! How far proxies move while later tasks are learned.

use std::collections::BTreeSet;

use rehearsal_measure::Distance;

use super::{Figure, Named, Scene};
use crate::{
    drawing::{Axis, Curve, Lines, Panel, Point, Shape},
    run::Run,
};

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
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max()?;
    let panel = |task: usize| Followed { title: format!("proxies of task {}", task + 1), task, class: None };
    figure(scene, way, ("drift-tasks", "Proxy drift by task"), (0..tasks).map(panel).collect())
}

/// The paper's proxy drift of the classes of the first task.
pub fn by_class(scene: &Scene, way: Way) -> Option<Figure> {
    let runs = || scene.groups.iter().flat_map(|named| &named.group.runs);
    let classes: BTreeSet<usize> = runs().flat_map(|run| classes_of(run, 0)).collect();
    let names = &runs().next()?.class_names;
    // Seeds may order classes differently: then a class has a number, not a name.
    let same_order = runs().all(|run| run.class_names == *names);
    let name = |class: usize| match names.get(class) {
        Some(name) if same_order => format!("class {} ({name})", class + 1),
        _ => format!("class {}", class + 1),
    };
    let panel = |class: usize| Followed { title: name(class), task: 0, class: Some(class) };
    let panels = classes.into_iter().map(panel).collect();
    figure(scene, way, ("drift-classes", "Proxy drift of the classes of the first task"), panels)
}

/// A panel: a task whose classes are followed, or one of them.
struct Followed {
    title: String,
    task: usize,
    class: Option<usize>,
}

/// The classes that appeared in a task: those whose proxies its line has and no earlier one. So
/// tasks may have any number of classes.
fn classes_of(run: &Run, task: usize) -> BTreeSet<usize> {
    let seen = |until: usize| {
        let lines = run.diagnostics.iter().filter(move |line| line.task < until);
        lines.flat_map(|line| &line.proxy_drift).map(|drift| drift.class).collect::<BTreeSet<usize>>()
    };
    &seen(task + 1) - &seen(task)
}

fn figure(scene: &Scene, way: Way, (kind, title): (&str, &str), of: Vec<Followed>) -> Option<Figure> {
    let tasks = scene.groups.iter().map(|named| named.group.tasks()).max()?;
    let mut panels: Vec<Panel> = of
        .into_iter()
        .map(|followed| Panel {
            x: Axis::whole("while learning task", 2.min(tasks), tasks),
            y: Axis::percent(""),
            curves: scene.groups.iter().map(|named| curve(named, way, &followed)).collect(),
            title: followed.title,
        })
        .collect();
    panels.retain(|panel| panel.curves.iter().any(|curve| !curve.points.is_empty()));
    let points = panels.iter().flat_map(|panel| &panel.curves).flat_map(|curve| &curve.points);
    let y = Axis::around(
        &format!("drift of {} proxies", way.name()),
        // It is never below 0, though a band may be.
        points.flat_map(Point::extent).map(|drift| drift.max(0.0)).collect::<Vec<_>>(),
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
        let value = named.group.over_seeds(|run| mean_drift(run, task, followed, way));
        named.point(task as f64 + 1.0, &format!("while learning task {}", task + 1), value, 1.0, "")
    };
    let points = (followed.task + 1..named.group.tasks()).filter_map(point).collect();
    Curve { series: named.place, points, shape: Shape::Line }
}

fn mean_drift(run: &Run, task: usize, followed: &Followed, way: Way) -> Option<f64> {
    let line = run.diagnostics.iter().find(|line| line.task == task)?;
    let classes = classes_of(run, followed.task);
    let is_followed = |class: usize| classes.contains(&class) && followed.class.is_none_or(|only| class == only);
    let drifts = line.proxy_drift.iter().filter(|drift| is_followed(drift.class));
    let drifts: Vec<f64> = drifts.map(|drift| way.of(&drift.distance)).collect();
    rehearsal_measure::OverSeeds::from_values(&drifts).map(|over_classes| over_classes.mean)
}
