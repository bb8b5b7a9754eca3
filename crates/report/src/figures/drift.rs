//! How far proxies move while later tasks are learned.

use std::collections::BTreeSet;

use rehearsal_measure::{Distance, OverSeeds};

use super::{BANDS, Figure, PLAIN, Scene, at_task};
use crate::{
    drawing::{Axis, Curve, Panel},
    run::Run,
};

/// Proxies as they are, or their directions: the name, and which distance.
pub type Way = (&'static str, fn(&Distance) -> f64);
pub const RAW: Way = ("raw", |distance| distance.raw);
pub const NORMALISED: Way = ("normalised", |distance| distance.normalised);

/// The paper's proxy drift averaged over the classes of each task.
pub fn by_task(scene: &Scene, way: Way) -> Option<Figure> {
    let panel = |task: usize| Followed { title: format!("proxies of task {}", task + 1), task, class: None };
    figure(scene, way, ("drift-tasks", "Proxy drift by task"), (0..scene.tasks()).map(panel).collect())
}

/// The paper's proxy drift of the classes of the first task.
pub fn by_class(scene: &Scene, way: Way) -> Option<Figure> {
    let runs = || scene.groups.iter().flat_map(|named| &named.group.runs);
    let classes: BTreeSet<usize> = runs().flat_map(|run| classes_of(run, 0)).collect();
    let names = &runs().next()?.class_names;
    // If seeds order classes differently, a class has a number but not one name.
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

/// The classes that are new in a task's line of diagnostics.
fn classes_of(run: &Run, task: usize) -> BTreeSet<usize> {
    let seen = |until: usize| {
        let lines = run.diagnostics.iter().filter(move |line| line.task < until);
        lines.flat_map(|line| &line.proxy_drift).map(|drift| drift.class).collect::<BTreeSet<usize>>()
    };
    &seen(task + 1) - &seen(task)
}

fn figure(scene: &Scene, way: Way, (kind, title): (&str, &str), followed: Vec<Followed>) -> Option<Figure> {
    let tasks = scene.tasks();
    let curves: Vec<Vec<Curve>> = followed
        .iter()
        .map(|one| {
            scene.curves(|named| {
                let later = one.task + 1..named.group.tasks();
                named.curve(later, at_task("while learning"), PLAIN, |run, task| mean_drift(run, task, one, way))
            })
        })
        .collect();
    // Drift is never below 0, though a band may be.
    let values = curves.iter().flat_map(|curves| super::extents(curves)).map(|drift| drift.max(0.0));
    let y = Axis::around(&format!("drift of {} proxies", way.0), values, true);
    let panel = |(one, curves): (Followed, Vec<Curve>)| Panel {
        title: one.title,
        x: Axis::whole("while learning task", 2.min(tasks), tasks),
        y: y.clone(),
        curves,
    };
    let panels = followed.into_iter().zip(curves).map(panel).collect();
    let note = "Euclidean distance that proxies moved while the task on the horizontal axis was learned. Curves begin after the task of \
                the proxies: before that, proxies move away from random values.";
    let (kind, title) = (format!("{kind}-{}", way.0), format!("{title}, {}", way.0));
    scene.lines(&kind, &title, &format!("{note} {BANDS}"), scene.series(), panels)
}

fn mean_drift(run: &Run, task: usize, followed: &Followed, way: Way) -> Option<f64> {
    let classes = classes_of(run, followed.task);
    let is_followed = |class: usize| classes.contains(&class) && followed.class.is_none_or(|only| class == only);
    let drifts = run.diagnostics_of(task)?.proxy_drift.iter().filter(|drift| is_followed(drift.class));
    let drifts: Vec<f64> = drifts.map(|drift| (way.1)(&drift.distance)).collect();
    OverSeeds::from_values(&drifts).map(|over_classes| over_classes.mean)
}
